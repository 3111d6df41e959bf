// Compares the answers to queries about shardings with JAX's (tests/data/shardings/README.md).

#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/base/diagnostics.h"
#include "models/scenario/queries.h"
#include "models/scenario/reader.h"
#include "simulator/values/host_executor.h"
#include "tests/oracle/corpus.h"

namespace orrery::test {
namespace {

using nlohmann::json;

/// Returns our answer without the members that JAX's lacks, where the README names a rule by which
/// they differ, and with the stage alone of an error.
json comparable(json ours, const json& query, const json& theirs) {
  if (ours.contains("error"))
    ours["error"].erase("message");
  const bool unreduced = query.contains("unreduced") && !query["unreduced"].empty();
  if (unreduced && !theirs.contains("index")) {  // 12.5: JAX has no index map of unreduced arrays
    ours.erase("index");
    ours.erase("replica_ids");
  }
  return ours;
}

/// Compares each line of a file. Returns how many had an error of each stage ("" is none).
std::map<std::string, int> compared(const std::string& file) {
  std::map<std::string, int> stages;
  std::string differing;
  int differ = 0;
  for (const std::string& line :
       lines_of(std::string(ORRERY_SOURCE_ROOT) + "/tests/data/shardings/" + file)) {
    const json both = json::parse(line);
    const std::string query = both["query"].dump();
    const json& theirs = both["answer"];
    const json ours =
        comparable(json::parse(answer_sharding_query(query, {}).line), both["query"], theirs);
    ++stages[theirs.contains("error") ? theirs["error"]["stage"].get<std::string>() : ""];
    constexpr int kMostShown = 5;
    if (ours != theirs && ++differ <= kMostShown)
      differing += query + "\n  ours:   " + ours.dump() + "\n  theirs: " + theirs.dump() + "\n";
  }
  CHECK_MESSAGE(differ == 0, file << ": " << differ << " answers differ, as of\n" << differing);
  return stages;
}

TEST_CASE("shardings: 4,100 answers are JAX's") {
  const std::map<std::string, int> stages = compared("queries.jsonl.gz");
  CHECK(stages == std::map<std::string, int>{{"", 3159},
                                             {"hlo", 131},
                                             {"map", 266},
                                             {"mesh", 70},
                                             {"shape", 143},
                                             {"sharding", 172},
                                             {"spec", 159}});
}

TEST_CASE("shardings: 1,000 corrected specs are those of get_corrected_named_sharding") {
  const std::map<std::string, int> stages = compared("corrected.jsonl.gz");
  CHECK(stages == std::map<std::string, int>{{"", 990}, {"sharding", 10}});
}

/// Returns the order that reorder_sequence gives the dimension: where each element of the result
/// was. The same element of all other dimensions is followed.
std::vector<int64_t> order_of(const Scenario& scenario, size_t dimension) {
  const Op& op = scenario.program.ops.front();
  const Shape& shape = scenario.program.value(op.operands.front()).type.shape;
  Tensor numbered(Dtype::S32, shape);
  const std::span<int32_t> numbers = numbered.as<int32_t>();
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<const Tensor*> operands{&numbered};
  const std::vector<Tensor> results = evaluate_local(scenario.program, op, operands, LogicalId(0));
  const int64_t below = shape.elements_from(dimension + 1);
  const std::span<const int32_t> moved = results.front().as<int32_t>();
  std::vector<int64_t> order;
  for (int64_t i = 0; i < shape[dimension]; ++i)
    order.push_back(moved[static_cast<size_t>(i * below)] / below);
  for (int64_t e = 0; e < shape.elements(); ++e) {  // elements move along the dimension alone
    const int64_t i = e / below % shape[dimension];
    const int64_t from = e + (order[static_cast<size_t>(i)] - i) * below;
    CHECK(moved[static_cast<size_t>(e)] == from);
  }
  return order;
}

TEST_CASE("shardings: 1,000 reorderings are those of reorder_sequence") {
  int refused = 0;
  for (const std::string& line :
       lines_of(std::string(ORRERY_SOURCE_ROOT) + "/tests/data/shardings/reorder.jsonl.gz")) {
    CAPTURE(line);
    const json asked = json::parse(line);
    const json scenario = {
        {"orrery", 1},
        {"mesh", {{"x", 1}}},
        {"cluster",
         {{"devices", 1}, {"topology", "ring"}, {"bandwidth", "1 GB/s"}, {"latency", "1 us"}}},
        {"arrays", {{"a", {{"shape", asked["shape"]}, {"dtype", "s32"}}}}},
        {"program",
         {{{"id", "r"},
           {"op", "reorder_sequence"},
           {"of", "a"},
           {"cp_size", asked["cp_size"]},
           {"seq_dim", asked["seq_dim"]},
           {"to_contiguous", asked["to_contiguous"]}}}}};
    std::string error;
    try {
      const Scenario read = read_scenario("reorder.json", scenario.dump());
      if (asked.contains("order"))
        CHECK(order_of(read, asked["seq_dim"]) == asked["order"].get<std::vector<int64_t>>());
    } catch (const InputError& refusal) {
      error = refusal.diagnostics().front().message;
    }
    if (!asked.contains("refused")) {
      CHECK(error == "");
      continue;
    }
    ++refused;
    CHECK(error != "");
    CHECK((error.find(" to divide an extent of ") != std::string::npos) ==
          (asked["refused"] == "length"));
  }
  CHECK(refused == 133);
}

}  // namespace
}  // namespace orrery::test
