#pragma once

// Timing executors write this record on request: every half of every step with its instants, and
// every moment of every list (whose instants are in Completion).
//
// An executor is given an EventLog, or null. It adds every half and every moment after its causes,
// so a reader that goes through the records backwards sees each effect before its causes. The log
// keeps the moments, of which there are few. It hands halves to a sink in batches, so that
// recording makes no call per step and a reader decides what to keep.
//
// recording.h has the sinks that keep records in memory: a Recording has the halves of some
// collectives, for access by step; a History has everything in order. The explanations of an op
// (simulator/analyze/why.h) read a Recording, and the slack of ops (slack.h) a History. The trace
// (tools/report/trace.cc) is a sink of its own.

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "models/base/chunked_array.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// This is a half that ran, from the instant at which its last cause was met to its retirement.
struct HalfEvent {
  CollectiveId collective;
  StepRef step;
  Half half = Half::Receive;
  Instant begin;
  Instant end;
  /// For a send half that sends, it is when the message reaches the receiver; else it is `end`.
  Instant arrival;
  friend bool operator==(const HalfEvent&, const HalfEvent&) = default;
};

/// This is a moment of a list, and how many halves were recorded before it.
struct MomentEvent {
  ListId list;
  Moment moment;
  uint64_t halves_before = 0;
};

/// It passes events on in the order in which they were added. Halves of one channel are in the
/// channel's order. The order of different channels depends on the executor.
class EventLog {
 public:
  using Sink = std::function<void(std::span<const HalfEvent>)>;

  explicit EventLog(Sink sink) : sink_(std::move(sink)) { batch_.reserve(kBatch); }

  void add(const HalfEvent& event) {
    ++halves_;
    batch_.push_back(event);
    if (batch_.size() == kBatch)
      flush();
  }

  void add(ListId list, Moment moment) { moments_.push_back({list, moment, halves_}); }

  /// Returns all moments so far, in the order in which they were added.
  ChunkedArray<MomentEvent> moments() && { return std::move(moments_); }

  /// Passes on the halves that are left in the batch.
  void flush() {
    sink_(batch_);
    batch_.clear();
  }

 private:
  static constexpr size_t kBatch = 4096;

  Sink sink_;
  std::vector<HalfEvent> batch_;
  ChunkedArray<MomentEvent> moments_;
  uint64_t halves_ = 0;  // added so far
};

}  // namespace orrery
