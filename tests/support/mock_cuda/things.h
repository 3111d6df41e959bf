#pragma once

// These are the objects that the driver's handles stand for.

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/mock_cuda/graph_clock.h"
#include "tests/support/mock_cuda/handles.h"
#include "tests/support/mock_cuda/work.h"

namespace orrery::mock_cuda {

struct Context {
  int device;
  int retained = 1;        // how often the context was retained
  std::vector<int> peers;  // devices whose memory this context may access
};

struct Module {
  int device;
  std::string ptx;  // empty for a binary, whose kernels the mock does not list
};

struct Function {
  cuda::CUmodule module;
  const cuda::HostKernel* kernel;
  int device;
};

struct Event {
  int device;
  int64_t pending = 0;          // records that have not happened yet
  std::optional<int64_t> time;  // of the last record, in ps
};

struct Graph {
  std::vector<Node> nodes;
  std::map<uint64_t, size_t> index;  // node by its handle
};

/// A `Launch` is one run of a plan.
struct Launch {
  std::shared_ptr<Plan> plan;
  uint64_t number = 0;
  std::vector<size_t> waits;  // per node: the nodes before it that have not ended
  std::vector<size_t> ready;
  std::vector<ClockedNode> clocked;  // per node, once it has run
  size_t left = 0;                   // nodes that have not run
  bool begun = false;
  int64_t begin = 0;
};

struct Stream {
  int device;
  std::deque<Launch> launches;         // the first one runs
  int64_t now = 0;                     // when the last launch ended, in ps
  std::optional<Graph> captured = {};  // the work given since the capture began, in order
};

struct CublasLtHandle {
  int device;
};
struct Operation {
  cuda::cublasComputeType_t compute;
  cuda::cudaDataType_t scale;
  bool transposed_a = false;
  bool transposed_b = false;
};
struct Preference {
  uint64_t workspace = 0;
  uint32_t reduction_schemes = 7;                             // any
  std::array<uint32_t, 4> alignments = {256, 256, 256, 256};  // in bytes, of A, B, C and D
};

struct Things {
  Handles<cuda::CUcontext, Context> contexts{"context"};
  Handles<cuda::CUmodule, Module> modules{"module"};
  Handles<cuda::CUfunction, Function> functions{"kernel"};
  Handles<cuda::CUstream, Stream> streams{"stream"};
  std::map<int, Stream> default_streams;  // by device, once used
  std::list<Stream> destroyed_streams;    // their work goes on
  Handles<cuda::CUevent, Event> events{"event"};
  Handles<cuda::CUgraph, Graph> graphs{"graph"};
  Handles<cuda::CUgraphExec, std::shared_ptr<Plan>> execs{"executable graph"};
  Handles<cuda::cublasLtHandle_t, CublasLtHandle> cublaslt_handles{"handle of cuBLASLt"};
  Handles<cuda::cublasLtMatmulDesc_t, Operation> operations{"operation of cuBLASLt"};
  Handles<cuda::cublasLtMatrixLayout_t, Layout> layouts{"layout of cuBLASLt"};
  Handles<cuda::cublasLtMatmulPreference_t, Preference> preferences{"preference of cuBLASLt"};
};

}  // namespace orrery::mock_cuda
