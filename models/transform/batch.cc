#include "models/transform/batch.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/program/builder.h"
#include "models/program/groups.h"
#include "models/program/loops.h"
#include "models/transform/batch_walk.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

class Batching {
 public:
  Batching(const Program& program, Checks checks, const BatchRequest& request,
           Diagnostics& diagnostics)
      : program_(program),
        checks_(checks),
        request_(request),
        diagnostics_(diagnostics),
        values_(values_by_name(program)),
        bodies_(bodies_of_values(program)),
        exits_(exit_names(program)) {
    for (const Argument& argument : program.arguments)
      arguments_.emplace(program.value(argument.value).name, argument.value);
    for (const Op& op : program.ops)
      for (const ValueId result : op.results)
        makers_.emplace(result, &op);
    for (const Loop& loop : program.loops)
      for (const Carry& carry : loop.carries)
        for (const ValueId value : {carry.param, carry.result}) {
          Op op;
          op.name = program.value(value).name;
          op.origin = loop.origin;
          made_by_loops_.emplace(value, std::move(op));
        }
    for (const auto& [result, op] : made_by_loops_)
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
    return found != values_.end() && !bodies_[found->second.index()] &&
           (makers_.contains(found->second) || exits_.contains(name));
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

  /// Returns the place of the value's own name, or else of another of its names.
  std::optional<BatchPlace> place_of(ValueId value) const {
    if (const auto own = places_.find(program_.value(value).name); own != places_.end())
      return own->second;
    for (const auto& [name, place] : places_)
      if (values_.at(name) == value)
        return place;
    return std::nullopt;
  }

  /// Returns the place of a result. In a body, only a value that is yielded to a batched carry has
  /// a place. Such a value, if it is not batched, stays so to the end of the body.
  std::optional<BatchPlace> place_of(ValueId result, std::optional<size_t> body) const {
    if (!body)
      return place_of(result);
    const std::vector<Carry>& carries = program_.loops[*body].carries;
    for (size_t c = 0; c < carries.size(); ++c)
      if (carries[c].yielded == result && batched_carries_.contains({*body, c}))
        return BatchPlace{place_of_carry(carries[c]).dimension, BatchPlace::Of::Batched};
    return std::nullopt;
  }

  /// Returns dimension 0, or the dimension that the carry is to have after the loop.
  BatchPlace place_of_carry(const Carry& carry) const {
    const auto own = places_.find(program_.value(carry.result).name);
    const bool given = own != places_.end() && own->second;
    return {given ? own->second->dimension : 0, BatchPlace::Of::Any};
  }

  /// Returns whether the carry must have the batch after the loop.
  bool must_be_batched(const Carry& carry) const {
    const auto own = places_.find(program_.value(carry.result).name);
    return own != places_.end() && own->second && own->second->of == BatchPlace::Of::Any;
  }

  /// Makes the program. Returns nothing after an error, or if a carry turned out to be batched.
  std::optional<Program> walk() {
    Diagnostics refused("");
    ProgramBuilder builder(mesh_, checks_, refused);
    BatchOf batch{program_, std::nullopt, size_, request_.most_ops};
    if (axis_)
      batch.axis = request_.axis_name->name;
    BatchWalk walk(batch, builder);
    add_arguments(walk, builder);
    builder.thread(program_.threads[0].name, all_devices(mesh_));
    std::vector<Added> added;  // by op
    std::vector<size_t> open;  // the loops whose bodies are begun
    unlike_future_.reset();
    const bool whole =
        for_each_part(program_, ThreadId(0),
                      {[&](OpId id) {
                         const ProgramBuilder::Size begin = builder.size();
                         const std::optional<size_t> body =
                             open.empty() ? std::nullopt : std::optional(open.back());
                         if (!add(program_.op(id), body, walk) || !refused.empty())
                           return false;
                         if (body && program_.loops[*body].index == id)
                           builder.last_op_is_index();
                         added.push_back({begin, builder.size()});
                         return is_small_enough(builder);
                       },
                       [&](size_t loop) {
                         open.push_back(loop);
                         return begin_loop(loop, walk, builder, refused);
                       },
                       [&](size_t loop) {
                         open.pop_back();
                         return end_loop(loop, walk, builder, refused);
                       }});
    if (!whole && refused.empty())
      return std::nullopt;
    if (unlike_future_) {
      diagnostics_.add(unlike_future_->origin, unlike_future_->message);
      return std::nullopt;
    }
    if (refused.empty())
      name_also(walk, builder);
    if (refused.empty())
      copy_written_loops(program_, added, builder);
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

  bool is_small_enough(const ProgramBuilder& builder) const {
    if (builder.size().ops <= request_.most_ops)
      return true;
    diagnostics_.add(request_.origin, fmt::format("expected at most {} ops of a batched "
                                                  "program, got more",
                                                  request_.most_ops));
    return false;
  }

  /// Adds the ops for one op. `body` is the loop in whose body it is. Returns false after an error.
  bool add(const Op& op, std::optional<size_t> body, BatchWalk& walk) {
    std::vector<std::optional<BatchPlace>> places;
    for (const ValueId result : op.results)
      places.push_back(place_of(result, body));
    if (const auto error = walk.add(op, places)) {
      diagnostics_.add(
          op.origin.value_or(request_.origin),
          fmt::format("expected an op that can be batched, got \"{}\": {}", op.name, *error));
      return false;
    }
    return true;
  }

  /// Begins a loop. A carry whose initial value has the batch has it in all iterations. Returns
  /// false after an error.
  bool begin_loop(size_t l, BatchWalk& walk, ProgramBuilder& builder, const Diagnostics& refused) {
    const Loop& loop = program_.loops[l];
    std::vector<std::string> initial;
    for (size_t c = 0; c < loop.carries.size(); ++c) {
      const Carry& carry = loop.carries[c];
      if (program_.value(carry.initial).type.future) {
        initial.push_back(program_.value(carry.initial).name);
        walk.carry_future(carry.initial, carry.param);
        continue;
      }
      if (walk.dimension(carry.initial) || must_be_batched(carry))
        batched_carries_.emplace(l, c);
      initial.push_back(carried(l, c, carry.initial, carry.result, walk));
      if (batched_carries_.contains({l, c}))
        walk.dimension(carry.param) = place_of_carry(carry).dimension;
    }
    if (refused.empty())
      copy_loop_begin(program_, loop, initial, builder);
    return refused.empty();
  }

  /// Ends a loop. Returns false after an error, or if a carry turned out to have the batch.
  bool end_loop(size_t l, BatchWalk& walk, ProgramBuilder& builder, const Diagnostics& refused) {
    const Loop& loop = program_.loops[l];
    std::vector<std::string> yielded;
    bool known = true;
    for (size_t c = 0; c < loop.carries.size(); ++c) {
      const Carry& carry = loop.carries[c];
      if (program_.value(carry.initial).type.future) {
        if (!walk.same_future(carry.param, carry.yielded))
          unlike_future_ = Diagnostic{
              loop.origin.value_or(request_.origin),
              fmt::format("expected a loop that can be batched, got \"{}\": what it starts and "
                          "carries on as \"{}\" has the batch elsewhere than before the loop, or "
                          "is arranged after it is done",
                          loop.name, program_.value(carry.result).name)};
        yielded.push_back(program_.value(carry.yielded).name);
        walk.carry_future(carry.initial, carry.result);
        continue;
      }
      if (walk.dimension(carry.yielded))
        known = !batched_carries_.emplace(l, c).second && known;
      if (!known)
        continue;
      yielded.push_back(carried(l, c, carry.yielded, carry.param, walk));
      walk.dimension(carry.result) = walk.dimension(carry.param);
    }
    if (known && refused.empty())
      copy_loop_end(program_, loop, yielded, builder);
    return known && refused.empty();
  }

  /// Returns the name of the value that the loop takes as its carry. If the carry has the batch, so
  /// has that value. Ops that arrange it are named after `as`, which the loop makes.
  std::string carried(size_t l, size_t c, ValueId value, ValueId as, BatchWalk& walk) const {
    if (!batched_carries_.contains({l, c}))
      return program_.value(value).name;
    return walk.placed(made_by_loops_.at(as), value, place_of_carry(program_.loops[l].carries[c]));
  }

  /// Adds the other names of values, and the values of single iterations that out_axes names.
  void name_also(BatchWalk& walk, ProgramBuilder& builder) {
    for (const auto& [name, value] : exits_)
      builder.name_exit(name);
    for (const auto& [name, value] : program_.other_names) {
      if (exits_.contains(name))
        continue;
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
      else if (dimension && exits_.contains(name.name) && has != static_cast<size_t>(*dimension))
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
  std::vector<std::optional<size_t>> bodies_;  // by value
  std::map<std::string_view, ValueId> exits_;  // values of single iterations
  std::map<ValueId, Op> made_by_loops_;  // ops that stand for what loops carry: names and places
  std::map<ValueId, const Op*> makers_;
  std::optional<size_t> axis_;  // in the mesh
  int64_t size_ = 1;
  Mesh mesh_;                          // without the axis
  std::map<ValueId, size_t> in_axes_;  // of the arguments that are batched
  std::map<std::string_view, std::optional<BatchPlace>> places_;  // of results, by their names
  /// This error, that a loop carries unlike futures, counts once all batched carries are known.
  std::optional<Diagnostic> unlike_future_;
  std::set<std::pair<size_t, size_t>> batched_carries_;  // loops, and which of their carries
};

}  // namespace

Program batch(const Program& program, Checks checks, const BatchRequest& request,
              Diagnostics& diagnostics) {
  return Batching(program, checks, request, diagnostics).run();
}

}  // namespace orrery
