#include "models/scenario/memory_policy.h"

#include <algorithm>
#include <cstdint>

#include "models/scenario/fields.h"

namespace orrery {

namespace {

constexpr int64_t kLargestAlignment = int64_t{1} << 40;

bool has_slots(const Cluster& cluster) {
  return cluster.transport &&
         std::all_of(cluster.transport->protocols.begin(), cluster.transport->protocols.end(),
                     [](const ProtocolFigures& protocol) { return protocol.slot.has_value(); });
}

/// Reads "transport": true means the cluster's; an object has a protocol and its slot.
void read_transport_of(DocumentNode node, const Cluster* cluster, MemoryPolicy& policy,
                       Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Boolean) {
    policy.counts_transport = node.boolean();
    if (policy.counts_transport && cluster != nullptr && !has_slots(*cluster))
      expected(node,
               "a cluster with a \"transport\" whose protocols have slots, or \"protocol\" and "
               "\"slot\" here",
               diagnostics);
    return;
  }
  if (!is_object(node, "true, or an object with \"protocol\", \"slot\"", diagnostics))
    return;
  policy.counts_transport = true;
  Fields fields(node, diagnostics);
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
