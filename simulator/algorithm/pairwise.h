#pragma once

// This all-to-all goes in turns. In turn j rank r sends to rank r + j and receives from rank r - j
// (mod n), so no rank receives two messages in one turn. It serves groups too large for a channel
// per pair.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Parts are as in DirectAllToAllSchedule. A channel first copies the rank's own part. Then for
/// each distance j from 1 to n - 1 it has a send (step 2j - 1) and a receive (step 2j).
class PairwiseSchedule final : public Schedule {
 public:
  PairwiseSchedule(uint32_t nodes, int64_t part, Transport transport)
      : nodes_(nodes), part_(part), pieces_(part, transport) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    extent_.nodes = nodes;
    extent_.channels = transport.channels;
    extent_.slots = transport.slots;
    extent_.window = 2 * (nodes - 1) + 1;  // messages of many turns can wait for a late rank
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.lockstep = true;
    extent_.entry = transport.entry;
    extent_.input = nodes * part;
    extent_.output = nodes * part;
    extent_.copies = true;
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node /*node*/, Channel /*channel*/) const override { return 2 * nodes_ - 1; }

  Step step(StepRef ref) const override {
    const int64_t first = pieces_.first(ref.channel.index());
    const int64_t count = pieces_.count(ref.channel.index());
    Step step;
    if (ref.index % 2 == 1) {
      step.to = ahead(ref.node, turn(ref));
      step.source = Slice{Area::Input, step.to->index() * part_ + first, count};
      return step;
    }
    const Node from = behind(ref.node, turn(ref));
    step.target = Slice{Area::Output, from.index() * part_ + first, count};
    if (ref.index == 0)
      step.source = Slice{Area::Input, ref.node.index() * part_ + first, count};
    else
      step.from = from;
    return step;
  }

  StepRef peer(StepRef ref, Half half) const override {
    return half == Half::Send ? StepRef{ahead(ref.node, turn(ref)), ref.channel, ref.index + 1}
                              : StepRef{behind(ref.node, turn(ref)), ref.channel, ref.index - 1};
  }

  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    for (uint32_t to = 0; to < nodes_; ++to)
      if (Node(to) != node)
        visit(Sent{Node(to), 1, pieces_.count(channel.index())});
  }

  int64_t largest_message() const override { return nodes_ == 1 ? 0 : pieces_.largest(); }

 private:
  static uint32_t turn(StepRef ref) { return (ref.index + 1) / 2; }
  Node ahead(Node node, uint32_t distance) const {
    const uint32_t number = node.index() + distance;
    return Node(number < nodes_ ? number : number - nodes_);
  }
  Node behind(Node node, uint32_t distance) const {
    return Node(node.index() < distance ? node.index() + nodes_ - distance
                                        : node.index() - distance);
  }

  uint32_t nodes_;
  int64_t part_;
  ChannelParts pieces_;  // of a part, per channel
  Extent extent_;
};

}  // namespace orrery
