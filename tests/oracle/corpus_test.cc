// Compares our results for random programs with those of JAX, which tools/oracle wrote to
// tests/data/jax.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/scenario/document.h"
#include "models/scenario/reader.h"
#include "tests/oracle/coverage.h"
#include "tests/oracle/replay.h"
#include "tests/support/tries.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

const std::string kFolder = ORRERY_SOURCE_ROOT "/tests/data/jax";

/// Returns the lines of the files whose names begin with `prefix`.
std::vector<std::string> all_lines(const std::string& prefix) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().filename().string().starts_with(prefix))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> lines;
  for (const std::filesystem::path& file : files)
    for (std::string& line : lines_of(file.string()))
      lines.push_back(std::move(line));
  return lines;
}

struct Replayed {
  Coverage coverage;
  Compared compared;
};

Replayed replay_all(const std::vector<std::string>& lines) {
  Replayed all;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!is_tried(i))
      continue;
    CAPTURE(i);
    for (const Numerics numerics : numerics_of(lines[i])) {
      CAPTURE(numerics);
      const Case made = read_case(lines[i], i, numerics);
      const Replay found = replay(made);
      for (const Disagreement& disagreement : found.disagreements)
        FAIL_CHECK(disagreement.what);
      if (numerics == Numerics::XlaCpu)
        all.coverage.add(found.report.scenario->program);
      all.compared.add(found.compared);
    }
  }
  return all;
}

/// Joins the texts in one line, so that a failed check shows all of them.
std::string line_of(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

TEST_CASE("jax corpus: every program has the results of JAX, and every type") {
  std::vector<std::string> lines = all_lines("seed-");
  CHECK(lines.size() >= 4000);
  const std::vector<std::string> typed = all_lines("typed-");
  CHECK(typed.size() >= 700);
  lines.insert(lines.end(), typed.begin(), typed.end());
  const auto [coverage, compared] = replay_all(lines);
  if (is_all_tried()) {
    MESSAGE(coverage.table());
    // An op, dtype or form without any program counts as below 20, too.
    CHECK(line_of(coverage.below(20)) == "");
  }
  CHECK(compared.types > tries(10'000));
  // Few elements are compared by bounds, and the bounds decide nearly all of these.
  CHECK(compared.by_bits > 9 * compared.within_bounds);
  CHECK(compared.within_bounds > 9 * compared.undecided);
}

TEST_CASE("jax corpus: every backward pass has the gradients of JAX, and of each op there are 20") {
  const std::vector<std::string> lines = all_lines("gradients-");
  CHECK(lines.size() >= 2000);
  const Compared compared = replay_all(lines).compared;
  CHECK(compared.types >= tries(300));
  // Bounds do not decide the gradient of sums that cancel.
  CHECK(compared.by_bits + compared.within_bounds > 9 * compared.undecided);
  TransformCoverage coverage;
  for (const std::string& line : lines)
    coverage.add(forward_ops(line));
  CHECK(line_of(coverage.below(TransformCoverage::Transform::Vjp, 20)) == "");
}

TEST_CASE(
    "jax corpus: every batched program has the results of jax.vmap, and of each op there are 20") {
  const std::vector<std::string> lines = all_lines("batches-");
  CHECK(lines.size() >= 500);
  const Compared compared = replay_all(lines).compared;
  CHECK(compared.by_bits > 9 * compared.within_bounds);
  TransformCoverage coverage;
  for (const std::string& line : lines)
    coverage.add(forward_ops(line));
  CHECK(line_of(coverage.below(TransformCoverage::Transform::Batch, 20)) == "");
}

/// Returns the ops, the transform and the later ops ("then") of a scenario or of a corpus line.
nlohmann::json step_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, true, true);
  return {json.at("program"), json.at("transform"), json.at("then")};
}

TEST_CASE("jax corpus: the training step of a small block has the values of JAX") {
  const std::vector<std::string> lines = all_lines("train-step");
  REQUIRE(lines.size() == 1);
  const std::string folder = ORRERY_SOURCE_ROOT "/scenarios/";
  CHECK(step_of(lines[0]) == step_of(load_text(folder + "llama3-small-train-step.json", Limits())));
  const Compared compared = replay_all(lines).compared;
  // The bounds of f64 leave room for a hundred roundings.
  CHECK(compared.within_bounds > 40'000);
  CHECK(compared.undecided == 0);
}

/// Returns a line for two devices: the sum 0.1 + 0.2 in f32, whose bits are 0x3e99999a.
std::string sum_line(const std::string& comparison, const std::string& bits) {
  return R"({"numerics":"ieee","mesh":{"x":2},"arrays":{"a":["f32",[1],"3dcccccd3e4ccccd"]},"program":[)"
         R"({"id":"s","op":"psum","of":"a","axis_name":"x"}],"results":{"s":[")" +
         comparison + R"(","f32",[1],")" + bits + R"("]}})";
}

std::vector<std::string> disagreements(const std::string& line,
                                       Numerics numerics = Numerics::Ieee) {
  const Case made = read_case(line, 0, numerics);
  std::vector<std::string> texts;
  for (const Disagreement& disagreement : replay(made).disagreements)
    texts.push_back(disagreement.what);
  return texts;
}

TEST_CASE("jax corpus: a type that is not JAX's is found") {
  const auto line = [](const std::string& type) {
    return R"({"numerics":"ieee","check_types":true,"mesh":{"x":2},"arrays":{"a":["f32",[1],"3f800000",{"varying":["x"]}]},)"
           R"("program":[{"id":"s","op":"psum","of":"a","axis_name":"x"}],"types":{"s":")" +
           type + R"("},"results":{"s":["exact","f32",[1],"40000000"]}})";
  };
  CHECK(disagreements(line("f32[1]")).empty());
  CHECK(disagreements(line("f32[1]{V:x}")) ==
        std::vector<std::string>{"s: Its type is f32[1], and JAX has f32[1]{V:x}."});
}

TEST_CASE("jax corpus: a bit too many is found where results are compared by bits") {
  CHECK(disagreements(sum_line("exact", "3e99999a3e99999a")).empty());
  CHECK(disagreements(sum_line("exact", "3e99999a3e99999b")) ==
        std::vector<std::string>{"s: On device 1, element 0 is 0.3 (0x3e99999a), and JAX has "
                                 "0.30000004 (0x3e99999b)."});
}

TEST_CASE("jax corpus: by bounds, a difference of two roundings is allowed, and not three") {
  // A sum of two addends has one rounding, of at most half a unit.
  CHECK(disagreements(sum_line("bound", "3e99999a3e99999b")).empty());
  CHECK(disagreements(sum_line("fold", "3e99999a3e99999d")) ==
        std::vector<std::string>{"s: On device 1, element 0 is 0.3 (0x3e99999a), and JAX has "
                                 "0.3000001 (0x3e99999d). Roundings allow 3.58e-08 at element 0."});
}

TEST_CASE("jax corpus: folds are compared by bits where ours are the CPU's") {
  const std::string one_bit_more = sum_line("fold", "3e99999a3e99999b");
  CHECK(disagreements(one_bit_more, Numerics::Ieee).empty());
  CHECK(disagreements(one_bit_more, Numerics::XlaCpu).size() == 1);
}

/// A NaN with a payload moves around two devices.
TEST_CASE("jax corpus: a moved NaN keeps its bits") {
  const auto line = [](const std::string& comparison, const std::string& bits) {
    return R"({"numerics":"ieee","mesh":{"x":2},"arrays":{"a":["f32",[1],"7fc000013f800000"]},"program":[)"
           R"({"id":"s","op":"pshuffle","of":"a","axis_name":"x","perm":[1,0]}],"results":{"s":[")" +
           comparison + R"(","f32",[1],")" + bits + R"("]}})";
  };
  CHECK(disagreements(line("moved", "3f8000007fc00001")).empty());
  CHECK(disagreements(line("moved", "3f8000007fc00000")).size() == 1);
  CHECK(disagreements(line("exact", "3f8000007fc00000")).empty());
}

TEST_CASE("jax corpus: a program is written as a scenario that fails where it disagrees") {
  const auto holds = [](const std::string& bits) {
    const Case made = read_case(sum_line("exact", bits), 0, Numerics::Ieee);
    const RunOptions options;
    return run(read_scenario("s", with_expectation(made, made.expected.front()), options.limits),
               options)
        .holds();
  };
  CHECK(holds("3e99999a3e99999a"));
  CHECK_FALSE(holds("3e99999a3e99999b"));
}

}  // namespace
}  // namespace orrery::test
