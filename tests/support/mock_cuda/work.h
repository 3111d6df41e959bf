#pragma once

// The work of graphs' nodes, and graphs that can run.

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
  cuda::CUfunction function;  // whose module must still be there
  const cuda::HostKernel* kernel;
  std::vector<std::byte> argument;
  uint64_t threads;
};

/// How many products a dot_general sums; of other kernels 0.
int64_t products_of(const KernelWork& work);

struct CopyWork {
  cuda::CUdeviceptr to;
  cuda::CUdeviceptr from;
  size_t size;
  int device;  // that does it
};
struct FillWork {
  cuda::CUdeviceptr to;
  size_t size;  // in bytes
  unsigned int value;
  size_t element_size;
  int device;
};
/// A copy from the host: what was there at the time of the call.
struct WriteWork {
  cuda::CUdeviceptr to;
  std::vector<std::byte> bytes;
  int device;
};
/// A matrix as cuBLASLt has it: column by column, several of them one after another.
struct Layout {
  cuda::cudaDataType_t type;
  int64_t rows;
  int64_t columns;
  int64_t leading;
  int64_t batch = 1;
  int64_t batch_stride = 0;
};
/// D = op(A) op(B).
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

/// Whether it may use any of those bytes. Nobody knows what a kernel uses.
bool may_touch(const Work& work, cuda::CUdeviceptr address, size_t size);

/// A graph that can run, and its runs, which do not overlap.
struct Plan {
  std::vector<Node> nodes;                      // at least one
  std::vector<std::vector<size_t>> successors;  // one entry per node
  std::optional<int64_t> launch_ps;             // none: not a graph, but something by itself
  std::deque<uint64_t> in_flight;               // launches that have not ended
  int64_t free_at = 0;                          // when the last run ended

  Plan(std::vector<Node> nodes_of_graph, std::optional<int64_t> launch);
};

}  // namespace orrery::mock_cuda
