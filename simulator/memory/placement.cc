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

}  // namespace orrery
