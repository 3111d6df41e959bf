#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "simulator/values/cuda/kernels/kernels.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

TEST_CASE("kernel image: the PTX has every kernel, and ends with a zero") {
  const std::string_view ptx = cuda::kernel_image().ptx;
  CHECK(cuda::host_kernels().size() > 90);
  for (const cuda::HostKernel& kernel : cuda::host_kernels()) {
    CAPTURE(kernel.entry_point);
    CHECK(ptx.find(".entry " + std::string(kernel.entry_point) + "(") != std::string_view::npos);
  }
  CHECK(ptx.data()[ptx.size()] == '\0');
}

/// Returns whether tools/build/device_ptx.py finds no error.
bool holds(const std::string& task) {
  const std::string command = std::string("python3 ") + ORRERY_PTX_TOOL + " " + task;
  return std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
}

// Both tests run compilers of others, of which sanitizers find nothing.

TEST_CASE("kernel image: the PTX is what its sources give") {
  if (is_all_tried())
    CHECK(holds(std::string("check ") + ORRERY_PTX_CLANG));
}

TEST_CASE("kernel image: ptxas accepts the PTX, where it is there") {
  const std::string ptxas = ORRERY_PTXAS;
  if (is_all_tried())
    CHECK((ptxas.empty() || holds("accept " + ptxas)));
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
