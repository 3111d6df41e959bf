#pragma once

// A communication library passes messages by protocols, each with its own slots and figures.
//
// A connection leads from a rank to a rank in one channel. It has `slots` buffers of `slot` bytes.
// A message takes one slot, and a larger message is cut. A scenario states slots in two places:
// cluster.transport has protocols with all their figures, and memory.transport has one protocol and
// its slot. lower() takes memory.transport in place of the cluster's if it is given
// (models/scenario/memory_policy.h). docs/scenario.md, "Transport", says what each figure is in
// NCCL.
//
// The time of a message depends on the slots and channels that it uses. The memory does not: a
// library connects two ranks in all of its channels at once, and allocates the buffers of all of
// its protocols then. ConnectionFigures has what that takes.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"

namespace orrery {

/// A DataShare says that `data` of every `wire` bytes in a slot and on a link are data. The rest
/// are flags, which tell the receiver that the data have arrived.
struct DataShare {
  int64_t data = 1;
  int64_t wire = 1;
  friend auto operator<=>(const DataShare&, const DataShare&) = default;
};
/// Returns the bytes that a link carries for `data` bytes of data, rounded up. Throws Overflow.
Bytes on_wire(Bytes data, DataShare share);
/// Does the same for sums of many messages.
Int128 on_wire(Int128 data, DataShare share);

/// These are the protocols of NCCL.
enum class Protocol : uint8_t { Simple, LL, LL128 };

/// Returns "Simple", "LL" or "LL128", as libraries and MSCCL files spell them.
std::string_view name(Protocol protocol);
/// Reads that spelling alone.
std::optional<Protocol> protocol_named(std::string_view text);
/// Returns "simple", "ll" or "ll128", as in a scenario.
std::string_view key_of(Protocol protocol);
std::optional<Protocol> protocol_of_key(std::string_view text);
std::vector<std::string_view> protocol_keys();

/// Returns NCCL's shares. LL has a flag of 4 B after every 4 B of data. LL128 has lines of 128 B,
/// the last 8 B of which are a flag (src/include/device.h, NCCL 2.30.7, 5067397c).
DataShare data_share(Protocol protocol);

/// The figures of a protocol for messages over the network that joins nodes. An absent figure is
/// that of the protocol.
struct NetworkFigures {
  std::optional<Duration> overhead = {};
  std::optional<Duration> latency = {};
  std::optional<BytesPerSecond> channel_rate = {};
  friend bool operator==(const NetworkFigures&, const NetworkFigures&) = default;
};

/// The figures of a protocol. A figure that is absent takes no time, or does not limit.
struct ProtocolFigures {
  std::string name;                     // "ll", "simple", or a user's
  std::vector<std::string> algorithms;  // those whose messages it passes; empty: all
  std::vector<std::string> ops = {};    // those of timed_ops() that it serves; empty: all
  /// Whether it serves only groups that span several nodes, or only groups on one. Empty: all.
  std::optional<bool> spans_nodes = {};
  DataShare share;                  // how much of the bytes on a link is data
  std::optional<Bytes> slot;        // with its flags; absent: messages are not cut
  std::optional<int64_t> slots;     // a connection's, unless the op says it
  std::optional<int64_t> channels;  // at most, unless the op says it
  /// A further channel is used only if the messages of each channel then have at least this many
  /// bytes of data.
  std::optional<Bytes> channel_bytes;
  /// A channel's message is cut into this many pieces, or into fewer so that none is below
  /// channel_bytes.
  std::optional<int64_t> pieces = {};
  std::optional<Duration> launch;          // a collective's, besides the device's
  std::optional<Duration> channel_launch;  // the same, for each channel
  std::optional<Duration> peer_launch;     // the same, for each rank that a rank sends to
  std::optional<Duration> overhead;        // the sender's, for each message
  std::optional<Duration> latency;         // the receiver's, for each message, besides the links'
  std::optional<BytesPerSecond> channel_rate;  // a channel's most, flags included
  std::optional<BytesPerSecond> reduce_rate;   // in place of the device's
  std::optional<BytesPerSecond> store_rate;    // for a received message that is not sent on
  /// The rate at which a received message that is also sent on is stored. Without it storing takes
  /// no time.
  std::optional<BytesPerSecond> forward_rate = {};
  /// The rate of a reduction that is sent on and not stored, in place of reduce_rate.
  std::optional<BytesPerSecond> forward_reduce_rate = {};
  /// The rate at which a rank copies its own operand, in place of the device's.
  std::optional<BytesPerSecond> copy_rate = {};
  NetworkFigures network = {};
  Origin slot_origin = {};  // for errors; figures that differ only in places are equal
  Origin algorithms_origin = {};

  friend bool operator==(const ProtocolFigures& a, const ProtocolFigures& b);

  /// Returns the most data of one message, or nothing without slots. Larger messages are cut.
  std::optional<Bytes> largest_message() const;

  /// Returns whether it passes the messages of an op of timed_ops() by the algorithm, or by some
  /// algorithm if none is given; of groups that span nodes, or of others, if that is given.
  bool serves(std::optional<std::string_view> algorithm, std::string_view op,
              std::optional<bool> spans = std::nullopt) const;
};

/// A library connects ranks for each of these apart. Sends and receives are all_to_all, ppermute,
/// psend and precv. Reductions in a switch connect a rank with the switch, whatever the op. All
/// other messages are of Collectives.
enum class ConnectionKind : uint8_t { Collectives, Sends, InSwitch };
inline constexpr ConnectionKind kConnectionKinds[] = {
    ConnectionKind::Collectives, ConnectionKind::Sends, ConnectionKind::InSwitch};
/// Returns "collectives", "sends" or "in_switch".
std::string_view key_of(ConnectionKind kind);

/// ConnectionFigures says what connections take of the memory of devices, in one communicator.
struct ConnectionFigures {
  /// The channels in which two ranks are connected. If it is absent, they are the most that a
  /// protocol of the exchange may use.
  std::optional<int64_t> channels = {};
  /// The bytes of the receiver, for a connection in one channel. If it is absent, they are the
  /// slots of all protocols of the exchange.
  std::optional<Bytes> receiver = {};
  std::optional<Bytes> sender = {};  // the same for the sender; none when absent
  Origin origin = {};                // for errors; figures that differ only in places are equal

  friend bool operator==(const ConnectionFigures& a, const ConnectionFigures& b);
};

/// A CalibratedRange bounds the collectives of one op to whose measured times a transport's figures
/// were fitted.
struct CalibratedRange {
  uint32_t least_ranks = 1;
  uint32_t most_ranks = 1;
  Bytes least;  // a rank's: the larger of operand and result
  Bytes most;
  friend bool operator==(const CalibratedRange&, const CalibratedRange&) = default;
};

/// Ops go by the names of timed_ops() (rules.h): "psum" stands for all reductions to all ranks.
struct TransportFigures {
  std::vector<ProtocolFigures> protocols;
  /// The time a process takes to issue the op on one device. Only `orrery perf` counts it.
  std::map<std::string, Duration, std::less<>> host_launch = {};
  std::map<std::string, CalibratedRange, std::less<>> calibrated = {};
  std::map<ConnectionKind, ConnectionFigures> connections = {};  // of memory alone
  friend bool operator==(const TransportFigures&, const TransportFigures&) = default;
};

}  // namespace orrery
