#pragma once

// This copies the parts of a program to a builder, to make another program of it.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/base/callable.h"
#include "models/program/builder.h"
#include "models/program/op_request.h"
#include "models/program/program.h"
#include "models/transform/named.h"

namespace orrery {

/// Returns the op as the user could have written it, with its place in the file.
OpRequest request_of(const Program& program, const Op& op);

/// Adds the program's arguments.
void copy_arguments(const Program& program, ProgramBuilder& builder);

/// Adds all of the program except its outputs. Requires one thread, or no loops.
void copy_program(const Program& program, ProgramBuilder& builder);

/// A ProgramPart is an op, the begin of a loop, or the end of the loop that was begun last. So a
/// program is a list of parts. All names are in full, as ProgramBuilder takes them.
struct LoopBegin {
  struct Carried {
    std::string param;
    std::string initial;
  };
  std::string name;
  int64_t lower = 0;
  int64_t upper = 0;
  std::optional<Origin> origin = {};
  std::vector<Carried> carries = {};
  std::optional<OpRequest> index = {};  // the body's first op, if it has an index
};
struct LoopEnd {
  std::vector<std::string> yielded;  // by each carry
  std::vector<std::string> results;
};
using ProgramPart = std::variant<OpRequest, LoopBegin, LoopEnd>;
void add_part(ProgramPart part, ProgramBuilder& builder);

/// LoopParts are a loop: its begin, the parts between, and its end.
struct LoopParts {
  LoopBegin begin;
  std::vector<ProgramPart> parts;
  LoopEnd end;
};
/// Takes the loop that begins at this place out of the parts, which keep their places.
LoopParts take_loop(std::vector<ProgramPart>& parts, size_t begin);
/// Appends the loop to the parts.
void append(LoopParts loop, std::vector<ProgramPart>& parts);
/// Gives the loop another name. The names of its iterations, "l[].y", and of its results follow.
void rename(LoopParts& loop, const std::string& name);
/// Returns a name for a carry of a loop, "l[].w", such that the name of its result, "l.w", is
/// unused too. Takes both.
std::string take_carry(UnusedNames& names, const std::string& loop, const std::string& own);
/// Returns "l.w" for "l[].w", a name in the loop.
std::string outside(const LoopParts& loop, const std::string& name);

/// Visits each name that a part reads.
void for_each_read(const ProgramPart& part, FunctionRef<void(const std::string&)> visit);
/// Visits each name of a part: of ops and loops, and of what they read and make.
void for_each_name(ProgramPart& part, FunctionRef<void(std::string&)> visit);

/// Returns whether a collective may start before it stands. Transfers may not: a started half could
/// wait for one that comes later. Collectives over no axes exchange nothing.
bool can_start_early(const OpRequest& op);

/// Returns the parts with their collectives started as early as they can be, on stream 1, and done
/// before their first use. In a loop, what is only added up is added in the next iteration.
std::vector<ProgramPart> overlapped(std::vector<ProgramPart> parts, UnusedNames& names);

/// Appends the loop. Its ops that only add results of started collectives to what the loop carries
/// are left to the next iteration. Returns whether there are such ops.
bool append_postponed(LoopParts loop, UnusedNames& names, std::vector<ProgramPart>& parts);

/// A Prefetch says which collectives of loops start so many iterations early: those that a backward
/// pass computes again, and those of the forward pass that have one of the names `forward`.
struct Prefetch {
  int64_t ahead = 0;
  std::set<std::string> forward = {};
  std::set<std::string> saved = {};  // arrays of iterations: nothing is made of them early
};

/// Starts collectives of loops `ahead` iterations early, on stream 2. Their operands must follow
/// from the iteration's index and from values outside of the loop, as those of gathered weights do.
/// The ops that make such an operand run early too. The first `ahead` iterations are started before
/// the loop. The last `ahead` iterations start nothing, and each is a loop of one iteration. If the
/// loop is "l", these are "l.rest", .., and the very last "l"; all iterations before are "l.ahead".
/// Returns whether there are such collectives.
bool prefetch(std::vector<ProgramPart>& parts, const Prefetch& prefetch, UnusedNames& names);

/// An AddOp adds an op, and returns the name of its result.
using AddOp =
    FunctionRef<std::string(OpKind kind, std::vector<std::string> operands, Attributes attributes)>;

/// Adds ops that make zeros of this type, and returns their name.
std::string add_zeros(const Mesh& mesh, Checks checks, const ValueType& type, AddOp add);
/// Does the same without another array of this size: a cast of states has a buffer of its own, so
/// only a scalar is cast.
std::string add_large_zeros(const Mesh& mesh, Checks checks, const ValueType& type, AddOp add);

/// Adds the other names of values, and the values of single iterations that are read outside of
/// loops. Requires that these values were added under their names.
void copy_names(const Program& program, ProgramBuilder& builder);

/// Begins the loop in the builder. `initial` names the values that its carries have at first.
void copy_loop_begin(const Program& program, const Loop& loop,
                     const std::vector<std::string>& initial, ProgramBuilder& builder);
/// Ends the loop's body. `yielded` names the values that each iteration yields to the carries.
void copy_loop_end(const Program& program, const Loop& loop,
                   const std::vector<std::string>& yielded, ProgramBuilder& builder);

/// Returns the values of single iterations that are read outside of loops (exits), by name.
std::map<std::string_view, ValueId> exit_names(const Program& program);

/// Returns whether the program has one thread on all devices, each precv takes the token of a
/// psend, no op is in a group, and there is no reshard, as transforms require. Adds an error if
/// not, at `origin` or that of the op.
bool is_one_program(const Program& program, const Origin& origin, Diagnostics& diagnostics);

/// Returns the program with all iterations of its loops written out, so that each has ops and
/// values of its own. A backward pass reads the values of each iteration, so no iteration may be
/// left out of a run: each one is shown. Adds an error at `origin` for several
/// programs, and if the program would have more than `most_ops` ops, which says `why`.
std::optional<Program> straightened(const Program& program, int64_t most_ops, std::string_view why,
                                    const Origin& origin, Diagnostics& diagnostics);

/// An Added has the sizes of a builder before and after it added what it has for an op.
struct Added {
  ProgramBuilder::Size begin;
  ProgramBuilder::Size end;
};
/// Adds the written loops of which ops were added. `added` has one entry per op of the program.
void copy_written_loops(const Program& program, const std::vector<Added>& added,
                        ProgramBuilder& builder);

}  // namespace orrery
