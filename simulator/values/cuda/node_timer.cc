#include "simulator/values/cuda/node_timer.h"

#include <algorithm>
#include <optional>

#include "simulator/values/cuda/kernel_launches.h"

namespace orrery::cuda {

NodeTimer::NodeTimer(const Gpus& gpus, std::vector<std::unique_ptr<KernelModule>>& modules)
    : gpus_(gpus), modules_(modules), stream_(gpus[0]) {}

Duration NodeTimer::node(std::span<const Lane> lanes) const {
  const Duration first = chains(lanes, 1);
  const Duration all = chains(lanes, 1 + kNodes);
  return Duration(std::max<int64_t>(0, (all - first).count() / kNodes));
}

Duration NodeTimer::launch() const {
  Graph graph(gpus_[0].driver());
  graph.add_join({});
  return median(graph);
}

Duration NodeTimer::chains(std::span<const Lane> lanes, int nodes) const {
  Graph graph(gpus_[0].driver());
  for (const Lane& lane : lanes) {
    const Gpu& gpu = gpus_[lane.gpu];
    std::vector<GraphNode> after;
    for (int n = 0; n < nodes; ++n) {
      if (const auto* const copy = std::get_if<Copy>(&lane.work))
        after = {graph.add_copy(gpu, copy->to, copy->from, copy->size, after)};
      else
        after = {graph.add_kernel(
            launch_of(std::get<KernelCall>(lane.work), gpu, *modules_[lane.gpu]), after)};
    }
  }
  return median(graph);
}

Duration NodeTimer::median(const Graph& graph) const {
  const GraphExec exec(graph);
  const Event begin(gpus_[0]);
  const Event end(gpus_[0]);
  exec.launch(stream_);
  std::vector<Duration> times;
  for (int run = 0; run < kRuns; ++run) {
    begin.record(stream_);
    exec.launch(stream_);
    end.record(stream_);
    end.synchronize("a graph that is timed");
    times.push_back(end.since(begin));
  }
  std::sort(times.begin(), times.end());
  return times[kRuns / 2];
}

}  // namespace orrery::cuda
