#include "simulator/values/cuda/reuse_pool.h"

#include <iterator>

namespace orrery::cuda {

Bytes ReusePool::take(Bytes size, Dependencies& after) {
  const Bytes aligned = align_up(size, Bytes(kAlignment));
  const Bytes begin = placement_.allocate(aligned);
  const int64_t end = (begin + aligned).count();
  split(begin.count());
  split(end);
  const auto first = used_.lower_bound(begin.count());
  const auto last = used_.lower_bound(end);
  for (auto at = first; at != last; ++at)
    after.add(at->second.last);
  used_.erase(first, last);
  return begin;
}

void ReusePool::give_back(Bytes begin, Bytes size, const Frontier& last_use) {
  const Bytes aligned = align_up(size, Bytes(kAlignment));
  placement_.release(begin, aligned);
  if (aligned > Bytes())
    used_[begin.count()] = {(begin + aligned).count(), last_use};
}

void ReusePool::split(int64_t at) {
  const auto next = used_.lower_bound(at);
  if (next == used_.begin() || (next != used_.end() && next->first == at))
    return;
  Used& before = std::prev(next)->second;
  if (before.end <= at)
    return;
  used_.emplace_hint(next, at, Used{before.end, before.last});
  before.end = at;
}

}  // namespace orrery::cuda
