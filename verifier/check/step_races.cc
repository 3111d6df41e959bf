#include "verifier/check/step_races.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/base/check.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/step_table.h"
#include "simulator/schedule/walk.h"

namespace orrery {
namespace {

/// One access of a half to elements of its node.
struct Access {
  StepRef step;
  Half half = Half::Receive;
  Slice slice;
  bool writes = false;
};

/// The slices that the actions of a half name; only a store writes.
std::vector<Access> accesses(StepRef ref, Half half, const Step& step) {
  std::vector<Access> result;
  for_each_action(step.form(), half, [&](Action action) {
    if (const Slice* slice = step.slice(action.slice))
      result.push_back({ref, half, *slice, action.kind == ActionKind::Store});
  });
  return result;
}

/// Happens-before as vector clocks: for each half, how many halves of each channel have ended
/// before it. A visitor of walk(), which runs every half after its causes.
class Clocks {
 public:
  explicit Clocks(const Schedule& schedule) : schedule_(schedule), clocks_(schedule, {}) {}

  void receive(StepRef ref, const Step& step) { add(ref, Half::Receive, step); }
  void send(StepRef ref, const Step& step) { add(ref, Half::Send, step); }

  bool before(const Access& a, const Access& b) const {
    return clocks_.at(b.step).of(b.half)[channel(a.step)] >= halves_until(a.step, a.half);
  }

 private:
  using Clock = std::vector<uint32_t>;  // per channel, by number: how many of its halves
  struct OfStep {
    Clock received;
    Clock sent;

    Clock& of(Half half) { return half == Half::Receive ? received : sent; }
    const Clock& of(Half half) const { return half == Half::Receive ? received : sent; }
  };

  size_t channel(StepRef ref) const { return schedule_.extent().number_of(ref.node, ref.channel); }
  /// Of its channel, this one included.
  static uint32_t halves_until(StepRef ref, Half half) {
    return 2 * ref.index + (half == Half::Receive ? 1 : 2);
  }

  void add(StepRef ref, Half half, const Step& step) {
    Clock now(schedule_.extent().all_channels(), 0);
    for_each_cause(schedule_, schedule_.extent(), ref, half, step, [&](const Cause& cause) {
      if (cause.kind == CauseKind::Enter)
        return true;
      const Clock& then = clocks_.at(cause.step).of(cause.half);
      for (size_t c = 0; c < now.size(); ++c)
        now[c] = std::max(now[c], then[c]);
      return true;
    });
    now[channel(ref)] = halves_until(ref, half);
    clocks_.at(ref).of(half) = std::move(now);
  }

  const Schedule& schedule_;
  AllSteps<OfStep> clocks_;
};

std::string text(const Access& access) {
  return fmt::format("channel {} step {} {}", access.step.channel.index(), access.step.index,
                     access.writes ? "writes" : "reads");
}

std::string race_text(const Access& a, const Access& b) {
  const int64_t first = std::max(a.slice.first, b.slice.first);
  const int64_t last = std::min(a.slice.first + a.slice.count, b.slice.first + b.slice.count) - 1;
  return fmt::format("on node {}, {} and {} {} elements {} to {}, and nothing orders the two",
                     a.step.node.index(), text(a), text(b), name(a.slice.area), first, last);
}

/// The first unordered pair of one node, by position.
std::optional<std::string> first_race(std::vector<Access> all, const Clocks& clocks) {
  const auto position = [](const Access& access) {
    return std::tuple(access.slice.area, access.slice.first, access.step, access.half);
  };
  std::sort(all.begin(), all.end(),
            [&](const Access& a, const Access& b) { return position(a) < position(b); });
  for (size_t a = 0; a < all.size(); ++a) {
    const int64_t end = all[a].slice.first + all[a].slice.count;
    for (size_t b = a + 1;
         b < all.size() && all[b].slice.area == all[a].slice.area && all[b].slice.first < end;
         ++b) {
      if ((all[a].writes || all[b].writes) && !clocks.before(all[a], all[b]) &&
          !clocks.before(all[b], all[a]))
        return race_text(all[a], all[b]);
    }
  }
  return std::nullopt;
}

}  // namespace

Answer step_races(const Schedule& schedule) {
  Clocks clocks(schedule);
  ORRERY_CHECK(walk(schedule, clocks).empty(), "races are asked for of schedules that end");
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n) {
    std::vector<Access> all;
    for (uint32_t c = 0; c < schedule.extent().channels; ++c) {
      for (uint32_t s = 0; s < schedule.steps(Node(n), Channel(c)); ++s) {
        const StepRef ref{Node(n), Channel(c), s};
        for (const Half half : {Half::Receive, Half::Send})
          for (const Access& access : accesses(ref, half, schedule.step(ref)))
            all.push_back(access);
      }
    }
    if (std::optional<std::string> race = first_race(std::move(all), clocks))
      return Answer::no(std::move(*race));
  }
  return Answer::yes();
}

}  // namespace orrery
