#include "simulator/time/capacity.h"

#include <algorithm>
#include <map>

#include "models/base/compiler.h"
#include "simulator/schedule/causes.h"

namespace orrery {

namespace {

/// This many stretches are remembered over all links: 24 MiB of them.
constexpr size_t kMostStretches = size_t{1} << 20U;
/// At least this many stretches are remembered for one link.
constexpr size_t kFewestStretches = 64;

/// Returns whether the first step of a channel sends as soon as its node enters. `messages` has the
/// figures of its message.
bool sends_as_it_enters(const Schedule& schedule, StepRef ref, const Step& step,
                        const DataRates& rates, const MessageFigures& messages) {
  const auto none_other = [&](const Cause& cause) {
    return cause.step == ref && cause.kind != CauseKind::Message;
  };
  return messages.overhead == Duration() &&
         !take_time(timed_actions(step.form(), Half::Receive), rates) &&
         for_each_cause(schedule, schedule.extent(), ref, Half::Receive, step, none_other) &&
         for_each_cause(schedule, schedule.extent(), ref, Half::Send, step, none_other);
}

}  // namespace

CapacityCheck::CapacityCheck(const Fabric& fabric, const Demands& demands)
    : latest_(fabric.count_links()), earlier_(fabric.count_links()) {
  size_t watched = 0;
  for (size_t l = 0; l < latest_.size(); ++l) {
    const Link link = fabric.link(LinkId(l));
    latest_[l].capacity = link.bandwidth.count();
    earlier_[l].watched = demands.links[l].exceeds(link);
    watched += earlier_[l].watched ? 1 : 0;
  }
  needed_ = watched > 0;
  if (needed_)
    most_remembered_ = std::max(kFewestStretches, kMostStretches / watched);
}

/// Makes `added` the last stretch.
void CapacityCheck::append(LinkId link, const Stretch& added) {
  Stretch& last = latest_[link.index()].last;
  if (last.begin < last.end) {
    earlier_[link.index()].stretches.push_back(last);
    forget_old(link);
  }
  last = added;
}

/// Adds a stretch that begins before the last one ends, or that alone exceeds the capacity.
void CapacityCheck::add_out_of_order(LinkId link, const Stretch& added) {
  Latest& use = latest_[link.index()];
  Earlier& earlier = earlier_[link.index()];
  if (!holds_ || added.begin == added.end)
    return;
  if (added.begin < earlier.forgotten || added.rate > use.capacity) {
    holds_ = false;
    return;
  }
  std::vector<Stretch>& stretches = earlier.stretches;
  stretches.push_back(use.last);
  size_t at = stretches.size();
  while (at > 0 && stretches[at - 1].end > added.begin)
    --at;
  add_between(stretches, at, added, use.capacity);
  use.last = stretches.back();
  stretches.pop_back();
  forget_old(link);
}

/// Adds a stretch to those from `at` on; `at` is the first that ends after the added one begins.
void CapacityCheck::add_between(std::vector<Stretch>& stretches, size_t at, Stretch added,
                                int64_t capacity) {
  const auto insert = [&](Stretch stretch) {
    stretches.insert(stretches.begin() + static_cast<ptrdiff_t>(at), stretch);
    ++at;
  };
  const auto [first, end, rate] = added;
  for (Instant begin = first; begin < end;) {
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
      holds_ = holds_ && together <= capacity;
      return;
    }
    stretches[at].rate += rate;
    holds_ = holds_ && stretches[at].rate <= capacity;
    begin = stretches[at].end;
    ++at;
  }
}

/// Forgets the older half of the stretches if there are too many.
void CapacityCheck::forget_old(LinkId link) {
  auto& [stretches, forgotten, watched] = earlier_[link.index()];
  if (stretches.size() < most_remembered_)
    return;
  const auto half = static_cast<ptrdiff_t>(stretches.size() / 2);
  forgotten = stretches[static_cast<size_t>(half) - 1].end;
  stretches.erase(stretches.begin(), stretches.begin() + half);
}

bool first_messages_fit(const Collective& collective, Node node, Paths& paths,
                        const CapacityCheck& capacity) {
  const Schedule& schedule = *collective.schedule;
  const Extent& extent = schedule.extent();
  const CollectiveFigures& figures = collective.figures;
  std::map<LinkId, Int128> asked;  // bytes per second
  for (uint32_t c = 0; c < extent.channels; ++c) {
    const StepRef ref{node, Channel(c), 0};
    if (schedule.steps(node, ref.channel) == 0)
      continue;
    const Step step = schedule.step(ref);
    if (step.count() == 0 || !step.to)
      continue;
    const Path& path =
        paths.between(collective.vertices[node.index()], collective.vertices[step.to->index()], c);
    const MessageFigures& messages = path.figures(figures);
    if (!sends_as_it_enters(schedule, ref, step, figures.rates, messages))
      continue;
    for (const LinkId link : path.links)
      if (capacity.looks_at(link) && (asked[link] += path.peak(messages.channel_rate).count()) >
                                         paths.fabric().link(link).bandwidth.count())
        return false;
  }
  return true;
}

}  // namespace orrery
