#include "simulator/values/cuda/kernels/image.h"

#include <string>

#include <doctest/doctest.h>

#include "simulator/values/cuda/kernels/host_kernels.h"

namespace orrery::test {
namespace {

TEST_CASE("kernel image: the PTX has every kernel, and ends with a zero") {
  const std::string_view ptx = cuda::kernel_image().ptx;
  CHECK(cuda::host_kernels().size() > 100);
  for (const cuda::HostKernel& kernel : cuda::host_kernels()) {
    CAPTURE(kernel.entry_point);
    CHECK(ptx.find(".entry " + std::string(kernel.entry_point) + "(") != std::string_view::npos);
  }
  CHECK(ptx.data()[ptx.size()] == '\0');
}

TEST_CASE("kernel image: nothing is fused, approximate or flushed in the PTX") {
  const std::string_view ptx = cuda::kernel_image().ptx;
  for (const std::string_view word : {"fma.", ".ftz", ".approx", ".full"}) {
    CAPTURE(word);
    CHECK(ptx.find(word) == std::string_view::npos);
  }
}

TEST_CASE("kernel image: the fat binary is one, or is not there") {
  const std::span<const std::byte> fatbin = cuda::kernel_image().fatbin;
  constexpr unsigned char kMagic[] = {0x50, 0xed, 0x55, 0xba};
  for (size_t i = 0; i < 4 && !fatbin.empty(); ++i)
    CHECK(fatbin[i] == static_cast<std::byte>(kMagic[i]));
}

}  // namespace
}  // namespace orrery::test
