// Tests that when a call of the driver fails, the error names it, nothing is left over, and
// destructors do not throw. Every call fails once.

#include <array>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/memory.h"
#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

constexpr MockCudaSettings kTwoGpus = {.devices = 2};

/// Uses every part of the driver's wrapper, on two GPUs.
void use_everything(const cuda::Driver& driver) {
  const cuda::Gpus gpus(driver, cuda::gpu_count(driver));
  const Bytes free = gpus[1].memory().free;
  const Bytes size(kNumbers * 8);
  const cuda::DeviceArena here(gpus, 0, {size, size}, "here");
  const cuda::DeviceArena there(gpus, 1, {size, size}, "there");
  const std::array<cuda::ByteRange, 1> beyond = {here.beyond()};
  cuda::write_canaries(here, beyond, 1);
  here.fill({Bytes(), size}, std::byte{});
  const cuda::PinnedMemory pinned(gpus[0], size);

  cuda::KernelModule module(gpus[0], {}, mock_cuda::kTestPtx);
  const cuda::Stream stream(gpus[0]);
  const cuda::Event start(gpus[0]);
  const cuda::Event end(gpus[0]);
  const mock_cuda::AppendDigit argument = {here.address(), kNumbers, 3};
  const cuda::KernelLaunch append = {module.function("mock_append"), 1, 32, bytes_of(argument)};
  cuda::Graph graph(driver);
  std::vector<cuda::GraphNode> last = {graph.add_record(start, {})};
  last = {graph.add_kernel(append, last)};
  last = {graph.add_copy(gpus[0], there.address(), here.address(), size, last)};
  last = {graph.add_fill(gpus[0], here.address(), size, std::byte{}, last)};
  last = {graph.add_join(last)};
  const mock_cuda::AppendDigit digit = {here.address(), kNumbers, 4};
  const cuda::Graph child = cuda::Graph::captured(stream, [&] {
    launch({module.function("mock_append"), 1, 32, bytes_of(digit)}, stream, "a digit");
  });
  last = {graph.add_child(child, last)};
  const cuda::GraphExec exec(graph);
  exec.launch(stream);
  launch(append, stream, "one kernel more");
  end.record(stream);
  end.synchronize("the end");
  stream.synchronize("all");
  // These calls are outside of checks, which would catch their exceptions.
  const Duration took = end.since(start);
  const std::vector<uint64_t> numbers_here = read_numbers(here);
  const std::vector<uint64_t> numbers_there = read_numbers(there);
  const auto damage = cuda::damaged_canary(here, beyond, 1);
  CHECK(free == Bytes(1 << 30));
  CHECK(took > Duration());
  CHECK(numbers_here == std::vector<uint64_t>(kNumbers, 43));
  CHECK(numbers_there == std::vector<uint64_t>(kNumbers, 3));
  CHECK_FALSE(damage);
}

/// Returns the names of all entry points, except those that only load_driver() calls.
std::vector<std::string> entry_points() {
  const std::set<std::string> loading = {"cuInit", "cuDriverGetVersion", "cuGetErrorName",
                                         "cuGetErrorString"};
  std::vector<std::string> names;
#define ORRERY_NAME(name, exported, parameters) names.emplace_back(#name);
  ORRERY_CUDA_ENTRY_POINTS(ORRERY_NAME)
#undef ORRERY_NAME
  std::erase_if(names, [&](const std::string& name) { return loading.count(name) != 0; });
  return names;
}

/// Only destructors make these calls, and their failures are ignored.
const std::set<std::string> kDestroying = {"cuDevicePrimaryCtxRelease",
                                           "cuModuleUnload",
                                           "cuMemAddressFree",
                                           "cuMemRelease",
                                           "cuMemUnmap",
                                           "cuMemFreeHost",
                                           "cuStreamDestroy",
                                           "cuEventDestroy",
                                           "cuGraphDestroy",
                                           "cuGraphExecDestroy"};
/// Destructors make these calls too, at the end.
const std::set<std::string> kBoth = {"cuCtxSetCurrent", "cuStreamSynchronize"};

TEST_CASE("driver: all of it is used, and given back") {
  const cuda::Driver driver = mock_driver(kTwoGpus);
  use_everything(driver);
  CHECK(mock().alive() == "");
  CHECK(mock().misuses() == "");
  for (const std::string& name : entry_points()) {
    CAPTURE(name);
    CHECK(mock().calls(name.c_str()) > 0);
  }
}

TEST_CASE("driver: each call fails once, which is told, and leaves nothing") {
  const cuda::Driver counted = mock_driver(kTwoGpus);
  use_everything(counted);
  std::vector<std::pair<std::string, int64_t>> calls;
  for (const std::string& name : entry_points())
    calls.emplace_back(name, mock().calls(name.c_str()));
  for (const auto& call : calls) {
    const std::string& name = call.first;
    int64_t told = 0;
    for (int64_t nth = 1; nth <= call.second; ++nth) {
      CAPTURE(name);
      CAPTURE(nth);
      const cuda::Driver driver = mock_driver(kTwoGpus);
      // load_driver() has called some of the entry points already.
      if (nth <= mock().calls(name.c_str()))
        continue;
      mock().fail(name.c_str(), nth - mock().calls(name.c_str()), cuda::CUDA_ERROR_LAUNCH_FAILED);
      const std::string error = cuda_error([&] { use_everything(driver); });
      if (!error.empty()) {
        ++told;
        CHECK(error.find(name + ": CUDA_ERROR_LAUNCH_FAILED (719): ") == 0);
      }
      CHECK(mock().alive() == "");
      CHECK(mock().misuses() == "");
      if (kBoth.count(name) == 0)
        CHECK(error.empty() == (kDestroying.count(name) != 0));
    }
    CHECK((told > 0) == (kDestroying.count(name) == 0));
  }
}

}  // namespace
}  // namespace orrery::test
