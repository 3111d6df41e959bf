#include "models/fabric/transport.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "models/base/compiler.h"

namespace orrery {
namespace {

struct NamedProtocol {
  std::string_view name;
  std::string_view key;
  DataShare share;
};
constexpr std::array<NamedProtocol, 3> kProtocols = {
    {{"Simple", "simple", {1, 1}}, {"LL", "ll", {1, 2}}, {"LL128", "ll128", {15, 16}}}};

std::optional<Protocol> with(std::string_view NamedProtocol::*spelling, std::string_view text) {
  for (size_t i = 0; i < kProtocols.size(); ++i)
    if (kProtocols[i].*spelling == text)
      return static_cast<Protocol>(i);
  return std::nullopt;
}

constexpr std::array<std::string_view, 3> kConnectionKeys = {"collectives", "sends", "in_switch"};

bool among(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns everything but the places in the file.
auto figures(const ProtocolFigures& of) {
  return std::tie(of.name, of.algorithms, of.ops, of.spans_nodes, of.share, of.slot, of.slots,
                  of.channels, of.channel_bytes, of.pieces, of.launch, of.channel_launch,
                  of.peer_launch, of.overhead, of.latency, of.channel_rate, of.reduce_rate,
                  of.store_rate, of.copy_rate, of.forward_rate, of.forward_reduce_rate, of.network);
}

}  // namespace

std::string_view name(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].name;
}

std::optional<Protocol> protocol_named(std::string_view text) {
  return with(&NamedProtocol::name, text);
}

std::string_view key_of(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].key;
}

std::optional<Protocol> protocol_of_key(std::string_view text) {
  return with(&NamedProtocol::key, text);
}

std::vector<std::string_view> protocol_keys() {
  std::vector<std::string_view> keys;
  for (const NamedProtocol& protocol : kProtocols)
    keys.push_back(protocol.key);
  return keys;
}

Bytes on_wire(Bytes data, DataShare share) {
  return Bytes(checked_narrow(on_wire(Int128{data.count()}, share)));
}

Int128 on_wire(Int128 data, DataShare share) {
  return share.data == share.wire ? data : ceil_divide(data * share.wire, Int128{share.data});
}

DataShare data_share(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].share;
}

bool operator==(const ProtocolFigures& a, const ProtocolFigures& b) {
  return figures(a) == figures(b);
}

std::optional<Bytes> ProtocolFigures::largest_message() const {
  if (!slot)
    return std::nullopt;
  return Bytes(slot->count() / share.wire * share.data);
}

bool ProtocolFigures::serves(std::optional<std::string_view> algorithm, std::string_view op,
                             std::optional<bool> spans) const {
  return (!algorithm || among(algorithms, *algorithm)) && among(ops, op) &&
         (!spans || !spans_nodes || spans == spans_nodes);
}

std::string_view key_of(ConnectionKind kind) {
  return kConnectionKeys[static_cast<size_t>(kind)];
}

bool operator==(const ConnectionFigures& a, const ConnectionFigures& b) {
  return std::tie(a.channels, a.receiver, a.sender) == std::tie(b.channels, b.receiver, b.sender);
}

}  // namespace orrery
