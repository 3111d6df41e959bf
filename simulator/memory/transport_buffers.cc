#include "simulator/memory/transport_buffers.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/scenario/key_overflow.h"
#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

/// The groups of sites that share connections.
using Communicator = std::tuple<std::vector<LogicalId>, StreamId, std::vector<ThreadId>>;

/// Of the messages that a rank, or the switch with all its parts, sends to a rank in one schedule:
/// each channel has a connection. An algorithm may number its channels as it likes, so connections
/// are told apart by their order.
struct Connection {
  Node receiver;
  uint32_t order = 0;  // among those of the two
  uint32_t slots = 0;
  friend auto operator<=>(const Connection&, const Connection&) = default;
};

/// Those from the nodes [first, end), by receiver, then by order. What a switch holds is in no
/// device's memory.
std::vector<Connection> connections_from(uint32_t first, uint32_t end, const Schedule& schedule) {
  const Extent& extent = schedule.extent();
  std::vector<Connection> all;
  for (uint32_t sender = first; sender < end; ++sender)
    for (uint32_t c = 0; c < extent.channels; ++c)
      schedule.for_each_receiver(Node(sender), Channel(c), [&](const Sent& sent) {
        if (extent.is_rank(sent.to))
          all.push_back({sent.to, 0, extent.slots});
      });
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].receiver == all[i - 1].receiver)
      all[i].order = all[i - 1].order + 1;
  return all;
}

/// Per rank: the slots of the connections to it. What several schedules share counts once.
std::vector<int64_t> slots_of(const std::vector<const Schedule*>& schedules) {
  const uint32_t ranks = schedules.front()->extent().ranks();
  std::vector<int64_t> slots(ranks);
  for (uint32_t sender = 0; sender <= ranks; ++sender) {  // the last one is the switch
    std::vector<Connection> all;
    for (const Schedule* const schedule : schedules) {
      const uint32_t end = sender < ranks ? sender + 1 : schedule->extent().nodes;
      const std::vector<Connection> some = connections_from(sender, end, *schedule);
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i) {
      // The last of equal ones has the most slots.
      const bool last = i + 1 == all.size() || all[i].receiver != all[i + 1].receiver ||
                        all[i].order != all[i + 1].order;
      if (last)
        slots[all[i].receiver.index()] += all[i].slots;
    }
  }
  return slots;
}

Bytes buffers_of(LogicalId device, int64_t slots, const TransportBuffers& transport) {
  if (slots == 0)
    return {};
  const Bytes most(kMostReserved.count() / slots);
  if (transport.slot > most)
    throw KeyOverflow(
        transport.slot_origin,
        fmt::format("expected at most {} for the {} slots of the connections to device {}, got {}",
                    quantity_text(most), slots, device.index(), quantity_text(transport.slot)));
  return transport.slot * slots;
}

}  // namespace

std::vector<Bytes> transport_buffers(const Program& program, const Lowered& lowered,
                                     const TransportBuffers& transport) {
  std::map<Communicator, std::vector<const Schedule*>> communicators;
  for (const Collective& collective : lowered.collectives) {
    std::vector<const Schedule*>& schedules =
        communicators[{{collective.members.begin(), collective.members.end()},
                       collective.stream,
                       collective.threads}];
    if (std::find(schedules.begin(), schedules.end(), collective.schedule) == schedules.end())
      schedules.push_back(collective.schedule);
  }
  std::vector<int64_t> slots_to(program.mesh.devices());               // per device
  std::map<std::vector<const Schedule*>, std::vector<int64_t>> known;  // looked up only
  for (const auto& [communicator, schedules] : communicators) {
    const auto [slots, added] = known.try_emplace(schedules);
    if (added)
      slots->second = slots_of(schedules);
    const std::vector<LogicalId>& members = std::get<0>(communicator);
    for (size_t node = 0; node < members.size(); ++node)
      slots_to[members[node].index()] += slots->second[node];
  }
  std::vector<Bytes> buffers;
  for (size_t d = 0; d < slots_to.size(); ++d)
    buffers.push_back(buffers_of(LogicalId(d), slots_to[d], transport));
  return buffers;
}

}  // namespace orrery
