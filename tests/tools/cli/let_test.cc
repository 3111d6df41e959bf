// Tests --let, and what commands that take scenarios say of a law.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Returns a law that holds for all values of these names that meet `where`.
std::string law_of(const std::string& forall, const std::string& where = "1 == 1") {
  return fmt::format(R"({{"orrery": 1, "forall": {}, "where": "{}",
 "mesh": {{"x": 2}}, "arrays": {{"a": {{"shape": [2], "dtype": "s32", "spec": ["x"]}}}},
 "program": [{{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}}],
 "expect": [{{"holds": ["proved"]}}]}})",
                     forall, where);
}

/// Runs a law with each of the settings. Returns what it refuses; nothing if the case runs.
std::string let(const std::string& law, const std::vector<std::string>& settings) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments = {"run", folder.file("law.json", law)};
  for (const std::string& setting : settings)
    arguments.insert(arguments.end(), {"--let", setting});
  const Ran one = ran(arguments);
  CHECK(one.outcome == (one.err.empty() ? Outcome::Holds : Outcome::WrongInput));
  return one.err;
}

/// Returns the values that were read, as the message has them that refuses them.
std::string values_of(const std::string& forall, const std::vector<std::string>& settings) {
  const std::string before = "--let: expected values that meet \"where\", \"1 == 2\", got ";
  const std::string error = let(law_of(forall, "1 == 2"), settings);
  CHECK(error.starts_with(before));
  return error.substr(before.size(), error.size() - before.size() - 1);
}

TEST_CASE("run --let: names have their values, or their least") {
  const std::string law =
      law_of(R"({"n": {"from": 1, "to": 4}, "d": {"choose": ["f32", "bf16"]}})");
  CHECK(let(law, {"n=4,d=bf16"}) == "");
  CHECK(let(law, {"n=4", "d=bf16"}) == "");
  CHECK(let(law, {""}) == "");
  CHECK(let(law_of("{}"), {""}) == "");
  const std::string forall = R"({"n": {"from": 3, "to": 4}, "d": {"choose": ["f32", "bf16"]}})";
  CHECK(values_of(forall, {"n=4", "d=bf16"}) == "n = 4, d = \"bf16\"");
  CHECK(values_of(forall, {"d=bf16"}) == "n = 3, d = \"bf16\"");
}

struct LetCase {
  std::string draw;
  std::string text;
  std::string value;
};

TEST_CASE(
    "run --let: values are JSON or a bare text; commas in brackets or quotes separate nothing") {
  const std::string texts = R"({"choose": ["a,b", "a\"],[b", "1", "é", "x y", "\\"]})";
  const std::string any =
      R"({"choose": [0, 1, "1", null, true, 2.50, {"k": [1, "b,c"]}, [null, 2]]})";
  const LetCase cases[] = {
      {R"({"permutation": 3})", "[2,0,1]", "[2, 0, 1]"},
      {R"({"permutation": 3})", " [ 2, 0, 1 ]", "[2, 0, 1]"},
      {R"({"some_of": 4})", "[0,3]", "[0, 3]"},
      {R"({"list": {"list": {"from": 1, "to": 2}, "length": 2}, "length": 2})", "[[1,2],[2,1]]",
       "[[1, 2], [2, 1]]"},
      {fmt::format(R"({{"list": {}, "length": 2}})", any), "[null,{\"k\":[1,\"b,c\"]}]",
       "[null, {..}]"},
      {texts, R"("a,b")", R"("a,b")"},
      {texts, R"("a\"],[b")", R"("a"],[b")"},  // messages escape nothing
      {texts, "1", R"("1")"},
      {texts, R"("1")", R"("1")"},
      {texts, "é", R"("é")"},
      {texts, "x y", R"("x y")"},
      {texts, R"("\\")", R"("\")"},
      {any, "1", "1"},
      {any, R"("1")", R"("1")"},
      {any, "null", "null"},
      {any, "true", "true"},
      {any, "2.50", "2.50"},
      {any, R"({"k":[1,"b,c"]})", "{..}"},
      {any, "[null,2]", "[null, 2]"},
  };
  for (const LetCase& c : cases) {
    CAPTURE(c.text);
    CHECK(values_of(fmt::format(R"({{"v": {}, "n": {{"from": 1, "to": 9}}}})", c.draw),
                    {fmt::format("v={},n=7", c.text)}) == fmt::format("v = {}, n = 7", c.value));
  }
}

TEST_CASE("run --let: what it refuses") {
  const std::string law = law_of(
      R"({"n": {"from": 1, "to": 4}, "p": {"permutation": 2}, "d": {"choose": ["f32", "bf16"]}})");
  const auto error = [&](const std::string& setting) { return let(law, {setting}); };
  CHECK(error("n") == "--let: expected NAME=VALUE, got \"n\"\n");
  CHECK(error("n=1,") == "--let: expected NAME=VALUE, got \"\"\n");
  CHECK(error("p=[0,1],[1]") == "--let: expected NAME=VALUE, got \"[1]\"\n");
  CHECK(error("m=1") == "--let: expected one of n, p, d, got \"m\"\n");
  CHECK(error("n=1,n=2") == "--let: n is given twice\n");
  CHECK(let(law, {"n=1", "n=2"}) == "--let: n is given twice\n");
  CHECK(let(law_of("{}"), {"n=1"}) == "--let: there are no names, got \"n\"\n");
  for (const char* const text :
       {"n=9", "n=", "n=1.0", "n=\"1\"", "p=[0,0]", "p=[0,1", "p=0", "d=f16", "d=\"f32"}) {
    CAPTURE(text);
    const std::string wanted = *text == 'n'   ? "a whole number from 1 to 4"
                               : *text == 'p' ? "a permutation of 0 to 1"
                                              : "one of \"f32\", \"bf16\"";
    CHECK(error(text) ==
          fmt::format("--let: {}: expected {}, got {}\n", *text, wanted, in_quotes(text + 2)));
  }
  CHECK(let(law_of(R"({"p": {"permutation": 2}})", "p[0] == 1"), {"p=[0,1]"}) ==
        "--let: expected values that meet \"where\", \"p[0] == 1\", got p = [0, 1]\n");
  CHECK(let(law_of(R"({"n": {"from": 1, "to": 2}, "p": {"permutation": "n"}})", "p"), {"n=2"})
            .ends_with(
                "/where: \"p\": expected true or false, got [0, 1] (with n = 2, p = [0, 1])\n"));
  const std::string scenario = in_tree("scenarios/quickstart.json");
  CHECK(ran({"run", scenario, "--let", "n=1"}).err ==
        "--let: " + scenario + " is no law, so it has no names\n");
}

TEST_CASE("a law where a scenario is wanted: the commands that run it") {
  const TemporaryFolder folder;
  const std::string law =
      folder.file("it's.json", law_of(R"({"n": {"from": 2, "to": 4}, "t": {"choose": ["f32", "b"]},
    "u": {"choose": ["1, 2"]}, "v": {"choose": [{"k": null}]}, "p": {"permutation": 2}})"));
  const std::string word = fmt::format("'{}/it'\\''s.json'", folder.path());
  const std::string says = fmt::format(
      "{0}: is a law: `orrery run {1} --let 'n=2,t=f32,u=\"1, 2\",v={{\"k\":null}},p=[0,1]'` runs "
      "one case, `orrery verify {1}` draws many\n",
      law, word);
  CHECK(ran({"run", law}).err == says);
  CHECK(let(text_of(law), {"n=2,t=f32,u=\"1, 2\",v={\"k\":null},p=[0,1]"}) == "");
  const std::string scenario = in_tree("scenarios/quickstart.json");
  const std::vector<std::vector<std::string>> commands = {
      {"diff", law, scenario},  {"diff", scenario, law},        {"prove", law},
      {"show", "program", law}, {"show", "critical-path", law}, {"show", "schedule", law, "s"},
  };
  for (const std::vector<std::string>& command : commands) {
    CAPTURE(command.front());
    const Ran refused = ran(command);
    CHECK(refused.outcome == Outcome::WrongInput);
    CHECK(refused.err == says);
  }
}

TEST_CASE("a law where a scenario is wanted: the values suggested are those of a case") {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& law) {
    const Ran refused = ran({"run", folder.file("law.json", law)});
    CHECK(refused.outcome == Outcome::WrongInput);
    return refused.err;
  };
  const std::string path = folder.path() + "/law.json";
  const std::string forall = R"({"n": {"from": 1, "to": 4}, "q": {"from": 0, "to": 3}})";
  // The least values are no case, and one alone is.
  const std::string one = law_of(forall, "n * q == 12");
  CHECK(says(one) == fmt::format("{0}: is a law: `orrery run {0} --let n=4,q=3` runs one case, "
                                 "`orrery verify {0}` draws many\n",
                                 path));
  CHECK(let(one, {"n=4,q=3"}) == "");
  CHECK(says(law_of(forall, "n > 9")) ==
        fmt::format("{0}: is a law: `orrery verify {0}` draws cases\n", path));
  // A formula without a value is an error of its own.
  CHECK(says(law_of(forall, "n"))
            .ends_with("/where: \"n\": expected true or false, got 1 (with n = 1, q = 0)\n"));
}

}  // namespace
}  // namespace orrery::test
