#include "models/program/iterations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "models/base/check.h"
#include "models/program/iteration_name.h"

namespace orrery {

namespace {

uint64_t times(uint64_t trips, uint64_t runs) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  return trips > kMost / runs ? kMost : trips * runs;
}

}  // namespace

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
    const uint64_t around_runs = runs(around);
    loops_.push_back({loop.lower, trips, around_runs == 0 ? 0 : times(trips, around_runs), around,
                      loop.index, loop.carries, loop.exits});
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      loop_of_op_[op] = l;  // inner loops come later and overwrite this
    for (uint32_t c = 0; c < loop.carries.size(); ++c) {
      values_[loop.carries[c].param.index()] = {l, Stands::Param, l, c};
      values_[loop.carries[c].result.index()] = {around, Stands::Result, l, c};
    }
    for (uint32_t e = 0; e < loop.exits.size(); ++e)
      values_[loop.exits[e].outside.index()] = {around, Stands::Exit, l, e};
  }
  std::vector<ValueId> owners(program.buffers.size());
  for (size_t v = program.values.size(); v-- > 0;)
    owners[program.values[v].buffer.index()] = ValueId(v);
  for (size_t v = 0; v < program.values.size(); ++v)
    values_[v].owner = owners[program.values[v].buffer.index()];
  for (uint32_t op = 0; op < program.ops.size(); ++op)
    for (const ValueId result : program.ops[op].results)
      values_[result.index()].loop = loop_of_op_[op];
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

bool Iterations::is_in(LoopAround inner, uint32_t loop) const {
  while (inner && *inner > loop)
    inner = loops_[*inner].around;
  return inner == loop;
}

Iterations::Found Iterations::follow(ValueId value, LoopAround in, uint64_t at, LoopAround body,
                                     Of of) const {
  // Carries that only pass values to each other come round again and again. Rounds are skipped.
  std::map<ValueId, uint64_t> seen;
  for (;;) {
    const ValueInfo* info = &this->info(value);
    if (body && !is_in(info->loop, *body))
      return {{value, 0}, true};
    at = outwards(at, in, info->loop);
    in = info->loop;
    if (of == Of::Storage && info->owner != value) {
      value = info->owner;
      continue;
    }
    if (info->stands == Stands::Itself || (info->stands == Stands::Param && info->of_loop == body))
      return {{value, at}, false};
    const LoopInfo& loop = loops_[info->of_loop];
    in = info->of_loop;  // the loop that `at` counts
    if (info->stands == Stands::Param) {
      const Carry& carry = loop.carries[info->index];
      const bool stays = carry.yielded == carry.param;
      const ValueInfo& yielded = values_[carry.yielded.index()];
      if (!stays && (yielded.stands != Stands::Itself ||
                     (of == Of::Storage && yielded.owner != carry.yielded))) {
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
    } else if (info->stands == Stands::Result) {
      const Carry& carry = loop.carries[info->index];
      if (loop.trips == 0) {
        value = carry.initial;
        in = loop.around;
      } else {
        value = carry.yielded;
        at = at * loop.trips + loop.trips - 1;
      }
    } else {
      const Exit& exit = loop.exits[info->index];
      value = exit.inside;
      at = at * loop.trips + static_cast<uint64_t>(exit.iteration - loop.lower);
    }
  }
}

BodySource Iterations::in_body(uint32_t loop, ValueId value, Of of) const {
  const auto [found, outside] = follow(value, loop, 0, loop, of);
  if (outside)
    return {BodySource::Kind::Outside, 0};
  const ValueInfo& info = this->info(found.value);
  return info.stands == Stands::Param ? BodySource{BodySource::Kind::Carry, info.index}
                                      : BodySource();
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
