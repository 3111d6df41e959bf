#pragma once

// The nodes of a work graph whose ends are an event of the schedule: the event has happened once
// they have all ended.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/values/cuda/work_graph.h"

namespace orrery::cuda {

/// A few nodes; none for an event that nothing has to come before.
class Frontier {
 public:
  static constexpr size_t kMost = 4;

  Frontier() = default;
  explicit Frontier(WorkId node) : count_(1) { nodes_[0] = node; }
  /// Requires at most kMost.
  explicit Frontier(std::span<const WorkId> nodes) : count_(static_cast<uint8_t>(nodes.size())) {
    std::copy(nodes.begin(), nodes.end(), nodes_.begin());
  }

  std::span<const WorkId> nodes() const { return {nodes_.data(), count_}; }

 private:
  std::array<WorkId, kMost> nodes_;
  uint8_t count_ = 0;
};

/// The nodes that something waits for, each once.
class Dependencies {
 public:
  void add(const Frontier& frontier) {
    nodes_.insert(nodes_.end(), frontier.nodes().begin(), frontier.nodes().end());
  }

  std::span<const WorkId> nodes() {
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    return nodes_;
  }

  /// As one event of `part`. Many nodes get a node that joins them.
  Frontier frontier(WorkGraph& graph, LogicalId device, PartOf part) {
    const std::span<const WorkId> all = nodes();
    if (all.size() <= Frontier::kMost)
      return Frontier(all);
    return Frontier(graph.add({Join{}, device, part}, all));
  }

 private:
  std::vector<WorkId> nodes_;
};

}  // namespace orrery::cuda
