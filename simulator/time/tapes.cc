#include "simulator/time/tapes.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/op_overflow.h"

namespace orrery {

Tapes::Tapes(const Program& program, const Lowered& lowered, std::span<const Instant> device_start)
    : program_(program),
      lowered_(lowered),
      devices_(program.mesh.devices()),
      spans_(program.ops.size()) {
  for (uint32_t t = 0; t < program.threads.size(); ++t) {
    const Thread& thread = program.threads[t];
    for (uint32_t place = 0; place < thread.devices.size(); ++place) {
      Device& device = devices_[thread.devices[place].index()];
      device.thread = ThreadId(t);
      device.place = place;
    }
    for (const OpId op : thread.issue_order)
      spans_[op.index()].resize(thread.devices.size());
  }
  for (size_t d = 0; d < device_start.size(); ++d)
    devices_[d].clock = device_start[d];
  for (const Collective& collective : lowered.collectives)
    ended_.emplace_back(collective.members.size(), false);
}

void Tapes::begin(LogicalId device, Entered entered) {
  run(device, entered);
}

void Tapes::end(CollectiveId id, Node node, Instant at, Entered entered) {
  const Collective& collective = lowered_.collective(id);
  const LogicalId device_id = collective.members[node.index()];
  Device& device = devices_[device_id.index()];
  Stream& stream = this->stream(device, collective.stream);
  ORRERY_CHECK(!stream.idle() && stream.first().member.collective == id,
               "the first collective of a stream is the one that runs");
  close(span(stream.first().op, device), at);
  ended_[id.index()][node.index()] = true;
  ++stream.ended;
  stream.free = at;
  if (!stream.idle())
    enter_first(device, stream, entered);
  run(device_id, entered);
}

bool Tapes::finished() const {
  return std::all_of(devices_.begin(), devices_.end(), [&](const Device& device) {
    return (!device.thread || device.at == lowered_.tapes[device.thread->index()].size()) &&
           std::all_of(device.streams.begin(), device.streams.end(),
                       [](const Stream& stream) { return stream.idle(); });
  });
}

std::string Tapes::waiting_text() const {
  for (uint32_t d = 0; d < devices_.size(); ++d)
    for (const Stream& stream : devices_[d].streams)
      if (!stream.idle())
        return fmt::format("device {} waits for the end of '{}'", d,
                           program_.op(stream.first().op).name);
  fail_check("!finished()", "an unfinished device has a collective that has not ended", __FILE__,
             __LINE__);
}

Tapes::Stream& Tapes::stream(Device& device, StreamId id) {
  for (Stream& stream : device.streams)
    if (stream.id == id)
      return stream;
  return device.streams.emplace_back(Stream{id, {}, 0, {}});
}

void Tapes::run(LogicalId id, Entered entered) {
  Device& device = devices_[id.index()];
  if (!device.thread)
    return;
  const Tape& tape = lowered_.tapes[device.thread->index()];
  for (; device.at < tape.size(); ++device.at) {
    const Instruction& instruction = tape[device.at];
    OpSpan& op = span(instruction.op, device);
    if (instruction.kind == Instruction::Kind::Local) {
      op.reached = op.start = device.clock;
      device.clock = on_behalf_of(instruction.op, [&] {
        return device.clock + lowered_.local[instruction.op.index()].at(device.place);
      });
      close(op, device.clock);
      continue;
    }
    const Member member = lowered_.member(program_, instruction.collective, id);
    if (instruction.kind == Instruction::Kind::Enter) {
      op.reached = device.clock;
      Stream& stream = this->stream(device, instruction.stream);
      const bool was_idle = stream.idle();
      stream.queue.push_back({instruction.op, member, device.clock});
      if (was_idle)
        enter_first(device, stream, entered);
      continue;
    }
    if (!ended_[member.collective.index()][member.node.index()])
      return;
    const Instant reached = device.clock;
    device.clock = std::max(reached, span(instruction.collective, device).end);
    if (instruction.op != instruction.collective) {
      op.reached = op.start = reached;
      close(op, device.clock);
    }
  }
}

void Tapes::enter_first(Device& device, Stream& stream, Entered entered) {
  const Queued& first = stream.first();
  const Instant entry = on_behalf_of(
      first.op, [&] { return std::max(first.reached, stream.free) + lowered_.launch; });
  span(first.op, device).start = entry;
  entered({first.member.collective, first.member.node, entry});
}

void Tapes::close(OpSpan& span, Instant end) {
  span.end = end;
  makespan_ = std::max(makespan_, end);
}

}  // namespace orrery
