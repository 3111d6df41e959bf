#include "tests/verifier/random_program.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/text.h"
#include "simulator/lower/lower.h"
#include "simulator/values/host_executor.h"

namespace orrery::test {

namespace {

using Integers = std::vector<int64_t>;
using Names = std::vector<std::string>;

const Names kAxes = {"x", "y"};

int64_t below(Random& random, int64_t bound) {
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(bound)));
}

Integers shuffled(Random& random, int64_t count) {
  Integers order;
  for (int64_t i = 0; i < count; ++i)
    order.push_back(i);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace

RandomProgram::RandomProgram(uint64_t seed, const RandomOps& ops) : random_(seed), ops_(ops) {
  builder_.argument("x", Dtype::S32, random_shape(), kAxes);
  builder_.thread("main", all_devices(mesh_));
  values_ = {"x"};
  const int64_t count = random_.between(1, 8);
  while (made_ < count || values_.size() == 1)
    add_op();
}

Program RandomProgram::program() {
  Program made = builder_.finish();
  diagnostics_.throw_if_any();
  return made;
}

Shape RandomProgram::random_shape() {
  std::vector<int64_t> dims;
  for (int64_t d = random_.between(0, 3); d > 0; --d)
    dims.push_back(std::vector<int64_t>{1, 2, 3, 6}[random_.below(4)]);
  return Shape(std::move(dims));
}

Shape RandomProgram::shape_of(const std::string& name) {
  return builder_.type_of(name, Origin{})->shape;
}

std::string RandomProgram::add(OpKind kind, Names operands, const Given& given) {
  OpRequest request;
  request.name = fmt::format("v{}", ++made_);
  request.kind = kind;
  request.operands = std::move(operands);
  for (const auto& [name, value] : given)
    request.attributes.set(name, value);
  const std::string name = request.name;
  builder_.op(std::move(request));
  diagnostics_.throw_if_any();
  return name;
}

void RandomProgram::add_value(OpKind kind, Names operands, const Given& given) {
  values_.push_back(add(kind, std::move(operands), given));
}

/// Returns a value that does not depend on x.
std::string RandomProgram::constant(const Shape& shape) {
  const std::string name = fmt::format("c{}", ++constants_);
  OpRequest request;
  request.name = name;
  if (shape.rank() == 0 || random_.below(2) == 0) {
    request.kind = OpKind::Full;
    request.attributes.set("fill_value", static_cast<double>(random_.between(-3, 3)));
  } else {
    request.kind = OpKind::Iota;
    request.attributes.set("dimension", below(random_, static_cast<int64_t>(shape.rank())));
  }
  request.attributes.set("shape", Integers(shape.dims().begin(), shape.dims().end()));
  request.attributes.set("dtype", Dtype::S32);
  builder_.op(std::move(request));
  diagnostics_.throw_if_any();
  return name;
}

std::string RandomProgram::zero() {
  OpRequest request;
  request.name = fmt::format("c{}", ++constants_);
  request.kind = OpKind::Full;
  request.attributes.set("fill_value", 0.0);
  request.attributes.set("shape", Integers());
  request.attributes.set("dtype", Dtype::S32);
  const std::string name = request.name;
  builder_.op(std::move(request));
  return name;
}

void RandomProgram::add_op() {
  const std::string x = values_[random_.below(values_.size())];
  switch (random_.below(ops_.linear ? 3 : 4)) {
    case 0:
      return add_collective(x);
    case 1:
      return add_movement(x);
    case 2:
      return add_arithmetic(x);
    default:
      return add_nonlinear(x);
  }
}

/// Returns the axes, and groups of one size along them, and how many ranks a group has.
std::pair<RandomProgram::Given, int64_t> RandomProgram::group() {
  Names axes = random_.below(3) == 0 ? kAxes : random_.below(2) == 0 ? Names{"x"} : Names{"y"};
  int64_t size = 1;
  for (const std::string& axis : axes)
    size *= axis == "x" ? 2 : 3;
  Given given = {{"axis_name", axes}};
  const bool whole =
      ops_.batched && std::find(axes.begin(), axes.end(), *ops_.batched) != axes.end();
  if (random_.below(3) == 0 && !whole) {
    const int64_t width = size == 6 ? std::vector<int64_t>{1, 2, 3, 6}[random_.below(4)] : size;
    const Integers order = shuffled(random_, size);
    Lists groups;
    for (auto at = order.begin(); at != order.end(); at += width)
      groups.emplace_back(at, at + width);
    given.emplace_back("axis_index_groups", groups);
    size = width;
  }
  return {given, size};
}

/// Returns pairs in which each source and each destination occurs at most once.
RandomProgram::Lists RandomProgram::pairs(int64_t size) {
  const Integers from = shuffled(random_, size);
  const Integers to = shuffled(random_, size);
  Lists pairs;
  for (int64_t i = random_.between(0, size); i-- > 0;)
    pairs.push_back({from[static_cast<size_t>(i)], to[static_cast<size_t>(i)]});
  return pairs;
}

/// Returns pairs that form no cycle.
RandomProgram::Lists RandomProgram::chains(int64_t size) {
  const Integers order = shuffled(random_, size);
  Lists pairs;
  for (size_t i = 0; i + 1 < order.size(); ++i)
    if (random_.below(2) == 0)
      pairs.push_back({order[i], order[i + 1]});
  return pairs;
}

bool RandomProgram::is_batched_with_others(const Given& group) const {
  return ops_.batched && std::get<Names>(group.front().second).size() > 1;
}

/// Returns where a part begins. It may differ from device to device if ops need not be linear.
std::string RandomProgram::start(const std::string& x) {
  if (ops_.linear || random_.below(2) == 0)
    return constant(Shape());
  return add(OpKind::ReduceMax, {x},
             {{"axes", shuffled(random_, static_cast<int64_t>(shape_of(x).rank()))}});
}

void RandomProgram::add_collective(const std::string& x) {
  const Shape shape = shape_of(x);
  const std::pair<Given, int64_t> chosen = group();
  const Given& given = chosen.first;
  const int64_t size = chosen.second;
  const auto with = [&](Given more) {
    more.insert(more.begin(), given.begin(), given.end());
    return more;
  };
  std::vector<int64_t> cut;  // the dimensions with a part for each rank
  std::vector<int64_t> whole;
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (shape[d] % size == 0)
      cut.push_back(static_cast<int64_t>(d));
    if (shape[d] == size)
      whole.push_back(static_cast<int64_t>(d));
  }
  const auto one_of = [&](const Integers& from) { return from[random_.below(from.size())]; };
  const auto any = [&] { return below(random_, static_cast<int64_t>(shape.rank())); };
  const bool tiled = random_.below(2) == 0;
  const Integers& fits = tiled ? cut : whole;
  const bool small = shape.elements() * size <= 64;
  switch (random_.below(8)) {
    case 0:
      return add_value(OpKind::Psum, {x}, given);
    case 1:
      if (small && (!tiled || shape.rank() > 0))
        add_value(
            OpKind::AllGather, {x},
            with({{"axis", tiled ? any() : below(random_, static_cast<int64_t>(shape.rank()) + 1)},
                  {"tiled", tiled}}));
      return;
    case 2:
      if (!fits.empty())
        add_value(OpKind::PsumScatter, {x},
                  with({{"scatter_dimension", one_of(fits)}, {"tiled", tiled}}));
      return;
    case 3:
      if (!fits.empty())
        add_value(OpKind::AllToAll, {x},
                  with({{"split_axis", one_of(fits)}, {"concat_axis", any()}, {"tiled", tiled}}));
      return;
    case 4:
      if (!whole.empty())
        add_value(OpKind::Pswapaxes, {x}, with({{"axis", one_of(whole)}}));
      return;
    case 5: {
      if (is_batched_with_others(given)) {
        Lists perm;
        const Lists over_y = pairs(3);
        for (const Integers& along_x : pairs(2))
          for (const Integers& along_y : over_y)
            perm.push_back({along_x[0] * 3 + along_y[0], along_x[1] * 3 + along_y[1]});
        return add_value(OpKind::Ppermute, {x}, with({{"perm", perm}}));
      }
      if (random_.below(2) == 0)
        return add_value(OpKind::Pshuffle, {x}, with({{"perm", shuffled(random_, size)}}));
      return add_value(OpKind::Ppermute, {x}, with({{"perm", pairs(size)}}));
    }
    case 6:
      return add_transfer(x);
    default:
      return add_value(OpKind::Pbroadcast, {x}, with({{"source", below(random_, size)}}));
  }
}

void RandomProgram::add_transfer(const std::string& x) {
  const Names axes = random_.below(3) == 0   ? kAxes
                     : random_.below(2) == 0 ? Names{"x"}
                                             : Names{"y"};
  const Shape shape = shape_of(x);
  Lists perm;
  if (axes.size() == 1) {
    perm = chains(axes[0] == "x" ? 2 : 3);
  } else if (!ops_.batched) {
    perm = chains(6);
  } else {
    const Lists over_y = chains(3);
    for (const Integers& along_x : chains(2))
      for (const Integers& along_y : over_y)
        perm.push_back({along_x[0] * 3 + along_y[0], along_x[1] * 3 + along_y[1]});
  }
  std::string token = add(OpKind::Psend, {x}, {{"axis_name", axes}, {"perm", perm}});
  if (random_.below(3) == 0)
    token = add(OpKind::OptimizationBarrier, {token});
  add_value(OpKind::Precv, {token},
            {{"axis_name", axes},
             {"perm", perm},
             {"shape", Integers(shape.dims().begin(), shape.dims().end())},
             {"dtype", Dtype::S32}});
}

void RandomProgram::add_movement(const std::string& x) {
  const Shape shape = shape_of(x);
  const auto rank = static_cast<int64_t>(shape.rank());
  const Integers dims(shape.dims().begin(), shape.dims().end());
  switch (random_.below(10)) {
    case 0:
      return add_value(OpKind::Reshape, {x}, {{"new_sizes", Integers{shape.elements()}}});
    case 1:
      return add_value(OpKind::Transpose, {x}, {{"permutation", shuffled(random_, rank)}});
    case 2: {
      Integers start;
      Integers limit;
      Integers strides;
      for (const int64_t extent : dims) {
        start.push_back(random_.between(0, extent));
        limit.push_back(random_.between(start.back(), extent));
        strides.push_back(random_.between(1, 3));
      }
      return add_value(OpKind::Slice, {x},
                       {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}});
    }
    case 3:
      if (rank > 0 && shape.elements() <= 32)
        add_value(OpKind::Concatenate, {x, x}, {{"dimension", below(random_, rank)}});
      return;
    case 4: {
      Lists config;
      for (const int64_t extent : dims)
        config.push_back({random_.between(-std::min<int64_t>(extent / 2, 1), 2),
                          random_.between(-std::min<int64_t>(extent / 2, 1), 2),
                          random_.between(0, 1)});
      const std::string around =
          rank == 0 || random_.below(2) == 0
              ? zero()
              : add(OpKind::ReduceSum, {x}, {{"axes", shuffled(random_, rank)}});
      if (shape.elements() <= 12)
        add_value(OpKind::Pad, {x, around}, {{"padding_config", config}});
      return;
    }
    case 5: {
      Integers wide = {random_.between(1, 2)};
      Integers kept;
      for (int64_t d = 0; d < rank; ++d) {
        kept.push_back(d + 1);
        wide.push_back(dims[static_cast<size_t>(d)] == 1 ? random_.between(1, 2)
                                                         : dims[static_cast<size_t>(d)]);
      }
      if (shape.elements() <= 16)
        add_value(OpKind::BroadcastInDim, {x}, {{"shape", wide}, {"broadcast_dimensions", kept}});
      return;
    }
    case 6: {
      Names operands = {x};
      Integers sizes;
      for (const int64_t extent : dims) {
        operands.push_back(start(x));
        sizes.push_back(random_.between(0, extent));
      }
      return add_value(OpKind::DynamicSlice, std::move(operands), {{"slice_sizes", sizes}});
    }
    case 7: {
      Names operands = {x, x};
      for (size_t d = 0; d < dims.size(); ++d)
        operands.push_back(start(x));
      return add_value(OpKind::DynamicUpdateSlice, std::move(operands));
    }
    case 8:
      if (rank > 0 && shape.elements() <= 16)
        add_reordered(x, below(random_, rank));
      return;
    default:
      if (rank > 0)
        add_rows(x, below(random_, rank));
      return;
  }
}

/// Adds x four times along a dimension, with the chunks of that in another order.
void RandomProgram::add_reordered(const std::string& x, int64_t dimension) {
  add_value(OpKind::Concatenate, {x, x, x, x}, {{"dimension", dimension}});
  const int64_t extent = shape_of(x)[static_cast<size_t>(dimension)];
  add_value(OpKind::ReorderSequence, {values_.back()},
            {{"cp_size", extent > 0 && random_.below(2) == 0 ? 2 * extent : 2},
             {"seq_dim", dimension},
             {"to_contiguous", random_.below(2) == 0}});
}

/// Adds rows of x, and x with these rows added to other rows. Rows outside give 0, and are not
/// added.
void RandomProgram::add_rows(const std::string& x, int64_t axis) {
  const bool clips = random_.below(2) == 0;
  Given given = {{"axis", axis}, {"mode", std::string(clips ? "clip" : "fill")}};
  const bool one = random_.below(2) == 0;
  const std::string from = one ? start(x) : constant(Shape({2}));
  const std::string to = one ? start(x) : constant(Shape({2}));
  if (clips && shape_of(x)[static_cast<size_t>(axis)] == 0)
    return;
  Given taken = given;
  if (!clips)
    taken.emplace_back("fill_value", 0.0);
  add_value(OpKind::Take, {x, from}, taken);
  const std::string rows = values_.back();
  add_value(OpKind::ScatterAdd, {x, rows, to}, given);
}

void RandomProgram::add_arithmetic(const std::string& x) {
  const Shape shape = shape_of(x);
  const auto rank = static_cast<int64_t>(shape.rank());
  switch (random_.below(6)) {
    case 0:
      return add_value(OpKind::Neg, {x});
    case 1:
      return add_value(random_.below(2) == 0 ? OpKind::Add : OpKind::Sub, {x, value_of(shape, x)});
    case 2: {
      Names both = {x, constant(random_.below(3) == 0 ? Shape() : shape)};
      if (random_.below(2) == 0)
        std::swap(both[0], both[1]);
      return add_value(OpKind::Mul, both);
    }
    case 3: {
      Integers axes = shuffled(random_, rank);
      axes.resize(random_.below(axes.size() + 1));
      return add_value(OpKind::ReduceSum, {x}, {{"axes", axes}});
    }
    case 4: {
      // x is contracted with a constant, along the constant's second dimension.
      if (rank == 0)
        return;
      const int64_t along = below(random_, rank);
      const std::string other = constant(Shape({2, shape[static_cast<size_t>(along)]}));
      if (random_.below(2) == 0)
        return add_value(OpKind::DotGeneral, {x, other},
                         {{"dimension_numbers", Lists{{along}, {1}, {}, {}}}});
      return add_value(OpKind::DotGeneral, {other, x},
                       {{"dimension_numbers", Lists{{1}, {along}, {}, {}}}});
    }
    default: {
      const std::string which = add(OpKind::Lt, {constant(shape), constant(shape)});
      return add_value(OpKind::SelectN, {which, x, value_of(shape, x)});
    }
  }
}

/// Returns another linear value of the shape, or `x`.
std::string RandomProgram::value_of(const Shape& shape, const std::string& x) {
  for (const std::string& other : values_)
    if (other != x && shape_of(other) == shape && random_.below(2) == 0)
      return other;
  return x;
}

void RandomProgram::add_nonlinear(const std::string& x) {
  const Shape shape = shape_of(x);
  const auto rank = static_cast<int64_t>(shape.rank());
  switch (random_.below(9)) {
    case 0:
      return add_value(random_.below(2) == 0 ? OpKind::Pmax : OpKind::Pmin, {x}, group().first);
    case 1: {
      const Names axis = {random_.below(2) == 0 ? "x" : "y"};
      return add_value(random_.below(2) == 0 ? OpKind::Pargmax : OpKind::Pargmin, {x},
                       {{"axis_name", axis}});
    }
    case 2:
      return add_value(OpKind::ConvertElementType, {add(OpKind::Pmean, {x}, group().first)},
                       {{"new_dtype", Dtype::S32}});
    case 3:
      return add_value(random_.below(2) == 0 ? OpKind::Max : OpKind::Mul, {x, value_of(shape, x)});
    case 4:
      return add_value(OpKind::SelectN, {add(OpKind::Lt, {x, constant(shape)}), x, x});
    case 5: {
      const Names axes = random_.below(2) == 0 ? Names{"y", "x"} : Names{"x"};
      const std::string index = add(OpKind::AxisIndex, {}, {{"axis_name", axes}});
      return add_value(OpKind::Add, {x, index});
    }
    case 6: {
      Integers axes = shuffled(random_, rank);
      axes.resize(random_.below(axes.size() + 1));
      return add_value(random_.below(2) == 0 ? OpKind::ReduceMax : OpKind::ReduceMin, {x},
                       {{"axes", axes}});
    }
    case 7: {
      // Rows are taken by small numbers, some of which are no rows.
      if (rank == 0 || shape.elements() > 12)
        return;
      const std::string other = values_[random_.below(values_.size())];
      if (shape_of(other).elements() * shape.elements() > 128)
        return;
      const std::string three = constant(Shape());
      const std::string rows = random_.below(3) == 0   ? constant(Shape({2}))
                               : random_.below(2) == 0 ? add(OpKind::Min, {other, three})
                                                       : add(OpKind::Lt, {other, three});
      const std::string indices =
          builder_.type_of(rows, Origin{})->dtype == Dtype::S32
              ? rows
              : add(OpKind::ConvertElementType, {rows}, {{"new_dtype", Dtype::S32}});
      return add_value(
          OpKind::Take, {random_.below(3) == 0 ? constant(shape) : x, indices},
          {{"axis", below(random_, rank)},
           {"mode",
            std::string(random_.below(2) == 0 || shape.elements() == 0 ? "fill" : "clip")}});
    }
    default: {
      // x is contracted with another value that depends on x, along dimensions of one extent.
      const std::string other = values_[random_.below(values_.size())];
      const Shape with = shape_of(other);
      for (int64_t l = 0; l < rank; ++l)
        for (int64_t r = 0; r < static_cast<int64_t>(with.rank()); ++r)
          if (shape[static_cast<size_t>(l)] == with[static_cast<size_t>(r)] &&
              shape.elements() * with.elements() <= 256) {
            const bool shared = random_.below(2) == 0;
            return add_value(OpKind::DotGeneral, {x, other},
                             {{"dimension_numbers",
                               shared ? Lists{{}, {}, {l}, {r}} : Lists{{l}, {r}, {}, {}}}});
          }
      return;
    }
  }
}

Tensor random_tensor(const Shape& shape, Random& random) {
  Tensor tensor(Dtype::S32, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    set_element_bits(tensor, i, random.next() & 0xffffffffU);
  return tensor;
}

std::vector<Tensor> random_data(const Program& program, const std::string& name, Random& random) {
  std::vector<Tensor> tensors;
  const ValueId value = values_by_name(program).at(name);
  for (uint32_t d = 0; d < program.mesh.devices(); ++d)
    tensors.push_back(random_tensor(program.value(value).type.shape, random));
  return tensors;
}

std::vector<std::vector<Tensor>> run(const Program& program, const std::vector<Tensor>& data,
                                     const std::vector<std::string>& names) {
  REQUIRE(program.arguments.size() == 1);
  return run(program, ArgumentData{{program.value(program.arguments[0].value).name, data}}, names);
}

std::vector<std::vector<Tensor>> run(const Program& program, const ArgumentData& data,
                                     const std::vector<std::string>& names) {
  Diagnostics diagnostics("f");
  Cluster cluster{
      "rig",
      fully_connected_fabric(program.mesh.devices(), {BytesPerSecond(1'000'000'000), Duration(1)}),
      {}};
  cluster.device.flops[Dtype::S32] = FlopsPerSecond(1'000'000'000);
  const Lowered lowered = lower(program, cluster, diagnostics);
  diagnostics.throw_if_any();
  DeviceValues arguments(program);
  REQUIRE(program.arguments.size() == data.size());
  for (const Argument& argument : program.arguments) {
    const std::vector<Tensor>& tensors = data.at(program.value(argument.value).name);
    for (size_t d = 0; d < tensors.size(); ++d)
      arguments.at(argument.value, LogicalId(d)) = tensors[d];
  }
  const HostRun ran = execute(program, lowered, std::move(arguments));
  REQUIRE(ran.stop.finished());
  std::vector<std::vector<Tensor>> values(names.size());
  for (size_t n = 0; n < names.size(); ++n)
    for (size_t d = 0; d < program.mesh.devices(); ++d)
      values[n].push_back(
          ran.values.at(values_by_name(program).at(names[n]), LogicalId(d)).value());
  return values;
}

}  // namespace orrery::test
