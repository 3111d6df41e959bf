#pragma once

// A PeriodFinder finds out when a long run repeats itself. The rest of a run depends only on its
// state. So if a state equals an earlier one, the same happens again and again, until something
// ends that is not part of the states, such as a loop.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "models/base/hash.h"

namespace orrery {

/// A LookPace says when to look at a state. A look takes as long as the state has words, and what
/// runs ahead makes the state grow. Looks then become rare, and together take no longer than what
/// happens between them.
class LookPace {
 public:
  /// `steps` counts what has happened so far: events, or instructions of lists.
  bool is_due(uint64_t steps) const { return (steps - steps_) * kWordsPerStep >= words_; }
  void looked(uint64_t steps, size_t words) {
    steps_ = steps;
    words_ = words;
  }

 private:
  /// So many words of a state take about as long as a step.
  static constexpr uint64_t kWordsPerStep = 16;

  uint64_t steps_ = 0;  // at the last look
  uint64_t words_ = 0;  // of the last look
};

/// Most states are kept as hashes. If a hash comes again after n looks (at most 64), the whole
/// state is kept with a Snapshot, and compared with the state n looks later. Only then is it known
/// that n looks are a period.
template <class Snapshot>
class PeriodFinder {
 public:
  /// Looks at the next state. `words` must be equal for two states exactly if the same follows
  /// both. Returns the snapshot of an earlier state that is known to equal this one, if there is
  /// one. `take` makes the snapshot of this state.
  template <class Take>
  std::optional<Snapshot> look(const std::vector<uint64_t>& words, Take&& take) {
    ++looks_;
    if (candidate_ && looks_ == candidate_->at + candidate_->every) {
      const bool equal = words == candidate_->words;
      std::optional<Snapshot> found(std::move(candidate_->snapshot));
      candidate_.reset();
      if (equal) {
        seen_.clear();
        return found;
      }
    }
    Hasher hasher;
    for (const uint64_t word : words)
      hasher.add(word);
    const uint64_t hash = hasher.word();
    const auto same = std::find(seen_.begin(), seen_.end(), hash);
    if (!candidate_ && same != seen_.end())
      candidate_ = {looks_, static_cast<uint64_t>(same - seen_.begin()) + 1, words, take()};
    seen_.push_front(hash);
    if (seen_.size() > kLongest)
      seen_.pop_back();
    return std::nullopt;
  }

  /// Returns whether a state is kept, to be compared with a later one.
  bool is_comparing() const { return candidate_.has_value(); }
  /// Returns whether the state of the last look is kept for that.
  bool has_begun_comparing() const { return candidate_ && candidate_->at == looks_; }

 private:
  static constexpr size_t kLongest = 64;  // looks of a period

  struct Candidate {
    uint64_t at = 0;
    uint64_t every = 1;
    std::vector<uint64_t> words;
    Snapshot snapshot;
  };

  uint64_t looks_ = 0;
  std::deque<uint64_t> seen_;  // hashes, the newest first
  std::optional<Candidate> candidate_;
};

}  // namespace orrery
