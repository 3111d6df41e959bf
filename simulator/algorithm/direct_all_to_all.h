#pragma once

// In this all-to-all, every rank sends to every other at once, over a channel for each pair.

#include <cstdint>
#include <optional>

#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Rank r sends part q of its input, `part` elements, to rank q, which stores it as part r. Each
/// distance (q - r) mod n from 0 to n - 1 has its own Transport::channels channels, numbered by
/// distance. At distance 0 a rank copies its own part. On the other channels it first sends, then
/// receives, so no node waits for another's order.
class DirectAllToAllSchedule final : public Schedule {
 public:
  DirectAllToAllSchedule(uint32_t nodes, int64_t part, Transport transport)
      : nodes_(nodes), part_(part), channels_(transport.channels), pieces_(part, transport) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    extent_.nodes = nodes;
    extent_.channels = nodes * transport.channels;
    extent_.slots = transport.slots;
    extent_.window = 1;
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.lockstep = true;
    extent_.entry = transport.entry;
    extent_.input = nodes * part;
    extent_.output = nodes * part;
    extent_.copies = true;  // the rank's own part
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node /*node*/, Channel channel) const override {
    return distance(channel) == 0 ? 1 : 2;
  }

  Step step(StepRef ref) const override {
    const uint32_t distance = this->distance(ref.channel);
    Step step;
    if (distance == 0) {
      step.source = slice(Area::Input, ref.node, ref.channel);
      step.target = slice(Area::Output, ref.node, ref.channel);
    } else if (ref.index == 0) {
      step.to = ahead(ref.node, distance);
      step.source = slice(Area::Input, *step.to, ref.channel);
    } else {
      step.from = ahead(ref.node, nodes_ - distance);
      step.target = slice(Area::Output, *step.from, ref.channel);
    }
    return step;
  }

  StepRef peer(StepRef ref, Half half) const override {
    const uint32_t distance = this->distance(ref.channel);
    return half == Half::Send ? StepRef{ahead(ref.node, distance), ref.channel, 1}
                              : StepRef{ahead(ref.node, nodes_ - distance), ref.channel, 0};
  }

  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    const uint32_t distance = this->distance(channel);
    if (distance > 0)
      visit(Sent{ahead(node, distance), 1, pieces_.count(channel.index() % channels_)});
  }

  int64_t largest_message() const override { return nodes_ == 1 ? 0 : pieces_.largest(); }

 private:
  uint32_t distance(Channel channel) const { return channel.index() / channels_; }

  Node ahead(Node node, uint32_t distance) const {
    const uint32_t number = node.index() + distance;
    return Node(number < nodes_ ? number : number - nodes_);
  }

  /// Returns the channel's piece of the part that is for `node`, or from it.
  Slice slice(Area area, Node node, Channel channel) const {
    const uint32_t piece = channel.index() % channels_;
    return {area, node.index() * part_ + pieces_.first(piece), pieces_.count(piece)};
  }

  uint32_t nodes_;
  int64_t part_;
  uint32_t channels_;    // of each distance
  ChannelParts pieces_;  // of a part
  Extent extent_;
};

}  // namespace orrery
