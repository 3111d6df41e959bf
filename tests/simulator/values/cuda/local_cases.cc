#include "tests/simulator/values/cuda/local_cases.h"

#include <algorithm>

#include "models/array/kernels.h"
#include "models/base/check.h"
#include "models/program/builder.h"
#include "models/program/rules.h"
#include "tests/models/array/tensors.h"
#include "tests/models/program/lists.h"
#include "tests/simulator/values/cuda/host_memory.h"

namespace orrery::test {

namespace {

/// Returns a shape of at most `most` elements: a dimension that would exceed them gets extent 1.
Shape random_shape(Random& random, size_t least_rank = 0, int64_t most = 400) {
  Integers dims(least_rank + random.below(4));
  int64_t elements = 1;
  for (int64_t& dim : dims) {
    dim = random.below(20) == 0 ? 0 : Integers{1, 2, 3, 4, 5, 8, 17}[random.below(7)];
    if (elements * dim > most)
      dim = 1;
    elements *= std::max(dim, int64_t{1});
  }
  return Shape(std::move(dims));
}

size_t random_dimension(const Shape& shape, Random& random) {
  return random.below(shape.rank());
}

/// Returns distinct dimensions, in random order.
Integers some_dimensions(size_t rank, Random& random) {
  Integers all;
  for (size_t d = 0; d < rank; ++d)
    all.insert(all.begin() + random.between(0, static_cast<int64_t>(d)), static_cast<int64_t>(d));
  all.resize(random.below(rank + 1));
  return all;
}

Dtype random_integer_dtype(Random& random) {
  const Dtype dtypes[] = {Dtype::S8, Dtype::S16, Dtype::S32, Dtype::S64,
                          Dtype::U8, Dtype::U16, Dtype::U32, Dtype::U64};
  return dtypes[random.below(8)];
}

/// Returns indices from below 0 to above `rows`, some of them far outside.
Tensor random_indices(const Shape& shape, int64_t rows, Random& random) {
  Tensor indices(random_integer_dtype(random), shape);
  for (int64_t i = 0; i < indices.elements(); ++i)
    set_element_from_int64(indices, i,
                           random.below(10) == 0 ? static_cast<int64_t>(random.next())
                                                 : random.between(-rows - 2, rows + 1));
  return indices;
}

std::optional<LocalCase> elementwise_case(const Elementwise& op, Dtype dtype, Random& random) {
  const Shape shape = random_shape(random);
  const auto operand = [&] { return random_bits(dtype, shape, random); };
  if (const auto* unary = std::get_if<Unary>(&op)) {
    if (dtype == Dtype::Pred || (*unary != Unary::Neg && !is_inexact(dtype)))
      return std::nullopt;
    return LocalCase{{operand()}};
  }
  const auto* binary = std::get_if<Binary>(&op);
  const auto* comparison = std::get_if<Comparison>(&op);
  const bool ordered = binary != nullptr
                           ? *binary == Binary::Max || *binary == Binary::Min
                           : *comparison != Comparison::Eq && *comparison != Comparison::Ne;
  if ((ordered && is_complex(dtype)) || (binary != nullptr && !ordered && dtype == Dtype::Pred))
    return std::nullopt;
  LocalCase made{{operand(), operand()}};
  if (random.below(3) == 0)
    made.operands[random.below(2)] = random_bits(dtype, Shape(), random);
  return made;
}

LocalCase select_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random);
  const bool by_pred = random.below(2) == 0;
  const auto cases = random.below(25) == 0 ? 901 : random.between(1, by_pred ? 2 : 7);
  LocalCase made;
  Tensor which(by_pred && cases <= 2 ? Dtype::Pred : Dtype::S32,
               random.below(4) == 0 ? Shape() : shape);
  for (int64_t i = 0; i < which.elements(); ++i)
    set_element_from_int64(
        which, i,
        which.dtype() == Dtype::Pred ? random.between(0, 1) : random.between(-2, cases + 1));
  made.operands.push_back(std::move(which));
  for (int64_t k = 0; k < cases; ++k)
    made.operands.push_back(random_bits(dtype, random.below(5) == 0 ? Shape() : shape, random));
  return made;
}

std::optional<LocalCase> of_complex_case(OpKind kind, Dtype dtype, Random& random) {
  const bool is_part = complex_of(dtype).has_value();
  const bool taken = kind == OpKind::Complex ? is_part
                     : kind == OpKind::Conj  ? is_part || is_complex(dtype)
                                             : is_complex(dtype);
  if (!taken)
    return std::nullopt;
  const Shape shape = random_shape(random);
  LocalCase made{{random_bits(dtype, shape, random)}};
  if (kind == OpKind::Complex)
    made.operands.push_back(random_bits(dtype, random.below(3) == 0 ? Shape() : shape, random));
  return made;
}

LocalCase transpose_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random);
  Integers permutation;
  for (size_t d = 0; d < shape.rank(); ++d)
    permutation.insert(permutation.begin() + random.between(0, static_cast<int64_t>(d)),
                       static_cast<int64_t>(d));
  return {{random_bits(dtype, shape, random)}, {{"permutation", permutation}}};
}

LocalCase slice_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random);
  Integers start, limit, strides;
  for (const int64_t dim : shape.dims()) {
    start.push_back(random.between(0, dim));
    limit.push_back(random.between(start.back(), dim));
    strides.push_back(random.between(1, 3));
  }
  LocalCase made{{random_bits(dtype, shape, random)},
                 {{"start_indices", start}, {"limit_indices", limit}}};
  if (random.below(2) == 0)
    made.attributes.emplace_back("strides", strides);
  return made;
}

LocalCase concatenate_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random, 1);
  const size_t along = random_dimension(shape, random);
  LocalCase made{{}, {{"dimension", static_cast<int64_t>(along)}}};
  for (int64_t k = random.between(1, 4); k > 0; --k)
    made.operands.push_back(random_bits(dtype, shape.with(along, random.between(0, 4)), random));
  return made;
}

LocalCase split_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random, 1);
  const size_t along = random_dimension(shape, random);
  Integers sizes;
  int64_t left = shape[along];
  while (left > 0 && sizes.size() < 3) {
    sizes.push_back(random.between(0, left));
    left -= sizes.back();
  }
  sizes.push_back(left);
  const int64_t axis =
      static_cast<int64_t>(along) - (random.below(2) == 0 ? static_cast<int64_t>(shape.rank()) : 0);
  return {{random_bits(dtype, shape, random)}, {{"sizes", sizes}, {"axis", axis}}, sizes.size()};
}

LocalCase pad_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random);
  Lists config;
  for (const int64_t dim : shape.dims()) {
    const int64_t interior = random.between(0, 2);
    const int64_t most = dim + std::max(dim - 1, int64_t{0}) * interior;
    const int64_t low = random.between(-most, 3);
    const int64_t high = random.between(std::max(-most - std::min(low, int64_t{0}), -most), 3);
    config.push_back({low, high, interior});
  }
  return {{random_bits(dtype, shape, random), random_bits(dtype, Shape(), random)},
          {{"padding_config", config}}};
}

LocalCase broadcast_case(Dtype dtype, Random& random) {
  const Shape result = random_shape(random);
  Integers dims, places;
  for (size_t d = 0; d < result.rank(); ++d)
    if (random.below(2) == 0) {
      places.push_back(static_cast<int64_t>(d));
      dims.push_back(random.below(3) == 0 ? 1 : result[d]);
    }
  return {{random_bits(dtype, Shape(dims), random)},
          {{"shape", Integers(result.dims().begin(), result.dims().end())},
           {"broadcast_dimensions", places}}};
}

LocalCase reorder_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random, 1, 20);
  const size_t along = random_dimension(shape, random);
  const int64_t cp_size = 2 * random.between(1, 3);
  const Shape whole = shape.with(along, 2 * cp_size * random.between(0, 3));
  return {{random_bits(dtype, whole, random)},
          {{"cp_size", cp_size},
           {"seq_dim", static_cast<int64_t>(along)},
           {"to_contiguous", random.below(2) == 0}}};
}

LocalCase part_case(OpKind kind, Dtype dtype, Random& random) {
  const Shape whole = random_shape(random);
  Integers sizes;
  for (const int64_t dim : whole.dims())
    sizes.push_back(random.below(3) == 0 ? dim : random.between(0, dim));
  LocalCase made{{random_bits(dtype, whole, random)}};
  if (kind == OpKind::DynamicSlice)
    made.attributes.emplace_back("slice_sizes", sizes);
  else
    made.operands.push_back(random_bits(dtype, Shape(sizes), random));
  for (const int64_t dim : whole.dims())
    made.operands.push_back(random_indices(Shape(), dim, random));
  return made;
}

NumberOrPair fill_of(Dtype dtype) {
  return is_complex(dtype) ? NumberOrPair(1, -2) : NumberOrPair(1);
}

std::optional<LocalCase> rows_case(OpKind kind, Dtype dtype, Random& random) {
  if (kind == OpKind::ScatterAdd && dtype == Dtype::Pred)
    return std::nullopt;
  const Shape shape = random_shape(random, 1);
  const size_t axis = random_dimension(shape, random);
  const Shape indices = random_shape(random, 0, 30);
  const bool clips = random.below(2) == 0 && shape[axis] > 0;
  LocalCase made{
      {random_bits(dtype, shape, random)},
      {{"axis", static_cast<int64_t>(axis)}, {"mode", std::string(clips ? "clip" : "fill")}}};
  if (kind == OpKind::ScatterAdd) {
    Integers dims(shape.dims().begin(), shape.dims().end());
    const auto at = dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
    dims.insert(at, indices.dims().begin(), indices.dims().end());
    made.operands.push_back(random_bits(dtype, Shape(dims), random));
  } else if (!clips && random.below(2) == 0) {
    made.attributes.emplace_back("fill_value", fill_of(dtype));
  }
  made.operands.push_back(random_indices(indices, shape[axis], random));
  return made;
}

std::optional<LocalCase> reduce_case(OpKind kind, Dtype dtype, Random& random) {
  if (kind == OpKind::ReduceSum ? dtype == Dtype::Pred : is_complex(dtype))
    return std::nullopt;
  const Shape shape = random_shape(random);
  return LocalCase{{random_bits(dtype, shape, random)},
                   {{"axes", some_dimensions(shape.rank(), random)}}};
}

/// Returns whether dot_general of the one dtype may give the other.
bool may_give(Dtype operand, Dtype result) {
  if (operand == Dtype::Pred || result == Dtype::Pred || is_complex(operand) || is_complex(result))
    return operand == result || (operand == Dtype::C64 && result == Dtype::C128);
  if (itemsize(result) < itemsize(operand))
    return false;
  return is_float(result) || (is_integer(operand) && is_signed(operand) == is_signed(result));
}

LocalCase dot_case(Dtype dtype, Random& random) {
  // These are batch, contracting and free dimensions, in an own order for each side.
  struct Side {
    Integers dims, contracting, batch;
  };
  const Integers batch = Integers(random.below(3), random.between(1, 3));
  const Integers depth = Integers(random.below(3), random.below(9) == 0 ? 0 : random.between(1, 7));
  const auto side = [&] {
    Integers roles;  // batch dimensions, then contracting ones, then free ones
    for (size_t k = 0; k < batch.size() + depth.size() + random.below(3); ++k)
      roles.push_back(static_cast<int64_t>(k));
    Integers order;
    for (const int64_t role : roles)
      order.insert(order.begin() + random.between(0, static_cast<int64_t>(order.size())), role);
    Side made;
    made.batch.resize(batch.size());
    made.contracting.resize(depth.size());
    for (size_t d = 0; d < order.size(); ++d) {
      const auto role = static_cast<size_t>(order[d]);
      const auto place = static_cast<int64_t>(d);
      if (role < batch.size()) {
        made.batch[role] = place;
        made.dims.push_back(batch[role]);
      } else if (role < batch.size() + depth.size()) {
        made.contracting[role - batch.size()] = place;
        made.dims.push_back(depth[role - batch.size()]);
      } else {
        made.dims.push_back(random.between(1, 9));
      }
    }
    return made;
  };
  const Side left = side();
  const Side right = side();
  LocalCase made{
      {random_bits(dtype, Shape(left.dims), random), random_bits(dtype, Shape(right.dims), random)},
      {{"dimension_numbers", Lists{left.contracting, right.contracting, left.batch, right.batch}}}};
  const Dtype result = all_dtypes()[random.below(all_dtypes().size())];
  if (may_give(dtype, result))
    made.attributes.emplace_back("preferred_element_type", result);
  return made;
}

LocalCase stand_in_case(Dtype dtype, Random& random) {
  const Shape shape = random_shape(random);
  LocalCase made{{random_bits(dtype, random.below(2) == 0 ? shape : random_shape(random), random)},
                 {{"flops", Flops(1)}, {"bytes", Bytes(1)}, {"dtype", dtype}}};
  made.results = random.below(2);
  if (made.results > 0)
    made.attributes.emplace_back("shape", Integers(shape.dims().begin(), shape.dims().end()));
  return made;
}

}  // namespace

std::optional<LocalCase> random_local(OpKind kind, Dtype dtype, Random& random) {
  if (const std::optional<Elementwise>& op = rules(kind).elementwise)
    return elementwise_case(*op, dtype, random);
  const Shape shape = random_shape(random);
  const Integers dims(shape.dims().begin(), shape.dims().end());
  switch (kind) {
    case OpKind::Pvary:
    case OpKind::ReducedVaryCast:
    case OpKind::Preduced:
      return LocalCase{{random_bits(dtype, shape, random)}, {{"axis_name", Names{"y"}}}};
    case OpKind::VaryUnreducedCast:
      return LocalCase{{random_bits(dtype, shape, random)}, {{"axis_name", Names{}}}};
    case OpKind::Pcast:
      return LocalCase{{random_bits(dtype, shape, random)},
                       {{"axis_name", Names{"x"}}, {"to", std::string("varying")}}};
    case OpKind::AxisIndex:
    case OpKind::AxisSize:
      return LocalCase{{}, {{"axis_name", Names{"y", "x"}}}};
    case OpKind::SelectN:
      return select_case(dtype, random);
    case OpKind::ConvertElementType:
      return LocalCase{{random_bits(dtype, shape, random)},
                       {{"new_dtype", all_dtypes()[random.below(all_dtypes().size())]}}};
    case OpKind::Real:
    case OpKind::Imag:
    case OpKind::Conj:
    case OpKind::Complex:
      return of_complex_case(kind, dtype, random);
    case OpKind::Reshape:
      return LocalCase{{random_bits(dtype, shape, random)},
                       {{"new_sizes", Integers{shape.elements()}}}};
    case OpKind::LogicallyStacked:
      return LocalCase{{random_bits(dtype, shape, random)}, {{"mpmd_axis", std::string("y")}}};
    case OpKind::Transpose:
      return transpose_case(dtype, random);
    case OpKind::Slice:
      return slice_case(dtype, random);
    case OpKind::Concatenate:
      return concatenate_case(dtype, random);
    case OpKind::Split:
      return split_case(dtype, random);
    case OpKind::Pad:
      return pad_case(dtype, random);
    case OpKind::BroadcastInDim:
      return broadcast_case(dtype, random);
    case OpKind::ReorderSequence:
      return reorder_case(dtype, random);
    case OpKind::DynamicSlice:
    case OpKind::DynamicUpdateSlice:
      return part_case(kind, dtype, random);
    case OpKind::Take:
    case OpKind::ScatterAdd:
      return rows_case(kind, dtype, random);
    case OpKind::ReduceSum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
      return reduce_case(kind, dtype, random);
    case OpKind::Full:
      return LocalCase{{}, {{"shape", dims}, {"fill_value", fill_of(dtype)}, {"dtype", dtype}}};
    case OpKind::Iota: {
      if (dtype == Dtype::Pred)
        return std::nullopt;
      const Shape any = random_shape(random, 1);
      return LocalCase{{},
                       {{"shape", Integers(any.dims().begin(), any.dims().end())},
                        {"dimension", static_cast<int64_t>(random_dimension(any, random))},
                        {"dtype", dtype}}};
    }
    case OpKind::CreateToken:
      return LocalCase{};
    case OpKind::DotGeneral:
      return dot_case(dtype, random);
    case OpKind::OptimizationBarrier:
      return LocalCase{
          {random_bits(dtype, shape, random), random_bits(Dtype::F32, shape, random)}, {}, 2};
    case OpKind::Compute:
      return stand_in_case(dtype, random);
    default:
      fail_check("a case of each local op", "a new op needs one here", __FILE__, __LINE__);
  }
}

Program program_of(OpKind kind, const LocalCase& of) {
  Diagnostics diagnostics("case");
  ProgramBuilder builder(Mesh({{"x", 2}, {"y", 3}}), Checks::Shapes, diagnostics);
  OpRequest request;
  request.name = "r0";
  for (size_t r = 1; r < of.results; ++r)
    request.other_results.push_back("r" + std::to_string(r));
  request.kind = kind;
  for (size_t i = 0; i < of.operands.size(); ++i) {
    request.operands.push_back("a" + std::to_string(i));
    builder.argument(request.operands.back(), of.operands[i].dtype(), of.operands[i].shape(),
                     {"x", "y"});
  }
  for (const auto& [name, value] : of.attributes)
    request.attributes.set(name, value);
  std::vector<LogicalId> devices;
  for (uint32_t d = 0; d < 6; ++d)
    devices.emplace_back(d);
  builder.thread("all", devices);
  builder.op(std::move(request));
  Program program = builder.finish();
  diagnostics.throw_if_any();
  return program;
}

}  // namespace orrery::test
