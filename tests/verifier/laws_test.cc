#include <algorithm>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/scenario/writer.h"
#include "tests/support/tries.h"
#include "verifier/laws/law_case.h"
#include "verifier/laws/verify.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// Returns a law that expects two sums of "a" to be equal. The second is by `other`, an op.
std::string law_text_of(const std::string& other, const std::string& where = "n > 0") {
  return fmt::format(
      R"({{"orrery": 1, "name": "sums", "where": "{}", "forall": {{"n": {{"from": 1, "to": 6}},
          "rows": {{"from": 0, "to": 5}}, "dtype": {{"choose": ["f32", "bf16"]}}}},
          "mesh": {{"x": "${{n}}"}}, "check_types": false,
          "arrays": {{"a": {{"shape": ["${{n * rows}}"], "dtype": "${{dtype}}", "spec": ["x"]}}}},
          "program": [{{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}},
                      {{"id": "t", "op": "{}", "of": "a", "axis_name": "x"}}],
          "expect": [{{"close": ["s", "t"]}}]}})",
      where, other);
}

std::string error_of(const std::string& text, const LawOptions& options = {}) {
  try {
    verify(Law("law.json", text), options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_CASE("laws: the first cases are the corners, the others are random") {
  const Law law("law.json", law_text_of("psum"));
  uint64_t refused = 0;
  const auto values = [&](uint64_t number) {
    return values_text(law, drawn_case(law, 0, number, refused).values);
  };
  CHECK(values(0) == "n = 1, rows = 0, dtype = \"f32\"");
  CHECK(values(1) == "n = 6, rows = 5, dtype = \"bf16\"");
  CHECK(values(2) == "n = 6, rows = 0, dtype = \"f32\"");
  CHECK(values(3) == "n = 1, rows = 5, dtype = \"f32\"");
  CHECK(values(4) == "n = 1, rows = 0, dtype = \"bf16\"");
  // 6 x 6 x 2 values are all drawn in 1,000 cases: one is missed in less than 1 of 10^4 times.
  std::set<std::string> seen;
  for (uint64_t number = 5; number < 1005; ++number)
    seen.insert(values(number));
  CHECK(seen.size() == 72);
  CHECK(refused == 0);
}

TEST_CASE("laws: a case depends on the seed and its number alone") {
  const Law law("law.json", law_text_of("psum"));
  uint64_t refused = 0;
  const auto text = [&](uint64_t seed, uint64_t number) {
    return write_scenario(scenario_of(law, drawn_case(law, seed, number, refused)));
  };
  for (const uint64_t number : {uint64_t{1}, uint64_t{7}, uint64_t{50}}) {
    const std::string once = text(3, number);
    text(3, number + 1);
    CHECK(text(3, number) == once);
    CHECK(text(4, number) != once);  // its elements differ, if nothing else does
  }
}

TEST_CASE("laws: without a cluster, every kind of fabric and algorithm is drawn") {
  const Law law("law.json", law_text_of("psum", "n == 4"));
  uint64_t refused = 0;
  std::set<size_t> links;
  std::set<std::string> algorithms;
  for (uint64_t number = 0; number < 100; ++number) {
    const Scenario made = scenario_of(law, drawn_case(law, 0, number, refused));
    links.insert(made.cluster.fabric.links().size());
    algorithms.insert(made.program.ops.front().hints.algorithm.value_or("by time"));
  }
  CHECK(links == std::set<size_t>{8, 12});  // a ring or a switch of 4 have 8 links, a mesh 4 x 3
  CHECK(algorithms.size() > 3);
  CHECK(algorithms.contains("by time"));
}

TEST_CASE("laws: only admitted values are drawn, and enough of them must be") {
  const Law law("law.json", law_text_of("psum", "n == 3"));
  const DrawnValues drawn = verify(law).drawn.front();
  CHECK(drawn.least == 3);
  CHECK(drawn.most == 3);
  // 1 of 36 draws has these values.
  uint64_t refused = 0;
  const std::string rare = law_text_of("psum", "n == 3 and rows == 2");
  for (uint64_t number = 0; number < 100; ++number)
    drawn_case(Law("law.json", rare), 0, number, refused);
  CHECK(error_of(rare) == fmt::format("law.json:1:40: /where: expected at least 1 of 10 draws "
                                      "to meet it, got 100 of {}",
                                      100 + refused));
  CHECK(error_of(law_text_of("psum", "false")) ==
        "law.json:1:40: /where: expected values that meet it, got none in 10000 draws for case 0");
}

TEST_CASE("laws: whether enough draws are admitted is judged by 2,000 of them at least") {
  // 1 of 6 draws has this number, which is more than 1 of 10.
  const Law often("law.json", law_text_of("psum", "n == 3"));
  const uint64_t seeds = is_sanitized() ? std::max<uint64_t>(10, tries(100)) : 100;
  for (uint64_t seed = 0; seed < seeds; ++seed)
    for (const uint64_t cases : {uint64_t{1}, uint64_t{2}, uint64_t{3}})
      CHECK(verify(often, {.cases = cases, .seed = seed}).verdict == Verdict::Holds);
  // 1 of 36 draws has these. So 10 or more are drawn for most first cases, and the law is refused.
  const std::string rare = law_text_of("psum", "n == 3 and rows == 2");
  uint64_t refused = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::string one = error_of(rare, {.cases = 1, .seed = seed});
    CHECK(error_of(rare, {.cases = 1, .seed = seed, .jobs = 3}) == one);
    CHECK((one == "no error" || one.ends_with(" of 2000")));
    refused += one == "no error" ? 0 : 1;
  }
  // (35 / 36)^9 are 0.78.
  CHECK(10 * refused > 6 * seeds);
}

TEST_CASE("laws: a case that is no scenario is an error, with its values") {
  CHECK(error_of(law_text_of("psumm"))
            .ends_with("; did you mean \"psum\"? (with n = 1, rows = 0, dtype = \"f32\")"));
  CHECK(
      error_of(law_text_of("psum", "n")) ==
      "law.json:1:40: /where: \"n\": expected true or false, got 1 (with n = 1, rows = 0, dtype = "
      "\"f32\")");
  // A draw has the values of the names before it.
  std::string text = law_text_of("psum");
  const std::string from = R"("rows": {"from": 0)";
  text.replace(text.find(from), from.size(), R"("rows": {"from": "n / 2")");
  CHECK(
      error_of(text).ends_with("/forall/rows/from: \"n / 2\": 1 / 2 is not a whole number (with n "
                               "= 1)"));
  // An error of the file has no values.
  text = law_text_of("psum");
  text.replace(text.find("where"), 5, "wher");
  CHECK(error_of(text) == "law.json:1:31: /wher: unknown key \"wher\"; did you mean \"where\"?");
}

TEST_CASE("laws: the verdict does not depend on the number of threads") {
  for (const char* const other : {"psum", "pmean"}) {
    const Law law("law.json", law_text_of(other));
    const auto text = [&](unsigned jobs) {
      const LawVerdict made = verify(law, {.cases = 60, .jobs = jobs});
      std::string all =
          fmt::format("{} {} {}", static_cast<int>(made.verdict), made.cases, made.undecided);
      all += fmt::format(" {} {} {}", *made.drawn[0].most, *made.drawn[1].most,
                         made.drawn[2].chosen[0]);
      if (made.counterexample)
        all += write_scenario(*made.counterexample->scenario) + made.counterexample->check.message;
      return all;
    };
    const std::string one = text(1);
    CHECK(text(2) == one);
    CHECK(text(5) == one);
  }
}

TEST_CASE("laws: a counterexample is the least case, with elements 0 and 1") {
  // A mean is no sum from two devices on, if there is one element that is not 0.
  const Law law("law.json", law_text_of("pmean"));
  const LawVerdict made = verify(law);
  REQUIRE(made.counterexample);
  const Counterexample& found = *made.counterexample;
  CHECK(found.number == 1);
  CHECK(made.cases == 2);
  CHECK(values_text(law, found.least) == "n = 2, rows = 1, dtype = \"f32\"");
  CHECK(found.check.name == "VALUES.CLOSE");
  CHECK(found.check.of == "/expect/0");
  CHECK(found.of_written == "/expect/0");
  const Array& array = found.scenario->arrays.front();
  const auto* parts = std::get_if<PerDeviceInit>(&array.init);
  REQUIRE(parts != nullptr);
  std::multiset<float> elements;
  for (const Tensor& part : parts->tensors)
    elements.insert(part.as<float>().begin(), part.as<float>().end());
  CHECK(elements == std::multiset<float>{0, 1});
  CHECK(found.scenario->cluster.fabric.links().size() == 4);  // the plainest: a switch
}

TEST_CASE("laws: a counterexample fails in the same way when it is written and read") {
  const Law law("law.json", law_text_of("pmean"));
  const Counterexample found = *verify(law).counterexample;
  const Report again =
      run(read_scenario("failed.json", "// a comment\n" + write_scenario(*found.scenario)), {});
  const auto same = [&](const Check& check) {
    return check.name == found.check.name && check.of == found.check.of &&
           check.message == found.check.message && check.verdict == Verdict::Fails;
  };
  CHECK(std::any_of(again.checks.begin(), again.checks.end(), same));
}

TEST_CASE("laws: arrays with the same elements keep them while these are made small") {
  // "cut" is "whole" in parts, so that its gathered parts are not twice the whole.
  const Law law("law.json", R"({"orrery": 1, "forall": {"n": {"from": 1, "to": 4}},
    "mesh": {"x": "${n}"}, "check_types": false,
    "arrays": {"whole": {"shape": ["${2 * n}"], "dtype": "s32"},
      "cut": {"shape": ["${2 * n}"], "dtype": "s32", "spec": ["x"], "init": {"same_as": "whole"}}},
    "program": [{"id": "gathered", "op": "all_gather", "of": "cut", "axis_name": "x", "tiled": true},
      {"id": "twice", "op": "add", "of": ["whole", "whole"]}],
    "expect": [{"equal": ["gathered", "twice"]}]})");
  const LawVerdict made = verify(law);
  REQUIRE(made.counterexample);
  CHECK(made.counterexample->scenario->program.mesh.devices() == 1);
  const auto elements = [&](size_t a) {
    const Init& init = made.counterexample->scenario->arrays[a].init;
    const auto values = std::get<PerDeviceInit>(init).tensors.front().as<int32_t>();
    return std::vector<int32_t>(values.begin(), values.end());
  };
  CHECK(elements(0) == elements(1));
  CHECK(elements(0) == std::vector<int32_t>{0, 1});
}

TEST_CASE(
    "laws: an array with the elements of an unreduced one keeps them while these are made small") {
  // The addends of "a" sum to its elements, which "b" has too. So they are equal in any case.
  const Law law("law.json", R"({"orrery": 1, "forall": {"n": {"from": 2, "to": 4}},
    "mesh": {"x": "${n}"},
    "arrays": {"a": {"shape": [2], "dtype": "s32", "unreduced": ["x"]},
      "b": {"shape": [2], "dtype": "s32", "init": {"same_as": "a"}}},
    "program": [{"id": "s", "op": "unreduced_psum", "of": "a", "axis_name": "x"},
      {"id": "t", "op": "add", "of": ["s", "s"]}],
    "expect": [{"equal": ["s", "b"]}, {"equal": ["t", "b"]}]})");
  const LawVerdict made = verify(law);
  REQUIRE(made.counterexample);
  CHECK(made.counterexample->check.of == "/expect/1");
  const Report again = run(*made.counterexample->scenario, {});
  for (const Check& check : again.checks)
    CHECK((check.holds() || check.of == "/expect/1"));
}

TEST_CASE("laws: the smallest case that fails is found among numbers and permutations") {
  // The check is said to fail where p moves three numbers round and m is at least 5.
  const Law law("law.json", R"({"orrery": 1,
    "forall": {"n": {"from": 1, "to": 8}, "p": {"permutation": "n"}, "m": {"from": 0, "to": 100}},
    "mesh": {"x": "${n}"}, "arrays": {"a": {"shape": ["${n * m}"], "dtype": "s32", "spec": ["x"]}},
    "program": [{"id": "b", "op": "ppermute", "of": "a", "axis_name": "x", "perm": "${pairs(p)}"}],
    "expect": [{"holds": ["proved"]}]})");
  Check fails;
  fails.verdict = Verdict::Fails;
  int tried = 0;
  const auto still_fails = [&](const Scenario& scenario) -> std::optional<Check> {
    ++tried;
    const auto pairs = scenario.program.ops.front().attributes.lists("perm");
    std::vector<size_t> to(pairs.size());
    for (const std::vector<int64_t>& pair : pairs)
      to[static_cast<size_t>(pair[0])] = static_cast<size_t>(pair[1]);
    for (size_t i = 0; i < to.size(); ++i)
      if (to[i] != i && to[to[i]] != i && to[to[to[i]]] == i &&
          scenario.program.values.front().type.shape.elements() >= 5)
        return fails;
    return std::nullopt;
  };
  LawCase failing{{{int64_t{8}}, {TemplateValue::List{}}, {int64_t{77}}}};
  for (const int64_t to : {0, 1, 2, 3, 4, 6, 7, 5})
    std::get<TemplateValue::List>(failing.values[1].is).push_back({int64_t{to}});
  const Shrunk small = shrunk(law, failing, fails, still_fails);
  CHECK(values_text(law, small.least.values) == "n = 3, p = [1, 2, 0], m = 5");
  CHECK(tried <= kMostTries);
  CHECK(!small.ended_early);
}

TEST_CASE("laws: what is too large for the tries stays as it is, and that is said") {
  // Each case counts as all tries.
  const Law law("law.json", R"({"orrery": 1, "forall": {"n": {"from": 1, "to": 8}},
    "mesh": {"x": "${n}"}, "check_types": false, "arrays": {"a": {"shape": [536870912], "dtype": "s8"}},
    "program": [{"id": "b", "op": "neg", "of": "a"}], "expect": [{"holds": ["proved"]}]})");
  Check fails;
  fails.verdict = Verdict::Fails;
  int tried = 0;
  const Shrunk small = shrunk(law, {{{int64_t{8}}}}, fails, [&](const Scenario&) {
    ++tried;
    return std::optional<Check>();
  });
  CHECK(values_text(law, small.least.values) == "n = 8");
  CHECK(tried == 1);
  CHECK(small.ended_early);
}

TEST_CASE("laws: all elements of a large array become 0 or 1, and what is tried is small") {
  // One element that is not 0 is enough for a mean to be no sum.
  for (const int64_t count : {1000, 1500}) {
    CAPTURE(count);
    const Law law("law.json",
                  fmt::format(R"({{"orrery": 1, "forall": {{"n": {{"from": 1, "to": 4}}}},
      "mesh": {{"x": "${{n}}"}}, "check_types": false,
      "arrays": {{"a": {{"shape": [{}], "dtype": "f32"}}}},
      "program": [{{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}},
        {{"id": "t", "op": "pmean", "of": "a", "axis_name": "x"}}],
      "expect": [{{"close": ["s", "t"]}}]}})",
                              count));
    const LawVerdict made = verify(law);
    REQUIRE(made.counterexample);
    CHECK(!made.counterexample->ended_early);
    const Array& array = made.counterexample->scenario->arrays.front();
    for (const Tensor& part : std::get<PerDeviceInit>(array.init).tensors) {
      CHECK(std::count(part.as<float>().begin(), part.as<float>().end(), 0) == count - 1);
      CHECK(std::count(part.as<float>().begin(), part.as<float>().end(), 1) == 1);
    }
  }
}

/// Returns a law of one op on `array`, for devices of the number "n".
std::string law_on(const std::string& forall, const std::string& array) {
  return fmt::format(
      R"({{"orrery": 1, "forall": {}, "mesh": {{"x": "${{n}}"}}, "check_types": false,
          "arrays": {{"a": {}}}, "program": [{{"id": "b", "op": "neg", "of": "a"}}],
          "expect": [{{"holds": ["proved"]}}]}})",
      forall, array);
}

TEST_CASE("laws: it is said that not all was tried only where something smaller was left") {
  Check fails;
  fails.verdict = Verdict::Fails;
  const auto ended_early = [&](const std::string& text, std::vector<TemplateValue> failing,
                               StillFails still_fails) {
    return shrunk(Law("law.json", text), {std::move(failing)}, fails, still_fails).ended_early;
  };
  const auto always = [&](const Scenario&) { return std::optional(fails); };
  const auto never = [](const Scenario&) { return std::optional<Check>(); };
  // Each case counts as all tries.
  const std::string forall = R"({"n": {"from": 1, "to": 8}})";
  const std::string large =
      law_on(forall, R"({"shape": [536870912], "dtype": "s8", "init": "zeros"})");
  CHECK(!ended_early(large, {{int64_t{1}}}, never));
  CHECK(!ended_early(large, {{int64_t{2}}}, always));
  CHECK(ended_early(large, {{int64_t{8}}}, never));
  // Elements are left if there are too many. An array of 0 and 1 alone is done.
  CHECK(ended_early(law_on(forall, R"({"shape": [4097], "dtype": "s8"})"), {{int64_t{1}}}, always));
  CHECK(
      !ended_early(law_on(forall, R"({"shape": [4096], "dtype": "s8"})"), {{int64_t{1}}}, always));
  CHECK(ended_early(law_on(forall, R"({"shape": [4096], "dtype": "s8"})"), {{int64_t{1}}},
                    // No element can be made simpler.
                    [&, given = std::string()](const Scenario& scenario) mutable {
                      const std::string now = write_scenario(scenario);
                      given = given.empty() ? now : given;
                      return now == given ? std::optional(fails) : std::nullopt;
                    }));
  if (is_sanitized())
    return;  // what follows reads thousands of scenarios
  // Pairs of these values are more than half of all tries: 20 x 19 / 2 x 6 x 6, as 127 has 6
  // simpler values or more. Their array has nothing to try.
  std::string names = R"({"n": {"from": 1, "to": 1})";
  std::vector<TemplateValue> values(1, {int64_t{1}});
  for (int i = 0; i < 20; ++i) {
    names += fmt::format(R"(, "v{}": {{"from": 0, "to": 127}})", i);
    values.push_back({int64_t{127}});
  }
  const std::string none = R"({"shape": [0], "dtype": "s8"})";
  CHECK(ended_early(law_on(names + "}", none), values, never));
  values.assign(values.size(), {int64_t{0}});
  values.front() = {int64_t{1}};
  CHECK(!ended_early(law_on(names + "}", none), values, never));
}

TEST_CASE("laws: two values are made simpler at once where neither alone can be") {
  const Law law("law.json", R"({"orrery": 1,
    "forall": {"a": {"from": 1, "to": 9}, "b": {"from": 1, "to": 9}, "id": {"choose": ["s", "t"]}},
    "mesh": {"a": "${a}", "b": "${b}"}, "arrays": {"x": {"shape": [2], "dtype": "s32"}},
    "program": [{"id": "${id}", "op": "neg", "of": "x"}], "expect": [{"holds": ["proved"]}]})");
  Check fails;
  fails.verdict = Verdict::Fails;
  int tried = 0;
  // "t" is said to fail on as many devices along "a" as along "b", and "s" on fewer; but one
  // device never fails.
  const auto still_fails = [&](const Scenario& scenario) -> std::optional<Check> {
    ++tried;
    const Mesh& mesh = scenario.program.mesh;
    const auto a = mesh.axes()[0].size;
    const auto b = mesh.axes()[1].size;
    const bool here = scenario.program.ops.front().name == "t" ? a == b : a < b;
    return here && mesh.devices() > 1 ? std::optional(fails) : std::nullopt;
  };
  const LawCase failing{{{int64_t{7}}, {int64_t{7}}, {std::string("t")}}};
  CHECK(values_text(law, shrunk(law, failing, fails, still_fails).least.values) ==
        "a = 1, b = 2, id = \"s\"");
  CHECK(tried <= kMostTries / 2 + 1);  // the last try gives the arrays per device
}

TEST_CASE("laws: one case alone is the one of that number") {
  const Law law("law.json", law_text_of("psum"));
  uint64_t refused = 0;
  const LawVerdict made = verify(law, {.seed = 2, .only = 9});
  CHECK(made.cases == 1);
  const std::vector<TemplateValue> drawn = drawn_case(law, 2, 9, refused).values;
  CHECK(TemplateValue{*made.drawn[0].least} == drawn[0]);
  CHECK(TemplateValue{*made.drawn[1].most} == drawn[1]);
}

}  // namespace
}  // namespace orrery::test
