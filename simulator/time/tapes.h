#pragma once

// The clocks of the devices: when each passes the instructions of its list, and when it enters each
// collective. The caller says how long a collective takes, with end(). Between such calls a device
// runs ahead as far as its list allows, since local ops take constant time. The sweep and the event
// engine both use this.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/base/callable.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"
#include "simulator/time/repeats.h"

namespace orrery {

/// A member that enters its collective, and when.
struct Entrance {
  CollectiveId collective;
  Node node;
  Instant at;
};

class Tapes {
 public:
  using Entered = FunctionRef<void(Entrance)>;

  /// `device_start` has for each logical id when the device begins; empty: all begin at 0.
  Tapes(const Program& program, const Lowered& lowered, std::span<const Instant> device_start,
        EventLog* log, RepeatOptions repeats = {});

  /// Runs all lists from their beginnings. `entered` gets each entry that this makes possible, and
  /// must not call back; the same for end().
  void begin(Entered entered);

  /// All steps of the member have retired at `at`. The collective ends on its device once the
  /// result has been copied out (Collective::leave).
  void end(CollectiveId id, Node node, Instant at, Entered entered);

  /// Nothing more can happen: all collectives that all members have entered have ended. Whether a
  /// loop that leaves out iterations goes on all the same. `entered` as for begin().
  bool at_rest(Entered entered);

  bool finished() const { return progress_.finished(); }

  const ListProgress& progress() const { return progress_; }

  /// Where all lists are, and the clocks that later instants depend on.
  void append_state(RelativeState& state) const;

  /// A device that stands at a wait, and for what: "device 3 waits for the end of 'r'". Requires
  /// !finished().
  std::string waiting_text() const;

  /// As Completion has them. Requires finished().
  std::vector<std::vector<OpSpan>> spans() && { return std::move(spans_); }
  Instant makespan() const;
  std::vector<AddedIterations> added() && { return std::move(repeats_).added(); }
  std::vector<std::vector<OpTime>> left_out() && { return std::move(repeats_).left_out(); }

  // The callbacks of ListProgress.
  void passed(ListId list, uint32_t instruction);
  void entered(EnterRef entry);

 private:
  OpSpan& span(ListId list, uint32_t instruction) {
    return spans_[lists_.tape(list)[instruction].op.index()][lists_[list].device_index];
  }
  /// When the last cause of the moment was met.
  Instant causes_met(ListId list, Moment moment) const;
  void happened(ListId list, Moment moment);

  const Program& program_;
  const Lowered& lowered_;
  const ProgramLists lists_;
  ListProgress progress_;
  EventLog* log_;
  std::vector<Instant> start_;                  // per list
  std::vector<std::vector<EnterRef>> entries_;  // per collective and node, from its first entry on
  std::vector<Entrance> entrances_;             // made during the current call
  std::vector<std::vector<OpSpan>> spans_;      // per op and device index
  Repeats repeats_;
};

}  // namespace orrery
