// This is the part of builder.h that makes regions (program.h), and finds names of single
// iterations.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/program/groups.h"
#include "models/program/iteration_name.h"

namespace orrery {

namespace {

/// Joins the states of two values. Without checks, states that differ count as varying.
AxisStates joined(const AxisStates& a, const AxisStates& b) {
  AxisStates joined = a;
  for (size_t axis = 0; axis < a.size(); ++axis)
    if (a[axis] != b[axis])
      joined[axis] = AxisState::Varying;
  return joined;
}

}  // namespace

void ProgramBuilder::begin_loop(std::string name, int64_t lower, int64_t upper,
                                std::optional<Origin> origin) {
  ORRERY_CHECK(!program_.threads.empty() && lower <= upper, "a loop is of a thread");
  Loop loop{std::move(name), ThreadId(program_.threads.size() - 1), lower, upper,
            open_loops_.empty() ? std::nullopt : std::optional(open_loops_.back())};
  loop.ops = {size().ops, size().ops};
  loop.origin = std::move(origin);
  loops_named_.emplace(loop.name, program_.loops.size());
  open_loops_.push_back(program_.loops.size());
  program_.loops.push_back(std::move(loop));
}

/// Adds a value that no op makes, of the type of `like`.
ValueId ProgramBuilder::add_alike(std::string name, ValueId like) {
  ValueType type = program_.value(like).type;
  program_.buffers.push_back({type.size(), MemorySpace::Device});
  return add_value(std::move(name), std::move(type),
                   {BufferId(program_.buffers.size() - 1), Bytes()});
}

/// Limits the value to the devices of the other one.
void ProgramBuilder::limit_as(ValueId value, ValueId other) {
  if (const auto limited = limited_.find(other); limited != limited_.end())
    limited_.emplace(value, limited->second);
}

ValueId ProgramBuilder::carry(std::string name, ValueId initial, const Origin& at) {
  Loop& loop = program_.loops[open_loops_.back()];
  ORRERY_CHECK(loop.ops.begin == size().ops, "carries come before the ops of a body");
  const ValueId param = add_alike(name, initial);
  limit_as(param, initial);
  if (Definition* const definition = define(name, at, {param, false, loop.thread, at}))
    definition->is_param = true;
  loop.carries.push_back({initial, param, param, param});
  return param;
}

bool ProgramBuilder::is_carried(const std::string& name) const {
  const auto found = defined_.find(name);
  return found != defined_.end() && found->second.is_param;
}

void ProgramBuilder::last_op_is_index() {
  program_.loops[open_loops_.back()].index = OpId(program_.ops.size() - 1);
}

void ProgramBuilder::refuse_loop() {
  program_.loops[open_loops_.back()].ops.end = size().ops;
  open_loops_.pop_back();
}

void ProgramBuilder::end_loop(std::span<const ValueId> yielded,
                              std::span<const std::string> results) {
  const size_t l = open_loops_.back();
  refuse_loop();
  Loop& loop = program_.loops[l];
  ORRERY_CHECK(yielded.size() == loop.carries.size() && results.size() == yielded.size(),
               "each carry yields a value, and has a name after the loop");
  for (size_t c = 0; c < yielded.size(); ++c) {
    Carry& carry = loop.carries[c];
    carry.yielded = yielded[c];
    carry.result = add_alike(results[c], carry.param);
    limit_as(carry.result, loop.lower == loop.upper ? carry.initial : carry.yielded);
    const Origin at = origin_of(results[c], loop.origin);
    (void)define(results[c], at, {carry.result, false, loop.thread, loop.origin});
    if (const auto device = first_without(carry.yielded);
        device && !first_without(carry.param) && loop.upper - loop.lower > 1)
      diagnostics_.add(at, fmt::format("expected to yield an array that every device of program "
                                       "\"{}\" has, got \"{}\", which device {} lacks",
                                       program_.thread(loop.thread).name,
                                       program_.value(carry.yielded).name, device->index()));
  }
  if (checks_ == Checks::Shapes && open_loops_.empty())
    infer_states(l);
}

/// Returns whether the states are other ones than before.
bool ProgramBuilder::set_states(ValueId value, const AxisStates& states) {
  return std::exchange(program_.values[value.index()].type.axes, states) != states;
}

bool ProgramBuilder::infer_states_of(const Op& op) {
  const OpRules& rules = orrery::rules(op.kind);
  const int64_t group_size =
      rules.family == Family::Collective ? orrery::group_size(program_.mesh, op.attributes) : 1;
  const std::vector<ValueType> types = operand_types(op.operands);
  TypeOutcome outcome = rules.type({program_.mesh, checks_, op.attributes, types, group_size});
  const auto* const results = std::get_if<std::vector<ValueType>>(&outcome);
  ORRERY_CHECK(results != nullptr, "without checks states are no reason to refuse an op");
  bool changed = false;
  for (size_t r = 0; r < op.results.size(); ++r)
    changed = set_states(op.results[r], (*results)[r].axes) || changed;
  return changed;
}

/// Infers the states of all that the loops from this one on carry, and of all that depends on it.
/// They fit all iterations, since nothing says that they must be the initial ones. Each round makes
/// some carry vary over one more axis, or is the last.
void ProgramBuilder::infer_states(size_t outermost) {
  const auto states = [&](ValueId value) -> const AxisStates& {
    return program_.value(value).type.axes;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t l = outermost; l < program_.loops.size(); ++l) {
      for (const Carry& carry : program_.loops[l].carries) {
        const AxisStates fitting =
            joined(joined(states(carry.param), states(carry.initial)), states(carry.yielded));
        changed = set_states(carry.param, fitting) || changed;
        changed = set_states(carry.result, fitting) || changed;
      }
      for (const Exit& exit : program_.loops[l].exits)
        changed = set_states(exit.outside, states(exit.inside)) || changed;
    }
    const IdRange ops = program_.loops[outermost].ops;
    for (uint32_t op = ops.begin; changed && op < ops.end; ++op)
      (void)infer_states_of(program_.ops[op]);
  }
}

bool ProgramBuilder::is_open(size_t loop) const {
  return std::find(open_loops_.begin(), open_loops_.end(), loop) != open_loops_.end();
}

/// Returns the name that the scenario has for `name` in the bodies that are begun.
std::string ProgramBuilder::shown(const std::string& name) const {
  for (auto loop = open_loops_.rbegin(); loop != open_loops_.rend(); ++loop) {
    const std::string body = name_in(any_iteration(program_.loops[*loop].name), "");
    if (name.starts_with(body))
      return name.substr(body.size());
  }
  return name;
}

/// Returns the name that code outside of a loop has for `name` in its body, such as "l[].m[].y".
/// `index` gives the index of the loop, then the indices of the loops around it, up to the first
/// loop without one. The result is "l[].m[40].y" if only "m" has an index, and "l[3].m[40].y" if
/// both have one.
std::string ProgramBuilder::name_in_iterations(
    std::string_view name, size_t loop,
    FunctionRef<std::optional<int64_t>(const Loop& loop)> index) const {
  std::string text(own_name(any_iteration(program_.loops[loop].name), name));
  for (std::optional<size_t> l = loop; l; l = program_.loops[*l].around) {
    const Loop& of = program_.loops[*l];
    const std::optional<int64_t> iteration = index(of);
    const std::string in = iteration ? with_index(of.name, *iteration) : any_iteration(of.name);
    if (!iteration)
      return name_in(in, text);
    const std::string_view own = of.around
                                     ? own_name(any_iteration(program_.loops[*of.around].name), in)
                                     : std::string_view(in);
    text = name_in(own, text);
  }
  return text;
}

/// Returns all names that an unknown name may mean. In loops these are the names in the iterations
/// that it says, or in the first and the last iteration of a loop for which it says none.
std::vector<std::string> ProgramBuilder::names_for_hints(std::string_view unknown) const {
  std::map<const Loop*, int64_t> said;
  std::string body;  // the name in the regions of the part before `from`
  size_t from = 0;
  for_each_iteration_in(unknown, [&](std::string_view loop, int64_t index) {
    if (loop.size() < from)
      return;
    const std::string full = body + std::string(loop.substr(from));
    const auto [begin, past] = loops_named_.equal_range(full);
    for (auto l = begin; l != past; ++l) {
      const Loop& of = program_.loops[l->second];
      if (of.lower <= index && index < of.upper)
        said.emplace(&of, index);
    }
    if (begin != past) {
      body = name_in(any_iteration(full), "");
      from = with_index(loop, index).size() + 1;
    }
  });
  const auto named = [&](const std::string& name, size_t in, bool last) {
    return name_in_iterations(name, in, [&](const Loop& loop) {
      const auto index = said.find(&loop);
      if (index != said.end())
        return std::optional(index->second);
      return std::optional(last ? loop.upper - 1 : loop.lower);
    });
  };
  std::vector<std::string> names;
  for (const auto& [name, definition] : defined_) {
    if (!definition.loop) {
      names.push_back(name);
    } else if (!definition.is_param) {
      names.push_back(named(name, *definition.loop, false));
      names.push_back(named(name, *definition.loop, true));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Returns the meaning of a name with iterations, such as "l[3].y". `body` precedes it: it is the
/// beginning of the names in a loop's body, or "".
std::optional<ProgramBuilder::InIterations> ProgramBuilder::in_iterations(
    std::string_view body, std::string_view name) const {
  std::optional<InIterations> in;
  if (loops_named_.empty())
    return in;
  for_each_iteration_in(name, [&](std::string_view loop, int64_t index) {
    const size_t end = with_index(loop, index).size();  // "l[03]" is no name of an iteration
    if (in || end + 1 >= name.size() || name[end] != '.' || name[end - 1] != ']')
      return;
    const std::string full = std::string(body) + std::string(loop);
    const std::string in_body = name_in(any_iteration(full), "");
    const std::string_view own = name.substr(end + 1);
    const auto [begin, past] = loops_named_.equal_range(full);
    for (auto l = begin; l != past && !in; ++l) {
      const Loop& of = program_.loops[l->second];
      if (index < of.lower || index >= of.upper)
        continue;
      const auto found = defined_.find(in_body + std::string(own));
      if (found != defined_.end() && found->second.loop == l->second && !found->second.is_param)
        in = InIterations{found, {}};
      else
        in = in_iterations(in_body, own);
      if (in)
        in->iterations.insert(in->iterations.begin(), {l->second, index});
    }
  });
  return in;
}

/// Returns the other definition, if one of the two is in a loop, as "l[].y", and the other is named
/// as an iteration of it, as "l[3].y".
std::optional<ProgramBuilder::Taken> ProgramBuilder::taken_in_loops(
    Definitions::const_iterator defined) {
  const auto in = in_iterations("", defined->first);
  if (in && in->found != defined)
    return Taken{defined->first, in->found->second.origin};
  if (defined->first.find('[') == std::string::npos)
    return std::nullopt;
  std::map<std::string_view, const Definition*>& alike = alike_[in_any_iteration(defined->first)];
  alike.emplace(defined->first, &defined->second);
  for (std::optional<size_t> l = defined->second.loop; l; l = program_.loops[*l].around) {
    // The names with an index of this loop. A number follows the bracket.
    const std::string bracket = program_.loops[*l].name + "[";
    const auto past = alike.lower_bound(bracket + ":");
    for (auto other = alike.lower_bound(bracket + "-"); other != past; ++other)
      if (const auto means = in_iterations("", other->first); means && means->found == defined)
        return Taken{std::string(other->first), other->second->origin};
  }
  return std::nullopt;
}

/// Returns this exit of a loop. Adds it unless it is there already.
ValueId ProgramBuilder::add_exit(size_t loop, ValueId inside, int64_t iteration, std::string name) {
  for (const Exit& exit : program_.loops[loop].exits)
    if (exit.inside == inside && exit.iteration == iteration) {
      if (name != program_.value(exit.outside).name)
        program_.other_names.emplace(std::move(name), exit.outside);
      return exit.outside;
    }
  const ValueId outside = add_alike(std::move(name), inside);
  limit_as(outside, inside);
  program_.loops[loop].exits.push_back({inside, iteration, outside});
  return outside;
}

/// Returns the value of a single iteration, "l[3].y". If the body of the loop has begun and not
/// ended, only values of its first iteration are known in every iteration.
std::optional<ProgramBuilder::Definition> ProgramBuilder::exit_named(std::string_view name) {
  const std::optional<InIterations> in = in_iterations("", name);
  if (!in)
    return std::nullopt;
  for (const auto& [loop, iteration] : in->iterations)
    if (is_open(loop) && iteration != program_.loops[loop].lower)
      return std::nullopt;
  Definition definition = in->found->second;
  if (!definition.value)
    return definition;
  std::map<const Loop*, int64_t> known;
  const std::string full = in->found->first;
  for (size_t i = in->iterations.size(); i-- > 0;) {
    const auto& [loop, iteration] = in->iterations[i];
    known.emplace(&program_.loops[loop], iteration);
    std::string called = name_in_iterations(full, in->iterations.back().first, [&](const Loop& of) {
      const auto index = known.find(&of);
      return index == known.end() ? std::nullopt : std::optional(index->second);
    });
    definition.value = add_exit(loop, *definition.value, iteration, std::move(called));
  }
  return definition;
}

void ProgramBuilder::name_exit(std::string_view text) {
  if (defined_.find(text) == defined_.end())
    (void)exit_named(text);
}

void ProgramBuilder::loop(WrittenLoop loop) {
  loop.thread = ThreadId(program_.threads.size() - 1);
  program_.written_loops.push_back(std::move(loop));
}

void ProgramBuilder::empty_loop(std::string name) {
  program_.empty_loops.push_back(std::move(name));
}

}  // namespace orrery
