#pragma once

// Groups the ops of a report as it shows them. Each op has an entry, and an op of a loop's body has
// one for all its iterations. Ops that repeat in blocks, such as layers that are written out, share
// entries.

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
  uint64_t iterations = 1;            // with those that are left out
  /// How much later the last iteration began than the one before it; empty without times, and for
  /// one iteration.
  std::optional<Duration> period;
  uint64_t messages = 0;  // of all iterations
  /// The runs between the first and the last whose results are outputs or in an expectation.
  std::vector<const OpReport*> named = {};

  const OpReport& first() const { return *runs.front(); }
  const OpReport& last() const { return *runs.back(); }
};

/// Returns the reshard that the op is a part of, by its index in the program.
std::optional<uint32_t> reshard_of(const OpEntry& entry, const Report& report);
/// Returns "spmd_to_mpmd_reshard" or "mpmd_to_spmd_reshard".
std::string_view op_name(Reshard::To to);

/// Returns the transfer groups of a reshard, its threshold and its memory, for a report.
std::string reshard_text(const Report& report, const ReshardReport& of);

/// Returns the entries in the order of the report's ops. An op of a loop is at the place of its
/// first iteration. The entries refer to the report.
std::vector<OpEntry> op_entries(const Report& report);

struct RepeatedBlock {
  size_t begin = 0;   // of the first block
  size_t length = 0;  // of each
  size_t times = 0;
  size_t end() const { return begin + length * times; }
  friend bool operator==(const RepeatedBlock&, const RepeatedBlock&) = default;
};

/// Finds blocks of at most 256 items that come three times or more in a row, if showing them once
/// saves at least 8 lines. Equal items have equal numbers. The blocks are disjoint and in order.
/// They are chosen from the front: the one that covers most, and the shortest on a tie.
std::vector<RepeatedBlock> repeated_blocks(std::span<const uint32_t> items);

/// The entries of a report with repeated blocks shown once. Ops are alike if they have the same
/// kind, size and algorithm, and their ids differ in numbers only. Where there are no such blocks,
/// ids may differ otherwise too, as long as they begin or end alike. Times may differ, and the
/// texts say so.
struct GroupedEntries {
  struct Block {
    size_t begin = 0;   // in `entries`
    size_t length = 0;  // how many of them
    size_t times = 0;
  };
  std::vector<OpEntry> entries;  // an entry of a block has the runs of all its repetitions
  std::vector<Block> blocks;
};
GroupedEntries grouped_entries(std::vector<OpEntry> entries, const Report& report);

/// Returns one entry for each op that the report has.
GroupedEntries single_entries(const Report& report);

}  // namespace orrery
