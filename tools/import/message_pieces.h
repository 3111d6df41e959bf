#pragma once

// The steps of an algorithm with as many chunks at a time as fit a slot.

#include <cstdint>
#include <vector>

#include "simulator/schedule/stored_schedule.h"

namespace orrery {

/// Steps in chunks, each cut into pieces one after the other. The messages of a step are cut with
/// it.
struct CutSteps {
  StoredSteps steps;
  std::vector<StoredSchedule::Message> messages;
  /// Per piece, which step of its channel it is a piece of.
  std::vector<std::vector<std::vector<uint32_t>>> step_of;

  StepRef whole(StepRef piece) const {
    return {piece.node, piece.channel,
            step_of[piece.node.index()][piece.channel.index()][piece.index]};
  }
};

/// The number of pieces with at most `most` chunks each.
uint64_t count_pieces(const StoredSteps& steps, int64_t most);

/// A wait of a step is one of its first piece, for the last piece of the other step.
CutSteps cut_steps(const StoredSteps& steps, const std::vector<StoredSchedule::Message>& messages,
                   int64_t most);

}  // namespace orrery
