// This is the part of backward_pass.h that goes back through loops, and finds what the pass reads
// of the forward pass.

#include <algorithm>
#include <utility>

#include "models/base/check.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/transform/backward_pass.h"

namespace orrery {

namespace {

/// Returns the loop's name as the body around it has it.
std::string_view own_name_of_loop(const Program& program, const Loop& loop) {
  return loop.around ? own_name(any_iteration(program.loops[*loop.around].name), loop.name)
                     : std::string_view(loop.name);
}

/// Returns the carry of the param, if it is the same in all iterations.
std::optional<size_t> unchanged(const Loop& loop, ValueId value) {
  for (size_t c = 0; c < loop.carries.size(); ++c)
    if (const Carry& carry = loop.carries[c];
        carry.param == value && (carry.yielded == value || carry.yielded == carry.initial))
      return c;
  return std::nullopt;
}

/// Returns the param of an earlier carry that always has the same value.
std::optional<ValueId> twin(const Loop& loop, ValueId value) {
  const auto carry = std::ranges::find(loop.carries, value, &Carry::param);
  if (carry == loop.carries.end())
    return std::nullopt;
  const auto first = std::ranges::find_if(loop.carries, [&](const Carry& other) {
    return other.initial == carry->initial && other.yielded == carry->yielded;
  });
  return first == carry ? std::nullopt : std::optional(first->param);
}

/// Returns the carry that yields the value, or one that always is the same. The value is that
/// carry's param of the iteration after.
std::optional<size_t> yielding(const Loop& loop, ValueId value) {
  for (size_t c = 0; c < loop.carries.size(); ++c)
    if (const ValueId yielded = loop.carries[c].yielded;
        (yielded == value || twin(loop, yielded) == value) && !twin(loop, loop.carries[c].param))
      return c;
  return std::nullopt;
}

/// Returns whether the backward pass can have this param of each iteration: it is saved, or carries
/// pass it on to one that is saved. Each of these carries holds a value, so they must be fewer than
/// the iterations, whose array they save. The result is false for a ring of carries that leads to
/// `value`.
bool has_param(const Loop& loop, const LoopNeeds& needs, ValueId param, ValueId value) {
  int64_t held = 0;
  for (size_t step = 0; step <= loop.carries.size() && param != value; ++step) {
    if (std::ranges::find(needs.saved, param) != needs.saved.end())
      return true;
    const std::optional<size_t> c = yielding(loop, param);
    if (!c || (!needs.next.contains(*c) && ++held >= loop.upper - loop.lower))
      return false;
    param = loop.carries[*c].param;
  }
  return false;
}

}  // namespace

std::vector<size_t> loops_in(const Program& program, size_t loop) {
  std::vector<size_t> loops;
  for (size_t inner = loop; inner < program.loops.size(); ++inner) {
    std::optional<size_t> around = inner;
    while (around && *around != loop)
      around = program.loops[*around].around;
    if (around)
      loops.push_back(inner);
  }
  return loops;
}

bool saves_arrays(const Program& program, const BackwardNeeds& needs, size_t loop) {
  return std::ranges::any_of(loops_in(program, loop), [&](size_t l) {
    return std::ranges::any_of(needs.loops[l].saved, [&](ValueId value) {
      return program.value(value).type.shape.rank() > 0;
    });
  });
}

Shape saved_shape(const Program& program, size_t loop, const Shape& value) {
  std::vector<int64_t> dims(value.dims().begin(), value.dims().end());
  for (std::optional<size_t> l = loop; l; l = program.loops[*l].around)
    dims.insert(dims.begin(), program.loops[*l].upper - program.loops[*l].lower);
  return Shape(std::move(dims));
}

bool BackwardPass::is_here(ValueId value) const {
  return body_[value.index()] == level().loop;
}

/// Returns the name without the iteration of the forward loop that the pass goes back through.
std::string_view BackwardPass::own_name_of(std::string_view name) const {
  return level().loop ? own_name(any_iteration(program_.loops[*level().loop].name), name) : name;
}

/// Returns the name of an op or a value here.
std::string BackwardPass::here(std::string_view own) const {
  return level().loop ? name_in(any_iteration(level().begin.name), own) : std::string(own);
}

void BackwardPass::carry(Level& level, std::string_view name, std::string initial) {
  level.begin.carries.push_back(
      {take_carry(names_, level.begin.name, std::string(name)), std::move(initial)});
}

/// Carries the cotangents of the carries. The cotangent of a param goes to the iteration before.
void BackwardPass::carry_cotangents(const Loop& loop, const LoopNeeds& needs, Level& level) {
  for (size_t c = 0; c < loop.carries.size(); ++c) {
    const Carry& carried = loop.carries[c];
    const std::optional<std::string> after = cotangent(carried.result);
    if (!wants(carried.param) || (!after && !needs.carries.contains(c)))
      continue;
    const std::string_view own =
        own_name(any_iteration(loop.name), program_.value(carried.param).name);
    const bool is_own = (!after || own_cotangent(carried.result)) && !needs.shared.contains(c);
    carry(level, "ct_" + std::string(own),
          after ? *after
                : zeros_by(add_large_zeros, cotangent_type(program_.value(carried.result).type)));
    level.carries.push_back(c);
    if (is_own)
      readers_[level.begin.carries.back().param] = 0;
  }
}

/// Carries the sums of the cotangents of values from outside.
void BackwardPass::carry_sums(const LoopNeeds& needs, Level& level) {
  for (const ValueId value : needs.accumulated) {
    std::optional<std::string> sum = own_cotangent(value);
    if (!sum && cotangent(value))
      level.added_after.insert(value);
    if (!sum)
      sum = zeros_by(add_large_zeros, cotangent_type(program_.value(value).type));
    const std::string& name = program_.value(value).name;
    carry(level, "ct_" + std::string(is_here(value) ? own_name_of(name) : without_indices(name)),
          *sum);
    level.sums.push_back(value);
    level.cotangents[value] = level.begin.carries.back().param;
    readers_[level.cotangents[value]] = 1;
  }
}

void BackwardPass::make_scalars(size_t outermost) {
  scalars_ = {};
  name_after(program_.loops[outermost].name, program_.loops[outermost].origin, std::nullopt);
  const auto integer = [&](const std::string& name, int64_t value) {
    after_ = name;
    return op(OpKind::Full, {}, index_attributes(value));
  };
  for (const size_t l : loops_in(program_, outermost)) {
    const Loop& loop = program_.loops[l];
    if (!needs_.loops[l].position)
      continue;
    const std::string name = without_indices(loop.name);
    scalars_.last[l] = integer(name + ".last", loop.upper - loop.lower - 1);
    if (loop.lower != 0)
      scalars_.first[l] = integer(name + ".first", loop.lower);
  }
  if (saves_arrays(program_, needs_, outermost))
    scalars_.zero = integer("zero", 0);
}

bool BackwardPass::enter(size_t l) {
  const Loop& loop = program_.loops[l];
  if (std::none_of(loop.carries.begin(), loop.carries.end(),
                   [&](const Carry& carried) { return cotangent(carried.result).has_value(); }))
    return false;
  const LoopNeeds needs = needs_.loops[l];
  for (const ValueId value : needs.before)
    static_cast<void>(residual(value));
  Level inner;
  inner.loop = l;
  inner.begin.name = names_.take(here(std::string(own_name_of_loop(program_, loop)) + ".bwd"));
  inner.begin.upper = loop.upper - loop.lower;
  inner.begin.origin = loop.origin;
  if (!loop.around)
    make_scalars(l);
  name_after(loop.name, loop.origin, std::nullopt);
  carry_cotangents(loop, needs, inner);
  carry_sums(needs, inner);
  for (const size_t c : needs.next) {
    const Carry& carried = loop.carries[c];
    const std::string_view own =
        own_name(any_iteration(loop.name), program_.value(carried.param).name);
    carry(inner, std::string(own) + ".next", residual(carried.result));
    inner.next.push_back(c);
  }
  if (needs.position) {
    OpRequest index;
    index.name = names_.take(name_in(any_iteration(inner.begin.name), "i"));
    index.kind = OpKind::Full;
    index.attributes = index_attributes(0);
    index.origin = loop.origin;
    index.pass = Pass::Backward;
    inner.begin.index = std::move(index);
  }
  add(inner.begin);
  levels_.push_back(std::move(inner));
  after_ = here("position");
  if (needs.position)
    level().position = op(OpKind::Sub, {scalars_.last.at(l), level().begin.index->name}, {});
  for (size_t k = 0; k < level().carries.size(); ++k) {
    after_ = here("ct");
    add_cotangent(loop.carries[level().carries[k]].yielded, level().begin.carries[k].param);
  }
  return true;
}

void BackwardPass::leave() {
  const Loop& loop = program_.loops[*level().loop];
  LoopNeeds& needs = needs_.loops[*level().loop];
  LoopEnd end;
  after_ = here("ct");
  origin_ = loop.origin;
  forward_.clear();
  for (const size_t c : level().carries) {
    const ValueId param = loop.carries[c].param;
    const std::optional<std::string> before = cotangent(param);
    if (before && !own_cotangent(param) &&
        readers_.contains(level().begin.carries[end.yielded.size()].param))
      needs_.grew = needs.shared.insert(c).second || needs_.grew;
    end.yielded.push_back(
        before ? *before : zeros_by(add_large_zeros, cotangent_type(program_.value(param).type)));
  }
  for (const ValueId value : level().sums)
    end.yielded.push_back(*cotangent(value));
  for (const size_t c : level().next)
    end.yielded.push_back(residual(loop.carries[c].param));
  for (size_t c = 0; c < loop.carries.size(); ++c)
    if (cotangent(loop.carries[c].param) &&
        std::count(level().carries.begin(), level().carries.end(), c) == 0)
      needs_.grew = needs.carries.insert(c).second || needs_.grew;
  const std::string& name = level().begin.name;
  for (const LoopBegin::Carried& carried : level().begin.carries)
    end.results.push_back(name_in(name, own_name(any_iteration(name), carried.param)));
  const std::vector<std::string> results = end.results;
  add(std::move(end));
  const Level inner = std::move(level());
  levels_.pop_back();
  name_after(loop.name, loop.origin, std::nullopt);
  for (size_t k = 0; k < inner.sums.size(); ++k) {
    const ValueId value = inner.sums[k];
    const std::string& sum = results[inner.carries.size() + k];
    readers_[sum] = 0;
    if (inner.added_after.contains(value) || !(is_here(value) || cotangent(value)))
      add_cotangent(value, sum);
    else
      hold_cotangent(value, sum);
  }
  // The last iteration yields the carry's initial value for the one before it. So this value need
  // not be held since the forward pass.
  for (size_t k = 0; k < inner.next.size(); ++k)
    if (const ValueId initial = loop.carries[inner.next[k]].initial;
        is_here(initial) && maker(initial))
      level().residuals.emplace(initial, results[inner.carries.size() + inner.sums.size() + k]);
  for (size_t k = 0; k < inner.carries.size(); ++k) {
    if (readers_.contains(inner.begin.carries[k].param))
      readers_[results[k]] = 0;
    add_cotangent(loop.carries[inner.carries[k]].initial, results[k]);
  }
}

std::string BackwardPass::residual(ValueId value) {
  if (!is_here(value))
    return from_around(value);
  if (const auto made = level().residuals.find(value); made != level().residuals.end())
    return made->second;
  std::string name = recomputed_maker(value) ? again(value) : kept(value);
  level().residuals.emplace(value, name);
  return name;
}

/// Returns the name of a value of the body around this one, or of one further outside. If it must
/// be made there, it was made before the loop began.
std::string BackwardPass::from_around(ValueId value) {
  size_t k = levels_.size() - 1;
  while (levels_[k].loop != body_[value.index()])
    --k;
  if (const auto made = levels_[k].residuals.find(value); made != levels_[k].residuals.end())
    return made->second;
  if (k == 0 && !recomputed_maker(value))
    return program_.value(value).name;
  needs_.loops[*levels_[k + 1].loop].before.push_back(value);
  needs_.grew = true;
  return stand_in(value);
}

/// Returns zeros in the place of a value that the next pass has.
std::string BackwardPass::stand_in(ValueId value) {
  ValueType type = program_.value(value).type;
  type.future = false;
  return zeros_by(add_zeros, type);
}

/// Returns the name of a value that the forward pass has kept.
std::string BackwardPass::kept(ValueId value) {
  if (!level().loop)
    return program_.value(value).name;
  const Loop& loop = program_.loops[*level().loop];
  LoopNeeds& needs = needs_.loops[*level().loop];
  if (loop.index && maker(value) == loop.index)
    return index_of(loop);
  if (const auto c = unchanged(loop, value))
    return residual(loop.carries[*c].initial);
  if (const std::optional<ValueId> same = twin(loop, value))
    return residual(*same);
  // A value that a carry passes on is not saved if the carry's own param can be there.
  const std::optional<size_t> c = yielding(loop, value);
  if (c && (needs.next.contains(*c) || has_param(loop, needs, loop.carries[*c].param, value))) {
    const std::vector<size_t>& next = level().next;
    if (const auto found = std::find(next.begin(), next.end(), *c); found != next.end())
      return level()
          .begin
          .carries[level().carries.size() + level().sums.size() +
                   static_cast<size_t>(found - next.begin())]
          .param;
    needs.next.insert(*c);
    std::erase(needs.saved, value);
  } else if (saved_.contains(value)) {
    return slice(value);
  } else {
    needs.saved.push_back(value);
    for (std::optional<size_t> l = level().loop; l; l = program_.loops[*l].around)
      needs_.loops[*l].position = true;
  }
  needs_.grew = true;
  return stand_in(value);
}

/// Returns the name of the index of the loop's iteration.
std::string BackwardPass::index_of(const Loop& loop) {
  LoopNeeds& needs = needs_.loops[*level().loop];
  if (!needs.position || level().position.empty()) {
    needs.position = true;
    needs_.grew = true;
    return stand_in(program_.op(*loop.index).results.front());
  }
  const auto first = scalars_.first.find(*level().loop);
  return first == scalars_.first.end() ? level().position
                                       : op(OpKind::Add, {level().position, first->second}, {});
}

/// Slices the value out of the array that has it for all iterations.
std::string BackwardPass::slice(ValueId value) {
  const Shape& shape = program_.value(value).type.shape;
  std::vector<std::string> operands = {saved_.at(value)};
  for (size_t k = 1; k < levels_.size(); ++k)
    operands.push_back(levels_[k].position);
  operands.resize(operands.size() + shape.rank(), scalars_.zero);
  std::vector<int64_t> sizes(levels_.size() - 1, 1);
  sizes.insert(sizes.end(), shape.dims().begin(), shape.dims().end());
  Attributes slice;
  slice.set("slice_sizes", std::move(sizes));
  Attributes reshape;
  reshape.set("new_sizes", std::vector<int64_t>(shape.dims().begin(), shape.dims().end()));
  const std::string after =
      std::exchange(after_, here(own_name_of(program_.value(value).name)) + ".saved");
  std::string part = op(OpKind::DynamicSlice, std::move(operands), std::move(slice));
  part = op(OpKind::Reshape, {part}, std::move(reshape));
  after_ = after;
  return part;
}

std::optional<OpId> BackwardPass::recomputed_maker(ValueId value) const {
  const auto maker = makers_.find(value);
  return maker != makers_.end() && recomputed_.contains(maker->second)
             ? std::optional(maker->second)
             : std::nullopt;
}

/// Returns the op that makes the results. If `id` is a done, it is the start.
const Op& BackwardPass::made_by(OpId id) const {
  const Op& op = program_.op(id);
  return op.kind == OpKind::Done ? program_.op(makers_.at(op.operands.front())) : op;
}

/// Computes a value of this body again, after all ops of the body that must be computed again for
/// it, in program order.
std::string BackwardPass::again(ValueId value) {
  std::set<OpId> needed;
  std::vector<OpId> open = {*recomputed_maker(value)};
  while (!open.empty()) {
    const OpId id = open.back();
    open.pop_back();
    if (level().residuals.contains(program_.op(id).results.front()) || !needed.insert(id).second)
      continue;
    for (const ValueId operand : made_by(id).operands)
      if (const std::optional<OpId> earlier = recomputed_maker(operand);
          earlier && is_here(operand))
        open.push_back(*earlier);
  }
  for (const OpId id : needed)
    make_again(id);
  return level().residuals.at(value);
}

void BackwardPass::make_again(OpId id) {
  const Op& made = made_by(id);
  OpRequest request;
  request.kind = made.kind;
  request.attributes = written_attributes(made);
  for (const ValueId operand : made.operands)
    request.operands.push_back(residual(operand));
  const std::vector<ValueId>& results = program_.op(id).results;
  for (size_t r = 0; r < results.size(); ++r) {
    const std::string& result = program_.value(results[r]).name;
    std::string name = names_.take(here(own_name_of(result)) + ".re");
    level().residuals[results[r]] = name;
    if (r == 0)
      request.name = std::move(name);
    else
      request.other_results.push_back(std::move(name));
  }
  request.origin = made.origin;
  request.pass = Pass::Again;
  request.forward = program_.op(id).name;
  add(std::move(request));
}

}  // namespace orrery
