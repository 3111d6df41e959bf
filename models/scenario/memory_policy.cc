#include "models/scenario/memory_policy.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "models/program/rules.h"
#include "models/scenario/fields.h"

namespace orrery {

namespace {

constexpr int64_t kLargestAlignment = int64_t{1} << 40;

/// Returns whether the cluster says what each connection takes of memory.
bool has_buffers(const Cluster& cluster) {
  if (!cluster.transport)
    return false;
  const auto& connections = cluster.transport->connections;
  const bool given = std::all_of(
      std::begin(kConnectionKinds), std::end(kConnectionKinds), [&](ConnectionKind kind) {
        const auto found = connections.find(kind);
        return (found != connections.end() && found->second.receiver) ||
               (kind == ConnectionKind::InSwitch && cluster.fabric.reducing_switches().empty());
      });
  return given ||
         std::all_of(cluster.transport->protocols.begin(), cluster.transport->protocols.end(),
                     [](const ProtocolFigures& protocol) { return protocol.slot.has_value(); });
}

void require_buffers(DocumentNode node, const Cluster* cluster, Diagnostics& diagnostics) {
  if (cluster != nullptr && !has_buffers(*cluster))
    expected(node,
             "a cluster with a \"transport\" that has \"connections\" or whose protocols have "
             "slots, or \"protocol\" and \"slot\" here",
             diagnostics);
}

/// Reads "transport": true means the cluster's. An object has channels in place of the cluster's,
/// or a protocol and its slot in place of the cluster's transport.
void read_transport_of(DocumentNode node, const Cluster* cluster, MemoryPolicy& policy,
                       Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Boolean) {
    policy.counts_transport = node.boolean();
    if (policy.counts_transport)
      require_buffers(node, cluster, diagnostics);
    return;
  }
  if (!is_object(node, "true, or an object with \"channels\", or with \"protocol\", \"slot\"",
                 diagnostics))
    return;
  policy.counts_transport = true;
  Fields fields(node, diagnostics);
  if (const auto channels = fields.optional("channels")) {
    policy.channels =
        read_integer(*channels, "a number of channels", {1, kMostChannels}, diagnostics);
    if (!node.find("protocol") && !fields.find_quantity("slot", Dimension::Size)) {
      require_buffers(node, cluster, diagnostics);
      fields.finish();
      return;
    }
  }
  ProtocolFigures transport;
  if (const auto protocol = fields.required("protocol")) {
    if (const auto word = read_word(*protocol, protocol_keys(), diagnostics)) {
      transport.name = *word;
      transport.share = data_share(*protocol_of_key(*word));
    }
  }
  if (const auto slot =
          fields.required_quantity("slot", Dimension::Size, {.least = kSmallestSlot.count()})) {
    transport.slot = Bytes(*slot);
    transport.slot_origin = fields.find_quantity("slot", Dimension::Size)->origin();
  }
  fields.finish();
  policy.transport = transport;
}

}  // namespace

MemoryPolicy read_memory(DocumentNode node, const Cluster* cluster, Diagnostics& diagnostics) {
  MemoryPolicy policy;
  if (!is_object(node, "an object with \"reuse\", \"alignment\", \"reserved\", \"transport\"",
                 diagnostics))
    return policy;
  Fields fields(node, diagnostics);
  if (const auto reuse = fields.optional("reuse"))
    if (read_word(*reuse, {"none", "xla"}, diagnostics) == "xla")
      policy.reuse = MemoryPolicy::Reuse::Xla;
  if (const auto alignment = fields.optional_quantity("alignment", Dimension::Size,
                                                      {.least = 1, .most = kLargestAlignment}))
    policy.alignment = Bytes(*alignment);
  if (const auto reserved =
          fields.optional_quantity("reserved", Dimension::Size, {.most = kMostReserved.count()}))
    policy.reserved = Bytes(*reserved);
  if (const auto transport = fields.optional("transport"))
    read_transport_of(*transport, cluster, policy, diagnostics);
  fields.finish();
  return policy;
}

}  // namespace orrery
