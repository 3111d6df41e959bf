#pragma once

// This header, the first to read in this folder, has the backward pass of a program (JAX's vjp).
//
// A transform makes another program from one that all devices run. It passes the ops of the new
// program to a ProgramBuilder, which checks and types them as it does the user's own;
// program_copy.h copies what stays the same. An error is added to the Diagnostics, and the program
// is returned as it was. models/scenario/transform_reader.h applies a scenario's transforms in
// turn.
//
//   batch.h      each op becomes ops for all elements of a batch (vmap)
//   vjp.h        the ops of the backward pass follow those of the program
//   transpose.h  the backward pass alone, of a linear program, with the ops that it reads
//
// batch goes forward through the program: a BatchWalk asks the batch rule of each op
// (models/program/batch.h). vjp and transpose share a BackwardPass (backward_pass.h), which goes
// from the last op to the first and asks each op's backward rule (models/program/backward.h).
//
// batch and vjp keep loops as regions. A carry has the batch, or a cotangent, in all iterations or
// in none. So a walk begins anew when a carry turns out to have it. transpose first writes all
// iterations out (straightened(), program_copy.h), and so does vjp where a single iteration is
// named. parts.h cuts what vjp gives into the programs that a pipeline schedules apart.

#include <optional>
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
  int64_t most_ops = int64_t{1} << 18;  // that the program may have if its loops are written out
};

/// Returns the program with an argument ct_ID for each value of `of`, and with the ops of the
/// backward pass after its own. The cotangent of argument ID of `with_respect_to` has the name
/// ct_ID. An op is named after the op whose cotangents it computes: ID.bwd, ID.bwd.1, ID.bwd.2,
/// ...; an op that is computed again is named ID.re. The backward pass of a started collective is a
/// sync collective. A loop goes back as a loop called ID.bwd. The forward loop saves
/// the values that it needs in arrays of all iterations. Some loops are written out instead: if
/// `of` or `recompute` names a single iteration, or an op on the way to `of` reads a value of one;
/// and if a loop in a loop is to be computed again, also by "all". Adds an error for an op on the
/// way that has no backward rule; then the program is not transformed.
Program vjp(const Program& program, Checks checks, const VjpRequest& request,
            Diagnostics& diagnostics);

}  // namespace orrery
