#pragma once

// LoopSkips skips iterations of loops that repeat. It knows where to look for a period, and how
// many iterations may be skipped. The sweep and the event engine both look at their states at the
// ends of iterations (period_finder.h). Once a state equals an earlier one, the iterations between
// them are a period. More periods are then added at once, each later than the one before by the
// same time (DeviceClocks::skip).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/time/completion.h"
#include "simulator/time/device_clocks.h"
#include "simulator/time/period_finder.h"

namespace orrery {

/// A ListPeriod is what a list does in a period: `iterations` iterations of a run of a loop.
struct ListPeriod {
  ListId list;
  LoopedOrder::LoopRun loop;
  uint64_t iterations = 1;
};

/// ListsBefore says where the lists were at an earlier state.
struct ListsBefore {
  std::vector<uint64_t> next;               // per list: the next position
  std::vector<std::vector<OpTime>> totals;  // per list
  Instant at;
};

/// RepeatedPeriods are periods that were skipped. Each is `later` than the one before.
struct RepeatedPeriods {
  uint64_t times = 0;
  Duration later;
};

/// ListLooks are the looks at the states of lists that skip together.
struct ListLooks {
  PeriodFinder<ListsBefore> finder = {};
  LookPace pace = {};
};

class LoopSkips {
 public:
  /// `kept` has the runs whose own times are wanted, ascending. They are never skipped. If it is
  /// null, all are wanted, and nothing is skipped.
  LoopSkips(const Program& program, const Lowered& lowered, DeviceClocks& clocks,
            const std::vector<OpRun>* kept);

  /// Returns whether iterations of some loop may be skipped.
  bool any() const { return any_; }

  /// next_end() returns the position at which the list next comes to the end of an iteration that
  /// another one follows; the length of its tape if there is none. Loops of few iterations do not
  /// count; with Ends::Local, loops with collectives do not count either.
  enum class Ends : uint8_t { All, Local };
  uint64_t next_end(ListId list, Ends ends) const;

  /// Returns the outermost loop with an iteration that ends right before this position of a list.
  LoopedOrder::LoopRun loop_ending_at(ListId list, uint64_t position) const;
  /// Returns the same for the position where the list is now.
  LoopedOrder::LoopRun loop_at(ListId list) const {
    return loop_ending_at(list, clocks_.progress().next(list));
  }

  /// Returns whether enough has happened since the last look that another one pays.
  bool is_due(std::span<const ListId> lists, const ListLooks& looks) const {
    return looks.pace.is_due(steps(lists));
  }

  /// Skips iterations of a loop, if they are known to repeat. Requires that each list is held at
  /// the end of an iteration of that loop in its thread, and that the lists meet only each other in
  /// it. All collectives that they have entered in the loop must have ended. Returns what it
  /// skipped, which repeats all that happened since the state that was compared.
  std::optional<RepeatedPeriods> skip(std::span<const ListId> lists, ListLooks& looks);

  ListsBefore lists(std::span<const ListId> lists, Instant at) const;

  /// Returns how far each list has come since an equal state, in the innermost loop that it was in
  /// all the time. Lists that have not moved are left out. Returns nothing if some list was in no
  /// such loop, or was still in the first iterations of its loop at the earlier state.
  std::optional<std::vector<ListPeriod>> periods(std::span<const ListId> lists,
                                                 const ListsBefore& before) const;

  /// Returns how many periods may be added.
  uint64_t most(std::span<const ListPeriod> periods) const;

  void add(std::span<const ListPeriod> periods, uint64_t times, Duration later);
  /// Returns the iterations that were added, per loop of the program.
  std::vector<AddedIterations> added() const;

 private:
  /// Returns how many instructions the lists have passed, or skipped.
  uint64_t steps(std::span<const ListId> lists) const;
  bool has_kept_under_way(const ListPeriod& period) const;

  const Lowered& lowered_;
  DeviceClocks& clocks_;
  const std::vector<OpRun>* kept_;
  std::vector<std::vector<uint64_t>> kept_in_;  // per loop: its iterations with a kept run
  std::vector<uint64_t> futures_;               // per loop: how many of its carries are futures
  std::vector<bool> local_;                     // per loop: it has no collectives
  std::vector<std::vector<AddedIterations>> added_;  // per loop and list
  bool any_ = false;
};

}  // namespace orrery
