#include "tests/simulator/values/cuda/mock_rig.h"

#include <fmt/format.h>

namespace orrery::test {

cuda::GpuRun run_on_mock(const OnGpus& run, uint64_t seed, const cuda::ExecutorOptions& options,
                         const MockCudaSettings& settings) {
  MockCudaSettings seeded = settings;
  seeded.seed = seed;
  const cuda::Driver driver = mock_driver(seeded);
  return run_on(driver, run, options);
}

std::string wrong_on_mock(const OnGpus& run, uint64_t orders, uint64_t first,
                          const cuda::ExecutorOptions& options) {
  for (uint64_t order = first; order < first + orders; ++order) {
    std::string what = wrong(run, run_on_mock(run, order, options));
    if (what.empty() && !mock().alive().empty())
      what = "left over: " + mock().alive();
    if (what.empty() && !mock().misuses().empty())
      what = "misuse: " + mock().misuses();
    if (!what.empty())
      return fmt::format("in order {}: {}", order, what);
  }
  return {};
}

}  // namespace orrery::test
