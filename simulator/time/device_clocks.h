#pragma once

// DeviceClocks finds out when each device passes the instructions of its list and enters each
// collective. The caller says when a collective ends, with end(). Between such calls a device runs
// ahead as far as its list allows, since local ops take constant time. The sweep and the engine use
// this.
//
// A clock remembers only what later instants depend on: when the compute stream and each
// communication stream are done, and the ends ahead of the compute stream that may be awaited.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/base/callable.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/op.h"
#include "models/program/program.h"
#include "simulator/event/event_log.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/op_spans.h"

namespace orrery {

/// A Fifo is a queue in one piece of memory. An empty one takes no memory, unlike std::deque.
template <class T>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  size_t size() const { return items_.size() - first_; }
  T& front() { return items_[first_]; }
  const T& front() const { return items_[first_]; }
  T& operator[](size_t index) { return items_[first_ + index]; }
  const T& operator[](size_t index) const { return items_[first_ + index]; }
  void push(T item) { items_.push_back(std::move(item)); }

  void pop() {
    ++first_;
    if (first_ < items_.size() && first_ < kMostUnused + items_.size() / 2)
      return;
    items_.erase(items_.begin(), items_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }

 private:
  /// Removed items keep their memory while they are few: an item is moved once, on average.
  static constexpr size_t kMostUnused = 16;

  std::vector<T> items_;
  size_t first_ = 0;
};

/// An Entrance is a member that enters its collective, and when.
struct Entrance {
  CollectiveRun run;
  Node node;
  EnterRef by;
  Instant at;
};

/// The error thrown at the op with which the devices run more ops one by one than
/// WantedSpans::most_timed.
class TooManyRuns : public BeyondLimit {
 public:
  using BeyondLimit::BeyondLimit;
};

class DeviceClocks {
 public:
  using Entered = FunctionRef<void(const Entrance&)>;

  /// `device_start` has for each logical id when the device begins; if it is empty, all begin at 0.
  /// If runs are kept, a call throws TooManyRuns once the devices have run too many ops.
  DeviceClocks(const Program& program, const Lowered& lowered,
               std::span<const Instant> device_start, EventLog* log, const WantedSpans& wanted);

  /// Runs all lists from their beginnings. `entered` gets each entry that this makes possible, and
  /// must not call back. The same holds for end() and resume().
  void begin(Entered entered);

  /// Records that all steps of the member have retired at `at`. The collective ends on its device
  /// once the result has been copied out (Collective::leave).
  void end(EnterRef by, Instant at, Node held_up_by, Entered entered);

  /// These hold a list before a position (ListProgress), and let it go on from there.
  void hold(ListId list, uint64_t before) { progress_.hold(list, before); }
  void resume(ListId list, Entered entered);

  bool finished() const { return progress_.finished(); }
  const ProgramLists& lists() const { return lists_; }
  const ListProgress& progress() const { return progress_; }
  /// Returns the instant up to which the compute stream of a list has come.
  Instant now(ListId list) const { return clocks_[list.index()].now; }

  /// Appends where a list is in a run of a loop, and all of its clocks that later instants in the
  /// loop depend on, relative to `base`. Positions in the loop are counted back from the current
  /// one. For a list that is in no loop, `loop` has 0 trips; its position is appended as it is, and
  /// clocks before `base` count as `base`.
  void append_state(ListId list, const LoopedOrder::LoopRun& loop, Instant base,
                    std::vector<uint64_t>& words) const;

  /// Returns the first Enter in a run of a loop that later instants depend on: it has not ended, or
  /// it ended later than the compute stream has come. Returns nothing if there is none.
  std::optional<uint64_t> first_under_way(ListId list, const LoopedOrder::LoopRun& loop) const;

  /// Returns how long each op of a list took so far, by instruction; empty if all runs are kept.
  const std::vector<OpTime>& totals(ListId list) const { return totals_[list.index()]; }

  /// Runs `times` periods of a loop at once. Each has `iterations` iterations, and comes `later`
  /// after the one before. `before` has the totals one period ago; each period adds as much again.
  void skip(ListId list, const LoopedOrder::LoopRun& loop, uint64_t iterations, uint64_t times,
            Duration later, std::span<const OpTime> before);

  /// Returns who waits for what: "device 3 waits for the end of 'r'". Requires !finished().
  std::string waiting_text() const;

  /// Returns when the last op ended.
  Instant makespan() const { return makespan_; }
  OpSpans spans() && { return std::move(spans_); }
  /// Returns Completion::not_kept.
  std::vector<std::vector<OpTime>> not_kept() const;

  // The callbacks of ListProgress.
  void passed(ListId list, uint64_t position);
  void entered(EnterRef entry);

 private:
  struct EndAt {
    uint64_t index = 0;  // on its stream
    Instant at;
  };
  struct StreamClock {
    Instant last_end;       // of the last collective that has ended
    Instant entered;        // of the one that is under way: when its launch is over
    Fifo<Instant> reached;  // when the compute stream passed each Enter that has not ended
    /// These ends before the last one are later than the compute stream, and a Wait may await them.
    Fifo<EndAt> ends;
  };
  struct Clock {
    Instant now;  // of the compute stream
    std::vector<StreamClock> streams;
  };

  Instant end_of(ListId list, uint64_t enter) const;
  void ran(ListId list, uint64_t position, const OpSpan& span);
  void happened(ListId list, Moment moment) {
    if (log_ != nullptr)
      log_->add(list, moment);
  }
  void pass_on(Entered entered);

  const Program& program_;
  const Lowered& lowered_;
  const ProgramLists lists_;
  ListProgress progress_;
  EventLog* log_;
  const bool keeps_all_;
  const int64_t most_timed_;
  int64_t timed_ = 0;                        // runs of ops, where not all are kept
  std::vector<Clock> clocks_;                // per list
  std::vector<std::vector<OpTime>> totals_;  // per list and instruction; empty: all are kept
  std::vector<Entrance> entrances_;          // made during the current call
  std::vector<bool> awaited_;                // per op: a start that some done may await
  OpSpans spans_;
  Instant makespan_;
};

}  // namespace orrery
