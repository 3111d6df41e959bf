// Tests that a byte written outside its place is found: one of the mock's copies writes a byte too
// many.

#include <set>
#include <string>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/entry_point.h"
#include "tests/simulator/values/cuda/mock_rig.h"
#include "tests/simulator/values/host_rig.h"

namespace orrery::test {

namespace {

TEST_CASE("GPUs: a copy that writes a byte too many behind a result is found") {
  HostRig rig({{"x", 2}});
  rig.argument(
      "a", {tensor(Dtype::S32, Shape{3}, {1, 2, 3}), tensor(Dtype::S32, Shape{3}, {10, 20, 30})});
  rig.op("ppermute", "r", {"a"}, {{"axis_name", Names{"x"}}, {"perm", Lists{{0, 1}, {1, 0}}}});
  rig.lower();
  const OnGpus run{rig.program, rig.lowered, rig.arguments};
  // Each copy in turn writes too much: some go to slots, some to the host, and one on each device
  // to the result. The byte may lie outside all memory, which ends a run.
  MockCudaSettings settings;
  std::set<std::string> found;
  for (settings.stray_copy = 1; settings.stray_copy <= 20; ++settings.stray_copy)
    try {
      if (const auto damage = run_on_mock(run, 1, {}, settings).facts.damage)
        found.insert(*damage);
    } catch (const cuda::CudaError& error) {
      CHECK(std::string(error.what()).find("CUDA_ERROR_ILLEGAL_ADDRESS") != std::string::npos);
    }
  CHECK(found.count("virtual device 0: byte 0 behind \"r\" was overwritten") == 1);
  CHECK(found.count("virtual device 1: byte 0 behind \"r\" was overwritten") == 1);
  settings.stray_copy = 0;
  CHECK_FALSE(run_on_mock(run, 1, {}, settings).facts.damage);
}

}  // namespace

}  // namespace orrery::test
