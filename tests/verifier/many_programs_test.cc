// Tests programs on parts of a mesh: their groups, values and lifetimes must grow with their own
// devices, not with the mesh times the programs.

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "models/program/holders.h"
#include "simulator/memory/lifetimes.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery {
namespace {

/// Returns `count` programs on one device each: two local ops, a psum by itself and one with the
/// neighbour.
test::ScenarioParts many(size_t count) {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.devices = count;
  parts.mesh = R"({"pair": )" + std::to_string(count / 2) + R"(, "x": 2})";
  parts.arrays = R"({"a": {"shape": [4], "dtype": "f32", "init": "ones"}})";
  parts.checked = false;
  std::string programs;
  for (size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    programs += (i == 0 ? "" : ", ") +
                (R"({"on": [)" + n + R"(], "do": [
{"id": "b)" + n + R"(", "op": "add", "of": ["a", "a"]},
{"id": "c)" + n + R"(", "op": "psum", "of": "b)" +
                 n + R"(", "axis_name": []},
{"id": "d)" + n + R"(", "op": "psum", "of": "c)" +
                 n + R"(", "axis_name": "x", "site": "p)" + std::to_string(i / 2) + R"("},
{"id": "e)" + n + R"(", "op": "mul", "of": ["b)" +
                 n + R"(", "d)" + n + R"("]}]})");
  }
  parts.program = "[" + programs + "]";
  return parts;
}

TEST_CASE("many programs: groups, members, values and lifetimes cover their own devices only") {
  constexpr size_t kCount = 64;
  RunOptions options;
  options.data = Data::Off;
  const test::Ran ran = test::run_parts(many(kCount), options);
  CHECK(ran.report.holds());
  const Program& program = ran.report.scenario->program;
  CHECK(program.sites.size() == kCount + kCount / 2);
  size_t in_groups = 0;
  size_t members = 0;
  for (size_t s = 0; s < program.sites.size(); ++s) {
    for (const Group& group : program.sites[s].groups)
      in_groups += group.size();
    members += ran.report.lowered->members[s].devices(Side::Both).size();
  }
  CHECK(in_groups == 2 * kCount);  // one by itself, one with the neighbour
  CHECK(members == 2 * kCount);
  const Holders holders(program);
  size_t held = 0;
  for (size_t v = 0; v < program.values.size(); ++v)
    held += holders.of(ValueId(v)).size();
  CHECK(held == 5 * kCount);  // a on every device, and four results
  const Lifetimes lifetimes(program, *ran.report.lowered, ran.report.scenario->memory);
  for (const ListMemory& list : ran.report.memory.lists)
    CHECK(lifetimes.of(list).size() == 5);
  CHECK(ran.report.memory.lists.size() == kCount);
}

TEST_CASE("many programs: the limit on ops over all devices counts each op's own devices") {
  RunOptions options;
  options.data = Data::Off;
  options.limits.device_ops = 8 * 4 + 8;  // four ops of each of eight programs, and the programs
  CHECK(test::run_parts(many(8), options).report.holds());
  --options.limits.device_ops;
  CHECK_THROWS_WITH_AS(test::run_parts(many(8), options), doctest::Contains("got 40 on 8 devices"),
                       InputError);
}

/// Returns two programs on one device each, with an array of 6 KiB each.
test::ScenarioParts two_weights(const std::string& on_0, const std::string& on_1) {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.devices = 2;
  parts.mesh = R"({"x": 2})";
  parts.memory = "8 KiB";
  parts.arrays =
      R"({"v": {"shape": [1536], "dtype": "f32"%0}, "w": {"shape": [1536], "dtype": "f32"%1}})";
  parts.arrays.replace(parts.arrays.find("%0"), 2, on_0);
  parts.arrays.replace(parts.arrays.find("%1"), 2, on_1);
  parts.program =
      R"([{"on": [0], "do": [{"id": "a", "op": "slice", "of": "v", "start_indices": [0], "limit_indices": [8]}]},
                      {"on": [1], "do": [{"id": "b", "op": "slice", "of": "w", "start_indices": [0], "limit_indices": [8]}]}])";
  return parts;
}

TEST_CASE("arrays on devices: two programs with 6 KiB each fit devices of 8 KiB") {
  const test::Ran apart = test::run_parts(two_weights(R"(, "on": [0])", R"(, "on": [1])"));
  CHECK(apart.broken() == std::vector<std::string>{});
  // Sizes are rounded up to 256 B.
  CHECK(apart.report.memory.of(LogicalId(0)).peak == Bytes(6 * 1024 + 256));
  CHECK(apart.report.memory.of(LogicalId(1)).peak == Bytes(6 * 1024 + 256));
  const test::Ran both = test::run_parts(two_weights("", ""));
  CHECK(both.broken() == std::vector<std::string>{"MEMORY.CAPACITY"});
}

TEST_CASE("arrays on devices: an array that no program of the device reads is held all the same") {
  const test::Ran ran = test::run_parts(two_weights(R"(, "on": {"x": [0, 2]})", R"(, "on": [1])"));
  CHECK(ran.report.memory.of(LogicalId(0)).peak == Bytes(6 * 1024 + 256));
  CHECK(ran.report.memory.of(LogicalId(1)).peak == Bytes(12 * 1024 + 256));
  CHECK(ran.check("MEMORY.CAPACITY").message.find("device 1 holds 12.25 KiB") != std::string::npos);
}

/// Returns two programs on both of two devices.
test::ScenarioParts side_by_side(const std::string& left, const std::string& right) {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.devices = 2;
  parts.mesh = R"({"x": 2})";
  parts.arrays = R"({"a": {"shape": [512], "dtype": "f32", "spec": ["x"], "init": "iota"}})";
  parts.program = R"([{"name": "left", "on": [0, 1], "do": [)" + left +
                  R"(]}, {"name": "right", "on": {}, "do": [)" + right + "]}]";
  return parts;
}

std::string sum(const std::string& id) {
  return R"({"id": ")" + id +
         R"(", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"})";
}

TEST_CASE("sites: one thread starts what another one waits for at once, with the same values") {
  const auto program = [](const std::string& front) {
    test::ScenarioParts parts;
    parts.threads = true;
    parts.program =
        R"([{"on": {"x": [0, 2]}, "do": [)" + front + R"(]}, {"on": {"x": [2, 4]}, "do": [
{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "site": "all"},
{"id": "t", "op": "mul", "of": ["r", "a"]}]}])";
    parts.outputs = R"(["s", "t"])";
    parts.checked = false;
    return test::run_parts(parts);
  };
  const std::string work =
      R"({"id": "c", "op": "neg", "of": "a"}, {"id": "d", "op": "neg", "of": "c"})";
  const test::Ran both_sync =
      program(R"({"id": "s", "op": "psum", "of": "a", "axis_name": "x", "site": "all"}, )" + work);
  const test::Ran one_started =
      program(R"({"id": "f", "op": "psum_start", "of": "a", "axis_name": "x", "site": "all"}, )" +
              work + R"(, {"id": "s", "op": "done", "of": "f"})");
  CHECK(both_sync.broken() == std::vector<std::string>{});
  CHECK(one_started.broken() == std::vector<std::string>{});
  // "iota" counts over 32: device d has 8 d + i, so the sum is 48 + 4 i.
  const auto& values = *one_started.report.values;
  const auto names = values_by_name(one_started.report.scenario->program);
  for (uint32_t i = 0; i < 8; ++i) {
    CHECK(values.at(names.at("s"), LogicalId(1))->as<float>()[i] == 48 + 4 * i);
    CHECK(values.at(names.at("r"), LogicalId(2))->as<float>()[i] == 48 + 4 * i);
  }
  CHECK(one_started.check("SCHEDULE.PROVED").holds());
  // The work is hidden only where the sum was started before it.
  CHECK(one_started.report.completion->makespan < both_sync.report.completion->makespan);
}

TEST_CASE("sites: a start that is never done is a leak, whatever the other thread does") {
  test::ScenarioParts parts;
  parts.threads = true;
  parts.program = R"([{"on": {"x": [0, 2]}, "do": [
{"id": "f", "op": "psum_start", "of": "a", "axis_name": "x", "site": "all"}]},
{"on": {"x": [2, 4]}, "do": [{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "site": "all"}]}])";
  parts.checked = false;
  CHECK(test::run_parts(parts).broken() == std::vector<std::string>{"LEAK.FREE"});
}

TEST_CASE("lists of one device: computation of one does not delay the other") {
  const std::string work =
      R"({"id": "c", "op": "compute", "flops": "9 MFLOP", "bytes": "0 B", "dtype": "f32"})";
  const test::Ran alone = test::run_parts(side_by_side(sum("s"), ""));
  const test::Ran both = test::run_parts(side_by_side(sum("s"), work));
  CHECK(both.broken() == std::vector<std::string>{});
  CHECK(both.report.ops[0].end == alone.report.ops[0].end);
  CHECK(both.report.ops[1].start == Instant());
  CHECK(both.report.completion->makespan == Instant(9'000'000));  // 9 MFLOP at 1 TFLOP/s
}

TEST_CASE("lists of one device: collectives of both share the links") {
  // Two chunks of 512 B each go at 1 GB/s and 1 us, one after the other. If two sums run, each gets
  // half the rate.
  const test::Ran one = test::run_parts(side_by_side(sum("s"), ""));
  CHECK(one.report.completion->makespan == Instant(2 * (1'000'000 + 512'000)));
  const test::Ran two = test::run_parts(side_by_side(sum("s"), sum("t")));
  CHECK(two.broken() == std::vector<std::string>{});
  CHECK(two.report.completion->by == TimedBy::Engine);
  CHECK(two.report.completion->makespan == Instant(2 * (1'000'000 + 2 * 512'000)));
}

TEST_CASE("lists of one device: storage that one list takes over, the other may not read") {
  const std::string taken = R"({"id": "t", "op": "add", "of": ["a", "a"], "donate": "a"})";
  const std::string read = R"({"id": "r", "op": "neg", "of": "a"})";
  const test::Ran ran = test::run_parts(side_by_side(taken, read));
  CHECK(ran.check("DONATION.USE").message ==
        "\"r\" uses \"a\" on device 0, where \"t\" of another program takes it over.");
}

TEST_CASE("lists of one device: the report labels the bound") {
  const test::Ran ran = test::run_parts(side_by_side(sum("s"), sum("t")));
  const std::vector<std::string>& labels = ran.report.labels;
  CHECK(std::count(labels.begin(), labels.end(),
                   "memory: on 2 devices bounded by the sum of their programs' peaks") == 1);
  CHECK(ran.report.devices.size() == 2);
  CHECK(ran.report.devices[0].threads.size() == 2);
}

}  // namespace
}  // namespace orrery
