#pragma once

// In a `OneShotSchedule` every rank gets the operands of all ranks, and folds them itself in the
// order of the group, (x[0] + x[1]) + x[2] + ... So each rank makes the same bits, those of a left
// fold. (Libraries do it for small messages: TensorRT-LLM's one-shot all-reduce, vLLM's custom
// all-reduce.)

#include <cstdint>
#include <optional>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Each distance (q - r) mod n from 0 to n - 1 has its own Transport::channels channels, numbered
/// by distance. On a channel of distance d >= 1, rank r first sends to rank r + d, and then
/// receives from rank r - d. It sends the part of its input that the receiver needs. It keeps what
/// it receives in its scratch area, which has room for each other rank. On a channel of distance 0
/// it copies x[0] to its output and then adds the others rank by rank, each once it is there.
///
///  - all-reduce: a rank needs every input whole.
///  - reduce-scatter: a rank needs its own part of every input.
class OneShotSchedule final : public Schedule {
 public:
  enum class Form : uint8_t { AllReduce, ReduceScatter };

  /// The input has `count` canonical elements. The ranks divide those of a reduce-scatter.
  OneShotSchedule(Form form, uint32_t nodes, int64_t count, Combine combine, Transport transport)
      : nodes_(nodes),
        scatters_(form == Form::ReduceScatter),
        result_(scatters_ ? count / nodes : count),
        combine_(combine),
        channels_(transport.channels),
        pieces_(result_, transport) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    ORRERY_CHECK(combine != Combine::None, "only a reduction reduces");
    extent_.nodes = nodes;
    extent_.channels = nodes * transport.channels;
    extent_.slots = transport.slots;
    extent_.window = 1;
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.entry = transport.entry;
    extent_.input = count;
    extent_.output = result_;
    extent_.scratch = (nodes - 1) * result_;
    extent_.copies = true;  // x[0]
    extent_.works_in_place = !scatters_ && nodes == 1;
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node /*node*/, Channel channel) const override {
    return distance(channel) == 0 ? nodes_ : 2;
  }

  Step step(StepRef ref) const override {
    const uint32_t distance = this->distance(ref.channel);
    if (distance == 0)
      return fold(ref);
    Step step;
    if (ref.index == 0) {
      step.to = ahead(ref.node, distance);
      step.source = input(*step.to, ref.channel);
    } else {
      step.from = ahead(ref.node, nodes_ - distance);
      step.target = kept(ref.node, *step.from, ref.channel);
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

  /// Returns how far ahead of `from` the node is.
  uint32_t distance(Node from, Node node) const {
    return node.index() >= from.index() ? node.index() - from.index()
                                        : node.index() + nodes_ - from.index();
  }

  /// Returns the step that adds x[ref.index], of the rank of that number, to the output.
  Step fold(StepRef ref) const {
    const Node rank(ref.index);
    Step step;
    if (rank == ref.node) {
      step.source = input(ref.node, ref.channel);
    } else {
      step.source = kept(ref.node, rank, ref.channel);
      const uint32_t from = distance(rank, ref.node) * channels_;
      step.after = StepRef{ref.node, Channel(from + ref.channel.index()), 1};
    }
    step.target = piece(Area::Output, 0, ref.channel);
    if (ref.index > 0)
      step.combine = combine_;
    return step;
  }

  /// Returns the channel's piece of `result_` elements from `first` on.
  Slice piece(Area area, int64_t first, Channel channel) const {
    const uint32_t number = channel.index() % channels_;
    return {area, first + pieces_.first(number), pieces_.count(number)};
  }
  /// Returns the part of an input that `receiver` needs.
  Slice input(Node receiver, Channel channel) const {
    return piece(Area::Input, scatters_ ? receiver.index() * result_ : 0, channel);
  }
  /// Returns where `node` keeps the part that it got from another rank.
  Slice kept(Node node, Node from, Channel channel) const {
    return piece(Area::Scratch, (distance(from, node) - 1) * result_, channel);
  }

  uint32_t nodes_;
  bool scatters_;
  int64_t result_;  // elements
  Combine combine_;
  uint32_t channels_;    // of each distance
  ChannelParts pieces_;  // of a result
  Extent extent_;
};

}  // namespace orrery
