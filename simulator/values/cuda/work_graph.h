#pragma once

// What a run does on the GPUs: kernels, copies and products, and which of them each one waits for.
// It knows addresses, but no driver: graph_builder.h makes it from the schedules, executor.h hands
// it over.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "simulator/schedule/schedule.h"
#include "simulator/values/cuda/kernels/kernel_call.h"
#include "simulator/values/cuda/matrix_product.h"

namespace orrery::cuda {

using WorkId = Id<struct WorkTag>;  // a node of the graph

/// Between any two devices, or to the host's memory.
struct Copy {
  DevicePointer to = 0;
  DevicePointer from = 0;
  Bytes size;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// Sets every byte.
struct Fill {
  DevicePointer at = 0;
  Bytes size;
  std::byte value = {};
  friend bool operator==(const Fill&, const Fill&) = default;
};

/// Products of matrices by cuBLASLt.
struct Product {
  MatrixProduct product;
  DevicePointer to = 0;
  DevicePointer lhs = 0;
  DevicePointer rhs = 0;
  friend bool operator==(const Product&, const Product&) = default;
};

/// Does nothing: ends when all that it waits for has ended.
struct Join {
  friend bool operator==(const Join&, const Join&) = default;
};

/// What a node is a part of, for measurements.
struct PartOf {
  OpId op;
  std::optional<StepRef> step = {};  // of a collective
  friend auto operator<=>(const PartOf&, const PartOf&) = default;
};

struct Work {
  std::variant<KernelCall, Copy, Fill, Product, Join> what;
  LogicalId device;  // whose GPU does it
  PartOf part;
  Bytes of_kernel = {};  // what a kernel of a collective reads and writes
};

/// The bytes that the work reads and writes: a copy does both with each of its bytes. Not known of
/// local ops' kernels and products: 0.
inline Bytes bytes_of(const Work& work) {
  if (const auto* const copy = std::get_if<Copy>(&work.what))
    return copy->size * 2;
  if (const auto* const fill = std::get_if<Fill>(&work.what))
    return fill->size;
  return work.of_kernel;
}

class WorkGraph {
 public:
  /// `after`: nodes that are there already, each once.
  WorkId add(Work work, std::span<const WorkId> after) {
    works_.push_back(std::move(work));
    edges_.insert(edges_.end(), after.begin(), after.end());
    ends_.push_back(edges_.size());
    return WorkId(works_.size() - 1);
  }

  uint32_t size() const { return static_cast<uint32_t>(works_.size()); }
  const Work& operator[](WorkId id) const { return works_[id.index()]; }
  /// What the node waits for.
  std::span<const WorkId> after(WorkId id) const {
    const size_t begin = id.index() == 0 ? 0 : ends_[id.index() - 1];
    return {edges_.data() + begin, ends_[id.index()] - begin};
  }

 private:
  std::vector<Work> works_;
  std::vector<WorkId> edges_;
  std::vector<size_t> ends_;  // per node: of its part of edges_
};

}  // namespace orrery::cuda
