#pragma once

// What the runtimes that run MSCCL files allow, and how they cut and carry messages.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

enum class MscclProtocol : uint8_t { Simple, LL, LL128 };

std::string_view name(MscclProtocol protocol);  // as in the file: "Simple", ...
std::optional<MscclProtocol> protocol_named(std::string_view text);

/// How a connection carries messages.
struct MessageForm {
  std::optional<Bytes> slot;  // data in one slot; empty: a message of any size fits one
  uint32_t slots = 2;         // that a connection has
  /// `data` bytes of data take `wire` bytes on links: the rest are flags.
  int64_t data = 1;
  int64_t wire = 1;
};

/// Largest numbers that are allowed, except where it says otherwise.
struct RuntimeLimits {
  int64_t steps = 0;          // of a thread block
  int64_t count = 0;          // chunks of a step
  int64_t thread_blocks = 0;  // of a gpu
  int64_t channels = 0;
  int64_t peers = 0;  // thread blocks with a send peer, and with a recv peer, on a channel of a gpu
  int64_t nodes = 0;  // XML elements that a gpu reads: its own, <algo> and all <gpu>
};

/// What a runtime's parser reads of <algo>, where parsers differ.
struct RuntimeFormat {
  std::span<const std::string_view> collectives;  // as spelled there
  std::span<const std::string_view> attributes;   // that it needs and others do not
  /// Whether a buffer of a custom collective has nchunksperloop chunks, or none.
  bool whole_custom = false;
  /// Whether its kernels have no rcs, rrs, rrc and rrcs: it reads such files and does not run them.
  bool lacks_fused = false;
};

/// A runtime by its defaults: buffer sizes can be set in the environment there.
struct Runtime {
  std::string_view name;                // "rccl"
  std::string_view source;              // of the figures
  std::optional<RuntimeLimits> limits;  // none: the runtime is no real one
  RuntimeFormat format;
  MessageForm forms[3];  // by MscclProtocol

  const MessageForm& form(MscclProtocol protocol) const {
    return forms[static_cast<size_t>(protocol)];
  }
};

/// rccl, msccl, and none: no limits, uncut messages without flags.
std::span<const Runtime> runtimes();
const Runtime* runtime_named(std::string_view text);  // null if there is none

}  // namespace orrery
