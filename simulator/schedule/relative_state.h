#pragma once

// The state of a timed run as of an iteration of a loop, as a sequence of words. Two states are
// equal if what follows is the same: then only the iteration and the instant differ. Each class
// that holds a part of the state adds it in a member append_state(), which says what is left out
// and why that cannot matter.

#include <cstdint>
#include <utility>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/schedule/loop_iterations.h"

namespace orrery {

class RelativeState {
 public:
  /// The state at `now`. `iterations` must outlive this object.
  RelativeState(const LoopIterations& iterations, uint64_t iteration, Instant now)
      : iterations_(iterations), iteration_(static_cast<int64_t>(iteration)), now_(now) {}

  void add(uint64_t word) { words_.push_back(word); }
  void add(const LoopPosition& position) {
    add(position.repeated ? 1 : 0);
    add(static_cast<uint64_t>(position.iteration));
    add(uint64_t{position.index});
  }
  /// How far ahead the instant is; 0 if it is not. For one that is compared only with later ones.
  void add_ahead(Instant at) { add(ahead(at)); }
  uint64_t ahead(Instant at) const {
    return at > now_ ? static_cast<uint64_t>((at - now_).count()) : 0;
  }

  /// Counted from this iteration.
  LoopPosition position(ThreadId thread, uint32_t instruction) const {
    return from_here(iterations_.position(thread, instruction));
  }
  LoopPosition position(CollectiveId collective) const {
    return from_here(iterations_.position(collective));
  }

  Instant now() const { return now_; }
  const std::vector<uint64_t>& words() const { return words_; }
  std::vector<uint64_t> take_words() && { return std::move(words_); }

 private:
  LoopPosition from_here(LoopPosition position) const {
    if (position.repeated)
      position.iteration -= iteration_;
    return position;
  }

  const LoopIterations& iterations_;
  int64_t iteration_;
  Instant now_;
  std::vector<uint64_t> words_;
};

}  // namespace orrery
