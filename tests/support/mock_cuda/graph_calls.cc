// Defines the entry points of graphs.

#include <algorithm>

#include "tests/support/mock_cuda/exports.h"
#include "tests/support/mock_cuda/launch_argument.h"
#include "tests/support/mock_cuda/state.h"

namespace orrery::cuda {

using mock_cuda::call;
using mock_cuda::CallKind;
using mock_cuda::Misuse;
using mock_cuda::State;

namespace {

/// A `Place` says where in a graph a new node goes.
struct Place {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* after;
  size_t after_count;
};

void add_node(State& s, const Place& place, mock_cuda::Work work) {
  mock_cuda::Graph& graph = s.things.graphs.at(place.graph);
  mock_cuda::Node node{std::move(work), {}};
  for (size_t i = 0; i < place.after_count; ++i) {
    const auto found = graph.index.find(mock_cuda::number_of(place.after[i]));
    if (found == graph.index.end())
      throw Misuse(CUDA_ERROR_INVALID_VALUE, "a node waits for one that is not in its graph");
    node.after.push_back(found->second);
  }
  std::sort(node.after.begin(), node.after.end());
  if (std::adjacent_find(node.after.begin(), node.after.end()) != node.after.end())
    throw Misuse(CUDA_ERROR_INVALID_VALUE, "a node waits for another twice");
  const uint64_t number = mock_cuda::next_handle();
  graph.index[number] = graph.nodes.size();
  graph.nodes.push_back(std::move(node));
  *place.node = reinterpret_cast<CUgraphNode>(static_cast<uintptr_t>(number));
}

/// Returns the work of a plain copy of consecutive bytes. Throws Misuse for any other copy.
mock_cuda::CopyWork copy_work(const CUDA_MEMCPY3D& copy, int device) {
  const bool plain = copy.srcMemoryType == CU_MEMORYTYPE_UNIFIED &&
                     copy.dstMemoryType == CU_MEMORYTYPE_UNIFIED && copy.srcXInBytes == 0 &&
                     copy.srcY == 0 && copy.srcZ == 0 && copy.srcLOD == 0 &&
                     copy.dstXInBytes == 0 && copy.dstY == 0 && copy.dstZ == 0 &&
                     copy.dstLOD == 0 && copy.reserved0 == nullptr && copy.reserved1 == nullptr &&
                     copy.Height == 1 && copy.Depth == 1 && copy.WidthInBytes > 0;
  if (!plain)
    throw Misuse(CUDA_ERROR_INVALID_VALUE, "a copy that is not of some bytes in a row");
  return {copy.dstDevice, copy.srcDevice, copy.WidthInBytes, device};
}

mock_cuda::FillWork fill_work(const CUDA_MEMSET_NODE_PARAMS& fill, int device) {
  const bool plain = fill.height == 1 && fill.width > 0 &&
                     (fill.elementSize == 1 || fill.elementSize == 2 || fill.elementSize == 4) &&
                     fill.dst % fill.elementSize == 0;
  if (!plain)
    throw Misuse(CUDA_ERROR_INVALID_VALUE, "a fill that is not of some elements in a row");
  return {fill.dst, fill.width * fill.elementSize, fill.value, fill.elementSize, device};
}

}  // namespace

CUresult cuGraphCreate(CUgraph* graph, unsigned int) {
  return call("cuGraphCreate", [&](State& s) { *graph = s.things.graphs.add({}); });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return call("cuGraphDestroy", CallKind::Destroys,
              [&](State& s) { s.things.graphs.remove(graph); });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t after_count, const CUDA_KERNEL_NODE_PARAMS* kernel) {
  return call("cuGraphAddKernelNode", [&](State& s) {
    add_node(s, {node, graph, after, after_count}, mock_cuda::kernel_work(s, *kernel));
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t after_count, const CUDA_MEMCPY3D* copy, CUcontext context) {
  return call("cuGraphAddMemcpyNode", [&](State& s) {
    const mock_cuda::CopyWork work = copy_work(*copy, s.things.contexts.at(context).device);
    for (const CUdeviceptr address : {work.to, work.from})
      s.memory.bytes(address, work.size, work.device, CUDA_ERROR_INVALID_VALUE);
    add_node(s, {node, graph, after, after_count}, work);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t after_count, const CUDA_MEMSET_NODE_PARAMS* fill,
                              CUcontext context) {
  return call("cuGraphAddMemsetNode", [&](State& s) {
    const mock_cuda::FillWork work = fill_work(*fill, s.things.contexts.at(context).device);
    s.memory.bytes(work.to, work.size, work.device, CUDA_ERROR_INVALID_VALUE);
    add_node(s, {node, graph, after, after_count}, work);
  });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             size_t after_count) {
  return call("cuGraphAddEmptyNode", [&](State& s) {
    add_node(s, {node, graph, after, after_count}, mock_cuda::JoinWork{});
  });
}

// Adds the nodes of the child, between a first node, which waits for `after`, and a last node. The
// returned handle is that of the last node.
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  size_t after_count, CUgraph child) {
  return call("cuGraphAddChildGraphNode", [&](State& s) {
    if (child == graph)
      throw Misuse(CUDA_ERROR_INVALID_VALUE, "a graph is a child of itself");
    const std::vector<mock_cuda::Node> added = s.things.graphs.at(child).nodes;
    add_node(s, {node, graph, after, after_count}, mock_cuda::JoinWork{});
    mock_cuda::Graph& whole = s.things.graphs.at(graph);
    const size_t first = whole.nodes.size();  // of the child; the join before it comes first
    std::vector<bool> last(added.size(), true);
    for (const mock_cuda::Node& each : added) {
      mock_cuda::Node& copy = whole.nodes.emplace_back(each);
      for (size_t& before : copy.after) {
        last[before] = false;
        before += first;
      }
      if (copy.after.empty())
        copy.after.push_back(first - 1);
    }
    mock_cuda::Node end{mock_cuda::JoinWork{}, {}};
    for (size_t n = 0; n < added.size(); ++n)
      if (last[n])
        end.after.push_back(first + n);
    if (added.empty())
      end.after.push_back(first - 1);
    whole.index[mock_cuda::number_of(*node)] = whole.nodes.size();
    whole.nodes.push_back(std::move(end));
  });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   size_t after_count, CUevent event) {
  return call("cuGraphAddEventRecordNode", [&](State& s) {
    s.things.events.at(event);
    add_node(s, {node, graph, after, after_count}, mock_cuda::RecordWork{event});
  });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return call("cuGraphInstantiate", [&](State& s) {
    if (flags != 0)
      throw Misuse(CUDA_ERROR_INVALID_VALUE, "flags");
    *exec = s.things.execs.add(
        std::make_shared<mock_cuda::Plan>(s.things.graphs.at(graph).nodes, s.settings.launch_ps));
  });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return call("cuGraphExecDestroy", CallKind::Destroys,
              [&](State& s) { s.things.execs.remove(exec); });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return call("cuGraphLaunch", [&](State& s) {
    if (s.things.streams.at(stream).captured)
      throw Misuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is captured");
    s.runner.launch(s.things.streams.at(stream), s.things.execs.at(exec));
  });
}

}  // namespace orrery::cuda
