#pragma once

// The events of the devices' lists (tape_order.h) as nodes of the work graph.

#include <cstdint>
#include <vector>

#include "simulator/schedule/list_progress.h"
#include "simulator/values/cuda/cause_edges.h"
#include "simulator/values/cuda/frontier.h"

namespace orrery::cuda {

/// Keeps references to its arguments.
class ListEvents {
 public:
  ListEvents(const ProgramLists& lists, WorkGraph& graph, CauseEdges& causes);

  /// What a moment, Passed or Entered, waits for. Requires that all of that has happened: a walk
  /// comes to a moment after its causes.
  Dependencies before(ListId list, Moment moment);

  /// The moments that have nodes of their own, or end with a collective's.
  void passed(ListId list, uint32_t instruction, const Frontier& frontier);
  void ended(EnterRef entry, const Frontier& frontier);

 private:
  struct OfList {
    uint32_t next = 0;              // the compute stream has passed the instructions before
    Frontier passed;                // the last of them
    std::vector<Frontier> reached;  // per Enter: when the compute stream had passed it
    std::vector<Frontier> ended;    // per Enter
  };

  /// Passes the instructions before `end`, which have no nodes.
  void go_to(ListId list, uint32_t end);
  const Frontier& at(ListId list, Moment moment) const;

  const ProgramLists& lists_;
  WorkGraph& graph_;
  CauseEdges& causes_;
  std::vector<OfList> of_;
};

}  // namespace orrery::cuda
