#pragma once

// Walking a whole program without time: every device runs its tape, every collective its schedule,
// each half after its causes. Nothing is a wildcard, so one order decides for all timings: what
// does not end here cannot end at all.

#include <deque>
#include <memory>
#include <vector>

#include "simulator/schedule/lowered.h"
#include "simulator/schedule/progress.h"

namespace orrery {

/// A device that cannot go on: it stands at a Wait.
struct StuckDevice {
  LogicalId device;
  size_t instruction = 0;  // in its thread's tape
  Member waits_for;        // the collective whose end it awaits
};

/// Where a program stopped. Both lists empty: it ran to its end.
struct Stop {
  struct StuckCollective {
    CollectiveId id;
    std::vector<Node> not_entered;
    std::vector<Parked> parked;
  };
  std::vector<StuckDevice> devices;          // by logical id
  std::vector<StuckCollective> collectives;  // entered by some and not ended, by id

  bool finished() const { return devices.empty() && collectives.empty(); }
};

/// Calls, each in an order that respects all causes:
///   visitor.local(OpId, LogicalId)                        a local op on one device
///   visitor.enter(CollectiveId, Node, OpId)               a member enters
///   visitor.receive / visitor.send(CollectiveId, StepRef, const Step&)
///   visitor.exit(CollectiveId, Node, OpId)                all steps of the member have retired
template <class Visitor>
class ProgramWalk {
 public:
  ProgramWalk(const Program& program, const Lowered& lowered, Visitor& visitor)
      : program_(program),
        lowered_(lowered),
        visitor_(visitor),
        thread_of_(threads_by_device(program)),
        devices_(program.mesh.devices()),
        running_(lowered.collectives.size()) {}

  Stop run() {
    for (uint32_t d = program_.mesh.devices(); d-- > 0;)
      awake_.emplace_back(d);
    while (!awake_.empty() || !ready_.empty()) {
      if (!awake_.empty()) {
        const LogicalId device = awake_.back();
        awake_.pop_back();
        enter_queued(device);
        run_tape(device);
      } else {
        const Ready next = ready_.back();
        ready_.pop_back();
        run_half(next.collective, next.half);
      }
    }
    return stop();
  }

 private:
  using Steps = Progress<Schedule, Arrival::WithSend>;

  struct Ready {
    CollectiveId collective;
    HalfRef half;
  };
  struct Queued {
    OpId op;
    Member member;
  };
  /// A device's communication stream: the collectives it has reached and not ended, in issue order.
  /// Only the first can be entered.
  struct Stream {
    StreamId id;
    std::deque<Queued> queue;
    bool first_entered = false;
  };
  struct Device {
    size_t at = 0;  // the next instruction of its tape
    std::vector<Stream> streams;
  };
  struct Running {
    std::unique_ptr<Steps> steps;  // from the first entry until all nodes have ended
    std::vector<OpId> entered_by;  // per node
    uint32_t nodes_left = 0;
    bool over = false;
  };

  Stream& stream(LogicalId device, StreamId id) {
    std::vector<Stream>& streams = devices_[device.index()].streams;
    for (Stream& stream : streams)
      if (stream.id == id)
        return stream;
    return streams.emplace_back(Stream{id, {}, false});
  }

  void run_tape(LogicalId id) {
    const std::optional<ThreadId> thread = thread_of_[id.index()];
    if (!thread)
      return;
    const Tape& tape = lowered_.tapes[thread->index()];
    Device& device = devices_[id.index()];
    for (; device.at < tape.size(); ++device.at) {
      const Instruction& instruction = tape[device.at];
      if (instruction.kind == Instruction::Kind::Local) {
        visitor_.local(instruction.op, id);
        continue;
      }
      const Member member = lowered_.member(program_, instruction.collective, id);
      if (instruction.kind == Instruction::Kind::Enter) {
        stream(id, instruction.stream).queue.push_back({instruction.op, member});
        enter_queued(id);
      } else if (!ended(member)) {
        return;
      }
    }
  }

  void enter_queued(LogicalId device) {
    for (Stream& stream : devices_[device.index()].streams) {
      while (!stream.queue.empty() && !stream.first_entered) {
        stream.first_entered = true;
        enter(stream.queue.front());
        if (!ended(stream.queue.front().member))
          break;
        leave(stream);  // a member without steps ends as it enters
      }
    }
  }

  void enter(const Queued& queued) {
    const CollectiveId id = queued.member.collective;
    const Node node = queued.member.node;
    Running& running = running_[id.index()];
    if (!running.steps) {
      const Schedule& schedule = *lowered_.collective(id).schedule;
      running.steps = std::make_unique<Steps>(schedule);
      running.nodes_left = schedule.extent().nodes;
      running.entered_by.resize(running.nodes_left);
    }
    running.entered_by[node.index()] = queued.op;
    visitor_.enter(id, node, queued.op);
    running.steps->enter(node, [&](HalfRef half) { ready_.push_back({id, half}); });
  }

  void run_half(CollectiveId id, HalfRef half) {
    const Collective& collective = lowered_.collective(id);
    const Step step = collective.schedule->step(half.step);
    if (half.half == Half::Receive)
      visitor_.receive(id, half.step, step);
    else
      visitor_.send(id, half.step, step);
    Steps& steps = *running_[id.index()].steps;
    steps.retire(half, [&](HalfRef next) { ready_.push_back({id, next}); });
    if (half.half == Half::Send && steps.ended(half.step.node)) {
      const LogicalId device = collective.members[half.step.node.index()];
      leave(stream(device, collective.stream));
      awake_.push_back(device);
    }
  }

  /// The first collective of the stream has ended on its device.
  void leave(Stream& stream) {
    const Queued done = stream.queue.front();
    stream.queue.pop_front();
    stream.first_entered = false;
    Running& running = running_[done.member.collective.index()];
    visitor_.exit(done.member.collective, done.member.node, done.op);
    if (--running.nodes_left == 0) {
      running.over = true;
      running.steps.reset();
    }
  }

  bool ended(Member member) const {
    const Running& running = running_[member.collective.index()];
    return running.over || (running.steps && running.steps->ended(member.node));
  }

  Stop stop() const {
    Stop stop;
    for (uint32_t d = 0; d < program_.mesh.devices(); ++d) {
      if (!thread_of_[d])
        continue;
      const Tape& tape = lowered_.tapes[thread_of_[d]->index()];
      if (devices_[d].at == tape.size())
        continue;
      const OpId waits = tape[devices_[d].at].collective;
      stop.devices.push_back(
          {LogicalId(d), devices_[d].at, lowered_.member(program_, waits, LogicalId(d))});
    }
    for (size_t c = 0; c < running_.size(); ++c) {
      if (!running_[c].steps)
        continue;
      Stop::StuckCollective stuck{CollectiveId(c), {}, running_[c].steps->parked()};
      for (uint32_t n = 0; n < lowered_.collectives[c].members.size(); ++n)
        if (!running_[c].steps->entered(Node(n)))
          stuck.not_entered.emplace_back(n);
      stop.collectives.push_back(std::move(stuck));
    }
    return stop;
  }

  const Program& program_;
  const Lowered& lowered_;
  Visitor& visitor_;
  std::vector<std::optional<ThreadId>> thread_of_;
  std::vector<Device> devices_;
  std::vector<Running> running_;  // per collective
  std::vector<LogicalId> awake_;  // devices that may be able to go on
  std::vector<Ready> ready_;      // halves whose causes are met
};

template <class Visitor>
Stop walk(const Program& program, const Lowered& lowered, Visitor& visitor) {
  return ProgramWalk<Visitor>(program, lowered, visitor).run();
}

}  // namespace orrery
