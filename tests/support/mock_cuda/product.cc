#include "tests/support/mock_cuda/product.h"

#include <cmath>

#include "models/array/arith.h"

namespace orrery::mock_cuda {

namespace {

/// Calls act() with an element of the type. Throws Misuse for another type.
template <class Act>
auto with_type(cuda::cudaDataType_t type, const Act& act) {
  switch (type) {
    case cuda::CUDA_R_16F:
      return act(arith::F16{});
    case cuda::CUDA_R_16BF:
      return act(arith::BF16{});
    case cuda::CUDA_R_32F:
      return act(arith::F32{});
    case cuda::CUDA_R_64F:
      return act(arith::F64{});
  }
  throw Misuse(cuda::CUDA_ERROR_INVALID_VALUE, "a type of cuBLASLt that the mock does not know");
}

template <class Sum, class Operand, class Result>
void multiply_as(const ProductWork& work, const Operand* a, const Operand* b, Result* d,
                 bool wrong) {
  const auto at = [](const Layout& layout, bool transposed, int64_t row, int64_t column) {
    return transposed ? column + row * layout.leading : row + column * layout.leading;
  };
  for (int64_t p = 0; p < work.d.batch; ++p)
    for (int64_t j = 0; j < work.d.columns; ++j)
      for (int64_t i = 0; i < work.d.rows; ++i) {
        Sum sum{};
        double size = 0;
        for (int64_t l = work.depth(); l-- > 0;) {
          const auto x =
              arith::convert<Sum>(a[p * work.a.batch_stride + at(work.a, work.transposed_a, i, l)]);
          const auto y =
              arith::convert<Sum>(b[p * work.b.batch_stride + at(work.b, work.transposed_b, l, j)]);
          sum = arith::add(sum, arith::multiply(x, y));
          size += std::fabs(static_cast<double>(x.value) * static_cast<double>(y.value));
        }
        if (wrong && p == 0 && i == 0 && j == 0)
          sum = arith::add(sum, arith::round<Sum>(size / 64));
        d[p * work.d.batch_stride + i + j * work.d.leading] = arith::convert<Result>(sum);
      }
}

}  // namespace

size_t size_of(cuda::cudaDataType_t type) {
  return with_type(type, [](auto element) { return sizeof(element); });
}

size_t size_of(const Layout& layout) {
  const int64_t elements = (layout.batch - 1) * layout.batch_stride +
                           (layout.columns - 1) * layout.leading + layout.rows;
  return static_cast<size_t>(elements) * size_of(layout.type);
}

void multiply(const ProductWork& work, Memory& memory, bool wrong) {
  const auto bytes = [&](const Layout& layout, cuda::CUdeviceptr address) {
    return memory.bytes(address, size_of(layout), work.device, cuda::CUDA_ERROR_ILLEGAL_ADDRESS);
  };
  const std::byte* const a = bytes(work.a, work.from_a);
  const std::byte* const b = bytes(work.b, work.from_b);
  std::byte* const d = bytes(work.d, work.to);
  with_type(work.a.type, [&](auto operand) {
    with_type(work.d.type, [&](auto result) {
      using Operand = decltype(operand);
      using Result = decltype(result);
      const auto* const left = reinterpret_cast<const Operand*>(a);
      const auto* const right = reinterpret_cast<const Operand*>(b);
      auto* const to = reinterpret_cast<Result*>(d);
      if (work.compute == cuda::CUBLAS_COMPUTE_64F)
        multiply_as<arith::F64>(work, left, right, to, wrong);
      else
        multiply_as<arith::F32>(work, left, right, to, wrong);
    });
  });
}

}  // namespace orrery::mock_cuda
