// Tests long loops of local ops alone. The sweep runs none of their left-out iterations, and the
// times must be those of a run of all. shared_loops_test.cc tests the engine.

#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "tests/support/tries.h"
#include "tests/verifier/long_loops_rig.h"

namespace orrery::test {
namespace {

/// A `LocalProgram` has local ops, nested loops of local ops, and some collectives. All ids begin
/// with a prefix.
class LocalProgram {
 public:
  LocalProgram(Random& random, std::string prefix, uint64_t axes)
      : random_(random), prefix_(std::move(prefix)), axes_(axes) {}

  std::string text() {
    std::vector<std::string> ops;
    std::string value = "a";
    for (uint64_t n = 2 + random_.below(3); n-- > 0;) {
      if (random_.below(3) == 0)
        ops.push_back(exchanged(value, random_.below(2) == 0));
      ops.push_back(local_loop(value, 1 + random_.below(2)));
    }
    ops.insert(ops.end(), dones_.begin(), dones_.end());
    return fmt::format("{}", fmt::join(ops, ", "));
  }

 private:
  std::string next_id() { return fmt::format("{}{}", prefix_, ids_++); }

  std::string local(std::string& value) {
    const std::string id = next_id();
    std::string text;
    if (random_.below(2) == 0)
      text = fmt::format(R"({{"id": "{}", "op": "add", "of": ["{}", "a"]}})", id, value);
    else
      text = fmt::format(R"({{"id": "{}", "op": "compute", "of": "{}", "flops": "0 FLOP",
                              "bytes": "{} KiB", "dtype": "f32", "shape": [1024]}})",
                         id, value, random_.below(40));
    value = id;
    return text;
  }

  /// Adds a collective, sync or started. A started one stays in flight during the next loops.
  std::string exchanged(std::string& value, bool starts) {
    const std::string id = next_id();
    const std::string_view axis = random_.below(axes_) == 0 ? "y" : "x";
    std::string text =
        fmt::format(R"({{"id": "{}", "op": "psum{}", "of": "{}", "axis_name": "{}"}})", id,
                    starts ? "_start" : "", value, axis);
    if (starts)
      dones_.push_back(fmt::format(R"({{"id": "{0}d", "op": "done", "of": "{0}"}})", id));
    else
      value = id;
    return text;
  }

  std::string local_loop(std::string& value, uint64_t levels) {
    const std::string id = next_id();
    const std::string carry = id + "h";
    std::string carried = carry;
    std::vector<std::string> body;
    for (uint64_t n = random_.below(3); n-- > 0;)
      body.push_back(local(carried));
    if (levels > 1) {
      body.push_back(local_loop(carried, levels - 1));
      if (random_.below(6) == 0)  // now it is no loop of local ops alone
        body.push_back(exchanged(carried, false));
    }
    if (random_.below(2) == 0 || body.empty())
      body.push_back(local(carried));
    const int64_t trips = 4 + static_cast<int64_t>(random_.below(levels > 1 ? 12 : 40));
    value = id;
    return loop(id, trips, fmt::format(R"("{}": "a")", carry),
                fmt::format("{}", fmt::join(body, ", ")),
                fmt::format(R"("{}": "{}")", carry, carried));
  }

  Random& random_;
  std::string prefix_;
  uint64_t axes_;  // 1: it exchanges over "y" only
  std::vector<std::string> dones_;
  size_t ids_ = 0;
};

std::vector<Fault> slow_devices(Random& random) {
  std::vector<Fault> faults;
  for (uint32_t device = 0; device < 4; ++device)
    if (random.below(2) == 0)
      faults.push_back(slow(device, 10 + static_cast<int64_t>(random.below(9)), 10));
  return faults;
}

/// These options allow few ops to run one by one.
StageOptions few_runs(std::vector<Fault> faults) {
  StageOptions options;
  options.slack_budget = 0;
  options.limits.runs = 10'000;
  options.faults = std::move(faults);
  return options;
}

TEST_CASE("local loops: devices of different speed, one program or one each") {
  Random random(31);
  size_t left_out = 0;
  size_t added = 0;
  size_t by_engine = 0;
  const size_t random_programs = tries(60);
  for (size_t i = 0; i < random_programs; ++i) {
    std::string programs;
    if (random.below(2) == 0) {
      programs = R"("program": [)" + LocalProgram(random, "p", 2).text() + "]";
    } else {
      std::vector<std::string> each;
      for (const std::string_view prefix : {"p", "q"})
        each.push_back(fmt::format(R"({{"on": {{"x": {}}}, "do": [{}]}})", each.size(),
                                   LocalProgram(random, std::string(prefix), 1).text()));
      programs = fmt::format(R"("programs": [{}])", fmt::join(each, ", "));
    }
    const std::string& cluster = random.below(2) == 0 ? kSwitch : kRing;
    const Outcome outcome = check_same(scenario_text(cluster, programs), slow_devices(random));
    left_out += outcome.left_out ? 1 : 0;
    added += outcome.added > 0 ? 1 : 0;
    by_engine += outcome.by == TimedBy::Engine ? 1 : 0;
  }
  MESSAGE("of " << random_programs << " programs, " << left_out << " left out iterations, " << added
                << " added some up, " << by_engine << " were run by the engine");
  CHECK(left_out > random_programs / 2);
  CHECK(added == left_out);
}

TEST_CASE("local loops: no left-out iteration is run, where devices drift apart too") {
  const auto times = [](int64_t trips, int64_t inner) {
    const std::string add = R"({"id": "y", "op": "add", "of": ["g", "a"]})";
    const Scenario read = read_scenario(
        "f", scenario_text(kSwitch, R"("program": [)" +
                                        loop("l", trips, R"("h": "a")",
                                             loop("m", inner, R"("g": "h")", add, R"("g": "y")"),
                                             R"("h": "m")") +
                                        "]"));
    const WrittenScenario some = written(read, LongLoops::LeftOut);
    Diagnostics diagnostics("f");
    Stages stages(some.scenario.program, some.scenario.cluster,
                  few_runs({slow(1, 3, 2), slow(2, 11, 10)}), diagnostics,
                  LoopedProgram{read.program, some.runs});
    return stages.times().value();
  };
  const Completion few = times(10, 10);
  const Completion many = times(200'000, 1'000'000);
  CHECK(many.by == TimedBy::Sweep);
  // The programs have 100 adds and 2 x 10^11 adds.
  CHECK(many.makespan - Instant() == (few.makespan - Instant()) * 2'000'000'000);
  CHECK(many.added.back().count > 199'990);
  CHECK_FALSE(many.added.back().later.has_value());
}

TEST_CASE("local loops: with jitter each iteration has an amount of its own") {
  const std::string add = R"({"id": "y", "op": "add", "of": ["h", "a"]})";
  const auto program = R"("program": [)" + loop("l", 300, R"("h": "a")", add, R"("h": "y")") + "]";
  CHECK(check_same(scenario_text(kSwitch, program), {Jitter{Duration(5'000), Duration()}}).added ==
        0);
}

}  // namespace
}  // namespace orrery::test
