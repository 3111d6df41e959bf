#pragma once

// One collective while the event engine runs it: which halves begin when, and what they wait for.
// The engine has the clock and the network; it is told of transfers and reductions that begin, and
// tells when they have ended. A template over the concrete schedule, as the sweep is: most of what
// an event costs is asking the schedule.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "models/base/check.h"
#include "models/base/quantity.h"
#include "simulator/event/event_log.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/progress.h"
#include "simulator/time/origins.h"

namespace orrery {

class RunningCollective {
 public:
  RunningCollective() = default;
  RunningCollective(const RunningCollective&) = delete;
  RunningCollective& operator=(const RunningCollective&) = delete;
  virtual ~RunningCollective() = default;

  enum class State : uint8_t { Running, Over };

  /// Each is something that happens now, together with all that can begin because of it. Over: all
  /// nodes have ended.
  virtual State enter(Node node) = 0;
  virtual State reduced(StepRef ref) = 0;      // the receive half is over
  virtual State sent(StepRef ref) = 0;         // the send half is over
  virtual State arrive(StepRef receiver) = 0;  // the message for that step is there
};

/// Host has: now(); is_shared(LinkId); take(std::vector<HalfRef>&), which chooses what begins next;
/// and is told of
///   reduce(CollectiveId, StepRef, Duration)         a receive half that takes this long
///   transmit(CollectiveId, StepRef, Duration)       a send half that takes this long
///   transmit(CollectiveId, StepRef, std::span<const LinkId> shared, BytesPerSecond peak, Bytes)
///                                                   a send half that shares links of its route
///   deliver(CollectiveId, StepRef receiver, Instant)     a message on its way
///   end(CollectiveId, Node, Node origin)            a node whose steps have all retired
///   tally(CollectiveId, StepRef, Half, Bytes, bool sends)      every half
template <class S, class Host>
class CollectiveRun final : public RunningCollective {
 public:
  /// `log`, where there is one, gets every half.
  CollectiveRun(const S& schedule, const Collective& collective, CollectiveId id,
                std::optional<BytesPerSecond> reduce_rate, Paths& paths, Host& host, EventLog* log)
      : schedule_(schedule),
        extent_(schedule.extent()),
        collective_(collective),
        id_(id),
        itemsize_(itemsize(collective.work)),
        reduce_rate_(reduce_rate),
        paths_(paths),
        host_(host),
        log_(log),
        progress_(schedule),
        times_(extent_, StepTimes{}),
        entries_(extent_.nodes),
        connections_(size_t{extent_.nodes} * extent_.channels),
        begun_(log == nullptr ? 0 : connections_.size()),
        nodes_left_(extent_.nodes) {}

  State enter(Node node) override {
    entries_[node.index()] = host_.now();
    progress_.enter(node, [&](HalfRef half) { ready_.push_back(half); });
    if (progress_.ended(node))
      end(node);
    return begin_ready();
  }

  State reduced(StepRef ref) override {
    retire({ref, Half::Receive}, host_.now());
    return begin_ready();
  }

  State sent(StepRef ref) override {
    deliver(ref);
    return begin_ready();
  }

  State arrive(StepRef receiver) override {
    progress_.arrive(receiver, [&](HalfRef half) { ready_.push_back(half); });
    return begin_ready();
  }

 private:
  /// The way of a channel's last message, and its size. What an event asks of the path is kept
  /// here, near everything else that it touches.
  struct Connection {
    std::optional<Node> to;  // after the first message
    Bytes size;
    Duration transfer;  // where it shares no link
    Duration latency;
    BytesPerSecond peak;
    boost::container::small_vector<LinkId, 2> shared;  // links of the path whose use is shared out
  };

  [[gnu::flatten]] State begin_ready() {
    while (!ready_.empty()) {
      const HalfRef half = host_.take(ready_);
      begin(half.step, half.half);
    }
    return nodes_left_ == 0 ? State::Over : State::Running;
  }

  void begin(StepRef ref, Half half) {
    const Step step = schedule_.step(ref);
    const Instant now = host_.now();
    Node origin;
    const bool none_now =
        for_each_cause(schedule_, extent_, ref, half, step, [&](const Cause& cause) {
          const Happened met = happened(cause);
          origin = met.origin;
          return met.at != now;
        });
    ORRERY_CHECK(!none_now, "a half begins when its last cause is met");
    if (log_ != nullptr)
      begun_[channel_of(ref)] = now;
    StepTimes& times = times_.at(ref);
    (half == Half::Receive ? times.received_origin : times.sent_origin) = origin;
    host_.tally(id_, ref, half, bytes_moved(step, half, itemsize_),
                half == Half::Send && step.to.has_value());
    if (half == Half::Receive) {
      Duration reduction;
      if (step.combine != Combine::None && reduce_rate_)
        reduction = transfer_time(itemsize_ * step.count(), *reduce_rate_);
      if (reduction > Duration())
        host_.reduce(id_, ref, reduction);
      else
        retire({ref, half}, host_.now());
    } else if (!step.to) {
      retire({ref, half}, host_.now());
    } else {
      transmit(ref, *step.to, itemsize_ * step.count());
    }
  }

  void transmit(StepRef ref, Node to, Bytes size) {
    const Connection& way = connect(ref, to, size);
    if (way.transfer == Duration())
      deliver(ref);
    else if (way.shared.empty())
      host_.transmit(id_, ref, way.transfer);
    else
      host_.transmit(id_, ref, {way.shared.data(), way.shared.size()}, way.peak, size);
  }

  Happened happened(const Cause& cause) const {
    if (cause.kind == CauseKind::Enter)
      return {entries_[cause.step.node.index()], cause.step.node};
    return times_.at(cause.step).of(cause);
  }

  /// The message has been sent: the sender is free, and it arrives after the latency.
  void deliver(StepRef ref) {
    const Instant arrival = host_.now() + connection(ref).latency;
    times_.at(ref).arrived = arrival;
    host_.deliver(id_, schedule_.peer(ref, Half::Send), arrival);
    retire({ref, Half::Send}, arrival);
  }

  /// `arrival`: of the message that it sent; now where it sent none.
  void retire(HalfRef half, Instant arrival) {
    StepTimes& times = times_.at(half.step);
    (half.half == Half::Receive ? times.received : times.sent) = host_.now();
    if (log_ != nullptr)
      record(half, arrival);
    progress_.retire(half, [&](HalfRef next) { ready_.push_back(next); });
    if (half.half == Half::Send && progress_.ended(half.step.node))
      end(half.step.node);
  }

  /// Out of the way of the runs that keep no log: they are the faster for it.
  [[gnu::noinline]] void record(HalfRef half, Instant arrival) {
    log_->add({id_, half.step, half.half, begun_[channel_of(half.step)], host_.now(), arrival});
  }

  /// Held up by the channel that ended last, and of those the first.
  void end(Node node) {
    LastMet last;
    for_each_last_step(schedule_, extent_, node, [&](StepRef ref) {
      const StepTimes& times = times_.at(ref);
      last.add({times.sent, times.sent_origin});
    });
    --nodes_left_;
    host_.end(id_, node, last.any() ? last.get().origin : node);
  }

  size_t channel_of(StepRef ref) const {
    return size_t{ref.node.index()} * extent_.channels + ref.channel.index();
  }

  Connection& connection(StepRef ref) { return connections_[channel_of(ref)]; }

  const Connection& connect(StepRef ref, Node to, Bytes size) {
    Connection& way = connection(ref);
    if (way.to == to && way.size == size)
      return way;
    if (way.to != to) {
      const Path path =
          paths_.between(collective_.places[ref.node.index()], collective_.places[to.index()]);
      way.to = to;
      way.latency = path.latency;
      way.peak = path.links.empty() ? BytesPerSecond() : path.peak(extent_.peak_rate);
      way.shared.clear();
      for (const LinkId link : path.links)
        if (host_.is_shared(link))
          way.shared.push_back(link);
    }
    way.size = size;
    way.transfer = way.peak == BytesPerSecond() ? Duration() : transfer_time(size, way.peak);
    return way;
  }

  const S& schedule_;
  const Extent extent_;
  const Collective& collective_;
  const CollectiveId id_;
  const Bytes itemsize_;
  const std::optional<BytesPerSecond> reduce_rate_;
  Paths& paths_;
  Host& host_;
  EventLog* const log_;
  Progress<S, Arrival::Told> progress_;
  StepTable<StepTimes> times_;
  std::vector<Instant> entries_;         // per node
  std::vector<Connection> connections_;  // per node and channel
  std::vector<Instant> begun_;           // with a log, per node and channel: its half at work
  std::vector<HalfRef> ready_;           // halves whose causes are met
  uint32_t nodes_left_;
};

}  // namespace orrery
