#pragma once

// Which elements of an array are its extremum, as the backward passes of reduce_max and reduce_min
// ask: eq(x, broadcast_in_dim(reduce_max(x))). A comparison with a rounded float that is equal
// decides nothing (discrete_bounds.h). But of a slice in which one element alone may be the
// extremum, that element is it, whatever its error.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/program/program.h"

namespace orrery {

class OwnExtrema {
 public:
  /// The program must outlive it.
  explicit OwnExtrema(const Program& program);

  /// Where `op` compares its first operand with the operand's own extremum: the dimensions that
  /// this was reduced along.
  std::optional<std::vector<int64_t>> axes(const Op& op) const;

 private:
  /// The op of this kind that makes the value, if one does.
  const Op* maker(ValueId value, OpKind kind) const;

  const Program& program_;
  std::vector<std::optional<OpId>> made_by_;  // by value
};

/// The bound of such a comparison, `bound`, with what is known of the only element of a slice that
/// it leaves open. `is_extremum` is the computed result, `error` the bound of the compared array.
Tensor with_known_extrema(Tensor bound, const Tensor& is_extremum, const Tensor& error,
                          const std::vector<int64_t>& axes);

}  // namespace orrery
