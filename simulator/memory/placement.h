#pragma once

// Best-fit placement: where in a device's memory each allocation lies. Real allocators differ; this
// one is completely specified, so that its high water can be compared between programs and
// versions.

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "models/base/quantity.h"

namespace orrery {

/// Free gaps are maximal: adjacent gaps are joined. After the last allocation there is one gap
/// without end.
class Placement {
 public:
  /// Takes the low end of the smallest gap that holds `size`, the lowest of equal ones; the gap
  /// without end counts as the largest. Returns where the allocation begins. An allocation of 0
  /// bytes lies at 0 and takes no space. Requires size >= 0.
  Bytes allocate(Bytes size);

  /// Frees the allocation at `begin` that allocate(size) returned. Requires that it is still
  /// allocated.
  void release(Bytes begin, Bytes size);

  /// The largest end of any allocation so far.
  Bytes high_water() const { return Bytes(high_water_); }

 private:
  void insert_gap(int64_t begin, int64_t size);
  void erase_gap(std::map<int64_t, int64_t>::iterator gap);

  std::map<int64_t, int64_t> gaps_;                // size by begin; without the gap without end
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (size, begin) of the same gaps
  int64_t endless_ = 0;                            // where the gap without end begins
  int64_t high_water_ = 0;
};

}  // namespace orrery
