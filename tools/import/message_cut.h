#pragma once

// How a runtime cuts the messages of an imported algorithm. The larger the chunks, the fewer fit a
// slot, and the more slots the messages of a step take.

#include <cstdint>
#include <optional>

#include "models/base/quantity.h"
#include "tools/import/msccl.h"
#include "tools/import/runtime.h"

namespace orrery {

/// The most chunks of one message, each of `chunk` bytes: as many as fit a slot, below the limit on
/// counts, and at least one.
int64_t chunks_of_message(const MscclAlgorithm& algorithm, const Runtime& runtime, Bytes chunk);

/// The largest chunk with which a message holds `chunks`, which is at least 2 and not above the
/// limit on counts. Empty: messages are not cut.
std::optional<Bytes> largest_chunk(const MscclAlgorithm& algorithm, const Runtime& runtime,
                                   int64_t chunks);

/// How a step's chunks become messages: each of at most `chunks` chunks, or of a stretch of
/// `elements` elements of one chunk. One of the two is 1 or all.
struct MessageCut {
  int64_t chunks = 1;    // the most of one message
  int64_t elements = 1;  // of each of its chunks
};
/// By the interpreter: its outer loop goes over stretches of a slot, and a step of several chunks
/// takes chunks_of_message() at a time. `chunk` elements of `item`.
MessageCut message_cut(const MscclAlgorithm& algorithm, const Runtime& runtime, int64_t chunk,
                       Bytes item);

}  // namespace orrery
