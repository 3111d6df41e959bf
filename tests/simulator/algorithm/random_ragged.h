#pragma once

// Converts random ragged exchanges to the slices of a schedule.

#include "models/base/random.h"
#include "simulator/algorithm/algorithms.h"
#include "tests/models/program/random_tables.h"

namespace orrery::test {

inline RaggedSlices slices_of(const RaggedGroup& group, int64_t row) {
  return {static_cast<uint32_t>(group.ranks.size()), group.operand_rows * row,
          group.output_rows * row, exchanged_slices(group, row)};
}

inline RaggedSlices random_ragged(Random& random, uint32_t nodes) {
  return slices_of(random_tables(random, nodes, 1 + random.below(3), 4), random.between(1, 3));
}

}  // namespace orrery::test
