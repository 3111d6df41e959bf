#pragma once

// The record that timing executors make on request: every half of every step with its instants, and
// every moment of every list (whose instants are in Completion). Each record comes after its
// causes. The trace, the slack of ops and the explanations read it. Halves come in batches, so that
// recording makes no call per step.

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

/// A half that ran: from the instant at which its last cause was met to its retirement.
struct HalfEvent {
  CollectiveId collective;
  StepRef step;
  Half half = Half::Receive;
  Instant begin;
  Instant end;
  /// For a send half that sends: when its message reaches the receiver. Else `end`.
  Instant arrival;
  friend bool operator==(const HalfEvent&, const HalfEvent&) = default;
};

/// A moment of a list, and how many halves were recorded before it.
struct MomentEvent {
  ListId list;
  Moment moment;
  uint64_t halves_before = 0;
};

/// Passes events on in the order in which they were added. Halves of one channel are in the
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

  /// All moments so far, in the order in which they were added.
  ChunkedArray<MomentEvent> moments() && { return std::move(moments_); }

  /// Passes on the rest.
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
