// Tests ops with several results, scratch and aliases, from the scenario's text to the report.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/property.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery::test {
namespace {

ValueId named(const Program& program, std::string_view name) {
  return values_by_name(program).at(name);
}

/// Returns "p0", "p1", ... as JSON.
std::string part_names(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back(fmt::format("\"p{}\"", i));
  return fmt::format("[{}]", fmt::join(names, ", "));
}

/// `ScatteredParts` splits an array `a`, sharded over 4 devices, in parts. "whole" joins the parts
/// again. "sums" joins the sums of the parts over the devices, and "sum" is the sum of "whole".
struct ScatteredParts {
  std::vector<int64_t> shape;  // of a device's part
  size_t axis = 0;
  std::vector<int64_t> sizes;

  std::string ids() const { return sizes.size() == 1 ? "\"p0\"" : part_names(sizes.size()); }

  ScenarioParts scenario() const {
    std::vector<int64_t> global = shape;
    global[0] *= 4;
    std::string program = fmt::format(
        R"([{{"id": {}, "op": "split", "of": "a", "sizes": {}, "axis": {}}})", ids(), sizes, axis);
    program += fmt::format(R"(, {{"id": "whole", "op": "concatenate", "of": {}, "dimension": {}}})",
                           part_names(sizes.size()), axis);
    std::vector<std::string> sums;
    for (size_t p = 0; p < sizes.size(); ++p) {
      program += fmt::format(
          R"(, {{"id": "s{0}", "op": "psum", "of": "p{0}", "axis_name": "x", "algorithm": "ring"}})",
          p);
      sums.push_back(fmt::format("\"s{}\"", p));
    }
    program +=
        fmt::format(R"(, {{"id": "sums", "op": "concatenate", "of": [{}], "dimension": {}}})",
                    fmt::join(sums, ", "), axis);
    program +=
        R"(, {"id": "sum", "op": "psum", "of": "whole", "axis_name": "x", "algorithm": "recursive_doubling"}])";
    ScenarioParts parts;
    parts.program = program;
    parts.arrays =
        fmt::format(R"({{"a": {{"shape": {}, "dtype": "f32", "spec": ["x"]}}}})", global);
    parts.outputs = R"(["whole", "sums", "sum"])";
    parts.expect = R"([{"equal": ["a", "whole"]}, {"close": ["sums", "sum"]}])";
    return parts;
  }
};

ScatteredParts any_parts() {
  ScatteredParts parts;
  const auto rank = in_range<size_t>(1, 4);
  parts.axis = in_range<size_t>(0, rank);
  for (size_t d = 0; d < rank; ++d)
    parts.shape.push_back(in_range<int64_t>(1, 5));
  const auto count = in_range<size_t>(1, 5);
  parts.shape[parts.axis] = 0;
  for (size_t p = 0; p < count; ++p) {
    // The first part has at least one element, since an array is not empty.
    parts.sizes.push_back(in_range<int64_t>(p == 0 ? 1 : 0, 4));
    parts.shape[parts.axis] += parts.sizes.back();
  }
  return parts;
}

TEST_CASE("split: its parts, concatenated, are the operand, and sum to the operand's sum") {
  holds_for_all("split and concatenate", [] {
    const ScatteredParts parts = any_parts();
    const Ran ran = run_parts(parts.scenario());
    RC_ASSERT(ran.broken().empty());
    const Program& program = ran.report.scenario->program;
    const Op& split = program.ops.front();
    RC_ASSERT(split.results.size() == parts.sizes.size());
    int64_t elements = 0;
    for (size_t p = 0; p < parts.sizes.size(); ++p) {
      const std::optional<Tensor>& part =
          ran.report.values->at(named(program, fmt::format("p{}", p)), LogicalId(0));
      RC_ASSERT(part->shape()[parts.axis] == parts.sizes[p]);
      elements += part->elements();
    }
    RC_ASSERT(elements ==
              ran.report.values->at(program.arguments[0].value, LogicalId(0))->elements());
    // Written and read again, the scenario is the same run.
    const std::string text = write_scenario(*ran.report.scenario);
    const Report again = run(read_scenario("again", text), {});
    RC_ASSERT(again.fingerprint == ran.report.fingerprint);
  });
}

/// Runs a program on one list of 4 devices, with an alignment of 1 byte.
Ran run_packed(const std::string& program, const std::string& memory = "1 MiB") {
  ScenarioParts parts;
  parts.program = program;
  parts.memory = memory;
  parts.policy = R"({"alignment": "1 B"})";
  return run_parts(parts);
}

TEST_CASE("scratch: fits to the byte, and not in a byte less") {
  // a has 8 f32 on each device. The compute reads a, makes 4 bytes, and needs 100 more.
  const std::string program =
      R"([{"id": "c", "op": "compute", "of": "a", "flops": 1, "bytes": 36, "dtype": "f32",
           "shape": [], "scratch": "100 B"}])";
  const int64_t most = 32 + 4 + 100;
  const Ran fits = run_packed(program, fmt::format("{} B", most));
  CHECK(fits.report.memory.largest_peak() == Bytes(most));
  CHECK(fits.report.memory.lists[0].arena == Bytes(most));
  CHECK(fits.broken().empty());
  CHECK(run_packed(program, fmt::format("{} B", most - 1)).broken() ==
        std::vector<std::string>{"MEMORY.CAPACITY"});
}

TEST_CASE("scratch: a product's workspace is held while it runs") {
  const auto peak = [](const std::string& scratch) {
    return run_packed(R"([{"id": "d", "op": "dot_general", "of": ["a", "a"],
                           "dimension_numbers": [[[0], [0]], [[], []]])" +
                      scratch + "}, " + R"({"id": "e", "op": "concatenate", "of": ["a", "a"],
                           "dimension": 0}])")
        .report.memory.lists[0];
  };
  CHECK(peak("").live == std::vector<Bytes>{Bytes(32 + 4), Bytes(32 + 64)});
  CHECK(peak(R"(, "scratch": 1000)").live == std::vector<Bytes>{Bytes(32 + 4 + 1000), Bytes(96)});
}

TEST_CASE("in place: a result takes no room of its own, and what it is written over is gone") {
  // The compute updates a in place, from n. Both have 32 B on each device.
  const std::string program = R"([{"id": "n", "op": "neg", "of": "a"},
      {"id": "u", "op": "compute", "of": ["n", "a"], "flops": 8, "bytes": 96, "dtype": "f32",
       "shape": [8], "in_place_of": 1, "donate": "a"}, )";
  const std::string good = program + R"({"id": "v", "op": "reduce_sum", "of": "u", "axes": [0]}])";
  const Ran fits = run_packed(good, "64 B");
  CHECK(fits.broken().empty());
  // a + n | u in a + n | u + v
  CHECK(fits.report.memory.lists[0].live == std::vector<Bytes>{Bytes(64), Bytes(64), Bytes(36)});
  CHECK(run_packed(good, "63 B").broken() == std::vector<std::string>{"MEMORY.CAPACITY"});
  CHECK(run_packed(program + R"({"id": "v", "op": "reduce_sum", "of": "a", "axes": [0]}])")
            .broken() == std::vector<std::string>{"DONATION.USE"});
}

TEST_CASE("barrier: takes no time and no room, and its results are its operands") {
  const std::string before = R"([{"id": "n", "op": "neg", "of": "a"}, )";
  const Ran ran =
      run_packed(before + R"({"id": ["b", "m"], "op": "optimization_barrier", "of": ["a", "n"]},
                  {"id": "s", "op": "add", "of": ["b", "m"]}])");
  const Ran without = run_packed(before + R"({"id": "s", "op": "add", "of": ["a", "n"]}])");
  CHECK(ran.broken().empty());
  CHECK(ran.report.completion->makespan == without.report.completion->makespan);
  CHECK(ran.report.memory.largest_peak() == without.report.memory.largest_peak());
  const Program& program = ran.report.scenario->program;
  const auto value = [&](std::string_view name) {
    return *ran.report.values->at(named(program, name), LogicalId(1));
  };
  CHECK(value("m") == value("n"));
  CHECK(value("b") == value("a"));
}

TEST_CASE("donation: of one result does not forbid the others") {
  const std::string split = R"([{"id": ["p", "q"], "op": "split", "of": "a", "sizes": [4, 4]},
                                {"id": "n", "op": "neg", "of": "p", "donate": "p"}, )";
  CHECK(run_packed(split + R"({"id": "m", "op": "neg", "of": "q"}])").broken().empty());
  CHECK(run_packed(split + R"({"id": "m", "op": "neg", "of": "p"}])").broken() ==
        std::vector<std::string>{"DONATION.USE"});
}

}  // namespace
}  // namespace orrery::test
