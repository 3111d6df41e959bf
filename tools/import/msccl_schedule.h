#pragma once

// Makes a Schedule of an imported algorithm: its buffers are placed in areas, its steps cut to
// messages that fit a slot, and its chunks given a number of elements.
//
//   placed_steps()   places the steps' slices: in one area if the algorithm is called in place
//   drop_waits_of()  takes away the waits that runtimes do not make
//   cut_steps()      cuts steps into pieces, each with as many chunks as fit a slot; its second
//                    form does all three
//   in_elements()    makes the Schedule; if one chunk exceeds a slot, all steps run once for each
//                    stretch of the chunk that fits
//
// Until in_elements() all offsets and counts are in chunks. CutSteps::whole() leads from a piece
// back to the step of the file.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/schedule/progress.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/stored_schedule.h"
#include "simulator/values/provenance.h"
#include "tools/import/msccl.h"

namespace orrery {

enum class MscclPlacement : uint8_t { OutOfPlace, InPlace };

std::string_view name(MscclPlacement placement);  // "out of place", "in place"

/// Returns the placements that the file allows, out of place first.
std::vector<MscclPlacement> placements(const MscclAlgorithm& algorithm);

/// Returns the areas with room for the gpu that needs most, with the atomic rule for fused steps.
Extent areas_of(const MscclAlgorithm& algorithm, MscclPlacement placement, uint32_t slots);

/// Says where the gpus' operands and results lie in the areas.
Buffers buffers_of(const MscclAlgorithm& algorithm, MscclPlacement placement);

/// Returns a slice of a file's buffer as one of an area. In place, an all-gather's input is the
/// gpu's own part of the one buffer, and so is a reduce-scatter's output.
Slice placed(const MscclAlgorithm& algorithm, MscclPlacement placement, Node gpu,
             const Slice& slice);
StoredSteps placed_steps(const MscclAlgorithm& algorithm, MscclPlacement placement);

/// Returns the nops after all other steps of their thread block. Runtimes let the next step make a
/// nop's wait, so they never make the waits of such last nops. Without a runtime each nop makes its
/// own wait.
std::vector<StepRef> last_nops(const MscclAlgorithm& algorithm);
void drop_waits_of(const std::vector<StepRef>& nops, StoredSteps& steps);

/// Steps cut into pieces that run one after the other. The messages of a step are cut with it.
struct CutSteps {
  StoredSteps steps;
  std::vector<StoredSchedule::Message> messages;
  /// Each piece has the index of its step among those of the channel.
  std::vector<std::vector<std::vector<uint32_t>>> step_of;

  /// Returns the step that has this piece.
  StepRef whole(StepRef piece) const {
    return {piece.node, piece.channel,
            step_of[piece.node.index()][piece.channel.index()][piece.index]};
  }
};

/// Returns the number of pieces of all steps, if each has at most `most` chunks.
uint64_t count_pieces(const StoredSteps& steps, int64_t most);

/// Cuts steps into pieces of at most `most` chunks. If a step waits for another step, its first
/// piece waits for the last piece of the other step.
CutSteps cut_steps(const StoredSteps& steps, const std::vector<StoredSchedule::Message>& messages,
                   int64_t most);

/// Returns the algorithm's steps as they run, placed and cut to messages of at most `most` chunks.
/// `makes_last_waits` says whether the waits of last_nops() are made: runtimes do not make them.
CutSteps cut_steps(const MscclAlgorithm& algorithm, MscclPlacement placement, int64_t most,
                   bool makes_last_waits);

/// Returns the most messages on one connection. With as many slots, no send waits for one.
uint32_t most_messages(const CutSteps& cut);

/// Returns the schedule with chunks of `chunk` elements. All steps run once for each `stretch`
/// elements of a chunk, as in the interpreter. If a chunk has several stretches, each piece must be
/// of one chunk. Requires fewer than 2^31 steps per channel. Throws Overflow if an area exceeds 64
/// bits.
std::unique_ptr<const Schedule> in_elements(Extent areas, const CutSteps& steps, int64_t chunk,
                                            int64_t stretch);

/// Returns the schedule on which hangs, races and values are judged: one iteration with chunks of
/// one element. They do not depend on the number of iterations. Steps that wait for each other are
/// in one iteration, as no cause of a step is in a later one, and iterations share no elements.
std::unique_ptr<const Schedule> one_iteration(const MscclAlgorithm& algorithm,
                                              MscclPlacement placement, const CutSteps& cut,
                                              uint32_t slots);

/// Returns the channels of that schedule that wait for ever; none if it ends.
std::vector<Parked> stuck(const MscclAlgorithm& algorithm, MscclPlacement placement,
                          const CutSteps& cut, uint32_t slots);

}  // namespace orrery
