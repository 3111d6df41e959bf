#include "models/transform/batch.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/program/builder.h"
#include "models/program/did_you_mean.h"
#include "models/program/groups.h"
#include "models/transform/batch_walk.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// The written iterations of a loop, of all its parts.
struct Iterations {
  std::vector<const LoopIteration*> written;
  bool may_leave_out = false;

  const LoopIteration* with(IdRange LoopIteration::*ids, size_t id) const {
    const auto found =
        std::partition_point(written.begin(), written.end(),
                             [&](const LoopIteration* each) { return (each->*ids).end <= id; });
    return found != written.end() && ((*found)->*ids).has(id) ? *found : nullptr;
  }
};

/// What the value of an iteration is in any of them: its name after the iteration's.
std::string in_loop(const std::string& loop, const LoopIteration& iteration,
                    const std::string& value) {
  return loop + value.substr(iteration.name.size());
}

/// The values that an iteration of a loop makes and a later iteration reads, with what each is in
/// the loop: its name without the iteration, such as "l.h", which is the same for all iterations.
/// Only of loops that may leave out iterations. Nested loops may all carry one value, so a value
/// may have several such names.
std::map<ValueId, std::vector<std::string>> carried_values(const Program& program) {
  std::map<std::string_view, Iterations> loops;
  for (const WrittenLoop& loop : program.written_loops) {
    Iterations& iterations = loops[loop.name];
    for (const LoopIteration& iteration : loop.written)
      iterations.written.push_back(&iteration);
    iterations.may_leave_out |= loop.window > 0;
  }
  std::map<ValueId, std::vector<std::string>> carried;
  for (const auto& [name, iterations] : loops) {
    if (!iterations.may_leave_out)
      continue;
    const std::string loop(name);
    std::set<std::string> read;
    for (size_t o = iterations.written.front()->ops.begin; o < iterations.written.back()->ops.end;
         ++o)
      for (const ValueId operand : program.ops[o].operands) {
        const LoopIteration* const maker = iterations.with(&LoopIteration::values, operand.index());
        if (maker != nullptr && !maker->ops.has(o))
          read.insert(in_loop(loop, *maker, program.value(operand).name));
      }
    for (const LoopIteration* const iteration : iterations.written)
      for (size_t v = iteration->values.begin; v < iteration->values.end; ++v)
        if (std::string value = in_loop(loop, *iteration, program.values[v].name);
            read.contains(value))
          carried[ValueId(v)].push_back(std::move(value));
  }
  return carried;
}

class Batching {
 public:
  Batching(const Program& program, Checks checks, const BatchRequest& request,
           Diagnostics& diagnostics)
      : program_(program),
        checks_(checks),
        request_(request),
        diagnostics_(diagnostics),
        values_(values_by_name(program)),
        carried_(carried_values(program)) {
    for (const Argument& argument : program.arguments)
      arguments_.emplace(program.value(argument.value).name, argument.value);
    for (const Op& op : program.ops)
      for (const ValueId result : op.results)
        makers_.emplace(result, &op);
  }

  Program run() {
    if (!is_one_program(program_, request_.origin, diagnostics_) || !read_axis())
      return program_;
    read_in_axes();
    read_out_axes();
    while (diagnostics_.empty()) {
      const size_t carries = batched_carries_.size();
      std::optional<Program> made = walk();
      if (made && diagnostics_.empty())
        return std::move(*made);
      if (diagnostics_.empty() && batched_carries_.size() == carries)
        break;
    }
    return program_;
  }

 private:
  bool read_axis() {
    std::vector<Axis> axes(program_.mesh.axes().begin(), program_.mesh.axes().end());
    std::optional<int64_t> size = request_.size;
    if (request_.axis_name) {
      const auto& [name, origin] = *request_.axis_name;
      axis_ = program_.mesh.axis(name);
      if (!axis_) {
        diagnostics_.add(origin, unknown_axis(program_.mesh, name));
        return false;
      }
      const int64_t own = axes[*axis_].size;
      if (size.value_or(own) != own) {
        diagnostics_.add(request_.origin,
                         fmt::format("expected the size of the axis, {}, got {}", own, *size));
        return false;
      }
      size = own;
      axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(*axis_));
    }
    if (!size || *size < 1) {
      diagnostics_.add(request_.origin, "expected a batch of at least one element");
      return false;
    }
    size_ = *size;
    mesh_ = Mesh(std::move(axes));
    return true;
  }

  std::optional<std::string> dimension_error(ValueId value, int64_t dimension) const {
    const size_t rank = program_.value(value).type.shape.rank();
    if (dimension >= 0 && dimension <= static_cast<int64_t>(rank))
      return std::nullopt;
    return fmt::format("expected a dimension from 0 to {}, got {}", rank, dimension);
  }

  void read_in_axes() {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : arguments_)
      names.push_back(name);
    for (const Argument& argument : program_.arguments)
      if (axis_ && argument.on)
        diagnostics_.add(request_.origin,
                         fmt::format("expected arrays on every device, for a batch in the place "
                                     "of a mesh axis, got \"{}\"",
                                     program_.value(argument.value).name));
    for (const auto& [name, dimension] : request_.in_axes) {
      const auto found = arguments_.find(name.name);
      if (found == arguments_.end())
        diagnostics_.add(name.origin, fmt::format("expected the name of an array, got \"{}\"{}",
                                                  name.name, did_you_mean(name.name, names)));
      else if (dimension)
        read_in_axis(name, found->second, *dimension);
    }
  }

  void read_in_axis(const NamedAt& name, ValueId value, int64_t dimension) {
    const auto differs = [&](AxisState state) {
      return state == AxisState::Varying || state == AxisState::Unreduced;
    };
    if (const auto error = dimension_error(value, dimension))
      diagnostics_.add(name.origin, *error);
    else if (axis_ && !differs(program_.value(value).type.axes[*axis_]))
      diagnostics_.add(name.origin,
                       fmt::format("expected null, since \"{}\" is the same along {}, got {}",
                                   name.name, request_.axis_name->name, dimension));
    else
      in_axes_[value] = static_cast<size_t>(dimension);
  }

  bool is_result(std::string_view name) const {
    const auto found = values_.find(name);
    return found != values_.end() && makers_.contains(found->second);
  }

  void read_out_axes() {
    std::vector<std::string_view> results;
    for (const auto& [name, value] : values_)
      if (is_result(name))
        results.push_back(name);
    for (const auto& [name, dimension] : request_.out_axes) {
      if (!is_result(name.name)) {
        diagnostics_.add(name.origin, fmt::format("expected the result of an op, got \"{}\"{}",
                                                  name.name, did_you_mean(name.name, results)));
        continue;
      }
      const ValueId value = values_.at(name.name);
      if (const ValueType& type = program_.value(value).type; type.future || type.token)
        diagnostics_.add(name.origin, fmt::format("expected a value, got \"{}\", a {}", name.name,
                                                  type.future ? "future" : "token"));
      else if (!dimension)
        places_[name.name] = std::nullopt;
      else if (const auto error = dimension_error(value, *dimension))
        diagnostics_.add(name.origin, *error);
      else
        places_[name.name] = {static_cast<size_t>(*dimension), BatchPlace::Of::Any};
    }
    for (const std::string& name : request_.outputs)
      if (is_result(name) && !program_.value(values_.at(name)).type.future)
        places_.try_emplace(name, BatchPlace{0, BatchPlace::Of::Batched});
  }

  /// Where a value goes by its own name, or else by another of its names.
  std::optional<BatchPlace> place_of(ValueId value) const {
    if (const auto own = places_.find(program_.value(value).name); own != places_.end())
      return own->second;
    for (const auto& [name, place] : places_)
      if (values_.at(name) == value)
        return place;
    return std::nullopt;
  }

  bool in_loop(const Op& op) const {
    const auto id = static_cast<size_t>(&op - program_.ops.data());
    return std::any_of(program_.written_loops.begin(), program_.written_loops.end(),
                       [&](const WrittenLoop& loop) {
                         return loop.written.front().ops.begin <= id && id < loop.last().ops.end;
                       });
  }

  /// In a loop only values that iterations carry have a place, the same in all iterations.
  std::optional<BatchPlace> place_of(const Op& op, ValueId result) const {
    if (!in_loop(op))
      return place_of(result);
    const auto carried = carried_.find(result);
    if (carried != carried_.end() &&
        std::any_of(carried->second.begin(), carried->second.end(),
                    [&](const std::string& each) { return batched_carries_.contains(each); }))
      return BatchPlace{0, BatchPlace::Of::Any};
    return std::nullopt;
  }

  /// Empty after an error, or where a carried value has a batch that was not known.
  std::optional<Program> walk() {
    Diagnostics refused("");
    ProgramBuilder builder(mesh_, checks_, refused);
    BatchOf batch{program_, std::nullopt, size_, request_.most_ops};
    if (axis_)
      batch.axis = request_.axis_name->name;
    BatchWalk walk(batch, builder);
    add_arguments(walk, builder);
    builder.thread(program_.threads[0].name, all_devices(mesh_));
    std::vector<ProgramBuilder::Size> begins;  // of what each op adds
    for (const Op& op : program_.ops) {
      begins.push_back(builder.size());
      if (!add(op, walk))
        return std::nullopt;
      if (!refused.empty())
        break;
      if (builder.size().ops > request_.most_ops) {
        diagnostics_.add(request_.origin, fmt::format("expected at most {} ops of a batched "
                                                      "program, got more",
                                                      request_.most_ops));
        return std::nullopt;
      }
    }
    begins.push_back(builder.size());
    if (refused.empty())
      name_also(walk, builder);
    if (refused.empty())
      copy_loops(program_, begins, builder);
    Program made = builder.finish();
    try {
      refused.throw_if_any();
    } catch (const InputError& error) {
      for (const Diagnostic& each : error.diagnostics())
        diagnostics_.add(each.origin,
                         fmt::format("the batch needs an op that is refused: {}", each.message));
    }
    return made;
  }

  void add_arguments(BatchWalk& walk, ProgramBuilder& builder) {
    for (const Argument& argument : program_.arguments) {
      const Value& value = program_.value(argument.value);
      ValueType type = value.type;
      if (axis_)
        type.axes.erase(type.axes.begin() + static_cast<std::ptrdiff_t>(*axis_));
      if (const auto found = in_axes_.find(argument.value); found != in_axes_.end()) {
        walk.dimension(argument.value) = found->second;
        type.shape = type.shape.inserted(found->second, size_);
      }
      builder.argument(value.name, std::move(type), std::nullopt, argument.on);
    }
  }

  bool add(const Op& op, BatchWalk& walk) {
    std::vector<std::optional<BatchPlace>> places;
    for (const ValueId result : op.results)
      places.push_back(place_of(op, result));
    if (const auto error = walk.add(op, places)) {
      diagnostics_.add(
          op.origin.value_or(request_.origin),
          fmt::format("expected an op that can be batched, got \"{}\": {}", op.name, *error));
      return false;
    }
    bool known = true;
    for (const ValueId result : op.results)
      if (const auto carried = carried_.find(result);
          carried != carried_.end() && walk.dimension(result))
        for (const std::string& each : carried->second)
          known = !batched_carries_.insert(each).second && known;
    return known;
  }

  /// The other names of values, and what out_axes has of values in loops.
  void name_also(BatchWalk& walk, ProgramBuilder& builder) {
    for (const auto& [name, value] : program_.other_names) {
      const auto place = places_.find(name);
      builder.name_also(place != places_.end() && place->second && makers_.contains(value)
                            ? walk.placed(*makers_.at(value), value, *place->second)
                            : program_.value(value).name,
                        name, std::nullopt);
    }
    for (const auto& [name, dimension] : request_.out_axes) {
      const ValueId value = values_.at(name.name);
      const std::optional<size_t> has = walk.dimension(value);
      if (!dimension && has)
        diagnostics_.add(
            name.origin,
            fmt::format("expected a dimension, since \"{}\" is batched, got null", name.name));
      else if (dimension && program_.value(value).name == name.name &&
               has != static_cast<size_t>(*dimension))
        diagnostics_.add(name.origin,
                         fmt::format("expected {}, as \"{}\", which is made in a loop, has it, "
                                     "got {}",
                                     has ? std::to_string(*has) : "null", name.name, *dimension));
    }
  }

  const Program& program_;
  const Checks checks_;
  const BatchRequest& request_;
  Diagnostics& diagnostics_;
  std::map<std::string_view, ValueId> values_;
  std::map<std::string_view, ValueId> arguments_;
  std::map<ValueId, const Op*> makers_;
  std::optional<size_t> axis_;  // in the mesh
  int64_t size_ = 1;
  Mesh mesh_;                          // without the axis
  std::map<ValueId, size_t> in_axes_;  // of the arguments that are batched
  std::map<std::string_view, std::optional<BatchPlace>> places_;  // of results, by their names
  std::map<ValueId, std::vector<std::string>> carried_;
  std::set<std::string> batched_carries_;  // those that have the batch in any iteration
};

}  // namespace

Program batch(const Program& program, Checks checks, const BatchRequest& request,
              Diagnostics& diagnostics) {
  return Batching(program, checks, request, diagnostics).run();
}

}  // namespace orrery
