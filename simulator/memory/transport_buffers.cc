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

/// Of the messages that a node sends to another in one schedule: each channel has a connection. An
/// algorithm may number its channels as it likes, so connections are told apart by their order.
struct Connection {
  Node receiver;
  uint32_t order = 0;  // among those of the two nodes
  uint32_t slots = 0;
  friend auto operator<=>(const Connection&, const Connection&) = default;
};

/// Those from `sender`, by receiver, then by order.
std::vector<Connection> connections_from(Node sender, const Schedule& schedule) {
  std::vector<Connection> all;
  for (uint32_t c = 0; c < schedule.extent().channels; ++c)
    schedule.for_each_receiver(sender, Channel(c), [&](const Sent& sent) {
      all.push_back({sent.to, 0, schedule.extent().slots});
    });
  std::sort(all.begin(), all.end());
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].receiver == all[i - 1].receiver)
      all[i].order = all[i - 1].order + 1;
  return all;
}

/// Per node: the slots of the connections to it. What several schedules share counts once.
std::vector<int64_t> slots_of(const std::vector<const Schedule*>& schedules) {
  const uint32_t nodes = schedules.front()->extent().nodes;
  std::vector<int64_t> slots(nodes);
  for (uint32_t sender = 0; sender < nodes; ++sender) {
    std::vector<Connection> all;
    for (const Schedule* const schedule : schedules) {
      const std::vector<Connection> some = connections_from(Node(sender), *schedule);
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
