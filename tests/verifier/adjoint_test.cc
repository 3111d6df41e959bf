// Transposes satisfy the adjoint identity: with y = A x and any cotangent c of y, the sum over the
// devices of <c, A x> is that of <A^T c, x>. Integers wrap, so it holds exactly.

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/text.h"
#include "models/base/random.h"
#include "models/program/builder.h"
#include "models/transform/transpose.h"
#include "simulator/lower/lower.h"
#include "simulator/values/host_executor.h"

namespace orrery {
namespace {

using Integers = std::vector<int64_t>;
using Lists = std::vector<Integers>;
using Names = std::vector<std::string>;
using Given = std::vector<std::pair<std::string, Attribute>>;

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

/// A random program that is linear in its argument "x", of s32, over {x: 2, y: 3}.
class LinearProgram {
 public:
  explicit LinearProgram(uint64_t seed) : random_(seed) {
    builder_.argument("x", Dtype::S32, random_shape(), kAxes);
    builder_.thread("main", all_devices(mesh_));
    linear_ = {"x"};
    const int64_t ops = random_.between(1, 8);
    while (made_ < ops || linear_.size() == 1)
      add_op();
  }

  Program program() {
    Program made = builder_.finish();
    diagnostics_.throw_if_any();
    return made;
  }

  /// The value that is transposed.
  std::string last() const { return linear_.back(); }

 private:
  static inline const Names kAxes = {"x", "y"};

  Shape random_shape() {
    std::vector<int64_t> dims;
    for (int64_t d = random_.between(0, 3); d > 0; --d)
      dims.push_back(std::vector<int64_t>{1, 2, 3, 6}[random_.below(4)]);
    return Shape(std::move(dims));
  }

  Shape shape_of(const std::string& name) { return builder_.type_of(name, Origin{})->shape; }

  std::string add(OpKind kind, Names operands, const Given& given = {}) {
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

  void add_linear(OpKind kind, Names operands, const Given& given = {}) {
    linear_.push_back(add(kind, std::move(operands), given));
  }

  /// A value that does not depend on x.
  std::string constant(const Shape& shape) {
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

  std::string zero() {
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

  void add_op() {
    const std::string x = linear_[random_.below(linear_.size())];
    switch (random_.below(3)) {
      case 0:
        return add_collective(x);
      case 1:
        return add_movement(x);
      default:
        return add_arithmetic(x);
    }
  }

  /// The axes, and groups of one size along them; and how many ranks a group has.
  std::pair<Given, int64_t> group() {
    Names axes = random_.below(3) == 0 ? kAxes : random_.below(2) == 0 ? Names{"x"} : Names{"y"};
    int64_t size = 1;
    for (const std::string& axis : axes)
      size *= axis == "x" ? 2 : 3;
    Given given = {{"axis_name", axes}};
    if (random_.below(3) == 0) {
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

  void add_collective(const std::string& x) {
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
    switch (random_.below(7)) {
      case 0:
        return add_linear(OpKind::Psum, {x}, given);
      case 1:
        if (small && (!tiled || shape.rank() > 0))
          add_linear(OpKind::AllGather, {x},
                     with({{"axis",
                            tiled ? any() : below(random_, static_cast<int64_t>(shape.rank()) + 1)},
                           {"tiled", tiled}}));
        return;
      case 2:
        if (!fits.empty())
          add_linear(OpKind::PsumScatter, {x},
                     with({{"scatter_dimension", one_of(fits)}, {"tiled", tiled}}));
        return;
      case 3:
        if (!fits.empty())
          add_linear(
              OpKind::AllToAll, {x},
              with({{"split_axis", one_of(fits)}, {"concat_axis", any()}, {"tiled", tiled}}));
        return;
      case 4:
        if (!whole.empty())
          add_linear(OpKind::Pswapaxes, {x}, with({{"axis", one_of(whole)}}));
        return;
      case 5: {
        const Integers from = shuffled(random_, size);
        const Integers to = shuffled(random_, size);
        Lists perm;
        for (int64_t i = random_.between(0, size); i-- > 0;)
          perm.push_back({from[static_cast<size_t>(i)], to[static_cast<size_t>(i)]});
        if (random_.below(2) == 0)
          return add_linear(OpKind::Pshuffle, {x}, with({{"perm", to}}));
        return add_linear(OpKind::Ppermute, {x}, with({{"perm", perm}}));
      }
      default:
        return add_linear(OpKind::Pbroadcast, {x}, with({{"source", below(random_, size)}}));
    }
  }

  void add_movement(const std::string& x) {
    const Shape shape = shape_of(x);
    const auto rank = static_cast<int64_t>(shape.rank());
    const Integers dims(shape.dims().begin(), shape.dims().end());
    switch (random_.below(8)) {
      case 0:
        return add_linear(OpKind::Reshape, {x}, {{"new_sizes", Integers{shape.elements()}}});
      case 1:
        return add_linear(OpKind::Transpose, {x}, {{"permutation", shuffled(random_, rank)}});
      case 2: {
        Integers start;
        Integers limit;
        Integers strides;
        for (const int64_t extent : dims) {
          start.push_back(random_.between(0, extent));
          limit.push_back(random_.between(start.back(), extent));
          strides.push_back(random_.between(1, 3));
        }
        return add_linear(
            OpKind::Slice, {x},
            {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}});
      }
      case 3:
        if (rank > 0 && shape.elements() <= 32)
          add_linear(OpKind::Concatenate, {x, x}, {{"dimension", below(random_, rank)}});
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
          add_linear(OpKind::Pad, {x, around}, {{"padding_config", config}});
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
          add_linear(OpKind::BroadcastInDim, {x},
                     {{"shape", wide}, {"broadcast_dimensions", kept}});
        return;
      }
      case 6: {
        Names operands = {x};
        Integers sizes;
        for (const int64_t extent : dims) {
          operands.push_back(constant(Shape()));
          sizes.push_back(random_.between(0, extent));
        }
        return add_linear(OpKind::DynamicSlice, std::move(operands), {{"slice_sizes", sizes}});
      }
      default: {
        Names operands = {x, x};
        for (size_t d = 0; d < dims.size(); ++d)
          operands.push_back(constant(Shape()));
        return add_linear(OpKind::DynamicUpdateSlice, std::move(operands));
      }
    }
  }

  void add_arithmetic(const std::string& x) {
    const Shape shape = shape_of(x);
    const auto rank = static_cast<int64_t>(shape.rank());
    switch (random_.below(6)) {
      case 0:
        return add_linear(OpKind::Neg, {x});
      case 1:
        return add_linear(random_.below(2) == 0 ? OpKind::Add : OpKind::Sub,
                          {x, linear_of(shape, x)});
      case 2: {
        Names both = {x, constant(random_.below(3) == 0 ? Shape() : shape)};
        if (random_.below(2) == 0)
          std::swap(both[0], both[1]);
        return add_linear(OpKind::Mul, both);
      }
      case 3: {
        Integers axes = shuffled(random_, rank);
        axes.resize(random_.below(axes.size() + 1));
        return add_linear(OpKind::ReduceSum, {x}, {{"axes", axes}});
      }
      case 4: {
        // Contracted with a constant along a dimension, which that has second.
        if (rank == 0)
          return;
        const int64_t along = below(random_, rank);
        const std::string other = constant(Shape({2, shape[static_cast<size_t>(along)]}));
        if (random_.below(2) == 0)
          return add_linear(OpKind::DotGeneral, {x, other},
                            {{"dimension_numbers", Lists{{along}, {1}, {}, {}}}});
        return add_linear(OpKind::DotGeneral, {other, x},
                          {{"dimension_numbers", Lists{{1}, {along}, {}, {}}}});
      }
      default: {
        const std::string which = add(OpKind::Lt, {constant(shape), constant(shape)});
        return add_linear(OpKind::SelectN, {which, x, linear_of(shape, x)});
      }
    }
  }

  /// Another linear value of the shape, or `x`.
  std::string linear_of(const Shape& shape, const std::string& x) {
    for (const std::string& other : linear_)
      if (other != x && shape_of(other) == shape && random_.below(2) == 0)
        return other;
    return x;
  }

  Random random_;
  Mesh mesh_{{{"x", 2}, {"y", 3}}};
  Diagnostics diagnostics_{"f"};
  ProgramBuilder builder_{mesh_, Checks::Shapes, diagnostics_};
  Names linear_;
  int64_t made_ = 0;
  int64_t constants_ = 0;
};

Tensor random_tensor(const Shape& shape, Random& random) {
  Tensor tensor(Dtype::S32, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    set_element_bits(tensor, i, random.next() & 0xffffffffU);
  return tensor;
}

/// Random data for the argument `name` of a program, one tensor a device.
std::vector<Tensor> random_data(const Program& program, const std::string& name, Random& random) {
  std::vector<Tensor> tensors;
  const ValueId value = values_by_name(program).at(name);
  for (uint32_t d = 0; d < program.mesh.devices(); ++d)
    tensors.push_back(random_tensor(program.value(value).type.shape, random));
  return tensors;
}

/// The values of `name`, one a device, where the only argument has this data.
std::vector<Tensor> run(const Program& program, const std::vector<Tensor>& data,
                        const std::string& name) {
  Diagnostics diagnostics("f");
  Cluster cluster{
      "rig",
      fully_connected_fabric(program.mesh.devices(), {BytesPerSecond(1'000'000'000), Duration(1)}),
      {}};
  cluster.device.flops[Dtype::S32] = FlopsPerSecond(1'000'000'000);
  const Lowered lowered = lower(program, cluster, diagnostics);
  diagnostics.throw_if_any();
  DeviceValues arguments(program);
  REQUIRE(program.arguments.size() == 1);
  for (size_t d = 0; d < data.size(); ++d)
    arguments.at(program.arguments[0].value, LogicalId(d)) = data[d];
  const HostRun ran = execute(program, lowered, std::move(arguments));
  REQUIRE(ran.stop.finished());
  std::vector<Tensor> values;
  for (size_t d = 0; d < data.size(); ++d)
    values.push_back(ran.values.at(values_by_name(program).at(name), LogicalId(d)).value());
  return values;
}

uint32_t product(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  uint32_t sum = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    REQUIRE(a[d].shape() == b[d].shape());
    for (int64_t i = 0; i < a[d].elements(); ++i)
      sum += static_cast<uint32_t>(element_bits(a[d], i) * element_bits(b[d], i));
  }
  return sum;
}

TEST_CASE("transpose: of random linear programs, the adjoint identity holds exactly") {
  const char* const all = std::getenv("ORRERY_ADJOINTS");
  const int programs = all != nullptr ? std::atoi(all) : 1000;
  for (int seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    LinearProgram linear(static_cast<uint64_t>(seed));
    const Program program = linear.program();
    const std::string y = linear.last();
    Diagnostics diagnostics("f");
    const Program back = transpose(program, Checks::Shapes,
                                   {Origin{}, {{y, Origin{}}}, {{"x", Origin{}}}}, diagnostics);
    diagnostics.throw_if_any();
    Random random(static_cast<uint64_t>(seed) + 1'000'000);
    const std::vector<Tensor> x = random_data(program, "x", random);
    const std::vector<Tensor> c = random_data(back, "ct_" + y, random);
    CHECK(product(c, run(program, x, y)) == product(run(back, c, "ct_x"), x));
  }
}

}  // namespace
}  // namespace orrery
