#pragma once

// Says for which sizes an imported algorithm is judged, and how a runtime cuts its messages at
// them.
//
// The larger the chunks, the fewer fit a slot, and the more messages a step takes. A file is judged
// for all sizes that it is for, unless one is asked for. It hangs most easily at the largest size,
// where a message has the fewest chunks. So it is enough to know the fewest and the most chunks of
// a message.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "tools/import/msccl.h"
#include "tools/import/runtime.h"

namespace orrery {

/// Returns the most chunks of `chunk` bytes that one message holds: as many as fit a slot, within
/// the limit on counts, and at least one.
int64_t chunks_of_message(const MscclAlgorithm& algorithm, const Runtime& runtime, Bytes chunk);

/// Returns the largest chunk such that a message holds `chunks` of them. The result is empty if
/// messages are not cut. Requires at least 2 chunks, and no more than the limit on counts.
std::optional<Bytes> largest_chunk(const MscclAlgorithm& algorithm, const Runtime& runtime,
                                   int64_t chunks);

/// This says how a step's chunks become messages. Where several chunks fit a slot, a message has at
/// most `chunks` whole ones. Where not even one fits, it has `elements` elements of one chunk.
struct MscclCut {
  int64_t chunks = 1;
  int64_t elements = 1;  // of each chunk in a message
};
/// Cuts messages as the interpreter does: its outer loop goes over stretches of a slot, and a step
/// of several chunks takes chunks_of_message() at a time. A chunk has `chunk` elements of `item`
/// bytes.
MscclCut msccl_cut(const MscclAlgorithm& algorithm, const Runtime& runtime, int64_t chunk,
                   Bytes item);

constexpr Bytes kItem = Bytes(4);  // f32: sizes are in bytes, and chunks hold whole elements

class JudgedSizes {
 public:
  /// `asked` is a size of the whole buffer. If it is empty, all sizes are judged that the file is
  /// for. The algorithm and the runtime must outlive this object. Throws Overflow.
  JudgedSizes(const MscclAlgorithm& algorithm, const Runtime& runtime, std::optional<Bytes> asked);

  /// Returns the size for which times are computed and texts name bytes: the one asked for, else 1
  /// MiB or the nearest size that the file is for. It is rounded up to whole elements per chunk.
  Bytes size() const { return kItem * algorithm_.whole() * chunk_; }
  Bytes chunk() const { return kItem * chunk_; }  // at that size
  int64_t elements() const { return chunk_; }     // of a chunk at that size
  MscclCut cut() const { return msccl_cut(algorithm_, runtime_, chunk_, kItem); }

  /// fewest() returns the most chunks of a message at the largest of the sizes, and most() at the
  /// smallest. Both are from 1 to the chunks of the largest step. Fewer chunks per message never
  /// need fewer slots.
  int64_t fewest() const { return fewest_; }
  int64_t most() const { return most_; }

  /// Returns the sizes in words: "at 1 MiB", "at every size", "at every size from 64 B to 4 KiB".
  std::string text() const;
  /// Returns the sizes at which a message has at most `chunks` chunks: "at sizes above 2 MiB".
  std::string text_of_at_most(int64_t chunks) const;
  /// Returns sentences for the user: whether the file is for the size asked for, and how messages
  /// are cut.
  std::vector<std::string> notes() const;

 private:
  int64_t chunk_elements() const;
  std::string cut_text() const;

  const MscclAlgorithm& algorithm_;
  const Runtime& runtime_;
  std::optional<Bytes> asked_;
  int64_t chunk_ = 1;
  int64_t most_count_ = 1;  // chunks of a step
  int64_t fewest_ = 1;
  int64_t most_ = 1;
};

}  // namespace orrery
