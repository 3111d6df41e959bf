#pragma once

// This is best-fit placement: it says where in a device's memory each allocation lies. The buffers
// and the scratch of a thread's list are placed in issue order. Real allocators differ. This one is
// completely specified, so that its high water can be compared between programs and versions.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/op.h"
#include "simulator/memory/lifetimes.h"

namespace orrery {

/// Adjacent free gaps are joined. After the last allocation there is one gap without end.
class Placement {
 public:
  /// Takes the low end of the smallest gap that holds `size`. Among equal gaps it takes the lowest;
  /// the gap without end counts as the largest. Returns where the allocation begins. An allocation
  /// of 0 bytes lies at 0 and takes no space. Requires size >= 0.
  Bytes allocate(Bytes size);

  /// Frees the allocation at `begin` that allocate(size) returned, and requires one.
  void release(Bytes begin, Bytes size);

  /// Returns the largest end of any allocation so far.
  Bytes high_water() const { return Bytes(high_water_); }

 private:
  void insert_gap(int64_t begin, int64_t size);
  void erase_gap(std::map<int64_t, int64_t>::iterator gap);

  std::map<int64_t, int64_t> gaps_;                // size by begin; without the gap without end
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (size, begin) of the same gaps
  int64_t endless_ = 0;                            // where the gap without end begins
  int64_t high_water_ = 0;
};

/// It lists the lifetimes that begin and end at a position, or before the first.
struct LifetimeChanges {
  std::vector<size_t> begin;
  std::vector<size_t> end;
};

/// Returns the changes of each position: entry p + 1 is position p. A lifetime that lasts to the
/// end of the program ends in no entry.
std::vector<LifetimeChanges> changes(const std::vector<Lifetime>& lifetimes, size_t ops);

/// Calls `work` for entry `entry` of changes(). An Overflow names the op of that entry, or the
/// first op if it happens before any.
template <class Work>
decltype(auto) on_behalf_of_entry(const std::vector<OpId>& ops, size_t entry, Work&& work) {
  return ops.empty() ? work() : on_behalf_of(ops[entry == 0 ? 0 : entry - 1], work);
}

struct Placed {
  std::vector<Bytes> begins;  // per lifetime
  Bytes high_water;
};

/// Places the lifetimes. `changes` are those of the lifetimes, `ops` is the issue order.
Placed placed(const std::vector<Lifetime>& lifetimes, const std::vector<LifetimeChanges>& changes,
              const std::vector<OpId>& ops);

}  // namespace orrery
