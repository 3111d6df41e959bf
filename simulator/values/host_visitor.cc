#include "simulator/values/host_visitor.h"

#include <cstring>
#include <functional>
#include <utility>

#include "models/array/work.h"
#include "models/base/check.h"
#include "simulator/values/host_executor.h"

namespace orrery {

namespace {

/// Whether two stretches of `size` bytes share some, but not all.
bool overlap_in_part(const std::byte* a, const std::byte* b, int64_t size) {
  const std::less<> before;
  return a != b && before(a, b + size) && before(b, a + size);
}

void move_bytes(std::byte* target, const std::byte* source, int64_t size) {
  if (size > 0)
    std::memmove(target, source, static_cast<size_t>(size));
}

}  // namespace

HostVisitor::Running::Running(const Collective& collective)
    : messages(collective.schedule->extent(), {}),
      held(size_t{collective.schedule->extent().nodes} * collective.schedule->extent().channels),
      members(collective.members.size()),
      members_left(static_cast<uint32_t>(collective.members.size())) {}

HostVisitor::HostVisitor(const Program& program, const Lowered& lowered, DeviceValues& values)
    : program_(program),
      lowered_(lowered),
      values_(values),
      done_of_(program.values.size()),
      running_(lowered.collectives.size()) {
  for (const Op& op : program.ops)
    if (op.kind == OpKind::Done)
      done_of_[op.operands.front().index()].push_back(op.results.front());
}

void HostVisitor::local(OpId id, LogicalId device) {
  const Op& op = program_.op(id);
  if (op.results.empty())
    return;
  std::vector<const Tensor*> operands;
  for (const ValueId operand : op.operands)
    operands.push_back(&values_.at(operand, device).value());
  values_.at(op.results.front(), device) = evaluate_local(program_, op, operands, device);
}

void HostVisitor::enter(CollectiveId id, Node node, OpId op_id) {
  const Collective& collective = lowered_.collective(id);
  const Op& op = program_.op(op_id);
  std::optional<Running>& running = running_[id.index()];
  if (!running)
    running.emplace(collective);
  const LogicalId device = collective.members[node.index()];
  running->members[node.index()].emplace(collective, node,
                                         values_.at(op.operands.front(), device).value(),
                                         program_.value(op.results.front()).type);
}

void HostVisitor::receive(CollectiveId id, StepRef ref, const Step& step) {
  if (borrowed_ && !(borrowed_->collective == id && borrowed_->receiver == ref))
    settle_borrowed();
  borrowed_.reset();

  const Collective& collective = lowered_.collective(id);
  const Bytes item = itemsize(collective.work);
  const int64_t size = (item * step.count()).count();
  digest_.add(id, ref, Half::Receive, digest_bytes(step, Half::Receive, item));

  MemberMemory& own = memory(id, ref.node);
  Payload payload;
  if (step.from)
    payload = std::exchange(running_[id.index()]->messages.at(ref), {});

  // The target is asked for first: where the input area is still the operand itself, asking makes
  // it the member's own.
  if (step.combine != Combine::None) {
    ORRERY_CHECK(step.source && (step.from || step.target), "a reduction has two sides");
    if (step.target) {
      std::byte* target = own.write(*step.target);
      combine(collective, step, target, step.from ? payload.data : target, own.read(*step.source));
    } else if (step.to) {
      const std::byte* left = payload.data;
      if (!payload.block)
        payload.block = blocks_.take(size);
      payload.data = blocks_.data(*payload.block);
      combine(collective, step, blocks_.data(*payload.block), left, own.read(*step.source));
    }
  } else if (step.target) {
    std::byte* target = own.write(*step.target);
    if (step.from)
      move_bytes(target, payload.data, size);
    else if (step.source)
      move_bytes(target, own.read(*step.source), size);
  } else if (step.from && step.to) {
    put_in_block(payload, size);
  }

  if (step.to && !step.target)
    held(id, ref) = payload;
  else
    give_back(payload);
}

void HostVisitor::send(CollectiveId id, StepRef ref, const Step& step) {
  settle_borrowed();
  const Collective& collective = lowered_.collective(id);
  const Bytes item = itemsize(collective.work);
  digest_.add(id, ref, Half::Send, digest_bytes(step, Half::Send, item));
  if (!step.to)
    return;
  const StepRef receiver = collective.schedule->peer(ref, Half::Send);
  Payload payload = std::exchange(held(id, ref), {});
  if (step.target)
    payload.data = memory(id, ref.node).read(*step.target);
  else if (!payload.block && step.source)
    payload.data = memory(id, ref.node).read(*step.source);
  if (!payload.block)
    borrowed_ = Borrowed{id, receiver, (item * step.count()).count()};
  running_[id.index()]->messages.at(receiver) = payload;
}

void HostVisitor::exit(CollectiveId id, Node node, OpId op_id) {
  settle_borrowed();
  std::optional<Running>& running = running_[id.index()];
  const LogicalId device = lowered_.collective(id).members[node.index()];
  Tensor result = std::move(*running->members[node.index()]).take_result();
  running->members[node.index()].reset();
  if (--running->members_left == 0)
    running.reset();

  const Op& op = program_.op(op_id);
  if (op.issue == Issue::Sync) {
    values_.at(op.results.front(), device) = std::move(result);
    return;
  }
  const std::vector<ValueId>& dones = done_of_[op.results.front().index()];
  for (size_t i = 0; i + 1 < dones.size(); ++i)
    values_.at(dones[i], device) = result;
  if (!dones.empty())
    values_.at(dones.back(), device) = std::move(result);
}

HostVisitor::Payload& HostVisitor::held(CollectiveId id, StepRef ref) {
  const uint32_t channels = lowered_.collective(id).schedule->extent().channels;
  return running_[id.index()]->held[size_t{ref.node.index()} * channels + ref.channel.index()];
}

void HostVisitor::put_in_block(Payload& payload, int64_t size) {
  if (payload.block)
    return;
  payload.block = blocks_.take(size);
  move_bytes(blocks_.data(*payload.block), payload.data, size);
  payload.data = blocks_.data(*payload.block);
}

void HostVisitor::give_back(const Payload& payload) {
  if (payload.block)
    blocks_.give_back(*payload.block);
}

void HostVisitor::settle_borrowed() {
  if (!borrowed_)
    return;
  put_in_block(running_[borrowed_->collective.index()]->messages.at(borrowed_->receiver),
               borrowed_->size);
  borrowed_.reset();
}

void HostVisitor::combine(const Collective& collective, const Step& step, std::byte* target,
                          const std::byte* left, const std::byte* right) {
  const int64_t size = (itemsize(collective.work) * step.count()).count();
  if (!overlap_in_part(target, left, size) && !overlap_in_part(target, right, size)) {
    combine_into(collective.work, step.combine, target, left, right, step.count());
    return;
  }
  const uint32_t block = blocks_.take(size);
  move_bytes(blocks_.data(block), left, size);
  combine_into(collective.work, step.combine, blocks_.data(block), blocks_.data(block), right,
               step.count());
  move_bytes(target, blocks_.data(block), size);
  blocks_.give_back(block);
}

}  // namespace orrery
