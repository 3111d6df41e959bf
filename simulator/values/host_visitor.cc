#include "simulator/values/host_visitor.h"

#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "models/array/kernels.h"
#include "models/base/check.h"
#include "models/program/op_rules.h"
#include "models/program/sides.h"

namespace orrery {

namespace {

/// Returns whether two ranges of `size` bytes overlap without being equal.
bool overlap_in_part(const std::byte* a, const std::byte* b, int64_t size) {
  const std::less<> before;
  return a != b && before(a, b + size) && before(b, a + size);
}

void move_bytes(std::byte* target, const std::byte* source, int64_t size) {
  if (size > 0)
    std::memmove(target, source, static_cast<size_t>(size));
}

}  // namespace

HostVisitor::Running::Running(const Collective& of, const Folding& how)
    : collective(of),
      folding(how),
      held_item(itemsize(how.held)),
      work_item(itemsize(of.work)),
      messages(*of.schedule, {}),
      held(of.schedule->extent().all_channels()),
      members(of.members.size()),
      nodes(of.schedule->extent().nodes),
      members_left(static_cast<uint32_t>(of.members.size())) {
  for (size_t n = collective.members.size(); n < nodes.size(); ++n) {
    nodes[n].emplace(collective, folding, Node(n));
    for (uint32_t c = 0; c < collective.schedule->extent().channels; ++c)
      switch_steps_left += collective.schedule->steps(Node(n), Channel(c));
  }
}

HostVisitor::HostVisitor(const Program& program, const Lowered& lowered, DeviceValues arguments,
                         VisitEndedRun ended, HostKernels kernels)
    : program_(program),
      lowered_(lowered),
      values_(program, lowered.iterations, std::move(arguments)),
      ended_(std::move(ended)),
      kernels_(kernels),
      bodies_(program),
      running_(lowered.collectives.size()) {}

void HostVisitor::local(OpRun run, LogicalId device) {
  const Op& op = program_.op(run.op);
  if (op.results.empty() || !values_.has(device, op.results.front()))
    return;
  std::vector<Tensor> results;
  if (const std::optional<int64_t> index = lowered_.iterations->index(run)) {
    const ValueType& type = program_.value(op.results.front()).type;
    results.push_back(full(type.dtype, type.shape, static_cast<double>(*index)));
  } else {
    std::vector<const Tensor*> operands;
    operands.reserve(op.operands.size());
    for (const ValueId operand : op.operands)
      operands.push_back(values_.read(operand, run, device));
    results = rules(op.kind).body != nullptr ? run_body(bodies_.of(op), operands, kernels_.local)
                                             : kernels_.local(program_, op, operands, device);
  }
  for (size_t r = 0; r < results.size(); ++r)
    values_.put({op.results[r], run.iteration}, device,
                std::make_shared<Tensor>(std::move(results[r])));
}

void HostVisitor::issue(CollectiveRun run, Node node, OpRun by) {
  const Collective& collective = lowered_.collective(run.collective);
  const Op& op = program_.op(by.op);
  std::unique_ptr<Running>& running = running_[running_.slot(run)];
  if (!running)
    running = std::make_unique<Running>(collective, op_folding(program_, op, collective.work));
  EndedMember& member = running->members[node.index()];
  member.op = by.op;
  member.device = collective.members[node.index()];
  member.operands.reserve(op.operands.size());
  for (const ValueId operand : op.operands)
    member.operands.push_back(values_.hold(operand, by, member.device));
}

void HostVisitor::done(OpRun run, LogicalId device) {
  const Op& op = program_.op(run.op);
  values_.share(op.results.front(), op.operands.front(), run, device);
}

void HostVisitor::enter(CollectiveRun run, Node node, OpRun by) {
  const Collective& collective = lowered_.collective(run.collective);
  const Op& op = program_.op(by.op);
  Running& running = *running_[running_.slot(run)];
  running.nodes[node.index()].emplace(
      collective, running.folding, node, given_operand(op, running.members[node.index()].operands),
      takes_result(op) ? std::optional(program_.value(op.results.front()).type) : std::nullopt);
}

void HostVisitor::receive(CollectiveRun run, StepRef ref, const Step& step) {
  const uint32_t slot = running_.slot(run);
  // The message sent last needs no block if it is taken at once.
  if (borrowed_ && !(borrowed_->slot == slot && borrowed_->receiver == ref))
    settle_borrowed();
  borrowed_.reset();
  run_half(slot, *running_[slot], ref, Half::Receive, step);
}

void HostVisitor::send(CollectiveRun run, StepRef ref, const Step& step) {
  settle_borrowed();
  const uint32_t slot = running_.slot(run);
  Running& running = *running_[slot];
  run_half(slot, running, ref, Half::Send, step);
  if (running.collective.is_member(ref.node))
    return;
  --running.switch_steps_left;
  drop_if_over(slot);
}

void HostVisitor::drop_if_over(uint32_t slot) {
  if (running_[slot]->members_left == 0 && running_[slot]->switch_steps_left == 0)
    running_.erase(slot);
}

void HostVisitor::run_half(uint32_t slot, Running& running, StepRef ref, Half half,
                           const Step& step) {
  const CollectiveId id = running_.run(slot).collective;
  AtWork at{slot, running, ref, *running.nodes[ref.node.index()], {}, nullptr};
  Bytes moved;
  // While the input area is still the operand itself, the first write makes a copy for the member.
  // This must happen before anything reads the area's address.
  for_each_action(step.form(), half, [&](Action action) {
    if (action.kind == ActionKind::Store)
      at.own.write(*step.slice(action.slice));
  });
  for_each_action(step.form(), half, [&](Action action) {
    const Slice* slice = step.slice(action.slice);
    act(at, action.kind, slice, step.combine);
    // Bytes moved are those of the work elements, however elements are held.
    moved = running.held_item == running.work_item
                ? Bytes(at.payload.size)
                : running.work_item * (at.payload.size / running.held_item.count());
    moves_.add_move(id, ref, action.kind, slice, moved);
  });
  give_back(at.payload);
  halves_.add(id, ref, half, moved);
}

void HostVisitor::act(AtWork& at, ActionKind action, const Slice* slice, Combine combine) {
  switch (action) {
    case ActionKind::Take:
      at.payload = std::exchange(at.running.messages.at(at.ref), {});
      return;
    case ActionKind::Read:
      at.payload.data = slice == nullptr ? nullptr : at.own.read(*slice);
      at.payload.size = slice == nullptr ? 0 : (at.running.held_item * slice->count).count();
      return;
    case ActionKind::Combine:
      ORRERY_CHECK(slice != nullptr, "a reduction has two sides");
      at.right = at.own.read(*slice);
      return;
    case ActionKind::Store:
      return store(at, *slice, combine);
    case ActionKind::Hold:
      return hold(at, combine);
    case ActionKind::Recall:
      at.payload = std::exchange(held(at.running, at.ref), {});
      return;
    case ActionKind::Emit:
      return emit(at);
    case ActionKind::Free:
      return;  // the memory of a message is freed when its payload is done with
  }
}

void HostVisitor::store(AtWork& at, const Slice& slice, Combine combine) {
  ORRERY_CHECK(at.payload.size == (at.running.held_item * slice.count).count(),
               "a payload is as large as where it goes");
  std::byte* const target = at.own.write(slice);
  if (at.right != nullptr)
    reduce(at.running.folding, combine, target, at.payload.data, at.right, at.payload.size);
  else
    move_bytes(target, at.payload.data, at.payload.size);
}

void HostVisitor::hold(AtWork& at, Combine combine) {
  if (at.right == nullptr) {
    put_in_block(at.payload);
  } else {
    const std::byte* const left = at.payload.data;
    if (!at.payload.block)
      at.payload.block = blocks_.take(at.payload.size);
    at.payload.data = blocks_.data(*at.payload.block);
    reduce(at.running.folding, combine, blocks_.data(*at.payload.block), left, at.right,
           at.payload.size);
  }
  held(at.running, at.ref) = at.payload;
  at.payload.block.reset();  // it moved to the step
}

void HostVisitor::emit(AtWork& at) {
  const StepRef receiver = at.running.collective.schedule->peer(at.ref, Half::Send);
  if (!at.payload.block)
    borrowed_ = Borrowed{at.slot, receiver};
  at.running.messages.at(receiver) = at.payload;
  at.payload.block.reset();  // it moved to the message
}

void HostVisitor::exit(CollectiveRun run, Node node, OpRun by) {
  settle_borrowed();
  const uint32_t slot = running_.slot(run);
  std::unique_ptr<Running>& running = running_[slot];
  const Op& op = program_.op(by.op);
  const ValueType& type = program_.value(op.results.front()).type;
  EndedMember& member = running->members[node.index()];
  auto result = std::make_shared<Tensor>(
      takes_result(op) ? std::move(*running->nodes[node.index()]).take_result()
                       : Tensor(type.dtype, type.shape));
  if (takes_result(op))
    member.result = result;
  values_.put({op.results.front(), by.iteration}, member.device, std::move(result));
  running->nodes[node.index()].reset();
  if (--running->members_left == 0) {
    if (ended_)
      ended_({run, running->members});
    running->members.clear();
  }
  drop_if_over(slot);
}

HostVisitor::Payload& HostVisitor::held(Running& running, StepRef ref) {
  return running.held[running.collective.schedule->extent().number_of(ref.node, ref.channel)];
}

void HostVisitor::put_in_block(Payload& payload) {
  if (payload.block)
    return;
  payload.block = blocks_.take(payload.size);
  move_bytes(blocks_.data(*payload.block), payload.data, payload.size);
  payload.data = blocks_.data(*payload.block);
}

void HostVisitor::give_back(const Payload& payload) {
  if (payload.block)
    blocks_.give_back(*payload.block);
}

void HostVisitor::settle_borrowed() {
  if (!borrowed_)
    return;
  put_in_block(running_[borrowed_->slot]->messages.at(borrowed_->receiver));
  borrowed_.reset();
}

void HostVisitor::reduce(const Folding& folding, Combine combine, std::byte* target,
                         const std::byte* left, const std::byte* right, int64_t size) {
  const int64_t count = size / itemsize(folding.held).count();
  if (!overlap_in_part(target, left, size) && !overlap_in_part(target, right, size)) {
    kernels_.fold(folding, combine, target, left, right, count);
    return;
  }
  const uint32_t block = blocks_.take(size);
  move_bytes(blocks_.data(block), left, size);
  kernels_.fold(folding, combine, blocks_.data(block), blocks_.data(block), right, count);
  move_bytes(target, blocks_.data(block), size);
  blocks_.give_back(block);
}

}  // namespace orrery
