#include "simulator/time/capacity.h"

#include <algorithm>

namespace orrery {

namespace {

/// Stretches that are remembered over all links: 24 MiB of them.
constexpr size_t kMostStretches = size_t{1} << 20U;
/// Of one link, at least so many.
constexpr size_t kFewestStretches = 64;

}  // namespace

CapacityCheck::CapacityCheck(const Fabric& fabric, const Demands& demands)
    : uses_(fabric.links().size()) {
  size_t watched = 0;
  for (size_t l = 0; l < uses_.size(); ++l) {
    const Link& link = fabric.links()[l];
    uses_[l].watched = demands.links[l].exceeds(link);
    uses_[l].capacity = link.bandwidth.count();
    watched += uses_[l].watched ? 1 : 0;
  }
  needed_ = watched > 0;
  if (needed_)
    most_remembered_ = std::max(kFewestStretches, kMostStretches / watched);
}

void CapacityCheck::add(LinkId link, Instant begin, Instant end, BytesPerSecond rate) {
  Use& use = uses_[link.index()];
  if (!holds_ || begin == end)
    return;
  std::vector<Stretch>& stretches = use.stretches;
  if (begin < use.forgotten || rate.count() > use.capacity) {
    holds_ = false;
  } else if (stretches.empty() || begin >= stretches.back().end) {
    if (!stretches.empty() && begin == stretches.back().end &&
        rate.count() == stretches.back().rate)
      stretches.back().end = end;
    else
      stretches.push_back({begin, end, rate.count()});
  } else {
    size_t at = stretches.size();
    while (at > 0 && stretches[at - 1].end > begin)
      --at;
    add_between(use, at, begin, end, rate.count());
  }
  if (stretches.size() > most_remembered_)
    forget_old(use);
}

/// Adds to the stretches from `at` on, the first that ends after `begin`.
void CapacityCheck::add_between(Use& use, size_t at, Instant begin, Instant end, int64_t rate) {
  std::vector<Stretch>& stretches = use.stretches;
  const auto insert = [&](Stretch stretch) {
    stretches.insert(stretches.begin() + static_cast<ptrdiff_t>(at), stretch);
    ++at;
  };
  while (begin < end) {
    if (at == stretches.size() || stretches[at].begin >= end)
      return insert({begin, end, rate});
    if (begin < stretches[at].begin) {
      const Instant until = stretches[at].begin;
      insert({begin, until, rate});
      begin = until;
      continue;
    }
    if (stretches[at].begin < begin) {  // the part before stays as it is
      insert({stretches[at].begin, begin, stretches[at].rate});
      stretches[at].begin = begin;
    }
    if (end < stretches[at].end) {  // and the part after
      const int64_t together = stretches[at].rate + rate;
      stretches[at].begin = end;
      insert({begin, end, together});
      holds_ = holds_ && together <= use.capacity;
      return;
    }
    stretches[at].rate += rate;
    holds_ = holds_ && stretches[at].rate <= use.capacity;
    begin = stretches[at].end;
    ++at;
  }
}

void CapacityCheck::forget_old(Use& use) const {
  const auto half = static_cast<ptrdiff_t>(use.stretches.size() / 2);
  use.forgotten = use.stretches[static_cast<size_t>(half) - 1].end;
  use.stretches.erase(use.stretches.begin(), use.stretches.begin() + half);
}

}  // namespace orrery
