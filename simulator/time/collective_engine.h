#pragma once

// A CollectiveEngine is one run of a collective in the event engine. It decides when halves begin.
// The event engine has the clock and the network: it is told when transfers and reductions begin,
// and says when they have ended.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/base/check.h"
#include "models/base/compiler.h"
#include "models/base/quantity.h"
#include "simulator/event/event_log.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/progress.h"
#include "simulator/schedule/sliced_schedule.h"
#include "simulator/time/origins.h"

namespace orrery {

/// An InstantNumber numbers an instant at which something happens, in half the instant's memory.
using InstantNumber = Id<struct InstantNumberTag>;

/// The Host has now(), the number() of this instant, elapsed() (now, with what was skipped),
/// is_shared(LinkId), and take(std::vector<HalfRef>&), which chooses the half that begins next. It
/// gets the following calls; `slot` is the number by which it knows the run of the collective:
///
///   receive(slot, StepRef, Duration)     a receive half that takes this long
///   prepare(slot, StepRef, Duration)     the overhead of a sender that then shares links
///   transmit(slot, StepRef, Duration)    a send half that takes this long
///   transmit(slot, uint32_t channel, std::span<const LinkId> shared, BytesPerSecond peak, Bytes,
///            uint32_t alike)             as many send halves that share links of their route
///   deliver(slot, StepRef receiver, Instant)    a message in flight
///   copy(slot, Node, Duration)          the copies of a node that has nothing else to do
///   end(slot, Node, Node origin)         a rank whose steps have all retired
///   tally(CollectiveId, StepRef, Half, Bytes, bool sends)    every half
template <class Host>
class CollectiveEngine {
 public:
  enum class State : uint8_t { Running, Over };

  /// `log`, if not null, gets every half. With `bundles`, only the channels that count are run, and
  /// each stands for those that are alike.
  /// `slot` is how the host knows this run of the collective. If iterations of a cut schedule are
  /// added up, copies that nothing waits for are done apart.
  CollectiveEngine(const Collective& collective, CollectiveId id, uint32_t slot, Paths& paths,
                   Host& host, EventLog* log, const Bundles* bundles, bool adds_iterations = false)
      : bundles_(bundles),
        counted_(bundles == nullptr
                     ? nullptr
                     : std::make_unique<CountedChannels>(*collective.schedule, *bundles)),
        schedule_(bundles == nullptr ? *collective.schedule : *counted_),
        cut_(dynamic_cast<const SlicedSchedule*>(collective.schedule)),
        extent_(schedule_.extent()),
        collective_(collective),
        id_(id),
        slot_(slot),
        itemsize_(itemsize(collective.work)),
        paths_(paths),
        host_(host),
        log_(log),
        progress_(schedule_, Arrival::Told),
        marks_(schedule_, Marks{}),
        entries_(extent_.ranks()),
        begun_(log == nullptr ? 0 : size_t{extent_.nodes} * extent_.channels),
        nodes_left_(extent_.nodes),
        adds_iterations_(adds_iterations) {
    if (extent_.fused == FusedStep::Atomic)
      arrivals_ = StepTable<InstantNumber>(schedule_, {});
    if (adds_iterations_ && cut_ != nullptr && extent_.fused != FusedStep::Atomic)
      watched_ = first_that_exchanges();
  }

  /// Returns the memory of a run, with what the event engine holds for its messages under way.
  static Int128 bytes(const Schedule& schedule) {
    const Extent& extent = schedule.extent();
    const Int128 channels = Int128{extent.nodes} * extent.channels;
    const Int128 arrivals =
        extent.fused == FusedStep::Atomic ? StepTable<InstantNumber>::bytes(schedule) : Int128{0};
    return StepTable<Marks>::bytes(schedule) + StepTable<bool>::bytes(schedule) + arrivals +
           channels * Int128{sizeof(Way) + kBytesUnderWay};
  }
  /// Returns the same for the whole schedule, also if few of its channels are run.
  Int128 bytes() const { return bytes(*collective_.schedule); }

  /// Appends the progress, at the end of an instant. Nothing else is needed: halves that run are
  /// among the engine's events and flows, origins do not change times, and ways save work.
  void append_state(std::vector<uint64_t>& words) const { progress_.append_state(words); }

  // These serve schedules whose messages are cut, so that iterations repeat.

  /// Returns the schedule if iterations may be added up.
  const SlicedSchedule* cut() const { return watched_ ? cut_ : nullptr; }
  size_t channels() const { return extent_.all_channels(); }
  uint32_t channel_of(StepRef ref) const {
    return static_cast<uint32_t>(extent_.number_of(ref.node, ref.channel));
  }
  StepRef at_work(uint32_t channel) const { return progress_.at_work(channel); }
  /// Returns the iteration that the channel is at which is the first to exchange messages.
  uint32_t iteration() const {
    const StepRef at = progress_.at_work(*watched_);
    return at.index / cut_->length(at.node, at.channel);
  }
  uint32_t last_iteration() const { return progress_.last_iteration(*cut_); }
  /// Returns the step counted from an iteration. The result of an earlier step is very large.
  uint32_t index_from(uint32_t iteration, StepRef ref) const {
    return ref.index - iteration * cut_->length(ref.node, ref.channel);
  }
  /// Appends the state as append_state(words) does, with steps counted from an iteration.
  void append_state(uint32_t iteration, std::vector<uint64_t>& words) const {
    progress_.append_state(*cut_, iteration, words);
  }
  /// Returns the node whose entry led to a half that has begun.
  Node origin(StepRef ref, Half half) const {
    const Marks& marks = marks_.at(ref);
    return half == Half::Receive ? marks.received_origin : marks.sent_origin;
  }
  /// Returns the node whose entry led to the message for this receiving step.
  Node origin_of_message(StepRef receiver) const {
    return origin(schedule_.peer(receiver, Half::Receive), Half::Send);
  }
  /// Returns the node whose entry led to the copies of a node that are done apart.
  Node origin_of_copies(Node node) const { return copies_[node.index()].origin; }
  /// Goes ahead by some iterations. `begun` says of each channel whether the half that it is at has
  /// begun.
  void skip(uint32_t iterations, const std::vector<bool>& begun) {
    for (uint32_t number = 0; number < extent_.all_channels(); ++number) {
      const StepRef at = progress_.at_work(number);
      if (at.index >= schedule_.steps(at.node, at.channel))
        continue;
      const uint32_t steps = iterations * cut_->length(at.node, at.channel);
      const uint64_t first =
          (progress_.retired(at, Half::Receive) ? 1U : 0U) + (begun[number] ? 1U : 0U);
      for (uint64_t half = first; half < first + 2 * uint64_t{steps}; ++half)
        tally({at.node, at.channel, at.index + static_cast<uint32_t>(half / 2)},
              half % 2 == 0 ? Half::Receive : Half::Send);
      marks_.move(at, steps);
    }
    progress_.skip(*cut_, iterations);
  }

  // Each function handles one event of the current instant and starts every half that it allows. It
  // returns Over once all nodes, switch nodes included, have ended.

  State enter(Node node) {
    entries_[node.index()] = host_.number();
    progress_.enter(node, ready_);
    if (progress_.ended(node))
      end(node);
    return begin_ready();
  }

  /// Handles the end of a receive half.
  State received(StepRef ref) {
    retire({ref, Half::Receive}, step_at(ref), host_.now());
    return begin_ready();
  }

  /// Handles the end of the sender's overhead.
  State prepared(StepRef ref) {
    const Step& step = step_at(ref);
    const Path& path = this->path(ref, *step.to);
    find_shared(path);
    share_links(ref, path, itemsize_ * step.count());
    return begin_ready();
  }

  /// Handles the end of a send half.
  State sent(StepRef ref) {
    deliver(ref);
    return begin_ready();
  }

  /// Handles the end of the send half that the channel with this number is at.
  State sent_by(uint32_t channel) { return sent(progress_.at_work(channel)); }

  /// Handles the end of a node's copies.
  State copied(Node node) {
    end(node);
    return begin_ready();
  }

  /// Handles the arrival of the message for this receiving step.
  State arrive(StepRef receiver) {
    if (extent_.fused == FusedStep::Atomic)
      arrivals_.at(receiver) = host_.number();
    progress_.arrive(receiver, ready_);
    return begin_ready();
  }

 private:
  /// A Way has what events ask about the way of a channel's last message. It is kept near
  /// everything else that they touch.
  struct Way {
    Node to;
    bool known = false;
    bool shares = false;  // whether the message shares links of the way
    Bytes size;
    Duration transfer;  // where it shares none
    Duration latency;
  };

  /// Marks says when the halves of a remembered step retired, and whose entries led to them.
  struct Marks {
    InstantNumber received;  // its receive half has retired
    InstantNumber sent;      // its send half has retired
    Node received_origin;
    Node sent_origin;
  };
  using Met = HappenedAt<InstantNumber>;

  /// A channel takes these bytes for its progress, flow and events: it sends one message at a time.
  static constexpr size_t kBytesUnderWay = 160;

  [[gnu::flatten]] State begin_ready() {
    while (!ready_.empty()) {
      const HalfRef half = host_.take(ready_);
      begin(half.step, half.half);
    }
    return nodes_left_ == 0 ? State::Over : State::Running;
  }

  void begin(StepRef ref, Half half) {
    const Step& step = step_at(ref);
    LastMet<InstantNumber> last;
    for_each_cause(schedule_, extent_, ref, half, step, [&](const Cause& cause) {
      last.add(met(ref, cause));
      return true;
    });
    ORRERY_CHECK(last.any() && last.get().at == host_.number(),
                 "a half begins when its last cause is met");
    if (log_ != nullptr)
      begun_[channel_of(ref)] = host_.now();
    Marks& marks = marks_.at(ref);
    (half == Half::Receive ? marks.received_origin : marks.sent_origin) = last.get().origin;
    const TimedActions actions = timed_actions(step.form(), half);
    tally(ref, half, step, actions);
    if (actions.sends)
      return transmit(ref, *step.to, itemsize_ * step.count());
    if (begins_copies(ref, half, step))
      return copy_apart(ref, actions);
    const Duration duration = time_of(ref.node, step, actions);
    if (duration > Duration())
      host_.receive(slot_, ref, duration);
    else
      retire({ref, half}, step, host_.now());
  }

  void tally(StepRef ref, Half half) {
    const Step& step = step_at(ref);
    tally(ref, half, step, timed_actions(step.form(), half));
  }
  void tally(StepRef ref, Half half, const Step& step, const TimedActions& actions) {
    const Bytes bytes = bytes_moved(step, half, itemsize_);
    if (bundles_ == nullptr)
      return host_.tally(id_, ref, half, bytes, actions.sends);
    for (const Channel channel : bundles_->alike(ref.channel))
      host_.tally(id_, {ref.node, channel, ref.index}, half, bytes, actions.sends);
  }

  /// Returns how long a half takes that sends nothing.
  Duration time_of(Node node, const Step& step, TimedActions actions) const {
    const DataRates rates = rates_of(collective_, node);
    return take_time(actions, rates)
               ? half_duration(actions, payload_durations(itemsize_ * step.count(), rates))
               : Duration();
  }

  /// Returns whether the step is the first of a channel of a cut schedule whose steps only copy, so
  /// that nothing waits for them but the node's end.
  bool begins_copies(StepRef ref, Half half, const Step& step) const {
    return adds_iterations_ && cut_ != nullptr && half == Half::Receive && ref.index == 0 &&
           !step.from && !step.to && !cut_->waits_for_channels() &&
           cut_->length(ref.node, ref.channel) == 1;
  }

  /// Runs all halves of such a channel up to the last send half, and remembers when its copies are
  /// done. The channel goes at its own pace, so it would keep the states of iterations from being
  /// equal.
  void copy_apart(StepRef ref, TimedActions actions) {
    const auto in_iteration = [&](uint32_t iteration) {
      return time_of(ref.node, schedule_.step({ref.node, ref.channel, iteration}), actions);
    };
    const int64_t elements = cut_->whole().step({ref.node, ref.channel, 0}).count();
    const auto full = static_cast<uint32_t>(elements / cut_->stretch());
    Duration all = full > 0 ? in_iteration(0) * int64_t{full} : Duration();
    if (full < cut_->iterations())
      all += in_iteration(full);
    const StepRef last{ref.node, ref.channel, cut_->iterations() - 1};
    const Node origin = marks_.at(ref).received_origin;
    copies_.resize(extent_.nodes);
    Happened& copied = copies_[ref.node.index()];
    if (host_.elapsed() + all > copied.at)
      copied = {host_.elapsed() + all, origin};
    marks_.at(last).received_origin = origin;
    for (uint32_t i = 1; i <= last.index; ++i) {
      tally({ref.node, ref.channel, i - 1}, Half::Send);
      tally({ref.node, ref.channel, i}, Half::Receive);
    }
    progress_.go_to(last);
    retire({last, Half::Receive}, step_at(last), host_.now());
  }

  /// Returns the step, valid until the progress changes.
  const Step& step_at(StepRef ref) { return progress_.step(ref); }

  void transmit(StepRef ref, Node to, Bytes size) {
    Way first;
    Way& way = remembers(ref) ? connection(ref) : first;
    if (!way.known || way.to != to || way.size != size || way.shares) {
      const Path& path = this->path(ref, to);
      const MessageFigures& figures = path.figures(collective_.figures);
      find_shared(path);
      way = {to,
             true,
             !shared_.empty(),
             size,
             path.transfer(size, figures),
             latency_of(path.latency, figures)};
      if (way.shares && way.transfer > figures.overhead) {
        if (figures.overhead > Duration())
          host_.prepare(slot_, ref, figures.overhead);
        else
          share_links(ref, path, size);
        return;
      }
    }
    if (way.transfer == Duration())
      deliver(ref);
    else
      host_.transmit(slot_, ref, way.transfer);
  }

  void find_shared(const Path& path) {
    shared_.clear();
    for (const LinkId link : path.links)
      if (host_.is_shared(link))
        shared_.push_back(link);
  }

  /// Begins a flow. Requires find_shared() first.
  void share_links(StepRef ref, const Path& path, Bytes size) {
    const MessageFigures& figures = path.figures(collective_.figures);
    const size_t alike = bundles_ == nullptr ? 1 : bundles_->alike(ref.channel).size();
    host_.transmit(slot_, channel_of(ref), shared_, path.peak(figures.channel_rate),
                   on_wire(size, figures.share), static_cast<uint32_t>(alike));
  }

  /// Returns the first channel that exchanges messages. The result is empty if there is none.
  std::optional<uint32_t> first_that_exchanges() const {
    for (size_t number = 0; number < extent_.all_channels(); ++number) {
      const Node node = extent_.node_of(number);
      const Channel channel = extent_.channel_of(number);
      for (uint32_t i = 0; i < cut_->length(node, channel); ++i) {
        const Step step = cut_->whole().step({node, channel, i});
        if (step.to || step.from)
          return static_cast<uint32_t>(number);
      }
    }
    return std::nullopt;
  }

  /// Returns when a cause of a half of `ref` that begins now was met. Only Atomic steps wait for
  /// anything after their message: a slot. A message of another step counts as met now, since it is
  /// the last of the causes: if none before it was met now, it has arrived now.
  Met met(StepRef ref, const Cause& cause) const {
    if (cause.kind == CauseKind::Enter)
      return {entries_[cause.step.node.index()], cause.step.node};
    const bool remembered = extent_.fused == FusedStep::Atomic && cause.kind == CauseKind::Message;
    const InstantNumber arrived = remembered ? arrivals_.at(ref) : host_.number();
    const Marks& marks = marks_.at(cause.step);
    return StepHappened<InstantNumber>{
        {marks.received, marks.sent, arrived}, marks.received_origin, marks.sent_origin}
        .of(cause);
  }

  /// Handles a sent message: the sender is free, and the message arrives after the latency.
  void deliver(StepRef ref) {
    const StepRef receiver = schedule_.peer(ref, Half::Send);
    const Instant at = arrival(
        host_.now(), remembers(ref) ? connection(ref).latency : latency_to(ref, receiver.node));
    host_.deliver(slot_, receiver, at);
    retire_send(ref, at);
  }

  /// Retires a half that sends nothing.
  void retire(HalfRef half, const Step& step, Instant now) {
    if (half.half == Half::Send)
      return retire_send(half.step, now);
    marks_.at(half.step).received = host_.number();
    if (log_ != nullptr)
      record(half, now);
    progress_.retire(half, step, ready_);
  }

  /// Retires a send half. `arrival` is when its message arrives; now if it sent none.
  void retire_send(StepRef ref, Instant arrival) {
    marks_.at(ref).sent = host_.number();
    if (log_ != nullptr)
      record({ref, Half::Send}, arrival);
    progress_.retire_send(ref, ready_);
    if (progress_.ended(ref.node))
      end(ref.node);
  }

  /// Not inlined, so that runs without a log are faster.
  [[gnu::noinline]] void record(HalfRef half, Instant arrival) {
    log_->add({id_, half.step, half.half, begun_[channel_of(half.step)], host_.now(), arrival});
  }

  /// Ends a node, once its copies are done. Its channel that ended last held it up; among equal
  /// ones, the first.
  void end(Node node) {
    const bool copies = !copies_.empty() && copies_[node.index()].at >= host_.elapsed();
    if (copies && copies_[node.index()].at > host_.elapsed())
      return host_.copy(slot_, node, copies_[node.index()].at - host_.elapsed());
    --nodes_left_;
    if (!extent_.is_rank(node))
      return;
    LastMet<InstantNumber> last;
    for_each_cause_of_end(schedule_, extent_, node,
                          [&](const Cause& cause) { last.add(met(cause.step, cause)); });
    host_.end(slot_, node,
              copies       ? copies_[node.index()].origin
              : last.any() ? last.get().origin
                           : node);
  }

  /// Returns whether the channel remembers the way of the step's message. Many schedules have one
  /// message a channel, and remembering its way gains nothing.
  static bool remembers(StepRef ref) { return ref.index > 0; }

  Way& connection(StepRef ref) {
    if (ways_.empty())
      ways_.resize(size_t{extent_.nodes} * extent_.channels);
    return ways_[channel_of(ref)];
  }

  /// Returns the route of the message that the step sends.
  const Path& path(StepRef ref, Node to) {
    return paths_.between(collective_.vertices[ref.node.index()], collective_.vertices[to.index()],
                          ref.channel.index());
  }

  /// Returns how long the message that the step sends is under way.
  Duration latency_to(StepRef ref, Node to) {
    const Path& path = this->path(ref, to);
    return latency_of(path.latency, path.figures(collective_.figures));
  }

  const Bundles* const bundles_;
  const std::unique_ptr<const CountedChannels> counted_;  // if there are bundles
  const Schedule& schedule_;
  const SlicedSchedule* const cut_;
  const Extent extent_;
  const Collective& collective_;
  const CollectiveId id_;
  const uint32_t slot_;
  const Bytes itemsize_;
  Paths& paths_;
  Host& host_;
  EventLog* const log_;
  Progress progress_;
  StepTable<Marks> marks_;
  StepTable<InstantNumber> arrivals_;   // of the messages for Atomic steps; else empty
  std::vector<InstantNumber> entries_;  // per rank
  std::vector<Way> ways_;               // per node and channel, once one remembers
  std::vector<LinkId> shared_;          // of the way of a message that is about to be sent
  std::vector<Instant> begun_;          // with a log, per node and channel: its half at work
  std::vector<HalfRef> ready_;          // halves whose causes are met
  uint32_t nodes_left_;
  const bool adds_iterations_;
  std::optional<uint32_t>
      watched_;                   // the channel by which iterations are told, if any are added up
  std::vector<Happened> copies_;  // per node, if any are apart: when they are done
};

}  // namespace orrery
