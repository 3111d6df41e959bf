#pragma once

// How a run counts memory: a scenario's "memory".

#include <cstdint>
#include <optional>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/scenario/document.h"

namespace orrery {

/// The data of a slot have room for a work element of any type.
inline constexpr Bytes kSmallestSlot = Bytes(64);

/// The most of each part of what is reserved on a device: by the runtime, and transport buffers. So
/// a device's memory leaves the 64-bit range only where its values are to blame.
inline constexpr Bytes kMostReserved = Bytes(int64_t{1} << 60);

/// The memory rules of a run.
struct MemoryPolicy {
  enum class Reuse : uint8_t { Never, Xla } reuse = Reuse::Never;
  Bytes alignment = Bytes(256);
  Bytes reserved;  // by the runtime, on every device
  /// The buffers of the transport are counted: those of the cluster's, or those given here.
  bool counts_transport = false;
  std::optional<ProtocolFigures> transport = {};  // in place of the cluster's transport
  friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

/// Reads "memory". `cluster` is null if it was not read.
MemoryPolicy read_memory(DocumentNode node, const Cluster* cluster, Diagnostics& diagnostics);

}  // namespace orrery
