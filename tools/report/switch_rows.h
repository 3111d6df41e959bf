#pragma once

// The rows of a trace for what switches do in collectives. A switch takes part in several
// collectives at once, and slices of one row must not overlap. So it has lanes: a collective takes
// one that no other uses meanwhile, with a row for each channel of each switch node.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "simulator/analyze/list_runs.h"
#include "simulator/schedule/lowered.h"
#include "tools/report/trace_file.h"

namespace orrery {

class SwitchRows {
 public:
  /// Of these collectives. Processes and threads are numbered from `first_number` on.
  SwitchRows(const Lowered& lowered, const ListRuns& runs,
             std::span<const CollectiveId> collectives, uint32_t first_number);

  /// The number after those that are used.
  uint32_t end() const { return next_; }

  /// The row of the first channel of a switch node. Further channels have the next threads.
  Row first_row(CollectiveId collective, Node node) const;

  /// When the first member entered the collective. Requires that a switch takes part.
  Instant begin(CollectiveId collective) const { return uses_.at(collective).begin; }

  void name(TraceFile& file, const Fabric& fabric, uint32_t sort_index) const;

 private:
  struct Lane {
    uint32_t nodes = 0;
    uint32_t channels = 0;  // of each node
    uint32_t first_thread = 0;
    std::set<std::pair<uint32_t, uint32_t>> used;  // nodes and channels that have steps
    Instant free;                                  // when the last collective in it has ended
  };
  struct Switch {
    uint32_t process = 0;
    std::vector<Lane> lanes;
  };
  /// A collective at work in a lane.
  struct Use {
    VertexId place;
    size_t lane = 0;
    uint32_t ranks = 0;
    Instant begin;
    Instant end;
  };

  std::map<VertexId, Switch> switches_;
  std::map<CollectiveId, Use> uses_;
  uint32_t next_;
};

}  // namespace orrery
