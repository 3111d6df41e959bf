#include "models/program/kept_iterations.h"

#include <algorithm>

namespace orrery {

LoopEntry::Located LoopEntry::located(const std::vector<LoopIteration>& written,
                                      IdRange LoopIteration::*ids, size_t id) {
  const auto iteration =
      std::partition_point(written.begin(), written.end(),
                           [&](const LoopIteration& each) { return (each.*ids).end <= id; });
  const auto index = static_cast<uint32_t>(id);
  if (iteration == written.end() || !((*iteration).*ids).has(id))
    return {0, index};
  return {static_cast<uint32_t>(written.end() - iteration), index - ((*iteration).*ids).begin};
}

uint32_t LoopEntry::furthest() const {
  uint32_t furthest = 0;
  for (const Carried& each : carried)
    furthest = std::max({furthest, each.value.iterations_before, each.buffer.iterations_before});
  return furthest;
}

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

void LeftOutIterations::add(size_t loop, const WrittenLoop& written) {
  const auto [at, is_new] = most_.emplace(std::pair(written.lower, written.upper),
                                          WrittenIterations{written.first, written.window});
  WrittenIterations& most = at->second;
  differ_ |= !is_new && (most.first != written.first || most.window != written.window);
  most.first = std::max(most.first, written.first);
  most.window = std::max(most.window, written.window);
  const int64_t reach = written.window - 1;
  loops_[loop].insert({written.lower + written.first - reach, written.upper - written.window});
}

bool LeftOutIterations::has(size_t loop, int64_t index) const {
  const auto ranges = loops_.find(loop);
  return ranges != loops_.end() &&
         std::any_of(ranges->second.begin(), ranges->second.end(),
                     [&](const Range& each) { return each.begin <= index && index < each.end; });
}

KeptIterations LeftOutIterations::named_in(const Program& regions) const {
  std::map<ValueId, std::pair<size_t, const Exit*>> exits;  // by what is read outside
  for (size_t l = 0; l < regions.loops.size(); ++l)
    for (const Exit& exit : regions.loops[l].exits)
      exits.emplace(exit.outside, std::pair(l, &exit));
  KeptIterations kept;
  for (size_t l = 0; l < regions.loops.size(); ++l) {
    if (regions.loops[l].around)
      continue;
    for (const Exit& outer : regions.loops[l].exits) {
      IterationsAround iterations;
      for (auto exit = exits.find(outer.outside); exit != exits.end();
           exit = exits.find(exit->second.second->inside)) {
        const auto& [loop, of] = exit->second;
        const Loop& in = regions.loops[loop];
        iterations.push_back({in.lower, in.upper, of->iteration});
        if (has(loop, of->iteration))
          kept.add(iterations);
      }
    }
  }
  return kept;
}

}  // namespace orrery
