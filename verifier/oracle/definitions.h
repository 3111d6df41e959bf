#pragma once

// The definition of each collective, independent of any schedule: which operand elements make each
// result element. Values (apply) and proofs (verifier/prove) both follow from it. A new collective
// is defined here, and nowhere else in the verifier.

#include <cstdint>
#include <span>
#include <vector>

#include "models/array/combine.h"
#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/program/op.h"
#include "models/program/ragged.h"
#include "verifier/oracle/part.h"

namespace orrery {

/// How a result element is made of its fold.
enum class Gives : uint8_t {
  Fold,
  Mean,        // the fold, converted to the result's dtype, divided by the number of ranks
  LowestRank,  // the lowest rank whose element equals the fold; 2147483647 where none does, as with
               // NaN
};

/// The result of one rank: every element is in one part. There is one part for each different fold
/// (the ranks that contribute), however many elements there are.
struct Definition {
  Combine combine = Combine::None;  // with None, a part has at most one rank
  std::vector<Part> parts;
  Gives gives = Gives::Fold;
  friend bool operator==(const Definition&, const Definition&) = default;
};

/// Whether the order of a fold can change its value: sums of floats round. By XlaCpu the first of
/// +0 and -0 is the extremum.
bool depends_on_order(const Definition& definition, Dtype operand,
                      Numerics numerics = Numerics::Ieee);

/// Each element as a mean over so many ranks: divided by the number, rounded once; by XlaCpu as
/// models/array/work.h says. Requires floats.
Tensor mean(const Tensor& sums, int64_t ranks, Numerics numerics = Numerics::Ieee);

/// The definition of collective `op` for `rank` of a group of `group_size`, whose operands have the
/// shape `operand`; of several operands, one after another, all together (exchanged_types).
/// Requires an op that satisfies its type rule, and of an exchange by tables those of the group,
/// which agree (verifier/ragged/ragged_tables.h).
Definition define(const Op& op, const Shape& operand, uint32_t group_size, Rank rank,
                  const RaggedGroup* tables = nullptr);

/// The values by the definition, as a tensor of `dtype` and `shape`. `operands` has one tensor per
/// rank, all of one dtype. Folds run from the left in rank order, each step rounded to that dtype;
/// pred adds as s32. By XlaCpu they start, and are kept, as models/array/work.h says.
Tensor apply(const Definition& definition, std::span<const Tensor* const> operands, Dtype dtype,
             const Shape& shape, Numerics numerics = Numerics::Ieee);

}  // namespace orrery
