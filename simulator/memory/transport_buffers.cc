#include "simulator/memory/transport_buffers.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace orrery {
namespace {

/// The groups of sites that share connections.
using Communicator = std::tuple<std::vector<LogicalId>, StreamId, std::vector<ThreadId>>;

struct Connection {
  Node receiver;
  Node sender;
  Channel channel;
  uint32_t slots = 0;
  friend auto operator<=>(const Connection&, const Connection&) = default;
};

/// Per node: the slots of the connections to it. A connection of several schedules counts once.
std::vector<int64_t> slots_of(const std::vector<const Schedule*>& schedules) {
  std::vector<Connection> all;
  for (const Schedule* const schedule : schedules) {
    const Extent& extent = schedule->extent();
    for (size_t number = 0; number < extent.all_channels(); ++number) {
      const Node sender = extent.node_of(number);
      const Channel channel = extent.channel_of(number);
      schedule->for_each_receiver(sender, channel, [&](const Sent& sent) {
        all.push_back({sent.to, sender, channel, extent.slots});
      });
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<int64_t> slots(schedules.front()->extent().nodes);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto ends = [&](size_t at) {
      return std::tuple(all[at].receiver, all[at].sender, all[at].channel);
    };
    // The last of a connection has the most slots.
    if (i + 1 == all.size() || ends(i) != ends(i + 1))
      slots[all[i].receiver.index()] += all[i].slots;
  }
  return slots;
}

}  // namespace

std::vector<Bytes> transport_buffers(const Program& program, const Lowered& lowered, Bytes slot) {
  std::map<Communicator, std::vector<const Schedule*>> communicators;
  for (const Collective& collective : lowered.collectives) {
    std::vector<const Schedule*>& schedules =
        communicators[{{collective.members.begin(), collective.members.end()},
                       collective.stream,
                       collective.threads}];
    if (std::find(schedules.begin(), schedules.end(), collective.schedule) == schedules.end())
      schedules.push_back(collective.schedule);
  }
  std::vector<Bytes> buffers(program.mesh.devices());
  std::map<std::vector<const Schedule*>, std::vector<int64_t>> known;  // looked up only
  for (const auto& [communicator, schedules] : communicators) {
    const auto [slots, added] = known.try_emplace(schedules);
    if (added)
      slots->second = slots_of(schedules);
    const std::vector<LogicalId>& members = std::get<0>(communicator);
    for (size_t node = 0; node < members.size(); ++node)
      buffers[members[node].index()] += slot * slots->second[node];
  }
  return buffers;
}

}  // namespace orrery
