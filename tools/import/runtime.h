#pragma once

// A Runtime runs MSCCL files. This file says which files each runtime takes, what it allows, and
// how its connections carry messages.
//
// Each runtime is an entry of a table, with the source of its figures. A file is judged for the
// first runtime that can run it (runtime_of()), unless another is asked for. The runtime "none" has
// no limits: its messages are neither cut nor sent with flags.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/base/quantity.h"
#include "models/fabric/transport.h"
#include "tools/import/msccl.h"
#include "verifier/report.h"

namespace orrery {

/// This says how a connection carries messages.
struct RuntimeSlots {
  std::optional<Bytes> slot;  // data in one slot; empty: a message of any size fits one
  uint32_t slots = 2;         // that a connection has
  DataShare share;            // how much of what links carry is data
};

/// The largest numbers that a runtime takes.
struct RuntimeLimits {
  int64_t steps = 0;          // of a thread block
  int64_t count = 0;          // chunks of a step
  int64_t thread_blocks = 0;  // of a gpu
  int64_t channels = 0;
  int64_t peers = 0;  // thread blocks with a send peer, and with a recv peer, on a channel of a gpu
  int64_t nodes = 0;  // XML elements that a gpu reads: <algo>, every <gpu>, its own <tb> and <step>
  int64_t gpus = 0;
  int64_t offset = 0;        // srcoff and dstoff
  int64_t waited_block = 0;  // depid
};

/// Says for which placements and sizes a runtime uses a file.
enum class Calls : uint8_t {
  /// The runtime calls the algorithm in place, out of place or both, from minBytes to maxBytes,
  /// where 0 is no limit.
  Rccl,
  /// The runtime calls the algorithm in place if inplace is 1, else out of place, from minBytes to
  /// below maxBytes, which is 128 MiB when absent.
  Msccl,
};

/// This says how the runtimes' parsers differ in what they read of <algo>, and their kernels in
/// what they run.
struct RuntimeFormat {
  std::span<const std::string_view> collectives;  // in the runtime's spelling
  std::span<const std::string_view> attributes;   // which it needs and others do not
  /// Whether the parser takes a custom collective only if i_chunks and o_chunks of each gpu are
  /// nchunksperloop or 0.
  bool whole_custom = false;
  Calls calls = Calls::Rccl;
  /// Whether the runtime reads nthreads, a multiple of the 32 threads of a warp.
  bool reads_threads = false;
  /// Whether the kernels of the runtime are built without rcs, rrs, rrc and rrcs: it reads a file
  /// with such steps and refuses its calls.
  bool lacks_fused = false;
};

/// This is a runtime with its default buffer sizes, which its users can change by environment
/// variables.
struct Runtime {
  std::string_view name;                // "rccl"
  std::string_view source;              // where the figures are from
  std::optional<RuntimeLimits> limits;  // empty for the runtime "none"
  RuntimeFormat format;
  RuntimeSlots by_protocol[3];  // in the order of Protocol

  const RuntimeSlots& figures(Protocol protocol) const {
    return by_protocol[static_cast<size_t>(protocol)];
  }
};

/// Returns all runtimes: rccl, msccl and none.
std::span<const Runtime> runtimes();
const Runtime* runtime_named(std::string_view text);  // null if there is none

/// Returns why the runtime's parser does not read the file's <algo>: "it needs outofplace". The
/// result is empty if the parser reads it.
std::optional<std::string> other_format(const MscclAlgorithm& algorithm, const Runtime& runtime);

/// Returns which step the runtime reads and cannot run, for lack of a kernel. The result is empty
/// if it can run all.
std::optional<std::string> lacks_kernel(const MscclAlgorithm& algorithm, const Runtime& runtime);

/// Returns the algorithm with the sizes and the placements for which the runtime uses the file. If
/// no size is left, the sizes stay as they are, and a note or other_format() says so.
MscclAlgorithm called_by(MscclAlgorithm algorithm, const Runtime& runtime);

/// Returns the runtime for which a file is judged unless another is asked for: the first that can
/// read and run it, else the first that can read it, else the first of all.
const Runtime& runtime_of(const MscclAlgorithm& algorithm);

/// Returns the check RUNTIME.LIMITS. Its witness is the first thing of each kind that the runtime
/// refuses. Requires a runtime that has limits.
Check runtime_limits(const MscclAlgorithm& algorithm, const Runtime& runtime);

}  // namespace orrery
