// Tests the properties of GPUs, their memory, and which GPUs see each other.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

TEST_CASE("CUDA error: the call, the name of the code, and what it was for") {
  const cuda::CudaError error("cuMemCreate", cuda::CUDA_ERROR_OUT_OF_MEMORY,
                              "64 bytes of device 3");
  CHECK(std::string(error.what()) ==
        "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2): 64 bytes of device 3");
  CHECK(error.call() == "cuMemCreate");
  CHECK(error.code() == cuda::CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(error.out_of_memory());
}

TEST_CASE("CUDA error: a code that CUDA 13.0 does not have") {
  const cuda::CudaError error("cuInit", static_cast<cuda::CUresult>(4242), "a start");
  CHECK(std::string(error.what()) == "cuInit: unknown error (4242): a start");
  CHECK_FALSE(error.out_of_memory());
}

TEST_CASE("GPUs: what a GPU is") {
  DriverRig rig({.devices = 2, .memory = 1 << 20});
  const cuda::GpuInfo& info = rig.gpus[1].info();
  CHECK(info.device == 1);
  CHECK(info.name == "Mock GPU 1");
  CHECK(info.major == 9);
  CHECK(info.minor == 0);
  CHECK(info.uuid == "GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1");
  CHECK(info.memory == Bytes(1 << 20));
  CHECK(info.multiprocessors == 4);
  CHECK(info.virtual_memory);
  CHECK(cuda::gpu_count(rig.driver) == 2);
}

TEST_CASE("GPUs: each sees the memory of all") {
  DriverRig rig({.devices = 3});
  CHECK(rig.gpus.viewers(1) == std::vector<size_t>{0, 1, 2});
}

TEST_CASE("GPUs: each sees its own memory where peers cannot") {
  DriverRig rig({.devices = 3, .peers = 0});
  CHECK(rig.gpus.viewers(1) == std::vector<size_t>{1});
  CHECK_FALSE(rig.gpus.sees(0, 1));
  CHECK(mock().calls("cuCtxEnablePeerAccess") == 0);
}

TEST_CASE("GPUs: access that is open already is no error") {
  DriverRig rig({.devices = 2});
  const cuda::Gpus again(rig.driver, 2);
  CHECK(again.sees(0, 1));
}

TEST_CASE("GPUs: free memory is that of the GPU") {
  DriverRig rig({.devices = 2, .memory = 1 << 20, .granularity = 1 << 16});
  const auto arena = rig.arena(1);
  CHECK(rig.gpus[0].memory().free == Bytes(1 << 20));
  CHECK(rig.gpus[1].memory().free == Bytes((1 << 20) - (1 << 16)));
  CHECK(rig.gpus[1].memory().total == Bytes(1 << 20));
}

}  // namespace
}  // namespace orrery::test
