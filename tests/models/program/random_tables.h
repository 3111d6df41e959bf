#pragma once

// Makes random, consistent tables of ragged exchanges.

#include <algorithm>
#include <utility>
#include <vector>

#include "models/base/random.h"
#include "models/program/ragged.h"

namespace orrery::test {

/// Returns tables with `slices` slices from each rank to each rank. A slice has no rows with
/// odds of one in three, else up to `most`. In a result, slices lie in random order and may have
/// gaps between them. In an operand they lie anywhere, and may overlap.
inline RaggedGroup random_tables(Random& random, size_t ranks, size_t slices, int64_t most) {
  RaggedGroup group = without_slices({ranks, ranks * slices, 0, 1});
  for (SliceTables& sender : group.ranks)
    for (int64_t& rows : sender.send_sizes) {
      rows = random.below(3) == 0 ? 0 : random.between(0, most);
      group.operand_rows = std::max(group.operand_rows, rows);
    }
  group.operand_rows += random.between(1, 4);
  for (size_t to = 0; to < ranks; ++to) {
    std::vector<std::pair<size_t, size_t>> order;  // sender and slice
    for (size_t from = 0; from < ranks; ++from)
      for (size_t slice = 0; slice < slices; ++slice)
        order.emplace_back(from, slice);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
    int64_t at = random.between(0, 1);
    for (const auto& [from, slice] : order) {
      SliceTables& sender = group.ranks[from];
      const size_t entry = group.entry(to, slice);
      const int64_t rows = sender.send_sizes[entry];
      group.ranks[to].recv_sizes[group.entry(from, slice)] = rows;
      sender.input_offsets[entry] = random.between(0, group.operand_rows - rows);
      sender.output_offsets[entry] = at;
      at += rows + random.between(0, 1);
    }
    group.output_rows = std::max(group.output_rows, at);
  }
  return group;
}

/// Returns the result of each rank, by point-to-point copies as the documentation of JAX writes
/// them. `operands` and `outputs` hold the rows of each rank.
template <class Row>
std::vector<std::vector<Row>> point_to_point(const RaggedGroup& group,
                                             const std::vector<std::vector<Row>>& operands,
                                             const std::vector<std::vector<Row>>& outputs) {
  std::vector<std::vector<Row>> results = outputs;
  for (size_t from = 0; from < group.ranks.size(); ++from) {
    const SliceTables& tables = group.ranks[from];
    for (size_t i = 0; i < tables.send_sizes.size(); ++i)
      for (int64_t row = 0; row < tables.send_sizes[i]; ++row)
        results[i / group.slices_for_each()][static_cast<size_t>(tables.output_offsets[i] + row)] =
            operands[from][static_cast<size_t>(tables.input_offsets[i] + row)];
  }
  return results;
}

}  // namespace orrery::test
