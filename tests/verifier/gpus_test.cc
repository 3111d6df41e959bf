// Tests that the checks of a run on GPUs find errors: values and facts are changed after a run.

#include "verifier/gpus/gpus.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/text.h"
#include "models/base/diagnostics.h"
#include "models/scenario/document.h"
#include "models/scenario/plan.h"
#include "models/scenario/reader.h"
#include "simulator/memory/profile.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/mock_cuda/mock_control.h"
#include "tests/support/tries.h"
#include "verifier/run.h"

namespace orrery::test {

namespace {

/// Adds s32[3] on two devices, and their sum.
void add_sum(HostRig& rig) {
  rig.argument(
      "a", {tensor(Dtype::S32, Shape{3}, {1, 2, 3}), tensor(Dtype::S32, Shape{3}, {10, 20, 30})});
  rig.op("psum", "r", {"a"}, {{"axis_name", Names{"x"}}});
}

std::vector<std::string> scenarios() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(ORRERY_SOURCE_ROOT "/scenarios"))
    if (const std::string file = entry.path().string();
        file.ends_with(".json") && !is_template(load_text(file, {}), {}))
      files.push_back(file);
  std::sort(files.begin(), files.end());
  return files;
}

RunOptions of_little_data() {
  RunOptions options;
  options.data_budget = Bytes(int64_t{1} << 22);  // the mock is one CPU
  return options;
}

/// Returns the scenario, or null if it is wrong on purpose.
std::shared_ptr<const Scenario> loaded(const std::string& file, const RunOptions& options) {
  try {
    return std::make_shared<const Scenario>(load_scenario(file, options.limits));
  } catch (const InputError&) {
    return nullptr;
  }
}

TEST_CASE("every scenario of little data has the same report on two GPUs of the mock driver") {
  size_t compared = 0;
  uint64_t seed = 0;
  for (const std::string& file : scenarios()) {
    if (!is_tried_sanitized(++seed))
      continue;
    INFO(file);
    MockCudaSettings settings;
    settings.devices = 2;
    settings.seed = compared + 1;
    mock().reset(settings);
    RunOptions options = of_little_data();
    const std::shared_ptr<const Scenario> scenario = loaded(file, options);
    if (scenario == nullptr)
      continue;
    const Report host = run(scenario, options);
    options.gpus = GpuOptions{MockControl::library(), 0, cuda::Measured::Ops};
    if (!host.values)
      continue;
    const Report gpus = run(scenario, options);
    CHECK(gpus.fingerprint == host.fingerprint);
    CHECK(gpus.verdict == host.verdict);
    for (const Check& check : gpus.checks)
      if (check.name == "VALUES.GPUS" || check.name.starts_with("MEMORY."))
        CHECK_MESSAGE(check.holds(), check.message);
    if (gpus.gpus)
      ++compared;
    CHECK(mock().alive() == "");
    CHECK(mock().misuses() == "");
  }
  CHECK(compared >= (is_sanitized() ? 1 : 40));
}

TEST_CASE("a driver that fails is told apart from one that is missing") {
  mock().reset();
  mock().fail("cuGraphLaunch", 1, cuda::CUDA_ERROR_OUT_OF_MEMORY);
  RunOptions options = of_little_data();
  const auto scenario = loaded(ORRERY_SOURCE_ROOT "/scenarios/quickstart.json", options);
  options.gpus = GpuOptions{MockControl::library()};
  CHECK_THROWS_AS(run(scenario, options), GpuFailure);
  CHECK(mock().alive() == "");

  options.gpus->library = "/no/such/driver";
  bool failed = true;
  try {
    run(scenario, options);
  } catch (const NoGpus& missing) {
    failed = dynamic_cast<const GpuFailure*>(&missing) != nullptr;
  }
  CHECK_FALSE(failed);
}

TEST_CASE("with --fast-dot every element of every scenario is compared, and none is wrong") {
  size_t products = 0;
  uint64_t seed = 0;
  for (const std::string& file : scenarios()) {
    INFO(file);
    mock().reset({.seed = products + 1, .devices = 2});
    RunOptions options = of_little_data();
    const std::shared_ptr<const Scenario> scenario = loaded(file, options);
    if (scenario == nullptr)
      continue;
    const std::vector<Op>& ops = scenario->program.ops;
    if (std::ranges::none_of(ops, [](const Op& op) { return op.kind == OpKind::DotGeneral; }) ||
        !is_tried_sanitized(++seed))
      continue;
    if (!run(scenario, options).values)
      continue;
    options.gpus =
        GpuOptions{MockControl::library(), 0, cuda::Measured::Ops, true, MockControl::library()};
    const Report report = run(scenario, options);
    if (!report.gpus)
      continue;
    products += report.gpus->dots->by_cublaslt.size();
    for (const Check& check : report.checks)
      if (check.name == "VALUES.GPUS") {
        CHECK_MESSAGE(check.verdict != Verdict::Fails, check.message);
        CHECK_MESSAGE(check.message.find("Not compared") == std::string::npos, check.message);
      }
    CHECK(mock().alive() == "");
    CHECK(mock().misuses() == "");
  }
  CHECK(products >= (is_sanitized() ? 1 : 40));
}

/// Returns a scenario of one mpmd_map, whose operands are values that nobody needs afterwards.
std::string two_refs(const std::string& aliases, const std::string& body) {
  return fmt::format(
      R"({{"orrery": 1, "mesh": {{"x": 1}},
 "cluster": {{"devices": 1, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"}},
 "arrays": {{"a": {{"shape": [5], "dtype": "s32", "init": "iota"}}}},
 "program": [{{"id": "p", "op": "neg", "of": "a"}},
  {{"id": "q", "op": "add", "of": ["a", "a"]}},
  {{"id": ["m", "n"], "op": "mpmd_map", "of": ["p", "q"], "aliases": {},
   "out": [{{"shape": [5], "dtype": "s32"}}, {{"shape": [5], "dtype": "s32"}}],
   "scratch": {{"t": {{"shape": [5], "dtype": "s32"}}}},
   "functions": [{{"mesh": {{"type": "tensor", "name": "v", "core_axis": "c", "cores": 1}},
                  "body": [{}]}}]}}], "outputs": ["m", "n"]}})",
      aliases, body);
}

TEST_CASE("results of an mpmd_map have their values on GPUs where they trade places in memory") {
  const auto copy = [](const char* from, const char* to) {
    return fmt::format(R"({{"op": "copy", "from": "{}", "to": "{}"}})", from, to);
  };
  const std::string swapped =
      fmt::format("{}, {}, {}", copy("in0", "t"), copy("in1", "out0"), copy("t", "out1"));
  const std::string overwritten = fmt::format("{}, {}", copy("in0", "out1"), copy("in1", "out0"));
  for (const std::string& text :
       {two_refs(R"({"0": 0, "1": 1})", swapped), two_refs(R"({"0": 0})", overwritten)}) {
    CAPTURE(text);
    mock().reset();
    RunOptions options = of_little_data();
    options.gpus = GpuOptions{MockControl::library(), 0, cuda::Measured::Ops};
    const Report report = run(read_scenario("f", text), options);
    REQUIRE(report.gpus);
    size_t compared = 0;
    for (const Check& check : report.checks)
      if (check.name == "VALUES.GPUS") {
        ++compared;
        CHECK_MESSAGE(check.holds(), check.message);
      }
    CHECK(compared == 1);
    CHECK(mock().misuses() == "");
  }
}

TEST_CASE("VALUES.GPUS names the first element that differs") {
  HostRig rig({{"x", 2}});
  add_sum(rig);
  const HostRun run = rig.run();
  const DeviceValues& host = run.values;
  DeviceValues gpus = host;
  CHECK(gpu_values_agree(rig.program, rig.lowered, host, gpus).holds());
  set_element_bits(*gpus.at(rig.value("r"), LogicalId(1)), 2, 34);
  const Check check = gpu_values_agree(rig.program, rig.lowered, host, gpus);
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message == "\"r\" on device 1: element 2 is 34 on the GPUs and 33 on the host.");
}

TEST_CASE("VALUES.GPUS names a value that the GPUs have not given") {
  HostRig rig({{"x", 2}});
  add_sum(rig);
  const HostRun run = rig.run();
  DeviceValues gpus = run.values;
  gpus.at(rig.value("r"), LogicalId(1)).reset();
  const Check check = gpu_values_agree(rig.program, rig.lowered, run.values, gpus);
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message == "\"r\" on device 1 is on the host alone.");
}

TEST_CASE("MEMORY.ARENA names the device that used more or less than the profile counts") {
  HostRig rig({{"x", 2}});
  add_sum(rig);
  rig.lower();
  const MemoryPolicy policy;
  const MemoryProfile memory = profile(rig.program, rig.lowered, policy);
  const Bytes arena = memory.of(LogicalId(0)).arena;
  cuda::GpuFacts facts;
  facts.memory = {{0, arena, Bytes()}, {0, arena, Bytes()}};
  CHECK(arenas_agree(memory, facts).holds());
  facts.memory[1].arena = arena - Bytes(256);
  const Check check = arenas_agree(memory, facts);
  CHECK(check.verdict == Verdict::Fails);
  // The argument and the result have 12 B each, rounded up to 256 B.
  CHECK(check.message == "Virtual device 1 used 256 B of its arena, and the profile counts 512 B.");
}

TEST_CASE("MEMORY.GUARDS says where a guard was overwritten") {
  cuda::GpuFacts facts;
  CHECK(guards_whole(facts).holds());
  facts.damage = "virtual device 0: byte 3 behind \"r\" was overwritten";
  const Check check = guards_whole(facts);
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message == "virtual device 0: byte 3 behind \"r\" was overwritten.");
}

}  // namespace

}  // namespace orrery::test
