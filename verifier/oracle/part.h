#pragma once

// A part of a result, by strides: its elements, and the operand elements that make each of them. A
// part stands for any number of elements, so definitions do not grow with them.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "models/base/id.h"

namespace orrery {

/// `count` elements, each so much further on in the result and in the operands than the one before.
struct PartDim {
  int64_t count = 1;
  int64_t result = 1;
  int64_t operand = 1;
  friend bool operator==(const PartDim&, const PartDim&) = default;
};

/// For each index over `dims`: the result element at `first` plus index x stride is the fold of the
/// operand elements at `source` plus index x stride of the ranks [rank, rank + ranks). No ranks:
/// zeros. Elements are row-major offsets; strides are not negative.
struct Part {
  int64_t first = 0;
  int64_t source = 0;
  Rank rank;
  uint32_t ranks = 0;
  std::vector<PartDim> dims;  // outermost first
  friend bool operator==(const Part&, const Part&) = default;

  int64_t elements() const;
  /// The largest offsets. Requires an element.
  int64_t last_first() const;
  int64_t last_source() const;

  /// Calls run(first, source, count) for stretches that are contiguous in result and operands, in
  /// index order. Stops after a run that returns false.
  template <class Run>
  void for_each_run(Run&& run) const;
};

/// The same elements in the same order with as few dimensions as possible: dimensions that continue
/// each other are joined. A part without elements keeps a count of 0.
std::vector<PartDim> joined(const std::vector<PartDim>& dims);

template <class Run>
void Part::for_each_run(Run&& run) const {
  if (elements() == 0)
    return;
  const bool side_by_side =
      !dims.empty() && dims.back().result == 1 && (dims.back().operand == 1 || ranks == 0);
  const int64_t count = side_by_side ? dims.back().count : 1;
  const size_t outer = dims.size() - (side_by_side ? 1 : 0);
  std::vector<int64_t> index(outer, 0);
  int64_t to = first;
  int64_t from = source;
  while (true) {
    if constexpr (std::is_same_v<decltype(run(to, from, count)), bool>) {
      if (!run(to, from, count))
        return;
    } else {
      run(to, from, count);
    }
    size_t d = outer;
    while (d > 0 && ++index[d - 1] == dims[d - 1].count) {
      --d;
      index[d] = 0;
      to -= (dims[d].count - 1) * dims[d].result;
      from -= (dims[d].count - 1) * dims[d].operand;
    }
    if (d == 0)
      return;
    to += dims[d - 1].result;
    from += dims[d - 1].operand;
  }
}

}  // namespace orrery
