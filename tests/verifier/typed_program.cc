#include "tests/verifier/typed_program.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/states.h"
#include "tests/verifier/random_program.h"

namespace orrery::test {

TypedProgram::TypedProgram(uint64_t seed) : random_(seed) {
  std::vector<int64_t> dims;
  for (int64_t d = random_.between(0, 3); d > 0; --d)
    dims.push_back(one_of(Integers{1, 2, 3, 6}));
  AxisStates states;
  for (size_t axis = 0; axis < mesh_.axes().size(); ++axis)
    states.push_back(one_of(std::vector<AxisState>{AxisState::Invarying, AxisState::Varying,
                                                   AxisState::Unreduced, AxisState::Reduced}));
  builder_.argument("x", ValueType{Dtype::S32, Shape(std::move(dims)), std::move(states)});
  builder_.thread("main", all_devices(mesh_));
  values_ = {"x"};
  const int64_t count = random_.between(2, 9);
  while (static_cast<int64_t>(values_.size()) < count)
    add_op();
}

Program TypedProgram::program() {
  Program made = builder_.finish();
  diagnostics_.throw_if_any();
  return made;
}

int64_t TypedProgram::below(int64_t bound) {
  return static_cast<int64_t>(random_.below(static_cast<uint64_t>(bound)));
}

TypedProgram::Integers TypedProgram::shuffled(int64_t count) {
  Integers order;
  for (int64_t i = 0; i < count; ++i)
    order.push_back(i);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random_.below(i)]);
  return order;
}

ValueType TypedProgram::type(const std::string& name) {
  return *builder_.type_of(name, Origin{});
}

/// Returns whether a program with this op alone has no errors.
bool TypedProgram::fits(const OpRequest& request) {
  Diagnostics refused("f");
  ProgramBuilder trial(mesh_, Checks::States, refused);
  Names operands = request.operands;
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  for (const std::string& operand : operands)
    trial.argument(operand, type(operand));
  trial.thread("main", all_devices(mesh_));
  trial.op(request);
  return refused.empty();
}

/// Adds an op, named v and its number, if fits() accepts it. Returns whether it did.
bool TypedProgram::add(OpKind kind, Names operands, const Given& given) {
  OpRequest request;
  request.name = fmt::format("v{}", made_ + 1);
  request.kind = kind;
  request.operands = std::move(operands);
  for (const auto& [name, value] : given)
    request.attributes.set(name, value);
  if (!fits(request))
    return false;
  ++made_;
  builder_.op(std::move(request));
  diagnostics_.throw_if_any();
  return true;
}

void TypedProgram::add_value(OpKind kind, Names operands, const Given& given) {
  if (add(kind, std::move(operands), given))
    values_.push_back(fmt::format("v{}", made_));
}

/// Returns a value that does not depend on x, in some states.
std::string TypedProgram::constant(const Shape& shape) {
  const Integers dims(shape.dims().begin(), shape.dims().end());
  if (dims.empty() || random_.below(2) == 0)
    add(OpKind::Full, {},
        {{"shape", dims},
         {"fill_value", static_cast<double>(random_.between(-3, 3))},
         {"dtype", Dtype::S32}});
  else
    add(OpKind::Iota, {},
        {{"shape", dims},
         {"dimension", below(static_cast<int64_t>(dims.size()))},
         {"dtype", Dtype::S32}});
  for (int64_t casts = random_.between(0, 2); casts > 0; --casts)
    add(one_of(std::vector<OpKind>{OpKind::Pvary, OpKind::Preduced}), {fmt::format("v{}", made_)},
        {{"axis_name", axes()}});
  return fmt::format("v{}", made_);
}

/// Returns where a part begins: the same place on all devices, or the device's own place.
std::string TypedProgram::index() {
  if (random_.below(2) == 0)
    return constant(Shape());
  add(OpKind::AxisIndex, {}, {{"axis_name", axes()}});
  return fmt::format("v{}", made_);
}

/// Returns another value of the shape, or `x`.
std::string TypedProgram::like(const std::string& x) {
  for (const std::string& other : values_)
    if (other != x && type(other).shape == type(x).shape && random_.below(2) == 0)
      return other;
  return x;
}

TypedProgram::Names TypedProgram::axes() {
  return one_of(std::vector<Names>{{"x"}, {"y"}, {"x", "y"}});
}

void TypedProgram::add_op() {
  const std::string x = one_of(values_);
  switch (random_.below(7)) {
    case 0:
    case 1:
      return add_cast(x);
    case 2:
      return add_sum(x);
    case 3:
      return add_exchange(x);
    case 4:
      return add_movement(x);
    case 5:
      return add_rows(x);
    default:
      return add_arithmetic(x);
  }
}

void TypedProgram::add_cast(const std::string& x) {
  if (random_.below(3) == 0)
    return add_value(
        OpKind::Pcast, {x},
        {{"axis_name", axes()},
         {"to", std::string(one_of(std::vector<const char*>{"varying", "unreduced", "reduced"}))}});
  return add_value(one_of(kStateCasts).kind, {x}, {{"axis_name", axes()}});
}

/// Adds a reduction, to all ranks or of parts.
void TypedProgram::add_sum(const std::string& x) {
  const auto rank = static_cast<int64_t>(type(x).shape.rank());
  switch (random_.below(4)) {
    case 0:
      return add_value(OpKind::Psum, {x}, {{"axis_name", axes()}});
    case 1:
      return add_value(OpKind::UnreducedPsum, {x}, {{"axis_name", axes()}});
    default:
      if (rank > 0)
        add_value(random_.below(2) == 0 ? OpKind::PsumScatter : OpKind::UnreducedPsumScatter, {x},
                  {{"axis_name", axes()},
                   {"scatter_dimension", below(rank)},
                   {"tiled", random_.below(2) == 0}});
  }
}

void TypedProgram::add_exchange(const std::string& x) {
  const Shape shape = type(x).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const Names over = axes();
  const int64_t size = over.size() == 2 ? 6 : over[0] == "x" ? 2 : 3;
  const bool tiled = random_.below(2) == 0;
  switch (random_.below(7)) {
    case 0:
    case 1:
    case 2: {
      if (shape.elements() * size > 64 || (tiled && rank == 0))
        return;
      Given given = {
          {"axis_name", over}, {"axis", tiled ? below(rank) : below(rank + 1)}, {"tiled", tiled}};
      const OpKind kind = one_of(std::vector<OpKind>{OpKind::AllGather, OpKind::AllGatherInvariant,
                                                     OpKind::AllGatherReduced});
      if (kind == OpKind::AllGather)
        given.emplace_back(
            "to", std::string(one_of(std::vector<const char*>{"varying", "invarying", "reduced"})));
      return add_value(kind, {x}, given);
    }
    case 3:
      if (rank > 0)
        add_value(OpKind::AllToAll, {x},
                  {{"axis_name", over},
                   {"split_axis", below(rank)},
                   {"concat_axis", below(rank)},
                   {"tiled", tiled}});
      return;
    case 4: {
      Lists pairs;
      const Integers from = shuffled(size);
      const Integers to = shuffled(size);
      for (int64_t i = random_.between(0, size); i-- > 0;)
        pairs.push_back({from[static_cast<size_t>(i)], to[static_cast<size_t>(i)]});
      return add_value(OpKind::Ppermute, {x}, {{"axis_name", over}, {"perm", pairs}});
    }
    case 5:
      return add_value(OpKind::Pshuffle, {x}, {{"axis_name", over}, {"perm", shuffled(size)}});
    default:
      return add_value(OpKind::Pbroadcast, {x}, {{"axis_name", over}, {"source", below(size)}});
  }
}

void TypedProgram::add_movement(const std::string& x) {
  const Shape shape = type(x).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  const Integers dims(shape.dims().begin(), shape.dims().end());
  switch (random_.below(8)) {
    case 0:
      return add_value(OpKind::Reshape, {x}, {{"new_sizes", Integers{shape.elements()}}});
    case 1:
      return add_value(OpKind::Transpose, {x}, {{"permutation", shuffled(rank)}});
    case 2: {
      Integers start;
      Integers limit;
      for (const int64_t extent : dims) {
        start.push_back(random_.between(0, extent / 2));
        limit.push_back(random_.between(start.back(), extent));
      }
      return add_value(OpKind::Slice, {x}, {{"start_indices", start}, {"limit_indices", limit}});
    }
    case 3:
      if (rank > 0 && shape.elements() <= 32)
        add_value(OpKind::Concatenate, {x, like(x)}, {{"dimension", below(rank)}});
      return;
    case 4: {
      Lists config;
      for (const int64_t extent : dims)
        config.push_back({random_.between(-std::min<int64_t>(extent / 2, 1), 2),
                          random_.between(0, 2), random_.between(0, 1)});
      if (shape.elements() > 12)
        return;
      std::string around = one_of(values_);
      if (type(around).shape.rank() > 0 || random_.below(2) == 0) {
        add(OpKind::Full, {}, {{"shape", Integers()}, {"fill_value", 0.0}, {"dtype", Dtype::S32}});
        around = fmt::format("v{}", made_);
      }
      return add_value(OpKind::Pad, {x, around}, {{"padding_config", config}});
    }
    case 5: {
      Integers wide = {random_.between(1, 2)};
      Integers kept;
      for (int64_t d = 0; d < rank; ++d) {
        kept.push_back(d + 1);
        wide.push_back(dims[static_cast<size_t>(d)]);
      }
      if (shape.elements() <= 16)
        add_value(OpKind::BroadcastInDim, {x}, {{"shape", wide}, {"broadcast_dimensions", kept}});
      return;
    }
    case 6:
      return add_value(OpKind::LogicallyStacked, {x},
                       {{"mpmd_axis", one_of(Names{"x", "y"})}, {"array_axis", below(rank + 1)}});
    default:
      if (rank > 0)
        add_value(OpKind::ReduceSum, {x}, {{"axes", Integers{below(rank)}}});
  }
}

/// Adds parts and rows by indices, which may differ from device to device.
void TypedProgram::add_rows(const std::string& x) {
  const Shape shape = type(x).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  Names starts;
  Integers sizes;
  for (const int64_t extent : shape.dims()) {
    starts.push_back(index());
    sizes.push_back(random_.between(extent / 2, extent));
  }
  Names operands = {x};
  switch (random_.below(4)) {
    case 0:
      operands.insert(operands.end(), starts.begin(), starts.end());
      return add_value(OpKind::DynamicSlice, std::move(operands), {{"slice_sizes", sizes}});
    case 1: {
      std::vector<std::string> updates;
      for (const std::string& each : values_) {
        const Shape part = type(each).shape;
        if (part.rank() == shape.rank() &&
            std::equal(part.dims().begin(), part.dims().end(), shape.dims().begin(),
                       [](int64_t small, int64_t large) { return small <= large; }))
          updates.push_back(each);
      }
      operands.push_back(one_of(updates));
      operands.insert(operands.end(), starts.begin(), starts.end());
      return add_value(OpKind::DynamicUpdateSlice, std::move(operands));
    }
    default: {
      if (rank == 0)
        return;
      const int64_t axis = below(rank);
      const bool clips = random_.below(2) == 0 && shape[static_cast<size_t>(axis)] > 0;
      Given given = {{"axis", axis}, {"mode", std::string(clips ? "clip" : "fill")}};
      const std::string to = starts[0];
      if (!clips)
        given.emplace_back("fill_value", 0.0);
      const size_t before = values_.size();
      add_value(OpKind::Take, {x, index()}, given);
      if (values_.size() == before)
        return;
      if (!clips)
        given.pop_back();
      return add_value(OpKind::ScatterAdd, {like(x), values_.back(), to}, given);
    }
  }
}

void TypedProgram::add_arithmetic(const std::string& x) {
  const Shape shape = type(x).shape;
  const auto rank = static_cast<int64_t>(shape.rank());
  switch (random_.below(5)) {
    case 0:
      return add_value(OpKind::Neg, {x});
    case 1:
      return add_value(random_.below(2) == 0 ? OpKind::Add : OpKind::Sub, {x, like(x)});
    case 2: {
      Names both = {x, constant(random_.below(3) == 0 ? Shape() : shape)};
      if (random_.below(2) == 0)
        std::swap(both[0], both[1]);
      return add_value(OpKind::Mul, std::move(both));
    }
    case 3: {
      if (rank == 0)
        return;
      const int64_t along = below(rank);
      const std::string other = constant(Shape({2, shape[static_cast<size_t>(along)]}));
      // A reduced product has no gradient, since dot_general takes no addends.
      const AxisStates states = type(x).axes;
      if (std::find(states.begin(), states.end(), AxisState::Reduced) != states.end() &&
          type(other).axes != AxisStates{AxisState::Varying, AxisState::Varying})
        return;
      if (random_.below(2) == 0)
        return add_value(OpKind::DotGeneral, {x, other},
                         {{"dimension_numbers", Lists{{along}, {1}, {}, {}}}});
      return add_value(OpKind::DotGeneral, {other, x},
                       {{"dimension_numbers", Lists{{1}, {along}, {}, {}}}});
    }
    default: {
      const Names compared = {constant(shape), constant(shape)};
      if (add(OpKind::Lt, compared))
        add_value(OpKind::SelectN, {fmt::format("v{}", made_), x, like(x)});
    }
  }
}

std::vector<size_t> equal_axes(const ValueType& type) {
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < type.axes.size(); ++axis)
    if (type.axes[axis] == AxisState::Invarying || type.axes[axis] == AxisState::Reduced)
      axes.push_back(axis);
  return axes;
}

std::vector<Tensor> random_copies(const Program& program, const std::string& name, Random& random) {
  const ValueType& type = program.value(values_by_name(program).at(name)).type;
  std::vector<Tensor> copies = random_data(program, name, random);
  for (uint32_t d = 0; d < program.mesh.devices(); ++d)
    copies[d] = copies[program.mesh.with_index(LogicalId(d), equal_axes(type), 0).index()];
  return copies;
}

}  // namespace orrery::test
