#pragma once

// This is the all-reduce by recursive doubling (Thakur, Rabenseifner and Gropp, "Optimization of
// collective communication operations in MPICH", 2005). In round j, ranks whose numbers differ in
// bit j exchange all their elements. There are few messages, each of the full size, so it suits
// small operands.
//
// Let p be the largest power of two not above n. Each of the n - p surplus ranks r first sends its
// input to rank r - p, and gets the result from it at the end. A node keeps its partial result in
// its output. The receive half of a round overwrites it only after the send half of the round
// before, which comes first in the order of the channel.

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A RecursiveDoublingSchedule has `count` elements in and out. Each channel exchanges its own part
/// of them. Ranks combine in pairs, so all get the same bits if the reduction is commutative. Step
/// i of a rank below p receives in round i - 1 and sends in round i. A surplus rank has the steps
/// s, r.
class RecursiveDoublingSchedule final : public Schedule {
 public:
  RecursiveDoublingSchedule(uint32_t nodes, int64_t count, Combine combine, Transport transport)
      : core_(std::bit_floor(nodes)),
        surplus_(nodes - core_),
        rounds_(static_cast<uint32_t>(std::bit_width(core_)) - 1),
        combine_(combine),
        parts_(count, transport.channels) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    ORRERY_CHECK(combine != Combine::None, "an all-reduce reduces");
    extent_.nodes = nodes;
    extent_.channels = transport.channels;
    extent_.slots = transport.slots;
    extent_.window = rounds_ + 1;
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.lockstep =
        surplus_ == 0;  // else rank r - p receives a message in the row that sends it
    extent_.entry = transport.entry;
    extent_.input = count;
    extent_.output = count;
    extent_.copies = true;
    extent_.works_in_place = true;  // each element is read before it is stored
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel /*channel*/) const override {
    return is_surplus(node) ? 2 : rounds_ + 1;
  }

  Step step(StepRef ref) const override {
    const int64_t first = parts_.first(ref.channel.index());
    const int64_t count = parts_.count(ref.channel.index());
    Step step;
    step.from = sender(ref);
    step.to = receiver(ref);
    if (is_surplus(ref.node)) {
      if (step.from)
        step.target = Slice{Area::Output, first, count};
      else
        step.source = Slice{Area::Input, first, count};
      return step;
    }
    step.source = Slice{ref.index == 0 ? Area::Input : Area::Output, first, count};
    step.target = Slice{Area::Output, first, count};
    step.combine = step.from ? combine_ : Combine::None;
    return step;
  }

  StepRef peer(StepRef ref, Half half) const override {
    if (half == Half::Send) {
      const Node to = *receiver(ref);
      if (is_surplus(ref.node))
        return {to, ref.channel, 0};
      return {to, ref.channel, is_surplus(to) ? 1 : ref.index + 1};
    }
    const Node from = *sender(ref);
    if (is_surplus(ref.node))
      return {from, ref.channel, rounds_};
    return {from, ref.channel, is_surplus(from) ? 0 : ref.index - 1};
  }

  int64_t largest_message() const override { return extent_.nodes == 1 ? 0 : parts_.largest(); }

 private:
  bool is_surplus(Node node) const { return node.index() >= core_; }
  /// Returns the surplus rank of a rank below p, if it has one.
  std::optional<Node> folded(Node node) const {
    if (node.index() >= surplus_)
      return std::nullopt;
    return Node(node.index() + core_);
  }

  std::optional<Node> sender(StepRef ref) const {
    const uint32_t rank = ref.node.index();
    if (is_surplus(ref.node))
      return ref.index == 1 ? std::optional(Node(rank - core_)) : std::nullopt;
    return ref.index == 0 ? folded(ref.node) : Node(rank ^ (1U << (ref.index - 1)));
  }

  std::optional<Node> receiver(StepRef ref) const {
    const uint32_t rank = ref.node.index();
    if (is_surplus(ref.node))
      return ref.index == 0 ? std::optional(Node(rank - core_)) : std::nullopt;
    return ref.index == rounds_ ? folded(ref.node) : Node(rank ^ (1U << ref.index));
  }

  uint32_t core_;     // p
  uint32_t surplus_;  // n - p
  uint32_t rounds_;   // log2 p
  Combine combine_;
  Split parts_;  // per channel
  Extent extent_;
};

}  // namespace orrery
