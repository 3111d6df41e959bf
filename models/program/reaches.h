#pragma once

// Reaches says how long a value of a loop is read: in how many later iterations, and whether after
// the loop. So a run of the program keeps few iterations of each value.

#include <cstdint>
#include <vector>

#include "models/program/iterations.h"
#include "models/program/program.h"

namespace orrery {

class Reaches {
 public:
  /// Both must outlive this object.
  Reaches(const Program& program, const Iterations& iterations);

  /// Returns whether anything may still read the value when its maker has reached iteration `now`.
  /// Requires that `now` is not before the value's own iteration. The result is true for few
  /// iterations of a loop, however many the loop has.
  bool is_read_from(ValueRun value, uint64_t now) const;

 private:
  /// A Reach says how far from its reader a value may be in one of its loops, in iterations. A
  /// chain of carries that leads to a value has each carry once, so no distance is above the number
  /// of carries.
  struct Reach {
    int64_t back = 0;          // before the reader's own iteration
    int64_t before_end = -1;   // before the last iteration, if it is read after the loop; else -1
    int64_t before_exit = -1;  // before the iteration of an exit; -1: no exit leads here

    bool include(const Reach& other);
    friend bool operator==(const Reach&, const Reach&) = default;
  };

  /// Extends the reaches of what the loop's carries and exits read. Returns whether any is further
  /// than was known.
  bool extend(uint32_t l);
  /// Notes that `read` is read wherever `reader` is. In the loop `own` it is read at the distance
  /// `in_own`, and in the loops around both values as far away as `reader`. Returns whether that is
  /// further than was known.
  bool extend(ValueId reader, ValueId read, LoopAround own, const Reach& in_own);
  static bool is_near_end(const Loop& loop, const Reach& reach, int64_t at);

  const Program& program_;
  const Iterations& iterations_;
  std::vector<std::vector<Reach>> of_;  // per value, per loop that it is in; inner ones first
};

}  // namespace orrery
