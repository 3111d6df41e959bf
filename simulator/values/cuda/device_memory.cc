#include "simulator/values/cuda/device_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "models/base/check.h"
#include "simulator/schedule/schedule.h"

namespace orrery::cuda {

Bytes ReusePool::take(Bytes size, Dependencies& after) {
  const Bytes aligned = align_up(size, Bytes(kAlignment));
  const Bytes begin = placement_.allocate(aligned);
  const int64_t end = (begin + aligned).count();
  split(begin.count());
  split(end);
  const auto first = used_.lower_bound(begin.count());
  const auto last = used_.lower_bound(end);
  for (auto at = first; at != last; ++at)
    after.add(at->second.last);
  used_.erase(first, last);
  return begin;
}

void ReusePool::give_back(Bytes begin, Bytes size, const Frontier& last_use) {
  const Bytes aligned = align_up(size, Bytes(kAlignment));
  placement_.release(begin, aligned);
  if (aligned > Bytes())
    used_[begin.count()] = {(begin + aligned).count(), last_use};
}

void ReusePool::split(int64_t at) {
  const auto next = used_.lower_bound(at);
  if (next == used_.begin() || (next != used_.end() && next->first == at))
    return;
  Used& before = std::prev(next)->second;
  if (before.end <= at)
    return;
  used_.emplace_hint(next, at, Used{before.end, before.last});
  before.end = at;
}

DeviceAddresses::DeviceAddresses(const Program& program, const ArenaLayout& layout,
                                 std::vector<DeviceBases> bases)
    : program_(program),
      layout_(layout),
      bases_(std::move(bases)),
      pools_(bases_.size()),
      arenas_(bases_.size()) {}

DevicePointer DeviceAddresses::address(LogicalId device, ThreadId thread, ValueId id) {
  const Value& value = program_.value(id);
  return use(device, layout_.buffer(device, thread, value.buffer)) +
         static_cast<uint64_t>(value.offset.count());
}

std::vector<DevicePointer> DeviceAddresses::addresses(LogicalId device, ThreadId thread,
                                                      const std::vector<ValueId>& values) {
  std::vector<DevicePointer> result;
  for (const ValueId value : values)
    result.push_back(address(device, thread, value));
  return result;
}

DeviceAddresses::Padding DeviceAddresses::padding(LogicalId device, ThreadId thread,
                                                  BufferId buffer) {
  const Bytes size = program_.buffer(buffer).size;
  const ArenaRange place = layout_.buffer(device, thread, buffer);
  return {use(device, place) + static_cast<uint64_t>(size.count()), place.size - size};
}

DevicePointer DeviceAddresses::scratch(LogicalId device, ThreadId thread, OpId op) {
  const std::optional<ArenaRange> place = layout_.scratch(device, thread, op);
  return place ? use(device, *place) : 0;
}

BesideArena DeviceAddresses::take_beside(LogicalId device, Bytes size, Dependencies& after) {
  return {device, pools_[device.index()].take(size, after), size};
}

void DeviceAddresses::give_back(const BesideArena& memory, const Frontier& last_use) {
  pools_[memory.device.index()].give_back(memory.begin, memory.size, last_use);
}

DevicePointer DeviceAddresses::address(const BesideArena& memory) const {
  return bases_[memory.device.index()].beside + static_cast<uint64_t>(memory.begin.count());
}

std::vector<Bytes> DeviceAddresses::beside() const {
  std::vector<Bytes> sizes;
  for (const ReusePool& pool : pools_)
    sizes.push_back(pool.high_water());
  return sizes;
}

DevicePointer DeviceAddresses::use(LogicalId device, const ArenaRange& place) {
  arenas_[device.index()] = std::max(arenas_[device.index()], place.begin + place.size);
  return bases_[device.index()].arena + static_cast<uint64_t>(place.begin.count());
}

MemberPlaces member_places(const Collective& collective, const Folding& folding,
                           const MemberStorage& storage,
                           const std::function<DevicePointer(Bytes)>& beside) {
  const Extent& extent = collective.schedule->extent();
  ORRERY_CHECK(!extent.in_place, "a collective of a program has an output area of its own");
  const Dtype moved = collective.work.dtype;  // stands for what a member does not give or take
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
