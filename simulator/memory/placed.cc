#include "simulator/memory/placed.h"

#include "simulator/memory/placement.h"

namespace orrery {

std::vector<LifetimeChanges> changes(const std::vector<Lifetime>& lifetimes, size_t ops) {
  std::vector<LifetimeChanges> changes(ops + 1);
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    const auto entry = [](int64_t position) { return static_cast<size_t>(position + 1); };
    changes[entry(lifetimes[i].held.from)].begin.push_back(i);
    if (entry(lifetimes[i].held.to) < changes.size())
      changes[entry(lifetimes[i].held.to)].end.push_back(i);
  }
  return changes;
}

Placed placed(const std::vector<Lifetime>& lifetimes, const std::vector<LifetimeChanges>& changes,
              const std::vector<OpId>& ops) {
  std::vector<bool> taken_over(lifetimes.size(), false);
  for (const Lifetime& lifetime : lifetimes)
    if (lifetime.takes_over)
      taken_over[*lifetime.takes_over] = true;
  Placement placement;
  Placed result;
  result.begins.resize(lifetimes.size());
  for (size_t entry = 0; entry < changes.size(); ++entry) {
    const LifetimeChanges& change = changes[entry];
    on_behalf_of_entry(ops, entry, [&] {
      for (const size_t i : change.begin)
        result.begins[i] = lifetimes[i].takes_over ? result.begins[*lifetimes[i].takes_over]
                                                   : placement.allocate(lifetimes[i].size);
    });
    for (const size_t i : change.end)
      if (!taken_over[i])
        placement.release(result.begins[i], lifetimes[i].size);
  }
  result.high_water = placement.high_water();
  return result;
}

}  // namespace orrery
