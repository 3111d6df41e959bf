#include "verifier/check/step_races.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "simulator/schedule/causes.h"
#include "simulator/schedule/walk.h"

namespace orrery {
namespace {

int64_t end_of(const Slice& slice) {
  return slice.first + slice.count;
}

/// Two accesses of different channels that share elements, one of which is written.
struct Conflict {
  StepAccess a;
  StepAccess b;
};

/// Returns whether a step copies elements to where they are. In place, a copy of the input to the
/// output may do so. It changes nothing, so it only reads.
bool copies_onto_itself(const Step& step, const Extent& extent) {
  return !step.from && !step.to && step.combine == Combine::None && step.source && step.target &&
         extent.area(step.source->area) == extent.area(step.target->area) &&
         step.source->first == step.target->first;
}

/// Returns the accesses of the steps of one node, by position.
std::vector<StepAccess> accesses(const Schedule& schedule, Node node) {
  const Extent& extent = schedule.extent();
  std::vector<StepAccess> result;
  for (uint32_t c = 0; c < extent.channels; ++c) {
    const uint32_t steps = schedule.steps(node, Channel(c));
    for (uint32_t s = 0; s < steps; ++s) {
      const StepRef ref{node, Channel(c), s};
      const Step step = schedule.step(ref);
      const bool changes = !copies_onto_itself(step, extent);
      for (const Half half : {Half::Receive, Half::Send})
        for_each_action(step.form(), half, [&](Action action) {
          if (const Slice* slice = step.slice(action.slice); slice && slice->count > 0)
            result.push_back({ref,
                              half,
                              {extent.area(slice->area), slice->first, slice->count},
                              changes && action.kind == ActionKind::Store});
        });
    }
  }
  const auto position = [](const StepAccess& access) {
    return std::tuple(access.slice.area, access.slice.first, access.step, access.half,
                      access.writes);
  };
  std::sort(result.begin(), result.end(),
            [&](const StepAccess& a, const StepAccess& b) { return position(a) < position(b); });
  return result;
}

/// Returns the accesses of a step that writes elements that it reads at another offset.
std::optional<StepRace> own_race(const Step& step, StepRef ref, const Extent& extent) {
  const bool reads = step.source && (!step.from || step.combine != Combine::None);
  if (!reads || !step.target || step.source->first == step.target->first ||
      extent.area(step.source->area) != extent.area(step.target->area))
    return std::nullopt;
  const auto access = [&](const Slice& slice, bool writes) {
    return StepAccess{
        ref, Half::Receive, {extent.area(slice.area), slice.first, slice.count}, writes};
  };
  StepRace race{access(*step.source, false), access(*step.target, true)};
  return race.shared().count > 0 ? std::optional(race) : std::nullopt;
}

/// Calls `visit(Conflict)` for each conflict, until it returns false. `all` is in order of
/// position. The time grows with the accesses, and with the pairs of a write and another access.
template <class Visit>
void for_each_conflict(std::span<const StepAccess> all, Visit&& visit) {
  std::vector<const StepAccess*> reads;  // that may reach beyond the current position
  std::vector<const StepAccess*> writes;
  const auto meets = [&](const StepAccess& access, std::vector<const StepAccess*>& before) {
    std::erase_if(before, [&](const StepAccess* earlier) {
      return earlier->slice.area != access.slice.area ||
             end_of(earlier->slice) <= access.slice.first;
    });
    return std::all_of(before.begin(), before.end(), [&](const StepAccess* earlier) {
      // Steps of one channel run in order.
      return earlier->step.channel == access.step.channel || visit(Conflict{*earlier, access});
    });
  };
  for (const StepAccess& access : all) {
    if (!meets(access, writes) || (access.writes && !meets(access, reads)))
      return;
    (access.writes ? writes : reads).push_back(&access);
  }
}

/// Clocks holds the order of the halves of one node, as vector clocks. The clock of a half says,
/// for each of the node's channels, how many of its halves come before this half or are it.
class Clocks {
 public:
  /// These halves are looked at: those of this node, or of all nodes.
  enum class Over : uint8_t { Node, All };

  /// Returns the number of entries.
  static uint64_t size(const Schedule& schedule, Node node, Over over) {
    const Extent& extent = schedule.extent();
    uint64_t halves = 0;
    for (uint32_t n = 0; n < extent.nodes; ++n)
      for (uint32_t c = 0; c < extent.channels && (over == Over::All || Node(n) == node); ++c)
        halves += 2 * uint64_t{schedule.steps(Node(n), Channel(c))};
    return halves * extent.channels;
  }

  /// `order` has the halves of all nodes, each after its causes. Orders through halves of other
  /// nodes are seen with Over::All.
  Clocks(const Schedule& schedule, Node node, Over over, std::span<const HalfRef> order)
      : node_(node), over_(over), channels_(schedule.extent().channels) {
    const Extent& extent = schedule.extent();
    uint64_t halves = 0;
    for (uint32_t n = 0; n < extent.nodes; ++n)
      for (uint32_t c = 0; c < channels_; ++c) {
        first_.push_back(halves);
        if (looks_at(Node(n)))
          halves += 2 * uint64_t{schedule.steps(Node(n), Channel(c))};
      }
    clocks_.resize(halves * channels_, 0);
    for (const HalfRef& half : order)
      if (looks_at(half.step.node))
        add(schedule, extent, half);
  }

  bool before(const StepAccess& a, const StepAccess& b) const {
    return clocks_[row(b.step, b.half) + a.step.channel.index()] >= halves_until(a.step, a.half);
  }

 private:
  bool looks_at(Node node) const { return over_ == Over::All || node == node_; }
  /// Returns the number of halves of its channel up to this one.
  static uint32_t halves_until(StepRef ref, Half half) {
    return 2 * ref.index + (half == Half::Receive ? 1 : 2);
  }
  /// Returns where the clock of a half begins.
  uint64_t row(StepRef ref, Half half) const {
    const uint64_t of_channel = first_[size_t{ref.node.index()} * channels_ + ref.channel.index()];
    return (of_channel + halves_until(ref, half) - 1) * channels_;
  }

  void add(const Schedule& schedule, const Extent& extent, const HalfRef& half) {
    uint32_t* const now = clocks_.data() + row(half.step, half.half);
    for_each_cause(schedule, extent, half.step, half.half, schedule.step(half.step),
                   [&](const Cause& cause) {
                     if (cause.kind == CauseKind::Enter || !looks_at(cause.step.node))
                       return true;
                     const uint32_t* const then = clocks_.data() + row(cause.step, cause.half);
                     for (uint32_t c = 0; c < channels_; ++c)
                       now[c] = std::max(now[c], then[c]);
                     return true;
                   });
    if (half.step.node == node_)
      now[half.step.channel.index()] = halves_until(half.step, half.half);
  }

  Node node_;
  Over over_;
  uint32_t channels_;
  std::vector<uint64_t> first_;  // per channel: halves before those of the channel
  std::vector<uint32_t> clocks_;
};

/// This visitor of walk() keeps the halves, each after its causes.
struct WalkOrder {
  std::vector<HalfRef> halves;

  void receive(StepRef ref, const Step& /*step*/) { halves.push_back({ref, Half::Receive}); }
  void send(StepRef ref, const Step& /*step*/) { halves.push_back({ref, Half::Send}); }
};

/// Looks for races node by node. Most schedules have no conflicts, or order them by causes within
/// the node. The orders through other nodes are worked out only for conflicts that are left.
class Search {
 public:
  Search(const Schedule& schedule, uint64_t budget) : schedule_(schedule), left_(budget) {}

  StepRaces run() {
    const Extent& extent = schedule_.extent();
    for (uint32_t n = 0; n < extent.nodes; ++n) {
      if (std::optional<StepRace> race = own_race(Node(n)))
        return {std::move(race), false};
      if (extent.channels == 1)  // each step of a node comes after the one before it
        continue;
      const std::vector<Conflict> conflicts = conflicts_of(Node(n));
      const std::vector<Conflict> within = unordered(conflicts, Node(n), Clocks::Over::Node);
      const std::vector<Conflict> races = unordered(within, Node(n), Clocks::Over::All);
      if (stuck_)
        return {};
      if (over_budget_)
        return {std::nullopt, true};
      if (!races.empty())
        return {StepRace{races.front().a, races.front().b}, false};
    }
    return {};
  }

 private:
  /// Returns whether the budget covers so much more.
  bool spend(uint64_t amount) {
    over_budget_ = over_budget_ || amount > left_;
    left_ -= std::min(amount, left_);
    return !over_budget_;
  }

  std::optional<StepRace> own_race(Node node) const {
    for (uint32_t c = 0; c < schedule_.extent().channels; ++c) {
      const uint32_t steps = schedule_.steps(node, Channel(c));
      for (uint32_t s = 0; s < steps; ++s) {
        const StepRef ref{node, Channel(c), s};
        if (auto race = orrery::own_race(schedule_.step(ref), ref, schedule_.extent()))
          return race;
      }
    }
    return std::nullopt;
  }

  std::vector<Conflict> conflicts_of(Node node) {
    std::vector<Conflict> conflicts;
    for_each_conflict(accesses(schedule_, node), [&](const Conflict& conflict) {
      conflicts.push_back(conflict);
      return spend(1);
    });
    return conflicts;
  }

  std::vector<Conflict> unordered(const std::vector<Conflict>& conflicts, Node node,
                                  Clocks::Over over) {
    if (conflicts.empty() || !spend(Clocks::size(schedule_, node, over)))
      return {};
    walk_once();
    if (stuck_)
      return {};
    const Clocks clocks(schedule_, node, over, walked_->halves);
    std::vector<Conflict> result;
    for (const Conflict& each : conflicts)
      if (!clocks.before(each.a, each.b) && !clocks.before(each.b, each.a))
        result.push_back(each);
    return result;
  }

  void walk_once() {
    if (walked_)
      return;
    walked_.emplace();
    stuck_ = !walk(schedule_, *walked_).empty();
  }

  const Schedule& schedule_;
  uint64_t left_;
  bool over_budget_ = false;
  bool stuck_ = false;
  std::optional<WalkOrder> walked_;
};

std::string access_text(const StepAccess& access) {
  return fmt::format("channel {} step {} {}", access.step.channel.index(), access.step.index,
                     access.writes ? "writes" : "reads");
}

}  // namespace

Slice StepRace::shared() const {
  const int64_t begin = std::max(first.slice.first, second.slice.first);
  return {first.slice.area, begin, std::min(end_of(first.slice), end_of(second.slice)) - begin};
}

std::string StepRace::text() const {
  const Slice both = shared();
  if (of_one_step())
    return fmt::format(
        "on node {}, channel {} step {} reads {} elements {} to {} and writes them for others, in "
        "no "
        "order",
        first.step.node.index(), first.step.channel.index(), first.step.index, name(both.area),
        both.first, end_of(both) - 1);
  return fmt::format("on node {}, {} and {} {} elements {} to {}, and nothing orders the two",
                     first.step.node.index(), access_text(first), access_text(second),
                     name(both.area), both.first, end_of(both) - 1);
}

StepRaces step_races(const Schedule& schedule, uint64_t budget) {
  return Search(schedule, budget).run();
}

}  // namespace orrery
