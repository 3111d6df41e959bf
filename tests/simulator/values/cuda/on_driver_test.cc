// Random programs on the driver that ORRERY_LIBCUDA names, the mock without it: tools/gpu/check
// runs them on real GPUs. ORRERY_GPU_PROGRAMS sets how many.

#include <cstdlib>
#include <string>
#include <variant>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/values/cuda/driver/driver.h"
#include "tests/simulator/values/cuda/gpu_rig.h"
#include "tests/simulator/values/cuda/random_runs.h"
#include "tests/support/mock_cuda/mock_control.h"

namespace orrery::test {

namespace {

std::string environment(const char* variable, const std::string& otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : text;
}

TEST_CASE("on a driver: random programs have the host's values") {
  const std::variant<cuda::Driver, cuda::MissingDriver> loaded =
      cuda::load_driver(environment(cuda::kDriverLibraryVariable, MockControl::library()));
  if (const auto* const missing = std::get_if<cuda::MissingDriver>(&loaded))
    FAIL(missing->reason);
  const auto& driver = std::get<cuda::Driver>(loaded);
  const uint64_t programs = std::stoull(environment("ORRERY_GPU_PROGRAMS", "20"));
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    INFO(fmt::format("seed {}", seed));
    const RandomRun random = random_run(seed);
    OnGpus run{random.program, random.lowered, random.arguments};
    // With results over operands that end, in every other one.
    if (seed % 4 >= 2)
      run.memory.reuse = MemoryPolicy::Reuse::Xla;
    CHECK(wrong(run, run_on(driver, run)) == "");
  }
}

}  // namespace

}  // namespace orrery::test
