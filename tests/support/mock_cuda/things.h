#pragma once

// What the driver's handles stand for.

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
  int retained = 1;        // how often
  std::vector<int> peers;  // devices whose memory it was given
};

struct Module {
  int device;
  std::string ptx;  // empty: a binary, whose kernels the mock does not list
};

struct Function {
  cuda::CUmodule module;
  const cuda::HostKernel* kernel;
  int device;
};

struct Event {
  int device;
  int64_t pending = 0;          // records that have not happened yet
  std::optional<int64_t> time;  // of the last record
};

struct Graph {
  std::vector<Node> nodes;
  std::map<uint64_t, size_t> index;  // of each handle of a node
};

/// One run of a plan.
struct Launch {
  std::shared_ptr<Plan> plan;
  uint64_t number = 0;
  std::vector<size_t> waits;  // per node: those before it that have not ended
  std::vector<size_t> ready;
  std::vector<ClockedNode> clocked;  // per node, once it has run
  size_t left = 0;                   // nodes
  bool begun = false;
  int64_t begin = 0;
};

struct Stream {
  int device;
  std::deque<Launch> launches;  // the first one runs
  int64_t now = 0;              // when the last one ended
};

struct Things {
  Handles<cuda::CUcontext, Context> contexts{"context"};
  Handles<cuda::CUmodule, Module> modules{"module"};
  Handles<cuda::CUfunction, Function> functions{"kernel"};
  Handles<cuda::CUstream, Stream> streams{"stream"};
  std::map<int, Stream> default_streams;  // of devices, where they were used
  std::list<Stream> destroyed_streams;    // whose work goes on
  Handles<cuda::CUevent, Event> events{"event"};
  Handles<cuda::CUgraph, Graph> graphs{"graph"};
  Handles<cuda::CUgraphExec, std::shared_ptr<Plan>> execs{"executable graph"};
};

}  // namespace orrery::mock_cuda
