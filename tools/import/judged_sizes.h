#pragma once

// The sizes for which an imported algorithm is judged, and how its messages are cut at them.
// Without a size that was asked for, these are all sizes that the file is for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "tools/import/message_cut.h"
#include "tools/import/msccl.h"
#include "tools/import/runtime.h"

namespace orrery {

constexpr Bytes kItem = Bytes(4);  // f32: sizes are in bytes, and chunks hold whole elements

class JudgedSizes {
 public:
  /// `asked` is of the whole buffer; empty: every size that the file is for. The algorithm and the
  /// runtime must outlive this. Throws Overflow.
  JudgedSizes(const MscclAlgorithm& algorithm, const Runtime& runtime, std::optional<Bytes> asked);

  /// The one size of times and texts, rounded up to whole elements a chunk: the size asked for,
  /// else 1 MiB or the nearest size that the file is for.
  Bytes size() const { return kItem * algorithm_.whole() * chunk_; }
  Bytes chunk() const { return kItem * chunk_; }  // at that size
  int64_t elements() const { return chunk_; }     // of a chunk at that size
  MessageCut cut() const { return message_cut(algorithm_, runtime_, chunk_, kItem); }

  /// The chunks of a message at the largest of the sizes, and at the smallest: at least 1, at most
  /// those of the step that has most. With fewer chunks a message, more slots are needed, or as
  /// many.
  int64_t fewest() const { return fewest_; }
  int64_t most() const { return most_; }

  /// "at 1 MiB", "at every size", "at every size from 64 B to 4 KiB".
  std::string text() const;
  /// Those of the sizes at which a message has at most `chunks`: "at sizes above 2 MiB", or all.
  std::string text_of_at_most(int64_t chunks) const;
  /// Whether the size asked for is one that the file is for, and how messages are cut.
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
