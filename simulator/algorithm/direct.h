#pragma once

// Every message straight from where it is to where it shall be, all at once: what permutes
// and broadcasts are made of.

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

/// A node's part in one round: it sends `source` to `to`, and takes `target` from `from`. Where
/// both are the node itself, it copies.
struct Exchange {
  std::optional<Node> to;
  Slice source;
  std::optional<Node> from;
  Slice target;
};

/// Rounds of turns. All rounds run side by side, each over channels of its own: first the send,
/// then the receive, so that no node waits for another's order.
class DirectSchedule final : public Schedule {
 public:
  /// `rounds[round][node]`; what one node sends in a round, `to` takes from it in that round.
  /// `areas` says input, output and zero_output; the rest of the extent is filled in.
  DirectSchedule(Extent areas, std::vector<std::vector<Exchange>> rounds, Transport transport)
      : rounds_(std::move(rounds)), parts_(transport.channels), extent_(areas) {
    ORRERY_CHECK(!rounds_.empty() && transport.channels > 0 && transport.slots > 0,
                 "there is a round");
    extent_.nodes = static_cast<uint32_t>(rounds_.front().size());
    extent_.channels = static_cast<uint32_t>(rounds_.size()) * transport.channels;
    extent_.slots = transport.slots;
    extent_.window = 1;
    extent_.reach = 1;
    extent_.entry = transport.entry;
    extent_.lockstep = true;
    for (uint32_t round = 0; round < rounds_.size(); ++round) {
      for (uint32_t n = 0; n < extent_.nodes; ++n) {
        const Exchange& exchange = rounds_[round][n];
        ORRERY_CHECK(!exchange.to || rounds_[round][exchange.to->index()].from == Node(n),
                     "what is sent is taken");
        extent_.copies |= copies(Node(n), exchange);
        // A node that only receives does so in the row in which the message is sent.
        if (exchange.from && !exchange.to)
          extent_.lockstep = false;
      }
    }
  }

  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node node, Channel channel) const override {
    const Exchange& exchange = exchange_of(node, channel);
    if (copies(node, exchange))
      return 1;
    return (exchange.to ? 1U : 0U) + (exchange.from ? 1U : 0U);
  }

  Step step(StepRef ref) const override {
    const Exchange& exchange = exchange_of(ref.node, ref.channel);
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
    const Exchange& exchange = exchange_of(ref.node, ref.channel);
    if (half == Half::Receive)
      return {*exchange.from, ref.channel, 0};
    const Node to = *exchange.to;
    return {to, ref.channel, exchange_of(to, ref.channel).to ? 1U : 0U};
  }

  void for_each_receiver(Node node, Channel channel,
                         FunctionRef<void(const Sent&)> visit) const override {
    const Exchange& exchange = exchange_of(node, channel);
    if (exchange.to && !copies(node, exchange))
      visit(Sent{*exchange.to, 1, part(exchange.source, channel).count});
  }

  /// A connection has one message.
  std::optional<StepRef> takes_slot_of(StepRef /*ref*/) const override { return std::nullopt; }

 private:
  static bool copies(Node node, const Exchange& exchange) { return exchange.to == node; }

  const Exchange& exchange_of(Node node, Channel channel) const {
    return rounds_[channel.index() / parts_][node.index()];
  }

  Slice part(const Slice& whole, Channel channel) const {
    const Split split(whole.count, parts_);
    const uint32_t place = channel.index() % parts_;
    return {whole.area, whole.first + split.first(place), split.count(place)};
  }

  std::vector<std::vector<Exchange>> rounds_;
  uint32_t parts_;  // channels of a round
  Extent extent_;
};

/// A rank and the rank that gets what it has.
struct SourceDestination {
  Node from;
  Node to;
  friend auto operator<=>(const SourceDestination&, const SourceDestination&) = default;
};

/// Rank `from` of each pair sends all its `count` elements to rank `to`; others get zeros. Sources
/// are unique, destinations too.
std::unique_ptr<DirectSchedule> direct_permute(uint32_t nodes, int64_t count,
                                               const std::vector<SourceDestination>& pairs,
                                               Transport transport);

}  // namespace orrery
