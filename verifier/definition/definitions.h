#pragma once

// This file defines each collective, independent of any schedule: it says which operand elements
// make each result element.
//
// A definition is a list of parts. A part is a set of result elements with the operand elements
// that make each of them, both by strides. So a definition does not grow with the number of
// elements: an all-gather over 8 ranks has 8 parts, whatever its shape. Values (apply) and proofs
// (verifier/prove) follow from the parts. The rules of a collective state its form
// (models/program/rules.h): whether it folds or moves, whole operands or one part per rank, and
// from which member. The parts follow from the form. So a new collective of a known form needs no
// definition here.

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "models/array/combine.h"
#include "models/array/tensor.h"
#include "models/array/work.h"
#include "models/base/id.h"
#include "models/program/op.h"
#include "models/program/ragged.h"

namespace orrery {

/// A dimension of `count` elements. Each lies further on than the one before: by `result` elements
/// in the result, and by `operand` elements in the operands.
struct PartDim {
  int64_t count = 1;
  int64_t result = 1;
  int64_t operand = 1;
  friend bool operator==(const PartDim&, const PartDim&) = default;
};

/// For each index over `dims`, the result element at `first` plus index x stride is a fold. It
/// folds the operand elements at `source` plus index x stride of the ranks [rank, rank + ranks). If
/// `ranks` is 0, the element is zero. Elements are row-major offsets; strides are not negative.
struct Part {
  int64_t first = 0;
  int64_t source = 0;
  Rank rank;
  uint32_t ranks = 0;
  std::vector<PartDim> dims;  // outermost first
  friend bool operator==(const Part&, const Part&) = default;

  int64_t elements() const;
  /// Returns the largest offsets. Requires that there is an element.
  int64_t last_first() const;
  int64_t last_source() const;

  /// Calls run(first, source, count) for stretches that are contiguous in result and operands, in
  /// index order. Stops after a run that returns false.
  template <class Run>
  void for_each_run(Run&& run) const;
};

/// Returns the same elements in the same order with as few dimensions as possible: dimensions that
/// continue each other are joined. A part without elements keeps a count of 0.
std::vector<PartDim> joined(std::vector<PartDim> dims);

/// This is the result of one rank: every element is in one part. There is one part for each
/// different fold (the ranks that contribute), however many elements there are.
struct Definition {
  Combine combine = Combine::None;  // with None, a part has at most one rank
  std::vector<Part> parts;
  /// Says how a result element is made from its fold. The lowest rank is that whose element equals
  /// the fold; it is 2147483647 where none does, as with NaN.
  Leaving leaving = Leaving::Same;
  friend bool operator==(const Definition&, const Definition&) = default;
};

/// Returns whether the order of a fold can change its value: sums of floats round. With XlaCpu the
/// first of +0 and -0 is the extremum.
bool depends_on_order(const Definition& definition, Dtype operand,
                      Numerics numerics = Numerics::Ieee);

/// Returns each element as a mean over so many ranks: divided by the number, and rounded once. With
/// XlaCpu models/array/work.h says how it is rounded. Requires floats.
Tensor mean(const Tensor& sums, int64_t ranks, Numerics numerics = Numerics::Ieee);

/// Returns the definition of collective `op` for `rank` of a group of `group_size`. `operand` is
/// the shape of its operand; several operands count as one, one after another (exchanged_types).
/// Requires an op that satisfies its type rule. An exchange by tables requires those of the group,
/// which agree (verifier/ragged/ragged_tables.h).
Definition define(const Op& op, const Shape& operand, uint32_t group_size, Rank rank,
                  const RaggedGroup* tables = nullptr);

/// Definitions are those of all ranks of a group, as define() gives them. Ranks one after another
/// with equal definitions share one.
class Definitions {
 public:
  /// Requires that `op`, and `tables` if there are any, outlive it.
  Definitions(const Op& op, Shape operand, uint32_t group_size,
              const RaggedGroup* tables = nullptr);

  const std::shared_ptr<const Definition>& of(Rank rank);

 private:
  const Op& op_;
  Shape operand_;
  uint32_t group_size_;
  const RaggedGroup* tables_;
  bool alike_;  // all ranks have the same
  Rank rank_;   // of the last one
  std::shared_ptr<const Definition> last_;
};

/// Returns the values by the definition, as a tensor of `dtype` and `shape`. `operands` has one
/// tensor per rank, all of one dtype. Folds run from the left in rank order, each step rounded to
/// that dtype; pred adds as s32. With XlaCpu models/array/work.h says where folds start and how
/// they are held.
Tensor apply(const Definition& definition, std::span<const Tensor* const> operands, Dtype dtype,
             const Shape& shape, Numerics numerics = Numerics::Ieee);

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
