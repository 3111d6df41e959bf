#pragma once

// The buffers through which the messages of collectives pass, as a communication library allocates
// them: for all channels and protocols when two ranks are connected, whatever their messages need.
//
// A communicator is one group (members in rank order) on one stream of one list. It connects two
// ranks once in each direction for all its collectives, and once more for all its sends and
// receives (ConnectionKind). It does so if a schedule of the kind has a message from one to the
// other. With reductions in a switch each rank has as many connections as the group has ranks, a
// part of the data each, since a library sets up all of them. Connections are held from the first
// use to the end, so also by iterations that are left out.
//
// Each figure is the first that is given of:
//  1. what the op asks for (channels, slots); the largest of the ops counts;
//  2. memory.transport's channels;
//  3. ConnectionFigures of the cluster's transport (NCCL's, in the catalog);
//  4. the slots and channels of the protocols that serve the exchange.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/transport.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"

namespace orrery {

struct Lowered;

/// ConnectionBuffers are those connections of a device that take the same.
struct ConnectionBuffers {
  ConnectionKind kind = ConnectionKind::Collectives;
  int64_t channels = 1;
  Bytes receiver;        // of each connection that leads to the device, in each channel
  Bytes sender;          // of each that leads from it
  int64_t incoming = 0;  // connections
  int64_t outgoing = 0;
  friend auto operator<=>(const ConnectionBuffers&, const ConnectionBuffers&) = default;

  /// Requires what transport_buffers() returned.
  Bytes total() const { return (receiver * incoming + sender * outgoing) * channels; }
};

/// Returns how `buffers` are worked out:
/// "32 channels x (7 connections in x 10 MiB + 7 out x 2 MiB)".
std::string worked_out(const ConnectionBuffers& buffers);

/// Returns the buffers of each device, by kind; none that are empty. `channels` are those of
/// memory.transport. Throws KeyOverflow if a device has more than kMostReserved.
std::vector<std::vector<ConnectionBuffers>> transport_buffers(
    const Program& program, const Lowered& lowered, std::optional<int64_t> channels = std::nullopt);

}  // namespace orrery
