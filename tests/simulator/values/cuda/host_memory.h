#pragma once

// Runs kernel calls in host memory, with their items in random order.

#include <cstddef>
#include <deque>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/random.h"
#include "simulator/values/cuda/kernels/kernels.h"

namespace orrery::test {

/// Runs the calls one after another, each in random shares of its items. Checks that each call
/// names a kernel and has the kernel's argument.
void carry_out(const std::vector<cuda::KernelCall>& calls, Random& random);

/// A `HostMemory` places arrays in host memory, at random multiples of their element's size. Each
/// has a margin whose bytes must not change.
class HostMemory {
 public:
  explicit HostMemory(Random& random) : random_(random) {}

  /// Returns a place of `size` bytes, for elements of `item` bytes. Its contents are random.
  cuda::DevicePointer place(int64_t size, int64_t item);
  /// Returns a place that holds a tensor's elements.
  cuda::DevicePointer place(const Tensor& tensor);

  /// Returns the elements that are at a place now.
  Tensor read(cuda::DevicePointer place, Dtype dtype, const Shape& shape) const;

  /// Returns whether all bytes of the margins are unchanged.
  bool margins_kept() const;

 private:
  struct Block {
    std::vector<std::byte> bytes;
    size_t begin;  // of the place
    size_t size;
    std::vector<std::byte> margins;  // bytes of the margins, as they were
  };
  static std::vector<std::byte> margins_of(const Block& block);

  Random& random_;
  std::deque<Block> blocks_;
};

/// Returns elements of any bits: NaNs of every payload, subnormals and infinities, and often small
/// numbers. Elements of pred are 0 or 1.
Tensor random_bits(Dtype dtype, const Shape& shape, Random& random);

}  // namespace orrery::test
