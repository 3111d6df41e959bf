// This is the part of backward_pass.h that makes the forward pass, with the values that it saves.

#include <algorithm>
#include <utility>

#include "models/base/callable.h"
#include "models/program/iteration_name.h"
#include "models/program/loops.h"
#include "models/transform/backward_pass.h"
#include "models/transform/program_copy.h"

namespace orrery {

namespace {

/// ForwardParts makes the parts of the forward pass, which saves what the backward pass needs of
/// each iteration of a loop.
class ForwardParts {
 public:
  ForwardParts(const Program& program, Checks checks, const BackwardNeeds& needs,
               UnusedNames& names)
      : program_(program),
        checks_(checks),
        needs_(needs),
        names_(names),
        positions_(program.loops.size()) {
    for_each_part(program, ThreadId(0),
                  {[&](OpId op) {
                     add_op(program_.op(op));
                     return true;
                   },
                   [&](size_t loop) {
                     begin(loop);
                     return true;
                   },
                   [&](size_t loop) {
                     end(loop);
                     return true;
                   }});
  }

  std::vector<ProgramPart> take_parts() { return std::move(parts_); }
  SavedValues take_saved() { return std::move(saved_); }

 private:
  void add_scalars(size_t outermost) {
    scalars_ = {};
    for (const size_t l : loops_in(program_, outermost)) {
      const Loop& loop = program_.loops[l];
      if (needs_.loops[l].position && loop.lower != 0)
        scalars_.first[l] = add(without_indices(loop.name) + ".first", OpKind::Full, {},
                                index_attributes(loop.lower));
    }
    if (saves_arrays(program_, needs_, outermost))
      scalars_.zero = add("zero", OpKind::Full, {}, index_attributes(0));
  }

  std::string add(const std::string& name, OpKind kind, std::vector<std::string> operands,
                  Attributes attributes, std::vector<std::string> donated = {}) {
    OpRequest request;
    request.name = names_.take(name);
    request.kind = kind;
    request.operands = std::move(operands);
    request.attributes = std::move(attributes);
    request.donated = std::move(donated);
    request.origin = origin_;
    if (origin_)
      request.key_origins.emplace("fill_value", *origin_);
    std::string result = request.name;
    parts_.emplace_back(std::move(request));
    return result;
  }

  void add_op(const Op& op) {
    if (!open_.empty() && program_.loops[open_.back()].index &&
        &program_.op(*program_.loops[open_.back()].index) == &op)
      return;  // it is a part of the loop's begin
    parts_.emplace_back(request_of(program_, op));
    for (const ValueId result : op.results)
      save(result);
  }

  /// Visits the saved values of the loop and of those in it.
  template <class Visit>
  void for_each_saved(size_t l, Visit visit) const {
    for (const size_t inner : loops_in(program_, l))
      for (const ValueId value : needs_.loops[inner].saved)
        visit(inner, value);
  }

  /// Returns "m.y.saved" for a value l[].m[].y, in loop "l".
  std::string array_name(const Loop& loop, ValueId value) const {
    return without_indices(own_name(any_iteration(loop.name), program_.value(value).name)) +
           ".saved";
  }

  void begin(size_t l) {
    const Loop& loop = program_.loops[l];
    origin_ = loop.origin;
    if (!loop.around) {
      add_scalars(l);
      for_each_saved(l, [&](size_t body, ValueId value) {
        ValueType type = program_.value(value).type;
        type.shape = saved_shape(program_, body, type.shape);
        const std::string name = name_in(loop.name, array_name(loop, value)) + ".zeros";
        saved_[value] = add_large_zeros(
            program_.mesh, checks_, type,
            [&](OpKind kind, std::vector<std::string> operands, Attributes attributes) {
              return add(name, kind, std::move(operands), std::move(attributes));
            });
      });
    }
    LoopBegin begin{loop.name, loop.lower, loop.upper, loop.origin};
    for (const Carry& carry : loop.carries)
      begin.carries.push_back(
          {program_.value(carry.param).name, program_.value(carry.initial).name});
    std::vector<std::string>& params = params_.emplace_back();
    for_each_saved(l, [&](size_t, ValueId value) {
      std::string& array = saved_[value];
      params.push_back(take_carry(names_, loop.name, array_name(loop, value)));
      begin.carries.push_back({params.back(), std::exchange(array, params.back())});
    });
    if (loop.index)
      begin.index = request_of(program_, program_.op(*loop.index));
    else if (needs_.loops[l].position) {
      begin.index.emplace();
      begin.index->name = names_.take(name_in(any_iteration(loop.name), "i"));
      begin.index->kind = OpKind::Full;
      begin.index->attributes = index_attributes(loop.lower);
      begin.index->origin = loop.origin;
    }
    const std::string index = begin.index ? begin.index->name : std::string();
    parts_.emplace_back(std::move(begin));
    open_.push_back(l);
    if (needs_.loops[l].position)
      positions_[l] = loop.lower == 0 ? index
                                      : add(name_in(any_iteration(loop.name), "position"),
                                            OpKind::Sub, {index, scalars_.first.at(l)}, {});
    for (const Carry& carry : loop.carries)
      save(carry.param);
  }

  /// Writes the value of this iteration into its array, if it is to be saved.
  void save(ValueId value) {
    if (open_.empty())
      return;
    const std::vector<ValueId>& saved = needs_.loops[open_.back()].saved;
    if (std::find(saved.begin(), saved.end(), value) == saved.end())
      return;
    const Value& from = program_.value(value);
    const Shape& shape = from.type.shape;
    const std::string name = from.name + ".save";
    std::vector<int64_t> dims(open_.size(), 1);
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    Attributes reshape;
    reshape.set("new_sizes", std::move(dims));
    std::string& array = saved_[value];
    std::vector<std::string> operands = {
        array, add(name, OpKind::Reshape, {from.name}, std::move(reshape))};
    for (const size_t loop : open_)
      operands.push_back(positions_[loop]);
    operands.resize(operands.size() + shape.rank(), scalars_.zero);
    array = add(name, OpKind::DynamicUpdateSlice, std::move(operands), {}, {array});
  }

  void end(size_t l) {
    const Loop& loop = program_.loops[l];
    LoopEnd end;
    for (const Carry& carry : loop.carries) {
      end.yielded.push_back(program_.value(carry.yielded).name);
      end.results.push_back(program_.value(carry.result).name);
    }
    auto param = params_.back().begin();
    for_each_saved(l, [&](size_t, ValueId value) {
      std::string& array = saved_[value];
      end.yielded.push_back(array);
      array = name_in(loop.name, own_name(any_iteration(loop.name), *param++));
      end.results.push_back(array);
    });
    params_.pop_back();
    parts_.emplace_back(std::move(end));
    open_.pop_back();
    for (const Carry& carry : loop.carries)
      save(carry.result);
    for (const Exit& exit : loop.exits)
      save(exit.outside);
  }

  const Program& program_;
  const Checks checks_;
  const BackwardNeeds& needs_;
  UnusedNames& names_;
  std::vector<std::string> positions_;            // of the iteration, by loop
  std::vector<size_t> open_;                      // loops
  std::vector<std::vector<std::string>> params_;  // by open loop: those of saved arrays
  std::optional<Origin> origin_;                  // of the ops that are added
  SavedValues saved_;
  LoopScalars scalars_;  // of the outermost loop that is open
  std::vector<ProgramPart> parts_;
};

}  // namespace

std::vector<ProgramPart> forward_parts(const Program& program, Checks checks,
                                       const BackwardNeeds& needs, UnusedNames& names,
                                       SavedValues& saved) {
  ForwardParts forward(program, checks, needs, names);
  saved = forward.take_saved();
  return forward.take_parts();
}

}  // namespace orrery
