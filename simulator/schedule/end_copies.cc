#include "simulator/schedule/end_copies.h"

#include "models/program/rules.h"

namespace orrery {

EndCopies end_copies(OpKind kind, const MemberTensors& tensors) {
  EndCopies copies;
  copies.converts_operand = tensors.work != WorkType{tensors.operand, false};
  copies.reorders_operand = !tensors.input.contiguous();
  copies.reorders_result = !tensors.output.contiguous();
  copies.converts_result =
      rules(kind).form.leaving != Leaving::Same || tensors.work != WorkType{tensors.result, false};
  return copies;
}

Bytes bytes_packed(WorkType work, const Extent& extent) {
  return itemsize(work) * extent.input;
}

Bytes bytes_unpacked(WorkType work, const Extent& extent) {
  return itemsize(work) * extent.result();
}

MemberCosts member_costs(OpKind kind, const Extent& extent, const MemberTensors& tensors,
                         const DataRates& of_device) {
  const EndCopies copies = end_copies(kind, tensors);
  const Bytes item = itemsize(tensors.work);
  const Bytes packed = copies.packs() ? bytes_packed(tensors.work, extent) : Bytes();
  const Bytes unpacked = copies.unpacks() ? bytes_unpacked(tensors.work, extent) : Bytes();
  MemberCosts costs;
  costs.pack = copy_duration(packed, of_device);
  costs.leave = copy_duration(unpacked, of_device);
  costs.copies = packed > Bytes() || unpacked > Bytes();
  costs.scratch = item * extent.scratch;
  if (!extent.in_place)
    costs.scratch += packed;
  if (copies.reorders_result || item != itemsize(tensors.result))
    costs.scratch += bytes_unpacked(tensors.work, extent);
  return costs;
}

}  // namespace orrery
