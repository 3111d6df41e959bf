#include <algorithm>
#include <optional>

#include "models/array/kernels.h"
#include "models/array/strided_move.h"
#include "models/program/local_parameters.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/kernels/fold.h"
#include "simulator/values/cuda/kernels/local_site.h"

namespace orrery::cuda {

namespace {

bool lists(const std::vector<int64_t>& dimensions, size_t d) {
  return std::find(dimensions.begin(), dimensions.end(), static_cast<int64_t>(d)) !=
         dimensions.end();
}

}  // namespace

KernelCalls reduce_calls(const LocalSite& site, Combine combine) {
  const ValueType& operand = site.operand(0);
  const std::vector<int64_t>& axes = site.op.attributes.integers("axes");
  const std::vector<int64_t> strides = strides_of(operand.shape);
  std::vector<int64_t> kept_dims, kept_strides, folded_dims, folded_strides;
  for (size_t d = 0; d < operand.shape.rank(); ++d) {
    (lists(axes, d) ? folded_dims : kept_dims).push_back(operand.shape[d]);
    (lists(axes, d) ? folded_strides : kept_strides).push_back(strides[d]);
  }
  ReduceArgs args{};
  args.to = site.result_at();
  args.from = site.operand_at(0);
  args.kept = box_of({kept_dims, kept_strides, row_major(kept_dims)});
  const std::vector<int64_t> nowhere(folded_dims.size(), 0);
  args.folded = box_of({folded_dims, folded_strides, nowhere});
  args.combine = combine;
  args.numerics = site.program.numerics;
  if (args.kept.items == 0)
    return {};
  return {call_of({KernelFamily::Reduce, operand.dtype}, args, args.kept.items)};
}

namespace {

/// A DotGroup is some dimensions of the operands of dot_general. A dimension that an operand lacks
/// has a stride of 0 there.
struct DotGroup {
  std::vector<int64_t> dims = {};
  std::vector<int64_t> left = {};
  std::vector<int64_t> right = {};

  void add(int64_t dim, int64_t left_stride, int64_t right_stride) {
    dims.push_back(dim);
    left.push_back(left_stride);
    right.push_back(right_stride);
  }
};

Box boxed(const DotGroup& group) {
  return box_of({group.dims, group.left, group.right});
}

Dtype without_sign(Dtype dtype) {
  return dtype == Dtype::S32 ? Dtype::U32 : (dtype == Dtype::S64 ? Dtype::U64 : dtype);
}

/// Returns the kernel made for the operands' dtype; nothing if it sums in another dtype than `sum`,
/// or gives no such results.
std::optional<KernelId> kernel_of(Dtype operands, Dtype sum, Dtype result) {
  if (sum != dot_sum_dtype(operands, operands, operands) || (result != sum && result != operands))
    return std::nullopt;
  if (operands == Dtype::Pred || operands == Dtype::S16 || operands == Dtype::U16)
    return std::nullopt;
  return KernelId{KernelFamily::Dot, operands};
}

}  // namespace

KernelCalls dot_calls(const LocalSite& site) {
  const Shape& lhs = site.operand(0).shape;
  const Shape& rhs = site.operand(1).shape;
  const DotDimensions of = dot_dimensions(site.op.attributes);
  const std::vector<int64_t> left = strides_of(lhs);
  const std::vector<int64_t> right = strides_of(rhs);
  DotGroup batch, rows, columns, depth;
  const auto pair = [&](DotGroup& group, int64_t l, int64_t r) {
    group.add(lhs[static_cast<size_t>(l)], left[static_cast<size_t>(l)],
              right[static_cast<size_t>(r)]);
  };
  for (size_t i = 0; i < of.lhs_batch.size(); ++i)
    pair(batch, of.lhs_batch[i], of.rhs_batch[i]);
  for (size_t i = 0; i < of.lhs_contracting.size(); ++i)
    pair(depth, of.lhs_contracting[i], of.rhs_contracting[i]);
  for (size_t d = 0; d < lhs.rank(); ++d)
    if (!lists(of.lhs_batch, d) && !lists(of.lhs_contracting, d))
      rows.add(lhs[d], left[d], 0);
  for (size_t d = 0; d < rhs.rank(); ++d)
    if (!lists(of.rhs_batch, d) && !lists(of.rhs_contracting, d))
      columns.add(rhs[d], 0, right[d]);

  if (site.result().shape.elements() == 0)
    return {};
  DotArgs args{};
  args.to = site.result_at();
  args.lhs = site.operand_at(0);
  args.rhs = site.operand_at(1);
  args.batch = boxed(batch);
  args.rows = boxed(rows);
  args.columns = boxed(columns);
  args.depth = boxed(depth);
  args.dtype = site.operand(0).dtype;
  args.result = site.result().dtype;
  args.sum = dot_sum_dtype(args.dtype, site.operand(1).dtype, args.result);
  // Sums that wrap have the same bits with a sign and without.
  args.result = without_sign(args.result) == args.sum ? args.sum : args.result;
  const Dtype operands = without_sign(args.dtype) == args.sum ? args.sum : args.dtype;
  const std::optional<KernelId> own = kernel_of(operands, args.sum, args.result);
  if (own)
    args.dtype = operands;
  const int64_t tile = own ? kDotTile : 1;
  args.items =
      args.batch.items * ceil_divide(args.rows.items, tile) * ceil_divide(args.columns.items, tile);
  return {call_of(own.value_or(KernelId{KernelFamily::AnyDot, args.sum}), args, args.items)};
}

}  // namespace orrery::cuda
