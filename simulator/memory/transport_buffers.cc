#include "simulator/memory/transport_buffers.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/rules.h"
#include "models/scenario/quantity_text.h"
#include "simulator/schedule/lowered.h"

namespace orrery {
namespace {

/// It identifies the sites that share connections.
using Communicator =
    std::tuple<std::vector<LogicalId>, StreamId, std::vector<ThreadId>, ConnectionKind>;

/// The figures of each connection of a communicator.
struct Connected {
  int64_t channels = 1;
  Bytes receiver;  // in each channel; more than kMostReserved stands for any such amount
  Bytes sender;
  Origin key;  // of what gives the receiver's bytes
};

/// The connections of a rank with others.
struct Ends {
  int64_t incoming = 0;
  int64_t outgoing = 0;
};

ConnectionKind kind_of(const Collective& collective) {
  if (collective.schedule->extent().switch_nodes > 0)
    return ConnectionKind::InSwitch;
  const OpKind exchange = timed_as(collective.kind);
  return exchange == OpKind::AllToAll || exchange == OpKind::Ppermute ? ConnectionKind::Sends
                                                                      : ConnectionKind::Collectives;
}

Bytes limited(Int128 bytes) {
  return Bytes(static_cast<int64_t>(std::min(bytes, Int128{kMostReserved.count()} + 1)));
}

class Figures {
 public:
  Figures(const Program& program, const Lowered& lowered, std::optional<int64_t> channels)
      : program_(program),
        lowered_(lowered),
        transport_(**lowered.transport),
        channels_(channels) {}

  Connected of(const Collective& collective) const {
    const std::optional<int64_t> asked = asked_by(collective, &Hints::channels);
    const auto found = transport_.connections.find(kind_of(collective));
    const ConnectionFigures given =
        found == transport_.connections.end() ? ConnectionFigures() : found->second;
    Connected connected = by_protocols(collective);
    connected.channels =
        asked.value_or(channels_.value_or(given.channels.value_or(connected.channels)));
    connected.sender = given.sender.value_or(Bytes());
    if (given.receiver) {
      connected.receiver = *given.receiver;
      connected.key = given.origin;
    }
    return connected;
  }

 private:
  /// Returns the most that an op of the collective's site asks for.
  std::optional<int64_t> asked_by(const Collective& collective,
                                  std::optional<uint32_t> Hints::*hint) const {
    std::optional<int64_t> most;
    for (const OpId op : program_.site(collective.site).ops)
      if (const std::optional<uint32_t> asked = program_.op(op).hints.*hint)
        most = std::max(most.value_or(0), int64_t{*asked});
    return most;
  }

  bool serves(const ProtocolFigures& protocol, const Collective& collective) const {
    const std::string& algorithm = lowered_.choices[collective.site.index()].algorithm;
    return &protocol == collective.protocol ||
           protocol.serves(
               algorithm.empty() ? std::nullopt : std::optional<std::string_view>(algorithm),
               rules(timed_as(collective.kind)).name);
  }

  /// Returns the slots of all protocols that serve the collective's exchange, in as many channels
  /// as one of them may use.
  Connected by_protocols(const Collective& collective) const {
    const std::optional<int64_t> asked = asked_by(collective, &Hints::slots);
    Connected connected;
    Bytes largest;
    for (const ProtocolFigures& protocol : transport_.protocols) {
      if (!serves(protocol, collective))
        continue;
      connected.channels = std::max(connected.channels, protocol.channels.value_or(1));
      if (!protocol.slot)
        continue;
      const int64_t slots = asked.value_or(protocol.slots.value_or(Extent().slots));
      connected.receiver =
          limited(Int128{connected.receiver.count()} + Int128{protocol.slot->count()} * slots);
      if (*protocol.slot > largest) {
        largest = *protocol.slot;
        connected.key = protocol.slot_origin;
      }
    }
    return connected;
  }

  const Program& program_;
  const Lowered& lowered_;
  const TransportFigures& transport_;
  const std::optional<int64_t> channels_;
};

void raise(Connected& most, const Connected& other) {
  most.channels = std::max(most.channels, other.channels);
  most.sender = std::max(most.sender, other.sender);
  if (other.receiver > most.receiver) {
    most.receiver = other.receiver;
    most.key = other.key;
  }
}

/// Returns the connections of each rank. Two ranks that exchange in several schedules have one in
/// each direction.
std::vector<Ends> ends_of(const std::vector<const Schedule*>& schedules) {
  const uint32_t ranks = schedules.front()->extent().ranks();
  if (schedules.front()->extent().switch_nodes > 0)
    return std::vector<Ends>(ranks, Ends{ranks, 0});
  std::vector<Ends> ends(ranks);
  for (uint32_t sender = 0; sender < ranks; ++sender) {
    std::vector<Node> receivers;
    for (const Schedule* const schedule : schedules)
      for (uint32_t c = 0; c < schedule->extent().channels; ++c)
        schedule->for_each_receiver(Node(sender), Channel(c),
                                    [&](const Sent& sent) { receivers.push_back(sent.to); });
    std::sort(receivers.begin(), receivers.end());
    receivers.erase(std::unique(receivers.begin(), receivers.end()), receivers.end());
    ends[sender].outgoing = static_cast<int64_t>(receivers.size());
    for (const Node receiver : receivers)
      ++ends[receiver.index()].incoming;
  }
  return ends;
}

/// Adds connections to those of a device. Throws KeyOverflow if it then has too many bytes.
void add(LogicalId device, ConnectionKind kind, const Connected& connected, Ends ends,
         std::vector<ConnectionBuffers>& buffers) {
  const Int128 bytes = (Int128{connected.receiver.count()} * ends.incoming +
                        Int128{connected.sender.count()} * ends.outgoing) *
                       connected.channels;
  if (bytes == 0)
    return;
  Int128 all = bytes;
  for (const ConnectionBuffers& held : buffers)
    all += held.total().count();
  if (all > kMostReserved.count())
    throw KeyOverflow(connected.key,
                      fmt::format("expected at most {} of transport buffers on device {}, got more",
                                  quantity_text(kMostReserved), device.index()));
  const auto alike = std::find_if(buffers.begin(), buffers.end(), [&](const auto& held) {
    return std::tie(held.kind, held.channels, held.receiver, held.sender) ==
           std::tie(kind, connected.channels, connected.receiver, connected.sender);
  });
  ConnectionBuffers& to = alike != buffers.end() ? *alike : buffers.emplace_back();
  to.kind = kind;
  to.channels = connected.channels;
  to.receiver = connected.receiver;
  to.sender = connected.sender;
  to.incoming += ends.incoming;
  to.outgoing += ends.outgoing;
}

}  // namespace

std::string worked_out(const ConnectionBuffers& buffers) {
  const bool in = buffers.incoming > 0 && buffers.receiver > Bytes();
  const bool out = buffers.outgoing > 0 && buffers.sender > Bytes();
  const std::string channels = counted(buffers.channels, "channel");
  const std::string receiver = size_text(buffers.receiver);
  const std::string sender = size_text(buffers.sender);
  const std::string incoming = counted(buffers.incoming, "connection");
  if (in && out)
    return fmt::format("{} x ({} in x {} + {} out x {})", channels, incoming, receiver,
                       buffers.outgoing, sender);
  if (in)
    return fmt::format("{} x {} in x {}", channels, incoming, receiver);
  return fmt::format("{} x {} out x {}", channels, counted(buffers.outgoing, "connection"), sender);
}

std::vector<std::vector<ConnectionBuffers>> transport_buffers(const Program& program,
                                                              const Lowered& lowered,
                                                              std::optional<int64_t> channels) {
  std::vector<std::vector<ConnectionBuffers>> buffers(program.mesh.devices());
  if (!lowered.transport || !*lowered.transport)
    return buffers;
  const Figures figures(program, lowered, channels);
  struct Sites {
    Connected connected;
    std::vector<const Schedule*> schedules;
  };
  std::map<Communicator, Sites> communicators;
  for (const Collective& collective : lowered.collectives) {
    // The streams of a group tell its messages apart, and no communicators.
    const bool in_group = !program.op(program.site(collective.site).ops.front()).group.empty();
    Sites& sites = communicators[{{collective.members.begin(), collective.members.end()},
                                  in_group ? StreamId() : collective.stream,
                                  collective.threads,
                                  kind_of(collective)}];
    raise(sites.connected, figures.of(collective));
    if (std::find(sites.schedules.begin(), sites.schedules.end(), collective.schedule) ==
        sites.schedules.end())
      sites.schedules.push_back(collective.schedule);
  }
  std::map<std::vector<const Schedule*>, std::vector<Ends>> known;  // looked up only
  for (const auto& [communicator, sites] : communicators) {
    const auto [ends, is_new] = known.try_emplace(sites.schedules);
    if (is_new)
      ends->second = ends_of(sites.schedules);
    const auto& [members, stream, threads, kind] = communicator;
    for (size_t node = 0; node < members.size(); ++node)
      add(members[node], kind, sites.connected, ends->second[node], buffers[members[node].index()]);
  }
  for (std::vector<ConnectionBuffers>& held : buffers)
    std::sort(held.begin(), held.end());
  return buffers;
}

}  // namespace orrery
