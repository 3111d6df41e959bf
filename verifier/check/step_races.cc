#include "verifier/check/step_races.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <boost/pending/disjoint_sets.hpp>
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

/// This visitor of walk() keeps the halves, each after its causes.
struct WalkOrder {
  std::vector<HalfRef> halves;

  void receive(StepRef ref, const Step& /*step*/) { halves.push_back({ref, Half::Receive}); }
  void send(StepRef ref, const Step& /*step*/) { halves.push_back({ref, Half::Send}); }
};

/// Lanes divides the channels of all nodes: channels that causes join, one after another, are of
/// one lane. Nothing orders halves of different lanes. An algorithm with several channels mostly
/// has a lane for each, so clocks that keep to a lane are as much smaller.
class Lanes {
 public:
  /// `order` has the halves of all nodes, each after its causes.
  Lanes(const Schedule& schedule, std::span<const HalfRef> order)
      : channels_(schedule.extent().channels) {
    join(schedule, order);
    number(schedule);
    order_.resize(halves_.size());
    for (const HalfRef& half : order)
      order_[lane(half.step.node, half.step.channel)].push_back(half);
  }

  uint32_t lane(Node node, Channel channel) const { return place(node, channel).lane; }
  /// Returns the channel's number among those of its node and lane.
  uint32_t column(Node node, Channel channel) const { return place(node, channel).column; }
  /// Returns how many halves of the lane are of channels before this one, by node.
  uint64_t first(Node node, Channel channel) const { return place(node, channel).first; }
  /// Returns the halves of a lane, each after its causes.
  std::span<const HalfRef> order(uint32_t lane) const { return order_[lane]; }

  /// Returns the channels of a node that are of the lane, ascending.
  std::vector<Channel> channels_of(Node node, uint32_t lane) const {
    std::vector<Channel> channels;
    for (uint32_t c = 0; c < channels_; ++c)
      if (this->lane(node, Channel(c)) == lane)
        channels.emplace_back(c);
    return channels;
  }

 private:
  struct Place {
    uint32_t lane = 0;
    uint32_t column = 0;
    uint64_t first = 0;
  };

  size_t index(Node node, Channel channel) const {
    return size_t{node.index()} * channels_ + channel.index();
  }
  const Place& place(Node node, Channel channel) const { return places_[index(node, channel)]; }

  /// Makes `lane` of each channel that of one channel which its causes join to it.
  void join(const Schedule& schedule, std::span<const HalfRef> order) {
    const Extent& extent = schedule.extent();
    places_.resize(size_t{extent.nodes} * channels_);
    std::vector<uint32_t> rank(places_.size()), parent(places_.size());
    boost::disjoint_sets sets(rank.data(), parent.data());
    for (uint32_t i = 0; i < places_.size(); ++i)
      sets.make_set(i);
    for (const HalfRef& half : order)
      for_each_cause(schedule, extent, half.step, half.half, schedule.step(half.step),
                     [&](const Cause& cause) {
                       if (cause.kind != CauseKind::Enter)
                         sets.union_set(
                             static_cast<uint32_t>(index(half.step.node, half.step.channel)),
                             static_cast<uint32_t>(index(cause.step.node, cause.step.channel)));
                       return true;
                     });
    for (uint32_t i = 0; i < places_.size(); ++i)
      places_[i].lane = sets.find_set(i);
  }

  /// Numbers the lanes from 0 on, and the channels in each.
  void number(const Schedule& schedule) {
    std::vector<std::optional<uint32_t>> known(places_.size());
    std::vector<std::optional<uint32_t>> last_node(places_.size());  // per lane
    std::vector<uint32_t> columns(places_.size());                   // of that node
    for (uint32_t i = 0; i < places_.size(); ++i) {
      Place& place = places_[i];
      std::optional<uint32_t>& lane = known[place.lane];
      if (!lane) {
        lane = static_cast<uint32_t>(halves_.size());
        halves_.push_back(0);
      }
      place.lane = *lane;
      const uint32_t node = i / channels_;
      if (last_node[*lane] != node)
        columns[*lane] = 0;
      last_node[*lane] = node;
      place.column = columns[*lane]++;
      place.first = halves_[*lane];
      halves_[*lane] += 2 * uint64_t{schedule.steps(Node(node), Channel(i % channels_))};
    }
  }

  uint32_t channels_;
  std::vector<Place> places_;     // per channel of each node
  std::vector<uint64_t> halves_;  // per lane
  std::vector<std::vector<HalfRef>> order_;
};

/// Clocks holds the order of the halves of one node and lane, as vector clocks. The clock of a half
/// says, for each of the node's channels in the lane, how many of its halves come before this half
/// or are it.
class Clocks {
 public:
  /// These halves are looked at: those of this node, or of all nodes.
  enum class Over : uint8_t { Node, All };

  /// Orders through halves of other nodes are seen with Over::All. Nothing is known before fill().
  Clocks(const Schedule& schedule, const Lanes& lanes, Node node, uint32_t lane, Over over)
      : schedule_(schedule), lanes_(lanes), node_(node), lane_(lane), over_(over) {
    const std::vector<Channel> channels = lanes.channels_of(node, lane);
    columns_ = static_cast<uint32_t>(channels.size());
    rows_ = lanes.order(lane).size();
    if (over == Over::All)
      return;
    begin_ = lanes.first(node, channels.front());
    rows_ = 0;
    for (const Channel channel : channels)
      rows_ += 2 * uint64_t{schedule.steps(node, channel)};
  }

  /// Returns the number of entries.
  uint64_t size() const { return rows_ * columns_; }

  void fill() {
    clocks_.resize(size(), 0);
    for (const HalfRef& half : lanes_.order(lane_))
      if (looks_at(half.step.node))
        add(half);
  }

  bool before(const StepAccess& a, const StepAccess& b) const {
    return clocks_[row(b.step, b.half) + column(a.step)] >= halves_until(a.step, a.half);
  }

 private:
  bool looks_at(Node node) const { return over_ == Over::All || node == node_; }
  /// Returns the number of halves of its channel up to this one.
  static uint32_t halves_until(StepRef ref, Half half) {
    return 2 * ref.index + (half == Half::Receive ? 1 : 2);
  }
  uint32_t column(StepRef ref) const { return lanes_.column(ref.node, ref.channel); }
  /// Returns where the clock of a half begins.
  uint64_t row(StepRef ref, Half half) const {
    return (lanes_.first(ref.node, ref.channel) - begin_ + halves_until(ref, half) - 1) * columns_;
  }

  void add(const HalfRef& half) {
    uint32_t* const now = clocks_.data() + row(half.step, half.half);
    for_each_cause(schedule_, schedule_.extent(), half.step, half.half, schedule_.step(half.step),
                   [&](const Cause& cause) {
                     if (cause.kind == CauseKind::Enter || !looks_at(cause.step.node))
                       return true;
                     const uint32_t* const then = clocks_.data() + row(cause.step, cause.half);
                     for (uint32_t c = 0; c < columns_; ++c)
                       now[c] = std::max(now[c], then[c]);
                     return true;
                   });
    if (half.step.node == node_)
      now[column(half.step)] = halves_until(half.step, half.half);
  }

  const Schedule& schedule_;
  const Lanes& lanes_;
  Node node_;
  uint32_t lane_;
  Over over_;
  uint32_t columns_ = 0;
  uint64_t rows_ = 0;
  uint64_t begin_ = 0;  // halves of the lane before the first one that is looked at
  std::vector<uint32_t> clocks_;
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

  /// Returns the conflicts that nothing orders, in the order given.
  std::vector<Conflict> unordered(const std::vector<Conflict>& conflicts, Node node,
                                  Clocks::Over over) {
    if (conflicts.empty())
      return {};
    walk_once();
    if (stuck_)
      return {};
    std::map<uint32_t, Clocks> clocks;  // by lane
    std::vector<Conflict> result;
    for (const Conflict& each : conflicts) {
      const uint32_t lane = lanes_->lane(node, each.a.step.channel);
      if (lanes_->lane(node, each.b.step.channel) != lane) {
        result.push_back(each);
        continue;
      }
      const auto [found, added] = clocks.try_emplace(lane, schedule_, *lanes_, node, lane, over);
      Clocks& of_lane = found->second;
      if (added) {
        if (!spend(of_lane.size()))
          return {};
        of_lane.fill();
      }
      if (!of_lane.before(each.a, each.b) && !of_lane.before(each.b, each.a))
        result.push_back(each);
    }
    return result;
  }

  void walk_once() {
    if (walked_)
      return;
    walked_ = true;
    WalkOrder order;
    stuck_ = !walk(schedule_, order).empty();
    if (!stuck_)
      lanes_.emplace(schedule_, order.halves);
  }

  const Schedule& schedule_;
  uint64_t left_;
  bool over_budget_ = false;
  bool stuck_ = false;
  bool walked_ = false;
  std::optional<Lanes> lanes_;  // after a walk that ends
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
