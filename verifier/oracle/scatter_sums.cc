#include "verifier/oracle/scatter_sums.h"

#include <algorithm>

#include "models/array/kernels.h"
#include "verifier/oracle/bound_tensor.h"

namespace orrery {

ScatterSums scatter_sums(const Op& op, const std::vector<const Tensor*>& values,
                         const std::vector<const Tensor*>& errors) {
  const auto axis = static_cast<size_t>(op.attributes.integer("axis"));
  const OutOfRange mode =
      op.attributes.text("mode") == "clip" ? OutOfRange::Clip : OutOfRange::Fill;
  const auto into = [&](const Tensor& operand, const Tensor& updates) {
    return scatter_add(operand, updates, *values[2], axis, mode);
  };
  ScatterSums sums{
      into(magnitudes(*values[0]), magnitudes(*values[1])), into(*errors[0], *errors[1]),
      into(Tensor(Dtype::F64, values[0]->shape()), full(Dtype::F64, values[1]->shape(), 1))};
  if (!all_zero(*errors[2]))
    std::ranges::fill(sums.carried.as<double>(), kNoBound);
  return sums;
}

}  // namespace orrery
