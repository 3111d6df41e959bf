#include "verifier/check/step_races.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulator/schedule/causes.h"
#include "simulator/schedule/step_table.h"
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

/// Order says which halves come before which others, through causes.
class Order {
 public:
  /// `order` has the halves of all nodes, each after its causes.
  Order(const Schedule& schedule, std::span<const HalfRef> order)
      : places_(schedule, {}), reached_(order.size()) {
    std::vector<uint32_t> effects(order.size() + 1);
    for (const HalfRef& half : order) {
      place_of(half) = static_cast<uint32_t>(first_cause_.size());
      first_cause_.push_back(static_cast<uint32_t>(causes_.size()));
      for_each_cause(schedule, schedule.extent(), half.step, half.half, schedule.step(half.step),
                     [&](const Cause& cause) {
                       if (cause.kind != CauseKind::Enter) {
                         causes_.push_back(place_of({cause.step, cause.half}));
                         ++effects[causes_.back() + 1];
                       }
                       return true;
                     });
    }
    first_cause_.push_back(static_cast<uint32_t>(causes_.size()));
    std::partial_sum(effects.begin(), effects.end(), effects.begin());
    first_effect_ = effects;
    effects_.resize(causes_.size());
    for (uint32_t place = 0; place < order.size(); ++place)
      for (const uint32_t cause : causes_of(place))
        effects_[effects[cause]++] = place;
  }

  /// Returns whether one of the two comes before the other. Searches from both ends in turn, the
  /// end with fewer halves to go on from first: many halves may come after the first, and before
  /// the second, where few are between them. Adds the halves it looks at to `looked`.
  bool are_ordered(const StepAccess& a, const StepAccess& b, uint64_t& looked) {
    const uint32_t one = place_of({a.step, a.half});
    const uint32_t other = place_of({b.step, b.half});
    const uint32_t first = std::min(one, other);
    const uint32_t last = std::max(one, other);
    ++search_;
    after_.assign(1, first);
    before_.assign(1, last);
    reached_[first] = {search_, End::First};
    reached_[last] = {search_, End::Last};
    bool met = false;
    while (!met && !after_.empty() && !before_.empty()) {
      const bool forward = after_.size() <= before_.size();
      std::vector<uint32_t>& from = forward ? after_ : before_;
      const End end = forward ? End::First : End::Last;
      next_.clear();
      const auto reach = [&](uint32_t place) {
        if (place < first || place > last)
          return;
        Reached& reached = reached_[place];
        if (reached.search != search_) {
          reached = {search_, end};
          next_.push_back(place);
        } else if (reached.from != end) {
          met = true;
        }
      };
      for (const uint32_t place : from)
        for (const uint32_t next_to : forward ? effects_of(place) : causes_of(place))
          reach(next_to);
      looked += from.size();
      std::swap(from, next_);
    }
    return met;
  }

 private:
  enum class End : uint8_t { First, Last };
  struct Reached {
    uint32_t search = 0;  // the last that came here, from 1 on
    End from = End::First;
  };

  uint32_t& place_of(const HalfRef& half) {
    return places_.at(half.step)[half.half == Half::Receive ? 0 : 1];
  }

  std::span<const uint32_t> causes_of(uint32_t place) const {
    return std::span(causes_).subspan(first_cause_[place],
                                      first_cause_[place + 1] - first_cause_[place]);
  }
  std::span<const uint32_t> effects_of(uint32_t place) const {
    return std::span(effects_).subspan(first_effect_[place],
                                       first_effect_[place + 1] - first_effect_[place]);
  }

  // Halves are numbered by their places in the order.
  AllSteps<std::array<uint32_t, 2>> places_;
  std::vector<uint32_t> first_cause_;  // per half, and the end
  std::vector<uint32_t> causes_;
  std::vector<uint32_t> first_effect_;  // per half, and the end
  std::vector<uint32_t> effects_;       // halves with this cause
  std::vector<Reached> reached_;        // per half
  uint32_t search_ = 0;
  std::vector<uint32_t> after_, before_, next_;  // of a search: the halves to go on from
};

/// Looks for races node by node. Halves are ordered only if a node has conflicts.
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
      if (std::optional<StepRace> race = race_of(Node(n)))
        return {std::move(race), false};
      if (stuck_)
        return {};
      if (over_budget_)
        return {std::nullopt, true};
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

  /// Returns the first conflict of the node that nothing orders.
  std::optional<StepRace> race_of(Node node) {
    std::optional<StepRace> race;
    for_each_conflict(accesses(schedule_, node), [&](const Conflict& conflict) {
      walk_once();
      uint64_t looked = 1;
      if (order_ && !over_budget_ && !order_->are_ordered(conflict.a, conflict.b, looked))
        race = StepRace{conflict.a, conflict.b};
      return spend(looked) && !stuck_ && !race;
    });
    return race;
  }

  void walk_once() {
    if (walked_)
      return;
    walked_ = true;
    WalkOrder order;
    stuck_ = !walk(schedule_, order).empty();
    if (!stuck_ && spend(order.halves.size()))
      order_.emplace(schedule_, order.halves);
  }

  const Schedule& schedule_;
  uint64_t left_;
  bool over_budget_ = false;
  bool stuck_ = false;
  bool walked_ = false;
  std::optional<Order> order_;  // after a walk that ends
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
