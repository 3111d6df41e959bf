#pragma once

// Which input elements each output element is made of: the walk with sets of contributions in the
// place of numbers. What it proves holds for all values of all dtypes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/verdict.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Element j of a piece that begins at `first` is made of input element source + (j - first) of
/// each of the ranks [rank, rank + ranks), `times` times each.
struct Contribution {
  Rank rank;
  uint32_t ranks = 1;
  int64_t source = 0;
  uint32_t times = 1;
  friend auto operator<=>(const Contribution&, const Contribution&) = default;
};

/// Elements [first, first + count) of an area, all made alike; `made_of` is sorted and as short as
/// can be. Empty `made_of`: zeros, or for `undefined` pieces never written.
struct Piece {
  int64_t first = 0;
  int64_t count = 0;
  bool undefined = false;
  std::vector<Contribution> made_of;
  friend bool operator==(const Piece&, const Piece&) = default;
};

struct ProvenanceRun {
  /// Per node: the pieces of the output area (of the input area for an in-place schedule),
  /// ascending, covering it, neighbours merged where they are made alike.
  std::vector<std::vector<Piece>> outputs;
  Digest digest;
  std::vector<struct Parked> stuck;    // channels that could not go on
  std::optional<std::string> misread;  // a step combined or sent elements that nothing had written
};

/// Walks `schedule` once with all nodes entering. Every node's input element j begins as its own.
ProvenanceRun provenance(const Schedule& schedule, CollectiveId id, Bytes itemsize);

}  // namespace orrery
