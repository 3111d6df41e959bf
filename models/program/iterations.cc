#include "models/program/iterations.h"

#include <map>

#include "models/base/check.h"
#include "models/base/quantity.h"
#include "models/program/iteration_name.h"

namespace orrery {

Iterations::Iterations(const Program& program)
    : loop_of_op_(program.ops.size()), values_(program.values.size()) {
  for (uint32_t l = 0; l < program.loops.size(); ++l) {
    const Loop& loop = program.loops[l];
    const LoopAround around = loop.around ? LoopAround(*loop.around) : std::nullopt;
    const auto trips = static_cast<uint64_t>(loop.upper - loop.lower);
    loops_.push_back({loop.lower, trips,
                      static_cast<uint64_t>(checked_multiply(static_cast<int64_t>(trips),
                                                             static_cast<int64_t>(runs(around)))),
                      around, loop.carries, loop.exits});
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      loop_of_op_[op] = l;  // a loop comes before those in it
    for (uint32_t c = 0; c < loop.carries.size(); ++c) {
      values_[loop.carries[c].param.index()] = {l, {}, Stands::Param, l, c};
      values_[loop.carries[c].result.index()] = {around, {}, Stands::Result, l, c};
    }
    for (uint32_t e = 0; e < loop.exits.size(); ++e)
      values_[loop.exits[e].outside.index()] = {around, {}, Stands::Exit, l, e};
  }
  for (uint32_t op = 0; op < program.ops.size(); ++op)
    for (const ValueId result : program.ops[op].results)
      values_[result.index()] = {loop_of_op_[op], OpId(op), Stands::Itself, 0, 0};
}

bool Iterations::encloses(LoopAround outer, LoopAround inner) const {
  while (inner != outer && inner)
    inner = loops_[*inner].around;
  return inner == outer;
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
  // Where carries are only passed on from one to another, they come round again and again.
  std::map<ValueId, uint64_t> seen;
  for (;;) {
    const ValueInfo& info = values_[value.index()];
    if (info.stands == Stands::Itself)
      return {value, at};
    const LoopInfo& loop = loops_[info.of_loop];
    LoopAround in = info.of_loop;  // the loop that `at` counts
    if (info.stands == Stands::Param) {
      const auto [before, is_new] = seen.emplace(value, at);
      if (!is_new && before->second / loop.trips == at / loop.trips)
        at = at / loop.trips * loop.trips + at % loop.trips % (before->second - at);
      before->second = at;
      const Carry& carry = loop.carries[info.index];
      if (at % loop.trips == 0) {
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
    const LoopInfo& of = loops_[*loop];
    indices.push_back(of.lower + static_cast<int64_t>(iteration % of.trips));
    iteration /= of.trips;
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
