#pragma once

// These functions say what follows from a program's loops: the order of ops and regions, how often
// ops run, and which iterations a program shows.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/callable.h"
#include "models/program/program.h"

namespace orrery {

/// Returns what an error about an unknown name adds if the name has an iteration that its loop
/// lacks: ", but the loop "l" has the iterations 0 to 4". The result is "" for other names.
std::string iterations_hint(const Program& program, std::string_view name);

/// Returns the parameters of an iteration's index, a "full", which is the iteration's first op.
Attributes index_attributes(int64_t index);

/// Has a call for an op, one for the begin of a region, and one for its end. A call returns false
/// to end the walk.
struct ForEachPart {
  FunctionRef<bool(OpId op)> op;
  FunctionRef<bool(size_t loop)> begin;  // before the body, whose parts follow
  FunctionRef<bool(size_t loop)> end;    // after the body
};

/// Visits the ops and regions of a thread in the order of its text. Returns false if one of the
/// calls returned false.
bool for_each_part(const Program& program, ThreadId thread, const ForEachPart& visit);

/// Returns whether iterations of any loop are left out.
bool leaves_out_iterations(const Program& program);

/// Returns, per value, the innermost region whose body has it.
std::vector<std::optional<size_t>> bodies_of_values(const Program& program);

/// Returns how often each op runs on each of its devices. The number is 1 for an op in no region
/// and no repeated iteration, and at most 2^63 - 1.
std::vector<uint64_t> repetitions(const Program& program);

/// A Gap is where iterations of a written loop are left out.
struct Gap {
  size_t loop = 0;    // among the written ones
  size_t behind = 0;  // the first iteration behind the gap, by index in `written`
  friend auto operator<=>(const Gap&, const Gap&) = default;
};

/// Returns the gaps that have copies of the iterations around each op. There is one list per op,
/// with inner loops first.
std::vector<std::vector<Gap>> gaps_with_copies(const Program& program);

// The results below do not depend on whether iterations are left out. They say what a program shows
// if it leaves out all that it may, and which ops are iterations of the same op.

/// Returns whether iterations of any loop are left out or may be.
bool has_long_loops(const Program& program);

/// Returns, per op, whether the shortened program has it. The result is true for all ops of a
/// shortened program.
std::vector<bool> shown_when_shortened(const Program& program);

/// A NameInLoops has names without the indices of loops. Both are empty for ops outside loops,
/// whatever they are called. An op of a backward pass is named after the op that it goes back
/// through, as "l[3].y.bwd", and counts as an op of that op's iteration.
struct NameInLoops {
  std::string loop;  // the innermost one: "l[].m[]"
  std::string op;    // "l[].m[].y"
};

/// Returns the names, per op.
std::vector<NameInLoops> names_in_loops(const Program& program);

}  // namespace orrery
