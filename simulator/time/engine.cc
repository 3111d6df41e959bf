#include "simulator/time/engine.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "models/base/check.h"
#include "models/base/random.h"
#include "models/program/loops.h"
#include "models/program/op_overflow.h"
#include "simulator/network/max_min.h"
#include "simulator/schedule/relative_state.h"
#include "simulator/time/collective_run.h"
#include "simulator/time/event_queue.h"
#include "simulator/time/loop_watch.h"
#include "simulator/time/state_budget.h"
#include "simulator/time/tapes.h"

namespace orrery {
namespace {

class Engine {
  using Run = CollectiveRun<Engine>;

 public:
  Engine(const Program& program, const Lowered& lowered, Paths& paths, const Demands& demands,
         const EngineOptions& options)
      : program_(program),
        lowered_(lowered),
        paths_(paths),
        network_(paths.fabric().links()),
        tapes_(program, lowered, options.device_start, options.log),
        log_(options.log),
        state_(options.most_state),
        watches_(options.watches),
        running_(lowered.collectives.size()) {
    ORRERY_CHECK(!leaves_out_iterations(program), "the engine runs every iteration by itself");
    completion_.device_start = options.device_start;
    if (options.shuffle_seed)
      shuffle_.emplace(*options.shuffle_seed);
    for (const Collective& collective : lowered.collectives)
      completion_.held_up_by.emplace_back(collective.members.size());
    ORRERY_CHECK(watches_.empty() || options.extra_updates.empty(),
                 "extra updates are no part of the state");
    for (const Instant at : options.extra_updates)
      events_.push(at, {Event::Kind::Update, 0, {}});
    for (size_t l = 0; l < demands.links.size(); ++l)
      shared_.push_back(options.share_all_links ||
                        demands.links[l].exceeds(paths.fabric().link(LinkId(l))));
  }

  /// Empty if the program does not end.
  std::optional<Completion> run() {
    try {
      return run_events();
    } catch (const OpOverflow&) {
      throw;
    } catch (const Overflow& overflow) {
      if (!current_)
        throw;
      const SiteId site = lowered_.collective(*current_).site;
      throw OpOverflow(program_.site(site).ops.front(), overflow.what());
    }
  }

  // The host of the running collectives (collective_run.h).

  /// Whether messages on the link may have to share it.
  bool is_shared(LinkId link) const { return shared_[link.index()]; }

  Instant now() const { return now_; }
  InstantNumber number() const { return number_; }

  /// Takes any one of the halves that can begin.
  HalfRef take(std::vector<HalfRef>& ready) {
    if (shuffle_)
      std::swap(ready.back(), ready[shuffle_->below(ready.size())]);
    const HalfRef half = ready.back();
    ready.pop_back();
    return half;
  }

  void receive(CollectiveId id, StepRef ref, Duration duration) {
    events_.push(now_ + duration, {Event::Kind::Received, id.index(), ref});
  }

  void prepare(CollectiveId id, StepRef ref, Duration duration) {
    events_.push(now_ + duration, {Event::Kind::Prepared, id.index(), ref});
  }

  void transmit(CollectiveId id, StepRef ref, Duration duration) {
    events_.push(now_ + duration, {Event::Kind::Sent, id.index(), ref});
  }

  void transmit(CollectiveId id, uint32_t channel, std::span<const LinkId> shared,
                BytesPerSecond peak, Bytes size) {
    const FlowId flow = network_.add(shared, rate(peak));
    if (transfers_.size() <= flow.index())
      transfers_.resize(flow.index() + 1);
    transfers_[flow.index()] = {unsent(size, paths_.fabric().rate_parts()), now_, id,
                                channel & ((1U << 30U) - 1U)};
  }

  void deliver(CollectiveId id, StepRef receiver, Instant arrival) {
    events_.push(arrival, {Event::Kind::Arrival, id.index(), receiver});
  }

  void end(CollectiveId id, Node node, Node origin) {
    completion_.held_up_by[id.index()][node.index()] = origin;
    tapes_.end(id, node, now_, [&](Entrance entrance) { schedule(entrance); });
  }

  void tally(CollectiveId id, StepRef ref, Half half, Bytes bytes, bool sends) {
    completion_.digest.add(id, ref, half, bytes);
    completion_.messages += sends ? 1 : 0;
  }

 private:
  std::optional<Completion> run_events() {
    tapes_.begin([&](Entrance entrance) { schedule(entrance); });
    while (!events_.empty()) {
      now_ = events_.next();
      next_number();
      while (!events_.empty() && events_.next() == now_)
        do_events();
      share_links();
      watch_loops();
    }
    if (!tapes_.finished())
      return std::nullopt;
    completion_.makespan = tapes_.makespan();
    completion_.spans = std::move(tapes_).spans();
    completion_.by = TimedBy::Engine;
    return std::move(completion_);
  }

  /// An event of a step (of Enter only the node counts), or of a flow (FlowSent). Kind is as wide
  /// as the other members, so the structure has no padding and is copied whole.
  struct Event {
    enum class Kind : uint32_t { Entry, Received, Prepared, Sent, FlowSent, Arrival, Update };
    Kind kind = Kind::Update;
    uint32_t subject = 0;  // the collective; of FlowSent the flow
    StepRef step;
  };
  using Queue = EventQueue<Event>;

  /// A send half with a flow in the network, at one rate since `since`. From its first rate on, an
  /// event is pending at its end, or before its end if that was put off.
  struct Transfer {
    Remaining left = 0;  // at `since`
    Instant since;
    CollectiveId collective;
    uint32_t channel : 30 = 0;  // of the sender
    bool scheduled : 1 = false;
    bool put_off : 1 = false;

    /// Requires that the rate has not changed since `since`.
    Remaining left_at(Instant now, Rate rate) const {
      return left - Remaining{rate.count()} * (now - since).count();
    }
    Instant end(Rate rate) const {
      return since + Duration(checked_narrow(ceil_divide(left, Int128{rate.count()})));
    }
  };

  void watch_loops() {
    for (LoopWatch* const watch : watches_) {
      if (!watch->due(tapes_.progress()))
        continue;
      if (!state_.has_room_for_copies())
        return watch->give_up();
      RelativeState state(watch->iterations(), watch->iteration(), now_);
      append_state(state);
      watch->add(std::move(state));
    }
  }

  /// At the end of an instant: the lists, the running collectives, the events and the transfers,
  /// sorted, so that the order of insertion does not matter. Events of flows are left out: when a
  /// flow ends follows from what is left to send and its rate. Messages and digest are sums.
  void append_state(RelativeState& state) const {
    tapes_.append_state(state);
    std::vector<std::pair<LoopPosition, const Run*>> at_work;
    for (size_t c = 0; c < running_.size(); ++c)
      if (running_[c])
        at_work.emplace_back(state.position(CollectiveId(c)), running_[c].get());
    std::sort(at_work.begin(), at_work.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    state.add(at_work.size());
    for (const auto& [position, running] : at_work) {
      state.add(position);
      running->append_state(state);
    }
    using Words = std::array<uint64_t, 4>;
    std::vector<std::pair<LoopPosition, Words>> pending;
    events_.for_each([&](Instant at, const Event& event) {
      if (event.kind != Event::Kind::FlowSent)
        pending.push_back({state.position(CollectiveId(event.subject)),
                           {state.ahead(at), static_cast<uint64_t>(event.kind),
                            uint64_t{event.step.node.index()} << 32U | event.step.channel.index(),
                            event.step.index}});
    });
    append(std::move(pending), state);
    std::vector<std::pair<LoopPosition, Words>> sending;
    network_.for_each_flow([&](FlowId flow) {
      const Transfer& transfer = transfers_[flow.index()];
      const Rate rate = network_.rate_of(flow);
      const auto left = static_cast<UInt128>(transfer.left_at(now_, rate));
      sending.push_back({state.position(transfer.collective),
                         {transfer.channel, static_cast<uint64_t>(rate.count()),
                          static_cast<uint64_t>(left), static_cast<uint64_t>(left >> 64U)}});
    });
    append(std::move(sending), state);
  }

  template <class Items>
  static void append(Items items, RelativeState& state) {
    std::sort(items.begin(), items.end());
    state.add(items.size());
    for (const auto& [position, words] : items) {
      state.add(position);
      for (const uint64_t word : words)
        state.add(word);
    }
  }

  void next_number() {
    if (number_.index() == UINT32_MAX)
      throw_overflow("messages that share links begin and end at more than 2^32 instants");
    number_ = InstantNumber(number_.index() + size_t{1});
  }

  void schedule(Entrance entrance) {
    events_.push(entrance.at,
                 {Event::Kind::Entry, entrance.collective.index(), {entrance.node, {}, 0}});
  }

  /// Takes the events of this instant out and handles them.
  void do_events() {
    if (!shuffle_) {
      apply(events_.pop());
      return;
    }
    batch_.clear();
    while (!events_.empty() && events_.next() == now_)
      batch_.push_back(events_.pop());
    for (size_t i = batch_.size(); i > 1; --i)
      std::swap(batch_[i - 1], batch_[shuffle_->below(i)]);
    for (const Queue::Event& event : batch_)
      apply(event);
  }

  void apply(const Queue::Event& queued) {
    const Event& event = queued.payload;
    if (event.kind == Event::Kind::Update) {
      update_ = true;
      return;
    }
    if (event.kind == Event::Kind::FlowSent)
      end_flow(FlowId(event.subject));
    else
      happen(CollectiveId(event.subject),
             [&](Run& running) { return happen(running, event.kind, event.step); });
  }

  /// Does nothing for a flow that has ended. One whose end was put off gets an event at that end.
  void end_flow(FlowId flow) {
    Transfer& transfer = transfers_[flow.index()];
    const Rate rate = network_.rate_of(flow);
    if (rate == Rate())
      return;
    current_ = transfer.collective;
    if (const Instant end = transfer.end(rate); end > now_) {
      if (transfer.put_off)
        schedule_end(flow, end);
      return;
    }
    const CollectiveId collective = transfer.collective;
    const uint32_t channel = transfer.channel;
    network_.remove(flow);
    happen(collective, [&](Run& running) { return running.sent_by(channel); });
  }

  void schedule_end(FlowId flow, Instant end) {
    transfers_[flow.index()].scheduled = true;
    transfers_[flow.index()].put_off = false;
    events_.push(end, {Event::Kind::FlowSent, flow.index(), {}});
  }

  template <class What>
  void happen(CollectiveId collective, What&& what) {
    current_ = collective;
    std::unique_ptr<Run>& running = running_[collective.index()];
    if (!running)
      running = run_of(collective);
    if (what(*running) == Run::State::Over) {
      state_.give(running->bytes());
      running.reset();
    }
  }

  static Run::State happen(Run& running, Event::Kind kind, StepRef step) {
    if (kind == Event::Kind::Entry)
      return running.enter(step.node);
    if (kind == Event::Kind::Received)
      return running.received(step);
    if (kind == Event::Kind::Prepared)
      return running.prepared(step);
    return kind == Event::Kind::Arrival ? running.arrive(step) : running.sent(step);
  }

  std::unique_ptr<Run> run_of(CollectiveId id) {
    const Collective& collective = lowered_.collective(id);
    state_.take(program_.site(collective.site).ops.front(),
                Run::bytes(collective.schedule->extent()));
    return std::make_unique<Run>(collective, id, paths_, *this, log_);
  }

  void share_links() {
    if (update_)
      network_.touch_all();
    network_.solve([&](FlowId flow, Rate before) { reschedule(flow, before); });
    if (update_)
      network_.for_each_flow([&](FlowId flow) { reschedule(flow, network_.rate_of(flow)); });
    update_ = false;
  }

  /// Continues at the flow's current rate. A flow that has just begun has sent nothing `before`.
  /// If it is slower than before, its end is put off, and computed when its event comes.
  void reschedule(FlowId flow, Rate before) {
    Transfer& transfer = transfers_[flow.index()];
    transfer.left = transfer.left_at(now_, before);
    transfer.since = now_;
    const Rate rate = network_.rate_of(flow);
    current_ = transfer.collective;
    if (transfer.scheduled && rate <= before)
      transfer.put_off = true;
    else
      schedule_end(flow, transfer.end(rate));
  }

  const Program& program_;
  const Lowered& lowered_;
  Paths& paths_;
  std::vector<bool> shared_;  // per link: whether messages on it may have to share it
  MaxMin network_;
  Tapes tapes_;
  EventLog* log_;
  StateBudget state_;
  const std::vector<LoopWatch*> watches_;
  std::vector<std::unique_ptr<Run>> running_;  // from first entry to last end
  Queue events_;
  Instant now_;
  InstantNumber number_;                 // of now_, from 1 on
  std::optional<CollectiveId> current_;  // whose time is being computed, for error messages
  bool update_ = false;                  // EngineOptions::extra_updates has this instant
  std::vector<Queue::Event> batch_;
  std::vector<Transfer> transfers_;  // per flow of the network
  std::optional<Random> shuffle_;
  Completion completion_;
};

}  // namespace

std::optional<Completion> simulate_if_it_ends(const Program& program, const Lowered& lowered,
                                              Paths& paths, const Demands& demands,
                                              const EngineOptions& options) {
  return Engine(program, lowered, paths, demands, options).run();
}

Completion simulate(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const EngineOptions& options) {
  std::optional<Completion> completion =
      simulate_if_it_ends(program, lowered, paths, demands, options);
  ORRERY_CHECK(completion.has_value(), "the program ends");
  return std::move(*completion);
}

Completion simulate(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const EngineOptions& options) {
  Paths paths(fabric);
  return simulate(program, lowered, paths, demands(lowered, paths), options);
}

}  // namespace orrery
