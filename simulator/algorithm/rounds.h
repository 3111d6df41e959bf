#pragma once

// Algorithms that go in rounds use this. In a round every rank sends to one rank and receives from
// one, as many messages each way. (Algorithms in turns have one message each way: pairwise.h.)

#include <algorithm>
#include <cstdint>

#include "models/base/quantity.h"
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

}  // namespace orrery
