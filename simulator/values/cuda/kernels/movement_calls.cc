#include "models/array/strided_move.h"
#include "models/program/local_parameters.h"
#include "simulator/values/cuda/kernels/boxes.h"
#include "simulator/values/cuda/kernels/local_site.h"

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

}  // namespace orrery::cuda
