#pragma once

// Which iterations of its loops a program is written with (unroll.h). This follows from the regions
// (loop.h) alone. An iteration is determined by what its carries hold: a value that was made a few
// iterations ago, a value from outside of the loop, or one that is passed round a ring of carries.
// So after the first iterations each has the same inputs as the one a period before, shifted by a
// period, and whole periods may be left out.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// Which iterations a loop has written: at least `first`, and the last `reach` + `period`. A
/// multiple of `period` is left out between them.
struct WrittenIterations {
  uint32_t first = 0;
  /// The greatest distance, in iterations, from a carried value back to the op that made it; at
  /// least 1.
  uint32_t reach = 0;
  uint32_t period = 1;

  /// Those of both, with their common period.
  void include(const WrittenIterations& other);
  /// Sets which iterations `made` leaves out, if it is long enough to leave out any.
  void set_in(WrittenLoop& made) const;
};

/// Per loop of the regions: how its iterations repeat.
std::vector<WrittenIterations> repeating_iterations(const Program& regions);

/// An iteration of a loop.
struct IterationOf {
  int64_t lower = 0;  // of the loop
  int64_t upper = 0;
  std::optional<int64_t> index = {};  // empty: any iteration
  friend auto operator<=>(const IterationOf&, const IterationOf&) = default;
};

/// The iterations that something is in, the outermost first. Loops are told apart by their bounds,
/// so those that meet are the same here.
using IterationsAround = std::vector<IterationOf>;

/// Loops that meet must have the same iterations. So loops with equal bounds, in the same
/// iterations of the loops around them, get the same parts; and in a program of several threads the
/// same period and window.
///
/// An iteration of which a value is read outside must not be left out. A loop with such exits is
/// written in parts, one after the other. Each part is a loop like any other, with iterations of
/// its own to leave out: an iteration that is kept is the last of its part. If a loop inside a kept
/// iteration keeps iterations too, the outer iteration differs from its neighbours, and is a part
/// of its own. So the cost grows with the number of exits. Where the body of an outer loop reads an
/// exit of an inner one, each outer iteration keeps it.
class KeptIterations {
 public:
  explicit KeptIterations(const Program& regions);

  /// Where the parts of a loop end (exclusive), ascending; the last one is `upper`. Requires the
  /// index of each iteration around it.
  std::vector<int64_t> ends(IterationsAround around, int64_t lower, int64_t upper) const;

  /// How the iterations of a loop of the regions repeat, or those of a part of it.
  const WrittenIterations& repeating(size_t loop) const { return repeating_[loop]; }

 private:
  /// Keeps the innermost of `iterations`, and those around it that have an index.
  void add(IterationsAround iterations);
  /// Whether the iteration may be left out of the loop or of a part of it, or may be one of the
  /// `reach` iterations before those, whose values stand for theirs.
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
