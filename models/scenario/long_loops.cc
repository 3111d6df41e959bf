#include "models/scenario/long_loops.h"

#include <algorithm>
#include <string_view>

#include "models/program/iteration_name.h"

namespace orrery {

void KeptIterations::add(IterationsAround iterations) {
  for (bool around = false; !iterations.empty(); around = true) {
    const IterationOf last = iterations.back();
    iterations.pop_back();
    kept_[{iterations, last.lower, last.upper}][last.index] |= around;
  }
}

std::vector<int64_t> KeptIterations::ends(const IterationsAround& around, int64_t lower,
                                          int64_t upper) const {
  std::set<int64_t> ends = {upper};
  if (const auto found = kept_.find({around, lower, upper}); found != kept_.end())
    for (const auto& [index, keeps_inside] : found->second) {
      ends.insert(index + 1);
      if (keeps_inside && index > lower)
        ends.insert(index);
    }
  return {ends.begin(), ends.end()};
}

WrittenIterations KeptIterations::least(int64_t lower, int64_t upper) const {
  const auto found = least_.find({lower, upper});
  return found == least_.end() ? WrittenIterations() : found->second;
}

void KeptIterations::at_least(int64_t lower, int64_t upper, WrittenIterations written) {
  WrittenIterations& least = least_[{lower, upper}];
  least.first = std::max(least.first, written.first);
  least.window = std::max(least.window, written.window);
}

void LeftOutIterations::make_alike(KeptIterations& kept) const {
  for (const auto& [bounds, written] : most_)
    kept.at_least(bounds.first, bounds.second, written);
}

void LeftOutIterations::add(const Loop& loop) {
  const auto [at, is_new] =
      most_.emplace(std::pair(loop.lower, loop.upper), WrittenIterations{loop.first, loop.window});
  WrittenIterations& most = at->second;
  differ_ |= !is_new && (most.first != loop.first || most.window != loop.window);
  most.first = std::max(most.first, loop.first);
  most.window = std::max(most.window, loop.window);
  const int64_t reach = loop.window - 1;
  loops_[without_indices(loop.name)].insert(
      {loop.lower + loop.first - reach, loop.upper - loop.window});
}

void LeftOutIterations::saw(const std::string& id, const std::string& name, int64_t lower,
                            int64_t upper) {
  names_are_unclear_ |= id.find_first_of(".[]") != std::string::npos;
  bounds_.try_emplace(without_indices(name), lower, upper);
}

KeptIterations LeftOutIterations::named_in(DocumentNode root) const {
  KeptIterations kept;
  find_names(root, kept);
  return kept;
}

void LeftOutIterations::find_names(DocumentNode node, KeptIterations& kept) const {
  if (node.kind() == DocumentNode::Kind::Text)
    find_names(node.text(), kept);
  for (const DocumentNode member : node) {
    if (node.kind() == DocumentNode::Kind::Object)
      find_names(member.key(), kept);
    find_names(member, kept);
  }
}

void LeftOutIterations::find_names(const std::string& text, KeptIterations& kept) const {
  IterationsAround iterations;
  for_each_iteration_in(text, [&](std::string_view name, int64_t index) {
    const std::string loop = without_indices(name);
    const auto bounds = bounds_.find(loop);
    if (bounds == bounds_.end())
      return;
    const auto [lower, upper] = bounds->second;
    if (index < lower || index >= upper)
      return;
    iterations.push_back({lower, upper, index});
    const auto ranges = loops_.find(loop);
    if (ranges != loops_.end() &&
        std::any_of(ranges->second.begin(), ranges->second.end(),
                    [&](const Range& each) { return each.begin <= index && index < each.end; }))
      kept.add(iterations);
  });
}

}  // namespace orrery
