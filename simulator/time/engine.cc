#include "simulator/time/engine.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "models/base/check.h"
#include "models/base/random.h"
#include "simulator/network/max_min.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/progress.h"
#include "simulator/time/event_queue.h"
#include "simulator/time/origins.h"
#include "simulator/time/pool.h"
#include "simulator/time/tapes.h"

namespace orrery {
namespace {

class Engine {
 public:
  Engine(const Program& program, const Lowered& lowered, const Fabric& fabric,
         const EngineOptions& options)
      : program_(program),
        lowered_(lowered),
        paths_(fabric),
        network_(fabric.links()),
        tapes_(program, lowered, options.device_start),
        running_(lowered.collectives.size()) {
    if (options.shuffle_seed)
      shuffle_.emplace(*options.shuffle_seed);
    for (const Collective& collective : lowered.collectives) {
      completion_.held_up_by.emplace_back();
      for (uint32_t n = 0; n < collective.schedule->extent().nodes; ++n)
        completion_.held_up_by.back().emplace_back(n);
    }
    for (const Instant at : options.extra_updates)
      events_.push(at, {Event::Kind::Update, 0});
  }

  Completion run() {
    for (uint32_t d = 0; d < program_.mesh.devices(); ++d)
      tapes_.begin(LogicalId(d), [&](Entrance entrance) { schedule_entrance(entrance); });
    while (!events_.empty()) {
      now_ = events_.top().time;
      while (!events_.empty() && events_.top().time == now_) {
        take_events();
        start_ready();
      }
      share_links();
    }
    ORRERY_CHECK(tapes_.finished(), "the static walk refuses programs that do not end");
    completion_.makespan = tapes_.makespan();
    completion_.spans = std::move(tapes_).spans();
    completion_.by = TimedBy::Engine;
    return std::move(completion_);
  }

 private:
  using Steps = Progress<Schedule, Arrival::Told>;

  struct Event {
    enum class Kind : uint32_t { Entry, Received, FlowEnd, Arrival, Update };
    Kind kind;
    uint32_t index;  // in entrances_, reductions_, messages_
  };
  using Queue = EventQueue<Event>;

  struct CollectiveHalf {
    CollectiveId collective;
    HalfRef half;
  };

  /// A message from the begin of its send half until it arrives.
  struct Message {
    CollectiveId collective;
    StepRef sender;
    StepRef receiver;
    const Path* path = nullptr;
    FlowId flow;    // while it is sent
    Work left = 0;  // at `since`
    Instant since;
    Rate rate;                          // from `since` on
    std::optional<uint64_t> end_event;  // sequence number of the FlowEnd that counts
  };

  struct Running {
    std::unique_ptr<Steps> steps;  // from the first entry until all nodes have ended
    std::optional<StepTable<StepTimes>> times;
    std::vector<Instant> entered;                           // per node
    std::vector<std::pair<Node, const Path*>> connections;  // per channel: the last one it used
    uint32_t nodes_left = 0;
  };

  /// Takes the events of this instant out and does them.
  void take_events() {
    batch_.clear();
    while (!events_.empty() && events_.top().time == now_)
      batch_.push_back(events_.pop());
    if (shuffle_) {
      for (size_t i = batch_.size(); i > 1; --i)
        std::swap(batch_[i - 1], batch_[shuffle_->below(i)]);
    }
    for (const Queue::Event& event : batch_)
      apply(event);
  }

  void apply(const Queue::Event& event) {
    const uint32_t index = event.payload.index;
    switch (event.payload.kind) {
      case Event::Kind::Entry:
        enter(entrances_.take(index));
        return;
      case Event::Kind::Received: {
        const CollectiveHalf reduced = reductions_.take(index);
        retire(reduced.collective, reduced.half);
        return;
      }
      case Event::Kind::FlowEnd:
        end_flow(index, event.sequence);
        return;
      case Event::Kind::Arrival:
        arrive(messages_.take(index));
        return;
      case Event::Kind::Update:
        update_ = true;
        return;
    }
  }

  void start_ready() {
    while (!ready_.empty()) {
      if (shuffle_)
        std::swap(ready_.back(), ready_[shuffle_->below(ready_.size())]);
      const CollectiveHalf next = ready_.back();
      ready_.pop_back();
      start(next.collective, next.half);
    }
  }

  auto push_ready(CollectiveId id) {
    return [this, id](HalfRef half) { ready_.push_back({id, half}); };
  }

  void schedule_entrance(Entrance entrance) {
    events_.push(entrance.at, {Event::Kind::Entry, entrances_.put(entrance)});
  }

  void enter(const Entrance& entrance) {
    Running& running = running_[entrance.collective.index()];
    if (!running.steps) {
      const Schedule& schedule = *lowered_.collective(entrance.collective).schedule;
      const Extent& extent = schedule.extent();
      running.steps = std::make_unique<Steps>(schedule);
      running.times.emplace(extent, StepTimes{});
      running.entered.resize(extent.nodes);
      running.connections.assign(size_t{extent.nodes} * extent.channels, {Node(), nullptr});
      running.nodes_left = extent.nodes;
    }
    running.entered[entrance.node.index()] = now_;
    running.steps->enter(entrance.node, push_ready(entrance.collective));
    if (running.steps->ended(entrance.node))
      leave(entrance.collective, entrance.node);
  }

  /// When the half can begin: now, which is when the last of its causes was met, and by whose
  /// entry.
  Happened begins(const Running& running, const Schedule& schedule, HalfRef half,
                  const Step& step) const {
    LastMet last;
    for_each_cause(schedule, schedule.extent(), half.step, half.half, step,
                   [&](const Cause& cause) {
                     last.add(happened(running, cause));
                     return true;
                   });
    ORRERY_CHECK(last.get().at == now_, "a half begins when its last cause is met");
    return last.get();
  }

  static Happened happened(const Running& running, const Cause& cause) {
    if (cause.kind == CauseKind::Enter)
      return {running.entered[cause.step.node.index()], cause.step.node};
    return running.times->at(cause.step).of(cause);
  }

  void start(CollectiveId id, HalfRef half) {
    const Collective& collective = lowered_.collective(id);
    const Schedule& schedule = *collective.schedule;
    const Step step = schedule.step(half.step);
    const Bytes size = itemsize(collective.dtype) * step.count();
    Running& running = running_[id.index()];
    const Node origin = begins(running, schedule, half, step).origin;
    StepTimes& times = running.times->at(half.step);
    completion_.digest.add(id, half.step, half.half,
                           digest_bytes(step, half.half, itemsize(collective.dtype)));
    if (half.half == Half::Receive) {
      times.received_origin = origin;
      if (step.combine != Combine::None && lowered_.reduce_rate) {
        const Duration reduction = transfer_time(size, *lowered_.reduce_rate);
        if (reduction > Duration()) {
          events_.push(now_ + reduction, {Event::Kind::Received, reductions_.put({id, half})});
          return;
        }
      }
      retire(id, half);
      return;
    }
    times.sent_origin = origin;
    if (!step.to) {
      retire(id, half);
      return;
    }
    ++completion_.messages;
    send(id, half, *step.to, size);
  }

  void send(CollectiveId id, HalfRef half, Node to, Bytes size) {
    const Collective& collective = lowered_.collective(id);
    const Extent& extent = collective.schedule->extent();
    const Path& path = path_of(id, half.step, to);
    Message message;
    message.collective = id;
    message.sender = half.step;
    message.receiver = collective.schedule->peer(half.step, Half::Send);
    message.path = &path;
    if (size == Bytes() || path.links.empty()) {
      post(messages_.put(message));
      return;
    }
    std::optional<Rate> cap;
    if (extent.peak_rate)
      cap = rate(*extent.peak_rate);
    message.flow = network_.add(path.links, cap);
    message.left = work(size);
    message.since = now_;
    const uint32_t index = messages_.put(message);
    if (message_of_.size() <= message.flow.index())
      message_of_.resize(message.flow.index() + 1);
    message_of_[message.flow.index()] = index;
  }

  const Path& path_of(CollectiveId id, StepRef ref, Node to) {
    const Collective& collective = lowered_.collective(id);
    const size_t channel =
        size_t{ref.node.index()} * collective.schedule->extent().channels + ref.channel.index();
    auto& [known, path] = running_[id.index()].connections[channel];
    if (path == nullptr || known != to) {
      known = to;
      path = &paths_.between(collective.places[ref.node.index()], collective.places[to.index()]);
    }
    return *path;
  }

  void share_links() {
    const auto reschedule_flow = [&](FlowId flow) { reschedule(flow); };
    if (update_)
      network_.touch_all();
    network_.solve(reschedule_flow);
    if (update_)
      network_.for_each_flow(reschedule_flow);
    update_ = false;
  }

  /// Begins to send at the flow's rate of now.
  void reschedule(FlowId flow) {
    const uint32_t index = message_of_[flow.index()];
    Message& message = messages_[index];
    bring_up_to_date(message);
    message.rate = network_.rate_of(flow);
    const Int128 duration = ceil_divide(message.left, Int128{message.rate.count()});
    message.end_event =
        events_.push(now_ + Duration(checked_narrow(duration)), {Event::Kind::FlowEnd, index});
  }

  void bring_up_to_date(Message& message) const {
    message.left -= Work{message.rate.count()} * (now_ - message.since).count();
    message.since = now_;
  }

  void end_flow(uint32_t index, uint64_t sequence) {
    const Message& message = messages_[index];
    if (message.end_event != sequence)
      return;  // it was given another rate since, and with it another end
    network_.remove(message.flow);
    post(index);
  }

  /// The message has been sent: the sender is free, and it arrives after the latency.
  void post(uint32_t index) {
    const Message& message = messages_[index];
    const HalfRef half{message.sender, Half::Send};
    const CollectiveId id = message.collective;
    const Instant arrival = now_ + message.path->latency;
    running_[id.index()].times->at(half.step).arrived = arrival;
    events_.push(arrival, {Event::Kind::Arrival, index});
    retire(id, half);
  }

  void arrive(const Message& message) {
    running_[message.collective.index()].steps->arrive(message.receiver,
                                                       push_ready(message.collective));
  }

  void retire(CollectiveId id, HalfRef half) {
    Running& running = running_[id.index()];
    StepTimes& times = running.times->at(half.step);
    (half.half == Half::Receive ? times.received : times.sent) = now_;
    running.steps->retire(half, push_ready(id));
    const Node node = half.step.node;
    if (half.half == Half::Send && running.steps->ended(node)) {
      completion_.held_up_by[id.index()][node.index()] = last_origin(id, node);
      leave(id, node);
    }
  }

  /// Of the channel of the node that ended last, and of those the first.
  Node last_origin(CollectiveId id, Node node) const {
    const Schedule& schedule = *lowered_.collective(id).schedule;
    LastMet last;
    for (uint32_t c = 0; c < schedule.extent().channels; ++c) {
      const uint32_t steps = schedule.steps(node, Channel(c));
      if (steps == 0)
        continue;
      const StepTimes& times = running_[id.index()].times->at(StepRef{node, Channel(c), steps - 1});
      last.add({times.sent, times.sent_origin});
    }
    return last.get().origin;
  }

  void leave(CollectiveId id, Node node) {
    Running& running = running_[id.index()];
    if (--running.nodes_left == 0)
      running = Running{};
    tapes_.end(id, node, now_, [&](Entrance entrance) { schedule_entrance(entrance); });
  }

  const Program& program_;
  const Lowered& lowered_;
  Paths paths_;
  MaxMin network_;
  Tapes tapes_;
  std::vector<Running> running_;  // per collective
  Queue events_;
  Instant now_;
  bool update_ = false;  // EngineOptions::extra_updates has this instant
  std::vector<Queue::Event> batch_;
  std::vector<CollectiveHalf> ready_;  // halves whose causes are met
  Pool<Entrance> entrances_;
  Pool<CollectiveHalf> reductions_;  // receive halves that take time
  Pool<Message> messages_;
  std::vector<uint32_t> message_of_;  // per flow
  std::optional<Random> shuffle_;
  Completion completion_;
};

}  // namespace

Completion simulate(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const EngineOptions& options) {
  return Engine(program, lowered, fabric, options).run();
}

}  // namespace orrery
