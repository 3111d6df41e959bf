#pragma once

// Finds out when the iterations of a loop repeat in the event engine, where messages of different
// iterations share links. The engine is deterministic: what follows depends only on its state.
// Suppose the states at the ends of two iterations differ only in the iteration and the instant.
// Then the same happens again and again, until a list comes near the end of the loop. So each
// further period of iterations makes everything after it later by the same time.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/loop_iterations.h"
#include "simulator/schedule/relative_state.h"

namespace orrery {

/// So many iterations are as those before, `later`.
struct LoopPeriod {
  uint64_t iterations = 1;
  Duration later;
};

class LoopWatch {
 public:
  /// Looks at iterations until a list has come to the last `window` ones.
  LoopWatch(LoopIterations iterations, uint64_t window);

  const LoopIterations& iterations() const { return iterations_; }

  /// At the end of an instant: whether the first list has come to another iteration, and its state
  /// is to be added.
  bool due(const ListProgress& progress);
  /// The iteration that the first list is in.
  uint64_t iteration() const { return iteration_; }
  void add(RelativeState state);
  void give_up() { over_ = true; }

  /// Empty if none was found.
  const std::optional<LoopPeriod>& period() const { return period_; }

 private:
  struct Seen {
    uint64_t iteration = 0;
    Instant at;
    uint64_t hash = 0;
  };

  LoopIterations iterations_;
  uint64_t window_;
  uint64_t iteration_ = 0;
  bool over_ = false;
  std::deque<Seen> seen_;  // the newest first
  /// A state whose hash was that of the one `every` iterations before, to be compared with the one
  /// as much later.
  struct Candidate {
    Seen seen;
    std::vector<uint64_t> words;
    uint64_t every = 1;
  };
  std::optional<Candidate> candidate_;
  std::optional<LoopPeriod> period_;
};

}  // namespace orrery
