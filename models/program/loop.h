#pragma once

// The loops of a Program. A loop of few iterations is written out. A loop of many keeps the first
// iterations and the last; those between may be left out. Each of these equals the last one, with
// every name of an earlier iteration shifted accordingly. So the memory of a program does not grow
// with the iterations. A program that leaves out all that it may is called folded.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/id.h"

namespace orrery {

/// Ids from `begin` to before `end`, in order.
struct IdRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  uint32_t size() const { return end - begin; }
  bool has(size_t id) const { return begin <= id && id < end; }
};

/// What one iteration adds to the program, inner loops included.
struct LoopIteration {
  int64_t index = 0;        // of the loop's variable
  std::string name;         // "l[3]"; of an inner loop "outer[0].l[3]"
  std::string site_suffix;  // of the sites that ops name: "[3]", "[0][3]"
  IdRange ops;              // consecutive in the issue order of the loop's thread too
  IdRange values;
  IdRange buffers;
};

/// A loop of a program, or a part of its iterations: a loop is in parts where the scenario names
/// single iterations (models/scenario/long_loops.h). They have one name and follow each other.
struct Loop {
  std::string name;  // "l", "outer[0].l"
  ThreadId thread;
  int64_t lower = 0;                   // the first index
  int64_t upper = 0;                   // one past the last
  bool has_index = false;              // the first op of an iteration is the constant index
  std::vector<LoopIteration> written;  // ascending; at least one
  /// With a window, the iterations from number `first` (from 0) to before the last `window` ones
  /// are alike, and may be left out. Each of them, and each of the window, is a copy of the last
  /// iteration: it has the same ops and types, and reads values of at most the `window` - 1
  /// iterations before it. Without a window, `window` is 0, and every iteration is written.
  uint32_t first = 0;
  uint32_t window = 0;

  uint64_t trips() const { return static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower); }
  uint64_t left_out() const { return trips() - written.size(); }
  const LoopIteration& last() const { return written.back(); }
  /// The index in `written` of the window's first iteration.
  size_t window_begin() const { return written.size() - window; }
};

}  // namespace orrery
