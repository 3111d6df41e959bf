// Tests from which form kernels are loaded, and the error if no form can be loaded.

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

using cuda::KernelModule;
using cuda::LoadedFrom;
using mock_cuda::kTestPtx;

/// These are the first bytes of a fatbin.
constexpr std::array<std::byte, 8> kFatbin = {std::byte{0x50}, std::byte{0xed}, std::byte{0x55},
                                              std::byte{0xba}};

void fail_load(int nth, cuda::CUresult code) {
  mock().fail("cuModuleLoadDataEx", nth, code);
}

TEST_CASE("kernel module: the fatbin is loaded where there is one") {
  DriverRig rig;
  CHECK(KernelModule(rig.gpus[0], kFatbin, kTestPtx).loaded_from() == LoadedFrom::Fatbin);
  CHECK(KernelModule(rig.gpus[0], {}, kTestPtx).loaded_from() == LoadedFrom::Ptx);
}

TEST_CASE("kernel module: PTX is compiled where the fatbin has nothing for the GPU") {
  DriverRig rig;
  for (const auto code :
       {cuda::CUDA_ERROR_NO_BINARY_FOR_GPU, cuda::CUDA_ERROR_UNSUPPORTED_PTX_VERSION}) {
    fail_load(1, code);
    CHECK(KernelModule(rig.gpus[0], kFatbin, kTestPtx).loaded_from() == LoadedFrom::Ptx);
  }
}

TEST_CASE("kernel module: another failure of the fatbin is one") {
  DriverRig rig;
  fail_load(1, cuda::CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(cuda_error([&] { KernelModule(rig.gpus[0], kFatbin, kTestPtx); }) ==
        "cuModuleLoadDataEx: CUDA_ERROR_OUT_OF_MEMORY (2): the fatbin of the kernels on GPU 0, "
        "compute capability 9.0");
}

TEST_CASE("kernel module: a failure of PTX has what the compiler said, on one line") {
  DriverRig rig;
  fail_load(1, cuda::CUDA_ERROR_NO_BINARY_FOR_GPU);
  fail_load(2, cuda::CUDA_ERROR_INVALID_PTX);
  CHECK(
      cuda_error([&] { KernelModule(rig.gpus[0], kFatbin, kTestPtx); }) ==
      "cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (218): the PTX of the kernels on GPU 0, compute "
      "capability 9.0: ptxas: told to fail");
}

TEST_CASE("kernel module: a kernel is looked up once") {
  DriverRig rig;
  KernelModule module(rig.gpus[0], {}, kTestPtx);
  CHECK(module.function("mock_add") == module.function("mock_add"));
  CHECK(module.function("mock_add") != module.function("mock_append"));
  CHECK(mock().calls("cuModuleGetFunction") == 2);
}

TEST_CASE("kernel module: a kernel that is not in it") {
  mock_driver();
  const cuda::Driver driver = mock_driver();
  const cuda::Gpus gpus(driver, 1);
  KernelModule module(gpus[0], {}, kTestPtx);
  CHECK(cuda_error([&] { module.function("mock_none"); }) ==
        "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500): the kernel mock_none");
  // The text names the function, but the mock does not have it.
  CHECK(cuda_error([&] { module.function("mock_unknown"); }) != "");
  // The mock has the function, but the text does not name it.
  KernelModule other(gpus[0], {}, ".version 7.0\n.visible .entry mock_append(");
  CHECK(cuda_error([&] { other.function("mock_add"); }) != "");
}

}  // namespace
}  // namespace orrery::test
