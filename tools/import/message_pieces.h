#pragma once

// The messages of an algorithm, cut to slots: as many chunks at a time as fit one, or stretches of
// a chunk.

#include <cstdint>
#include <memory>
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

/// `steps` and `areas`, in chunks, as a schedule with chunks of `chunk` elements. All steps run
/// once for each `stretch` elements of a chunk, as the interpreter runs them; then steps are of one
/// chunk each. Requires less than 2^31 steps a channel. Throws Overflow where an area exceeds 64
/// bits.
std::unique_ptr<const Schedule> in_elements(Extent areas, const CutSteps& steps, int64_t chunk,
                                            int64_t stretch);

}  // namespace orrery
