// Tests `orrery verify`, and what other commands do with laws.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/characters.h"
#include "tests/support/tries.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "verifier/laws/verify.h"

namespace orrery::test {
namespace {

using Json = nlohmann::json;

/// Returns a law about two sums of "a"; `other` is the op of the second.
std::string sums(const std::string& other) {
  return fmt::format(
      R"({{"orrery": 1, "name": "two sums", "forall": {{"n": {{"from": 1, "to": 4}}}},
 "mesh": {{"x": "${{n}}"}}, "check_types": false,
 "arrays": {{"a": {{"shape": ["${{n}}"], "dtype": "f32", "spec": ["x"]}}}},
 "program": [{{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}},
  {{"id": "t", "op": "{}", "of": "a", "axis_name": "x"}}],
 "expect": [
  {{"close": ["s", "t"]}}]}})",
      other);
}

TEST_CASE("verify: a law that holds, and what was drawn") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("psum"));
  const Ran verified = ran({"verify", law, "--cases", "50"});
  CHECK(verified.outcome == Outcome::Holds);
  CHECK(verified.out == fmt::format("✓ {}  two sums  50 cases\n    drawn   n 1 to 4\n"
                                    "1 law holds, 50 cases\n",
                                    law));
  CHECK(ran({"verify", law, "--cases", "50", "--jobs", "2"}).out == verified.out);
}

TEST_CASE("verify: a law that fails, and its counterexample, which runs") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("pmean"));
  const std::string small = folder.path() + "/sums.failed.json";
  const std::string replay = fmt::format("orrery verify {} --seed 0 --case 1", law);
  const Ran verified = ran({"verify", law});
  CHECK(verified.outcome == Outcome::Fails);
  CHECK(verified.out.starts_with(
      fmt::format("✗ {}  two sums  case 1 of 100 fails\n    drawn   n = 4\n    least   n = 2\n"
                  "    VALUES.CLOSE /expect/0  On device ",
                  law)));
  CHECK(verified.out.find(fmt::format("    orrery run {} ", small)) != std::string::npos);
  CHECK(verified.out.find("    " + replay + " ") != std::string::npos);
  CHECK(verified.out.ends_with("1 of 1 laws fails, 2 cases\n"));
  CHECK(text_of(small).starts_with("// " + replay + "\n{"));
  const Ran again = ran({"run", small});
  CHECK(again.outcome == Outcome::Fails);
  CHECK(again.out.find("✗ VALUES.CLOSE      /expect/0") != std::string::npos);
  CHECK(ran({"verify", law, "--seed", "0", "--case", "1"}).outcome == Outcome::Fails);
}

TEST_CASE("verify: only counterexamples of ours are written over") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("pmean"));
  ran({"verify", law});
  CHECK(ran({"verify", law}).outcome == Outcome::Fails);  // its own
  const std::string mine = folder.file("sums.failed.json", "{\"mine\": 1}");
  const Ran refused = ran({"verify", law});
  CHECK(refused.outcome == Outcome::WrongInput);
  CHECK(refused.err == mine +
                           ": expected no file, or one that orrery verify wrote, to write a "
                           "counterexample to; --out names another folder\n");
  CHECK(text_of(mine) == "{\"mine\": 1}");
  // A comment about us is no first line of ours.
  folder.file("sums.failed.json", "// orrery verify found this\n{}");
  CHECK(ran({"verify", law}).err == refused.err);
  CHECK(text_of(mine) == "// orrery verify found this\n{}");
  const std::string other = folder.path() + "/other";
  CHECK(ran({"verify", law, "--out", other}).outcome == Outcome::Fails);
  CHECK(text_of(other + "/sums.failed.json").starts_with("// orrery verify "));
}

TEST_CASE("verify: a first line of ours is the command, whole; others are refused in no time") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("pmean"));
  const auto is_ours = [&](const std::string& line) {
    const std::string text = line + "\n{}";
    const std::string failed = folder.file("sums.failed.json", text);
    const bool written = ran({"verify", law, "--cases", "2"}).outcome == Outcome::Fails;
    CHECK((text_of(failed) == text) == !written);
    return written;
  };
  const std::string a_law = "// orrery verify mlp.json";
  const std::string a_case = a_law + " --seed 0 --case 1";
  std::string limits;
  for (int i = 0; i < 26; ++i)
    limits += " --limit a";
  for (const std::string& line :
       {a_case, a_case + " --limit text=4KiB --limit 'values=9'", a_case + limits,
        std::string("// orrery verify --laws L01 --seed 18446744073709551615 --case 10"),
        std::string("// orrery verify 'x --seed 1 --case 2 --limit y' --seed 3 --case 4")}) {
    CAPTURE(line);
    CHECK(is_ours(line));
  }
  std::string seeds;
  while (seeds.size() < 60'000)
    seeds += " --seed 0 --case 1 --limit a --seed 000";
  for (const std::string& line :
       {a_law, a_law + " --seed 0", a_law + " --seed  --case 1", a_law + " --seed 0 --case ",
        a_law + " --seed 0 --case 1x", a_law + " --seed 0x --case 1", a_case + " --limit ",
        a_case + " --cases 3", a_case + "\r", a_case + " --limit a\r", a_case + limits + "\r",
        a_case.substr(1), a_case.substr(3), std::string("// orrery verify  --seed 0 --case 1"),
        std::string("// orrery verify --seed 0 --case 1"),
        "// orrery verify " + std::string(65'000, 'a'), a_law + seeds + "\r",
        a_law + " --seed " + std::string(60'000, '1')}) {
    CAPTURE(line.substr(0, 80));
    CHECK(!is_ours(line));
  }
}

TEST_CASE("verify: a run does not write over the counterexample of another law") {
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/out";
  const std::string one = folder.file("a/sums.json", sums("pmean"));
  const std::string other = folder.file("b/sums.json", sums("pmax"));
  ran({"verify", one, "--out", out});
  CHECK(ran({"verify", other, "--out", out}).out.find(out + "/sums.failed-2.json ") !=
        std::string::npos);
  CHECK(ran({"verify", one, "--out", out, "--seed", "3"}).out.find(out + "/sums.failed.json ") !=
        std::string::npos);
  CHECK(text_of(out + "/sums.failed.json").find(" --seed 3 --case ") != std::string::npos);
  CHECK(text_of(out + "/sums.failed-2.json").find("pmax") != std::string::npos);
}

TEST_CASE("verify: files are told apart by what they are, however they are spelled") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("pmean"));
  const std::string same = folder.path() + "/./sums.failed.json";
  CHECK(ran({"verify", law, "--junit", same}).err ==
        folder.path() +
            "/sums.failed.json: is the file of --output or --junit, so no "
            "counterexample is written\n");
  CHECK(ran({"verify", law, "-o", folder.path() + "/r", "--junit", folder.path() + "/./r"}).err ==
        "--junit: is the file of --output\n");
  CHECK(ran({"verify", law, "--out", folder.path() + "/out", "-o", "/dev/null", "--junit",
             "/dev/null"})
            .err == "");
}

TEST_CASE("verify: as JSON, JUnit and annotations") {
  const TemporaryFolder folder;
  const std::string good = folder.file("good.json", sums("psum"));
  const std::string bad = folder.file("bad.json", sums("pmean"));
  const std::string junit = folder.path() + "/out.xml";
  const Ran verified = ran({"verify", good, bad, "--format", "json", "--junit", junit});
  const Json all = Json::parse(verified.out);
  REQUIRE(all.size() == 2);
  CHECK(all[0]["verdict"] == "holds");
  CHECK(all[0]["cases"] == 100);
  CHECK(all[0]["drawn"] == Json::parse(R"({"n": {"least": 1, "most": 4}})"));
  CHECK(all[1]["verdict"] == "fails");
  CHECK(all[1]["counterexample"]["case"] == 1);
  CHECK(all[1]["counterexample"]["least"] == Json{{"n", 2}});
  CHECK(all[1]["counterexample"]["check"]["of"] == "/expect/0");
  const std::string xml = text_of(junit);
  CHECK(xml.find("tests=\"2\" failures=\"1\" errors=\"0\"") != std::string::npos);
  CHECK(xml.find("<testcase name=\"two sums\"") != std::string::npos);
  const Ran annotated = ran({"verify", bad, "--annotate", "github"});
  const std::string text = sums("pmean");
  const auto expectation = text.begin() + static_cast<ptrdiff_t>(text.find("{\"close\""));
  CHECK(annotated.out.find(fmt::format("\n::error file={},line={},col=3,title=VALUES.CLOSE::", bad,
                                       1 + std::count(text.begin(), expectation, '\n'))) !=
        std::string::npos);
}

TEST_CASE("verify: JSON has what was chosen as JSON, and the errors of laws that are wrong") {
  const TemporaryFolder folder;
  const std::string wrong =
      folder.file("a.json", "{\"orrery\": 1,\n\"forall\": 2, \"expect\": []}");
  // "psum" of one device is the same as "pmean", so that "n" is no smaller than 2.
  std::string text = sums("pmean");
  const std::string from = R"("n": {"from": 1, "to": 4})";
  text.replace(
      text.find(from), from.size(),
      R"("n": {"from": 2, "to": 2}, "none": {"choose": [null]}, "half": {"choose": [-0.50]},
  "o": {"choose": [{"k": [1, {}], "a": 1e3}]}, "p": {"list": {"choose": [null, 2.5]}, "length": 2})");
  const std::string bad = folder.file("b.json", text);
  const Ran verified = ran({"verify", wrong, bad, "--format", "json"});
  CHECK(verified.outcome == Outcome::WrongInput);
  const Json all = Json::parse(verified.out);
  REQUIRE(all.size() == 2);
  CHECK(all[0] == Json::parse(fmt::format(R"({{"file": "{}", "errors": [
    {{"pointer": "/forall", "line": 2, "column": 11,
      "message": "expected an object with what is drawn for each name, got 2"}},
    {{"pointer": "/expect", "line": 2, "column": 24,
      "message": "expected at least 1 expectation, got none"}}]}})",
                                          wrong)));
  CHECK(all[1]["counterexample"]["least"] ==
        Json::parse(R"({"n": 2, "none": null, "half": -0.5, "o": {"k": [1, {}], "a": 1000.0},
                        "p": [null, null]})"));
}

TEST_CASE("verify: commands that are printed are right for a shell, whatever the file's name") {
  const TemporaryFolder folder;
  const auto replays = [&](const std::string& name) {
    const std::string junit = folder.path() + "/out.xml";
    const std::string law = folder.file(name + ".json", sums("pmean"));
    const Json all = Json::parse(ran({"verify", law, "--format", "json"}).out);
    const Json replay = all[0]["counterexample"]["replay"];
    const std::string least = replay["least"];
    const std::string drawn = replay["drawn"];
    const std::string failed = folder.path() + "/" + name + ".failed.json";
    CHECK(ran({"run", failed}).outcome == Outcome::Fails);
    if (!not_utf8_at(name))  // JSON has U+FFFD in the place of what is no UTF-8
      CHECK(text_of(failed).starts_with("// " + drawn + "\n{"));
    return least + "\n" + drawn;
  };
  const std::string path = folder.path();
  CHECK(replays("it's \"1\"") ==
        fmt::format("orrery run '{0}/it'\\''s \"1\".failed.json'\n"
                    "orrery verify '{0}/it'\\''s \"1\".json' --seed 0 --case 1",
                    path));
  CHECK(replays("a\nb'\\\x01") ==
        fmt::format("orrery run $'{0}/a\\nb\\'\\\\\\001.failed.json'\n"
                    "orrery verify $'{0}/a\\nb\\'\\\\\\001.json' --seed 0 --case 1",
                    path));
  CHECK(replays("\xff").ends_with("/\ufffd.json' --seed 0 --case 1"));
}

TEST_CASE("verify: after a transform, the place in the law and that in the written scenario") {
  const TemporaryFolder folder;
  // The gradient has three ops after "b": two products and their sum. So "e" is the sixth op.
  const std::string law = folder.file("then.json", R"({"orrery": 1, "name": "then",
    "forall": {"n": {"from": 1, "to": 2}}, "mesh": {"x": "${n}"},
    "arrays": {"a": {"shape": [2], "dtype": "f32"}, "ct_b": {"shape": [2], "dtype": "f32"}},
    "program": [{"id": "b", "op": "mul", "of": ["a", "a"]}],
    "transform": [{"vjp": {"of": "b", "with_respect_to": "a"}}],
    "then": [{"id": "d", "op": "neg", "of": "b", "donate": "b"}, {"id": "e", "op": "neg", "of": "b"}],
    "expect": [{"holds": ["no_leak"]}]})");
  const std::string failed = folder.path() + "/then.failed.json";
  const Ran verified = ran({"verify", law});
  CHECK(verified.out.find(
            fmt::format("    DONATION.USE /then/1  \"e\" uses \"b\" after its donation to \"d\".\n"
                        "    orrery run {}  ",
                        failed)) != std::string::npos);
  CHECK(verified.out.find(" this case, where DONATION.USE is of /program/5\n") !=
        std::string::npos);
  const Ran again = ran({"run", failed});
  CHECK(again.out.find("✗ DONATION.USE      /program/5  \"e\" uses") != std::string::npos);
  const Json found = Json::parse(ran({"verify", law, "--format", "json"}).out)[0]["counterexample"];
  CHECK(found["check"]["of"] == "/then/1");
  CHECK(found["of_written"] == "/program/5");
}

TEST_CASE("replay: a file or a value that begins with a dash is no option") {
  Replay replay({"orrery", "run"}, "-a.json");
  replay.option("--cluster", std::optional<std::string>("-b c.json"));
  CHECK(replay.text() == "orrery run ./-a.json '--cluster=-b c.json'");
  CHECK(Replay({"orrery", "run"}, "-").text() == "orrery run -");
}

TEST_CASE("verify: annotations of built-in laws name no file, since a user has none") {
  const Ran wrong =
      ran({"verify", "--laws", "L01", "--limit", "nesting=2", "--annotate", "github"});
  CHECK(wrong.outcome == Outcome::WrongInput);
  CHECK(wrong.out.ends_with(
      "\n::error title=L01 INPUT::/forall: expected at most 2 levels of nesting, got more "
      "(--limit nesting=N allows more)\n"));
  const CiOptions options{std::nullopt, Annotations::Github};
  CiResults results(options);
  Check fails;
  fails.name = "PROVED";
  fails.of = "/expect/0";
  fails.message = "It is not.";
  fails.verdict = Verdict::Fails;
  for (const Of of : {Of::File, Of::BuiltinLaw})
    results.add_law("L01", of, "the law", fails, "", OnUndecided::Fail, [](const Check&) {
      return std::optional(TextPosition{3, 4});
    });
  std::ostringstream out;
  results.write_annotations(out);
  CHECK(out.str() ==
        "::error file=L01,line=3,col=4,title=PROVED::It is not.\n"
        "::error title=L01 PROVED::It is not.\n");
}

TEST_CASE(
    "verify: a counterexample of each law is kept, and one that cannot be written hides nothing") {
  const TemporaryFolder folder;
  const std::string one = folder.file("a/sums.json", sums("pmean"));
  const std::string other = folder.file("b/sums.json", sums("pmax"));
  const std::string out = folder.path() + "/out";
  const Ran both = ran({"verify", one, other, "--out", out});
  CHECK(both.out.find(out + "/sums.failed.json ") != std::string::npos);
  CHECK(both.out.find(out + "/sums.failed-2.json ") != std::string::npos);
  CHECK(text_of(out + "/sums.failed.json").find("pmean") != std::string::npos);
  CHECK(text_of(out + "/sums.failed-2.json").find("pmax") != std::string::npos);
  const std::string same = folder.path() + "/a/sums.failed.json";
  CHECK(ran({"verify", one, "--junit", same}).err ==
        same + ": is the file of --output or --junit, so no counterexample is written\n");
  CHECK(text_of(same).starts_with("<?xml"));
  const Ran unwritten = ran({"verify", one, "--out", folder.file("file", "")});
  CHECK(unwritten.outcome == Outcome::WrongInput);
  CHECK(unwritten.err.find("file/sums.failed.json: cannot be written") != std::string::npos);
  CHECK(unwritten.out.find("case 1 of 100 fails\n") != std::string::npos);
}

TEST_CASE("verify: the first undecided case, and the command that repeats it") {
  const TemporaryFolder folder;
  // The order of a sum is another one by each algorithm, and fractions of bf16 round in each.
  const std::string law = folder.file("und.json", R"({"orrery": 1, "name": "und",
    "forall": {"n": {"from": 5, "to": 8}}, "mesh": {"x": "${n}"}, "check_types": false,
    "arrays": {"a": {"shape": ["${64 * n}"], "dtype": "bf16", "spec": ["x"], "init": "random"}},
    "program": [{"id": "s", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"},
      {"id": "t", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "bidirectional"},
      {"id": "d", "op": "sub", "of": ["s", "t"]}, {"id": "z", "op": "sub", "of": ["s", "s"]}],
    "expect": [{"close": ["d", "z"]}]})");
  const Ran verified = ran({"verify", law, "--cases", "3"});
  INFO(verified.out << verified.err);
  CHECK(verified.outcome == Outcome::Fails);
  CHECK(verified.out.find("  3 cases, ") != std::string::npos);
  CHECK(verified.out.find(" undecided\n") != std::string::npos);
  CHECK(verified.out.find(fmt::format("    orrery verify {} --seed 0 --case 0 ", law)) !=
        std::string::npos);
  CHECK(verified.out.ends_with("1 of 1 laws is undecided, 3 cases\n"));
  CHECK(ran({"verify", law, "--cases", "3", "--allow-undecided"}).outcome == Outcome::Holds);
  // An annotation has the place of the expectation.
  const Ran annotated = ran({"verify", law, "--cases", "3", "--annotate", "github"});
  CHECK(annotated.out.find(fmt::format("::error file={},line=7,", law)) != std::string::npos);
  // A law that fails does not hide one that is undecided.
  const Ran both = ran({"verify", law, folder.file("sums.json", sums("pmean")), "--cases", "3"});
  CHECK(both.out.ends_with("1 of 2 laws fails, 5 cases; 1 law undecided\n"));
}

TEST_CASE("verify: a case asked for by its number is not one of many") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("pmean"));
  CHECK(ran({"verify", law, "--case", "1"}).out.find("  case 1 fails\n") != std::string::npos);
  for (const char* const option : {"--case", "--seed"})
    for (const char* const wrong : {"-1", "9223372036854775808", "abc"})
      CHECK(ran({"verify", law, option, wrong}).err ==
            fmt::format("{}: expected a whole number from 0 to 9223372036854775807, got {}\n"
                        "Run with --help for more information.\n",
                        option, wrong));
}

TEST_CASE("verify: the counterexample runs within the limits of the law") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("pmean"));
  CHECK(ran({"verify", law, "--limit", "text=4 KiB"})
            .out.find(fmt::format("    orrery run {}/sums.failed.json --limit 'text=4 KiB' ",
                                  folder.path())) != std::string::npos);
}

TEST_CASE("verify: a number shrinks where each device has much data") {
  const TemporaryFolder folder;
  const std::string law = folder.file("large.json", R"({"orrery": 1, "name": "large",
    "forall": {"n": {"from": 1, "to": 64}}, "mesh": {"x": "${n}"}, "check_types": false,
    "arrays": {"a": {"shape": [20000], "dtype": "f32"}},
    "program": [{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}],
    "expect": [{"equal": ["s", "a"]}]})");
  // 40,000 elements are too many to make small.
  CHECK(ran({"verify", law})
            .out.find("least   n = 2 (smaller ones may fail too: not all were tried)\n") !=
        std::string::npos);
}

TEST_CASE("verify: what it refuses") {
  const TemporaryFolder folder;
  CHECK(ran({"verify", folder.file("x.json", "{\n \"a\": 1,\n}")}).err.find("x.json:3:1: ") !=
        std::string::npos);
  CHECK(ran({"verify", folder.file("y.json", "[]")}).err.find("expected a law, an object") !=
        std::string::npos);
  CHECK(ran({"verify", folder.file("z.json", sums("psum")), folder.path() + "/x.json"})
            .out.ends_with("1 law holds, 100 cases; 1 law wrong\n"));
  const std::string empty = folder.path() + "/empty";
  std::filesystem::create_directory(empty);
  CHECK(ran({"verify", empty}).err == empty + ": no law (*.json) lies below this folder\n");
  const std::string none = folder.path() + "/none";
  folder.file("none/a.json", text_of(in_tree("scenarios/quickstart.json")));
  CHECK(ran({"verify", none}).err ==
        none + ": expected a law, got 1 scenario, which `orrery run` runs\n");
  CHECK(ran({"verify", none}).outcome == Outcome::WrongInput);
  const std::string scenario = in_tree("scenarios/quickstart.json");
  CHECK(ran({"verify", scenario}).err ==
        fmt::format(
            "{0}: expected a law, with \"forall\", got a scenario: `orrery run {0}` runs it\n",
            scenario));
  CHECK(ran({"verify", scenario}).outcome == Outcome::WrongInput);
  CHECK(ran({"verify"}).err.find("FILE: expected laws: files, folders, or --laws") !=
        std::string::npos);
  CHECK(ran({"verify", "--laws", "L99"})
            .err.find("--laws: no law \"L99\" is built in; `orrery show law` lists them") !=
        std::string::npos);
}

TEST_CASE("verify: scenarios of a folder are passed over, as run passes over laws") {
  const TemporaryFolder folder;
  const std::string law = folder.file("laws/sums.json", sums("psum"));
  folder.file("quick.json", text_of(in_tree("scenarios/quickstart.json")));
  const Ran verified = ran({"verify", folder.path()});
  CHECK(verified.outcome == Outcome::Holds);
  CHECK(verified.err == "passed over 1 scenario, which `orrery run` runs\n");
  CHECK(verified.out.ends_with("1 law holds, 100 cases\n"));
  const Ran run_all = ran({"run", folder.path()});
  CHECK(run_all.outcome == Outcome::Holds);
  CHECK(run_all.err.find("passed over 1 law, which `orrery verify` runs\n") != std::string::npos);
  CHECK(ran({"run", folder.path() + "/laws"})
            .err.find("/laws: expected a scenario, got 1 law, which `orrery verify` runs") !=
        std::string::npos);
}

TEST_CASE(
    "verify and run --pass-over: files of the other kind that are named are passed over too") {
  const TemporaryFolder folder;
  const std::string law = folder.file("sums.json", sums("psum"));
  const std::string scenario = folder.file("s.json", text_of(in_tree("scenarios/quickstart.json")));
  const Ran verified = ran({"verify", scenario, law, "--pass-over"});
  CHECK(verified.outcome == Outcome::Holds);
  CHECK(verified.err == "passed over 1 scenario, which `orrery run` runs\n");
  CHECK(verified.out.ends_with("\n1 law holds, 100 cases\n"));
  const Ran run_both = ran({"run", scenario, law, "--pass-over"});
  CHECK(run_both.outcome == Outcome::Holds);
  CHECK(run_both.err == "passed over 1 law, which `orrery verify` runs\n");
  // There may be none of the wanted kind.
  const Ran no_law = ran({"verify", scenario, scenario, "--pass-over"});
  CHECK(no_law.outcome == Outcome::Holds);
  CHECK(no_law.out == "");
  CHECK(no_law.err == "passed over 2 scenarios, which `orrery run` runs\n");
  const Ran no_scenario = ran({"run", law, law, "--pass-over"});
  CHECK(no_scenario.outcome == Outcome::Holds);
  CHECK(no_scenario.out == "");
  CHECK(no_scenario.err == "passed over 2 laws, which `orrery verify` runs\n");
}

TEST_CASE("verify: what was drawn, as a text and as JSON") {
  const TemporaryFolder folder;
  std::string text = sums("psum");
  const std::string from = R"("n": {"from": 1, "to": 4})";
  text.replace(text.find(from), from.size(),
               R"("n": {"choose": [2, 4]}, "t": {"choose": ["s32", "f32"]}, "p": {"permutation": 3},
  "q": {"some_of": 2}, "o": {"choose": [[1], null]}, "yes": {"choose": [true, false]})");
  const std::string law = folder.file("law.json", text);
  // The first two cases are all least and all greatest, and the third has the greatest "n" alone.
  CHECK(ran({"verify", law, "--cases", "3"}).out ==
        fmt::format("✓ {}  two sums  3 cases\n"
                    "    drawn   n 2 (1 case), 4 (2), t s32 2, f32 1, p of length 3, q of length 0 "
                    "to 2, o of 2 choices, yes true 2, false 1\n"
                    "1 law holds, 3 cases\n",
                    law));
  const Json all = Json::parse(ran({"verify", law, "--cases", "3", "--format", "json"}).out);
  CHECK(all[0]["drawn"] == Json::parse(R"({
    "n": {"chosen": [{"value": 2, "cases": 1}, {"value": 4, "cases": 2}]},
    "t": {"chosen": [{"value": "s32", "cases": 2}, {"value": "f32", "cases": 1}]},
    "p": {"least_length": 3, "most_length": 3},
    "q": {"least_length": 0, "most_length": 2},
    "o": {"chosen": [{"value": [1], "cases": 2}, {"value": null, "cases": 1}]},
    "yes": {"chosen": [{"value": true, "cases": 2}, {"value": false, "cases": 1}]}})"));
}

TEST_CASE("show law: the list, and each as it stands in scenarios/laws") {
  const std::string list = ran({"show", "law"}).out;
  for (const BuiltinLaw& law : builtin_laws()) {
    const std::string id(law.id);
    CHECK(list.find(id + "  ") != std::string::npos);
    CHECK(ran({"show", "law", id}).out == text_of(in_tree("scenarios/laws/" + id + ".json")));
  }
  CHECK(ran({"show", "law", "L1"}).err.find("ID: no law \"L1\" is built in") != std::string::npos);
}

TEST_CASE("built-in laws hold") {
  const Ran verified = ran({"verify", "--laws", "all", "--cases", std::to_string(tries(100))});
  INFO(verified.out);
  INFO(verified.err);
  CHECK(verified.outcome == Outcome::Holds);
  CHECK(verified.out.find("undecided") == std::string::npos);
}

/// A small array has its elements per device; returns the largest number of them on a device.
size_t largest_part(const Json& scenario) {
  size_t largest = 0;
  for (const auto& [name, array] : scenario["arrays"].items())
    if (array.contains("per_device"))
      for (const Json& part : array["per_device"])
        largest = std::max(largest, part.size());
  return largest;
}

TEST_CASE("built-in laws: each made wrong fails within 100 cases, and is made small") {
  const TemporaryFolder folder;
  std::set<std::string> laws;
  uint64_t number = 0;
  for (const char* const file : {"planted_collectives.json", "planted_others.json"}) {
    for (const Json& planted :
         Json::parse(text_of(in_tree(std::string("tests/data/laws/") + file)))) {
      laws.insert(planted["law"]);
      if (!is_tried(number++))
        continue;
      const std::string id = planted["law"];
      const std::string from = planted["from"];
      INFO(id << ": " << from);
      std::string text = text_of(in_tree("scenarios/laws/" + id + ".json"));
      const size_t at = text.find(from);
      REQUIRE(at != std::string::npos);
      text.replace(at, from.size(), planted["to"].get<std::string>());
      const std::string law = folder.file(id + ".json", text);
      const Ran verified = ran({"verify", law});
      INFO(verified.out << verified.err);
      CHECK(verified.outcome == Outcome::Fails);
      const std::string failed = folder.path() + "/" + id + ".failed.json";
      const Json scenario = Json::parse(text_of(failed), nullptr, true, /*ignore_comments=*/true);
      size_t devices = 1;
      for (const auto& [axis, size] : scenario["mesh"].items())
        devices *= size.get<size_t>();
      CHECK(devices <= 3);
      CHECK(largest_part(scenario) <= 4);
      // The same check at the same place fails there.
      static const std::regex kCheck("\n    ([A-Z_.]+) ([^ ]*)  ");
      std::smatch check;
      REQUIRE(std::regex_search(verified.out, check, kCheck));
      const Ran again = ran({"run", failed, "--verbose"});
      CHECK(again.outcome == Outcome::Fails);
      CHECK(
          std::regex_search(again.out, std::regex("✗ " + check[1].str() + " +" + check[2].str())));
      std::filesystem::remove(failed);
    }
  }
  CHECK(laws.size() == builtin_laws().size());
}

}  // namespace
}  // namespace orrery::test
