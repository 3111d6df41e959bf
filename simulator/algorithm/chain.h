#pragma once

// A `ChainSchedule` broadcasts along a chain, as NCCL's ring broadcast does
// (src/device/broadcast.h). The ranks stand in a chain that begins at the source, in the order of
// the channel and round the group. Each rank receives the message of the rank before it, stores it
// and sends it on to the next.
//
// If messages are cut to slots, a rank sends one piece while it receives the next. Let a message
// that has its link to itself take t plus the latency of the link. With enough slots for the
// latency, a broadcast then ends after
//  - uncut: (n-1) (t + latency)
//  - cut to m pieces of equal size: (m + n-2) t/m + (n-1) latency

#include <cstdint>
#include <optional>

#include "models/base/check.h"
#include "models/base/compiler.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/algorithm/ring.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A ChainSchedule has `count` elements in and out. Each channel is a chain for its part of the
/// elements, and a node has one step on it: the source copies and sends, and the last rank only
/// receives. With one node the input is copied to the output.
class ChainSchedule final : public Schedule {
 public:
  /// Requires that `source` is one of the nodes.
  ChainSchedule(uint32_t nodes, int64_t count, Node source, Transport transport,
                const SharedList<SharedList<uint32_t>>& orders = {})
      : nodes_(nodes),
        source_(source),
        parts_(count, transport.channels),
        orders_(nodes, orders, transport.channels, transport.channels) {
    ORRERY_CHECK(source.index() < nodes && transport.channels > 0 && transport.slots > 0,
                 "a chain begins at a node");
    extent_.nodes = nodes;
    extent_.channels = transport.channels;
    extent_.slots = transport.slots;
    extent_.window = 1;
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.lockstep = nodes == 1;  // else messages arrive in the row that sends them
    extent_.entry = transport.entry;
    extent_.input = count;
    extent_.output = count;
    extent_.copies = true;          // the source
    extent_.works_in_place = true;  // only the source reads its input, and it stores the same there
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node /*node*/, Channel /*channel*/) const override { return 1; }

  ORRERY_ALWAYS_INLINE Step step(StepRef ref) const override {
    const int64_t first = parts_.first(ref.channel.index());
    const int64_t count = parts_.count(ref.channel.index());
    Step step;
    if (ref.node == source_)
      step.source = Slice{Area::Input, first, count};
    else
      step.from = orders_.before(ref.node, ref.channel);
    if (sends(ref.node, ref.channel))
      step.to = orders_.after(ref.node, ref.channel);
    step.target = Slice{Area::Output, first, count};
    return step;
  }

  ORRERY_ALWAYS_INLINE StepRef peer(StepRef ref, Half half) const override {
    return {half == Half::Send ? orders_.after(ref.node, ref.channel)
                               : orders_.before(ref.node, ref.channel),
            ref.channel, 0};
  }

  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    if (sends(node, channel))
      visit(Sent{orders_.after(node, channel), 1, parts_.count(channel.index())});
  }

  int64_t largest_message() const override { return nodes_ == 1 ? 0 : parts_.largest(); }

 private:
  /// Returns true for each node but the last of the chain.
  bool sends(Node node, Channel channel) const { return orders_.after(node, channel) != source_; }

  uint32_t nodes_;
  Node source_;
  Split parts_;  // per channel
  RankOrders orders_;
  Extent extent_;
};

}  // namespace orrery
