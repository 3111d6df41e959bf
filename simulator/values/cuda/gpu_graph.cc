#include "simulator/values/cuda/gpu_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace orrery::cuda {

namespace {

/// Returns the stage of each op: a number that does not fall along a list, and that differs between
/// the iterations of an outermost loop. The constant with an iteration's index has a stage of its
/// own: it differs between iterations, and the rest of them may be equal.
std::vector<uint32_t> stages(const Program& program) {
  std::vector<uint32_t> begins(program.ops.size(), 0);  // how many stages begin with the op
  std::vector<bool> inner(program.ops.size(), false);   // begins an iteration of an inner loop
  // Outer loops come after the loops that are in them.
  for (auto loop = program.written_loops.rbegin(); loop != program.written_loops.rend(); ++loop)
    for (const LoopIteration& iteration : loop->written) {
      if (iteration.ops.size() == 0 || inner[iteration.ops.begin])
        continue;
      for (uint32_t op = iteration.ops.begin; op < iteration.ops.end; ++op)
        inner[op] = true;
      ++begins[iteration.ops.begin];
      if (loop->has_index && iteration.ops.size() > 1)
        ++begins[iteration.ops.begin + 1];
      if (iteration.ops.end < begins.size())
        ++begins[iteration.ops.end];
    }
  std::vector<uint32_t> stages(program.ops.size());
  for (const Thread& thread : program.threads) {
    uint32_t stage = 0;
    for (const OpId op : thread.issue_order)
      stages[op.index()] = stage += begins[op.index()];
  }
  return stages;
}

/// Content says what a part does, whatever the order in which its nodes were made, since iterations
/// are walked in different orders. Nodes are sorted by op, step and device.
class Content {
 public:
  Content(const WorkGraph& graph, const std::vector<WorkId>& part,
          std::vector<uint32_t>& place_of) {
    std::vector<WorkId> order = part;
    std::stable_sort(order.begin(), order.end(), [&](WorkId a, WorkId b) {
      const auto key = [&](WorkId id) { return std::tuple(graph[id].part, graph[id].device); };
      return key(a) < key(b);
    });
    for (uint32_t i = 0; i < order.size(); ++i)
      place_of[order[i].index()] = i;
    for (const WorkId id : order) {
      Node& node = nodes_.emplace_back(Node{graph[id].what, graph[id].device, {}});
      for (const WorkId before : graph.after(id))
        if (std::binary_search(part.begin(), part.end(), before))
          node.after.push_back(place_of[before.index()]);
      std::sort(node.after.begin(), node.after.end());
    }
  }

  friend bool operator==(const Content&, const Content&) = default;

 private:
  struct Node {
    decltype(Work::what) what;
    LogicalId device;
    std::vector<uint32_t> after;
    friend bool operator==(const Node&, const Node&) = default;
  };
  std::vector<Node> nodes_;
};

}  // namespace

GraphParts graph_parts(const WorkGraph& graph, const Program& program, uint32_t most_nodes) {
  GraphParts result;
  if (graph.size() <= most_nodes) {
    std::vector<WorkId>& all = result.parts.emplace_back();
    for (uint32_t w = 0; w < graph.size(); ++w)
      all.emplace_back(w);
    result.launches = {0};
    return result;
  }

  // A node is in the stage of its op, or in that of a node that it waits for, if that is later. A
  // stage with too many nodes is cut into several parts.
  const std::vector<uint32_t> stage_of = stages(program);
  using Place = std::pair<uint32_t, uint32_t>;  // a stage, and which part of it
  std::vector<Place> place_of(graph.size());
  std::map<Place, std::vector<WorkId>> by_place;
  std::map<uint32_t, uint32_t> last_cut;  // per stage: its last part
  for (uint32_t w = 0; w < graph.size(); ++w) {
    uint32_t stage = stage_of[graph[WorkId(w)].part.op.index()];
    for (const WorkId before : graph.after(WorkId(w)))
      stage = std::max(stage, place_of[before.index()].first);
    uint32_t& cut = last_cut[stage];
    if (by_place[{stage, cut}].size() == most_nodes)
      ++cut;
    place_of[w] = {stage, cut};
    by_place[{stage, cut}].emplace_back(w);
  }

  std::vector<Content> contents;
  std::vector<uint32_t> places(graph.size());
  constexpr size_t kLookedBack = 8;  // parts: iterations are equal after a few
  for (auto& [place, part] : by_place) {
    Content content(graph, part, places);
    const size_t first = contents.size() - std::min(contents.size(), kLookedBack);
    const auto known =
        std::find(contents.begin() + static_cast<ptrdiff_t>(first), contents.end(), content);
    result.launches.push_back(static_cast<uint32_t>(known - contents.begin()));
    if (known != contents.end())
      continue;
    contents.push_back(std::move(content));
    result.parts.push_back(std::move(part));
  }
  return result;
}

namespace {

constexpr unsigned int kThreadsOfBlock = 256;
constexpr int kBlocksOfMultiprocessor = 8;

unsigned int blocks(const Gpu& gpu, int64_t items) {
  const int64_t most = int64_t{gpu.info().multiprocessors} * kBlocksOfMultiprocessor;
  const int64_t needed = (items + kThreadsOfBlock - 1) / kThreadsOfBlock;
  return static_cast<unsigned int>(std::clamp(needed, int64_t{1}, std::max(most, int64_t{1})));
}

}  // namespace

KernelLaunch launch_of(const KernelCall& call, const Gpu& gpu, KernelModule& module) {
  return {module.function(entry_point(call.kernel)), blocks(gpu, call.items), kThreadsOfBlock,
          call.argument};
}

namespace {

/// Makes the graphs of the driver, one after another.
class GraphMaker {
 public:
  GraphMaker(const WorkGraph& work, size_t devices, const Gpus& gpus,
             std::vector<std::unique_ptr<KernelModule>>& modules, const FastProducts* products)
      : work_(work),
        devices_(devices),
        gpus_(gpus),
        modules_(modules),
        products_(products),
        nodes_(work.size()),
        made_in_(work.size(), 0) {}

  void begin_part() {
    ++part_;
    graph_.emplace(gpus_[0].driver());
  }
  GraphExec end_part() { return GraphExec(*graph_); }

  /// Adds a node for the work. The events in `begins` record the moment when it may begin. The work
  /// waits for them, or a driver might record them after it has begun.
  void add(WorkId id, std::span<const Event* const> begins) {
    const Work& work = work_[id];
    const size_t number = gpu_of(work.device, devices_, gpus_.size());
    const Gpu& gpu = gpus_[number];
    after(id);
    std::vector<GraphNode> records;
    for (const Event* const begin : begins)
      records.push_back(graph_->add_record(*begin, after_));
    after_.insert(after_.end(), records.begin(), records.end());
    made_in_[id.index()] = part_;
    nodes_[id.index()] = std::visit(
        [&]<class What>(const What& what) {
          if constexpr (std::is_same_v<What, KernelCall>) {
            return graph_->add_kernel(launch_of(what, gpu, *modules_[number]), after_);
          } else if constexpr (std::is_same_v<What, Copy>) {
            return graph_->add_copy(gpu, what.to, what.from, what.size, after_);
          } else if constexpr (std::is_same_v<What, Fill>) {
            return graph_->add_fill(gpu, what.at, what.size, what.value, after_);
          } else if constexpr (std::is_same_v<What, Product>) {
            return graph_->add_child(products_->graph_of(what, number), after_);
          } else {
            return graph_->add_join(after_);
          }
        },
        work.what);
  }

  /// Records in `event` the moment when all of `ends` have ended.
  void record_end(std::span<const WorkId> ends, const Event& event) {
    after_.clear();
    for (const WorkId end : ends)
      after_.push_back(nodes_[end.index()]);
    graph_->add_record(event, after_);
  }

 private:
  /// Collects the nodes that the work waits for. Nodes of earlier parts have ended already.
  void after(WorkId id) {
    after_.clear();
    for (const WorkId before : work_.after(id))
      if (made_in_[before.index()] == part_)
        after_.push_back(nodes_[before.index()]);
  }

  const WorkGraph& work_;
  const size_t devices_;
  const Gpus& gpus_;
  std::vector<std::unique_ptr<KernelModule>>& modules_;
  const FastProducts* const products_;
  std::vector<GraphNode> nodes_;  // per work
  std::vector<GraphNode> after_;
  std::optional<Graph> graph_;
  std::vector<uint32_t> made_in_;  // per work: the number of its part
  uint32_t part_ = 0;              // from 1
};

/// Extremes has the first work of a measured op or step, and its works that no other follows.
struct Extremes {
  WorkId first;
  std::vector<WorkId> ends;
};

std::optional<TimedWork> timed(const Work& work, Measured measured) {
  if (measured == Measured::Whole || std::holds_alternative<Join>(work.what))
    return std::nullopt;
  TimedWork timed{work.device, work.part};
  if (measured == Measured::Ops)
    timed.part.step.reset();
  return timed;
}

std::map<TimedWork, Extremes> extremes(const WorkGraph& work, const std::vector<WorkId>& part,
                                       Measured measured) {
  std::map<TimedWork, Extremes> all;
  for (const WorkId id : part) {
    const std::optional<TimedWork> of = timed(work[id], measured);
    if (!of)
      continue;
    const auto [at, added] = all.try_emplace(*of, Extremes{id, {}});
    std::vector<WorkId>& ends = at->second.ends;
    for (const WorkId before : work.after(id))
      ends.erase(std::remove(ends.begin(), ends.end(), before), ends.end());
    ends.push_back(id);
  }
  return all;
}

}  // namespace

GpuGraph::GpuGraph(const WorkGraph& work, const Program& program, const Gpus& gpus,
                   std::vector<std::unique_ptr<KernelModule>>& modules, Measured measured,
                   uint32_t most_nodes, const FastProducts* products)
    : devices_(program.mesh.devices()) {
  GraphParts divided = graph_parts(work, program, most_nodes);
  launches_ = std::move(divided.launches);
  GraphMaker maker(work, devices_, gpus, modules, products);
  for (const std::vector<WorkId>& part : divided.parts) {
    const std::map<TimedWork, Extremes> timed = extremes(work, part, measured);
    std::map<WorkId, std::vector<const Event*>> begins;
    for (const auto& [of, at] : timed) {
      const Gpu& gpu = gpus[gpu_of(of.device, devices_, gpus.size())];
      // If work is in two parts, the first tells its begin and the last its end.
      const auto [known, added] = events_.try_emplace(of, Events{Event(gpu), Event(gpu)});
      if (added)
        begins[at.first].push_back(&known->second.begin);
    }
    maker.begin_part();
    for (const WorkId id : part) {
      const auto found = begins.find(id);
      maker.add(id, found == begins.end() ? std::span<const Event* const>()
                                          : std::span<const Event* const>(found->second));
    }
    for (const auto& [of, at] : timed)
      maker.record_end(at.ends, events_.at(of).end);
    parts_.push_back(maker.end_part());
  }
}

void GpuGraph::launch(const Stream& stream) const {
  for (const uint32_t part : launches_)
    parts_[part].launch(stream);
}

std::map<TimedWork, MeasuredSpan> GpuGraph::spans(std::span<const Event> starts) const {
  std::map<TimedWork, MeasuredSpan> result;
  for (const auto& [of, events] : events_) {
    const Event& start = starts[gpu_of(of.device, devices_, starts.size())];
    result.emplace(of, MeasuredSpan{events.begin.since(start), events.end.since(start)});
  }
  return result;
}

}  // namespace orrery::cuda
