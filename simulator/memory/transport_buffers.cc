#include "simulator/memory/transport_buffers.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

/// It identifies the groups of sites that share connections. The last entry is the protocol's
/// number in the transport.
using Communicator = std::tuple<std::vector<LogicalId>, StreamId, std::vector<ThreadId>, ptrdiff_t>;

/// A channel's connection for the messages that a rank, or the switch with all its nodes, sends to
/// a rank in one schedule. An algorithm may number its channels as it likes, so connections are
/// told apart by their order.
struct Connection {
  Node receiver;
  uint32_t order = 0;  // among the connections between the two
  uint32_t slots = 0;
  friend auto operator<=>(const Connection&, const Connection&) = default;
};

/// Returns the connections from the nodes [first, end), by receiver, then by order. Connections to
/// a switch are left out, since its memory is not a device's.
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

/// Returns for each rank the slots of the connections to it. A connection that several schedules
/// share counts once.
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

/// The slots of connections to a device, by protocol.
using SlotsByProtocol = std::map<ptrdiff_t, int64_t>;

Bytes buffers_of(LogicalId device, const SlotsByProtocol& slots,
                 const std::vector<ProtocolFigures>& protocols) {
  Bytes all;
  for (const auto& [number, count] : slots) {
    const ProtocolFigures& protocol = protocols[static_cast<size_t>(number)];
    const Bytes most((kMostReserved - all).count() / count);
    if (*protocol.slot > most)
      throw KeyOverflow(
          protocol.slot_origin,
          fmt::format(
              "expected at most {} for the {} slots of the connections to device {}, got {}",
              quantity_text(most), count, device.index(), quantity_text(*protocol.slot)));
    all += *protocol.slot * count;
  }
  return all;
}

}  // namespace

std::vector<Bytes> transport_buffers(const Program& program, const Lowered& lowered) {
  if (!lowered.transport || !*lowered.transport)
    return std::vector<Bytes>(program.mesh.devices());
  const std::vector<ProtocolFigures>& protocols = (*lowered.transport)->protocols;
  std::map<Communicator, std::vector<const Schedule*>> communicators;
  for (const Collective& collective : lowered.collectives) {
    if (collective.protocol == nullptr || !collective.protocol->slot)
      continue;
    std::vector<const Schedule*>& schedules =
        communicators[{{collective.members.begin(), collective.members.end()},
                       collective.stream,
                       collective.threads,
                       collective.protocol - protocols.data()}];
    if (std::find(schedules.begin(), schedules.end(), collective.schedule) == schedules.end())
      schedules.push_back(collective.schedule);
  }
  std::vector<SlotsByProtocol> slots_to(program.mesh.devices());       // per device
  std::map<std::vector<const Schedule*>, std::vector<int64_t>> known;  // looked up only
  for (const auto& [communicator, schedules] : communicators) {
    const auto [slots, added] = known.try_emplace(schedules);
    if (added)
      slots->second = slots_of(schedules);
    const std::vector<LogicalId>& members = std::get<0>(communicator);
    for (size_t node = 0; node < members.size(); ++node)
      if (slots->second[node] > 0)
        slots_to[members[node].index()][std::get<ptrdiff_t>(communicator)] += slots->second[node];
  }
  std::vector<Bytes> buffers;
  for (size_t d = 0; d < slots_to.size(); ++d)
    buffers.push_back(buffers_of(LogicalId(d), slots_to[d], protocols));
  return buffers;
}

}  // namespace orrery
