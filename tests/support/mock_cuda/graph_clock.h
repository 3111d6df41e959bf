#pragma once

// Computes when the nodes of a launch end, by the mock's clock.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::mock_cuda {

/// A node first takes its latency, then moves data.
struct ClockedNode {
  int64_t latency_ps = 0;
  int64_t moves_ps = 0;  // if nothing else on its device moves data
  int device = 0;
  std::vector<size_t> after;  // indices of earlier nodes in the list
};

/// Says whether the nodes that move data at the same time on one device share its memory: each of k
/// nodes is then k times as slow.
enum class Sharing : uint8_t { No, Yes };

/// Returns the end of each node, in ps, of a launch that begins at `begin`, in ps.
std::vector<int64_t> ends_of(const std::vector<ClockedNode>& nodes, int64_t begin, Sharing sharing);

}  // namespace orrery::mock_cuda
