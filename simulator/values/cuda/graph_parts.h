#pragma once

// How a work graph is divided into graphs that are launched one after another. Up to kMostNodes it
// is one. Beyond, each iteration of an outermost loop is one, and equal ones are made once and
// launched again and again.

#include <cstdint>
#include <vector>

#include "models/program/program.h"
#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// Nodes that one graph has at most. So many take about a second to make.
inline constexpr uint32_t kMostNodes = 100'000;

struct GraphParts {
  std::vector<std::vector<WorkId>> parts;  // each ascending; no two are equal
  std::vector<uint32_t> launches;          // the order in which they run
};

/// What a node waits for is in its own part or in one that is launched earlier.
GraphParts graph_parts(const WorkGraph& graph, const Program& program,
                       uint32_t most_nodes = kMostNodes);

}  // namespace orrery::cuda
