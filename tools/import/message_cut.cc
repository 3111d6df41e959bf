#include "tools/import/message_cut.h"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

/// By which a step's chunks are counted. It is the slot, but for Simple in a reduce or a broadcast:
/// REDUCE_CHUNKSTEPS and BROADCAST_CHUNKSTEPS are one step of a buffer, and a slot is four.
std::optional<Bytes> counted_slot(const MscclAlgorithm& algorithm, const Runtime& runtime) {
  const std::optional<Bytes> slot = runtime.form(algorithm.protocol).slot;
  const bool one_step = algorithm.protocol == Protocol::Simple &&
                        (algorithm.collective == MscclCollective::Reduce ||
                         algorithm.collective == MscclCollective::Broadcast);
  return slot && one_step ? std::optional(Bytes(slot->count() / 4)) : slot;
}

}  // namespace

int64_t chunks_of_message(const MscclAlgorithm& algorithm, const Runtime& runtime, Bytes chunk) {
  const std::optional<Bytes> slot = counted_slot(algorithm, runtime);
  if (!slot)
    return std::numeric_limits<int64_t>::max();
  return std::clamp<int64_t>(slot->count() / chunk.count(), 1, runtime.limits->count);
}

std::optional<Bytes> largest_chunk(const MscclAlgorithm& algorithm, const Runtime& runtime,
                                   int64_t chunks) {
  const std::optional<Bytes> slot = counted_slot(algorithm, runtime);
  return slot ? std::optional(Bytes(slot->count() / chunks)) : std::nullopt;
}

MessageCut message_cut(const MscclAlgorithm& algorithm, const Runtime& runtime, int64_t chunk,
                       Bytes item) {
  const std::optional<Bytes> slot = runtime.form(algorithm.protocol).slot;
  const int64_t fit = slot ? slot->count() / item.count() : chunk;  // elements
  return {chunks_of_message(algorithm, runtime, item * chunk), std::min(fit, chunk)};
}

}  // namespace orrery
