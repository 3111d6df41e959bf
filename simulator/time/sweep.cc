#include "simulator/time/sweep.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/op.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/run_table.h"
#include "simulator/time/apart.h"
#include "simulator/time/collective_sweep.h"
#include "simulator/time/device_clocks.h"
#include "simulator/time/loop_skips.h"
#include "simulator/time/period_finder.h"
#include "simulator/time/state_budget.h"

namespace orrery {
namespace {

/// LoopMates are lists that meet in a loop, each in the loop of its own thread. No other list
/// affects them there. So they have a period of their own, and may drift away from other lists.
struct LoopMates {
  std::vector<ListId> lists;
  ListLooks looks = {};
  std::vector<LinkUse> uses = {};  // since the state that the finder keeps for comparison
};

/// LoopMeetings has the mates of each list in each loop.
class LoopMeetings {
 public:
  LoopMeetings(const Program& program, const Lowered& lowered, const ProgramLists& lists) {
    for (uint32_t l = 0; l < program.loops.size(); ++l)
      for (const ListId list : lists.lists_of(program.loops[l].thread))
        index_.emplace(std::pair(l, list), static_cast<uint32_t>(index_.size()));
    same_.resize(index_.size());
    std::iota(same_.begin(), same_.end(), 0U);
    for (uint32_t c = 0; c < lowered.collectives.size(); ++c)
      meet(CollectiveId(c), lowered, lists);
    std::map<uint32_t, uint32_t> number;
    for (const auto& [of, index] : index_) {
      const auto [mates, is_new] = number.emplace(least(index), mates_.size());
      if (is_new)
        mates_.emplace_back();
      mates_[mates->second].lists.push_back(of.second);
      mates_of_.emplace(of, mates->second);
    }
  }

  LoopMates& of(uint32_t loop, ListId list) { return mates_[mates_of_.at({loop, list})]; }

 private:
  /// Makes the members of a collective mates in all loops around it.
  void meet(CollectiveId id, const Lowered& lowered, const ProgramLists& lists) {
    const Iterations& iterations = *lowered.iterations;
    const Collective& collective = lowered.collective(id);
    std::vector<uint32_t> first;  // per loop around it, from the inside
    for (uint32_t n = 0; n < collective.members.size(); ++n) {
      if (!lists.is_entered(id, Node(n)))
        continue;
      const EnterRef entry = lists.enter_of(id, Node(n));
      size_t depth = 0;
      for (LoopAround loop = iterations.loop_of(lists.op(entry)); loop;
           loop = iterations.around(*loop), ++depth) {
        const uint32_t index = index_.at({*loop, entry.list});
        if (first.size() == depth)
          first.push_back(index);
        const uint32_t a = least(index);
        const uint32_t b = least(first[depth]);
        same_[std::max(a, b)] = std::min(a, b);
      }
    }
  }

  uint32_t least(uint32_t index) {
    while (same_[index] != index)
      index = same_[index] = same_[same_[index]];
    return index;
  }

  std::map<std::pair<uint32_t, ListId>, uint32_t> index_;
  std::vector<uint32_t> same_;  // per index: one of its mates that is not greater
  std::vector<LoopMates> mates_;
  std::map<std::pair<uint32_t, ListId>, uint32_t> mates_of_;
};

class ProgramSweep {
 public:
  ProgramSweep(const Program& program, const Lowered& lowered, Paths& paths,
               const SweepOptions& options)
      : program_(program),
        lowered_(lowered),
        paths_(paths),
        capacity_(capacity_check(paths, options.check_capacity)),
        clocks_(program, lowered, options.device_start, options.log, options.wanted),
        skips_(program, lowered, clocks_, options.wanted.kept),
        log_(options.log),
        only_times_(options.only_times),
        alone_(options.alone),
        most_state_(options.most_state),
        state_(options.most_state, options.wanted.allowed_steps()),
        gathering_(lowered.collectives.size()),
        once_(lowered.collectives.size()) {
    completion_.device_start = options.device_start;
    completion_.by = TimedBy::Sweep;
    checks_turns_ = options.apart != nullptr;
    ORRERY_CHECK(!checks_turns_ || (log_ == nullptr && options.check_capacity == nullptr),
                 "collectives are timed apart without a log");
    if (!capacity_ && log_ == nullptr)
      apart_.emplace(lowered, paths, options.apart);
    if (skips_.any())
      meetings_.emplace(program, lowered, clocks_.lists());
  }

  std::variant<Completion, std::string> run() {
    if (meetings_ && capacity_)
      return "what iterations ask of links is not known where they are skipped";
    const auto entered = [&](const Entrance& entrance) { enter(entrance); };
    if (meetings_)
      for (uint32_t l = 0; l < clocks_.lists().size(); ++l)
        clocks_.hold(ListId(l), skips_.next_end(ListId(l), LoopSkips::Ends::All));
    clocks_.begin(entered);
    do {
      for (size_t next = 0; next < complete_.size(); ++next)
        if (const CollectiveRun run = gathering_.run(complete_[next]);
            !time_collective(complete_[next]))
          return stopped_in(run.collective);
      complete_.clear();
    } while (meetings_ && lists_go_on() && took_turns_);
    if (!took_turns_)
      return "iterations that are skipped ask a link for more than it has";
    if (!clocks_.finished())
      return clocks_.waiting_text() + ", whose members' entries depend on each other's ends";
    completion_.makespan = clocks_.makespan();
    completion_.not_kept = clocks_.not_kept();
    completion_.added = skips_.added();
    completion_.spans = std::move(clocks_).spans();
    for (size_t c = 0; c < lowered_.collectives.size(); ++c) {
      const uint64_t times = lowered_.collectives[c].times;
      completion_.messages += once_[c].messages * times;
      completion_.digest.add(once_[c].digest.in(CollectiveId(c)).repeated(times));
    }
    return std::move(completion_);
  }

 private:
  /// A Gathering is a run of a collective whose members have not all entered.
  struct Gathering {
    std::vector<Instant> entries;  // per node
    std::vector<EnterRef> by;
    size_t known = 0;
  };

  /// Once is what a collective does each time it runs.
  struct Once {
    uint64_t messages = 0;
    Digest digest;
  };

  static std::optional<CapacityCheck> capacity_check(const Paths& paths, const Demands* demands) {
    if (demands == nullptr)
      return std::nullopt;
    CapacityCheck check(paths.fabric(), *demands);
    return check.needed() ? std::optional(std::move(check)) : std::nullopt;
  }

  std::string stopped_in(CollectiveId id) const {
    const OpId op = program_.site(lowered_.collective(id).site).ops.front();
    const bool shares = !took_turns_ || (capacity_ && !capacity_->holds());
    return fmt::format("'{}' {}", program_.op(op).name,
                       shares ? "asks a link for more than it has" : "cannot end");
  }

  void enter(const Entrance& entrance) {
    const uint32_t slot = gathering_.slot(entrance.run);
    Gathering& gathering = gathering_[slot];
    const size_t members = lowered_.collective(entrance.run.collective).members.size();
    gathering.entries.resize(members);
    gathering.by.resize(members);
    gathering.entries[entrance.node.index()] = entrance.at;
    gathering.by[entrance.node.index()] = entrance.by;
    if (++gathering.known == members)
      complete_.push_back(slot);
  }

  /// Times a collective. Returns whether it came to its end.
  bool time_collective(uint32_t slot) {
    const CollectiveId id = gathering_.run(slot).collective;
    const Gathering gathering = std::exchange(gathering_[slot], {});
    gathering_.erase(slot);
    const std::optional<CollectiveTimes> times = times_of(id, gathering.entries);
    if (!times)
      return false;
    if (!take_turns(id, gathering, times->exits))
      return false;
    once_[id.index()] = {times->messages, times->digest};
    for (uint32_t n = 0; n < gathering.entries.size(); ++n)
      clocks_.end(gathering.by[n], times->exits[n].at, times->exits[n].origin,
                  [&](const Entrance& entrance) { enter(entrance); });
    return true;
  }

  /// Returns whether no two collectives used a link at the same time so far.
  bool take_turns(CollectiveId id, const Gathering& gathering, std::span<const Happened> exits) {
    if (!checks_turns_)
      return true;
    const ListId list = gathering.by.front().list;
    const OpId op = clocks_.lists().op(gathering.by.front());
    took_turns_ = apart_->take_turns(id, gathering.entries, exits, [&](const LinkUse& use) {
      remember(use, lowered_.iterations->loop_of(op), list);
    });
    return took_turns_;
  }

  /// Remembers a link's use by a list, for each loop around that may soon be known to repeat.
  void remember(const LinkUse& use, LoopAround loop, ListId list) {
    if (!meetings_)
      return;
    for (; loop; loop = lowered_.iterations->around(*loop))
      if (LoopMates& mates = meetings_->of(*loop, list); mates.looks.finder.is_comparing())
        mates.uses.push_back(use);
  }

  std::optional<CollectiveTimes> times_of(CollectiveId id, std::span<const Instant> entries) {
    const OpId op = program_.site(lowered_.collective(id).site).ops.front();
    if (!apart_)
      return swept(id, op, entries);
    if (const CollectiveTimes* const known = apart_->find(id, entries))
      return on_behalf_of(op, [&] { return CollectivesApart::at(*known, entries); });
    std::optional<CollectiveTimes> times;
    if (checks_turns_ && apart_->shares_links(id)) {
      completion_.by = TimedBy::Engine;
      TimeOptions of_alone;
      of_alone.most_state = most_state_;
      of_alone.only_times = only_times_;
      of_alone.alone = alone_;
      state_.count(op, *lowered_.collective(id).schedule);
      times = apart_->time_alone(id, op, entries, of_alone);
    } else {
      times = swept(id, op, entries);
    }
    if (times)
      apart_->remember(id, entries, *times);
    return times;
  }

  std::optional<CollectiveTimes> swept(CollectiveId id, OpId op, std::span<const Instant> entries) {
    const Schedule& schedule = *lowered_.collective(id).schedule;
    const SweptCollective of{
        lowered_, id, op, entries, paths_, log_, capacity_ ? &*capacity_ : nullptr, state_};
    const auto* const cut = dynamic_cast<const SlicedSchedule*>(&schedule);
    std::optional<CollectiveTimes> times;
    if (cut != nullptr && only_times_ && of.log == nullptr && of.capacity == nullptr)
      times = sweep_repeating(*cut, of);
    return times ? times : sweep_collective(schedule, of);
  }

  /// Lets lists that are held at the ends of iterations go on, when nothing else can happen. Mates
  /// go on together, once all are there. Returns whether any list went on.
  bool lists_go_on() {
    std::vector<ListId> held;
    for (uint32_t l = 0; l < clocks_.lists().size(); ++l)
      if (clocks_.progress().is_held(ListId(l)))
        held.emplace_back(l);
    std::vector<ListId> ready;
    for (const ListId list : held) {
      LoopMates& mates = meetings_->of(skips_.loop_at(list).loop, list);
      if (mates.lists.front() == list && are_together(mates)) {
        skip(mates, list);
        ready.insert(ready.end(), mates.lists.begin(), mates.lists.end());
      }
    }
    // If no mates are complete, some wait for one that does not come, and go on without it.
    for (const ListId list : ready.empty() ? held : ready) {
      clocks_.hold(list, skips_.next_end(list, LoopSkips::Ends::All));
      clocks_.resume(list, [&](const Entrance& entrance) { enter(entrance); });
    }
    return !held.empty();
  }

  /// Skips iterations of a loop for its mates. Links are used in them as in those before.
  void skip(LoopMates& mates, ListId list) {
    if (!skips_.is_due(mates.lists, mates.looks))
      return;
    const LoopAround around = lowered_.iterations->around(skips_.loop_at(list).loop);
    const std::optional<RepeatedPeriods> repeated = skips_.skip(mates.lists, mates.looks);
    if (repeated && checks_turns_)
      took_turns_ = apart_->repeat(std::exchange(mates.uses, {}), *repeated,
                                   [&](const LinkUse& use) { remember(use, around, list); });
    if (repeated || mates.looks.finder.has_begun_comparing())
      mates.uses.clear();
  }

  bool are_together(LoopMates& mates) {
    return std::all_of(mates.lists.begin(), mates.lists.end(), [&](ListId list) {
      return clocks_.progress().is_held(list) &&
             &meetings_->of(skips_.loop_at(list).loop, list) == &mates;
    });
  }

  const Program& program_;
  const Lowered& lowered_;
  Paths& paths_;
  std::optional<CapacityCheck> capacity_;
  DeviceClocks clocks_;
  LoopSkips skips_;
  std::optional<LoopMeetings> meetings_;  // where iterations may be skipped
  EventLog* log_;
  const bool only_times_;
  AloneTimes* const alone_;
  const int64_t most_state_;
  StateBudget state_;
  std::optional<CollectivesApart> apart_;  // where runs that are alike are timed once
  bool checks_turns_ = false;              // whether collectives must not share links
  bool took_turns_ = true;                 // whether they did not so far
  RunTable<Gathering> gathering_;
  std::vector<Once> once_;          // per collective
  std::vector<uint32_t> complete_;  // slots, in the order in which their last member entered
  Completion completion_;
};

/// Returns the rate count / parts as text: "12.5 GB/s", or "333 1/3 B/s" if it is not whole.
std::string exact_rate(Int128 count, int64_t parts) {
  const int64_t whole = checked_narrow(count / parts);
  const auto rest = static_cast<int64_t>(count % parts);
  const int64_t common = std::gcd(rest, parts);
  if (rest > 0)
    return fmt::format("{} {}/{} B/s", whole, rest / common, parts / common);
  for (const auto& [unit, digits] : {std::pair("GB/s", 9), {"MB/s", 6}, {"kB/s", 3}}) {
    const std::string all = fmt::format("{:0{}}", whole, digits + 1);
    const size_t point = all.size() - static_cast<size_t>(digits);
    if (all.front() == '0')
      continue;
    const size_t end = std::max(all.find_last_not_of('0') + 1, point);
    return fmt::format("{}{}{} {}", all.substr(0, point), end > point ? "." : "",
                       all.substr(point, end - point), unit);
  }
  return fmt::format("{} B/s", whole);
}

}  // namespace

std::optional<std::string> sweep_refusal(const Demands& demands, const Fabric& fabric) {
  const std::vector<Demand>& asked = demands.links;
  for (size_t l = 0; l < asked.size(); ++l) {
    const LinkId id(static_cast<uint32_t>(l));
    const Link link = fabric.link(id);
    if (asked[l].exceeds(link))
      return fmt::format("link {} has {}, and {} chains of messages may ask it for {}",
                         fabric.link_text(id),
                         exact_rate(link.bandwidth.count(), fabric.rate_parts()), asked[l].chains,
                         exact_rate(asked[l].peak, fabric.rate_parts()));
  }
  return std::nullopt;
}

Int128 swept_state(const Extent& extent) {
  return CollectiveSweep<Schedule>::least_bytes(extent);
}

std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            Paths& paths, const SweepOptions& options) {
  return ProgramSweep(program, lowered, paths, options).run();
}

std::optional<std::string> sweep_refusal(const Lowered& lowered, const Fabric& fabric) {
  Paths paths(fabric);
  return sweep_refusal(demands(lowered, paths), fabric);
}

std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            const Fabric& fabric, const SweepOptions& options) {
  Paths paths(fabric);
  return sweep(program, lowered, paths, options);
}

}  // namespace orrery
