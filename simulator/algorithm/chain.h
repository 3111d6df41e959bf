#pragma once

// A broadcast along a chain: each rank passes on what it gets to the next. Whole messages make it
// slow; cut to slots, they follow each other through the chain, and it takes little longer than one
// transfer. (NCCL's ring broadcast.)

#include <cstdint>
#include <optional>

#include "models/base/check.h"
#include "models/base/inline.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// `count` elements of `source` go to all ranks, in the order source, source + 1, ..., around. Each
/// channel carries one part of them, in one step of each node: the source copies and sends (in
/// MSCCL's terms cpy and s), the others receive, store and send (rcs), the last only receives (r).
class ChainSchedule final : public Schedule {
 public:
  static constexpr FusedStep kFused = FusedStep::StoreAndForward;

  ChainSchedule(uint32_t nodes, int64_t count, Node source, Transport transport)
      : nodes_(nodes), source_(source), parts_(count, transport.channels) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a chain has a node");
    extent_.nodes = nodes;
    extent_.channels = transport.channels;
    extent_.slots = transport.slots;
    extent_.window = 1;
    extent_.lookback = 1;
    // A node waits for the message that the one before sends in the same row.
    extent_.lockstep = nodes == 1;
    extent_.entry = transport.entry;
    extent_.fused = kFused;
    extent_.input = count;
    extent_.output = count;
    extent_.copies = true;
    extent_.works_in_place = true;
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node /*node*/, Channel /*channel*/) const override { return 1; }

  ORRERY_ALWAYS_INLINE Step step(StepRef ref) const override {
    const int64_t part = ref.channel.index();
    const uint32_t position = position_of(ref.node);
    Step step;
    if (position > 0)
      step.from = at(position - 1);
    else
      step.source = Slice{Area::Input, parts_.first(part), parts_.count(part)};
    if (position + 1 < nodes_)
      step.to = at(position + 1);
    step.target = Slice{Area::Output, parts_.first(part), parts_.count(part)};
    return step;
  }

  ORRERY_ALWAYS_INLINE StepRef peer(StepRef ref, Half half) const override {
    const uint32_t position = position_of(ref.node);
    return {at(half == Half::Send ? position + 1 : position - 1), ref.channel, 0};
  }

  std::optional<StepRef> takes_slot_of(StepRef /*ref*/) const override { return std::nullopt; }

  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    const uint32_t position = position_of(node);
    if (position + 1 < nodes_)
      visit(Sent{at(position + 1), 1, parts_.count(channel.index())});
  }

  int64_t largest_message() const override { return nodes_ > 1 ? parts_.largest() : 0; }
  bool one_message_a_connection() const override { return true; }

 private:
  uint32_t position_of(Node node) const {
    return (node.index() + nodes_ - source_.index()) % nodes_;
  }
  Node at(uint32_t position) const { return Node((source_.index() + position) % nodes_); }

  uint32_t nodes_;
  Node source_;
  Split parts_;
  Extent extent_;
};

}  // namespace orrery
