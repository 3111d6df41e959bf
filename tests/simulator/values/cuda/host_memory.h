#pragma once

// Kernel calls carried out in host memory, their items in random order.

#include <cstddef>
#include <deque>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/random.h"
#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::test {

/// Carries out the calls one after another, each in random shares of its items. Checks that each
/// names a kernel and has its argument.
void carry_out(const std::vector<cuda::KernelCall>& calls, Random& random);

/// Places of arrays in host memory, at random multiples of their element's size, with a margin
/// whose bytes must stay.
class HostMemory {
 public:
  explicit HostMemory(Random& random) : random_(random) {}

  /// A place of so many bytes, of elements of `item` bytes; what it holds is random.
  cuda::DevicePointer place(int64_t size, int64_t item);
  /// That of a tensor's elements.
  cuda::DevicePointer place(const Tensor& tensor);

  /// The elements that are at a place now.
  Tensor read(cuda::DevicePointer place, Dtype dtype, const Shape& shape) const;

  /// Whether no byte beside the places has changed.
  bool margins_kept() const;

 private:
  struct Block {
    std::vector<std::byte> bytes;
    size_t begin;  // of the place
    size_t size;
    std::vector<std::byte> margins;  // as they were
  };
  static std::vector<std::byte> margins_of(const Block& block);

  Random& random_;
  std::deque<Block> blocks_;
};

/// Any bits: NaN of every payload, subnormals and infinities, and often small numbers. Pred is 0 or
/// 1.
Tensor random_bits(Dtype dtype, const Shape& shape, Random& random);

}  // namespace orrery::test
