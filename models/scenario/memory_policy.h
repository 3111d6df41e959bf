#pragma once

// A `MemoryPolicy` says how a run counts memory: a scenario's "memory".

#include <cstdint>
#include <optional>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/scenario/document.h"

namespace orrery {

/// The data of a slot have room for a work element of any type.
inline constexpr Bytes kSmallestSlot = Bytes(64);

/// The most bytes that the runtime may reserve on a device, and the most of its transport buffers.
/// So a device's memory leaves the 64-bit range only if its values do.
inline constexpr Bytes kMostReserved = Bytes(int64_t{1} << 60);

/// These are the memory rules of a run.
///
/// Slots are stated in two places: a cluster's transport has protocols with slots, and "transport"
/// here may name a protocol and its slot. If `transport` is given, it replaces the cluster's
/// wherever messages are cut or slots are counted; it has no other figures. Buffers are counted if
/// it is given, or if "transport" is true and the cluster's protocols have slots.
struct MemoryPolicy {
  enum class Reuse : uint8_t { Never, Xla } reuse = Reuse::Never;
  Bytes alignment = Bytes(256);
  Bytes reserved;  // by the runtime, on every device
  /// Whether the buffers of the transport that applies are counted.
  bool counts_transport = false;
  /// The channels of each connection, in place of the transport's. An op's own come first.
  std::optional<int64_t> channels = {};
  std::optional<ProtocolFigures> transport = {};  // in place of the cluster's transport
  friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

/// Reads "memory". `cluster` is null if it was not read.
MemoryPolicy read_memory(DocumentNode node, const Cluster* cluster, Diagnostics& diagnostics);

}  // namespace orrery
