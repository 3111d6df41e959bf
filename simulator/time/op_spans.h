#pragma once

// An OpSpan says when an op ran on a device. In a long loop, iterations that repeat are skipped.
// The span of a run there is that of a run some periods earlier, as much later.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/iterations.h"
#include "models/program/program.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/tape.h"

namespace orrery {

using ListId = Id<struct ListTag>;

/// An OpSpan is one run of an op on one device. The compute stream reaches the op at `start`. A
/// local op runs from there to `end`. A collective waits for those before it on its stream, and its
/// launch is over at `entered`. It packs its operand, takes part, and has ended on this device at
/// `end`, when its result is copied out. A done ends when the compute stream goes on.
struct OpSpan {
  Instant start;
  Instant entered;  // of a collective; of other ops: start
  Instant end;
  /// For a collective: the entry of this node began the chain of last-met causes that ended here.
  Node held_up_by = {};
  friend bool operator==(const OpSpan&, const OpSpan&) = default;
};

/// An OpTime says how long an op took on one device, over several of its runs.
struct OpTime {
  Duration from_start;    // to its end
  Duration from_entered;  // to its end

  OpTime& operator+=(const OpTime& other) {
    from_start += other.from_start;
    from_entered += other.from_entered;
    return *this;
  }
  friend OpTime operator-(OpTime a, const OpTime& b) {
    return {a.from_start - b.from_start, a.from_entered - b.from_entered};
  }
  friend OpTime operator*(OpTime time, int64_t times) {
    return {time.from_start * times, time.from_entered * times};
  }
  friend bool operator==(const OpTime&, const OpTime&) = default;
};

/// Returns how long one run took.
inline OpTime time_of(const OpSpan& span) {
  return {span.end - span.start, span.end - span.entered};
}

/// SkippedPeriods are stretches of a list that were not run, since they repeat what the list did
/// before. Each has as many positions, and comes `later` after the one before.
struct SkippedPeriods {
  uint64_t begin = 0;  // the position at which the first one begins
  uint64_t end = 0;    // one past the last one
  uint64_t length = 0;
  Duration later;
  friend bool operator==(const SkippedPeriods&, const SkippedPeriods&) = default;
};

/// A run repeats the one `length` positions before it in its list, `later`. So do the runs before
/// it: it is the last of `times` + 1 that are alike.
struct Repeated {
  uint64_t times = 0;
  uint64_t length = 0;
  Duration later = {};
};

/// A RunSpan is the span of a run. A run that was timed repeats nothing.
struct RunSpan {
  OpSpan span;
  /// The loops whose iterations were skipped, outer ones first. Inner loops after the third are
  /// left out.
  std::array<Repeated, 3> repeats = {};
};

/// WantedSpans says which runs get spans.
struct WantedSpans {
  /// These runs in loops get spans, ascending, and are never skipped. Null means that all runs do.
  const std::vector<OpRun>* kept = nullptr;
  /// With `kept`, all other runs in loops get spans too, unless more than this many are timed.
  uint64_t most_in_loops = kRunsRemembered;
  /// With `kept`, at most this many runs of ops are timed one by one.
  int64_t most_timed = Limits().runs;
  /// With `kept`, at most this many steps of collectives are run one by one.
  int64_t most_steps = Limits().steps;

  int64_t allowed_steps() const {
    return kept == nullptr ? std::numeric_limits<int64_t>::max() : most_steps;
  }
};

class OpSpans {
 public:
  OpSpans() = default;
  /// Takes the spans of ops that run once: for each op, one for each device of its thread.
  explicit OpSpans(std::vector<std::vector<OpSpan>> of_ops);
  OpSpans(const Program& program, const Iterations& iterations, const WantedSpans& wanted);

  size_t size() const { return of_ops_.size(); }
  /// These return the spans of an op that runs once.
  std::span<const OpSpan> operator[](size_t op) const {
    return std::span(spans_).subspan(of_ops_[op].begin, end(op) - of_ops_[op].begin);
  }
  std::span<OpSpan> operator[](size_t op) {
    return std::span(spans_).subspan(of_ops_[op].begin, end(op) - of_ops_[op].begin);
  }

  /// Adds the span of a run that was timed. Runs of an op on a device come in order.
  void add(OpRun run, size_t device, const OpSpan& span);
  /// Adds periods that a list skips.
  void skip(ListId list, const SkippedPeriods& periods);

  /// Returns whether each run has a span, also one that was skipped.
  bool has_all() const { return has_all_; }
  /// Returns the span of a run that was timed; null if it was skipped, or is not kept.
  const OpSpan* find(OpRun run, size_t device) const {
    const OfOp& own = of_ops_[run.op.index()];
    return own.in_loop ? find_in_loop(run, device)
                       : &spans_[own.begin + run.iteration * own.devices + device];
  }
  /// Returns the span of the run at this position of a list. Requires has_all(), or that the run is
  /// kept.
  RunSpan at(const Tape& tape, ListId list, size_t device, uint64_t position) const;
  /// Returns the spans of these runs. Each run counts as an op that runs once. They must be outside
  /// loops or kept.
  OpSpans of_runs(std::span<const OpRun> runs) const;

  /// Returns the time of the runs that are kept; of an op outside loops, its time.
  OpTime total(OpId op, size_t device) const;

  friend bool operator==(const OpSpans&, const OpSpans&) = default;

 private:
  struct OfOp {
    size_t begin = 0;  // of its spans: run by run, one device after another
    uint32_t devices = 0;
    std::optional<uint32_t> in_loop = {};  // if runs are kept: the index in loops_
    friend bool operator==(const OfOp&, const OfOp&) = default;
  };
  struct TimedRun {
    uint64_t iteration = 0;
    OpSpan span;
    friend bool operator==(const TimedRun&, const TimedRun&) = default;
  };
  /// An InLoop is an op in a loop, if runs are kept.
  struct InLoop {
    std::vector<uint64_t> kept;                // iterations, ascending
    std::vector<std::vector<TimedRun>> timed;  // per device: its runs, ascending
    friend bool operator==(const InLoop&, const InLoop&) = default;
  };
  size_t end(size_t op) const {
    return op + 1 < of_ops_.size() ? of_ops_[op + 1].begin : spans_.size();
  }
  const OpSpan* find_in_loop(OpRun run, size_t device) const;
  void forget_all_but_kept();

  std::vector<OfOp> of_ops_;
  std::vector<OpSpan> spans_;  // of ops that are not in loops_
  std::vector<InLoop> loops_;
  std::vector<std::vector<SkippedPeriods>> skipped_;  // per list, in order
  uint64_t most_in_loops_ = 0;
  uint64_t timed_in_loops_ = 0;
  bool has_all_ = true;
};

}  // namespace orrery
