#include "simulator/values/cuda/driver/graph.h"

#include <fmt/format.h>

#include "simulator/values/cuda/driver/kernel_module.h"

namespace orrery::cuda {

Graph::Graph(const Driver& driver) : driver_(&driver) {
  CUgraph graph = nullptr;
  driver.cuGraphCreate.must("a graph", &graph, 0);
  graph_ = Owned(driver.cuGraphDestroy, graph);
}

Graph Graph::captured(const Stream& stream, const std::function<void()>& give) {
  const Driver& driver = stream.gpu().driver();
  // The mode is relaxed, since `give` may also load a module, which other modes forbid.
  driver.cuStreamBeginCapture.must("a stream whose work becomes a graph", stream.get(),
                                   CU_STREAM_CAPTURE_MODE_RELAXED);
  CUgraph graph = nullptr;
  try {
    give();
  } catch (...) {
    driver.cuStreamEndCapture(stream.get(), &graph);
    if (graph != nullptr)
      driver.cuGraphDestroy(graph);
    throw;
  }
  driver.cuStreamEndCapture.must("a stream whose work becomes a graph", stream.get(), &graph);
  return Graph(driver, graph);
}

GraphNode Graph::add_kernel(const KernelLaunch& launch, std::span<const GraphNode> after) {
  LaunchArgument argument(launch);
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = launch.function;
  node.gridDimX = launch.blocks;
  node.gridDimY = 1;
  node.gridDimZ = 1;
  node.blockDimX = launch.threads;
  node.blockDimY = 1;
  node.blockDimZ = 1;
  node.extra = argument.extra();
  GraphNode added = nullptr;
  driver_->cuGraphAddKernelNode.must(
      [&] { return fmt::format("node {} of a graph, a kernel", node_count_); }, &added,
      graph_.get(), after.data(), after.size(), &node);
  ++node_count_;
  return added;
}

GraphNode Graph::add_copy(const Gpu& gpu, CUdeviceptr to, CUdeviceptr from, Bytes size,
                          std::span<const GraphNode> after) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = from;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = to;
  copy.WidthInBytes = static_cast<size_t>(size.count());
  copy.Height = 1;
  copy.Depth = 1;
  GraphNode added = nullptr;
  driver_->cuGraphAddMemcpyNode.must(
      [&] {
        return fmt::format("node {} of a graph, a copy of {} bytes", node_count_, size.count());
      },
      &added, graph_.get(), after.data(), after.size(), &copy, gpu.context());
  ++node_count_;
  return added;
}

GraphNode Graph::add_fill(const Gpu& gpu, CUdeviceptr to, Bytes size, std::byte value,
                          std::span<const GraphNode> after) {
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = to;
  fill.value = std::to_integer<unsigned int>(value);
  fill.elementSize = 1;
  fill.width = static_cast<size_t>(size.count());
  fill.height = 1;
  GraphNode added = nullptr;
  driver_->cuGraphAddMemsetNode.must(
      [&] { return fmt::format("node {} of a graph, {} bytes set", node_count_, size.count()); },
      &added, graph_.get(), after.data(), after.size(), &fill, gpu.context());
  ++node_count_;
  return added;
}

GraphNode Graph::add_join(std::span<const GraphNode> after) {
  GraphNode added = nullptr;
  driver_->cuGraphAddEmptyNode.must(
      [&] { return fmt::format("node {} of a graph, a join", node_count_); }, &added, graph_.get(),
      after.data(), after.size());
  ++node_count_;
  return added;
}

GraphNode Graph::add_record(const Event& event, std::span<const GraphNode> after) {
  GraphNode added = nullptr;
  driver_->cuGraphAddEventRecordNode.must(
      [&] { return fmt::format("node {} of a graph, an event", node_count_); }, &added,
      graph_.get(), after.data(), after.size(), event.get());
  ++node_count_;
  return added;
}

GraphNode Graph::add_child(const Graph& child, std::span<const GraphNode> after) {
  GraphNode added = nullptr;
  driver_->cuGraphAddChildGraphNode.must(
      [&] { return fmt::format("node {} of a graph, a graph itself", node_count_); }, &added,
      graph_.get(), after.data(), after.size(), child.get());
  ++node_count_;
  return added;
}

GraphExec::GraphExec(const Graph& graph) : driver_(&graph.driver()) {
  CUgraphExec exec = nullptr;
  driver_->cuGraphInstantiate.must(
      [&] { return fmt::format("a graph of {} nodes", graph.node_count()); }, &exec, graph.get(),
      0);
  exec_ = Owned(driver_->cuGraphExecDestroy, exec);
}

void GraphExec::launch(const Stream& stream) const {
  driver_->cuGraphLaunch.must("a launch of a graph", exec_.get(), stream.get());
}

}  // namespace orrery::cuda
