#pragma once

// Where in a device's memory each allocation lies, by best fit. Real allocators differ; this one is
// stated whole, so that its high water can be compared between programs and versions.

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "models/base/quantity.h"

namespace orrery {

/// Free gaps are maximal: a gap that touches another is one gap with it. Beyond the last
/// allocation there is one gap without end.
class Placement {
 public:
  /// Takes the low end of the smallest gap that holds `size`, the lowest of equal ones; the gap
  /// without end counts as larger than any other. Returns where the allocation begins. An
  /// allocation of 0 bytes lies at 0 and takes no room. Requires size >= 0.
  Bytes allocate(Bytes size);

  /// Gives back what allocate(size) returned as `begin`. Requires that it did, and that this is the
  /// first time since.
  void release(Bytes begin, Bytes size);

  /// The largest end of any allocation so far.
  Bytes high_water() const { return Bytes(high_water_); }

 private:
  void insert_gap(int64_t begin, int64_t size);
  void erase_gap(std::map<int64_t, int64_t>::iterator gap);

  std::map<int64_t, int64_t> gaps_;                // size by begin; without the endless one
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (size, begin) of the same gaps
  int64_t endless_ = 0;                            // where the gap without end begins
  int64_t high_water_ = 0;
};

}  // namespace orrery
