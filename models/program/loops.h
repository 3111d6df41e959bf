#pragma once

// What follows from a program's loops: the order in which ops and regions stand, how often ops run,
// which loops meet, and what a program shows of its iterations.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/callable.h"
#include "models/program/program.h"

namespace orrery {

/// The parameters of a loop's index in an iteration: the first op of the iteration, a "full".
Attributes index_attributes(int64_t index);

/// What is done with each part of a program with regions. Each gives false to end the walk.
struct ForEachPart {
  FunctionRef<bool(OpId op)> op;
  FunctionRef<bool(size_t loop)> begin;  // before the body, whose parts follow
  FunctionRef<bool(size_t loop)> end;    // after the body
};

/// Goes over the ops and regions of a thread as they stand in its text. False if one of the calls
/// gave false.
bool for_each_part(const Program& program, ThreadId thread, const ForEachPart& visit);

/// Whether iterations of any loop are left out.
bool leaves_out_iterations(const Program& program);

/// How often each op runs on each of its devices, in regions too: 1 if it is in no repeated
/// iteration. At most 2^63 - 1.
std::vector<uint64_t> repetitions(const Program& program);

/// Per op: the loops that leave out iterations like the one it is in, one of the last; inner ones
/// first.
std::vector<std::vector<size_t>> repeated_in(const Program& program);

/// Whether loops that meet at sites have the same iterations, of which they leave out the same
/// ones. Only such a program may leave out any.
bool loops_meet_in_step(const Program& program);

// What does not depend on whether iterations are left out: what a program shows when it leaves out
// all that it may, and which ops are iterations of the same op.

/// Whether iterations of any loop are left out or may be.
bool has_long_loops(const Program& program);

/// Per op: whether the folded program has it. True for all ops of a folded program.
std::vector<bool> shown_when_folded(const Program& program);

/// Names without the indices of loops. Empty for ops outside loops, whatever they are called. An op
/// of a backward pass is named after the one that it goes back through, "l[3].y.bwd", and counts as
/// one of that one's iteration.
struct NameInLoops {
  std::string loop;  // the innermost one: "l[].m[]"
  std::string op;    // "l[].m[].y"
};

/// Per op.
std::vector<NameInLoops> names_in_loops(const Program& program);

}  // namespace orrery
