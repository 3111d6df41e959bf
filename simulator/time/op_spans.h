#pragma once

// An OpSpan says when an op ran on a device. In a long loop only some runs of an op have a span.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "models/program/iterations.h"
#include "models/program/program.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

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

class OpSpans {
 public:
  OpSpans() = default;
  /// Takes the spans of ops that run once: for each op, one for each device of its thread.
  explicit OpSpans(std::vector<std::vector<OpSpan>> of_ops);
  /// Makes room for the spans of the runs `kept`, which are ascending, and of all ops outside
  /// loops; if it is null, of all runs.
  OpSpans(const Program& program, const Iterations& iterations, const std::vector<OpRun>* kept);

  size_t size() const { return of_ops_.size(); }
  /// Returns the spans in the order of Thread::devices. Requires that the run has spans.
  std::span<const OpSpan> of(OpRun run) const;
  /// These return the spans of an op that runs once.
  std::span<const OpSpan> operator[](size_t op) const {
    return std::span(spans_).subspan(of_ops_[op].begin, end(op) - of_ops_[op].begin);
  }
  std::span<OpSpan> operator[](size_t op) {
    return std::span(spans_).subspan(of_ops_[op].begin, end(op) - of_ops_[op].begin);
  }

  /// Returns the spans of these runs. Each run counts as an op that runs once.
  OpSpans of_runs(std::span<const OpRun> runs) const;

  /// Returns the time of all runs that have spans.
  OpTime total(OpId op, size_t device) const;

  /// Returns the span of a run; null if it has none.
  OpSpan* find(OpRun run, size_t device);

  friend bool operator==(const OpSpans&, const OpSpans&) = default;

 private:
  struct OfOp {
    size_t begin = 0;  // of its spans: run by run, one device after another
    uint32_t devices = 0;
    std::optional<uint32_t> kept = {};  // if not all runs have spans: the index in kept_
    friend bool operator==(const OfOp&, const OfOp&) = default;
  };
  size_t end(size_t op) const {
    return op + 1 < of_ops_.size() ? of_ops_[op + 1].begin : spans_.size();
  }
  std::optional<size_t> index_of(OpRun run) const;

  std::vector<OfOp> of_ops_;
  std::vector<std::vector<uint64_t>> kept_;  // iterations that have spans, ascending
  std::vector<OpSpan> spans_;
};

}  // namespace orrery
