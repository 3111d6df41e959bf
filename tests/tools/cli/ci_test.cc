// Tests --junit and --annotate.

#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tests/tools/import/xml.h"
#include "tests/tools/shell.h"

namespace orrery::test {
namespace {

/// Returns a scenario of two devices with an op and its expectations on lines of their own.
std::string scenario(const std::string& op, const std::string& expectations = "") {
  return R"({"orrery": 1, "name": "small",
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 MiB"},
  "mesh": {"x": 2},
  "arrays": {"a": {"shape": [4], "dtype": "s32", "spec": ["x"], "init": "iota"}},
  "program": [
    )" + op +
         "\n  ],\n  \"expect\": [" + expectations + "\n  ]}\n";
}

const std::string kSum = R"({"id": "r", "op": "psum", "of": "a", "axis_name": "x"})";
const std::string kLate = "\n    {\"makespan\": {\"at_most\": \"1 ns\"}}";
const std::string kInTime = "\n    {\"makespan\": {\"at_most\": \"1 s\"}}";
const std::string kValues = "\n    {\"values\": {\"r\": [[2, 4], [2, 4]]}}";

/// Returns "line=L,col=C" of the only place where `what` begins in `text`.
std::string place(const std::string& text, const std::string& what) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(what, at + 1) == std::string::npos);
  size_t line = 1;
  size_t begin = 0;
  for (size_t end = text.find('\n'); end < at; end = text.find('\n', end + 1)) {
    ++line;
    begin = end + 1;
  }
  return fmt::format("line={},col={}", line, at - begin + 1);
}

/// Returns the lines that are workflow commands.
std::string annotations(const std::string& out) {
  std::string lines;
  for (size_t at = 0; at < out.size();) {
    const size_t end = out.find('\n', at) + 1;
    if (out.compare(at, 2, "::") == 0)
      lines += out.substr(at, end - at);
    at = end;
  }
  return lines;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST_CASE("junit: the file of a scenario that fails, whole") {
  // 8 B at 1 GB/s take 8 ns, after the latency.
  const TemporaryFolder folder;
  const std::string file = folder.file("late.json", scenario(kSum, kLate));
  const std::string junit = folder.path() + "/junit.xml";
  const Ran late =
      ran({"run", file, "--junit", junit, "--seed", "7", "--cluster-figure", "latency=1 us"});
  CHECK(late.outcome == Outcome::Fails);
  CHECK(late.out == ran({"run", file, "--seed", "7", "--cluster-figure", "latency=1 us"}).out);
  CHECK(replaced(text_of(junit), folder.path(), "F") == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="orrery" tests="12" failures="1" errors="0">
  <testsuite name="F/late.json" tests="12" failures="1" errors="0" skipped="0">
    <testcase name="DEADLOCK.FREE /program" classname="F/late" />
    <testcase name="ORDER.AGREED /program" classname="F/late" />
    <testcase name="RACE.FREE /program" classname="F/late" />
    <testcase name="DONATION.USE /program" classname="F/late" />
    <testcase name="LEAK.FREE /program" classname="F/late" />
    <testcase name="FUTURE.DONE_ONCE /program" classname="F/late" />
    <testcase name="FUTURE.USE /program" classname="F/late" />
    <testcase name="MEMORY.CAPACITY /program" classname="F/late" />
    <testcase name="VALUES.ORACLE /program/0" classname="F/late" />
    <testcase name="SCHEDULE.DIGEST /program" classname="F/late" />
    <testcase name="SCHEDULE.PROVED /program/0" classname="F/late" />
    <testcase name="TIME.MAKESPAN /expect/0" classname="F/late">
      <failure message="The makespan is 1.008 us, above 1 ns." type="fails">The makespan is 1.008 us, above 1 ns.
  makespan: 1008 ns
  limit: 1 ns
Replay: orrery run F/late.json --seed 7 --cluster-figure 'latency=1 us'
</failure>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST_CASE("junit: several files are suites of one file, a wrong one with an error") {
  const TemporaryFolder folder;
  folder.file("1.json", scenario(kSum, kInTime));
  folder.file("2.json", scenario(R"({"id": "r", "op": "psun", "of": "a", "axis_name": "x"})"));
  const std::string junit = folder.path() + "/junit.xml";
  const Ran both = ran({"run", folder.path(), "--junit", junit});
  CHECK(both.outcome == Outcome::WrongInput);
  const std::string text = replaced(text_of(junit), folder.path(), "F");
  CHECK(text.find("<testsuite name=\"F/1.json\"") != std::string::npos);
  CHECK(text.substr(text.find("  <testsuite name=\"F/2.json\"")) ==
        R"(  <testsuite name="F/2.json" tests="1" failures="0" errors="1" skipped="0">
    <testcase name="INPUT" classname="F/2">
      <error message="F/2.json:6:23: /program/0/op: unknown op &quot;psun&quot;; did you mean &quot;psum&quot;?">F/2.json:6:23: /program/0/op: unknown op "psun"; did you mean "psum"?
Replay: orrery run F/2.json
</error>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST_CASE("junit: undecided is a failure, unless it is allowed") {
  const TemporaryFolder folder;
  const std::string file = folder.file("open.json", scenario(kSum, kValues));
  const std::string junit = folder.path() + "/junit.xml";
  const auto has = [&](const std::string& text) {
    return text_of(junit).find(text) != std::string::npos;
  };
  CHECK(ran({"run", file, "--data", "off", "--junit", junit}).outcome == Outcome::Fails);
  CHECK(has("failures=\"1\" errors=\"0\" skipped=\"0\""));
  CHECK(has("type=\"undecided\""));
  CHECK(has(fmt::format("Replay: orrery run {} --data off\n", file)));
  CHECK(ran({"run", file, "--data", "off", "--junit", junit, "--allow-undecided"}).outcome ==
        Outcome::Holds);
  CHECK(has("failures=\"0\" errors=\"0\" skipped=\"1\""));
}

TEST_CASE("junit: the command that replays a file has the settings of its ops only") {
  const TemporaryFolder folder;
  folder.file("psum.json", scenario(kSum, kLate));
  folder.file("pmax.json", scenario(replaced(kSum, "psum", "pmax"), kLate));
  const std::string junit = folder.path() + "/junit.xml";
  ran({"run", folder.path(), "--junit", junit, "--algorithm", "psum=ring", "--limit", "ops=99"});
  const std::string text = replaced(text_of(junit), folder.path(), "F");
  CHECK(text.find("Replay: orrery run F/psum.json --algorithm psum=ring --limit ops=99\n") !=
        std::string::npos);
  CHECK(text.find("Replay: orrery run F/pmax.json --limit ops=99\n") != std::string::npos);
}

TEST_CASE("junit: a setting for no op of any file is an error of its own") {
  const TemporaryFolder folder;
  folder.file("1.json", scenario(kSum));
  folder.file("2.json", scenario(kSum));
  const std::string junit = folder.path() + "/junit.xml";
  CHECK(ran({"run", folder.path(), "--junit", junit, "--algorithm", "pmax=ring"}).outcome ==
        Outcome::WrongInput);
  CHECK(text_of(junit).find("<testsuite name=\"--algorithm\" tests=\"1\" failures=\"0\" "
                            "errors=\"1\"") != std::string::npos);
}

TEST_CASE("junit: its file is no input and no other output") {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.json", scenario(kSum));
  const std::string algorithm = folder.file("ring.xml", three_ring().text());
  const std::string out = folder.path() + "/out";
  CHECK(ran({"run", file, "--junit", file}).err ==
        fmt::format("--junit: would overwrite the input {}\n", file));
  CHECK(ran({"prove", algorithm, "--junit", algorithm}).err ==
        fmt::format("--junit: would overwrite the input {}\n", algorithm));
  CHECK(ran({"run", file, "--junit", out, "-o", out}).err == "--junit: is the file of --output\n");
  CHECK(ran({"run", file, "--junit", out, "--trace", out}).err ==
        "--junit: is the file of --trace\n");
  CHECK(text_of(file) == scenario(kSum));
}

TEST_CASE("annotate: the place of an expectation that fails, after the report") {
  const TemporaryFolder folder;
  const std::string text = scenario(kSum, kLate);
  const std::string file = folder.file("late.json", text);
  const Ran late = ran({"run", file, "--annotate", "github"});
  CHECK(late.outcome == Outcome::Fails);
  CHECK(late.out ==
        ran({"run", file}).out +
            fmt::format(
                "::error file={},{},title=TIME.MAKESPAN::The makespan is 1.008 us, above 1 ns.\n",
                file, place(text, "{\"makespan\"")));
}

TEST_CASE("annotate: the place of an op that hangs") {
  const TemporaryFolder folder;
  const std::string send =
      R"({"id": "s", "op": "psend", "of": "a", "axis_name": "x", "perm": [[0, 1]]})";
  const std::string text = scenario(send);
  const std::string file = folder.file("hangs.json", text);
  const Ran hangs = ran({"run", file, "--annotate", "github"});
  const std::string where = fmt::format("::error file={},{}", file, place(text, send));
  CHECK(annotations(hangs.out) ==
        where +
            ",title=DEADLOCK.FREE::The program cannot end: \"s\" sends from device 0 to device 1, "
            "where no precv takes it.\n" +
            where +
            ",title=SENDS.UNBUFFERED::The program cannot end, however many messages are "
            "buffered.\n");
}

TEST_CASE("annotate: an undecided check that is allowed is a warning") {
  const TemporaryFolder folder;
  const std::string text = scenario(kSum, kValues);
  const std::string file = folder.file("open.json", text);
  const std::string where =
      fmt::format(" file={},{},title=VALUES.LITERAL::", file, place(text, "{\"values\""));
  const std::vector<std::string> open = {"run", file, "--data", "off", "--annotate", "github"};
  CHECK(annotations(ran(open).out).starts_with("::error" + where));
  std::vector<std::string> allowed = open;
  allowed.emplace_back("--allow-undecided");
  CHECK(annotations(ran(allowed).out).starts_with("::warning" + where));
}

TEST_CASE("annotate: nothing where all holds") {
  const TemporaryFolder folder;
  const std::string file = folder.file("good.json", scenario(kSum, kInTime));
  CHECK(ran({"run", file, "--annotate", "github"}).out == ran({"run", file}).out);
}

TEST_CASE("annotate: every error of a wrong file, at its place") {
  const TemporaryFolder folder;
  const std::string text =
      replaced(replaced(scenario(kSum, kInTime), "\"1 s\"", "\"50%\""), "s32", "s33");
  folder.file("a:b, 100%.json", text);
  const Ran wrong = ran({"run", folder.path() + "/a:b, 100%.json", "--annotate", "github"});
  CHECK(wrong.outcome == Outcome::WrongInput);
  const std::string file = folder.path() + "/a%3Ab%2C 100%25.json";
  CHECK(wrong.out ==
        fmt::format("::error file={0},{1},title=INPUT::/arrays/a/dtype: expected a dtype (one of "
                    "pred, s8, s16, s32, s64, u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3fn, "
                    "f8e5m2, c64, c128), got \"s33\"; did you mean \"s32\"?\n"
                    "::error file={0},{2},title=INPUT::/expect/0/makespan/at_most: expected a time "
                    "such as \"1 us\", got \"50%25\"\n",
                    file, place(text, "\"s33\""), place(text, "\"50%\"")));
}

TEST_CASE("annotate: an error of an option, and one of the file that it names") {
  const TemporaryFolder folder;
  const std::string file = folder.file("good.json", scenario(kSum));
  CHECK(ran({"run", file, "--annotate", "github", "--explain", "none"}).out ==
        fmt::format("::error file={0},title=INPUT::--explain: {0} has no op or value \"none\"\n",
                    file));
  CHECK(ran({"run", file, "--annotate", "github", "--cluster", "none"}).out ==
        "::error title=INPUT::--cluster: the catalog has no \"none\"; `orrery show catalog` lists "
        "what it has\n");
  const std::string cluster = folder.file("cluster.json", "{\"devices\": 0}");
  const std::string at =
      fmt::format("::error file={},{},title=INPUT::", cluster, place("{\"devices\": 0}", "0"));
  CHECK(ran({"run", file, "--annotate", "github", "--cluster", cluster}).out.find(at) !=
        std::string::npos);
  const std::string algorithm = folder.file("ring.xml", three_ring().text());
  CHECK(ran({"prove", algorithm, "--annotate", "github", "--cluster", cluster}).out.find(at) !=
        std::string::npos);
}

TEST_CASE("annotate: a JSON report on stdout stays JSON") {
  const TemporaryFolder folder;
  const std::string file = folder.file("late.json", scenario(kSum, kLate));
  const std::string report = folder.path() + "/report.json";
  CHECK(ran({"run", file, "--annotate", "github", "--format", "json"}).err ==
        "--annotate: expected -o FILE for the JSON report, since annotations go to stdout\n");
  const Ran late = ran({"run", file, "--annotate", "github", "--format", "json", "-o", report});
  CHECK(late.out == annotations(late.out));
  CHECK(text_of(report) == ran({"run", file, "--format", "json"}).out);
}

TEST_CASE("prove: a JUnit file and annotations, at the line that a check names") {
  const TemporaryFolder folder;
  const std::string text = three_ring().text();
  const std::string file = folder.file("ring.xml", text);
  const std::string junit = folder.path() + "/junit.xml";
  const Ran stalls = ran({"prove", file, "--slots", "1", "--junit", junit, "--annotate", "github"});
  CHECK(stalls.outcome == Outcome::Fails);
  // Every gpu waits in its rrs, gpu 0 first.
  std::string line = place(text.substr(0, text.find("<gpu id=\"1\"")), "type=\"rrs\"");
  line = line.substr(0, line.find(','));
  CHECK(annotations(stalls.out) ==
        fmt::format("::error file={},{},col=1,title=DEADLOCK.FREE::hangs with 1 slot a connection "
                    "at every size; it needs 2\n",
                    file, line));
  CHECK(replaced(text_of(junit), folder.path(), "F") == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="orrery" tests="4" failures="1" errors="0">
  <testsuite name="F/ring.xml" tests="4" failures="1" errors="0" skipped="0">
    <testcase name="RUNTIME.LIMITS" classname="F/ring" />
    <testcase name="DEADLOCK.FREE" classname="F/ring">
      <failure message="hangs with 1 slot a connection at every size; it needs 2" type="fails">hangs with 1 slot a connection at every size; it needs 2
  gpu 0 tb 0 chan 0 step 1 rrs line  5: waits for a slot that is held until gpu 1 tb 0 step 1 (rrs, line 14) ends
  gpu 1 tb 0 chan 0 step 1 rrs line 14: waits for a slot that is held until gpu 2 tb 0 step 1 (rrs, line 23) ends
  gpu 2 tb 0 chan 0 step 1 rrs line 23: waits for a slot that is held until gpu 0 tb 0 step 1 (rrs, line 5) ends
Replay: orrery prove F/ring.xml --slots 1
</failure>
    </testcase>
    <testcase name="RACE.FREE" classname="F/ring" />
    <testcase name="SCHEDULE.PROVED" classname="F/ring" />
  </testsuite>
</testsuites>
)");
}

TEST_CASE("prove: a file that cannot be read is an error of its suite") {
  const TemporaryFolder folder;
  const std::string text = "<algo name=\"\xff\"/>";
  const std::string file = folder.file("bad.xml", text);
  const std::string junit = folder.path() + "/junit.xml";
  const Ran bad = ran({"prove", file, "--junit", junit, "--annotate", "github"});
  CHECK(bad.outcome == Outcome::WrongInput);
  CHECK(bad.out ==
        fmt::format("::error file={},{},title=INPUT::expected UTF-8, got a byte that is not\n",
                    file, place(text, "\xff")));
  CHECK(replaced(text_of(junit), folder.path(), "F") == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="orrery" tests="1" failures="0" errors="1">
  <testsuite name="F/bad.xml" tests="1" failures="0" errors="1" skipped="0">
    <testcase name="INPUT" classname="F/bad">
      <error message="F/bad.xml:1:13: expected UTF-8, got a byte that is not">F/bad.xml:1:13: expected UTF-8, got a byte that is not
Replay: orrery prove F/bad.xml
</error>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST_CASE("a file that may not be written: the reason is told, and no part of it stays") {
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/report.txt";
  // A file may have 1,024 bytes; the report of the quickstart has more.
  const Launched limited =
      shell(fmt::format("ulimit -f 1; {} run {} -o {} --format json", ORRERY_BINARY,
                        in_tree("scenarios/quickstart.json"), out));
  CHECK(limited.status == static_cast<int>(Outcome::WrongInput));
  CHECK(limited.said == out + ": cannot be written: File too large\n");
  CHECK(!std::filesystem::exists(out));
}

}  // namespace
}  // namespace orrery::test
