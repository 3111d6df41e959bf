#include "tests/simulator/values/cuda/host_memory.h"

#include <algorithm>
#include <cstring>

#include <doctest/doctest.h>

#include "simulator/values/cuda/kernels/kernels.h"
#include "tests/models/array/random_tensors.h"

namespace orrery::test {

void carry_out(const std::vector<cuda::KernelCall>& calls, Random& random) {
  for (const cuda::KernelCall& call : calls) {
    const cuda::HostKernel* const kernel = cuda::host_kernel(cuda::entry_point(call.kernel));
    REQUIRE(kernel != nullptr);
    REQUIRE(kernel->argument_size == call.argument.size());
    REQUIRE(call.items > 0);
    // This copies the argument to an address that is aligned for any type.
    std::vector<std::max_align_t> argument(call.argument.size() / sizeof(std::max_align_t) + 1);
    std::memcpy(argument.data(), call.argument.data(), call.argument.size());
    const int64_t shares = random.between(1, 7);
    std::vector<int64_t> order;
    for (int64_t share = 0; share < shares; ++share)
      order.insert(order.begin() + random.between(0, share), share);
    for (const int64_t share : order)
      kernel->run(argument.data(), share, shares);
  }
}

cuda::DevicePointer HostMemory::place(int64_t size, int64_t item) {
  constexpr size_t kMargin = 64;
  Block& block = blocks_.emplace_back();
  block.size = static_cast<size_t>(size);
  block.bytes.resize(block.size + 3 * kMargin);
  for (std::byte& byte : block.bytes)
    byte = static_cast<std::byte>(random_.next());
  const auto base = reinterpret_cast<uintptr_t>(block.bytes.data());
  const auto step = static_cast<size_t>(std::min(item, int64_t{8}));
  block.begin = (kMargin - base % kMargin) + random_.below(2) * random_.below(5) * step;
  block.margins = margins_of(block);
  return base + block.begin;
}

cuda::DevicePointer HostMemory::place(const Tensor& tensor) {
  const cuda::DevicePointer place =
      this->place(tensor.size().count(), itemsize(tensor.dtype()).count());
  const Block& block = blocks_.back();
  if (block.size > 0)
    std::memcpy(blocks_.back().bytes.data() + block.begin, tensor.bytes().data(), block.size);
  return place;
}

Tensor HostMemory::read(cuda::DevicePointer place, Dtype dtype, const Shape& shape) const {
  Tensor tensor(dtype, shape);
  if (!tensor.bytes().empty())
    std::memcpy(tensor.bytes().data(), cuda::at<const std::byte>(place), tensor.bytes().size());
  return tensor;
}

std::vector<std::byte> HostMemory::margins_of(const Block& block) {
  std::vector<std::byte> margins(block.bytes);
  const auto begin = margins.begin() + static_cast<ptrdiff_t>(block.begin);
  margins.erase(begin, begin + static_cast<ptrdiff_t>(block.size));
  return margins;
}

bool HostMemory::margins_kept() const {
  return std::all_of(blocks_.begin(), blocks_.end(),
                     [](const Block& block) { return margins_of(block) == block.margins; });
}

Tensor random_bits(Dtype dtype, const Shape& shape, Random& random) {
  if (random.below(3) == 0)
    return random_normalish(dtype, shape, random);
  Tensor tensor(dtype, shape);
  for (std::byte& byte : tensor.bytes())
    byte = static_cast<std::byte>(dtype == Dtype::Pred ? random.below(2) : random.next());
  // In wide floats, exponents of all zeros and all ones are rare in random bits.
  const auto item = static_cast<size_t>(itemsize(part_dtype(dtype)).count());
  for (size_t at = 0; is_inexact(dtype) && at < tensor.bytes().size(); at += item) {
    const uint64_t draw = random.below(8);
    if (draw > 2 || item == 1)
      continue;
    const std::byte sign = tensor.bytes()[at + item - 1] & std::byte{0x80};
    const std::byte low = draw == 0 ? std::byte{0} : std::byte{0x7f};
    tensor.bytes()[at + item - 1] = sign | low;
    const std::byte next = tensor.bytes()[at + item - 2];
    tensor.bytes()[at + item - 2] = draw == 0 ? next & std::byte{0x0f} : next | std::byte{0xf0};
  }
  return tensor;
}

}  // namespace orrery::test
