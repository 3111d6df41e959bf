#pragma once

// When the nodes of a launch end, by the made-up clock.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::mock_cuda {

/// A node first takes its latency, then moves data.
struct ClockedNode {
  int64_t latency_ps = 0;
  int64_t moves_ps = 0;  // alone on its device
  int device = 0;
  std::vector<size_t> after;  // earlier in the list
};

/// Whether nodes that move data at the same time on one device share its memory: of k, each is k
/// times as slow.
enum class Sharing : uint8_t { No, Yes };

/// The end of each node of a launch that begins at `begin`, in ps.
std::vector<int64_t> ends_of(const std::vector<ClockedNode>& nodes, int64_t begin, Sharing sharing);

}  // namespace orrery::mock_cuda
