#pragma once

// A CollectiveSweep runs one collective in max-plus time, with all its entries known. It is a
// template over the schedule. For rings, which have the most steps, the compiler folds the steps
// and the enumeration of their causes into the loop. All other schedules are swept as a Schedule.
// With classes of their own most took the same time, bruck and pairwise 10 to 15 % less, pat 30 %
// less; and the sweep took 45 s to compile instead of 7 s (g++ 12, 2026-11-29, before the steps of
// a row were kept).

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "models/base/compiler.h"
#include "models/base/quantity.h"
#include "models/program/op.h"
#include "simulator/event/event_log.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/sliced_schedule.h"
#include "simulator/schedule/walk.h"
#include "simulator/time/capacity.h"
#include "simulator/time/origins.h"
#include "simulator/time/state_budget.h"

namespace orrery {

/// A SweptCollective is a collective to sweep.
struct SweptCollective {
  const Lowered& lowered;
  CollectiveId id;
  OpId op;                           // for error messages
  std::span<const Instant> entries;  // when each rank enters
  Paths& paths;
  EventLog* log;  // if not null, gets each half of each step
  CapacityCheck* capacity;
  StateBudget& state;
};

/// Sweeps a collective. Returns nothing if the sweep stops: a link's capacity is exceeded, or some
/// step never runs. Throws OpOverflow and TooMuchState.
std::optional<CollectiveTimes> sweep_collective(const Schedule& schedule,
                                                const SweptCollective& of);

/// Sweeps a collective without a log and a check, and adds up the iterations that repeat. Messages
/// and digest are left out. The result is empty if nothing would be gained: sweep_collective() must
/// sweep it.
std::optional<CollectiveTimes> sweep_repeating(const SlicedSchedule& schedule,
                                               const SweptCollective& of);

template <class S>
class CollectiveSweep {
 public:
  CollectiveSweep(const S& schedule, const SweptCollective& of)
      : schedule_(schedule),
        extent_(schedule.extent()),
        collective_(of.lowered.collective(of.id)),
        id_(of.id),
        itemsize_(itemsize(collective_.work)),
        entries_(of.entries),
        rates_(collective_.figures.rates),
        paths_(of.paths),
        log_(of.log),
        capacity_(of.capacity),
        row_mask_(rows(extent_) - 1),
        width_(size_t{extent_.nodes} * extent_.channels) {}

  /// Returns the memory that the sweep takes while it runs.
  Int128 bytes() const {
    const size_t links = capacity_ == nullptr ? 0 : sizeof(shared_links_[0]);
    return least_bytes(extent_) + Int128{width_} * Int128{links};
  }
  /// Returns the same for any sweep over a schedule of this extent, where no link can be asked for
  /// too much.
  static Int128 least_bytes(const Extent& extent) {
    return Int128{extent.nodes} * Int128{extent.channels} *
               Int128{sizeof(Way) + kProgressBytes + rows(extent) * sizeof(StepTimes)} +
           Int128{extent.nodes} * Int128{kKeepsSteps && extent.lockstep ? sizeof(NodeStep) : 0};
  }

  /// Stops early if a link's capacity is exceeded. Returns whether all steps ran.
  bool run() {
    if (capacity_ != nullptr && !first_messages_fit(collective_, Node(0), paths_, *capacity_)) {
      capacity_->refuse();
      return false;
    }
    ways_.resize(width_);
    shared_links_.resize(capacity_ == nullptr ? 0 : width_);
    times_.resize((row_mask_ + 1) * width_);
    if (extent_.lockstep) {
      run_rows();
      return holds();
    }
    return run_in_any_order() && holds();
  }

  /// Returns when the rank ended and whose entry held it up. The channel that ended last decides
  /// this; among equal ones, the first.
  Happened exit(Node node) const {
    LastMet<> last;
    for_each_cause_of_end(schedule_, extent_, node, [&](const Cause& cause) {
      last.add(times_[index_of(cause.step)].of(cause));
    });
    return last.any() ? last.get() : Happened{entries_[node.index()], node};
  }

  uint64_t messages() const { return tally_.messages; }
  Digest digest() const { return tally_.digest; }

 private:
  /// Rings compute a step as fast as they would read it. The steps of other schedules take a
  /// virtual call each, so those of a row are kept for all passes over it.
  static constexpr bool kKeepsSteps = std::is_same_v<S, Schedule>;
  struct NodeStep {
    Node node;
    Step step;
  };

  /// A Cost says how long a payload of `count` elements takes on a channel. A message without
  /// elements takes only the overhead.
  struct Cost {
    int64_t count = 0;
    PayloadDurations durations;
  };

  /// Computed is the cost that was computed last, and what it depends on. Most ways of a row have
  /// the same cost, and computing it takes divisions of 128 bits.
  struct Computed {
    bool known = false;
    bool of_member = false;  // false for the cost of a switch node
    std::optional<BytesPerSecond> rate;
    const MessageFigures* figures = nullptr;
    Cost cost;
  };

  /// A Way is stored per channel, so that no message needs a search or a division. It has the route
  /// of the last message, and the costs of two sizes. Algorithms split data into parts of two
  /// sizes.
  struct Way {
    std::optional<Node> to;
    Duration latency;
    std::optional<BytesPerSecond> rate;  // the most that a message gets; empty: no links on the way
    const MessageFigures* figures = nullptr;  // of messages on the way; null before the first one
    std::array<Cost, 2> costs;

    bool knows(int64_t count) const { return costs[0].count == count || costs[1].count == count; }
    /// Returns the cost of this size; if it is unknown, the cost of another size.
    const Cost& cost(int64_t count) const { return costs[costs[0].count == count ? 0 : 1]; }
  };

  struct Tally {
    Digest digest;
    uint64_t messages = 0;

    void add(const Tally& other) {
      digest.add(other.digest);
      messages += other.messages;
    }
  };

  /// PassResults has the results of a pass.
  struct PassResults {
    Tally tally;
    bool unknown = false;   // a channel does not know a cost: its times are wrong
    bool same_row = false;  // a send half has a cause in this row, which the pass may not have done
  };

  /// A Pass goes over the steps of one channel number.
  struct Pass {
    const S& schedule;
    StepTimes* times;
    Digest::Halves receives;
    Digest::Halves sends;
    PassResults results = {};
  };

  Pass pass_over(const S& schedule, StepTimes* times, Channel channel) const {
    return {schedule, times, {channel, Half::Receive}, {channel, Half::Send}};
  }

  /// Runs the schedule row by row, whole steps at a time. A row may be repeated. It is repeated
  /// once an unknown cost has been computed. It is also repeated if a send half waits for another
  /// node's receive half of the same row: all receive halves are right after the first pass.
  void run_rows() {
    uint32_t rows = 0;
    full_rows_ = std::numeric_limits<uint32_t>::max();
    bool learn_first = false;  // the row before did not know its costs: this one will not either
    for (uint32_t c = 0; c < extent_.channels; ++c)
      for (uint32_t n = 0; n < extent_.nodes; ++n) {
        const uint32_t steps = schedule_.steps(Node(n), Channel(c));
        rows = std::max(rows, steps);
        full_rows_ = std::min(full_rows_, steps);
      }
    for (uint32_t row = 0; row < rows && holds(); ++row) {
      bool again = false;
      bool learnt = false;
      for (uint32_t c = 0; c < extent_.channels; ++c) {
        begin_row(Channel(c), row);
        if (learn_first)
          learnt |= learn_row(Channel(c), row);
        PassResults results = run_row(*this, schedule_, times_.data(), Channel(c), row);
        if (results.unknown) {
          learnt |= learn_row(Channel(c), row);
          results = run_row(*this, schedule_, times_.data(), Channel(c), row);
        }
        tally_.add(results.tally);
        again |= results.same_row;
      }
      for (uint32_t c = 0; again && c < extent_.channels; ++c) {
        begin_row(Channel(c), row);
        run_row(*this, schedule_, times_.data(), Channel(c), row);
      }
      learn_first = learnt;
      if (capacity_ != nullptr)
        check_row(row);
      if (log_ != nullptr)
        log_row(row);
    }
  }

  bool holds() const { return capacity_ == nullptr || capacity_->holds(); }

  // This and learn_row() are flattened so that the steps of rings are inlined.
  [[gnu::flatten]] void check_row(uint32_t row) {
    for (uint32_t c = 0; c < extent_.channels; ++c) {
      begin_row(Channel(c), row);
      for_each_in_row(schedule_, Channel(c), row, [&](StepRef ref, const Step& step) {
        if (step.to)
          check_capacity(ref, step);
      });
    }
  }

  /// Adds the message of a send half that has run. It takes the links after the sender's overhead.
  void check_capacity(StepRef ref, const Step& step) const {
    const size_t at = channel_of(ref);
    const Instant sent = times_[index_of(ref)].sent;
    const Duration took = half_duration(timed_actions(step.form(), Half::Send),
                                        ways_[at].cost(step.count()).durations);
    const Instant begun(sent.picoseconds() - (took - ways_[at].figures->overhead).count());
    for (const LinkId link : shared_links_[at])
      capacity_->add(link, begun, sent, ways_[at].rate.value());
  }

  /// Runs a row. The compiler is told that only `times` is written through, so it reads the
  /// schedule's figures once and not once a message. clang 14 concludes this only for arguments, so
  /// the schedule is an argument. clang must also be told to inline `run`, or the three calls in
  /// in_row() share one loop. With both measures it runs 124 instructions a message, with neither
  /// 287; g++ 12 runs 140 (1,024 ranks, callgrind, 2026-11-22).
  [[gnu::flatten, gnu::noinline]] static PassResults run_row(const CollectiveSweep& sweep,
                                                             const S& schedule,
                                                             StepTimes* __restrict times,
                                                             Channel channel, uint32_t row) {
    const auto run = [&]() ORRERY_ALWAYS_INLINE {
      return sweep.run_nodes(schedule, times, channel, row);
    };
    if constexpr (requires { schedule.in_row(channel, row, run); })
      return schedule.in_row(channel, row, run);
    else
      return run();
  }

  ORRERY_ALWAYS_INLINE PassResults run_nodes(const S& schedule, StepTimes* times, Channel channel,
                                             uint32_t row) const {
    Pass pass = pass_over(schedule, times, channel);
    for_each_in_row(schedule, channel, row,
                    [&](StepRef ref, const Step& step) ORRERY_ALWAYS_INLINE {
                      receive(ref, step, pass);
                      send(ref, step, pass);
                    });
    return pass.results;
  }

  /// Computes the unknown costs of a row. Returns whether there were any.
  [[gnu::flatten]] bool learn_row(Channel channel, uint32_t row) {
    // `other` differs from the first node's size. Later rows are likely to have it elsewhere.
    std::optional<int64_t> first;
    std::optional<int64_t> other;
    for_each_in_row(schedule_, channel, row, [&](StepRef /*ref*/, const Step& step) {
      const int64_t count = step.count();
      if (!first)
        first = count;
      else if (count != *first)
        other = count;
    });
    bool learnt = false;
    for_each_in_row(schedule_, channel, row, [&](StepRef ref, const Step& step) {
      learnt |= learn(ref, step, step.count() == first ? other : first);
    });
    return learnt;
  }

  void log_row(uint32_t row) {
    // A send half may have waited for the receive half of another node in this row.
    for (const Half half : {Half::Receive, Half::Send})
      for (uint32_t c = 0; c < extent_.channels; ++c) {
        begin_row(Channel(c), row);
        for_each_in_row(schedule_, Channel(c), row, [&](StepRef ref, const Step& step) {
          log_half({ref, half}, step);
        });
      }
  }

  void log_half(HalfRef ref, const Step& step) {
    Pass unused = pass_over(schedule_, times_.data(), ref.step.channel);
    const Instant begin = begins(ref.step, ref.half, step, unused).at;
    const StepTimes& times = times_[index_of(ref.step)];
    const Instant end = ref.half == Half::Receive ? times.received : times.sent;
    const bool sends = ref.half == Half::Send && step.to.has_value();
    log_->add({id_, ref.step, ref.half, begin, end, sends ? times.arrived : end});
  }

  /// Keeps the steps of a channel's row, if this sweep keeps steps. Must be called before passes
  /// over the row.
  void begin_row(Channel channel, uint32_t row) {
    if (!kKeepsSteps || kept_of_ == std::pair(channel, row))
      return;
    kept_of_ = {channel, row};
    kept_.clear();
    kept_.reserve(extent_.nodes);
    for (uint32_t n = 0; n < extent_.nodes; ++n)
      if (row < full_rows_ || row < schedule_.steps(Node(n), channel))
        kept_.push_back({Node(n), schedule_.step({Node(n), channel, row})});
  }

  template <class Visit>
  ORRERY_ALWAYS_INLINE void for_each_in_row(const S& schedule, Channel channel, uint32_t row,
                                            Visit&& visit) const {
    if constexpr (kKeepsSteps) {
      for (const NodeStep& kept : kept_)
        visit(StepRef{kept.node, channel, row}, kept.step);
    } else {
      for (uint32_t n = 0; n < extent_.nodes; ++n)
        if (const StepRef ref{Node(n), channel, row}; row < schedule.steps(Node(n), channel))
          visit(ref, schedule.step(ref));
    }
  }

  bool run_in_any_order() {
    InAnyOrder visitor{*this};
    return walk(schedule_, visitor, [this] { return holds(); }).empty();
  }

  /// Runs each half as walk() comes to it.
  struct InAnyOrder {
    CollectiveSweep& sweep;

    void receive(StepRef ref, const Step& step) { sweep.run_half({ref, Half::Receive}, step); }
    void send(StepRef ref, const Step& step) { sweep.run_half({ref, Half::Send}, step); }
  };

  void run_half(HalfRef half, const Step& step) {
    learn(half.step, step);
    Pass pass = pass_over(schedule_, times_.data(), half.step.channel);
    if (half.half == Half::Receive)
      receive(half.step, step, pass);
    else
      send(half.step, step, pass);
    ORRERY_CHECK(!pass.results.unknown, "a cost that was learnt is known");
    if (capacity_ != nullptr && half.half == Half::Send && step.to)
      check_capacity(half.step, step);
    if (log_ != nullptr)
      log_half(half, step);
    tally_.add(pass.results.tally);
  }

  ORRERY_ALWAYS_INLINE void receive(StepRef ref, const Step& step, Pass& pass) const {
    const Happened begin = begins(ref, Half::Receive, step, pass);
    StepTimes& times = pass.times[index_of(ref)];
    times.received = begin.at;
    times.received_origin = begin.origin;
    const TimedActions actions = timed_actions(step.form(), Half::Receive);
    if (take_time(actions, rates_)) {
      const Cost& cost = ways_[channel_of(ref)].cost(step.count());
      times.received = begin.at + half_duration(actions, cost.durations);
      pass.results.unknown |= cost.count != step.count();
    }
    pass.results.tally.digest.add(pass.receives, ref, bytes_moved(step, Half::Receive, itemsize_));
  }

  ORRERY_ALWAYS_INLINE void send(StepRef ref, const Step& step, Pass& pass) const {
    const Happened begin = begins(ref, Half::Send, step, pass);
    StepTimes& times = pass.times[index_of(ref)];
    times.sent = begin.at;
    times.sent_origin = begin.origin;
    if (step.to) {
      const Way& way = ways_[channel_of(ref)];
      const Cost& cost = way.cost(step.count());
      times.sent = begin.at + half_duration(timed_actions(step.form(), Half::Send), cost.durations);
      times.arrived = arrival(times.sent, way.latency);
      pass.results.unknown |= way.to != *step.to || cost.count != step.count();
      ++pass.results.tally.messages;
    }
    pass.results.tally.digest.add(pass.sends, ref, bytes_moved(step, Half::Send, itemsize_));
  }

  ORRERY_ALWAYS_INLINE Happened begins(StepRef ref, Half half, const Step& step, Pass& pass) const {
    LastMet<> last;
    for_each_cause(pass.schedule, extent_, ref, half, step,
                   [&](const Cause& cause) ORRERY_ALWAYS_INLINE {
                     if (cause.kind == CauseKind::Enter) {
                       last.add({entries_[cause.step.node.index()], cause.step.node});
                     } else {
                       pass.results.same_row |=
                           cause.kind == CauseKind::Credit && cause.step.index == ref.index;
                       last.add(pass.times[index_of(cause.step)].of(cause));
                     }
                     return true;
                   });
    return last.get();
  }

  size_t channel_of(StepRef ref) const {
    return size_t{ref.channel.index()} * extent_.nodes + ref.node.index();
  }

  /// Rows lie one after the other. Only those that a cause may name and the one at work are kept.
  size_t index_of(StepRef ref) const { return (ref.index & row_mask_) * width_ + channel_of(ref); }

  /// Stores the cost of the step in its channel, and that of size `other` in the second entry.
  /// Returns whether anything was new.
  bool learn(StepRef ref, const Step& step, std::optional<int64_t> other = std::nullopt) {
    Way& way = ways_[channel_of(ref)];
    bool learnt = false;
    if (step.to && way.to != *step.to) {
      learn_way(ref, *step.to);
      learnt = true;
    }
    if (!way.knows(step.count())) {
      way.costs = {way.costs[1], cost(way, ref.node, step.count())};
      learnt = true;
    }
    if (other && !way.knows(*other)) {
      way.costs[way.costs[0].count == step.count() ? 1 : 0] = cost(way, ref.node, *other);
      learnt = true;
    }
    return learnt;
  }

  void learn_way(StepRef ref, Node to) {
    const Path& path = path_to(ref, to);
    Way& way = ways_[channel_of(ref)];
    const MessageFigures& figures = path.figures(collective_.figures);
    way = Way{to, latency_of(path.latency, figures), std::nullopt, &figures, {}};
    if (!path.links.empty())
      way.rate = path.peak(figures.channel_rate);
    way.costs.fill(cost(way, ref.node, 0));
    if (capacity_ == nullptr)
      return;
    auto& shared = shared_links_[channel_of(ref)];
    shared.clear();
    for (const LinkId link : path.links)
      if (capacity_->looks_at(link))
        shared.push_back(link);
  }

  const Path& path_to(StepRef ref, Node to) const {
    return paths_.between(collective_.vertices[ref.node.index()], collective_.vertices[to.index()],
                          ref.channel.index());
  }

  Cost cost(const Way& way, Node node, int64_t count) {
    const bool is_member = collective_.is_member(node);
    Computed& last = computed_[count == 0 ? 0 : 1];
    if (last.cost.count != count || last.rate != way.rate || last.figures != way.figures ||
        last.of_member != is_member || !last.known) {
      const Bytes size = itemsize_ * count;
      const MessageFigures& figures =
          way.figures == nullptr ? collective_.figures.messages : *way.figures;
      last = {true,
              is_member,
              way.rate,
              way.figures,
              {count, payload_durations(size, rates_of(collective_, node),
                                        message_duration(size, way.rate, rate_parts_, figures))}};
    }
    return last.cost;
  }

  /// Returns how many rows of steps are remembered, a power of two.
  static size_t rows(const Extent& extent) {
    return std::bit_ceil(size_t{extent.lockstep ? extent.lookback : extent.window} + 1);
  }

  /// A channel takes this many bytes when steps run in any order.
  static constexpr size_t kProgressBytes = 16;

  const S& schedule_;
  const Extent extent_;
  const Collective& collective_;
  const CollectiveId id_;
  const Bytes itemsize_;
  std::span<const Instant> entries_;
  const DataRates rates_;
  Paths& paths_;
  const int64_t rate_parts_ = paths_.fabric().rate_parts();
  EventLog* const log_;
  CapacityCheck* const capacity_;  // null: no link can be asked for too much
  const size_t row_mask_;
  const size_t width_;                // steps of a row
  std::vector<Way> ways_;             // per channel, node
  std::array<Computed, 2> computed_;  // the last cost of no elements, and the last of some
  /// The links on the way of a channel's last message that capacity_ looks at.
  std::vector<boost::container::small_vector<LinkId, 4>> shared_links_;
  std::vector<StepTimes> times_;
  uint32_t full_rows_ = 0;      // all channels of all nodes have steps in so many rows
  std::vector<NodeStep> kept_;  // the steps of the row that kept_of_ names
  std::optional<std::pair<Channel, uint32_t>> kept_of_;
  Tally tally_;
};

/// Sweeps a schedule of this class.
template <class S>
std::optional<CollectiveTimes> sweep_as(const S& schedule, const SweptCollective& of) {
  CollectiveSweep<S> sweep(schedule, of);
  of.state.take(of.op, sweep.bytes(), schedule);
  if (!on_behalf_of(of.op, [&] { return sweep.run(); }))
    return std::nullopt;
  of.state.give(sweep.bytes());
  CollectiveTimes times{sweep.messages(), sweep.digest(), {}};
  for (uint32_t n = 0; n < of.entries.size(); ++n)
    times.exits.push_back(sweep.exit(Node(n)));
  return times;
}

}  // namespace orrery
