#include "simulator/memory/placement.h"

#include <algorithm>
#include <iterator>

#include "models/base/check.h"

namespace orrery {

Bytes Placement::allocate(Bytes size) {
  if (size == Bytes())
    return Bytes();
  const auto smallest = by_size_.lower_bound({size.count(), 0});
  if (smallest == by_size_.end()) {
    const Bytes begin(endless_);
    endless_ = (begin + size).count();
    high_water_ = std::max(high_water_, endless_);
    return begin;
  }
  const auto [gap_size, begin] = *smallest;
  erase_gap(gaps_.find(begin));
  if (gap_size > size.count())
    insert_gap(begin + size.count(), gap_size - size.count());
  return Bytes(begin);
}

void Placement::release(Bytes begin, Bytes size) {
  if (size == Bytes())
    return;
  int64_t first = begin.count();
  int64_t end = (begin + size).count();
  ORRERY_CHECK(end <= endless_, "what is released was allocated");
  auto next = gaps_.lower_bound(first);
  if (next != gaps_.end() && next->first == end) {
    end += next->second;
    const auto gone = next++;
    erase_gap(gone);
  }
  if (next != gaps_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == first) {
      first = before->first;
      erase_gap(before);
    }
  }
  if (end == endless_)
    endless_ = first;
  else
    insert_gap(first, end - first);
}

void Placement::insert_gap(int64_t begin, int64_t size) {
  gaps_.emplace(begin, size);
  by_size_.emplace(size, begin);
}

void Placement::erase_gap(std::map<int64_t, int64_t>::iterator gap) {
  by_size_.erase({gap->second, gap->first});
  gaps_.erase(gap);
}

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
