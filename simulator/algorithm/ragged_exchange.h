#pragma once

// This exchanges slices of any sizes. Every rank sends to every other over channels of its own, and
// only slices that have elements.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/base/shared_list.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A run of elements that one rank sends to another, or keeps. `source` is its place in the input
/// of `from`, and `target` its place in the output of `to`.
struct ExchangedSlice {
  Node from;
  Node to;
  int64_t source = 0;
  int64_t target = 0;
  int64_t count = 0;
  friend auto operator<=>(const ExchangedSlice&, const ExchangedSlice&) = default;
};

/// It lists the slices that are exchanged.
struct RaggedSlices {
  uint32_t nodes = 1;
  int64_t operand = 0;  // elements of a rank's input that are for slices
  int64_t output = 0;   // elements of a rank's output. The input has as many after the operand's,
                        // which the output keeps where no slice is stored
  /// They ascend in `from`, then in `to`. Each slice has elements. No two slices overlap in an
  /// output.
  SharedList<ExchangedSlice> slices;
};

/// Each distance (to - from) mod n from 0 to n - 1 has its own Transport::channels channels,
/// numbered by distance. On a channel of distance 0 a rank copies its own slices, and the initial
/// elements that its output keeps. On the others it sends and receives by turns, message by
/// message, as long as it has both. So a rank that waits for a message never holds back the slot
/// that the message's sender waits for. Every slice is divided over the channels, and cut by itself
/// to Transport::largest, so a short slice does not wait for a long one to another rank.
class RaggedExchangeSchedule final : public Schedule {
 public:
  RaggedExchangeSchedule(const RaggedSlices& what, Transport transport);

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel channel) const override {
    const uint32_t distance = this->distance(channel);
    if (distance == 0)
      return static_cast<uint32_t>(copies_of(node, channel).size());
    return messages(node, ahead(node, distance), channel) +
           messages(ahead(node, nodes_ - distance), node, channel);
  }

  Step step(StepRef ref) const override;
  StepRef peer(StepRef ref, Half half) const override;
  std::optional<StepRef> takes_slot_of(StepRef ref) const override;
  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override;
  int64_t largest_message() const override { return largest_message_; }

 private:
  struct Copy {
    int64_t source = 0;
    int64_t target = 0;
    int64_t count = 0;
  };
  /// A step of a channel that is no copy: a send or a receive, and the number of its message on its
  /// connection.
  struct Turn {
    bool sends = false;
    uint32_t message = 0;
  };

  void add_copies(const RaggedSlices& what);
  void copy(Node node, const Copy& whole);
  void number_messages();
  void find_window();

  uint32_t distance(Channel channel) const { return channel.index() / transport_.channels; }
  uint32_t part(Channel channel) const { return channel.index() % transport_.channels; }
  Node ahead(Node node, uint32_t distance) const {
    const uint32_t number = node.index() + distance;
    return Node(number < nodes_ ? number : number - nodes_);
  }
  const std::vector<Copy>& copies_of(Node node, Channel channel) const {
    return copies_[size_t{node.index()} * transport_.channels + part(channel)];
  }

  /// Returns the slices from one rank to another, as a range of `slices_`.
  std::pair<size_t, size_t> slices_between(Node from, Node to) const {
    const size_t pair = size_t{from.index()} * nodes_ + to.index();
    return {first_slice_[pair], first_slice_[pair + 1]};
  }
  /// Returns the number of messages on a channel before those of a slice, over all ranks.
  uint32_t messages_before(size_t slice, Channel channel) const {
    return messages_before_[size_t{part(channel)} * (slices_.size() + 1) + slice];
  }
  uint32_t messages(Node from, Node to, Channel channel) const {
    const auto [first, end] = slices_between(from, to);
    return messages_before(end, channel) - messages_before(first, channel);
  }
  /// first_on() and count_on() return the elements of a slice that go over a channel.
  int64_t first_on(size_t slice, Channel channel) const {
    return ChannelParts(slices_[slice].count, transport_).first(part(channel));
  }
  int64_t count_on(size_t slice, Channel channel) const {
    return ChannelParts(slices_[slice].count, transport_).count(part(channel));
  }
  Copy message(Node from, Node to, Channel channel, uint32_t number) const;

  /// Returns the turn of a step on a channel with so many messages to send and to receive.
  /// step_of() is the inverse.
  static Turn turn(uint32_t step, uint32_t sends, uint32_t receives);
  Turn turn(StepRef ref) const;
  uint32_t step_of(Node node, Channel channel, Turn turn) const;

  const uint32_t nodes_;
  const int64_t operand_;
  const Transport transport_;  // its channels are those of each distance
  SharedList<ExchangedSlice> slices_;
  std::vector<size_t> first_slice_;        // per pair of ranks, and one more
  std::vector<uint32_t> messages_before_;  // per channel of a distance: per slice, and one more
  std::vector<std::vector<Copy>> copies_;  // per rank and channel of distance 0
  int64_t largest_message_ = 0;
  Extent extent_;
};

}  // namespace orrery
