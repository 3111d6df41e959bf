#include "simulator/values/cuda/gpu_graph.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace orrery::cuda {

namespace {

/// So many threads hide the latency of memory; more work a thread loops over.
constexpr unsigned int kThreadsOfBlock = 256;
constexpr int kBlocksOfMultiprocessor = 8;

/// Makes the graphs of the driver, one after another.
class Parts {
 public:
  Parts(const WorkGraph& work, size_t devices, const Gpus& gpus,
        std::vector<std::unique_ptr<KernelModule>>& modules)
      : work_(work), devices_(devices), gpus_(gpus), modules_(modules), nodes_(work.size()) {}

  void begin_part(uint32_t first) {
    first_ = first;
    graph_.emplace(gpus_[0].driver());
  }
  GraphExec end_part() { return GraphExec(*graph_); }

  void add(WorkId id) {
    const Work& work = work_[id];
    const size_t number = gpu_of(work.device, devices_, gpus_.size());
    const Gpu& gpu = gpus_[number];
    after(id);
    nodes_[id.index()] = std::visit(
        [&]<class What>(const What& what) {
          if constexpr (std::is_same_v<What, KernelCall>) {
            const std::string name = entry_point(what.kernel);
            return graph_->add_kernel({modules_[number]->function(name), blocks(gpu, what.items),
                                       kThreadsOfBlock, what.argument},
                                      after_);
          } else if constexpr (std::is_same_v<What, Copy>) {
            return graph_->add_copy(gpu, what.to, what.from, what.size, after_);
          } else if constexpr (std::is_same_v<What, Fill>) {
            return graph_->add_fill(gpu, what.at, what.size, what.value, after_);
          } else {
            return graph_->add_join(after_);
          }
        },
        work.what);
  }

  /// Takes the moment when the work may begin, and that when all of `ends` have ended.
  void record_begin(WorkId first, const Event& event) {
    after(first);
    graph_->add_record(event, after_);
  }
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
      if (before.index() >= first_)
        after_.push_back(nodes_[before.index()]);
  }

  static unsigned int blocks(const Gpu& gpu, int64_t items) {
    const int64_t most = int64_t{gpu.info().multiprocessors} * kBlocksOfMultiprocessor;
    const int64_t needed = (items + kThreadsOfBlock - 1) / kThreadsOfBlock;
    return static_cast<unsigned int>(std::clamp(needed, int64_t{1}, std::max(most, int64_t{1})));
  }

  const WorkGraph& work_;
  const size_t devices_;
  const Gpus& gpus_;
  std::vector<std::unique_ptr<KernelModule>>& modules_;
  std::vector<GraphNode> nodes_;  // per work
  std::vector<GraphNode> after_;
  std::optional<Graph> graph_;
  uint32_t first_ = 0;  // the first work of the part
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

/// Of the works [first, end).
std::map<Timed, Extremes> extremes(const WorkGraph& work, uint32_t first, uint32_t end,
                                   Measured measured) {
  std::map<Timed, Extremes> all;
  for (uint32_t w = first; w < end; ++w) {
    const std::optional<Timed> of = timed(work[WorkId(w)], measured);
    if (!of)
      continue;
    const auto [at, added] = all.try_emplace(*of, Extremes{WorkId(w), {}});
    std::vector<WorkId>& ends = at->second.ends;
    for (const WorkId before : work.after(WorkId(w)))
      ends.erase(std::remove(ends.begin(), ends.end(), before), ends.end());
    ends.emplace_back(w);
  }
  return all;
}

}  // namespace

size_t gpu_of(LogicalId device, size_t devices, size_t gpus) {
  return device.index() * gpus / devices;
}

GpuGraph::GpuGraph(const WorkGraph& work, size_t devices, const Gpus& gpus,
                   std::vector<std::unique_ptr<KernelModule>>& modules, Measured measured) {
  Parts parts(work, devices, gpus, modules);
  for (uint32_t first = 0; first < work.size() || first == 0; first += kMostNodes) {
    const uint32_t end = std::min(work.size(), first + kMostNodes);
    parts.begin_part(first);
    for (uint32_t w = first; w < end; ++w)
      parts.add(WorkId(w));
    for (const auto& [of, at] : extremes(work, first, end, measured)) {
      const Gpu& gpu = gpus[gpu_of(of.device, devices, gpus.size())];
      // Of a part in two graphs, the first tells its begin and the last its end.
      const auto [known, added] = events_.try_emplace(of, Events{Event(gpu), Event(gpu)});
      if (added)
        parts.record_begin(at.first, known->second.begin);
      parts.record_end(at.ends, known->second.end);
    }
    parts_.push_back(parts.end_part());
  }
}

void GpuGraph::launch(const Stream& stream) const {
  for (const GraphExec& part : parts_)
    part.launch(stream);
}

std::map<Timed, GpuGraph::Span> GpuGraph::spans(const Event& start) const {
  std::map<Timed, Span> result;
  for (const auto& [of, events] : events_)
    result.emplace(of, Span{events.begin.since(start), events.end.since(start)});
  return result;
}

}  // namespace orrery::cuda
