#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "models/program/loops.h"

namespace orrery {

namespace {

bool same_iterations(const WrittenLoop& a, const WrittenLoop& b) {
  return a.lower == b.lower && a.upper == b.upper && a.window == b.window && a.period == b.period &&
         a.written.size() == b.written.size();
}

}  // namespace

std::vector<std::vector<size_t>> repeated_in(const Program& program) {
  std::vector<std::vector<size_t>> loops(program.ops.size());
  for (size_t l = 0; l < program.written_loops.size(); ++l) {
    const WrittenLoop& loop = program.written_loops[l];
    for (uint32_t op = loop.repeated_ops().begin;
         loop.left_out() > 0 && op < loop.repeated_ops().end; ++op)
      loops[op].push_back(l);
  }
  return loops;
}

std::optional<std::vector<LoopGroup>> loop_groups(const Program& program) {
  const std::vector<std::vector<size_t>> loops_of = repeated_in(program);
  std::vector<size_t> group(
      program.written_loops.size());  // per loop: one of its group, none after it
  std::iota(group.begin(), group.end(), size_t{0});
  const auto least = [&](size_t loop) {
    while (group[loop] != loop)
      loop = group[loop] = group[group[loop]];
    return loop;
  };
  for (const Site& site : program.sites) {
    const std::vector<size_t>& first = loops_of[site.ops.front().index()];
    for (const OpId op : site.ops) {
      const std::vector<size_t>& others = loops_of[op.index()];
      if (others.size() != first.size())
        return std::nullopt;
      for (size_t i = 0; i < first.size(); ++i) {
        if (!same_iterations(program.written_loops[first[i]], program.written_loops[others[i]]))
          return std::nullopt;
        const size_t one = least(first[i]);
        const size_t other = least(others[i]);
        group[std::max(one, other)] = std::min(one, other);
      }
    }
  }
  std::map<size_t, LoopGroup> by_least;
  for (size_t l = 0; l < program.written_loops.size(); ++l)
    if (program.written_loops[l].left_out() > 0)
      by_least[least(l)].push_back(l);
  std::vector<LoopGroup> groups;
  for (auto& [first, members] : by_least)
    groups.push_back(std::move(members));
  // A loop comes after those inside it, so its group's last one comes after all of theirs.
  std::sort(groups.begin(), groups.end(),
            [](const LoopGroup& a, const LoopGroup& b) { return a.back() < b.back(); });
  return groups;
}

}  // namespace orrery
