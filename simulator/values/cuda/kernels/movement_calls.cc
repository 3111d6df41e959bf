#include "models/array/dtype.h"
#include "models/array/strided_move.h"
#include "models/base/check.h"
#include "models/program/local_parameters.h"
#include "simulator/values/cuda/kernels/calls.h"
#include "simulator/values/cuda/kernels/local_site.h"
#include "simulator/values/cuda/kernels/move.h"

namespace orrery::cuda {

namespace {

/// Moves the elements of a placement, from an operand to a result.
KernelCalls moved(const LocalSite& site, const StridedMove& placement, size_t operand = 0,
                  size_t result = 0) {
  const Bytes item = itemsize(site.operand(operand).dtype);
  const auto beyond = [&](DevicePointer first, int64_t elements) {
    return first + static_cast<uint64_t>((item * elements).count());
  };
  if (placement.box.elements() == 0)
    return {};
  return move_calls({beyond(site.result_at(result), placement.to.first),
                     beyond(site.operand_at(operand), placement.from.first)},
                    item.count(), box_of(placement));
}

void append(KernelCalls& calls, KernelCalls more) {
  for (KernelCall& call : more)
    calls.push_back(std::move(call));
}

}  // namespace

KernelCalls copies_of_operands(const LocalSite& site) {
  KernelCalls calls;
  for (size_t i = 0; i < site.op.operands.size(); ++i)
    if (site.result_at(i) != site.operand_at(i) && site.operand(i).size() > Bytes())
      calls.push_back(copy_call(site.result_at(i), site.operand_at(i), site.operand(i).size()));
  return calls;
}

KernelCalls transpose_calls(const LocalSite& site) {
  return moved(site,
               transpose_move(site.operand(0).shape, site.op.attributes.integers("permutation")));
}

KernelCalls slice_calls(const LocalSite& site) {
  return moved(site, slice_move(site.operand(0).shape, slice_bounds(site.op.attributes)));
}

KernelCalls concatenate_calls(const LocalSite& site) {
  const auto along = static_cast<size_t>(site.op.attributes.integer("dimension"));
  const Shape& whole = site.result().shape;
  KernelCalls calls;
  int64_t begin = 0;  // of the part, along the dimension
  for (size_t i = 0; i < site.op.operands.size(); ++i) {
    const Shape& part = site.operand(i).shape;
    Strided place = all_of(whole);
    place.first = begin * place.strides[along];
    append(calls, moved(site, {part, all_of(part), std::move(place)}, i));
    begin += part[along];
  }
  return calls;
}

KernelCalls split_calls(const LocalSite& site) {
  const Shape& whole = site.operand(0).shape;
  const size_t along = split_axis(site.op.attributes, whole);
  KernelCalls calls;
  int64_t begin = 0;
  for (size_t r = 0; r < site.op.results.size(); ++r) {
    const Shape& part = site.result(r).shape;
    Strided place = all_of(whole);
    place.first = begin * place.strides[along];
    append(calls, moved(site, {part, std::move(place), all_of(part)}, 0, r));
    begin += part[along];
  }
  return calls;
}

KernelCalls pad_calls(const LocalSite& site) {
  const int64_t elements = site.result().shape.elements();
  if (elements == 0)
    return {};
  KernelCalls calls =
      move_calls({site.result_at(), site.operand_at(1)}, itemsize(site.result().dtype).count(),
                 row_of_items(elements, 0, 1));
  append(calls, moved(site, pad_move(site.operand(0).shape, paddings(site.op.attributes))));
  return calls;
}

KernelCalls broadcast_calls(const LocalSite& site) {
  return moved(site, broadcast_move(site.operand(0).shape, site.result().shape,
                                    site.op.attributes.integers("broadcast_dimensions")));
}

KernelCalls reorder_calls(const LocalSite& site) {
  KernelCalls calls;
  for (const StridedMove& placement :
       reorder_moves(site.operand(0).shape, sequence_order(site.op.attributes)))
    append(calls, moved(site, placement));
  return calls;
}

namespace {

/// The start indices are the operands from `starts` on. If the part has the whole of a dimension,
/// it begins at 0 there, whatever the index.
PartArgs part_args(const LocalSite& site, const Shape& whole, const Shape& part, size_t starts) {
  PartArgs args{};
  args.move.word = itemsize(site.result().dtype).count();
  const std::vector<int64_t> strides = strides_of(whole);
  for (size_t d = 0; d < whole.rank(); ++d) {
    if (part[d] == whole[d])
      continue;
    ORRERY_CHECK(args.starts < kMostBoxDims, "no memory has 2^40 elements");
    args.start[args.starts++] = {{site.operand_at(starts + d), site.operand(starts + d).dtype},
                                 whole[d],
                                 whole[d] - part[d],
                                 strides[d]};
  }
  return args;
}

/// Moves the part in words as large as its place allows, wherever it begins.
KernelCalls part_calls(PartArgs args, const Movement& where, const StridedMove& placement) {
  args.move.to = where.to;
  args.move.from = where.from;
  args.move.box = box_of(placement);
  if (args.move.box.items == 0)
    return {};
  if (args.starts == 0)
    return move_calls(where, args.move.word, args.move.box);
  std::vector<int64_t*> strides;
  for (int d = 0; d < args.starts; ++d)
    strides.push_back(&args.start[d].stride);
  widen(args.move, strides);
  return {call_of({KernelFamily::Part}, args, args.move.box.items)};
}

}  // namespace

KernelCalls dynamic_slice_calls(const LocalSite& site) {
  const Shape& whole = site.operand(0).shape;
  const Shape& part = site.result().shape;
  PartArgs args = part_args(site, whole, part, 1);
  args.into_whole = false;
  return part_calls(args, {site.result_at(), site.operand_at(0)},
                    {part, all_of(whole), all_of(part)});
}

KernelCalls dynamic_update_slice_calls(const LocalSite& site) {
  const Shape& whole = site.operand(0).shape;
  const Shape& part = site.operand(1).shape;
  KernelCalls calls;
  // An update of the whole leaves nothing of the operand, and may lie in the result's place.
  if (site.result_at() != site.operand_at(0) && part != whole && site.result().size() > Bytes())
    calls.push_back(copy_call(site.result_at(), site.operand_at(0), site.result().size()));
  PartArgs args = part_args(site, whole, part, 2);
  args.into_whole = true;
  for (KernelCall& call : part_calls(args, {site.result_at(), site.operand_at(1)},
                                     {part, all_of(part), all_of(whole)}))
    calls.push_back(std::move(call));
  return calls;
}

namespace {

/// Returns the element that take gives for an index without a row.
Tensor fill_of_take(Dtype dtype, const std::optional<NumberOrPair>& fill) {
  if (fill)
    return full(dtype, Shape(), *fill);
  Tensor element(dtype, Shape());
  dispatch(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    element.as<E>()[0] = arith::fill_element<E>();
  });
  return element;
}

}  // namespace

KernelCalls take_calls(const LocalSite& site) {
  const ValueType& operand = site.operand(0);
  const ValueType& indices = site.operand(1);
  const auto axis = static_cast<size_t>(site.op.attributes.integer("axis"));
  const int64_t elements = site.result().shape.elements();
  if (elements == 0)
    return {};
  TakeArgs args{};
  args.to = site.result_at();
  args.from = site.operand_at(0);
  args.indices = {site.operand_at(1), indices.dtype};
  args.count = indices.shape.elements();
  args.rows = operand.shape[axis];
  args.row_words = operand.shape.elements_from(axis + 1);
  args.word = itemsize(operand.dtype).count();
  args.mode = out_of_range(site.op.attributes);
  const Tensor fill = fill_of_take(operand.dtype, fill_value(site.op.attributes));
  for (size_t k = 0; k < sizeof(args.fill); ++k)
    args.fill[k] = std::to_integer<uint8_t>(fill.bytes()[k % fill.bytes().size()]);
  while (args.word < 16 && args.row_words % 2 == 0 &&
         (args.to | args.from) % static_cast<uint64_t>(2 * args.word) == 0) {
    args.word *= 2;
    args.row_words /= 2;
  }
  args.items = elements * itemsize(operand.dtype).count() / args.word;
  return {call_of({KernelFamily::Take}, args, args.items)};
}

KernelCalls scatter_add_calls(const LocalSite& site) {
  const ValueType& operand = site.operand(0);
  const ValueType& indices = site.operand(2);
  const auto axis = static_cast<size_t>(site.op.attributes.integer("axis"));
  if (operand.shape.elements() == 0)
    return {};
  KernelCalls calls;
  if (site.result_at() != site.operand_at(0))
    calls.push_back(copy_call(site.result_at(), site.operand_at(0), operand.size()));
  ScatterArgs args{};
  args.sums = site.result_at();
  args.updates = site.operand_at(1);
  args.indices = {site.operand_at(2), indices.dtype};
  args.count = indices.shape.elements();
  args.rows = operand.shape[axis];
  args.size = operand.shape.elements_from(axis + 1);
  args.items = operand.shape.elements_before(axis) * args.size;
  args.mode = out_of_range(site.op.attributes);
  args.numerics = site.program.numerics;
  if (args.count > 0)
    calls.push_back(call_of({KernelFamily::ScatterAdd, operand.dtype}, args, args.items));
  return calls;
}

}  // namespace orrery::cuda
