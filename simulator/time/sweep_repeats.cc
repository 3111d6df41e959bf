#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "models/program/op.h"
#include "simulator/schedule/walk.h"
#include "simulator/time/collective_sweep.h"

namespace orrery {
namespace {

/// A schedule with more halves in an iteration than this is swept step by step.
constexpr size_t kMostHalves = size_t{1} << 18U;
/// The same holds if more times of steps than this would be kept.
constexpr size_t kMostTimes = size_t{1} << 20U;
/// A lockstep schedule of fewer iterations is swept row by row, which takes less for each step.
constexpr uint32_t kFewIterations = 4;
/// An iteration is compared with those at most so many iterations earlier.
constexpr uint32_t kLongestPeriod = 8;

/// Sweeps a schedule whose messages are cut, one iteration after the other, each in the order in
/// which the halves of the whole schedule can run. Causes that lie in earlier iterations are met
/// then. Causes and durations are found once, since they are the same in all iterations with
/// messages of the same sizes.
///
/// The times of an iteration follow from those of the `back` iterations before it, to which causes
/// reach. An iteration repeats on two conditions. Every step of a part is later by one duration
/// than it was a period earlier. And no part has a smaller duration than a part that it waits for.
/// After `back` iterations in a row that repeat, all later ones do (a max-plus system is periodic),
/// and are not run.
///
/// A part may wait for a faster one, with a smaller duration, which runs ahead further in each
/// period. Then a whole period must have repeated. The faster part held up no step in it: else, one
/// period earlier, that cause would have been met after the step that waits for it. So it holds up
/// no later step.
class RepeatingSweep {
 public:
  RepeatingSweep(const SlicedSchedule& schedule, const SweptCollective& of)
      : schedule_(schedule),
        extent_(schedule.extent()),
        collective_(of.lowered.collective(of.id)),
        of_(of),
        back_(schedule.iterations_back()),
        bundles_(schedule.whole(), Bundles::Messages::AtMostAsLarge) {}

  /// Returns whether the schedule is not too large.
  bool prepare() {
    const CountedChannels counted(schedule_.whole(), bundles_);
    const std::vector<OrderedHalf> order = order_of(counted, kMostHalves);
    if (order.empty())
      return false;
    size_t steps = 0;
    for (size_t number = 0; number < extent_.all_channels(); ++number) {
      firsts_.push_back(steps);
      steps += counted.steps(extent_.node_of(number), extent_.channel_of(number));
    }
    firsts_.push_back(steps);
    if (size_t{kept()} * steps > kMostTimes)
      return false;
    steps_.resize(steps);
    for (const OrderedHalf& each : order)
      add(each);
    times_.resize(kept() * steps);
    return true;
  }

  CollectiveTimes run() {
    uint32_t alike_until = schedule_.alike_iterations();
    for (uint32_t i = 0; i < schedule_.iterations(); ++i) {
      if (i >= alike_until)
        resize_messages(i);
      run_iteration(i);
      if (i + 1 < alike_until && !skipped_)
        i += skip_after(i);
    }
    CollectiveTimes times;
    for (uint32_t n = 0; n < of_.entries.size(); ++n)
      times.exits.push_back(exit(Node(n)));
    return times;
  }

 private:
  struct FlatCause {
    uint32_t step = 0;        // of an iteration; of an Enter the node
    uint32_t iterations = 0;  // how many iterations earlier
    CauseKind kind = CauseKind::Order;
    Half half = Half::Send;
  };
  struct FlatHalf {
    uint32_t step = 0;
    Half half = Half::Receive;
    bool first = false;  // of its channel
    uint32_t causes_end = 0;
  };
  struct FlatStep {
    StepRef ref;
    uint32_t part = 0;
    Duration receives;
    Duration sends;
    Duration latency;
    bool has_message = false;
  };

  uint32_t kept() const { return back_ + kLongestPeriod + 1; }
  uint32_t number_of(StepRef within) const {
    return static_cast<uint32_t>(firsts_[extent_.number_of(within.node, within.channel)] +
                                 within.index);
  }
  StepTimes* times_of(uint32_t iteration) {
    return times_.data() + size_t{(iteration - moved_) % kept()} * steps_.size();
  }

  /// Adds a half of the whole schedule, with the causes that it has in a late iteration, whether
  /// the schedule has that many or not.
  void add(const OrderedHalf& each) {
    const uint32_t number = number_of(each.ref);
    const uint32_t length = schedule_.length(each.ref.node, each.ref.channel);
    const StepRef late{each.ref.node, each.ref.channel, back_ * length + each.ref.index};
    const Step step = schedule_.step(late);
    if (each.half == Half::Receive) {
      steps_[number].ref = each.ref;
      steps_[number].part = bundles_.part_of(each.ref.channel);
      set_durations(steps_[number], schedule_.step(each.ref));
    }
    for_each_cause(schedule_, extent_, late, each.half, step, [&](const Cause& cause) {
      if (cause.kind == CauseKind::Enter) {
        causes_.push_back({cause.step.node.index(), 0, cause.kind, cause.half});
        return true;
      }
      const uint32_t of_each = schedule_.length(cause.step.node, cause.step.channel);
      const StepRef within{cause.step.node, cause.step.channel, cause.step.index % of_each};
      causes_.push_back(
          {number_of(within), back_ - cause.step.index / of_each, cause.kind, cause.half});
      return true;
    });
    halves_.push_back({number, each.half, each.half == Half::Receive && each.ref.index == 0,
                       static_cast<uint32_t>(causes_.size())});
  }

  void set_durations(FlatStep& flat, const Step& step) const {
    const Bytes size = itemsize(collective_.work) * step.count();
    const auto& vertices = collective_.vertices;
    Duration message;
    if (step.to) {
      const Path& path = of_.paths.between(vertices[flat.ref.node.index()],
                                           vertices[step.to->index()], flat.ref.channel.index());
      const MessageFigures& figures = path.figures(collective_.figures);
      flat.latency = latency_of(path.latency, figures);
      message = path.transfer(size, figures);
    }
    flat.has_message = step.to.has_value();
    const PayloadDurations durations =
        payload_durations(size, rates_of(collective_, flat.ref.node), message);
    const TimedActions receives = timed_actions(step.form(), Half::Receive);
    flat.receives = take_time(receives, collective_.figures.rates)
                        ? half_duration(receives, durations)
                        : Duration();
    flat.sends = flat.has_message ? half_duration(timed_actions(step.form(), Half::Send), durations)
                                  : Duration();
  }

  /// Sets the durations to those of an iteration whose messages have other sizes.
  void resize_messages(uint32_t iteration) {
    for (FlatStep& flat : steps_) {
      StepRef ref = flat.ref;
      ref.index += iteration * schedule_.length(ref.node, ref.channel);
      set_durations(flat, schedule_.step(ref));
    }
  }

  void run_iteration(uint32_t iteration) {
    StepTimes* const now = times_of(iteration);
    std::vector<StepTimes*>& before = befores_;
    before.clear();
    for (uint32_t i = 0; i <= std::min(iteration, back_); ++i)
      before.push_back(times_of(iteration - i));
    uint32_t cause = 0;
    for (const FlatHalf& half : halves_) {
      LastMet<> last;
      if (half.first && iteration == 0 && extent_.is_rank(steps_[half.step].ref.node)) {
        const Node node = steps_[half.step].ref.node;
        last.add({of_.entries[node.index()], node});
      }
      for (; cause < half.causes_end; ++cause) {
        const FlatCause& each = causes_[cause];
        if (each.kind == CauseKind::Enter)
          last.add({of_.entries[each.step], Node(each.step)});
        else if (each.iterations < before.size())
          last.add(before[each.iterations][each.step].of({each.kind, {}, each.half}));
      }
      const FlatStep& step = steps_[half.step];
      StepTimes& times = now[half.step];
      if (half.half == Half::Receive) {
        times.received = last.get().at + step.receives;
        times.received_origin = last.get().origin;
        continue;
      }
      times.sent = last.get().at + step.sends;
      times.sent_origin = last.get().origin;
      times.arrived = step.has_message ? arrival(times.sent, step.latency) : Instant();
    }
  }

  /// Returns by how much every time of an iteration is later than a period earlier, by the part.
  /// The result is empty if it is not the same for all steps of a part, or if it is smaller for a
  /// part than for one that the part waits for.
  std::map<uint32_t, Duration> later(uint32_t iteration, uint32_t period) {
    const StepTimes* const now = times_of(iteration);
    const StepTimes* const before = times_of(iteration - period);
    std::map<uint32_t, Duration> all;
    uint32_t part = extent_.channels;
    Duration by;
    for (size_t s = 0; s < steps_.size(); ++s) {
      const StepTimes& a = now[s];
      const StepTimes& b = before[s];
      if (steps_[s].part != part) {
        part = steps_[s].part;
        by = all.try_emplace(part, a.received - b.received).first->second;
      }
      if (a.received - b.received != by || a.sent - b.sent != by ||
          (steps_[s].has_message && a.arrived - b.arrived != by) ||
          a.received_origin != b.received_origin || a.sent_origin != b.sent_origin)
        return {};
    }
    for (const auto& [first, then] : bundles_.followed())
      if (all.contains(first) && all.at(first) > all.at(then))
        return {};
    return all;
  }

  /// Returns how many iterations need not be run after this one, and moves the times by as many.
  uint32_t skip_after(uint32_t iteration) {
    for (uint32_t period = 1; period <= std::min(iteration, kLongestPeriod); ++period) {
      Repeating& repeating = repeating_[period];
      std::map<uint32_t, Duration> by = later(iteration, period);
      repeating = {repeating.by == by ? repeating.iterations + 1 : 1U, std::move(by)};
      const uint32_t in_a_row = bundles_.followed().empty() ? back_ : std::max(back_, period);
      if (repeating.by.empty() || repeating.iterations < in_a_row)
        continue;
      skipped_ = true;
      const uint32_t times = (schedule_.alike_iterations() - 1 - iteration) / period;
      move_times(repeating.by, times);
      moved_ = times * period;
      return moved_;
    }
    return 0;
  }

  /// Makes all times later, by as many periods.
  void move_times(const std::map<uint32_t, Duration>& by, uint32_t periods) {
    for (size_t t = 0; t < times_.size(); ++t) {
      const Duration shift = by.at(steps_[t % steps_.size()].part) * int64_t{periods};
      times_[t].received = times_[t].received + shift;
      times_[t].sent = times_[t].sent + shift;
      times_[t].arrived = times_[t].arrived + shift;
    }
  }

  /// Returns when the rank ended and whose entry held it up, as CollectiveSweep does.
  Happened exit(Node node) {
    LastMet<> last;
    const StepTimes* const times = times_of(schedule_.iterations() - 1);
    for (uint32_t c = 0; c < extent_.channels; ++c)
      if (const uint32_t length = schedule_.length(node, Channel(c));
          length > 0 && bundles_.counts(Channel(c))) {
        const StepTimes& of = times[number_of({node, Channel(c), length - 1})];
        last.add({of.sent, of.sent_origin});
      }
    return last.any() ? last.get() : Happened{of_.entries[node.index()], node};
  }

  /// Says how many iterations in a row were later than a period earlier by the same duration.
  struct Repeating {
    uint32_t iterations = 0;
    std::map<uint32_t, Duration> by;
  };

  const SlicedSchedule& schedule_;
  const Extent& extent_;
  const Collective& collective_;
  const SweptCollective& of_;
  const uint32_t back_;  // iterations that causes reach back
  const Bundles bundles_;
  std::vector<size_t> firsts_;   // per channel: its first step in an iteration
  std::vector<FlatStep> steps_;  // of an iteration
  std::vector<FlatHalf> halves_;
  std::vector<FlatCause> causes_;
  std::vector<StepTimes> times_;
  std::vector<StepTimes*> befores_;
  uint32_t moved_ = 0;  // iterations that were not run
  bool skipped_ = false;
  std::array<Repeating, kLongestPeriod + 1> repeating_;
};

}  // namespace

std::optional<CollectiveTimes> sweep_repeating(const SlicedSchedule& schedule,
                                               const SweptCollective& of) {
  return on_behalf_of(of.op, [&]() -> std::optional<CollectiveTimes> {
    if (schedule.extent().lockstep && schedule.iterations() < kFewIterations)
      return std::nullopt;
    RepeatingSweep sweep(schedule, of);
    return sweep.prepare() ? std::optional(sweep.run()) : std::nullopt;
  });
}

}  // namespace orrery
