#pragma once

// This header is the first to read in this folder. It has the backward pass of a program (JAX's vjp
// and linear_transpose), and cuts it into parts.
//
// A transform makes another program from one that all devices run. It passes the ops of the new
// program to a ProgramBuilder, which checks and types them as it does the user's own;
// program_copy.h copies what stays the same. An error is added to the Diagnostics, and the program
// is returned as it was. models/scenario/transform_reader.h applies a scenario's transforms in
// turn.
//
//  - batch() makes each op do its work for all elements of a batch (vmap).
//  - vjp() adds the ops of the backward pass after those of the program.
//  - transpose() makes the backward pass of a linear program, without the program's own ops. It
//  only
//    keeps those that the backward pass reads.
//
// batch goes forward through the program: a BatchWalk asks the batch rule of each op
// (models/program/batch.h). vjp and transpose share a BackwardPass (backward_pass.h), which goes
// from the last op to the first and asks each op's backward rule (models/program/backward.h).
//
// batch and vjp keep loops as regions. A carry has the batch, or a cotangent, in all iterations or
// in none. So a walk begins anew when a carry turns out to have it. transpose first writes all
// iterations out (straightened(), program_copy.h), and so does vjp in some cases (kept_loops.cc).
// parts.cc cuts what vjp gives into the programs that a pipeline schedules apart.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/program/rules.h"
#include "models/transform/named.h"

namespace orrery {

struct VjpRequest {
  Origin origin;
  std::vector<NamedAt> of;               // values
  std::vector<NamedAt> with_respect_to;  // arguments
  /// The backward pass computes the results of these ops again where it needs them. It keeps the
  /// results of all other ops from the forward pass.
  std::vector<NamedAt> recompute = {};
  bool recompute_all = false;
  /// If it is true, the collectives of the backward pass start on stream 1 once their operands are
  /// made, and are done just before the first op that reads them. In a loop, what is only added up
  /// is added in the next iteration.
  bool overlap = false;
  /// So many iterations early start the collectives of loops that are computed again, in both
  /// passes, if their operands follow from the index and from values outside of the loop.
  int64_t prefetch = 0;
  bool keep_loops = false;              // also those that are written out to save memory
  int64_t most_ops = int64_t{1} << 18;  // that the program may have if its loops are written out
};

/// Returns the program with an argument ct_ID for each value of `of`, and with the ops of the
/// backward pass after its own. The cotangent of argument ID of `with_respect_to` has the name
/// ct_ID. An op is named after the op whose cotangents it computes: ID.bwd, ID.bwd.1, ID.bwd.2,
/// ...; an op that is computed again is named ID.re. The backward pass of a started collective is a
/// sync collective. A loop goes back as a loop called ID.bwd. The forward loop saves the values
/// that it needs in arrays of its iterations. The first and the last ones are written out, so that
/// the peak is no higher than with all written out, but for what docs/scenario.md names. Some loops
/// are written out whole: if `of` or `recompute` names a single iteration, or an op on the way to
/// `of` reads a value of one; and if a loop in a loop is to be computed again, also by "all". Adds
/// an error for an op on the way that has no backward rule; then the program is not transformed.
Program vjp(const Program& program, Checks checks, const VjpRequest& request,
            Diagnostics& diagnostics);

struct TransposeRequest {
  Origin origin;
  std::vector<NamedAt> of;               // values, which are linear in the arguments
  std::vector<NamedAt> with_respect_to;  // arguments
  int64_t most_ops = int64_t{1} << 18;   // that the program may have with its loops written out
};

/// Returns the program that takes the cotangents ct_ID of the values, and gives those of the
/// arguments under the names ct_ID. It does not have these arguments. It keeps the ops that the
/// backward ones read. Loops are written out.
///
/// Adds an error for an op between the arguments and the values that is not linear, or that adds a
/// value that does not depend on the arguments. Then the program is returned as it was.
Program transpose(const Program& program, Checks checks, const TransposeRequest& request,
                  Diagnostics& diagnostics);

// parts.cc cuts a program into parts that run one after another, since a pipeline schedules them
// apart. The parts of a training step are a forward and a backward program. The backward program
// can be cut again, into one for the cotangents of the inputs and one for those of the weights.

/// The second part has an argument for each value of the first part that it reads, with the same
/// name. They follow the arguments of the whole program, and are outputs of the first part. A part
/// has only the arguments that it reads, and the outputs of the whole program that it makes.
struct ProgramParts {
  Program first;
  Program second;
};

/// Cuts a program in two. The first part has the ops of `first` and those that they need. Futures
/// and tokens do not leave it, so it has the ops that take them too. Requires one program on all
/// devices.
ProgramParts cut(const Program& program, Checks checks, std::set<OpId> first);

/// Returns the forward and the backward program. The outputs of the forward program are the values
/// of `of` and those that the backward program reads. The outputs of the backward program are the
/// cotangents ct_ID of `with_respect_to`. Together they have the ops of vjp. Returns nothing if an
/// error was added.
std::optional<ProgramParts> vjp_parts(const Program& program, Checks checks,
                                      const VjpRequest& request, Diagnostics& diagnostics);

/// Cuts a backward program in two: the first part has the ops that its outputs `inputs` ("ct_x")
/// need, the second part all others. Requires that `inputs` are outputs.
ProgramParts backward_parts(const Program& backward, Checks checks,
                            const std::vector<std::string>& inputs);

}  // namespace orrery
