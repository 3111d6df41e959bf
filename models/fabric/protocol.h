#pragma once

// The protocols by which communication libraries pass messages through the slots of a connection.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"

namespace orrery {

/// Of `wire` bytes in a slot and on a link, `data` are data. The rest are flags, which tell the
/// receiver that the data have arrived.
struct DataShare {
  int64_t data = 1;
  int64_t wire = 1;
  friend bool operator==(const DataShare&, const DataShare&) = default;
};
/// The bytes that a link carries for so many bytes of data, rounded up. Throws Overflow.
Bytes on_wire(Bytes data, DataShare share);

enum class Protocol : uint8_t { Simple, LL, LL128 };

/// "Simple", "LL", "LL128": as libraries and MSCCL files spell them.
std::string_view name(Protocol protocol);
/// In that spelling alone.
std::optional<Protocol> protocol_named(std::string_view text);
/// "simple", "ll", "ll128": in lower case, as in a scenario.
std::string_view key_of(Protocol protocol);
std::optional<Protocol> protocol_of_key(std::string_view text);
std::vector<std::string_view> protocol_keys();

/// Of NCCL: LL has a flag of 4 B after every 4 B of data; LL128 lines of 128 B, the last 8 B of
/// which are a flag (src/include/device.h, NCCL 2.30.7, 5067397c).
DataShare data_share(Protocol protocol);

}  // namespace orrery
