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

MemberCosts member_costs(OpKind kind, const Extent& extent, const MemberTensors& tensors,
                         const DataRates& rates) {
  const EndCopies copies = end_copies(kind, tensors);
  const Bytes item = itemsize(tensors.work);
  const Bytes packed = copies.packs() ? item * extent.input : Bytes();
  const Bytes unpacked = copies.unpacks() ? item * extent.result() : Bytes();
  MemberCosts costs;
  costs.pack = copy_duration(packed, rates);
  costs.leave = copy_duration(unpacked, rates);
  costs.copies = extent.copies || packed > Bytes() || unpacked > Bytes();
  costs.scratch = item * extent.scratch;
  if (!extent.in_place)
    costs.scratch += packed;
  if (copies.reorders_result || item > itemsize(tensors.result))
    costs.scratch += item * extent.result();
  return costs;
}

}  // namespace orrery
