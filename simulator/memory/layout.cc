#include "simulator/memory/layout.h"

#include <algorithm>

#include "models/base/check.h"
#include "simulator/memory/lifetimes.h"
#include "simulator/memory/placement.h"

namespace orrery {

ArenaLayout::ArenaLayout(const Program& program, const Lowered& lowered, const MemoryPolicy& policy,
                         const MemoryProfile& profile) {
  const Lifetimes lifetimes(program, lowered, policy);
  lists_.reserve(profile.lists.size());
  for (const ListMemory& list : profile.lists) {
    const std::vector<OpId>& ops = ops_of_list(program, list.thread);
    const std::vector<Lifetime> all = lifetimes.of(list);
    const Placed places = placed(all, changes(all, ops.size()), ops);
    ORRERY_CHECK(places.high_water == list.arena,
                 "the layout needs the arena that the profile counts");
    OfList& of = lists_.emplace_back();
    of.thread = list.thread;
    for (size_t i = 0; i < all.size(); ++i) {
      const ArenaRange place = {places.begins[i], all[i].size};
      if (all[i].buffer)
        of.buffers.emplace(*all[i].buffer, place);
      else
        of.scratch.emplace(ops[static_cast<size_t>(all[i].held.from)], place);
      if (all[i].role == Lifetime::Role::Argument &&
          all[i].held.to == static_cast<int64_t>(ops.size()))
        of.kept.insert(*all[i].buffer);
    }
  }
  for (const std::optional<size_t>& kind : profile.kind_of) {
    std::vector<OnDevice>& on_device = on_devices_.emplace_back();
    Bytes end;
    for (size_t l = 0; kind && l < profile.kinds[*kind].lists.size(); ++l) {
      on_device.push_back({profile.kinds[*kind].lists[l], end});
      end += profile.lists[on_device.back().list].arena;
    }
    arenas_.push_back(end);
  }
}

const ArenaLayout::OnDevice& ArenaLayout::list(LogicalId device, ThreadId thread) const {
  const std::vector<OnDevice>& lists = on_devices_[device.index()];
  const auto found = std::find_if(lists.begin(), lists.end(), [&](const OnDevice& each) {
    return lists_[each.list].thread == thread;
  });
  ORRERY_CHECK(found != lists.end(), "the device runs the list of the thread");
  return *found;
}

std::optional<ArenaRange> ArenaLayout::place_in(const OnDevice& on, BufferId buffer) const {
  const std::map<BufferId, ArenaRange>& buffers = lists_[on.list].buffers;
  const auto found = buffers.find(buffer);
  return found == buffers.end() ? std::nullopt : std::optional(on.place(found->second));
}

ArenaRange ArenaLayout::buffer(LogicalId device, ThreadId thread, BufferId buffer) const {
  if (const std::optional<ArenaRange> own = place_in(list(device, thread), buffer))
    return *own;
  for (const OnDevice& each : on_devices_[device.index()])
    if (lists_[each.list].kept.contains(buffer))
      return place_in(each, buffer).value();
  fail_check("holder", "a list of the device has the buffer", __FILE__, __LINE__);
}

std::optional<ArenaRange> ArenaLayout::scratch(LogicalId device, ThreadId thread, OpId op) const {
  const OnDevice& own = list(device, thread);
  const std::map<OpId, ArenaRange>& scratch = lists_[own.list].scratch;
  const auto found = scratch.find(op);
  return found == scratch.end() ? std::nullopt : std::optional(own.place(found->second));
}

std::vector<ArenaRange> ArenaLayout::argument(LogicalId device, BufferId buffer) const {
  std::vector<ArenaRange> places;
  for (const OnDevice& each : on_devices_[device.index()])
    if (const std::optional<ArenaRange> place = place_in(each, buffer))
      places.push_back(*place);
  return places;
}

}  // namespace orrery
