#include "simulator/analyze/slack.h"

#include <algorithm>
#include <map>
#include <memory>

#include "models/base/check.h"
#include "simulator/analyze/device_runs.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/schedule/step_table.h"

namespace orrery {

namespace {

/// What happened, in an order in which causes come first.
struct Happening {
  enum class Kind : uint8_t { Local, Enter, Receive, Send, Exit } kind = Kind::Local;
  CollectiveId collective;
  StepRef step;  // of Enter and Exit only the node counts
  OpId op;       // Local, Enter, Exit
  LogicalId device;
};

class Order {
 public:
  explicit Order(const Lowered& lowered) : lowered_(lowered) {}

  void local(OpId op, LogicalId device) {
    happenings_.push_back({Happening::Kind::Local, {}, {}, op, device});
  }
  void enter(CollectiveId id, Node node, OpId op) { add(Happening::Kind::Enter, id, node, op); }
  void receive(CollectiveId id, StepRef ref, const Step&) {
    happenings_.push_back({Happening::Kind::Receive, id, ref, {}, {}});
  }
  void send(CollectiveId id, StepRef ref, const Step&) {
    happenings_.push_back({Happening::Kind::Send, id, ref, {}, {}});
  }
  void exit(CollectiveId id, Node node, OpId op) { add(Happening::Kind::Exit, id, node, op); }

  const std::vector<Happening>& happenings() const { return happenings_; }

 private:
  void add(Happening::Kind kind, CollectiveId id, Node node, OpId op) {
    const LogicalId device = lowered_.collective(id).members[node.index()];
    happenings_.push_back({kind, id, {node, {}, 0}, op, device});
  }

  const Lowered& lowered_;
  std::vector<Happening> happenings_;
};

/// The latest instants at which things may happen. Goes through what happened from the last to the
/// first, and hands each one's latest instant on to its causes.
class Backwards {
 public:
  Backwards(const Program& program, const Lowered& lowered, const Completion& completion,
            const Recording& recording)
      : program_(program),
        lowered_(lowered),
        makespan_(completion.makespan),
        recording_(recording),
        runs_(program, lowered, completion),
        devices_(runs_.devices()),
        running_(lowered.collectives.size()),
        places_(program.ops.size()),
        slacks_(program.ops.size()) {
    for (uint32_t d = 0; d < runs_.devices(); ++d) {
      const size_t instructions = runs_.tape(LogicalId(d)).size();
      devices_[d] = {instructions, std::vector<Instant>(instructions, makespan_),
                     std::vector<bool>(instructions, false)};
    }
    for (const Tape& tape : lowered.tapes)
      find_places(tape);
  }

  std::vector<std::optional<Duration>> run() {
    Order order(lowered_);
    const Stop stop = walk(program_, lowered_, order);
    ORRERY_CHECK(stop.finished(), "a program that was timed ends");
    for (uint32_t d = 0; d < runs_.devices(); ++d)
      unwind(LogicalId(d));
    const std::vector<Happening>& happenings = order.happenings();
    for (size_t h = happenings.size(); h-- > 0;)
      undo(happenings[h]);
    return std::move(slacks_);
  }

 private:
  struct Device {
    size_t left = 0;              // instructions of its tape that are not yet gone through
    std::vector<Instant> passed;  // per instruction: the latest at which it may be passed
    std::vector<bool> undone;     // per instruction that is a Local or an Enter
  };

  struct LatestStep {
    Instant received;
    Instant sent;
  };

  /// Of a collective of which not everything has been undone.
  struct Running {
    Running(const Schedule& schedule, Instant makespan)
        : entries(schedule.extent().nodes, makespan),
          exits(schedule.extent().nodes, makespan),
          steps(schedule.extent(), LatestStep{makespan, makespan}),
          entries_left(schedule.extent().nodes) {}

    std::vector<Instant> entries;  // per node
    std::vector<Instant> exits;    // per node
    StepTable<LatestStep> steps;
    uint32_t entries_left;
  };

  /// Where a thread's tape has the Local or the Enter of an op.
  struct Place {
    size_t instruction = 0;
    std::optional<OpId> before;  // the op of the last Enter before it on its stream
  };

  void find_places(const Tape& tape) {
    std::map<StreamId, OpId> last;
    for (size_t i = 0; i < tape.size(); ++i) {
      if (tape[i].kind == Instruction::Kind::Wait)
        continue;
      Place& place = places_[tape[i].op.index()];
      place.instruction = i;
      if (tape[i].kind == Instruction::Kind::Local)
        continue;
      if (const auto before = last.find(tape[i].stream); before != last.end())
        place.before = before->second;
      last[tape[i].stream] = tape[i].op;
    }
  }

  static Instant earlier(Instant at, Duration by) {
    return Instant(checked_subtract(at.picoseconds(), by.count()));
  }
  static void limit(Instant& latest, Instant at) { latest = std::min(latest, at); }

  void add_slack(OpId op, LogicalId device, Instant latest_end) {
    const Duration slack = latest_end - runs_.span(op, device).end;
    std::optional<Duration>& least = slacks_[op.index()];
    least = least ? std::min(*least, slack) : slack;
  }

  Running& running(CollectiveId id) {
    std::unique_ptr<Running>& running = running_[id.index()];
    if (!running)
      running = std::make_unique<Running>(*lowered_.collective(id).schedule, makespan_);
    return *running;
  }

  void limit_exit(OpId collective, LogicalId device, Instant at) {
    const Member member = lowered_.member(program_, collective, device);
    limit(running(member.collective).exits[member.node.index()], at);
  }

  /// Back through the tape, as far as all that comes after has been undone.
  void unwind(LogicalId id) {
    Device& device = devices_[id.index()];
    const Tape& tape = runs_.tape(id);
    for (; device.left > 0; --device.left) {
      const size_t i = device.left - 1;
      const Instruction& instruction = tape[i];
      const OpSpan& span = runs_.span(instruction.op, id);
      Instant latest = device.passed[i];
      if (instruction.kind == Instruction::Kind::Wait) {
        limit_exit(instruction.collective, id, latest);
        if (instruction.op != instruction.collective)
          add_slack(instruction.op, id, latest);
      } else if (!device.undone[i]) {
        return;
      } else if (instruction.kind == Instruction::Kind::Local) {
        add_slack(instruction.op, id, latest);
        latest = earlier(latest, span.end - span.start);
      }
      if (i > 0)
        limit(device.passed[i - 1], latest);
    }
  }

  void undo(const Happening& happening) {
    switch (happening.kind) {
      case Happening::Kind::Local:
        devices_[happening.device.index()].undone[places_[happening.op.index()].instruction] = true;
        return unwind(happening.device);
      case Happening::Kind::Enter:
        return undo_enter(happening);
      case Happening::Kind::Exit:
        return undo_exit(happening);
      case Happening::Kind::Receive:
        return undo_half(happening.collective, {happening.step, Half::Receive});
      case Happening::Kind::Send:
        return undo_half(happening.collective, {happening.step, Half::Send});
    }
  }

  void undo_exit(const Happening& happening) {
    const Schedule& schedule = *lowered_.collective(happening.collective).schedule;
    const Node node = happening.step.node;
    Running& running = this->running(happening.collective);
    const Instant latest = running.exits[node.index()];
    add_slack(happening.op, happening.device, latest);
    limit(running.entries[node.index()], latest);
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      if (const uint32_t steps = schedule.steps(node, Channel(c)); steps > 0)
        limit(running.steps.at({node, Channel(c), steps - 1}).sent, latest);
  }

  void undo_half(CollectiveId id, HalfRef half) {
    const Schedule& schedule = *lowered_.collective(id).schedule;
    Running& running = this->running(id);
    LatestStep& latest = running.steps.at(half.step);
    const StepRecord& ran = recording_.at(id, half.step);
    const Instant begin = half.half == Half::Receive
                              ? earlier(latest.received, ran.received - ran.receive_begin)
                              : earlier(latest.sent, ran.sent - ran.send_begin);
    for_each_cause(schedule, schedule.extent(), half.step, half.half, schedule.step(half.step),
                   [&](const Cause& cause) {
                     limit_cause(id, running, cause, begin);
                     return true;
                   });
    if (half.half == Half::Receive)
      latest = {makespan_, makespan_};  // for the step that has its place next
  }

  void limit_cause(CollectiveId id, Running& running, const Cause& cause, Instant at) const {
    if (cause.kind == CauseKind::Enter)
      return limit(running.entries[cause.step.node.index()], at);
    LatestStep& latest = running.steps.at(cause.step);
    if (cause.kind == CauseKind::Message) {
      const StepRecord& sent = recording_.at(id, cause.step);
      limit(latest.sent, earlier(at, sent.arrived - sent.sent));
    } else {
      limit(cause.half == Half::Receive ? latest.received : latest.sent, at);
    }
  }

  void undo_enter(const Happening& happening) {
    const LogicalId device = happening.device;
    const Place& place = places_[happening.op.index()];
    const OpSpan& span = runs_.span(happening.op, device);
    Instant called = span.reached;
    if (place.before)
      called = std::max(called, runs_.span(*place.before, device).end);
    Running& running = this->running(happening.collective);
    const Instant latest =
        earlier(running.entries[happening.step.node.index()], span.start - called);
    if (--running.entries_left == 0)
      running_[happening.collective.index()].reset();
    if (place.before)
      limit_exit(*place.before, device, latest);
    Device& state = devices_[device.index()];
    limit(state.passed[place.instruction], latest);
    state.undone[place.instruction] = true;
    unwind(device);
  }

  const Program& program_;
  const Lowered& lowered_;
  const Instant makespan_;
  const Recording& recording_;
  const DeviceRuns runs_;
  std::vector<Device> devices_;
  std::vector<std::unique_ptr<Running>> running_;  // per collective
  std::vector<Place> places_;                      // per op
  std::vector<std::optional<Duration>> slacks_;    // per op
};

}  // namespace

std::vector<std::optional<Duration>> slacks(const Program& program, const Lowered& lowered,
                                            const Completion& completion,
                                            const Recording& recording) {
  return Backwards(program, lowered, completion, recording).run();
}

}  // namespace orrery
