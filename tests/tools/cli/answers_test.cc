#include "tools/cli/answers.h"

#include <memory>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "models/program/loops.h"
#include "models/scenario/reader.h"
#include "tools/report/style.h"

namespace orrery {
namespace {

/// Returns a scenario with 1,000 psums over two devices, each of the sum before. "r" is "b" in each
/// iteration, in the same storage.
std::shared_ptr<const Scenario> long_loop() {
  return std::make_shared<const Scenario>(read_scenario("f", R"({
    "orrery": 1,
    "mesh": {"x": 2},
    "cluster": {"devices": 2, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us"},
    "arrays": {"a": {"shape": [1], "dtype": "u32", "init": "ones"}},
    "program": [{"id": "b", "op": "add", "of": ["a", "a"]},
      {"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000, "carry": {"h": "a"},
      "body": [{"id": "s", "op": "psum", "of": "h", "axis_name": "x"},
               {"id": "r", "op": "reshape", "of": "b", "new_sizes": [1]},
               {"id": "y", "op": "max", "of": ["s", "r"]}],
      "yield": {"h": "y"}}]})"));
}

/// Returns options with which a report of it leaves out iterations.
RunOptions few_iterations() {
  RunOptions options;
  options.most_ops_shown = 100;
  return options;
}

TEST_CASE("answers: without questions there is one run") {
  const Answers answers = answer(long_loop(), {}, few_iterations());
  CHECK(leaves_out_iterations(answers.report->scenario->program));
  CHECK(answers.values.empty());
  CHECK_FALSE(answers.explanation);
  CHECK(answers.of_iterations == nullptr);
}

TEST_CASE("answers: a value of an early iteration is of a run of the first ones") {
  const Questions questions = {{"l[3].s"}, {}, false};
  CHECK(options_for(*long_loop(), questions, few_iterations()).data == Data::Auto);
  const Answers answers = answer(long_loop(), questions, few_iterations());
  REQUIRE(answers.values.size() == 1);
  CHECK(answers.values[0].in == answers.of_iterations.get());
  const Report& run = *answers.of_iterations;
  CHECK(element_text(*run.values->at(answers.values[0].value, LogicalId(1)), 0) == "16");
}

TEST_CASE("answers: a value after a long loop is of the run that is reported") {
  const Questions questions = {{"l"}, {}, false};
  CHECK(options_for(*long_loop(), questions, few_iterations()).data == Data::On);
  const Answers answers = answer(long_loop(), questions, few_iterations());
  REQUIRE(answers.values.size() == 1);
  CHECK(answers.values[0].in == nullptr);
  CHECK(answers.of_iterations == nullptr);
  CHECK(answers.report->values->at(answers.values[0].value, LogicalId(0)));
}

TEST_CASE("answers: an early iteration is explained by a run of the first ones") {
  const Answers answers = answer(long_loop(), {{}, "l[3].s", false}, few_iterations());
  REQUIRE(answers.explanation);
  CHECK(answers.explanation->id == "l[3].s");
  CHECK(leaves_out_iterations(answers.report->scenario->program));
  CHECK_FALSE(leaves_out_iterations(answers.explained->scenario->program));
  CHECK(answers.explained != answers.report);
}

TEST_CASE("answers: a late iteration is explained by a report with every iteration") {
  const Answers answers = answer(long_loop(), {{}, "l[999].s", false}, few_iterations());
  REQUIRE(answers.explanation);
  CHECK(answers.explained == answers.report);
  CHECK_FALSE(leaves_out_iterations(answers.report->scenario->program));
}

TEST_CASE("answers: storage that iterations hand on is held up to the last of them") {
  const Answers answers = answer(long_loop(), {{}, "l[3].r", false}, few_iterations());
  REQUIRE(answers.explanation);
  REQUIRE(answers.explanation->lives.size() == 1);
  const std::optional<OpId> last = answers.explanation->lives[0].to;
  REQUIRE(last);
  CHECK(answers.explained->scenario->program.op(*last).name == "l[999].y");
}

/// Checks that an explanation is the same, whether a run of first iterations gives it or one of
/// all.
void check_explained_alike(const std::string& program, const std::string& id) {
  const auto given = std::make_shared<const Scenario>(read_scenario("f", R"({
    "orrery": 1,
    "mesh": {"x": 2},
    "cluster": {"devices": 2, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us"},
    "arrays": {"a": {"shape": [1], "dtype": "u32", "init": "ones"},
               "b": {"shape": [1], "dtype": "u32", "init": "ones"}},
    "program": )" + program + "}"));
  const auto text = [&](const RunOptions& options) {
    const Answers answers = answer(given, {{}, id, false}, options);
    return explanation_text(*answers.explained, *answers.explanation, Style());
  };
  RunOptions few;
  few.most_ops_shown = 0;
  CHECK(text(few) == text(RunOptions()));
}

TEST_CASE("answers: what is read after the loop is held until its last iteration has ended") {
  // Ops that take no time end in the instant in which the last iteration begins.
  check_explained_alike(R"([
      {"id": "l", "op": "fori_loop", "lower": 0, "upper": 20, "body": [
        {"id": "s", "op": "psum_start", "of": "b", "axis_name": "x"},
        {"id": "d", "op": "done", "of": "s"},
        {"id": "y", "op": "add", "of": ["b", "b"]}]},
      {"id": "z", "op": "neg", "of": "l[15].d"}])",
                        "l[15].s");
}

TEST_CASE("answers: carries that go round end as they do after all iterations") {
  // After 20 iterations, "l.r" is "a". After one more or one less, it is "b".
  check_explained_alike(R"([
      {"id": "l", "op": "fori_loop", "lower": 0, "upper": 20, "carry": {"p": "b", "q": "a", "r": "a"},
       "body": [{"id": "m", "op": "reshape", "of": "b", "new_sizes": [1]},
                {"id": "s", "op": "psum", "of": "q", "axis_name": "x"}],
       "yield": {"p": "q", "q": "r", "r": "p"}}],
    "outputs": ["l.r"])",
                        "l[2].m");
}

TEST_CASE("answers: a loop whose ends a gradient writes out is cut between them") {
  const auto given = std::make_shared<const Scenario>(read_scenario("f", R"({
    "orrery": 1,
    "mesh": {"x": 2},
    "check_types": false,
    "cluster": {"devices": 2, "topology": "switch", "bandwidth": "50 GB/s", "latency": "1 us",
                "memory_bandwidth": "1 TB/s", "flops": {"f32": "1 TFLOP/s"}},
    "arrays": {"a": {"shape": [1], "dtype": "f32"}, "ct_r": {"shape": [1], "dtype": "f32"}},
    "program": [
      {"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000000, "carry": {"h": "a"},
       "body": [{"id": "s", "op": "psum", "of": "h", "axis_name": "x"},
                {"id": "y", "op": "sin", "of": "s"}], "yield": {"h": "y"}},
      {"id": "r", "op": "sin", "of": "a"}],
    "transform": {"vjp": {"of": ["r"], "with_respect_to": ["a"]}}})"));
  const Answers answers = answer(given, {{}, "l[3].y", false}, {});
  REQUIRE(answers.explanation);
  CHECK(answers.explained != answers.report);
}

TEST_CASE("answers: every iteration is in the report if that is asked for") {
  const Answers answers = answer(long_loop(), {{}, {}, true}, few_iterations());
  CHECK_FALSE(leaves_out_iterations(answers.report->scenario->program));
}

}  // namespace
}  // namespace orrery
