#pragma once

// These algorithms run others along the axes of a group (staged.h): inside nodes and between them,
// or along the axes of a torus.

#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/staged.h"

namespace orrery {

/// Returns the schedule of a group of equal nodes: `inside` along their ranks, `between` along the
/// nodes. A group within one node runs `inside` alone, and one with one rank a node `between`.
std::unique_ptr<const Schedule> make_hierarchical(const ScheduleRequest& request,
                                                  const LineAlgorithm& inside,
                                                  const LineAlgorithm& between);
/// Returns the schedule of a group that fills the axes of a torus. Rings run along one axis after
/// the other. The data is divided evenly over two lanes for each axis, one for each direction, in
/// which that axis comes first. With `whole_parts`, an all-reduce has whole parts if no message
/// then is too large.
std::unique_ptr<const Schedule> make_torus(const ScheduleRequest& request, bool whole_parts);

/// Returns rings of all ranks of a torus, whose axes have these sizes: two for each axis, one each
/// way round. No two of them use one link, and together they use all. Each size is at least 3. The
/// result is empty if the search finds none, as for one in eight of all sizes up to 512 ranks. A
/// process searches once for given sizes.
SharedList<SharedList<uint32_t>> torus_rings(const SharedList<uint32_t>& sizes);

/// A part of a hierarchical algorithm: its schedules, how many channels a node has at most, and
/// into how many pieces messages are cut. The part between nodes says how many pieces there are at
/// most. None is smaller than either part needs.
struct StagePart {
  LineAlgorithm line;
  uint64_t (*channels)(uint64_t nodes);
  PieceRule pieces = kPiecesOfStages;
  bool has_switches = false;
};
extern const StagePart kRingPart;
extern const StagePart kInSwitchPart;
extern const StagePart kNetworkSwitchPart;
extern const StagePart kTreePart;
extern const StagePart kHalvingPart;
extern const StagePart kDirectPart;

/// Returns whether the topology is "nodes".
bool has_nodes(const Topology& topology);

/// Returns the rows of these algorithms in the table of all, for these kinds of ops.
std::vector<Algorithm> staged_algorithms(const std::vector<OpKind>& reductions,
                                         const std::vector<OpKind>& reduces_and_gathers,
                                         const std::vector<OpKind>& exchanges);

}  // namespace orrery
