#include "simulator/values/cuda/graph_parts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace orrery::cuda {

namespace {

/// Per op: a number that does not fall along a list, and is another one for each iteration of an
/// outermost loop. The constant that is an iteration's index differs between iterations; it is
/// apart from what may be equal in them.
std::vector<uint32_t> stages(const Program& program) {
  std::vector<uint32_t> begins(program.ops.size(), 0);  // how many stages begin with the op
  std::vector<bool> inner(program.ops.size(), false);   // begins an iteration of an inner loop
  // Outer loops come after those that are in them.
  for (auto loop = program.loops.rbegin(); loop != program.loops.rend(); ++loop)
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

/// What a part is, but for the order in which its nodes were made: iterations are walked in
/// different orders. Nodes are ordered by what they do first.
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

  // By stage, or that of what the node waits for, if it is later; and cut where there are too many.
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

}  // namespace orrery::cuda
