#include "models/fabric/transport.h"

#include <tuple>

namespace orrery {
namespace {

/// Everything but the places in the file.
auto figures(const ProtocolFigures& of) {
  return std::tie(of.name, of.algorithms, of.ops, of.share, of.slot, of.slots, of.channels,
                  of.channel_bytes, of.pieces, of.launch, of.channel_launch, of.peer_launch,
                  of.overhead, of.latency, of.channel_rate, of.reduce_rate, of.store_rate,
                  of.copy_rate, of.forward_rate, of.forward_reduce_rate);
}

}  // namespace

bool operator==(const ProtocolFigures& a, const ProtocolFigures& b) {
  return figures(a) == figures(b);
}

std::optional<Bytes> ProtocolFigures::largest_message() const {
  if (!slot)
    return std::nullopt;
  return Bytes(slot->count() / share.wire * share.data);
}

}  // namespace orrery
