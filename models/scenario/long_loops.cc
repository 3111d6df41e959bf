#include "models/scenario/long_loops.h"

#include <algorithm>
#include <string_view>

#include "models/program/iteration_name.h"

namespace orrery {

std::vector<int64_t> KeptIterations::ends(int64_t lower, int64_t upper) const {
  std::vector<int64_t> ends;
  if (const auto kept = kept_.find({lower, upper}); kept != kept_.end())
    for (const int64_t index : kept->second)
      ends.push_back(index + 1);
  if (ends.empty() || ends.back() < upper)
    ends.push_back(upper);
  return ends;
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
      {loop.lower, loop.upper, loop.lower + loop.first - reach, loop.upper - loop.window});
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
  for_each_iteration_in(text, [&](std::string_view loop, int64_t index) {
    const auto loops = loops_.find(without_indices(loop));
    if (loops == loops_.end())
      return;
    for (const Range& range : loops->second)
      if (range.begin <= index && index < range.end)
        kept.add(range.lower, range.upper, index);
  });
}

}  // namespace orrery
