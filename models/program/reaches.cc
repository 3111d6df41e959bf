#include <algorithm>

#include "models/program/iterations.h"

namespace orrery {

Reaches::Reaches(const Program& program, const Iterations& iterations)
    : program_(program), iterations_(iterations) {
  if (program.loops.empty())
    return;
  of_.resize(program.values.size());
  for (size_t v = 0; v < of_.size(); ++v)
    for (LoopAround l = iterations.loop_of(ValueId(v)); l; l = iterations.around(*l))
      of_[v].emplace_back();
  for (bool changed = true; changed;) {
    changed = false;
    // Mostly a loop reads what was made before it, so later loops go first.
    for (auto l = static_cast<uint32_t>(program.loops.size()); l-- > 0;)
      changed |= extend(l);
  }
}

bool Reaches::Reach::include(const Reach& other) {
  const Reach before = *this;
  back = std::max(back, other.back);
  before_end = std::max(before_end, other.before_end);
  before_exit = std::max(before_exit, other.before_exit);
  return *this != before;
}

bool Reaches::extend(uint32_t l) {
  const Loop& loop = program_.loops[l];
  const auto most = static_cast<int64_t>(loop.carries.size());
  const auto one_more = [&](int64_t distance) {
    return distance < 0 ? distance : std::min(distance + 1, most);
  };
  bool further = false;
  for (const Carry& carry : loop.carries) {
    further |= extend(carry.result, carry.yielded, l, {0, 0, -1});
    further |= extend(carry.result, carry.initial, {}, {});
    further |= extend(carry.param, carry.initial, {}, {});
    if (carry.yielded == carry.param)
      continue;
    const Reach& of_param = of_[carry.param.index()].front();
    further |= extend(
        carry.param, carry.yielded, l,
        {one_more(of_param.back), one_more(of_param.before_end), one_more(of_param.before_exit)});
  }
  for (const Exit& exit : loop.exits)
    further |= extend(exit.outside, exit.inside, l, {0, -1, 0});
  return further;
}

bool Reaches::extend(ValueId reader, ValueId read, LoopAround own, const Reach& in_own) {
  const std::vector<Reach>& from = of_[reader.index()];
  std::vector<Reach>& to = of_[read.index()];
  bool further = false;
  size_t level = 0;
  for (LoopAround loop = iterations_.loop_of(read); loop;
       loop = iterations_.around(*loop), ++level) {
    if (loop == own) {
      further |= to[level].include(in_own);
      continue;
    }
    // Loops around both values are the last in each list.
    const size_t outwards = to.size() - level;
    if (outwards <= from.size())
      further |= to[level].include(from[from.size() - outwards]);
  }
  return further;
}

bool Reaches::is_near_end(const Loop& loop, const Reach& reach, int64_t at) {
  if (loop.upper - loop.lower - 1 - at <= reach.before_end)
    return true;
  return std::any_of(loop.exits.begin(), loop.exits.end(), [&](const Exit& exit) {
    const int64_t before = exit.iteration - loop.lower - at;
    return 0 <= before && before <= reach.before_exit;
  });
}

bool Reaches::is_read_from(ValueRun value, uint64_t now) const {
  size_t level = 0;
  for (LoopAround l = iterations_.loop_of(value.value); l; l = iterations_.around(*l), ++level) {
    const Reach& reach = of_[value.value.index()][level];
    const uint64_t trips = iterations_.trips(*l);
    const auto at = static_cast<int64_t>(value.iteration % trips);
    const auto reached = static_cast<int64_t>(now % trips);
    value.iteration /= trips;
    now /= trips;
    // Within one iteration of the loops around, later iterations of this loop read the value.
    if (value.iteration == now && reached - at <= reach.back)
      return true;
    if (!is_near_end(program_.loops[*l], reach, at))
      return false;
  }
  return true;
}

}  // namespace orrery
