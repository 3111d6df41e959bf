// Tests what a report says of reshards: thresholds that are found, labels, copies that differ,
// places in the file, and which devices hold what.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "simulator/analyze/why.h"
#include "verifier/run.h"

namespace orrery {
namespace {

/// Returns the report of a program on {s: 2, m: 2}. Devices have so much memory, if any is given.
Report report_of(const std::string& arrays, const std::string& program, const std::string& memory,
                 const std::string& more = "") {
  return run(read_scenario("r", fmt::format(R"({{"orrery": 1, "mesh": {{"s": 2, "m": 2}},
 "cluster": {{"devices": 4, "topology": "fully_connected", "bandwidth": "1 GB/s", "latency": "1 us"{}}},
 "arrays": {{{}}}, {}{}}})",
                                            memory, arrays, program, more)),
             {});
}

bool has_label(const Report& report, const std::string& label) {
  return std::find(report.labels.begin(), report.labels.end(), label) != report.labels.end();
}

const std::string kTwoArrays =
    R"("a": {"shape": [256], "dtype": "f32", "spec": [["s", "m"]]}, "b": {"shape": [256], "dtype": "f32", "spec": ["s"]})";
const std::string kToGroupOne =
    R"({"id": ["p", "q"], "op": "spmd_to_mpmd_reshard", "of": ["a", "b"], "mpmd_axis": "s",
 "shardings": [{"mesh_ids": [1], "spec": ["m"]}, {"mesh_ids": [1], "spec": []}]})";

TEST_CASE("reshards: a threshold that is not given is a third of what a device has left") {
  // A device has 256 B of a, 512 B of b and 512 B of t before: 1280 of 8192 B, and a third of 6912
  // is 2304.
  const Report report = report_of(kTwoArrays,
                                  R"("program": [{"id": "t", "op": "add", "of": ["b", "b"]}, )" +
                                      kToGroupOne + R"(], "outputs": ["t"])",
                                  R"(, "memory": "8 KiB")");
  const Reshard& reshard = report.scenario->program.reshards.front();
  CHECK(reshard.threshold == Bytes(2304));
  CHECK(reshard.transfers == std::vector<std::vector<size_t>>{{1, 0}});
  CHECK(
      has_label(report,
                "reshard \"p\": threshold 2.25 KiB, a third of the least that a device's memory is "
                "above its peak so far (not given)"));
}

TEST_CASE("reshards: what a device held earlier counts, not what it holds now") {
  // t and u together were 1024 B beside 768 B of arguments, but are gone: (8192 - 1792) / 3.
  const Report report = report_of(
      kTwoArrays,
      R"("program": [{"id": "t", "op": "add", "of": ["b", "b"]}, {"id": "u", "op": "neg", "of": "t"}, )" +
          kToGroupOne + R"(], "outputs": ["p"])",
      R"(, "memory": "8 KiB")");
  CHECK(report.scenario->program.reshards.front().threshold == Bytes(2133));
}

TEST_CASE("reshards: without the devices' memory all arrays move at once") {
  const Report report = report_of(kTwoArrays, R"("program": [)" + kToGroupOne + "]", "");
  CHECK(report.scenario->program.reshards.front().transfers ==
        std::vector<std::vector<size_t>>{{1, 0}});
  CHECK(has_label(report,
                  "reshard \"p\": all its arrays move at once (neither a threshold nor the "
                  "devices' memory is given)"));
}

TEST_CASE("reshards: a report says where targets are more than the threshold") {
  std::string program = R"("program": [)" + kToGroupOne + "]";
  program.insert(program.rfind('}'), R"(, "threshold": "1023 B")");
  // Sources of 128 and 256 elements in two groups; a device gets 128 and 256 of them.
  const Report report = report_of(kTwoArrays, program, "");
  CHECK(report.reshards.front().targets == std::vector<Bytes>{Bytes(1024), Bytes(512)});
  CHECK(has_label(report,
                  "reshard \"p\": transfer group 1 puts 1 KiB on each device, more than the "
                  "threshold of 1023 B"));
}

TEST_CASE("reshards: copies on groups that differ fail a check, and the first is read") {
  const Report report = report_of(
      R"("g": {"local_shape": [1], "dtype": "s32", "spec": ["m"], "per_device": [[1], [2], [1], [7]]})",
      R"("program": [{"id": ["r"], "op": "mpmd_to_spmd_reshard", "of": ["g"], "mpmd_axis": "s", "specs": [["m"]]}])",
      "",
      R"(, "check_types": false, "outputs": ["r"], "expect": [{"values": {"r": [[1], [2], [1], [2]]}}])");
  std::vector<std::string> failed;
  for (const Check& check : report.checks)
    if (!check.holds())
      failed.push_back(fmt::format("{} {}: {}", check.name, check.of, check.message));
  CHECK(failed == std::vector<std::string>{"MPMD.REPLICAS /program/0: Groups 0 and 1 have 2 and 7 "
                                           "in element 0 of \"g\", on devices 1 and 3."});
}

TEST_CASE("reshards: of copies over the whole mesh that differ the first is read") {
  CHECK(
      report_of(
          R"("c": {"local_shape": [1], "dtype": "s32", "spec": ["m"], "per_device": [[1], [2], [5], [6]]})",
          R"("program": [{"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["c"], "mpmd_axis": "s",
 "shardings": [{"mesh_ids": [1], "spec": []}]}])",
          "",
          R"(, "check_types": false, "outputs": ["p"], "expect": [{"values": {"p": [null, null, [1, 2], [1, 2]]}}])")
          .holds());
}

TEST_CASE("logically_stacked: the spec of the result is padded, and then has the axis") {
  // c is cut by m along its first dimension. The stack has the axis of groups along its last.
  CHECK(
      report_of(
          R"("c": {"shape": [2, 2], "dtype": "s32", "spec": ["m"], "init": "iota"})",
          R"("program": [
 {"id": "t", "op": "logically_stacked", "of": "c", "mpmd_axis": "s", "array_axis": 2},
 {"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["t"], "mpmd_axis": "s",
  "shardings": [{"mesh_ids": [0], "spec": [null, "m"]}]}])",
          "",
          R"(, "outputs": ["p"], "expect": [{"values": {"p": [[0, 0, 2, 2], [1, 1, 3, 3], null, null]}}])")
          .holds());
}

TEST_CASE("reshards: an array twice in a transfer group is read before it is taken over") {
  // One copy is gathered while the other is cut.
  CHECK(
      report_of(
          R"("a": {"shape": [4], "dtype": "s32", "spec": ["m"], "init": "iota"})",
          R"("program": [{"id": ["p", "q"], "op": "spmd_to_mpmd_reshard", "of": ["a", "a"], "mpmd_axis": "m",
 "shardings": [{"mesh_ids": [0], "spec": []}, {"mesh_ids": [1], "spec": ["s"]}]}])",
          "",
          R"(, "outputs": ["p", "q"], "expect": [{"values":
 {"p": [[0, 1, 2, 3], null, [0, 1, 2, 3], null], "q": [null, [0, 1], null, [2, 3]]}}])")
          .holds());
}

TEST_CASE(
    "reshards: a threshold is found beside a ragged exchange, and places stay those of the file") {
  const std::string text = R"({"orrery": 1, "mesh": {"i": 2}, "check_types": false,
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us", "memory": "4 KiB"},
"arrays": {"x": {"shape": [256], "dtype": "s32", "spec": ["i"]}, "y": {"shape": [256], "dtype": "s32", "spec": ["i"]},
 "o": {"shape": [4], "dtype": "s32", "init": "zeros"}, "from": {"shape": [2], "dtype": "s32", "init": "zeros"},
 "one": {"shape": [2], "dtype": "s32", "init": "ones"}},
"program": [
 {"id": "r", "op": "ragged_all_to_all", "of": ["o", "o", "from", "one", "from", "one"], "axis_name": "i", "assume_sizes": [[1]]},
 {"id": ["p", "q"], "op": "spmd_to_mpmd_reshard", "of": ["x", "y"], "mpmd_axis": "i",
  "shardings": [{"mesh_ids": [0], "spec": []}, {"mesh_ids": [1], "spec": []}]}],
"outputs": ["p"]})";
  const Report report = run(read_scenario("r", text), {});
  const Program& program = report.scenario->program;
  // The sources are above a third of what is left, so that the groups are made again.
  CHECK(program.reshards.front().transfers.size() == 2);
  for (const Op& op : program.ops)
    CHECK(op.origin.value().at->line == (op.reshard ? 8 : 7));
}

TEST_CASE("reshards: what a device held is explained where it holds it") {
  const Report report = report_of(
      R"("a": {"shape": [1024], "dtype": "s32", "spec": ["s"]})",
      R"("program": [{"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["a"], "mpmd_axis": "s",
 "shardings": [{"mesh_ids": [1], "spec": []}]}])",
      "", R"(, "outputs": ["p"])");
  const Program& program = report.scenario->program;
  const std::vector<ValueLife> lives =
      value_lives(program, *report.lowered, report.scenario->memory, report.memory,
                  values_by_name(program).at("p.2"));
  REQUIRE(lives.size() == 2);
  CHECK(devices_text(lives[0].devices) == "devices 0-1");
  CHECK(lives[0].until == HeldUntil::LastUse);
  CHECK(devices_text(lives[1].devices) == "devices 2-3");
  CHECK(lives[1].until == HeldUntil::EndAsOutput);
}

}  // namespace
}  // namespace orrery
