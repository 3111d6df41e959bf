// Tests random programs, collectives and local ops on the driver that ORRERY_LIBCUDA names, or on
// the mock if it is not set. tools/gpu/check runs these tests on real GPUs.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/lower/lower.h"
#include "simulator/values/cuda/driver/driver.h"
#include "simulator/values/cuda/driver/gpu.h"
#include "tests/simulator/values/cuda/gpu_rig.h"
#include "tests/simulator/values/cuda/local_cases.h"
#include "tests/simulator/values/cuda/random_runs.h"
#include "tests/support/mock_cuda/mock_control.h"
#include "tests/support/tries.h"
#include "tests/verifier/collective_cases.h"

namespace orrery::test {

namespace {

std::string environment(const char* variable, const std::string& otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : text;
}

uint64_t programs() {
  return tries(20);
}

/// Returns n if every n-th of `all` is run, which makes about twice as many runs as random
/// programs.
uint64_t stride(uint64_t all) {
  return std::max<uint64_t>(1, all / (2 * programs()));
}

/// An `OnDriver` keeps the driver's GPUs in use. Without this, each run would make a new context,
/// which takes long on a real driver.
class OnDriver {
 public:
  OnDriver() : driver_(loaded()), held_(driver_, cuda::gpu_count(driver_)) {}

  /// Returns the error of a run on the driver; "" if there is none.
  std::string wrong_run(const OnGpus& run) const { return wrong(run, run_on(driver_, run)); }

 private:
  static cuda::Driver loaded() {
    std::variant<cuda::Driver, cuda::MissingDriver> driver =
        cuda::load_driver(environment(cuda::kDriverLibraryVariable, MockControl::library()));
    if (const auto* const missing = std::get_if<cuda::MissingDriver>(&driver))
      FAIL(missing->reason);
    return std::get<cuda::Driver>(driver);
  }

  const cuda::Driver driver_;
  const cuda::Gpus held_;
};

TEST_CASE("on a driver: random programs have the host's values") {
  const OnDriver gpus;
  for (uint64_t seed = 1; seed <= programs(); ++seed) {
    INFO(fmt::format("seed {}", seed));
    const RandomRun random = random_run(seed);
    OnGpus run{random.program, random.lowered, random.arguments};
    // In every other pair of seeds, results may take the place of operands that end.
    if (seed % 4 >= 2)
      run.memory.reuse = MemoryPolicy::Reuse::Xla;
    CHECK(gpus.wrong_run(run) == "");
  }
}

TEST_CASE("on a driver: collectives of every dtype have the host's values") {
  const OnDriver gpus;
  constexpr int64_t kMostMembers = 4;
  std::vector<Case> cases;
  for (const OpKind kind : collectives())
    for (const Case& c : cases_of(kind))
      if (c.n <= kMostMembers)
        cases.push_back(c);
  for (size_t i = 0; i < cases.size(); i += stride(10 * cases.size())) {
    const Case& c = cases[i];
    INFO(fmt::format("{} over {} members, {}, {}, rank {}", rules(c.kind).name, c.n,
                     name_of(c.grouping), c.tiled ? "tiled" : "untiled", c.rank));
    HostRig rig(axes_of(c));
    add_trials(c, rig);
    rig.lower();
    CHECK(gpus.wrong_run({rig.program, rig.lowered, rig.arguments}) == "");
  }
}

TEST_CASE("on a driver: local ops of every dtype have the host's values") {
  const OnDriver gpus;
  Random random(11);
  std::vector<std::pair<OpKind, Dtype>> all;
  for (const OpRules& rules : all_rules())
    if (rules.family == Family::Local && rules.body == nullptr)  // those have no kernels
      for (const Dtype dtype : all_dtypes())
        all.emplace_back(rules.kind, dtype);
  for (size_t i = 0; i < all.size(); i += stride(all.size())) {
    const OpKind kind = all[i].first;
    const Dtype dtype = all[i].second;
    const std::optional<LocalCase> made = random_local(kind, dtype, random);
    if (!made)
      continue;
    INFO(fmt::format("{} of {}", rules(kind).name, name(dtype)));
    const Program program = program_of(kind, *made);
    Cluster cluster{"rig",
                    fully_connected_fabric(program.mesh.devices(),
                                           {BytesPerSecond(1'000'000'000), Duration(1)}),
                    {}};
    for (const Dtype of : all_dtypes())
      cluster.device.flops[of] = FlopsPerSecond(1'000'000'000);
    Diagnostics diagnostics("f");
    const Lowered lowered = lower(program, cluster, diagnostics);
    diagnostics.throw_if_any();
    DeviceValues arguments(program);
    for (size_t a = 0; a < program.arguments.size(); ++a)
      for (uint32_t d = 0; d < program.mesh.devices(); ++d)
        arguments.at(program.arguments[a].value, LogicalId(d)) = made->operands[a];
    CHECK(gpus.wrong_run({program, lowered, arguments}) == "");
  }
}

}  // namespace

}  // namespace orrery::test
