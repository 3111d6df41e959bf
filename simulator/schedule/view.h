#pragma once

// Where a collective's canonical elements lie in a tensor. Schedules work on canonical elements:
// rank-major parts, each contiguous. A view says which element of the operand or result each one
// is.

#include <cstddef>
#include <cstdint>

#include "models/base/shared_list.h"

namespace orrery {

/// Canonical element i, split row-major over `dims`, lies at the sum of coordinate x stride in the
/// tensor. The dims' product is the number of canonical elements; the map is one to one.
struct View {
  SharedList<int64_t> dims;
  SharedList<int64_t> strides;

  /// The whole of a tensor of `elements` in its own order.
  static View whole(int64_t elements) { return {{elements}, {1}}; }

  int64_t elements() const;
  bool contiguous() const;  // canonical order is the tensor's order

  /// Calls run(canonical, tensor, count) for the maximal pieces of [first, first + count) that are
  /// contiguous in the tensor, in canonical order.
  template <class Run>
  void for_each_run(int64_t first, int64_t count, Run&& run) const;

  /// Canonical elements that lie side by side in the tensor: a run begins at every multiple. At
  /// least 1.
  int64_t inner_run() const;
  /// Where a canonical element lies in the tensor.
  int64_t offset(int64_t canonical) const;

  friend bool operator==(const View&, const View&) = default;
};

template <class Run>
void View::for_each_run(int64_t first, int64_t count, Run&& run) const {
  const int64_t inner = inner_run();
  int64_t at = first;
  while (at < first + count) {
    int64_t length = inner - at % inner;
    if (length > first + count - at)
      length = first + count - at;
    run(at, offset(at), length);
    at += length;
  }
}

}  // namespace orrery
