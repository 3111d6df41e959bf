#include "simulator/memory/layout.h"

#include <algorithm>

#include "models/base/check.h"
#include "simulator/memory/lifetimes.h"
#include "simulator/memory/placement.h"

namespace orrery {

ArenaLayout::ArenaLayout(const Program& program, const Lowered& lowered, const MemoryPolicy& policy,
                         const MemoryProfile& profile) {
  const Lifetimes lifetimes(program, lowered, policy);
  for (size_t t = 0; t < program.threads.size(); ++t) {
    const std::vector<OpId>& ops = program.threads[t].issue_order;
    const std::vector<Lifetime> all = lifetimes.of(ThreadId(t));
    const Placed places = placed(all, changes(all, ops.size()), ops);
    OfThread& of = threads_.emplace_back();
    of.arena = places.high_water;
    for (size_t i = 0; i < all.size(); ++i) {
      const Place place = {places.begins[i], all[i].size};
      if (all[i].buffer)
        of.buffers.emplace(*all[i].buffer, place);
      else
        of.scratch.emplace(ops[static_cast<size_t>(all[i].held.from)], place);
      if (all[i].role == Lifetime::Role::Argument && all[i].size > Bytes() &&
          all[i].held.to == static_cast<int64_t>(ops.size()))
        of.kept.emplace(*all[i].buffer, place);
    }
  }
  const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program);
  lists_.resize(threads_of.size());
  beside_.resize(threads_of.size());
  arenas_.resize(threads_of.size());
  for (size_t d = 0; d < threads_of.size(); ++d) {
    add_device(program, policy, LogicalId(d), threads_of[d]);
    ORRERY_CHECK(!profile.kind_of[d] || profile.of(LogicalId(d)).arena == arenas_[d],
                 "the layout needs the arena that the profile counts");
  }
}

void ArenaLayout::add_device(const Program& program, const MemoryPolicy& policy, LogicalId device,
                             const std::vector<ThreadId>& threads) {
  Bytes end;
  for (const Argument& argument : program.arguments) {
    const BufferId buffer = program.value(argument.value).buffer;
    if (!argument.on || !std::binary_search(argument.on->begin(), argument.on->end(), device) ||
        std::any_of(threads.begin(), threads.end(), [&](ThreadId thread) {
          return all_have(argument, program.thread(thread).devices);
        }))
      continue;
    const Bytes size = align_up(program.buffer(buffer).size, policy.alignment);
    beside_[device.index()].emplace(buffer, Place{end, size});
    end += size;
  }
  std::map<BufferId, Place> kept;  // arguments that the lists so far hold to the end
  for (const ThreadId thread : threads) {
    const OfThread& of = threads_[thread.index()];
    OfList list{thread, end, {}, {}};
    for (const auto& [buffer, place] : of.kept)
      if (const auto held = kept.find(buffer); held != kept.end()) {
        list.elsewhere.emplace(buffer, held->second);
        list.left_out.push_back(place);
      }
    std::sort(list.left_out.begin(), list.left_out.end(),
              [](const Place& a, const Place& b) { return a.begin < b.begin; });
    for (const auto& [buffer, place] : of.kept)
      kept.emplace(buffer, list.moved(place));
    end += of.arena;
    for (const Place& place : list.left_out)
      end -= place.size;
    lists_[device.index()].push_back(std::move(list));
  }
  arenas_[device.index()] = end;
}

/// A place above one that is left out moves down by its size. No place overlaps one that is left
/// out, since a kept argument is never freed.
Place ArenaLayout::OfList::moved(Place in_thread) const {
  Bytes moved = begin + in_thread.begin;
  for (const Place& place : left_out)
    if (place.begin < in_thread.begin)
      moved -= place.size;
  return {moved, in_thread.size};
}

const ArenaLayout::OfList& ArenaLayout::list(LogicalId device, ThreadId thread) const {
  const std::vector<OfList>& lists = lists_[device.index()];
  const auto found = std::find_if(lists.begin(), lists.end(),
                                  [&](const OfList& each) { return each.thread == thread; });
  ORRERY_CHECK(found != lists.end(), "the device runs the list of the thread");
  return *found;
}

Place ArenaLayout::buffer(LogicalId device, ThreadId thread, BufferId buffer) const {
  const OfList& of = list(device, thread);
  if (const auto held = of.elsewhere.find(buffer); held != of.elsewhere.end())
    return held->second;
  return of.moved(threads_[thread.index()].buffers.at(buffer));
}

std::optional<Place> ArenaLayout::scratch(LogicalId device, ThreadId thread, OpId op) const {
  const std::map<OpId, Place>& scratch = threads_[thread.index()].scratch;
  const auto found = scratch.find(op);
  if (found == scratch.end())
    return std::nullopt;
  return list(device, thread).moved(found->second);
}

std::vector<Place> ArenaLayout::argument(LogicalId device, BufferId buffer) const {
  std::vector<Place> places;
  if (const auto beside = beside_[device.index()].find(buffer);
      beside != beside_[device.index()].end())
    places.push_back(beside->second);
  for (const OfList& of : lists_[device.index()])
    if (threads_[of.thread.index()].buffers.contains(buffer) && !of.elsewhere.contains(buffer))
      places.push_back(this->buffer(device, of.thread, buffer));
  return places;
}

}  // namespace orrery
