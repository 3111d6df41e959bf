#pragma once

// The protocols by which communication libraries pass messages through the slots of a connection.

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/fabric/fabric.h"

namespace orrery {

enum class Protocol : uint8_t { Simple, LL, LL128 };

std::string_view name(Protocol protocol);  // as in a scenario: "simple", "ll", "ll128"
std::optional<Protocol> transport_protocol(std::string_view text);

/// Of `wire` bytes in a slot and on a link, `data` are data. The rest are flags, which tell the
/// receiver that the data have arrived.
struct DataShare {
  int64_t data = 1;
  int64_t wire = 1;
  friend bool operator==(const DataShare&, const DataShare&) = default;
};

/// Of NCCL: LL has a flag of 4 B after every 4 B of data; LL128 lines of 128 B, the last 8 B of
/// which are a flag (src/device/prims_ll.h and prims_ll128.h, NCCL 2.19).
DataShare data_share(Protocol protocol);

/// The fabric with the rates at which its links carry data, rounded down and at least 1. Empty
/// where all that they carry is data.
std::optional<Fabric> carrying_data(const Fabric& fabric, DataShare share);

}  // namespace orrery
