#pragma once

// Algorithms that go in rounds use this. In a round every rank sends to one rank and receives from
// one, as many messages each way. (Algorithms in turns have one message each way: pairwise.h.)

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/array/combine.h"
#include "models/base/check.h"
#include "models/base/quantity.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Returns how many messages of at most `largest` elements a run of elements is cut to; one message
/// if it has no elements, or if `largest` is 0. Requires fewer than 2^31.
inline uint32_t messages_of(int64_t elements, int64_t largest) {
  if (largest == 0 || elements <= largest)
    return 1;
  return static_cast<uint32_t>(ceil_divide(elements, largest));
}

/// Returns the elements of the `number`-th of these messages. It is empty behind the run's end.
inline Slice message_of(Slice run, int64_t largest, uint32_t number) {
  if (largest == 0)
    return run;
  const int64_t begin = std::min(run.count, number * largest);
  return {run.area, run.first + begin, std::min(largest, run.count - begin)};
}

/// A Round has the steps of one round on one channel: sends, and as many receives. A rank first
/// sends a message for each slot of the connection. Then it receives one before each further one
/// that it sends, and at last it receives the rest. So links are busy while messages are on the
/// way. No send waits for a slot that the receiver frees only after a later send of the same round.
class Round {
 public:
  struct Turn {
    bool sends;
    uint32_t message;
  };

  /// `first` is the number of the round's first step.
  Round(uint32_t first, uint32_t messages, uint32_t slots)
      : first_(first), messages_(messages), ahead_(std::min(messages, slots)) {}

  uint32_t first() const { return first_; }
  uint32_t messages() const { return messages_; }  // each way
  uint32_t end() const { return first_ + 2 * messages_; }

  /// send() and receive() return the step of a message, and turn() is their inverse.
  uint32_t send(uint32_t message) const {
    return first_ + (message < ahead_ ? message : 2 * message - ahead_ + 1);
  }
  uint32_t receive(uint32_t message) const {
    return first_ + std::min(ahead_ + 2 * message, messages_ + message);
  }
  Turn turn(uint32_t step) const {
    const uint32_t at = step - first_;
    if (at < ahead_)
      return {true, at};
    const uint32_t since = at - ahead_;
    if (since >= 2 * (messages_ - ahead_))
      return {false, at - messages_};
    return since % 2 == 0 ? Turn{false, since / 2} : Turn{true, ahead_ + since / 2};
  }

  /// Returns how many steps before its receive a message is sent, at most.
  uint32_t lookback() const { return std::min(2 * ahead_ - 1, messages_); }

 private:
  uint32_t first_;
  uint32_t messages_;
  uint32_t ahead_;  // so many sends come before the first receive
};

/// Algorithms in which all ranks do the same derive from ShiftedRounds: in a round, rank r sends to
/// rank r + d and receives from rank r - d (mod n), for some distance d.
///
/// Ranks send and fold parts that lie in scratch, one part of `part` elements after another. A
/// channel takes its share of each part, and its shares lie together. A channel has copies before
/// each round and at the end; derived classes say what these copy. A group of one has copies only.
class ShiftedRounds : public Schedule {
 public:
  const Extent& extent() const override { return extent_; }

  uint32_t steps(Node /*node*/, Channel channel) const override {
    return rounds_end(channel) + copies_at_end_;
  }

  StepRef peer(StepRef ref, Half half) const override {
    const At at = place_of(ref);
    const Round& round = lanes_[ref.channel.index()][at.round];
    return half == Half::Send ? StepRef{ahead(ref.node, shifts_[at.round].distance), ref.channel,
                                        round.receive(at.number)}
                              : StepRef{behind(ref.node, shifts_[at.round].distance), ref.channel,
                                        round.send(at.number)};
  }

  /// No two rounds have the same distance, so each has connections of its own.
  std::optional<StepRef> takes_slot_of(StepRef ref) const override {
    const At at = place_of(ref);
    if (at.number < extent_.slots)
      return std::nullopt;
    return StepRef{ahead(ref.node, shifts_[at.round].distance), ref.channel,
                   lanes_[ref.channel.index()][at.round].receive(at.number - extent_.slots)};
  }

  int64_t largest_message() const override {
    int64_t parts = 0;
    for (const Shift& shift : shifts_)
      for (const Run& run : shift.runs)
        parts = std::max(parts, int64_t{run.count});
    const int64_t most = parts * shares_.largest();
    return largest_ == 0 ? most : std::min(most, largest_);
  }

 protected:
  /// A Run is a run of parts that are sent together: `count` parts in scratch from part `sent` of
  /// the sender on, to part `taken` of the receiver.
  struct Run {
    uint32_t sent;
    uint32_t taken;
    uint32_t count;
  };
  struct Shift {
    uint32_t distance;
    std::vector<Run> runs;
    uint32_t copies = 0;  // before the round
  };
  enum class Does : uint8_t { Copy, Send, Receive };
  struct At {
    Does does;
    uint32_t round;   // that of the messages, or before which is the copy; behind the last: the end
    uint32_t number;  // of the copy or message there
  };

  /// How many parts a rank has in each area.
  struct Parts {
    uint32_t input = 0;
    uint32_t output = 0;
    uint32_t scratch = 0;
  };
  /// With a `combine`, a rank folds what it receives into its own parts.
  ShiftedRounds(uint32_t nodes, int64_t part, Parts parts, std::vector<Shift> shifts,
                uint32_t copies_at_end, Combine combine, Transport transport)
      : nodes_(nodes),
        part_(part),
        scratch_(parts.scratch),
        shares_(part, transport.channels),
        shifts_(std::move(shifts)),
        copies_at_end_(copies_at_end),
        largest_(transport.largest),
        combine_(combine) {
    ORRERY_CHECK(nodes > 0 && transport.channels > 0 && transport.slots > 0, "a group has a node");
    extent_.nodes = nodes;
    extent_.channels = transport.channels;
    extent_.slots = transport.slots;
    extent_.one_message_a_connection = true;  // unless a round below has more
    extent_.lookback = 1;
    extent_.lockstep = true;
    extent_.entry = transport.entry;
    extent_.fused = FusedStep::StoreAndForward;
    extent_.input = parts.input * part;
    extent_.output = parts.output * part;
    extent_.scratch = parts.scratch * part;
    extent_.copies = true;
    for (uint32_t c = 0; c < transport.channels; ++c) {
      add_lane(c);
      extent_.window = std::max(extent_.window, steps(Node(0), Channel(c)));
    }
  }

  uint32_t nodes() const { return nodes_; }
  uint32_t rounds() const { return static_cast<uint32_t>(shifts_.size()); }
  int64_t largest() const { return largest_; }
  Combine combine() const { return combine_; }

  Node ahead(Node node, uint32_t distance) const {
    const uint32_t number = node.index() + distance;
    return Node(number < nodes_ ? number : number - nodes_);
  }
  Node behind(Node node, uint32_t distance) const {
    return Node(node.index() < distance ? node.index() + nodes_ - distance
                                        : node.index() - distance);
  }

  At place_of(StepRef ref) const {
    const std::vector<Round>& rounds = lanes_[ref.channel.index()];
    const auto found = std::partition_point(
        rounds.begin(), rounds.end(), [&](const Round& round) { return round.end() <= ref.index; });
    const auto round = static_cast<uint32_t>(found - rounds.begin());
    if (found == rounds.end() || ref.index < found->first())
      return {Does::Copy, round, ref.index - (round == 0 ? 0 : rounds[round - 1].end())};
    const Round::Turn turn = found->turn(ref.index);
    return {turn.sends ? Does::Send : Does::Receive, round, turn.message};
  }

  /// Returns the step that sends or receives the message.
  Step message_step(StepRef ref, At at) const {
    const Shift& shift = shifts_[at.round];
    const int64_t width = shares_.count(ref.channel.index());
    uint32_t number = at.number;
    size_t r = 0;
    for (; number >= messages_of(shift.runs[r].count * width, largest_); ++r)
      number -= messages_of(shift.runs[r].count * width, largest_);
    const Run& run = shift.runs[r];
    const auto slice = [&](uint32_t part) {
      Slice all = in_scratch(ref.channel, part);
      all.count = run.count * width;
      return message_of(all, largest_, number);
    };
    Step step;
    if (at.does == Does::Send) {
      step.to = ahead(ref.node, shift.distance);
      step.source = slice(run.sent);
      return step;
    }
    step.from = behind(ref.node, shift.distance);
    step.target = slice(run.taken);
    step.combine = combine_;
    if (combine_ != Combine::None)
      step.source = step.target;
    return step;
  }

  /// Returns the channel's share of a part in scratch.
  Slice in_scratch(Channel channel, uint32_t part) const {
    const int64_t width = shares_.count(channel.index());
    return {Area::Scratch, scratch_ * shares_.first(channel.index()) + part * width, width};
  }
  /// Returns the channel's share of a part in the input or output.
  Slice in_area(Area area, Channel channel, uint32_t part) const {
    return {area, part * part_ + shares_.first(channel.index()), shares_.count(channel.index())};
  }

 private:
  void add_lane(uint32_t channel) {
    std::vector<Round> rounds;
    for (const Shift& shift : shifts_) {
      uint32_t messages = 0;
      for (const Run& run : shift.runs)
        messages += messages_of(run.count * shares_.count(channel), largest_);
      extent_.one_message_a_connection &= messages == 1;
      rounds.emplace_back((rounds.empty() ? 0 : rounds.back().end()) + shift.copies, messages,
                          extent_.slots);
      extent_.lookback = std::max(extent_.lookback, rounds.back().lookback());
    }
    lanes_.push_back(std::move(rounds));
  }

  uint32_t rounds_end(Channel channel) const {
    const std::vector<Round>& rounds = lanes_[channel.index()];
    return rounds.empty() ? 0 : rounds.back().end();
  }

  uint32_t nodes_;
  int64_t part_;
  uint32_t scratch_;  // parts
  Split shares_;      // of a part, per channel
  std::vector<Shift> shifts_;
  uint32_t copies_at_end_;
  int64_t largest_;  // elements of a message; 0: no limit
  Combine combine_;
  std::vector<std::vector<Round>> lanes_;  // per channel
  Extent extent_;
};

}  // namespace orrery
