#pragma once

// What the runtimes that run MSCCL files allow, and how they cut and carry messages.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/base/quantity.h"
#include "models/fabric/transport.h"

namespace orrery {

/// How a connection carries messages.
struct MessageForm {
  std::optional<Bytes> slot;  // data in one slot; empty: a message of any size fits one
  uint32_t slots = 2;         // that a connection has
  DataShare share;            // of what links carry
};

/// Largest numbers that are allowed, except where it says otherwise.
struct RuntimeLimits {
  int64_t steps = 0;          // of a thread block
  int64_t count = 0;          // chunks of a step
  int64_t thread_blocks = 0;  // of a gpu
  int64_t channels = 0;
  int64_t peers = 0;  // thread blocks with a send peer, and with a recv peer, on a channel of a gpu
  int64_t nodes = 0;  // XML elements that a gpu reads: its own, <algo> and all <gpu>
  int64_t gpus = 0;
  int64_t offset = 0;        // srcoff and dstoff
  int64_t waited_block = 0;  // depid
};

/// When a runtime uses a file.
enum class Calls : uint8_t {
  /// In place, out of place or both; from minBytes to maxBytes, where 0 is no limit.
  Rccl,
  /// In place if inplace is 1, else out of place; from minBytes to below maxBytes, 128 MiB when
  /// absent.
  Msccl,
};

/// What a runtime's parser reads of <algo>, where parsers differ.
struct RuntimeFormat {
  std::span<const std::string_view> collectives;  // as spelled there
  std::span<const std::string_view> attributes;   // that it needs and others do not
  /// Whether a buffer of a custom collective has nchunksperloop chunks, or none.
  bool whole_custom = false;
  Calls calls = Calls::Rccl;
  /// Whether it reads nthreads, a multiple of the 32 threads of a warp.
  bool reads_threads = false;
  /// Whether its kernels are built without rcs, rrs, rrc and rrcs: it reads such a file and refuses
  /// its calls.
  bool lacks_fused = false;
};

/// A runtime by its defaults: buffer sizes can be set in the environment there.
struct Runtime {
  std::string_view name;                // "rccl"
  std::string_view source;              // of the figures
  std::optional<RuntimeLimits> limits;  // none: the runtime is no real one
  RuntimeFormat format;
  MessageForm forms[3];  // by Protocol

  const MessageForm& form(Protocol protocol) const { return forms[static_cast<size_t>(protocol)]; }
};

/// rccl, msccl, and none: no limits, uncut messages without flags.
std::span<const Runtime> runtimes();
const Runtime* runtime_named(std::string_view text);  // null if there is none

}  // namespace orrery
