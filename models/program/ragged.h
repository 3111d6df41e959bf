#pragma once

// A ragged_all_to_all exchanges slices whose sizes are values of the program. The sizes are worked
// out, or assumed, before anything is lowered (verifier/ragged/ragged_tables.h). The tables of the
// slices lie beside the program. Lowering makes schedules from the tables, and definitions follow
// from them.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/id.h"

namespace orrery {

/// SliceTables are the four tables of one rank. Entry i of each describes slice i % m of the slices
/// that the rank exchanges with rank i / m, where m is the number of slices for each rank. All
/// count rows, which are indices of the first dimension.
struct SliceTables {
  std::vector<int64_t> input_offsets;   // where in the own operand a slice to send begins
  std::vector<int64_t> send_sizes;      // how many rows it has
  std::vector<int64_t> output_offsets;  // where it begins in the RECEIVER's result
  std::vector<int64_t> recv_sizes;      // how many rows come in
  friend bool operator==(const SliceTables&, const SliceTables&) = default;
  friend auto operator<=>(const SliceTables&, const SliceTables&) = default;
};

/// Makes the tables from the values of the four table operands, in their order.
SliceTables slice_tables(std::span<const Tensor* const> operands);

/// A RaggedGroup is a group of ranks with their tables. All tables have one length, a multiple of
/// the number of ranks.
struct RaggedGroup {
  int64_t operand_rows = 0;
  int64_t output_rows = 0;
  std::vector<SliceTables> ranks;
  friend bool operator==(const RaggedGroup&, const RaggedGroup&) = default;
  friend auto operator<=>(const RaggedGroup&, const RaggedGroup&) = default;

  /// Returns the number of slices from each rank to each.
  size_t slices_for_each() const { return ranks.front().send_sizes.size() / ranks.size(); }
  /// Returns the entry of slice `slice` in the tables of a rank that exchanges it with `peer`.
  size_t entry(size_t peer, size_t slice) const { return peer * slices_for_each() + slice; }
  /// Returns the most rows that one rank sends, its slices for itself included.
  int64_t most_sent() const;
};

/// SiteTables are the tables of a site.
struct SiteTables {
  bool assumed = false;             // by assume_sizes
  std::vector<RaggedGroup> groups;  // one for each group of the site
  friend bool operator==(const SiteTables&, const SiteTables&) = default;
  friend auto operator<=>(const SiteTables&, const SiteTables&) = default;
};

/// RaggedTables has the tables of the sites of a program that exchange by tables
/// (CollectiveForm::by_tables). Sites with equal tables share them.
using RaggedTables = std::map<SiteId, std::shared_ptr<const SiteTables>>;

/// A RaggedExtent has the extents that sizes by assume_sizes must fit.
struct RaggedExtent {
  size_t ranks = 1;
  size_t entries = 1;  // numbers in a table
  int64_t operand_rows = 0;
  int64_t output_rows = 0;
};

/// AssumedSizes are row counts by assume_sizes. There is one list for all ranks, or one for each
/// rank. A list has one number for all slices, or one for each slice. So `sizes` has 1 or `ranks`
/// lists of 1 or `entries` numbers.
class AssumedSizes {
 public:
  AssumedSizes(const std::vector<std::vector<int64_t>>& sizes, RaggedExtent of)
      : sizes_(sizes), of_(of) {}

  int64_t sent(size_t rank, size_t entry) const {
    const std::vector<int64_t>& list = sizes_[sizes_.size() == 1 ? 0 : rank];
    return list[list.size() == 1 ? 0 : entry];
  }
  /// Returns the group whose slices lie one after another: in operands in the order of their
  /// receivers, in results in the order of their senders. Requires that the rows that a rank sends
  /// and receives fit its operand and its result.
  RaggedGroup group() const;

 private:
  const std::vector<std::vector<int64_t>>& sizes_;
  const RaggedExtent of_;
};

/// Returns such lists of the rows that each rank receives. Entry i of a rank's list is the number
/// of rows that rank i / m sends it in slice i % m. So these are the sizes of the exchange that
/// brings all slices back.
std::vector<std::vector<int64_t>> received_sizes(const std::vector<std::vector<int64_t>>& sizes,
                                                 RaggedExtent of);

/// Returns a group that exchanges nothing.
RaggedGroup without_slices(RaggedExtent of);

}  // namespace orrery
