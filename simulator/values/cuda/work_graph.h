#pragma once

// A WorkGraph is what a run does on the GPUs. Its nodes are kernels, copies and products, and an
// edge says that one node waits for another. The graph has addresses, but knows no driver:
// graph_builder.h makes it from the schedules, and gpu_graph.h gives it to the driver.
//
// An event of the schedule (a member has entered, a half has ended, a list has passed an op) is a
// Frontier: a few nodes, after whose ends the event has happened. Work that waits for events
// collects their frontiers in Dependencies. CauseEdges counts the causes that become edges this
// way, so that tests can leave one out.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/schedule/causes.h"
#include "simulator/values/cuda/kernels/kernels.h"
#include "simulator/values/gpu_facts.h"

namespace orrery::cuda {

using WorkId = Id<struct WorkTag>;  // a node of the graph

/// A Copy goes from any device to any other, or from a device to the host's memory.
struct Copy {
  DevicePointer to = 0;
  DevicePointer from = 0;
  Bytes size;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// A Fill sets every byte.
struct Fill {
  DevicePointer at = 0;
  Bytes size;
  std::byte value = {};
  friend bool operator==(const Fill&, const Fill&) = default;
};

/// A MatrixOperand says where an operand's elements lie. Either the free or the contracting index
/// counts elements that lie side by side.
struct MatrixOperand {
  bool contracting_inside = false;  // the contracting index does; else the free one
  int64_t leading = 0;              // elements between neighbours of the other index
  int64_t batch_stride = 0;         // elements between neighbours of the batch; 0 in a batch of 1
  int64_t alignment = 0;            // bytes, of the address: a power of 2, at most 256
  friend auto operator<=>(const MatrixOperand&, const MatrixOperand&) = default;
};

/// A MatrixProduct is a batch of products. Results lie row by row, one matrix after another.
struct MatrixProduct {
  Dtype operands{};
  Dtype result{};  // that of the operands, or f32
  int64_t batch = 0;
  int64_t rows = 0;     // free in the left operand
  int64_t columns = 0;  // free in the right one
  int64_t depth = 0;    // the products of a sum
  MatrixOperand lhs;
  MatrixOperand rhs;
  int64_t result_alignment = 0;
  friend auto operator<=>(const MatrixProduct&, const MatrixProduct&) = default;
};

/// A Product is done by cuBLASLt.
struct Product {
  MatrixProduct product;
  DevicePointer to = 0;
  DevicePointer lhs = 0;
  DevicePointer rhs = 0;
  friend bool operator==(const Product&, const Product&) = default;
};

/// A Join does nothing: it ends when all that it waits for has ended.
struct Join {
  friend bool operator==(const Join&, const Join&) = default;
};

/// A Work is a node of the graph.
struct Work {
  std::variant<KernelCall, Copy, Fill, Product, Join> what;
  LogicalId device;  // whose GPU does it
  PartOf part;
  Bytes of_kernel = {};  // what a kernel of a collective reads and writes
};

/// Returns the bytes that the work reads and writes; a copy does both with each of its bytes. The
/// result is 0 for the kernels and products of local ops, whose bytes are not known.
inline Bytes bytes_of(const Work& work) {
  if (const auto* const copy = std::get_if<Copy>(&work.what))
    return copy->size * 2;
  if (const auto* const fill = std::get_if<Fill>(&work.what))
    return fill->size;
  return work.of_kernel;
}

class WorkGraph {
 public:
  /// Adds a node. `after` has nodes that are there already, each once, so no cycle can arise.
  WorkId add(Work work, std::span<const WorkId> after) {
    works_.push_back(std::move(work));
    edges_.insert(edges_.end(), after.begin(), after.end());
    ends_.push_back(edges_.size());
    return WorkId(works_.size() - 1);
  }

  uint32_t size() const { return static_cast<uint32_t>(works_.size()); }
  const Work& operator[](WorkId id) const { return works_[id.index()]; }
  /// Returns the nodes that the node waits for.
  std::span<const WorkId> after(WorkId id) const {
    const size_t begin = id.index() == 0 ? 0 : ends_[id.index() - 1];
    return {edges_.data() + begin, ends_[id.index()] - begin};
  }

 private:
  std::vector<Work> works_;
  std::vector<WorkId> edges_;
  std::vector<size_t> ends_;  // per node: the end of its edges in edges_
};

/// A Frontier is the few nodes whose ends are an event; none if nothing must come before it.
class Frontier {
 public:
  static constexpr size_t kMost = 4;

  Frontier() = default;
  explicit Frontier(WorkId node) : count_(1) { nodes_[0] = node; }
  /// Requires at most kMost nodes.
  explicit Frontier(std::span<const WorkId> nodes) : count_(static_cast<uint8_t>(nodes.size())) {
    std::copy(nodes.begin(), nodes.end(), nodes_.begin());
  }

  std::span<const WorkId> nodes() const { return {nodes_.data(), count_}; }

 private:
  std::array<WorkId, kMost> nodes_;
  uint8_t count_ = 0;
};

/// Dependencies are the nodes that something waits for.
class Dependencies {
 public:
  void add(const Frontier& frontier) {
    nodes_.insert(nodes_.end(), frontier.nodes().begin(), frontier.nodes().end());
  }

  /// Returns each node once.
  std::span<const WorkId> nodes() {
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    return nodes_;
  }

  /// Returns the event that all nodes have ended. If they are many, a Join is added after them.
  Frontier frontier(WorkGraph& graph, LogicalId device, PartOf part) {
    const std::span<const WorkId> all = nodes();
    if (all.size() <= Frontier::kMost)
      return Frontier(all);
    return Frontier(graph.add({Join{}, device, part}, all));
  }

 private:
  std::vector<WorkId> nodes_;
};

/// EdgeKind says what a cause is the cause of: a half of a step (the kinds of CauseKind), a moment
/// of a list (List), or the end of a member.
enum class EdgeKind : uint8_t { Enter, Order, After, Message, Credit, List, End };
inline constexpr size_t kEdgeKinds = 7;

/// An OmittedCause is the number-th cause of its kind, counted in the order of building.
struct OmittedCause {
  EdgeKind kind = EdgeKind::Message;
  uint64_t number = 0;
  friend bool operator==(const OmittedCause&, const OmittedCause&) = default;
};

/// CauseCounts says how many causes of each kind there are.
using CauseCounts = std::array<uint64_t, kEdgeKinds>;

/// CauseEdges makes edges of causes: of all but the one that a test leaves out on purpose.
class CauseEdges {
 public:
  explicit CauseEdges(std::optional<OmittedCause> omitted) : omitted_(omitted) {}

  void add(EdgeKind kind, const Frontier& cause, Dependencies& to) {
    const uint64_t number = counts_[static_cast<size_t>(kind)]++;
    if (omitted_ != OmittedCause{kind, number})
      to.add(cause);
  }
  void add(CauseKind kind, const Frontier& cause, Dependencies& to) {
    add(static_cast<EdgeKind>(kind), cause, to);
  }

  const CauseCounts& counts() const { return counts_; }

 private:
  const std::optional<OmittedCause> omitted_;
  CauseCounts counts_ = {};
};

}  // namespace orrery::cuda
