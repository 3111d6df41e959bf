#include "models/program/iterations.h"

#include <algorithm>
#include <map>
#include <set>

#include "models/base/check.h"
#include "models/base/quantity.h"
#include "models/program/iteration_name.h"

namespace orrery {

Iterations::Iterations(const Program& program) : makers_(program.values.size()) {
  for (uint32_t op = 0; op < program.ops.size(); ++op)
    for (const ValueId result : program.ops[op].results)
      makers_[result.index()] = OpId(op);
  if (program.loops.empty())
    return;
  loop_of_op_.resize(program.ops.size());
  values_.resize(program.values.size());
  for (uint32_t l = 0; l < program.loops.size(); ++l) {
    const Loop& loop = program.loops[l];
    const LoopAround around = loop.around ? LoopAround(*loop.around) : std::nullopt;
    const auto trips = static_cast<uint64_t>(loop.upper - loop.lower);
    loops_.push_back({loop.lower, trips,
                      static_cast<uint64_t>(checked_multiply(static_cast<int64_t>(trips),
                                                             static_cast<int64_t>(runs(around)))),
                      around, loop.index, loop.carries, loop.exits});
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      loop_of_op_[op] = l;  // inner loops come later and overwrite this
    for (uint32_t c = 0; c < loop.carries.size(); ++c) {
      values_[loop.carries[c].param.index()] = {l, Stands::Param, l, c};
      values_[loop.carries[c].result.index()] = {around, Stands::Result, l, c};
    }
    for (uint32_t e = 0; e < loop.exits.size(); ++e)
      values_[loop.exits[e].outside.index()] = {around, Stands::Exit, l, e};
  }
  for (uint32_t op = 0; op < program.ops.size(); ++op)
    for (const ValueId result : program.ops[op].results)
      values_[result.index()].loop = loop_of_op_[op];
  find_reaches();
}

bool Iterations::Reach::include(const Reach& other) {
  const Reach before = *this;
  back = std::max(back, other.back);
  before_end = std::max(before_end, other.before_end);
  before_exit = std::max(before_exit, other.before_exit);
  return *this != before;
}

void Iterations::find_reaches() {
  for (ValueInfo& value : values_)
    for (LoopAround loop = value.loop; loop; loop = loops_[*loop].around)
      value.reach.emplace_back();
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t l = 0; l < loops_.size(); ++l) {
      for (const Carry& carry : loops_[l].carries) {
        changed |= extend(carry.result, carry.yielded, l, {0, 0, -1});
        changed |= extend(carry.result, carry.initial, {}, {});
        changed |= extend(carry.param, carry.initial, {}, {});
        if (carry.yielded == carry.param)
          continue;
        const auto most = static_cast<int64_t>(loops_[l].carries.size());
        const auto one_more = [&](int64_t distance) {
          return distance < 0 ? distance : std::min(distance + 1, most);
        };
        const Reach& of_param = values_[carry.param.index()].reach.front();
        const Reach before{one_more(of_param.back), one_more(of_param.before_end),
                           one_more(of_param.before_exit)};
        changed |= extend(carry.param, carry.yielded, l, before);
      }
      for (const Exit& exit : loops_[l].exits)
        changed |= extend(exit.outside, exit.inside, l, {0, -1, 0});
    }
  }
}

bool Iterations::extend(ValueId reader, ValueId read, LoopAround own, const Reach& in_own) {
  const ValueInfo& from = values_[reader.index()];
  ValueInfo& to = values_[read.index()];
  bool further = false;
  size_t level = 0;
  for (LoopAround loop = to.loop; loop; loop = loops_[*loop].around, ++level) {
    if (loop == own) {
      further |= to.reach[level].include(in_own);
      continue;
    }
    // Loops around both values are the last in each list.
    const size_t outwards = to.reach.size() - level;
    if (outwards <= from.reach.size())
      further |= to.reach[level].include(from.reach[from.reach.size() - outwards]);
  }
  return further;
}

bool Iterations::is_near_end(const LoopInfo& loop, const Reach& reach, int64_t at) const {
  if (static_cast<int64_t>(loop.trips) - 1 - at <= reach.before_end)
    return true;
  return std::any_of(loop.exits.begin(), loop.exits.end(), [&](const Exit& exit) {
    const int64_t before = exit.iteration - loop.lower - at;
    return 0 <= before && before <= reach.before_exit;
  });
}

bool Iterations::is_read_from(ValueRun value, uint64_t now) const {
  const ValueInfo& info = this->info(value.value);
  size_t level = 0;
  for (LoopAround l = info.loop; l; l = loops_[*l].around, ++level) {
    const LoopInfo& loop = loops_[*l];
    const auto at = static_cast<int64_t>(value.iteration % loop.trips);
    const auto reached = static_cast<int64_t>(now % loop.trips);
    value.iteration /= loop.trips;
    now /= loop.trips;
    // Within one iteration of the loops around, later iterations of this loop read the value.
    if (value.iteration == now && reached - at <= info.reach[level].back)
      return true;
    if (!is_near_end(loop, info.reach[level], at))
      return false;
  }
  return true;
}

std::vector<OpId> Iterations::makers(ValueId value) const {
  std::set<ValueId> seen;
  std::set<OpId> makers;
  std::vector<ValueId> next = {value};
  while (!next.empty()) {
    const ValueId at = next.back();
    next.pop_back();
    if (!seen.insert(at).second)
      continue;
    const ValueInfo& info = this->info(at);
    if (const std::optional<OpId> maker = this->maker(at))
      makers.insert(*maker);
    if (info.stands == Stands::Exit)
      next.push_back(loops_[info.of_loop].exits[info.index].inside);
    if (info.stands == Stands::Param || info.stands == Stands::Result) {
      const Carry& carry = loops_[info.of_loop].carries[info.index];
      next.insert(next.end(), {carry.initial, carry.yielded});
    }
  }
  return {makers.begin(), makers.end()};
}

uint64_t Iterations::outwards(uint64_t iteration, LoopAround inner, LoopAround outer) const {
  while (inner != outer) {
    ORRERY_CHECK(inner.has_value(), "what is read is in a loop around the reader, or in none");
    iteration /= loops_[*inner].trips;
    inner = loops_[*inner].around;
  }
  return iteration;
}

ValueRun Iterations::source(ValueId value, LoopAround from, uint64_t iteration) const {
  uint64_t at = outwards(iteration, from, loop_of(value));
  // Carries that only pass values to each other come round again and again. Rounds are skipped.
  std::map<ValueId, uint64_t> seen;
  for (;;) {
    const ValueInfo& info = this->info(value);
    if (info.stands == Stands::Itself)
      return {value, at};
    const LoopInfo& loop = loops_[info.of_loop];
    LoopAround in = info.of_loop;  // the loop that `at` counts
    if (info.stands == Stands::Param) {
      const Carry& carry = loop.carries[info.index];
      const bool stays = carry.yielded == carry.param;
      if (!stays && values_[carry.yielded.index()].stands != Stands::Itself) {
        const auto [before, is_new] = seen.emplace(value, at);
        if (!is_new && before->second / loop.trips == at / loop.trips)
          at = at / loop.trips * loop.trips + at % loop.trips % (before->second - at);
        before->second = at;
      }
      if (stays || at % loop.trips == 0) {
        value = carry.initial;
        at /= loop.trips;
        in = loop.around;
      } else {
        value = carry.yielded;
        --at;
      }
    } else if (info.stands == Stands::Result) {
      const Carry& carry = loop.carries[info.index];
      if (loop.trips == 0) {
        value = carry.initial;
        in = loop.around;
      } else {
        value = carry.yielded;
        at = at * loop.trips + loop.trips - 1;
      }
    } else {
      const Exit& exit = loop.exits[info.index];
      value = exit.inside;
      at = at * loop.trips + static_cast<uint64_t>(exit.iteration - loop.lower);
    }
    at = outwards(at, in, loop_of(value));
  }
}

std::string Iterations::name(std::string_view in_body, LoopAround loop, uint64_t iteration) const {
  std::vector<int64_t> indices;  // the innermost first
  for (; loop; loop = loops_[*loop].around) {
    indices.push_back(index(*loop, iteration));
    iteration /= loops_[*loop].trips;
  }
  std::string name;
  while (!indices.empty()) {
    const size_t bracket = in_body.find(kAnyIndex);
    ORRERY_CHECK(bracket != std::string_view::npos, "a name in a loop has a place for its index");
    name = with_index(name + std::string(in_body.substr(0, bracket)), indices.back());
    in_body.remove_prefix(bracket + kAnyIndex.size());
    indices.pop_back();
  }
  return name + std::string(in_body);
}

}  // namespace orrery
