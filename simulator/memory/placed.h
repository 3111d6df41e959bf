#pragma once

// Where in a device's memory the buffers and the scratch of a thread's list lie: best-fit placement
// in issue order.

#include <cstddef>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/op_overflow.h"
#include "simulator/memory/lifetimes.h"

namespace orrery {

/// The lifetimes that begin and end at a position, or before the first.
struct LifetimeChanges {
  std::vector<size_t> begin;
  std::vector<size_t> end;
};

/// Entry p + 1 is position p. What lasts to the end of the program does not end in any of them.
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

/// `changes` are those of the lifetimes, `ops` the issue order.
Placed placed(const std::vector<Lifetime>& lifetimes, const std::vector<LifetimeChanges>& changes,
              const std::vector<OpId>& ops);

}  // namespace orrery
