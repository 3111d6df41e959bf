#pragma once

// Takes a tensor as a batch of entries.

#include <functional>
#include <vector>

#include "models/array/kernels.h"

namespace orrery::test {

/// Returns entry `b` of the batch along `dimension`.
inline Tensor entry(const Tensor& batch, int64_t dimension, int64_t b) {
  SliceBounds bounds{std::vector<int64_t>(batch.shape().rank(), 0),
                     {batch.shape().dims().begin(), batch.shape().dims().end()},
                     {}};
  const auto d = static_cast<size_t>(dimension);
  bounds.start[d] = b;
  bounds.limit[d] = b + 1;
  return reshape(slice(batch, bounds), batch.shape().without(d));
}

inline Tensor stacked(const std::vector<Tensor>& entries, int64_t dimension) {
  const auto d = static_cast<size_t>(dimension);
  std::vector<Tensor> thick;
  for (const Tensor& each : entries)
    thick.push_back(reshape(each, each.shape().inserted(d, 1)));
  std::vector<std::reference_wrapper<const Tensor>> parts(thick.begin(), thick.end());
  return concatenate(parts, d);
}

}  // namespace orrery::test
