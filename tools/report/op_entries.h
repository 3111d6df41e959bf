#pragma once

// The ops of a report as it shows them: one entry for each op, one for all iterations of an op of a
// loop's body, and one for ops that repeat in blocks, such as the layers of a model that are
// written out.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verifier/report.h"

namespace orrery {

struct OpEntry {
  std::string id;  // the op's name; in a loop without the indices: "l[].s"
  ThreadId thread;
  std::vector<const OpReport*> runs;  // at least one, in issue order
  std::string loop;                   // that it is in: "l[]"; empty outside loops
  uint64_t iterations = 1;            // those that are left out included
  /// How much later the last iteration began than the one before it. Empty without times, and for
  /// one iteration.
  std::optional<Duration> period;
  uint64_t messages = 0;  // of all iterations
  /// Those whose results are outputs or in an expectation, without the first and the last run.
  std::vector<const OpReport*> named = {};

  const OpReport& first() const { return *runs.front(); }
  const OpReport& last() const { return *runs.back(); }
};

/// In the order of the report's ops; in a loop that of its first iteration. Refers to the report.
std::vector<OpEntry> op_entries(const Report& report);

struct RepeatedBlock {
  size_t begin = 0;   // of the first block
  size_t length = 0;  // of each
  size_t times = 0;
  size_t end() const { return begin + length * times; }
  friend bool operator==(const RepeatedBlock&, const RepeatedBlock&) = default;
};

/// Where a block of at most 256 items comes three times or more in a row, and showing it once saves
/// at least 8 lines. In order and disjoint; from the front, the one that covers most, of these the
/// shortest. Equal items have equal numbers.
std::vector<RepeatedBlock> repeated_blocks(std::span<const uint32_t> items);

/// "layer*.w1" for "layer0.w1" and "layer79.w1": of ids that differ in numbers only, these are
/// starred. Of others, "w*.c" for "wa.c" and "wb.c": all between what they begin and end with
/// alike. Requires an id.
std::string common_id(std::span<const std::string_view> ids);

/// The entries of a report with repeated blocks shown once. Ops of a block are alike if they are of
/// one kind, size and algorithm, and their ids differ in numbers only. Where no such blocks are,
/// ids may also differ otherwise, if they begin or end alike. Their times may differ: what is shown
/// of them says so.
struct FoldedEntries {
  struct Block {
    size_t begin = 0;   // in `entries`
    size_t length = 0;  // how many of them
    size_t times = 0;
  };
  std::vector<OpEntry> entries;  // of a block: with the runs of all its times
  std::vector<Block> blocks;
};
FoldedEntries folded_entries(std::vector<OpEntry> entries, const Report& report);

/// One entry for each op that the report has.
FoldedEntries single_entries(const Report& report);

}  // namespace orrery
