// Compares "numerics": "xla-cpu" with a table that JAX made (tests/data/jax); with one_shot bit for
// bit.

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "models/scenario/reader.h"
#include "simulator/algorithm/algorithms.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// A `TableRow` is a line of the table. Its parts are JSON, as tools/oracle/fold_values.py wrote
/// them.
struct TableRow {
  std::string op;
  std::string mesh;
  std::string keys;
  std::string dtype;
  std::string shape;
  std::vector<std::string> operands;  // per device; first those of the first operand
  std::string results;
};

/// Returns the lists in a list: "[1,2]" and "[3]" for "[[1,2],[3]]".
std::vector<std::string> lists_in(const std::string& text) {
  std::vector<std::string> lists;
  for (size_t begin = text.find('[', 1); begin != std::string::npos;
       begin = text.find('[', begin + 1))
    lists.push_back(text.substr(begin, text.find(']', begin) + 1 - begin));
  return lists;
}

std::vector<TableRow> rows() {
  std::ifstream file(std::string(ORRERY_SOURCE_ROOT) + "/tests/data/jax/fold_values.txt");
  std::vector<TableRow> all;
  std::string line;
  std::getline(file, line);  // the versions
  while (std::getline(file, line)) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin < line.size();) {
      const size_t end = std::min(line.find(" | ", begin), line.size());
      parts.push_back(line.substr(begin, end - begin));
      begin = end + 3;
    }
    REQUIRE(parts.size() == 7);
    all.push_back({parts[0], parts[1], parts[2], parts[3], parts[4], lists_in(parts[5]), parts[6]});
  }
  return all;
}

size_t devices_of(const TableRow& row) {
  return lists_in(row.results).size();
}

std::string joined(const std::vector<std::string>& lists, size_t first, size_t count) {
  std::string text;
  for (size_t i = first; i < first + count; ++i)
    text += (i == first ? "" : ",") + lists[i];
  return "[" + text + "]";
}

const OpRules* collective(const TableRow& row) {
  for (const OpRules& op : all_rules())
    if (op.name == row.op && op.family == Family::Collective)
      return &op;
  return nullptr;
}

/// Says whether results are expected, or only that the run's own checks hold.
enum class Expected : uint8_t { Results, Nothing };

Report run_row(const TableRow& row, const std::string& numerics, const std::string& algorithm,
               Expected expected = Expected::Nothing) {
  const size_t devices = devices_of(row);
  std::string arrays;
  std::string of;
  for (size_t k = 0; k * devices < row.operands.size(); ++k) {
    arrays += fmt::format(
        R"({}"a{}": {{"local_shape": {}, "dtype": "{}", "encoding": "bits", "per_device": {}}})",
        k == 0 ? "" : ", ", k, row.shape, row.dtype, joined(row.operands, k * devices, devices));
    of += fmt::format(R"({}"a{}")", k == 0 ? "" : ", ", k);
  }
  const std::string keys = row.keys.substr(1, row.keys.size() - 2);
  const std::string text = fmt::format(
      R"({{"orrery": 1, "numerics": "{}", "mesh": {},
      "cluster": {{"devices": {}, "topology": "switch", "in_switch_reduction": true,
        "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 MiB",
        "memory_bandwidth": "1 TB/s", "flops": {{"f32": "1 TFLOP/s"}}}},
      "arrays": {{{}}}, "program": [{{"id": "r", "op": "{}", "of": [{}]{}{}{}}}],
      "outputs": ["r"], "expect": [{}]}})",
      numerics, row.mesh, devices, arrays, row.op, of, keys.empty() ? "" : ", ", keys,
      algorithm.empty() ? "" : fmt::format(R"(, "algorithm": "{}")", algorithm),
      expected == Expected::Nothing
          ? ""
          : fmt::format(R"({{"values": {{"r": {}}}, "encoding": "bits"}})", row.results));
  RunOptions options;
  return run(read_scenario("row.json", text, options.limits), options);
}

std::string failures(const Report& report) {
  std::string text;
  for (const Check& check : report.checks)
    if (!check.holds())
      text += check.name + ": " + check.said() + "\n";
  return text;
}

TEST_CASE("xla-cpu: with one_shot the values of every row are JAX's, bit for bit") {
  size_t count = 0;
  for (const TableRow& row : rows()) {
    CAPTURE(row.op);
    CAPTURE(row.dtype);
    CAPTURE(row.mesh);
    CAPTURE(row.keys);
    const Report report =
        run_row(row, "xla-cpu", collective(row) != nullptr ? "one_shot" : "", Expected::Results);
    CHECK(failures(report) == "");
    ++count;
  }
  CHECK(count > 300);  // the table was found
}

TEST_CASE(
    "xla-cpu: every algorithm is proved and has the values of its folds, and only they differ") {
  for (const TableRow& row : rows()) {
    const OpRules* const op = collective(row);
    if (op == nullptr || row.mesh != R"({"x":7})" || row.dtype.starts_with("f8"))
      continue;
    for (const Algorithm* algorithm : algorithms_for(op->kind)) {
      if (algorithm->is_for_topology != nullptr)
        continue;
      CAPTURE(row.op);
      CAPTURE(row.dtype);
      CAPTURE(algorithm->name);
      const Report xla = run_row(row, "xla-cpu", std::string(algorithm->name));
      const Report ieee = run_row(row, "ieee", std::string(algorithm->name));
      CHECK(failures(xla) == "");
      REQUIRE(xla.completion);
      REQUIRE(ieee.completion);
      CHECK(xla.completion->makespan == ieee.completion->makespan);
      CHECK(xla.memory.largest_peak() == ieee.memory.largest_peak());
    }
  }
}

TEST_CASE("numerics: reports say that they are xla-cpu, and nothing of ieee") {
  const TableRow row = rows().front();
  const auto labels = [&](const std::string& numerics) {
    std::string text;
    for (const std::string& label : run_row(row, numerics, "").labels)
      text += label.starts_with("numerics: ") ? label : "";
    return text;
  };
  CHECK(
      labels("xla-cpu") ==
      "numerics: xla-cpu (as XLA folds, rounds and flushes on the CPU, but for dot_general, float "
      "reduce_sum and transcendental functions)");
  CHECK(labels("ieee") == "");
}

}  // namespace
}  // namespace orrery::test
