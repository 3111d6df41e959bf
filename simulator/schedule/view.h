#pragma once

// A View says where a collective's canonical elements lie in a tensor. Schedules work on canonical
// elements: rank-major parts, each contiguous. A view says which element of the operand or result
// each canonical element is.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>

#include "models/array/shape.h"
#include "models/base/shared_list.h"
#include "models/program/op.h"

namespace orrery {

/// Canonical element i has a row-major index over `dims`. Its offset in the tensor is the sum of
/// coordinate x stride. The product of the dims is the number of canonical elements, and no two
/// have the same offset.
struct View {
  SharedList<int64_t> dims;
  SharedList<int64_t> strides;

  /// Returns the view of a whole tensor of `elements` in its own order.
  static View whole(int64_t elements) { return {{elements}, {1}}; }

  int64_t elements() const;
  bool contiguous() const;  // canonical order is the tensor's order

  /// Calls run(canonical, tensor, count) for the maximal pieces of [first, first + count) that are
  /// contiguous in the tensor, in canonical order.
  template <class Run>
  void for_each_run(int64_t first, int64_t count, Run&& run) const;

  /// Returns how many successive canonical elements are contiguous in the tensor; such a run begins
  /// at every multiple of that number. The result is at least 1.
  int64_t inner_run() const;
  /// Returns the offset of a canonical element in the tensor.
  int64_t offset(int64_t canonical) const;

  friend bool operator==(const View&, const View&) = default;
};

template <class Run>
void View::for_each_run(int64_t first, int64_t count, Run&& run) const {
  const int64_t inner = inner_run();
  int64_t at = first;
  while (at < first + count) {
    const int64_t length = std::min(inner - at % inner, first + count - at);
    run(at, offset(at), length);
    at += length;
  }
}

// The rest of this file makes the views of a collective's operand and result. In a tensor with a
// part per rank, rank q's part is the q-th in canonical order. It is contiguous there, and
// row-major over the part's own shape. So both ends of an exchange agree on the order in a part.

/// TensorParts has all that a view depends on: the tensor consists of `blocks` blocks, and each
/// block has a run of every part, one part after another.
struct TensorParts {
  int64_t elements = 0;
  int64_t parts = 1;
  int64_t blocks = 1;
  friend auto operator<=>(const TensorParts&, const TensorParts&) = default;
};

View view(const TensorParts& parts);

struct CollectiveParts {
  TensorParts operand;
  TensorParts result;
  friend auto operator<=>(const CollectiveParts&, const CollectiveParts&) = default;
};

/// Returns the parts of a collective op whose operand and result have these local shapes, in a
/// group of `group_size`. Its rules (CollectiveForm) say whether each is whole or has a part per
/// rank.
CollectiveParts collective_parts(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size);

struct CollectiveViews {
  View input;   // of the operand
  View output;  // of the result
};
CollectiveViews collective_views(const Op& op, const Shape& operand, const Shape& result,
                                 int64_t group_size);

}  // namespace orrery
