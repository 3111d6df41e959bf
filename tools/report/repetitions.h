#pragma once

// Blocks that follow one another and are alike, such as the layers of a model that are written out:
// a text report shows them once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/op_entries.h"

namespace orrery {

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
