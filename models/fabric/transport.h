#pragma once

// How a communication library passes messages: by protocols, each with its own slots and figures.
// What a figure is of NCCL: docs/scenario.md, "Transport".

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "models/fabric/protocol.h"

namespace orrery {

/// A figure that is absent takes no time, or does not limit.
struct ProtocolFigures {
  std::string name;                     // "ll", "simple", or a user's
  std::vector<std::string> algorithms;  // those whose messages it passes; empty: all
  DataShare share;                      // of the bytes on a link, data
  std::optional<Bytes> slot;            // with its flags; absent: messages are not cut
  std::optional<int64_t> slots;         // of a connection, where an op does not say it
  std::optional<int64_t> channels;      // at most, where an op does not say it
  /// A further channel is used only where each then has messages of at least so many bytes of data.
  std::optional<Bytes> channel_bytes;
  std::optional<Duration> launch;          // of a collective, besides the device's
  std::optional<Duration> channel_launch;  // the same, for each channel
  std::optional<Duration> peer_launch;     // the same, for each rank that a rank sends to
  std::optional<Duration> overhead;        // of the sender, for each message
  std::optional<Duration> latency;         // of the receiver, for each message, besides the links'
  std::optional<BytesPerSecond> channel_rate;  // the most of a channel, flags included
  std::optional<BytesPerSecond> reduce_rate;   // in place of the device's
  std::optional<BytesPerSecond> store_rate;    // of a received message that is not sent on
  Origin slot_origin = {};  // for errors; figures that differ only in places are equal
  Origin algorithms_origin = {};

  friend bool operator==(const ProtocolFigures& a, const ProtocolFigures& b);

  /// The most data of one message; larger ones are cut. Empty without slots.
  std::optional<Bytes> largest_message() const;
};

struct TransportFigures {
  std::vector<ProtocolFigures> protocols;
  friend bool operator==(const TransportFigures&, const TransportFigures&) = default;
};

}  // namespace orrery
