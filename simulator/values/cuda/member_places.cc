#include "simulator/values/cuda/member_places.h"

#include "models/base/check.h"
#include "simulator/schedule/schedule.h"

namespace orrery::cuda {

MemberPlaces member_places(const Collective& collective, const Folding& folding,
                           const MemberStorage& storage,
                           const std::function<DevicePointer(Bytes)>& beside) {
  const Extent& extent = collective.schedule->extent();
  ORRERY_CHECK(!extent.in_place, "a collective of a program has an output area of its own");
  const Dtype moved = collective.work.dtype;  // of what a member does not give or take
  MemberPlaces places;
  places.copies = end_copies(
      collective.kind, {collective.work, storage.operand_dtype.value_or(moved),
                        storage.result_dtype.value_or(moved), collective.input, collective.output});

  const Bytes item = itemsize(folding.held);
  const bool wider = item != itemsize(collective.work);
  DevicePointer scratch = storage.scratch;
  const auto in_scratch = [&](Bytes size) {
    const DevicePointer at = scratch;
    scratch += static_cast<uint64_t>(size.count());
    return at;
  };
  const auto area = [&](Area named) -> DevicePointer& {
    return places.areas[static_cast<size_t>(named)];
  };

  const Bytes of_scratch = item * extent.scratch;
  area(Area::Scratch) = wider ? beside(of_scratch) : in_scratch(of_scratch);

  const bool packs = places.copies.packs();
  if (storage.operand_dtype) {
    places.enters = packs || folding.numerics == Numerics::XlaCpu || storage.several_operands;
    if (!places.enters)
      area(Area::Input) = storage.operand;
    else
      area(Area::Input) =
          packs && !wider ? in_scratch(item * extent.input) : beside(item * extent.input);
  }
  if (storage.result_dtype) {
    const bool own = places.copies.reorders_result ||
                     itemsize(collective.work) != itemsize(*storage.result_dtype);
    places.leaves = places.copies.unpacks() || wider;
    if (wider)
      area(Area::Output) = beside(item * extent.output);
    else
      area(Area::Output) = own ? in_scratch(item * extent.output) : storage.result;
  }
  return places;
}

}  // namespace orrery::cuda
