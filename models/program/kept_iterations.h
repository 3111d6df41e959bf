#pragma once

// This file says which iterations of its loops a program is written with (unroll.h). This follows
// from the regions (program.h) alone. An iteration is determined by its carries. Each carry holds a
// value that was made a few iterations ago, a value from outside of the loop, or one that is passed
// round a ring of carries. So, after the first iterations, each iteration has the same inputs as
// the one a period before, shifted by a period. Whole periods of such iterations may be left out.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// WrittenIterations says which iterations of a loop are written: at least the first `first`, and
/// the last `reach` + `period`. A multiple of `period` is left out between them.
struct WrittenIterations {
  uint32_t first = 0;
  /// How many iterations back the maker of a carried value may lie; at least 1 in a result.
  uint32_t reach = 0;
  uint32_t period = 1;

  /// Takes the greater `first` and `reach` of both, and the least common multiple of their periods.
  void include(const WrittenIterations& other);
  /// Sets which iterations `made` leaves out, if it is long enough to leave out any.
  void set_in(WrittenLoop& made) const;
};

/// Returns, per loop of the regions, how its iterations repeat.
std::vector<WrittenIterations> repeating_iterations(const Program& regions);

/// An IterationOf is an iteration of a loop, or any iteration of it.
struct IterationOf {
  int64_t lower = 0;  // of the loop
  int64_t upper = 0;
  std::optional<int64_t> index = {};  // empty: any iteration
  friend auto operator<=>(const IterationOf&, const IterationOf&) = default;
};

/// IterationsAround are nested iterations, the outermost first. Loops are told apart by their
/// bounds alone, so loops that meet are the same here.
using IterationsAround = std::vector<IterationOf>;

/// Loops that meet must leave out the same iterations. So loops with equal bounds, in the same
/// iterations of the loops around them, get the same parts. In a program of several threads they
/// also get the same period, and leave out the same iterations. If loops that meet have different
/// bounds, the iterations that both have are parts of their own.
///
/// An iteration must be kept if an exit reads a value of it. A loop with such exits is written in
/// parts, one after the other. Each part is a loop like any other, and may leave out iterations. A
/// kept iteration is the last of its part. If a loop inside a kept iteration keeps iterations too,
/// the outer iteration differs from its neighbours, and is a part of its own. So the cost grows
/// with the number of exits. If the body of an outer loop reads an exit of an inner loop, the inner
/// loop keeps that iteration in each outer iteration.
class KeptIterations {
 public:
  explicit KeptIterations(const Program& regions);

  /// Returns the ends (exclusive) of the parts of a loop, ascending. The last end is `upper`.
  /// Requires the index of each iteration around the loop.
  std::vector<int64_t> ends(IterationsAround around, int64_t lower, int64_t upper) const;

  /// Returns how the iterations of a loop of the regions, or of a part of it, repeat.
  const WrittenIterations& repeating(size_t loop) const { return repeating_[loop]; }

 private:
  /// Gives loops that meet, and loops with equal bounds, the same `repeating_`.
  void repeat_alike(const Program& regions);
  /// Makes parts of the iterations that loops which meet have in common.
  void part_where_others_end(const Program& regions);
  /// Keeps the innermost of `iterations`, and those around it up to the first without an index.
  void add(IterationsAround iterations);
  /// Returns whether the exit's iteration must be kept. It must be if the loop, or a part of it,
  /// may leave it out. It must also be if it may be one of the `reach` iterations before those left
  /// out. Values of these stand for values of those.
  bool must_keep(size_t l, const Loop& loop, const Exit& exit) const;

  struct LoopIn {
    IterationsAround around;
    int64_t lower, upper;
    friend auto operator<=>(const LoopIn&, const LoopIn&) = default;
  };
  std::vector<WrittenIterations> repeating_;
  std::map<LoopIn, std::map<int64_t, bool>> kept_;  // whether a loop in the iteration keeps some
};

}  // namespace orrery
