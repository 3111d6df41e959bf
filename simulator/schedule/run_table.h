#pragma once

// What an executor keeps for each run of a collective that is under way. In a loop some members may
// be in later iterations than others, so several runs of one collective may be under way at once.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "simulator/schedule/list_progress.h"

namespace orrery {

template <class T>
class RunTable {
 public:
  explicit RunTable(size_t collectives) : of_(collectives) {}

  /// The slot of the run; a new one, with an empty T, if it has none.
  uint32_t slot(CollectiveRun run) {
    std::vector<uint32_t>& own = of_[run.collective.index()];
    for (const uint32_t slot : own)
      if (slots_[slot].run.iteration == run.iteration)
        return slot;
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].run = run;
    own.push_back(slot);
    return slot;
  }

  /// Valid until the slot is erased.
  T& operator[](uint32_t slot) { return slots_[slot].value; }
  const T& operator[](uint32_t slot) const { return slots_[slot].value; }
  const CollectiveRun& run(uint32_t slot) const { return slots_[slot].run; }

  void erase(uint32_t slot) {
    std::erase(of_[slots_[slot].run.collective.index()], slot);
    slots_[slot].value = T();
    free_.push_back(slot);
  }

  /// The slots in use, by collective.
  template <class Visit>
  void for_each_slot(Visit&& visit) const {
    for (const std::vector<uint32_t>& own : of_)
      for (const uint32_t slot : own)
        visit(slot);
  }

  /// Makes a run one of a later iteration.
  void move(uint32_t slot, uint64_t iterations) { slots_[slot].run.iteration += iterations; }

 private:
  struct Slot {
    CollectiveRun run;
    T value;
  };

  std::deque<Slot> slots_;
  std::vector<uint32_t> free_;
  std::vector<std::vector<uint32_t>> of_;  // per collective: its slots in use
};

}  // namespace orrery
