// Tests the scenario of ring attention: how many blocks each device does, both makespans, and that
// the values are those of a single device.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/amount_text.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

const std::string kRingAttention = in_tree("scenarios/ring-attention.json");
constexpr int kRanks = 4;
// There are 4 heads of 32, and half of a device's part of 512 tokens is 64. So a block has two
// products, each of 2 x 4 x 64 x 64 x 32 flops, at 1 TFLOP/s.
constexpr int64_t kBlockPicoseconds = 2 * (2 * 4 * 64 * 64 * 32);

Json report_of(const std::string& scenario) {
  const Ran run = ran({"run", scenario, "--format", "json"});
  REQUIRE_MESSAGE(run.outcome == Outcome::Holds, run.out << run.err);
  return Json::parse(run.out);
}

/// Returns how many ops of the report have this kind and type, and an id that begins so.
int count(const Json& report, const std::string& prefix, const std::string& op,
          const std::string& type) {
  const Json& ops = report.at("ops");
  return static_cast<int>(std::count_if(ops.begin(), ops.end(), [&](const Json& of) {
    return of.at("op") == op && of.at("type") == type &&
           of.at("id").get<std::string>().starts_with(prefix);
  }));
}

/// Returns a time of each op whose id begins so.
std::vector<int64_t> times_of(const Json& report, const std::string& prefix,
                              const std::string& time) {
  std::vector<int64_t> times;
  for (const Json& op : report.at("ops"))
    if (op.at("id").get<std::string>().starts_with(prefix))
      times.push_back(op.at(time).get<int64_t>());
  REQUIRE(!times.empty());
  return times;
}

int64_t first_of(const std::vector<int64_t>& times) {
  return *std::min_element(times.begin(), times.end());
}

int64_t last_of(const std::vector<int64_t>& times) {
  return *std::max_element(times.begin(), times.end());
}

/// Both attentions, in picoseconds. The ops of the first begin with "c", those of the second with
/// "r".
struct Spans {
  int64_t first_end = 0;
  int64_t second_begin = 0;
  int64_t second_end = 0;
  int64_t first() const { return first_end; }
  int64_t second() const { return second_end - second_begin; }
};

Spans spans_of(const Json& report) {
  return {last_of(times_of(report, "c", "end_ps")), first_of(times_of(report, "r", "start_ps")),
          last_of(times_of(report, "r", "end_ps"))};
}

std::string printed(int64_t picoseconds) {
  return time_text(Duration(picoseconds));
}

/// Returns the row of the op with this id.
std::string row_of(const std::string& report, const std::string& id) {
  const size_t begin = report.find("\n  " + id + " ");
  REQUIRE(begin != std::string::npos);
  return report.substr(begin + 1, report.find('\n', begin + 1) - begin - 1);
}

// A part of the queries has a block for itself and one for each part before it. Device r has parts
// 2r and 2r + 1 of the sequence as it is, so (2r + 1) + (2r + 2) blocks. Reordered it has parts r
// and 2cp - 1 - r, so (r + 1) + (2cp - r) = 2cp + 1.
TEST_CASE("ring attention: the slowest device does 4cp - 1 blocks, and 2cp + 1 reordered") {
  const Json report = report_of(kRingAttention);
  std::array<int, 2> most{};
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::array<int, 2> expected = {4 * rank + 3, 2 * kRanks + 1};
    for (size_t layout = 0; layout < most.size(); ++layout) {
      const std::string device = fmt::format("{}{}.", layout == 0 ? 'c' : 'r', rank);
      CAPTURE(device);
      const int blocks = count(report, device, "dot_general", "f32[4,64,64]");
      CHECK(blocks == expected[layout]);
      CHECK(count(report, device, "dot_general", "f32[4,64,32]") == blocks);
      CHECK(count(report, device, "select_n", "f32[4,64,64]") == 2);  // those on the diagonal
      most[layout] = std::max(most[layout], blocks);
    }
  }
  CHECK(most == std::array{4 * kRanks - 1, 2 * kRanks + 1});
}

TEST_CASE("ring attention: the second takes less time, and both at least that of their blocks") {
  const Spans spans = spans_of(report_of(kRingAttention));
  CHECK(spans.first() >= (4 * kRanks - 1) * kBlockPicoseconds);
  CHECK(spans.second() >= (2 * kRanks + 1) * kBlockPicoseconds);
  CHECK(spans.second() < spans.first());
  const auto microseconds = [](int64_t time) { return static_cast<double>(time) / 1e6; };
  CHECK(text_of(in_tree("README.md"))
            .find(fmt::format("{:.1f} us and {:.1f} us", microseconds(spans.first()),
                              microseconds(spans.second()))) != std::string::npos);
}

TEST_CASE("ring attention: the second begins on all devices where they meet, after the first") {
  const Json report = report_of(kRingAttention);
  const Spans spans = spans_of(report);
  const std::vector<int64_t> met = times_of(report, "meet", "end_ps");
  CHECK(met.size() == kRanks);
  CHECK(spans.second_begin == first_of(met));
  CHECK(spans.second_begin > spans.first_end);
  CHECK(printed(first_of(met)) == printed(last_of(met)));
  for (int rank = 0; rank < kRanks; ++rank)
    CHECK(first_of(times_of(report, fmt::format("r{}.", rank), "start_ps")) ==
          times_of(report, fmt::format("meet{}", rank), "end_ps").at(0));
}

TEST_CASE("ring attention: the report has the rows where both end, and where the second begins") {
  const Ran report = ran({"run", kRingAttention});
  const Spans spans = spans_of(report_of(kRingAttention));
  CHECK(row_of(report.out, "contiguous0").find(printed(spans.first_end)) != std::string::npos);
  CHECK(row_of(report.out, "meet0").find(printed(spans.second_begin)) != std::string::npos);
  CHECK(row_of(report.out, "reordered3").find(printed(spans.second_end)) != std::string::npos);
  CHECK(report.out == text_of(in_tree("tests/tools/cli/golden/ring-attention.txt")));
}

/// Attention of the whole sequence in one block, by one device.
const char* const kAlone = R"([
{"id": "a.scale", "op": "full", "shape": [], "fill_value": 0.17677669529663687, "dtype": "f64"},
{"id": "a.scale.all", "op": "broadcast_in_dim", "of": "a.scale", "shape": [4, 512, 32], "broadcast_dimensions": []},
{"id": "a.q", "op": "mul", "of": ["q_whole", "a.scale.all"]},
{"id": "a.k", "op": "slice", "of": "kv_whole", "start_indices": [0, 0, 0], "limit_indices": [4, 512, 32]},
{"id": "a.v", "op": "slice", "of": "kv_whole", "start_indices": [0, 0, 32], "limit_indices": [4, 512, 64]},
{"id": "a.scores", "op": "dot_general", "of": ["a.q", "a.k"], "dimension_numbers": [[[2], [2]], [[0], [0]]]},
{"id": "a.query", "op": "iota", "dtype": "s32", "shape": [4, 512, 512], "dimension": 1},
{"id": "a.key", "op": "iota", "dtype": "s32", "shape": [4, 512, 512], "dimension": 2},
{"id": "a.seen", "op": "ge", "of": ["a.query", "a.key"]},
{"id": "a.never", "op": "full", "shape": [], "fill_value": -1e30, "dtype": "f64"},
{"id": "a.never.all", "op": "broadcast_in_dim", "of": "a.never", "shape": [4, 512, 512], "broadcast_dimensions": []},
{"id": "a.masked", "op": "select_n", "of": ["a.seen", "a.never.all", "a.scores"]},
{"id": "a.most", "op": "reduce_max", "of": "a.masked", "axes": [2]},
{"id": "a.most.all", "op": "broadcast_in_dim", "of": "a.most", "shape": [4, 512, 512], "broadcast_dimensions": [0, 1]},
{"id": "a.below", "op": "sub", "of": ["a.masked", "a.most.all"]},
{"id": "a.weights", "op": "exp", "of": "a.below"},
{"id": "a.total", "op": "reduce_sum", "of": "a.weights", "axes": [2]},
{"id": "a.values", "op": "dot_general", "of": ["a.weights", "a.v"], "dimension_numbers": [[[2], [1]], [[0], [0]]]},
{"id": "a.total.all", "op": "broadcast_in_dim", "of": "a.total", "shape": [4, 512, 32], "broadcast_dimensions": [0, 1]},
{"id": "alone", "op": "div", "of": ["a.values", "a.total.all"]}
])";

// The scenario is run in f64: in f32 an element of 65,536 is as small as what its roundings allow.
TEST_CASE("ring attention: both have the values of a single device") {
  std::string text = text_of(kRingAttention);
  for (size_t at = 0; (at = text.find("\"f32\"", at)) != text.npos;)
    text.replace(at, 5, "\"f64\"");
  Json scenario = Json::parse(text, nullptr, true, true);
  for (const Json& op : Json::parse(kAlone))
    scenario.at("programs").at(0).at("do").push_back(op);
  scenario.at("outputs").push_back("alone");
  scenario.at("expect") = Json::parse(R"([
    {"close": ["contiguous0", "alone"], "devices": "common"},
    {"close": ["back0", "alone"], "devices": "common"}
  ])");
  const TemporaryFolder folder;
  const Json report = report_of(folder.file("with_alone.json", scenario.dump()));
  const Json& checks = report.at("checks");
  CHECK(std::count_if(checks.begin(), checks.end(), [](const Json& check) {
          return check.at("name") == "VALUES.CLOSE" && check.at("holds") == true;
        }) == 2);
}

}  // namespace
}  // namespace orrery::test
