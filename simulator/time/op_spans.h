#pragma once

// When ops ran. In a long loop only some runs of an op have a span.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "models/program/iterations.h"
#include "models/program/program.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// One run of an op on one device. The compute stream reaches the op at `start`. A local op runs
/// from there to `end`. A collective waits for those before it on its stream; at `entered` its
/// launch is over. It packs its operand, takes part, and has ended on this device at `end`, when
/// its result is copied out. A done ends when the compute stream goes on.
struct OpSpan {
  Instant start;
  Instant entered;  // of a collective; of other ops: start
  Instant end;
  /// If it is a collective, the node whose entry began the chain of last-met causes that ended
  /// here.
  Node held_up_by = {};
  friend bool operator==(const OpSpan&, const OpSpan&) = default;
};

/// How long an op took on one device, over several of its runs.
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

/// How long one run took.
inline OpTime time_of(const OpSpan& span) {
  return {span.end - span.start, span.end - span.entered};
}

class OpSpans {
 public:
  OpSpans() = default;
  /// For ops that run once: the spans of each op, on each device of its thread.
  explicit OpSpans(std::vector<std::vector<OpSpan>> of_ops);
  /// Has room for the spans of these runs, ascending; null: of all runs.
  OpSpans(const Program& program, const Iterations& iterations, const std::vector<OpRun>* kept);

  size_t size() const { return of_ops_.size(); }
  /// In the order of Thread::devices. Requires that the run has spans.
  std::span<const OpSpan> of(OpRun run) const;
  /// Requires an op that runs once.
  std::span<const OpSpan> operator[](size_t op) const {
    return std::span(spans_).subspan(of_ops_[op].begin, end(op) - of_ops_[op].begin);
  }
  std::span<OpSpan> operator[](size_t op) {
    return std::span(spans_).subspan(of_ops_[op].begin, end(op) - of_ops_[op].begin);
  }

  /// The spans of these runs, each as those of an op that runs once.
  OpSpans of_runs(std::span<const OpRun> runs) const;

  /// The time of all runs that have spans.
  OpTime total(OpId op, size_t device) const;

  /// Null for a run without spans.
  OpSpan* find(OpRun run, size_t device);

  friend bool operator==(const OpSpans&, const OpSpans&) = default;

 private:
  struct OfOp {
    size_t begin = 0;  // of its spans: run by run, one device after another
    uint32_t devices = 0;
    std::optional<uint32_t> kept = {};  // where not all runs have spans: which of kept_
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
