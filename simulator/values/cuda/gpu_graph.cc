#include "simulator/values/cuda/gpu_graph.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "simulator/values/cuda/kernel_launches.h"

namespace orrery::cuda {

namespace {

/// Makes the graphs of the driver, one after another.
class Parts {
 public:
  Parts(const WorkGraph& work, size_t devices, const Gpus& gpus,
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

  /// `begins` take the moment when the work may begin. It waits for them, or a driver might take
  /// them when it has begun already.
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

  /// Takes the moment when all of `ends` have ended.
  void record_end(std::span<const WorkId> ends, const Event& event) {
    after_.clear();
    for (const WorkId end : ends)
      after_.push_back(nodes_[end.index()]);
    graph_->add_record(event, after_);
  }

 private:
  /// The nodes that the work waits for. Those of earlier parts have ended.
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

/// The first work of each measured part, and those after which nothing of the part comes.
struct Extremes {
  WorkId first;
  std::vector<WorkId> ends;
};

std::optional<Timed> timed(const Work& work, Measured measured) {
  if (measured == Measured::Whole || std::holds_alternative<Join>(work.what))
    return std::nullopt;
  Timed timed{work.device, work.part};
  if (measured == Measured::Ops)
    timed.part.step.reset();
  return timed;
}

std::map<Timed, Extremes> extremes(const WorkGraph& work, const std::vector<WorkId>& part,
                                   Measured measured) {
  std::map<Timed, Extremes> all;
  for (const WorkId id : part) {
    const std::optional<Timed> of = timed(work[id], measured);
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

size_t gpu_of(LogicalId device, size_t devices, size_t gpus) {
  return device.index() * gpus / devices;
}

GpuGraph::GpuGraph(const WorkGraph& work, const Program& program, const Gpus& gpus,
                   std::vector<std::unique_ptr<KernelModule>>& modules, Measured measured,
                   uint32_t most_nodes, const FastProducts* products)
    : devices_(program.mesh.devices()) {
  GraphParts divided = graph_parts(work, program, most_nodes);
  launches_ = std::move(divided.launches);
  Parts parts(work, devices_, gpus, modules, products);
  for (const std::vector<WorkId>& part : divided.parts) {
    const std::map<Timed, Extremes> timed = extremes(work, part, measured);
    std::map<WorkId, std::vector<const Event*>> begins;
    for (const auto& [of, at] : timed) {
      const Gpu& gpu = gpus[gpu_of(of.device, devices_, gpus.size())];
      // Of work in two parts, the first tells its begin and the last its end.
      const auto [known, added] = events_.try_emplace(of, Events{Event(gpu), Event(gpu)});
      if (added)
        begins[at.first].push_back(&known->second.begin);
    }
    parts.begin_part();
    for (const WorkId id : part) {
      const auto found = begins.find(id);
      parts.add(id, found == begins.end() ? std::span<const Event* const>()
                                          : std::span<const Event* const>(found->second));
    }
    for (const auto& [of, at] : timed)
      parts.record_end(at.ends, events_.at(of).end);
    parts_.push_back(parts.end_part());
  }
}

void GpuGraph::launch(const Stream& stream) const {
  for (const uint32_t part : launches_)
    parts_[part].launch(stream);
}

std::map<Timed, GpuGraph::Span> GpuGraph::spans(std::span<const Event> starts) const {
  std::map<Timed, Span> result;
  for (const auto& [of, events] : events_) {
    const Event& start = starts[gpu_of(of.device, devices_, starts.size())];
    result.emplace(of, Span{events.begin.since(start), events.end.since(start)});
  }
  return result;
}

}  // namespace orrery::cuda
