#pragma once

// In a `DirectSchedule` every message goes straight from its source to its destination, all at the
// same time. Permutes and broadcasts are made of it.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/base/check.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A node's part in one round: the node sends `source` to `to`, and takes `target` from `from`. If
/// both are the node itself, it copies.
struct DirectExchange {
  std::optional<Node> to;
  Slice source;
  std::optional<Node> from;
  Slice target;
};

/// A DirectSchedule runs rounds of exchanges, all at the same time. Each round has its own
/// Transport::channels channels, numbered round by round, and each channel carries one part of
/// every slice of the round. On a channel a node first sends, then receives, so no node waits for
/// another's order.
class DirectSchedule final : public Schedule {
 public:
  /// In `rounds[round][node]`, the `to` of one node takes what it sends in the same round. `areas`
  /// gives input, output and zero_output; the rest of the extent is filled in.
  DirectSchedule(Extent areas, std::vector<std::vector<DirectExchange>> rounds, Transport transport)
      : rounds_(std::move(rounds)), transport_(transport), extent_(areas) {
    ORRERY_CHECK(!rounds_.empty() && transport.channels > 0 && transport.slots > 0,
                 "there is a round");
    extent_.nodes = static_cast<uint32_t>(rounds_.front().size());
    extent_.channels = static_cast<uint32_t>(rounds_.size()) * transport.channels;
    extent_.slots = transport.slots;
    extent_.window = 1;
    extent_.one_message_a_connection = true;
    extent_.lookback = 1;
    extent_.entry = transport.entry;
    extent_.lockstep = true;
    for (uint32_t round = 0; round < rounds_.size(); ++round) {
      for (uint32_t n = 0; n < extent_.nodes; ++n) {
        const DirectExchange& exchange = rounds_[round][n];
        ORRERY_CHECK(!exchange.to || rounds_[round][exchange.to->index()].from == Node(n),
                     "what is sent is taken");
        extent_.copies |= copies(Node(n), exchange);
        if (exchange.to && !copies(Node(n), exchange))
          largest_message_ =
              std::max(largest_message_, ChannelParts(exchange.source.count, transport_).largest());
        // A node that only receives does so in the row in which the message is sent.
        if (exchange.from && !exchange.to)
          extent_.lockstep = false;
      }
    }
    extent_.works_in_place =
        extent_.input == extent_.output && !extent_.zero_output && !any_sends_and_receives();
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel channel) const override {
    const DirectExchange& exchange = exchange_of(node, channel);
    if (copies(node, exchange))
      return 1;
    return (exchange.to ? 1U : 0U) + (exchange.from ? 1U : 0U);
  }

  Step step(StepRef ref) const override {
    const DirectExchange& exchange = exchange_of(ref.node, ref.channel);
    Step step;
    if (copies(ref.node, exchange)) {
      step.source = part(exchange.source, ref.channel);
      step.target = part(exchange.target, ref.channel);
    } else if (exchange.to && ref.index == 0) {
      step.to = exchange.to;
      step.source = part(exchange.source, ref.channel);
    } else {
      step.from = exchange.from;
      step.target = part(exchange.target, ref.channel);
    }
    return step;
  }

  StepRef peer(StepRef ref, Half half) const override {
    const DirectExchange& exchange = exchange_of(ref.node, ref.channel);
    if (half == Half::Receive)
      return {*exchange.from, ref.channel, 0};
    const Node to = *exchange.to;
    return {to, ref.channel, exchange_of(to, ref.channel).to ? 1U : 0U};
  }

  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    const DirectExchange& exchange = exchange_of(node, channel);
    if (exchange.to && !copies(node, exchange))
      visit(Sent{*exchange.to, 1, part(exchange.source, channel).count});
  }

  int64_t largest_message() const override { return largest_message_; }

 private:
  static bool copies(Node node, const DirectExchange& exchange) { return exchange.to == node; }

  /// Returns whether a node sends to another and receives from one. It may do both in any order.
  bool any_sends_and_receives() const {
    for (uint32_t n = 0; n < extent_.nodes; ++n) {
      bool sends = false;
      bool receives = false;
      for (const std::vector<DirectExchange>& round : rounds_) {
        sends |= round[n].to && round[n].to != Node(n);
        receives |= round[n].from && round[n].from != Node(n);
      }
      if (sends && receives)
        return true;
    }
    return false;
  }

  uint32_t round(Channel channel) const { return channel.index() / transport_.channels; }

  const DirectExchange& exchange_of(Node node, Channel channel) const {
    return rounds_[round(channel)][node.index()];
  }

  /// Returns the channel's part of a slice of its round.
  Slice part(const Slice& whole, Channel channel) const {
    const ChannelParts split(whole.count, transport_);
    const uint32_t part = channel.index() % transport_.channels;
    return {whole.area, whole.first + split.first(part), split.count(part)};
  }

  std::vector<std::vector<DirectExchange>> rounds_;
  Transport transport_;  // its channels are those of each round
  int64_t largest_message_ = 0;
  Extent extent_;
};

/// These are a rank that sends and the rank that receives from it.
struct SourceDestination {
  Node from;
  Node to;
  friend auto operator<=>(const SourceDestination&, const SourceDestination&) = default;
};

/// Makes a schedule in which rank `from` of each pair sends all its `count` elements to rank `to`.
/// Ranks that receive nothing get zeros. Requires unique sources and unique destinations.
std::unique_ptr<DirectSchedule> direct_permute(uint32_t nodes, int64_t count,
                                               const std::vector<SourceDestination>& pairs,
                                               Transport transport);

}  // namespace orrery
