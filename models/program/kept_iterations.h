#pragma once

// Which iterations of its loops a program is written with (unroll.h). This follows from the regions
// (loop.h) alone: what an iteration begins with depends on what the carries hold. A carry holds
// what few iterations before have made, or what another carry held. So each iteration after the
// first ones begins as the one a period before it, and whole periods may be left out.

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// Which iterations a loop has written: at least `first`, then come those left out, then `reach` +
/// `period` more.
struct WrittenIterations {
  uint32_t first = 0;
  uint32_t reach = 0;   // how many iterations before is what is carried, at most; at least 1
  uint32_t period = 1;  // the number of those left out is a multiple of it

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
  int64_t index = 0;
  friend auto operator<=>(const IterationOf&, const IterationOf&) = default;
};

/// The iterations that something is in, the outermost first. Loops are told apart by their bounds,
/// so those that meet are the same here.
using IterationsAround = std::vector<IterationOf>;

/// Loops that meet must have the same iterations. So loops with the same bounds in the same
/// iterations are written alike here, and what one of them keeps, all keep.
///
/// An iteration of which a value is read outside must not be left out. A loop with such exits is
/// written in parts, one after the other. Each part is a loop like any other, with iterations of
/// its own to leave out: an iteration that is kept is the last of its part. If a loop in it keeps
/// some too, it differs from those beside it, and is a part of its own. So the cost grows with the
/// number of exits.
class KeptIterations {
 public:
  explicit KeptIterations(const Program& regions);

  /// Where the parts of a loop end (exclusive), ascending; the last one is `upper`.
  std::vector<int64_t> ends(const IterationsAround& around, int64_t lower, int64_t upper) const;

  /// How the iterations of a loop of the regions repeat, or those of a part of it.
  const WrittenIterations& repeating(size_t loop) const { return repeating_[loop]; }

 private:
  /// Keeps the innermost of `iterations`, and those around it.
  void add(IterationsAround iterations);
  /// Whether an iteration may be left out of the loop or a part of it, or may be one of those whose
  /// values stand for those left out.
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
