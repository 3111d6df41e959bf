#include "models/program/kept_iterations.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace orrery {

LoopEntry::LoopEntry(const Program& program, const WrittenLoop& made,
                     const std::vector<ValueId>& values) {
  const auto located = [&](IdRange LoopIteration::*ids, size_t id) -> Located {
    const auto iteration =
        std::partition_point(made.written.begin(), made.written.end(),
                             [&](const LoopIteration& each) { return (each.*ids).end <= id; });
    const auto before = static_cast<size_t>(made.written.end() - iteration);
    const auto index = static_cast<uint32_t>(id);
    if (before == 0 || before > values.size() || !((*iteration).*ids).has(id))
      return {0, index};
    return {static_cast<uint32_t>(before), index - ((*iteration).*ids).begin};
  };
  for (const ValueId value : values)
    carried.push_back({located(&LoopIteration::values, value.index()),
                       located(&LoopIteration::buffers, program.value(value).buffer.index())});
}

uint32_t LoopEntry::furthest() const {
  uint32_t furthest = 0;
  for (const Carried& each : carried)
    furthest = std::max({furthest, each.value.iterations_before, each.buffer.iterations_before});
  return furthest;
}

void WrittenIterations::include(const WrittenIterations& other) {
  constexpr uint64_t kNone = std::numeric_limits<uint32_t>::max();  // longer than any loop
  first = std::max(first, other.first);
  reach = std::max(reach, other.reach);
  period =
      static_cast<uint32_t>(std::min(kNone, std::lcm(uint64_t{period}, uint64_t{other.period})));
}

void WrittenIterations::set_in(WrittenLoop& made) const {
  const uint64_t window = uint64_t{reach} + period;
  if (first + window + period > made.trips())
    return;
  made.first = first + static_cast<uint32_t>((made.trips() - first - window) % period);
  made.window = static_cast<uint32_t>(window);
  made.period = period;
}

std::optional<WrittenIterations> LoopEntries::add(LoopEntry entry) {
  const auto number = static_cast<uint32_t>(number_of_.size());
  const auto [same, is_new] = number_of_.emplace(std::move(entry), number);
  if (is_new)
    return std::nullopt;
  // A loop of any length keeps in memory what this one's first and last iterations hold. Before the
  // window, an iteration may name any number of earlier ones.
  uint32_t reach = 1;
  for (const auto& [each, at] : number_of_)
    if (at >= same->second)
      reach = std::max(reach, each.furthest());
  return WrittenIterations{number + reach, reach, number - same->second};
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
  least_[{lower, upper}].include(written);
}

void LeftOutIterations::make_alike(KeptIterations& kept) const {
  for (const auto& [bounds, written] : most_)
    kept.at_least(bounds.first, bounds.second, written);
}

void LeftOutIterations::add(size_t loop, const WrittenLoop& written) {
  const WrittenIterations of{written.first, written.reach(), written.period};
  const auto at = most_.emplace(std::pair(written.lower, written.upper), of).first;
  differ_ |= at->second != of;
  at->second.include(of);
  loops_[loop].insert({written.lower + written.first - of.reach, written.upper - written.window});
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
