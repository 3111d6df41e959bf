#pragma once

// These types describe the work of graph nodes, and graphs that can run.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "simulator/values/cuda/driver/cublaslt_api.h"
#include "simulator/values/cuda/driver/cuda_api.h"
#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::mock_cuda {

struct KernelWork {
  cuda::CUfunction function;  // its module must not be unloaded
  const cuda::HostKernel* kernel;
  std::vector<std::byte> argument;
  uint64_t threads;
};

/// Returns how many products the kernel of a dot_general sums; 0 for other kernels.
int64_t products_of(const KernelWork& work);

struct CopyWork {
  cuda::CUdeviceptr to;
  cuda::CUdeviceptr from;
  size_t size;
  int device;  // the device that copies
};
struct FillWork {
  cuda::CUdeviceptr to;
  size_t size;  // in bytes
  unsigned int value;
  size_t element_size;
  int device;
};
/// A `WriteWork` is a copy from the host. It has the bytes that were there at the time of the call.
struct WriteWork {
  cuda::CUdeviceptr to;
  std::vector<std::byte> bytes;
  int device;
};
/// A `Layout` is a batch of matrices as cuBLASLt stores them: each is column-major.
struct Layout {
  cuda::cudaDataType_t type;
  int64_t rows;
  int64_t columns;
  int64_t leading;
  int64_t batch = 1;
  int64_t batch_stride = 0;
};
/// A `ProductWork` computes D = op(A) op(B).
struct ProductWork {
  cuda::cublasComputeType_t compute;
  bool transposed_a;
  bool transposed_b;
  Layout a;
  Layout b;
  Layout d;
  cuda::CUdeviceptr to;
  cuda::CUdeviceptr from_a;
  cuda::CUdeviceptr from_b;
  int device;

  int64_t depth() const { return transposed_a ? a.rows : a.columns; }
};
struct RecordWork {
  cuda::CUevent event;
};
struct JoinWork {};

using Work =
    std::variant<KernelWork, CopyWork, FillWork, WriteWork, ProductWork, RecordWork, JoinWork>;

struct Node {
  Work work;
  std::vector<size_t> after;
};

/// Returns whether the work may use any of the bytes from `address` on. It is true for every kernel
/// and every product, since the mock does not know which bytes they use.
bool may_touch(const Work& work, cuda::CUdeviceptr address, size_t size);

/// A `Plan` is a graph that can run, and its runs, which do not overlap.
struct Plan {
  std::vector<Node> nodes;                      // at least one
  std::vector<std::vector<size_t>> successors;  // one entry per node
  std::optional<int64_t> launch_ps;             // empty if this is not a graph
  std::deque<uint64_t> in_flight;               // launches that have not ended
  int64_t free_at = 0;                          // when the last run ended, in ps

  Plan(std::vector<Node> nodes_of_graph, std::optional<int64_t> launch);
};

}  // namespace orrery::mock_cuda
