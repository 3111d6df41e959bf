#include "simulator/values/cuda/collective_builder.h"

#include <utility>

#include "models/base/check.h"
#include "simulator/values/cuda/kernels/calls.h"

namespace orrery::cuda {

void Making::chain(Work work, Dependencies& after) {
  const WorkId added = graph.add(std::move(work), after.nodes());
  after = {};
  after.add(Frontier(added));
}

CollectiveBuilder::CollectiveBuilder(CollectiveId id, const Collective& collective,
                                     const Folding& folding, OpId op, Making& making)
    : id_(id),
      collective_(collective),
      schedule_(*collective.schedule),
      folding_(folding),
      making_(making),
      steps_(schedule_, {}),
      messages_(schedule_, {}),
      members_(schedule_.extent().nodes),
      slot_(bytes(schedule_.largest_message())),
      members_left_(static_cast<uint32_t>(collective.members.size())) {
  const Extent& extent = schedule_.extent();
  for (size_t n = extent.ranks(); n < extent.nodes; ++n) {
    const Node node(n);
    members_[n].op = op;
    Dependencies after;
    members_[n].places.areas[static_cast<size_t>(Area::Scratch)] =
        take_beside(node, bytes(extent.switch_scratch), after);
    members_[n].entered = after.frontier(making_.graph, device(node), {op});
    for (uint32_t c = 0; c < extent.channels; ++c)
      switch_steps_left_ += schedule_.steps(node, Channel(c));
  }
}

void CollectiveBuilder::enter(Node node, const Entrance& entrance, Dependencies& after) {
  Member& member = members_[node.index()];
  member.op = entrance.op;
  member.result = entrance.storage.result;
  member.places = member_places(collective_, folding_, entrance.storage,
                                [&](Bytes size) { return take_beside(node, size, after); });
  const auto area = [&](Area named) { return member.places.areas[static_cast<size_t>(named)]; };
  const int64_t input = schedule_.extent().input;
  if (member.places.enters && entrance.joined.empty()) {
    for (KernelCall& call :
         entering_calls(collective_, folding_, *entrance.storage.operand_dtype, Rank(node.index()),
                        {area(Area::Input), entrance.storage.operand}))
      making_.chain({std::move(call),
                     device(node),
                     {entrance.op},
                     itemsize(*entrance.storage.operand_dtype) * input + bytes(input)},
                    after);
  }
  for (Copy copy : entrance.joined) {
    copy.to += area(Area::Input);
    making_.chain({copy, device(node), {entrance.op}}, after);
  }
  const Extent& extent = schedule_.extent();
  if (extent.zero_output && entrance.storage.result_dtype && extent.output > 0)
    making_.chain({Fill{area(Area::Output), bytes(extent.output)}, device(node), {entrance.op}},
                  after);
  member.entered = after.frontier(making_.graph, device(node), {entrance.op});
}

void CollectiveBuilder::run(StepRef ref, Half half, const Step& step) {
  AtWork at{ref, step, {}, {}, 0};
  const Extent& extent = schedule_.extent();
  for_each_cause(schedule_, extent, ref, half, step, [&](const Cause& cause) {
    making_.causes.add(cause.kind, happened(cause), at.after);
    return true;
  });
  // A switch node never enters; its first steps wait for its memory.
  if (!extent.is_rank(ref.node) && ref.index == 0 && half == Half::Receive)
    at.after.add(members_[ref.node.index()].entered);
  Bytes moved;
  for_each_action(step.form(), half, [&](Action action) {
    act(at, action);
    moved = itemsize(collective_.work) * at.payload.elements;
    making_.moves.add_move(id_, ref, action.kind, step.slice(action.slice), moved);
  });
  making_.halves.add(id_, ref, half, moved);

  const Frontier done =
      at.after.frontier(making_.graph, device(ref.node), {members_[ref.node.index()].op, ref});
  StepDone<Frontier>& events = steps_.at(ref);
  if (half == Half::Receive) {
    events.received = done;
    return;
  }
  events.sent = done;
  events.arrived = done;
  if (!extent.is_rank(ref.node))
    --switch_steps_left_;
}

void CollectiveBuilder::act(AtWork& at, Action action) {
  const Slice* const slice = at.step.slice(action.slice);
  switch (action.kind) {
    case ActionKind::Take:
      at.payload = messages_.at(at.ref);
      return;
    case ActionKind::Read:
      at.payload =
          slice == nullptr ? Message() : Message{address(at.ref.node, *slice), slice->count};
      return;
    case ActionKind::Combine:
      ORRERY_CHECK(slice != nullptr, "a reduction has two sides");
      at.right = address(at.ref.node, *slice);
      return;
    case ActionKind::Store:
      ORRERY_CHECK(at.payload.elements == slice->count, "a payload is as large as where it goes");
      return put(at, address(at.ref.node, *slice));
    case ActionKind::Hold:
      // The message stays in its slot, and is combined as it is sent on. Nothing waits for the
      // receive half of such a step alone, so what it reads does not change before the send half.
      return;
    case ActionKind::Recall:
      at.payload = messages_.at(at.ref);
      if (at.step.combine != Combine::None)
        at.right = address(at.ref.node, *at.step.source);
      return;
    case ActionKind::Emit: {
      const StepRef receiver = schedule_.peer(at.ref, Half::Send);
      const DevicePointer slot = slot_of(at, receiver);
      put(at, slot);
      messages_.at(receiver) = {slot, at.payload.elements};
      return;
    }
    case ActionKind::Free:
      return;  // the credit of a later step says so
  }
}

/// Puts the payload at `target`, combined with the right side if there is one.
void CollectiveBuilder::put(AtWork& at, DevicePointer target) {
  const PartOf part = {members_[at.ref.node.index()].op, at.ref};
  const LogicalId device = this->device(at.ref.node);
  const auto [from, elements] = at.payload;
  if (elements == 0)
    return;
  if (at.right != 0)
    making_.chain({combine_call(folding_, at.step.combine, {target, from, at.right}, elements),
                   device, part, bytes(elements) * 3},
                  at.after);
  else if (target != from)
    making_.chain({Copy{target, from, bytes(elements)}, device, part}, at.after);
}

/// Returns the slot for the step's message: that of the message whose credit it took, or a new one.
DevicePointer CollectiveBuilder::slot_of(AtWork& at, StepRef receiver) {
  if (const std::optional<StepRef> before = schedule_.takes_slot_of(at.ref))
    return messages_.at(*before).at;
  return take_beside(receiver.node, slot_, at.after);
}

void CollectiveBuilder::exit(Node node, const std::optional<ValueType>& type, Dependencies& after) {
  const Member& member = members_[node.index()];
  making_.causes.add(EdgeKind::End, member.entered, after);
  for_each_cause_of_end(schedule_, schedule_.extent(), node, [&](const Cause& cause) {
    making_.causes.add(EdgeKind::End, happened(cause), after);
  });
  if (!type || !member.places.leaves)
    return;
  for (KernelCall& call :
       leaving_calls(collective_, folding_, *type,
                     {member.result, member.places.areas[static_cast<size_t>(Area::Output)]}))
    making_.chain(
        {std::move(call), device(node), {member.op}, bytes(type->shape.elements()) + type->size()},
        after);
}

void CollectiveBuilder::left(Node node, const Frontier& ended) {
  for (const BesideArena& memory : members_[node.index()].beside)
    making_.memory.give_back(memory, ended);
  --members_left_;
}

void CollectiveBuilder::end() {
  const Extent& extent = schedule_.extent();
  for (size_t n = extent.ranks(); n < extent.nodes; ++n) {
    Dependencies after;
    for_each_cause_of_end(schedule_, extent, Node(n),
                          [&](const Cause& cause) { after.add(happened(cause)); });
    const Frontier ended = after.frontier(making_.graph, device(Node(n)), {members_[n].op});
    for (const BesideArena& memory : members_[n].beside)
      making_.memory.give_back(memory, ended);
  }
}

/// Returns the device of a node. Switch nodes are on the device of the first member.
LogicalId CollectiveBuilder::device(Node node) const {
  return collective_.members[collective_.is_member(node) ? node.index() : 0];
}

DevicePointer CollectiveBuilder::address(Node node, const Slice& slice) const {
  const Extent& extent = schedule_.extent();
  ORRERY_CHECK(slice.first >= 0 && slice.count >= 0 &&
                   slice.first <= extent.size(node, slice.area) - slice.count,
               "a schedule's slices lie in its areas");
  return members_[node.index()].places.areas[static_cast<size_t>(slice.area)] +
         static_cast<uint64_t>(bytes(slice.first).count());
}

const Frontier& CollectiveBuilder::happened(const Cause& cause) const {
  if (cause.kind == CauseKind::Enter)
    return members_[cause.step.node.index()].entered;
  return met_at(steps_.at(cause.step), cause);
}

DevicePointer CollectiveBuilder::take_beside(Node node, Bytes size, Dependencies& after) {
  const BesideArena memory = making_.memory.take_beside(device(node), size, after);
  members_[node.index()].beside.push_back(memory);
  return making_.memory.address(memory);
}

}  // namespace orrery::cuda
