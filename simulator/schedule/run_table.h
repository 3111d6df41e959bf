#pragma once

// A RunTable has what an executor keeps per run of a collective under way. In a loop some members
// may be in later iterations than others, so several runs of one collective may be under way at
// once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "simulator/schedule/list_progress.h"

namespace orrery {

template <class T>
class RunTable {
 public:
  explicit RunTable(size_t collectives) : of_(collectives) {}

  /// Returns the slot of the run. A run that has none gets a new one with an empty T.
  uint32_t slot(CollectiveRun run) {
    UnderWay& own = of_[run.collective.index()];
    if (own.over < own.slots.size()) {  // mostly it is the first
      const uint32_t first = own.slots[own.over];
      if (slots_[first]->run.iteration == run.iteration)
        return first;
    }
    const auto at = find(run);
    if (at != own.slots.end() && slots_[*at]->run.iteration == run.iteration)
      return *at;
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.push_back(std::make_unique<Slot>());
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot]->run = run;
    slots_[slot]->is_used = true;
    own.slots.insert(at, slot);
    return slot;
  }

  /// The reference is valid until the slot is erased.
  T& operator[](uint32_t slot) { return slots_[slot]->value; }
  const T& operator[](uint32_t slot) const { return slots_[slot]->value; }
  const CollectiveRun& run(uint32_t slot) const { return slots_[slot]->run; }

  void erase(uint32_t slot) {
    UnderWay& own = of_[run(slot).collective.index()];
    const auto at = find(run(slot));
    if (at != own.begin())
      own.slots.erase(at);
    else if (++own.over > own.slots.size() / 2)
      own = {Slots(own.begin(), own.slots.end()), 0};
    slots_[slot]->value = T();
    slots_[slot]->is_used = false;
    free_.push_back(slot);
  }

  /// Visits the slots in use, by collective, then by iteration. The time grows with the most runs
  /// that were ever under way at once, not with the collectives of the program.
  template <class Visit>
  void for_each_slot(Visit&& visit) const {
    std::vector<uint32_t> used;
    for (uint32_t slot = 0; slot < slots_.size(); ++slot)
      if (slots_[slot]->is_used)
        used.push_back(slot);
    std::sort(used.begin(), used.end(), [&](uint32_t a, uint32_t b) { return run(a) < run(b); });
    for (const uint32_t slot : used)
      visit(slot);
  }

  /// Returns the slot in use if there is exactly one.
  std::optional<uint32_t> only_slot() const {
    if (slots_.size() != free_.size() + 1)
      return std::nullopt;
    const auto used =
        std::find_if(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->is_used; });
    return static_cast<uint32_t>(used - slots_.begin());
  }

  /// Moves a run to a later iteration. All later runs of the same collective must be moved too, by
  /// as many iterations or more.
  void move(uint32_t slot, uint64_t iterations) { slots_[slot]->run.iteration += iterations; }

 private:
  struct Slot {
    CollectiveRun run;
    bool is_used = false;
    T value;
  };

  using Slots = boost::container::small_vector<uint32_t, 2>;

  /// UnderWay has the runs of a collective that are under way, by iteration. A member that runs
  /// ahead may leave many runs behind it. Most runs end in order. So the entries of ended runs at
  /// the front are only counted at first, and removed together.
  struct UnderWay {
    Slots slots;
    size_t over = 0;
    Slots::iterator begin() { return slots.begin() + static_cast<std::ptrdiff_t>(over); }
  };

  /// Returns the first run of the collective that is not before this one.
  Slots::iterator find(CollectiveRun run) {
    UnderWay& own = of_[run.collective.index()];
    return std::partition_point(own.begin(), own.slots.end(), [&](uint32_t slot) {
      return slots_[slot]->run.iteration < run.iteration;
    });
  }

  std::vector<std::unique_ptr<Slot>> slots_;  // references to values stay valid
  std::vector<uint32_t> free_;
  std::vector<UnderWay> of_;  // per collective
};

}  // namespace orrery
