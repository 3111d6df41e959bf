#pragma once

// The clocks of the devices: when each passes the instructions of its list, and when it enters each
// collective. The caller says how long a collective takes, with end(). Between such calls a device
// runs ahead as far as its list allows, since local ops take constant time. The sweep and the event
// engine both use this.
//
// A clock remembers only what later instants depend on: when the compute stream is done, when each
// communication stream is, and the ends that lie ahead of the compute stream and may be awaited.

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
#include "models/program/op_overflow.h"
#include "models/program/program.h"
#include "simulator/event/event_log.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/op_spans.h"

namespace orrery {

/// A queue in one piece of memory. An empty one takes none, unlike std::deque.
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
  /// Items that are gone keep their memory while they are few beside the others: an item is moved
  /// once, on average.
  static constexpr size_t kMostUnused = 16;

  std::vector<T> items_;
  size_t first_ = 0;
};

/// A member that enters its collective, and when.
struct Entrance {
  CollectiveRun run;
  Node node;
  EnterRef by;
  Instant at;
};

/// An op with which the devices run more than Limits::runs ops one by one.
class TooManyRuns : public BeyondLimit {
 public:
  using BeyondLimit::BeyondLimit;
};

class DeviceClocks {
 public:
  using Entered = FunctionRef<void(const Entrance&)>;

  /// `device_start` has for each logical id when the device begins; empty: all begin at 0. `kept`
  /// has the runs that get spans, ascending; null: all do. With it, devices that run more than
  /// `most_runs` ops make a call throw TooManyRuns.
  DeviceClocks(const Program& program, const Lowered& lowered,
               std::span<const Instant> device_start, EventLog* log, const std::vector<OpRun>* kept,
               int64_t most_runs);

  /// Runs all lists from their beginnings. `entered` gets each entry that this makes possible, and
  /// must not call back; the same for end() and resume().
  void begin(Entered entered);

  /// All steps of the member have retired at `at`. The collective ends on its device once the
  /// result has been copied out (Collective::leave).
  void end(EnterRef by, Instant at, Node held_up_by, Entered entered);

  /// Holds a list before a position (ListProgress), and lets it go on from there.
  void hold(ListId list, uint64_t before) { progress_.hold(list, before); }
  void resume(ListId list, Entered entered);

  bool finished() const { return progress_.finished(); }
  const ProgramLists& lists() const { return lists_; }
  const ListProgress& progress() const { return progress_; }
  /// When the compute stream of a list has passed what it has passed.
  Instant now(ListId list) const { return clocks_[list.index()].now; }

  /// Appends where a list is in a run of a loop, and all of its clocks that later instants in the
  /// loop depend on, relative to `base`. Positions in the loop are counted back from here. A list
  /// that is in no loop (of 0 trips) has its place, and those of its clocks that are after `base`.
  void append_state(ListId list, const LoopedOrder::LoopRun& loop, Instant base,
                    std::vector<uint64_t>& words) const;

  /// How long each op of a list took so far, all runs together, by instruction. Empty where all
  /// runs get spans.
  const std::vector<OpTime>& totals(ListId list) const { return totals_[list.index()]; }

  /// Runs `times` periods of a loop at once, each of so many iterations, and `later` than the one
  /// before. In a period the list's totals grew by as much as since `before`.
  void skip(ListId list, const LoopedOrder::LoopRun& loop, uint64_t iterations, uint64_t times,
            Duration later, std::span<const OpTime> before);

  /// A device that stands at a wait, and for what: "device 3 waits for the end of 'r'". Requires
  /// !finished().
  std::string waiting_text() const;

  /// When the last op ended.
  Instant makespan() const { return makespan_; }
  OpSpans spans() && { return std::move(spans_); }
  /// Per op and device of its thread: the time of the runs that have no span. Empty if all have
  /// one.
  std::vector<std::vector<OpTime>> without_spans() const;

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
    /// Ends before the last that are later than the compute stream, and that a Wait may await.
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
  const int64_t most_runs_;
  int64_t runs_ = 0;                         // of ops, where not all are kept
  std::vector<Clock> clocks_;                // per list
  std::vector<std::vector<OpTime>> totals_;  // per list and instruction; empty: all have spans
  std::vector<Entrance> entrances_;          // made during the current call
  std::vector<bool> awaited_;                // per op: a start that some done may await
  OpSpans spans_;
  Instant makespan_;
};

}  // namespace orrery
