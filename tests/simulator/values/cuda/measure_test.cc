// Tests measurements of a GPU on the mock driver, whose simulated clock has known figures.

#include "simulator/values/cuda/measure.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/gpu.h"
#include "tests/support/mock_cuda/mock_control.h"

namespace orrery::test {
namespace {

using cuda::GpuMeasurements;
using cuda::MeasuredWork;
using cuda::WorkKind;

constexpr cuda::MeasureOptions kSmall = {3, Bytes(1 << 16)};

/// Returns settings that move no data, so that the test is quick. One byte of a copy takes 100 ps.
MockCudaSettings clocked(int32_t devices = 1) {
  MockCudaSettings settings;
  settings.devices = devices;
  settings.computes = 0;
  settings.multiprocessors = 1'000;
  settings.bytes_per_second = 10'000'000'000;
  settings.product_ps = 1;
  settings.sharing = 1;
  return settings;
}

const MeasuredWork& work(const GpuMeasurements& measured, WorkKind kind, uint32_t at_once,
                         Bytes bytes) {
  const auto found =
      std::find_if(measured.works.begin(), measured.works.end(), [&](const MeasuredWork& each) {
        return each.kind == kind && each.at_once == at_once && each.bytes == bytes;
      });
  REQUIRE(found != measured.works.end());
  return *found;
}

/// Returns whether the times are near. The driver gives times as floats of 24 bits: up to 1 ms,
/// they are exact to 60 ps, and this is divided by 8.
bool near(Duration time, int64_t exact) {
  return std::abs(time.count() - exact) <= 8;
}

TEST_CASE("measure: nodes take what the clock says, without the launch of their graph") {
  const cuda::Driver driver = mock_driver(clocked());
  const GpuMeasurements measured = cuda::measure(driver, kSmall);
  CHECK(measured.launch == Duration(5'000'000));
  CHECK(measured.devices == 3);
  CHECK(measured.driver == 13'000);
  REQUIRE(measured.gpus.size() == 1);
  // A copy takes 1 us, and 100 ps for each byte.
  CHECK(near(work(measured, WorkKind::Copy, 1, Bytes(1 << 16)).node, 1'000'000 + 6'553'600));
  CHECK(near(work(measured, WorkKind::Copy, 1, Bytes(1 << 12)).node, 1'000'000 + 409'600));
  // A kernel takes 2 us, and 10 ps for each thread; a thread has 16 bytes.
  for (const WorkKind kind : {WorkKind::Combine, WorkKind::Pack})
    CHECK(near(work(measured, kind, 1, Bytes(1 << 16)).node, 2'000'000 + 40'960));
  // A thread has one element here. The op reads and writes three times the bytes of its result.
  CHECK(near(work(measured, WorkKind::Elementwise, 1, Bytes(3 << 16)).node, 2'000'000 + 163'840));
  CHECK(left_on_mock() == "");
}

TEST_CASE("measure: virtual devices at once share the memory") {
  const cuda::Driver driver = mock_driver(clocked());
  const GpuMeasurements measured = cuda::measure(driver, kSmall);
  CHECK(near(work(measured, WorkKind::Copy, 2, Bytes(1 << 16)).node, 1'000'000 + 2 * 6'553'600));
  CHECK(near(work(measured, WorkKind::Copy, 3, Bytes(1 << 16)).node, 1'000'000 + 3 * 6'553'600));
}

TEST_CASE("measure: a product of each dtype but pred, by all virtual devices") {
  const cuda::Driver driver = mock_driver(clocked());
  const GpuMeasurements measured = cuda::measure(driver, kSmall);
  std::set<std::tuple<Dtype, int64_t>> products;
  for (const MeasuredWork& each : measured.works)
    if (each.kind == WorkKind::Dot) {
      CHECK(each.at_once == 3);
      products.emplace(each.dtype, each.flops.count());
    }
  // There are squares of three sizes. 128 x 128 f32 of 4 bytes are 64 KiB: 2 x 128^3 flops.
  CHECK(products.size() == 3 * 16);
  CHECK(products.contains({Dtype::F32, 2 * 128 * 128 * 128}));
  CHECK(products.contains({Dtype::F32, 2 * 32 * 32 * 32}));
  // One product of c64 is 8 flops; 64 x 64 elements have 8 bytes each.
  CHECK(products.contains({Dtype::C64, 8 * 64 * 64 * 64}));
}

TEST_CASE("measure: several GPUs have peer copies, and as many virtual devices as they share") {
  const cuda::Driver driver = mock_driver(clocked(2));
  const GpuMeasurements measured = cuda::measure(driver, kSmall);
  REQUIRE(measured.gpus.size() == 2);
  // There are three copies on two GPUs: GPU 0 has two of them.
  CHECK(
      near(work(measured, WorkKind::PeerCopy, 2, Bytes(1 << 16)).node, 1'000'000 + 2 * 6'553'600));
  CHECK(std::none_of(measured.works.begin(), measured.works.end(),
                     [](const MeasuredWork& each) { return each.at_once > 2; }));
  CHECK(left_on_mock() == "");
}

TEST_CASE("measure: too little memory is said before anything is allocated") {
  MockCudaSettings settings = clocked();
  settings.memory = 1 << 19;
  const cuda::Driver driver = mock_driver(settings);
  std::string said;
  try {
    cuda::measure(driver, kSmall);
  } catch (const cuda::TooLittleMemory& little) {
    said = little.what();
  }
  // Each virtual device needs three buffers of 64 KiB.
  CHECK(said ==
        "GPU 0 (Mock GPU 0) has 512 KiB free, and measuring 3 virtual devices there takes 576 KiB");
  CHECK(mock().calls("cuMemCreate") == 0);
  CHECK(left_on_mock() == "");
}

TEST_CASE("measure: each kind of call that fails is told, and leaves nothing") {
  for (const char* const call :
       {"cuDeviceGetCount", "cuDevicePrimaryCtxRetain", "cuMemGetInfo", "cuMemCreate", "cuMemMap",
        "cuModuleLoadDataEx", "cuModuleGetFunction", "cuStreamCreate", "cuEventCreate",
        "cuGraphCreate", "cuGraphAddEmptyNode", "cuGraphAddKernelNode", "cuGraphAddMemcpyNode",
        "cuGraphInstantiate", "cuGraphLaunch", "cuEventRecord", "cuEventSynchronize",
        "cuEventElapsedTime"}) {
    CAPTURE(call);
    const cuda::Driver driver = mock_driver(clocked(2));
    mock().fail(call, 1, cuda::CUDA_ERROR_LAUNCH_FAILED);
    std::string said;
    try {
      cuda::measure(driver, kSmall);
    } catch (const cuda::CudaError& error) {
      said = error.call();
    }
    CHECK(said == call);
    CHECK(left_on_mock() == "");
  }
}

TEST_CASE("copy rates: of each GPU, and from the first to the second") {
  const cuda::Driver driver = mock_driver(clocked(2));
  std::optional<cuda::CopyRates> rates;
  {
    const cuda::Gpus gpus(driver, 2);
    rates = cuda::copy_rates(gpus);
  }
  REQUIRE(rates);
  CHECK(rates->size == Bytes(8 << 20));  // 1/128 of 1 GiB
  // 8 MiB take 1 us + 838.8608 us.
  const double exact = (8 << 20) / 839.8608e-6;
  // The driver gives times as floats.
  const auto is_near = [&](BytesPerSecond rate) {
    return static_cast<double>(rate.count()) == doctest::Approx(exact).epsilon(1e-6);
  };
  REQUIRE(rates->in_gpu.size() == 2);
  CHECK(is_near(rates->in_gpu[0]));
  CHECK(is_near(rates->in_gpu[1]));
  CHECK(is_near(*rates->to_next));
  CHECK(left_on_mock() == "");
}

TEST_CASE("copy rates: none where too little memory is free") {
  MockCudaSettings settings = clocked();
  settings.memory = 127 * (1 << 16);
  const cuda::Driver driver = mock_driver(settings);
  const cuda::Gpus gpus(driver, 1);
  CHECK(!cuda::copy_rates(gpus));
}

}  // namespace
}  // namespace orrery::test
