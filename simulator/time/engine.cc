#include "simulator/time/engine.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "models/base/check.h"
#include "models/base/random.h"
#include "models/program/op.h"
#include "simulator/network/max_min.h"
#include "simulator/schedule/run_table.h"
#include "simulator/schedule/sliced_schedule.h"
#include "simulator/time/collective_engine.h"
#include "simulator/time/device_clocks.h"
#include "simulator/time/event_queue.h"
#include "simulator/time/loop_skips.h"
#include "simulator/time/period_finder.h"
#include "simulator/time/state_budget.h"

namespace orrery {
namespace {

class Engine {
  using Run = CollectiveEngine<Engine>;

 public:
  Engine(const Program& program, const Lowered& lowered, Paths& paths, const Demands& demands,
         const EngineOptions& options)
      : program_(program),
        lowered_(lowered),
        paths_(paths),
        network_(paths.fabric().links()),
        clocks_(program, lowered, options.device_start, options.log, options.wanted),
        skips_(program, lowered, clocks_, options.wanted.kept),
        log_(options.log),
        state_(options.most_state, options.wanted.allowed_steps()),
        running_(lowered.collectives.size()) {
    completion_.device_start = options.device_start;
    if (options.shuffle_seed)
      shuffle_.emplace(*options.shuffle_seed);
    for (uint32_t l = 0; l < clocks_.lists().size(); ++l)
      all_lists_.emplace_back(l);
    skips_any_ = skips_.any() && options.extra_updates.empty();  // these are no part of a state
    // Copies that are done apart are no part of a state either, so a loop would not see them.
    adds_iterations_ = options.log == nullptr && options.extra_updates.empty() && !skips_.any() &&
                       lowered.collectives.size() == 1 && lowered.collectives.front().times == 1;
    alone_.resize(skips_any_ ? all_lists_.size() : 0);
    for (const Instant at : options.extra_updates)
      events_.push(at, {Event::Kind::Update, 0, {}});
    for (size_t l = 0; l < demands.links.size(); ++l)
      shared_.push_back(options.share_all_links ||
                        demands.links[l].exceeds(paths.fabric().link(LinkId(l))));
  }

  /// Returns nothing if the program does not end.
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

  // These functions serve the running collectives as their host (collective_engine.h).

  /// Returns whether messages on the link may have to share it.
  bool is_shared(LinkId link) const { return shared_[link.index()]; }

  Instant now() const { return now_; }
  Instant elapsed() const { return now_ + skipped_; }
  InstantNumber number() const { return number_; }

  /// Takes any one of the halves that can begin.
  HalfRef take(std::vector<HalfRef>& ready) {
    if (shuffle_)
      std::swap(ready.back(), ready[shuffle_->below(ready.size())]);
    const HalfRef half = ready.back();
    ready.pop_back();
    return half;
  }

  void receive(uint32_t slot, StepRef ref, Duration duration) {
    events_.push(now_ + duration, {Event::Kind::Received, slot, ref});
  }

  void prepare(uint32_t slot, StepRef ref, Duration duration) {
    events_.push(now_ + duration, {Event::Kind::Prepared, slot, ref});
  }

  void transmit(uint32_t slot, StepRef ref, Duration duration) {
    events_.push(now_ + duration, {Event::Kind::Sent, slot, ref});
  }

  void transmit(uint32_t slot, uint32_t channel, std::span<const LinkId> shared,
                BytesPerSecond peak, Bytes size, uint32_t alike) {
    const FlowId flow = network_.add(shared, rate(peak), alike);
    if (transfers_.size() <= flow.index())
      transfers_.resize(flow.index() + 1);
    transfers_[flow.index()] = {unsent(size, paths_.fabric().rate_parts()), now_, slot,
                                channel & ((1U << 30U) - 1U)};
  }

  void copy(uint32_t slot, Node node, Duration duration) {
    events_.push(now_ + duration, {Event::Kind::Copied, slot, {node, {}, 0}});
  }

  void deliver(uint32_t slot, StepRef receiver, Instant arrival) {
    events_.push(arrival, {Event::Kind::Arrival, slot, receiver});
  }

  void end(uint32_t slot, Node node, Node origin) {
    const EnterRef by = running_[slot].by[node.index()].value();
    clocks_.end(by, now_ + skipped_, origin, [&](const Entrance& entrance) { schedule(entrance); });
    go_on(by.list);
  }

  void tally(CollectiveId id, StepRef ref, Half half, Bytes bytes, bool sends) {
    completion_.digest.add(id, ref, half, bytes);
    completion_.messages += sends ? 1 : 0;
  }

 private:
  std::optional<Completion> run_events() {
    if (skips_any_)
      for (const ListId list : all_lists_)
        clocks_.hold(list, skips_.next_end(list, LoopSkips::Ends::Local));
    clocks_.begin([&](const Entrance& entrance) { schedule(entrance); });
    for (const ListId list : all_lists_)
      go_on(list);
    while (!events_.empty()) {
      now_ = events_.next();
      next_number();
      for (; !events_.empty() && events_.next() == now_; ++handled_)
        do_events();
      share_links();
      if (skips_any_)
        skip_periods();
      if (adds_iterations_)
        skip_iterations();
    }
    if (!clocks_.finished())
      return std::nullopt;
    completion_.makespan = clocks_.makespan();
    completion_.not_kept = clocks_.not_kept();
    completion_.added = skips_.added();
    completion_.spans = std::move(clocks_).spans();
    completion_.by = TimedBy::Engine;
    return std::move(completion_);
  }

  /// An Event is an event of a step (for Entry and Copied only its node counts), or of a flow
  /// (FlowSent). Kind is as wide as the other members, so the structure has no padding and is
  /// copied whole.
  struct Event {
    enum class Kind : uint32_t {
      Entry,
      Received,
      Prepared,
      Sent,
      FlowSent,
      Arrival,
      Copied,
      Update
    };
    Kind kind = Kind::Update;
    uint32_t subject = 0;  // the slot of the run of a collective; of FlowSent the flow
    StepRef step;
  };
  using Queue = EventQueue<Event>;

  /// A Transfer is a send half with a flow in the network. Its rate has not changed since `since`.
  /// Once it has a rate, an event is pending at its end, or earlier if the end was put off.
  struct Transfer {
    Remaining left = 0;  // at `since`
    Instant since;
    uint32_t slot = 0;          // of the run of a collective
    uint32_t channel : 30 = 0;  // of the sender
    bool scheduled : 1 = false;
    bool put_off : 1 = false;

    /// Returns what is left at `now`. Requires that the rate has not changed since `since`.
    Remaining left_at(Instant now, Rate rate) const {
      return left - Remaining{rate.count()} * (now - since).count();
    }
    Instant end(Rate rate) const {
      return since + Duration(checked_narrow(ceil_divide(left, Int128{rate.count()})));
    }
  };

  /// When the first channel of a cut schedule that exchanges messages came to this iteration.
  struct IterationAt {
    uint32_t iteration = 0;
    Instant at;
  };

  /// A Running is a run of a collective, from the first known entry until its last end.
  struct Running {
    std::unique_ptr<Run> run;                 // from the first entry
    std::vector<std::optional<EnterRef>> by;  // per rank that is known to enter

    /// Returns the Enter of the lowest rank known so far, whatever the order in which ranks enter.
    const EnterRef& first() const {
      return **std::find_if(by.begin(), by.end(),
                            [](const auto& each) { return each.has_value(); });
    }
  };

  /// A Before is the state at an end of an iteration.
  struct Before {
    ListsBefore lists;
    uint64_t messages = 0;
    Digest digest;
  };

  /// Looks, at the end of an instant, whether a list has come to the end of an iteration and the
  /// state equals an earlier one. If so, goes ahead by as many periods as possible.
  void skip_periods() {
    if (!pace_.is_due(handled_))
      return;
    const std::optional<uint32_t> loop = loop_at_end();
    if (!loop || !state_.has_room_for_copies())
      return;
    std::vector<uint64_t> words;
    append_lists(words);
    append_running(words);
    pace_.looked(handled_, words.size());
    // Each loop has a finder of its own. In a common one, the states at the ends of an inner loop
    // would push out those of the outer loop.
    const std::optional<Before> before = finders_[*loop].look(words, [&] {
      return Before{skips_.lists(all_lists_, now_ + skipped_), completion_.messages,
                    completion_.digest};
    });
    if (!before)
      return;
    const std::optional<std::vector<ListPeriod>> periods =
        skips_.periods(all_lists_, before->lists);
    const uint64_t times = periods ? skips_.most(*periods) : 0;
    if (times == 0)
      return;
    const Duration later = now_ + skipped_ - before->lists.at;
    skips_.add(*periods, times, later);
    move_runs(*periods, times);
    for (const ListPeriod& period : *periods) {
      clocks_.skip(period.list, period.loop, period.iterations, times, later,
                   before->lists.totals[period.list.index()]);
      clocks_.hold(period.list, skips_.next_end(period.list, LoopSkips::Ends::Local));
    }
    completion_.messages += (completion_.messages - before->messages) * times;
    completion_.digest.add(completion_.digest.since(before->digest).repeated(times));
    skipped_ += later * static_cast<int64_t>(times);
    look_at_.reset();
  }

  /// Looks, at the end of an instant, whether the only collective under way has come to its next
  /// iteration, and its state equals that at an earlier one. If so, goes ahead by as many periods
  /// as have messages of the same sizes.
  void skip_iterations() {
    if (!pace_.is_due(handled_))
      return;
    const std::optional<uint32_t> only = running_.only_slot();
    if (!only || !running_[*only].run || running_[*only].run->cut() == nullptr)
      return;
    Run& run = *running_[*only].run;
    const uint32_t iteration = run.iteration();
    const uint32_t alike = run.cut()->alike_iterations();
    if (iteration >= alike || iteration <= looked_at_.iteration)
      return;
    looked_at_ = {iteration, now_ + skipped_};
    pace_.looked(handled_, 0);
    // While more and more messages are under way, no state equals an earlier one.
    if (const size_t before = std::exchange(under_way_, under_way()); under_way_ > before)
      return;
    std::vector<uint64_t> words;
    append_running(words, iteration);
    pace_.looked(handled_, words.size());
    const std::optional<IterationAt> same = iterations_.look(words, [&] { return looked_at_; });
    if (!same)
      return;
    const uint32_t period = iteration - same->iteration;
    const uint32_t last = run.last_iteration() + 1;  // of a step that may be under way
    const uint32_t times = last < alike ? (alike - last) / period : 0;
    adds_iterations_ = false;  // the iterations that are left have other sizes
    if (times == 0)
      return;
    std::vector<bool> begun(run.channels());
    events_.for_each([&](Instant /*at*/, const Event& event) {
      if (event.kind == Event::Kind::Received || event.kind == Event::Kind::Prepared ||
          event.kind == Event::Kind::Sent)
        begun[run.channel_of(event.step)] = true;
    });
    network_.for_each_flow([&](FlowId flow) { begun[transfers_[flow.index()].channel] = true; });
    run.skip(times * period, begun);
    events_.change_each([&](Event& event) {
      if (event.kind != Event::Kind::FlowSent)
        event.step.index += times * period * run.cut()->length(event.step.node, event.step.channel);
    });
    skipped_ += (looked_at_.at - same->at) * int64_t{times};
  }

  /// Lets a list go on that is held at the end of an iteration. The list is held only in loops of
  /// local ops, in which it meets no other list, so its iterations are skipped alone.
  void go_on(ListId list) {
    while (clocks_.progress().is_held(list)) {
      skips_.skip(std::span(&list, 1), alone_[list.index()]);
      clocks_.hold(list, skips_.next_end(list, LoopSkips::Ends::Local));
      clocks_.resume(list, [&](const Entrance& entrance) { schedule(entrance); });
    }
  }

  /// Watches the first list that is inside a loop. Returns the loop if the list has passed the end
  /// of an iteration since the last look.
  std::optional<uint32_t> loop_at_end() {
    if (look_at_ && clocks_.progress().next(look_at_->list) < look_at_->end)
      return std::nullopt;
    const std::optional<LookAt> before = look_at_;
    look_at_.reset();
    for (const ListId list : all_lists_) {
      const uint64_t end = skips_.next_end(list, LoopSkips::Ends::All);
      if (end < clocks_.lists().tape(list).size()) {
        look_at_ = {list, end, skips_.loop_ending_at(list, end).loop};
        break;
      }
    }
    skips_any_ = look_at_.has_value();
    return before ? std::optional(before->loop) : std::nullopt;
  }

  /// Moves the runs of collectives that are under way to later iterations.
  void move_runs(std::span<const ListPeriod> periods, uint64_t times) {
    const auto later = [&](EnterRef entry) {
      const auto period = std::find_if(periods.begin(), periods.end(), [&](const ListPeriod& each) {
        return each.list == entry.list;
      });
      if (period != periods.end() && period->loop.has(entry.enter))
        entry.enter += period->iterations * times * period->loop.length;
      return entry;
    };
    running_.for_each_slot([&](uint32_t slot) {
      Running& running = running_[slot];
      for (std::optional<EnterRef>& entry : running.by)
        if (entry)
          entry = later(*entry);
      const CollectiveRun now = clocks_.lists().run(running.first());
      running_.move(slot, now.iteration - running_.run(slot).iteration);
    });
  }

  /// Returns the position of the run in the list of the lowest rank known to enter. In a loop it is
  /// counted back from where the list is now.
  uint64_t place_of(uint32_t slot) const {
    const EnterRef& entry = running_[slot].first();
    const uint64_t next = clocks_.progress().next(entry.list);
    const std::vector<LoopedOrder::LoopRun> loops = loops_around(entry.list);
    return !loops.empty() && loops.front().has(entry.enter) ? next - entry.enter : entry.enter;
  }

  std::vector<LoopedOrder::LoopRun> loops_around(ListId list) const {
    return clocks_.lists().tape(list).loops_at(clocks_.progress().next(list));
  }

  void append_lists(std::vector<uint64_t>& words) const {
    for (const ListId list : all_lists_) {
      const std::vector<LoopedOrder::LoopRun> loops = loops_around(list);
      clocks_.append_state(list, loops.empty() ? LoopedOrder::LoopRun{} : loops.front(),
                           now_ + skipped_, words);
    }
  }

  /// Appends the running collectives, the events and the transfers at the end of an instant. They
  /// are sorted, so that the order of insertion does not matter. Events of flows are left out,
  /// since the end of a flow follows from its rate and what is left to send. Messages and digest
  /// are left out, since they are sums. With an iteration, steps are counted from there, and the
  /// origins of all that is under way are added.
  void append_running(std::vector<uint64_t>& words, std::optional<uint32_t> iteration = {}) const {
    std::vector<Place> places;  // of the runs, to tell them apart
    running_.for_each_slot([&](uint32_t slot) { places.push_back({place(slot), slot}); });
    std::sort(places.begin(), places.end());
    std::map<uint32_t, uint64_t> number_of_slot;
    words.push_back(places.size());
    for (const auto& [place, slot] : places) {
      number_of_slot.emplace(slot, number_of_slot.size());
      words.insert(words.end(), place.begin(), place.end());
      if (running_[slot].run && iteration)
        running_[slot].run->append_state(*iteration, words);
      else if (running_[slot].run)
        running_[slot].run->append_state(words);
    }
    std::vector<Words> pending;
    events_.for_each([&](Instant at, const Event& event) {
      if (event.kind == Event::Kind::FlowSent)
        return;
      const std::unique_ptr<Run>& run = running_[event.subject].run;
      pending.push_back({number_of_slot.at(event.subject),
                         static_cast<uint64_t>((at - now_).count()),
                         static_cast<uint64_t>(event.kind),
                         uint64_t{event.step.node.index()} << 32U | event.step.channel.index(),
                         iteration ? run->index_from(*iteration, event.step) : event.step.index,
                         iteration ? origin(*run, event).index() : 0});
    });
    append(std::move(pending), words);
    std::vector<Words> sending;
    network_.for_each_flow([&](FlowId flow) {
      const Transfer& transfer = transfers_[flow.index()];
      const std::unique_ptr<Run>& run = running_[transfer.slot].run;
      const Rate rate = network_.rate_of(flow);
      const auto left = static_cast<UInt128>(transfer.left_at(now_, rate));
      sending.push_back(
          {number_of_slot.at(transfer.slot), transfer.channel, static_cast<uint64_t>(rate.count()),
           static_cast<uint64_t>(left), static_cast<uint64_t>(left >> 64U),
           iteration ? run->origin(run->at_work(transfer.channel), Half::Send).index() : 0});
    });
    append(std::move(sending), words);
  }

  /// Returns how many events and flows append_running() appends.
  size_t under_way() const {
    size_t count = 0;
    events_.for_each([&](Instant /*at*/, const Event& event) {
      count += event.kind == Event::Kind::FlowSent ? 0 : 1;
    });
    network_.for_each_flow([&](FlowId /*flow*/) { ++count; });
    return count;
  }

  /// Returns the node whose entry led to the event of a run.
  static Node origin(const Run& run, const Event& event) {
    switch (event.kind) {
      case Event::Kind::Received:
        return run.origin(event.step, Half::Receive);
      case Event::Kind::Arrival:
        return run.origin_of_message(event.step);
      case Event::Kind::Copied:
        return run.origin_of_copies(event.step.node);
      case Event::Kind::Prepared:
      case Event::Kind::Sent:
        return run.origin(event.step, Half::Send);
      case Event::Kind::Entry:
      case Event::Kind::FlowSent:
      case Event::Kind::Update:
        break;
    }
    return event.step.node;
  }

  using Place = std::pair<std::array<uint64_t, 3>, uint32_t>;
  std::array<uint64_t, 3> place(uint32_t slot) const {
    return {running_.run(slot).collective.index(), running_[slot].first().list.index(),
            place_of(slot)};
  }

  using Words = std::array<uint64_t, 6>;  // of an event or a flow
  static void append(std::vector<Words> items, std::vector<uint64_t>& words) {
    std::sort(items.begin(), items.end());
    words.push_back(items.size());
    for (const Words& item : items)
      words.insert(words.end(), item.begin(), item.end());
  }

  void next_number() {
    if (number_.index() == UINT32_MAX)
      throw_overflow("messages that share links begin and end at more than 2^32 instants");
    number_ = InstantNumber(number_.index() + size_t{1});
  }

  void schedule(const Entrance& entrance) {
    const uint32_t slot = running_.slot(entrance.run);
    Running& running = running_[slot];
    running.by.resize(lowered_.collective(entrance.run.collective).members.size());
    running.by[entrance.node.index()] = entrance.by;
    events_.push(Instant() + (entrance.at - (Instant() + skipped_)),
                 {Event::Kind::Entry, slot, {entrance.node, {}, 0}});
  }

  /// Takes the next event of this instant out and handles it. With a shuffle it takes all of them.
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
    ++completion_.events;
    if (event.kind == Event::Kind::Update) {
      update_ = true;
      return;
    }
    if (event.kind == Event::Kind::FlowSent)
      end_flow(FlowId(event.subject));
    else
      happen(event.subject, [&](Run& running) { return happen(running, event.kind, event.step); });
  }

  /// Ends a flow, unless it has ended. If its end was put off, adds an event at that end.
  void end_flow(FlowId flow) {
    Transfer& transfer = transfers_[flow.index()];
    const Rate rate = network_.rate_of(flow);
    if (rate == Rate())
      return;
    current_ = running_.run(transfer.slot).collective;
    if (const Instant end = transfer.end(rate); end > now_) {
      if (transfer.put_off)
        schedule_end(flow, end);
      return;
    }
    const uint32_t slot = transfer.slot;
    const uint32_t channel = transfer.channel;
    network_.remove(flow);
    happen(slot, [&](Run& running) { return running.sent_by(channel); });
  }

  void schedule_end(FlowId flow, Instant end) {
    transfers_[flow.index()].scheduled = true;
    transfers_[flow.index()].put_off = false;
    events_.push(end, {Event::Kind::FlowSent, flow.index(), {}});
  }

  template <class What>
  void happen(uint32_t slot, What&& what) {
    current_ = running_.run(slot).collective;
    std::unique_ptr<Run>& run = running_[slot].run;
    if (!run)
      run = run_of(*current_, slot);
    if (what(*run) == Run::State::Over) {
      state_.give(run->bytes());
      running_.erase(slot);
    }
  }

  static Run::State happen(Run& running, Event::Kind kind, StepRef step) {
    if (kind == Event::Kind::Entry)
      return running.enter(step.node);
    if (kind == Event::Kind::Received)
      return running.received(step);
    if (kind == Event::Kind::Prepared)
      return running.prepared(step);
    if (kind == Event::Kind::Copied)
      return running.copied(step.node);
    return kind == Event::Kind::Arrival ? running.arrive(step) : running.sent(step);
  }

  std::unique_ptr<Run> run_of(CollectiveId id, uint32_t slot) {
    const Collective& collective = lowered_.collective(id);
    state_.take(program_.site(collective.site).ops.front(), Run::bytes(*collective.schedule),
                *collective.schedule);
    return std::make_unique<Run>(collective, id, slot, paths_, *this, log_, bundles_of(collective),
                                 adds_iterations_);
  }

  /// Returns the bundles of the collective's schedule if some are alike in all that the engine asks
  /// of them; else null. A log gets the halves of all channels.
  const Bundles* bundles_of(const Collective& collective) {
    if (log_ != nullptr || paths_.may_differ_by_channel())
      return nullptr;
    const auto [at, added] = bundles_.try_emplace(collective.schedule);
    if (added) {
      const auto* const cut = dynamic_cast<const SlicedSchedule*>(collective.schedule);
      const Schedule& whole = cut == nullptr ? *collective.schedule : cut->whole();
      auto bundles = std::make_unique<const Bundles>(whole, Bundles::Messages::AsLarge);
      if (!bundles->all_count())
        at->second = std::move(bundles);
    }
    return at->second.get();
  }

  void share_links() {
    if (update_)
      network_.touch_all();
    network_.solve([&](FlowId flow, Rate before) { reschedule(flow, before); });
    if (update_)
      network_.for_each_flow([&](FlowId flow) { reschedule(flow, network_.rate_of(flow)); });
    update_ = false;
  }

  /// Lets a flow continue at its current rate. `before` was its rate until now; for a flow that has
  /// just begun it does not matter. If the flow is slower than before, its end is put off, and
  /// computed when its event comes.
  void reschedule(FlowId flow, Rate before) {
    Transfer& transfer = transfers_[flow.index()];
    transfer.left = transfer.left_at(now_, before);
    transfer.since = now_;
    const Rate rate = network_.rate_of(flow);
    current_ = running_.run(transfer.slot).collective;
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
  DeviceClocks clocks_;
  LoopSkips skips_;
  EventLog* log_;
  StateBudget state_;
  std::map<const Schedule*, std::unique_ptr<const Bundles>> bundles_;  // null: all count
  RunTable<Running> running_;
  Queue events_;
  Instant now_;       // of the events; the clocks are at now_ + skipped_
  Duration skipped_;  // by which the iterations that were skipped make everything later
  std::vector<ListId> all_lists_;
  bool skips_any_ = false;
  // Iterations of the only collective, if they may be added up.
  bool adds_iterations_ = false;
  IterationAt looked_at_;  // at the last look
  size_t under_way_ = 0;   // at the last look
  PeriodFinder<IterationAt> iterations_;
  std::map<uint32_t, PeriodFinder<Before>> finders_;  // by the loop at whose ends they look
  std::vector<ListLooks> alone_;                      // per list
  /// LookAt is the end of an iteration of a list at which the state is looked at next.
  struct LookAt {
    ListId list;
    uint64_t end = 0;
    uint32_t loop = 0;
  };
  std::optional<LookAt> look_at_;
  LookPace pace_;
  uint64_t handled_ = 0;                 // events
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

Int128 simulated_state(const Schedule& schedule) {
  return CollectiveEngine<Engine>::bytes(schedule);
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
