// Tests `orrery verify --part`, `orrery run --part` and `orrery merge`: whatever happens to the
// processes, the merged answer has the bytes of one process.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/base/random.h"
#include "tests/support/tries.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Returns the command of a part.
Words part_words(const Words& command, uint64_t part, uint64_t of, const std::string& folder) {
  return joined(command, {"--part", fmt::format("{}/{}", part, of), "-o", folder});
}

void work_out(const Words& command, uint64_t parts, const std::string& folder) {
  for (uint64_t p = 1; p <= parts; ++p)
    CHECK(ran(part_words(command, p, parts, folder)).outcome == Outcome::Holds);
}

/// Checks that the merged parts in each folder are what the command itself writes, with any of the
/// options beside it. The command runs once more, first: it writes counterexamples, which are then
/// passed over.
void check_merged(const Words& command, const Words& folders, const std::vector<Words>& forms) {
  (void)ran(command);
  for (const Words& options : forms) {
    const Ran at_once = ran(joined(command, options));
    for (const std::string& folder : folders) {
      CAPTURE(fmt::format("{} {}", folder, options.empty() ? "" : options.back()));
      const Ran merged = ran(joined({"merge", folder}, options));
      CHECK(merged.outcome == at_once.outcome);
      CHECK(merged.out == at_once.out);
      CHECK(merged.err == at_once.err);
    }
  }
}

std::string refused(const Words& arguments) {
  const Ran got = ran(arguments);
  CHECK(got.outcome == Outcome::WrongInput);
  CHECK(got.out.empty());
  return got.err;
}

/// Works out four parts in processes that are killed, until so many were.
void check_killed(const Words& command, const TemporaryFolder& folder, uint64_t kills) {
  const std::string whole = ran(joined(command, {"--format", "json"})).out;
  Random random(5);
  uint64_t killed = 0;
  uint64_t round = 0;
  while (killed < kills) {
    const std::string into = fmt::format("{}/parts{}", folder.path(), round++);
    Words left = {"1", "2", "3", "4"};
    // On a slow machine a process does nothing in the first times, which double.
    for (int64_t longest = 20'000; !left.empty(); longest *= 2) {
      std::vector<pid_t> processes;
      for (const std::string& p : left) {
        const pid_t process = fork();
        REQUIRE(process >= 0);
        if (process == 0)
          _exit(static_cast<int>(ran(part_words(command, std::stoull(p), 4, into)).outcome));
        processes.push_back(process);
      }
      Words again;
      for (size_t i = 0; i < left.size(); ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(random.between(0, longest)));
        kill(processes[i], SIGKILL);
        int status = 0;
        REQUIRE(waitpid(processes[i], &status, 0) == processes[i]);
        const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        REQUIRE((done || WIFSIGNALED(status)));
        killed += done ? 0 : 1;
        if (!done)
          again.push_back(left[i]);
      }
      left = again;
    }
    REQUIRE(ran({"merge", into, "--format", "json"}).out == whole);
  }
}

/// Returns a law about a product and a number: `expect` may have ${n} and ${m}, which are from 0.
std::string law(const std::string& expect, const std::string& where = "true") {
  return fmt::format(
      R"({{"orrery": 1, "name": "a law", "forall": {{"n": {{"from": 1, "to": 4}},
 "m": {{"from": 0, "to": 999}}, "dtype": {{"choose": ["f32", "bf16"]}}}}, "where": "{}",
 "mesh": {{"x": "${{n}}"}}, "check_types": false,
 "arrays": {{"a": {{"shape": ["${{n}}"], "dtype": "${{dtype}}", "spec": ["x"]}}}},
 "program": [{{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}},
  {{"id": "t", "op": "psum", "of": "a", "axis_name": "x"}},
  {{"id": "u", "op": "pmean", "of": "a", "axis_name": "x"}}],
 "expect": [{}]}})",
      where, expect);
}

const char* const kHolds = R"({"close": ["s", "t"]})";
/// It fails in about 1 of 50 cases, the first of them far behind the corners.
const char* const kFailsLate = R"({"close": ["s", "${if(m % 50 == 7 and n > 1, 'u', 't')}"]})";

TEST_CASE("verify parts: merged, they give the bytes of one process, in every form") {
  const TemporaryFolder folder;
  folder.file("laws/holds.json", law(kHolds));
  folder.file("laws/late.json", law(kFailsLate));
  folder.file("laws/few.json", law(kHolds, "m % 12 == 3"));  // 1 of 12 draws
  folder.file("laws/wrong.json", law(R"({"close": ["s", "nothing"]})"));
  folder.file("laws/scenario.json", text_of(in_tree("scenarios/quickstart.json")));
  const Words command = {"verify", folder.path() + "/laws", "--laws", "L01", "--cases", "130"};
  Words folders;
  for (const uint64_t parts : {1U, 3U, 40U}) {
    if (parts == 40 && is_sanitized())
      continue;
    folders.push_back(fmt::format("{}/parts{}", folder.path(), parts));
    work_out(command, parts, folders.back());
  }
  check_merged(command, folders, {{}, {"--format", "json", "--jobs", "2"}});
}

TEST_CASE("verify parts: a failing law's counterexample is found by merge") {
  const TemporaryFolder folder;
  const std::string late = folder.file("late.json", law(kFailsLate));
  const std::string into = folder.path() + "/parts";
  const Words command = {"verify", late, "--cases", "400", "--seed", "3"};
  work_out(command, 3, into);
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/late.failed.json"));
  const std::string found = folder.path() + "/found";
  const Ran merged = ran({"merge", into, "--out", found});
  CHECK(merged.outcome == Outcome::Fails);
  CHECK(merged.out.find(" of 400 fails\n") != std::string::npos);
  CHECK(merged.out == ran(joined(command, {"--out", found})).out);
  CHECK(text_of(found + "/late.failed.json").starts_with("// orrery verify "));
  const Ran file = ran({"merge", into, "--out", found, "--format", "json", "-o", found + "/x"});
  CHECK(file.outcome == Outcome::Fails);
  CHECK(text_of(found + "/x") == ran(joined(command, {"--out", found, "--format", "json"})).out);
}

TEST_CASE("verify parts: an undecided law, and --allow-undecided") {
  const TemporaryFolder folder;
  std::string text = law(kHolds);
  const std::string spec = R"("spec": ["x"])";
  text.replace(text.find(spec), spec.size(), spec + R"(, "init": "random")");
  const std::string file = folder.file("open.json", text);
  const std::string into = folder.path() + "/parts";
  const Words command = {"verify", file, "--cases", "60"};
  work_out(command, 2, into);
  check_merged(command, {into}, {{}, {"--allow-undecided"}});
}

TEST_CASE("verify parts: a part says what it did, and does nothing again") {
  const TemporaryFolder folder;
  const std::string holds = folder.file("holds.json", law(kHolds));
  const std::string into = folder.path() + "/parts";
  const Words command = {"verify", holds, "--cases", "330"};
  const auto said = [&](int blocks, int before) {
    return fmt::format("part 2 of 3: {} blocks of cases are in {}, {} of them were there before\n",
                       blocks, into, before);
  };
  CHECK(ran(part_words(command, 2, 3, into)).out == said(2, 0));  // of 7
  CHECK(ran(joined(part_words(command, 2, 3, into), {"--jobs", "2"})).out == said(2, 2));
}

TEST_CASE("verify parts: processes that are killed lose and damage nothing") {
  const TemporaryFolder folder;
  const std::string holds = folder.file("holds.json", law(kHolds));
  check_killed({"verify", holds, "--cases", is_sanitized() ? "400" : "800"}, folder, tries(10));
}

TEST_CASE("verify parts: wrong parts and folders are refused") {
  const TemporaryFolder folder;
  const std::string holds = folder.file("holds.json", law(kHolds));
  const std::string other = folder.file("other.json", law(kHolds));
  const std::string into = folder.path() + "/parts";
  const Words command = {"verify", holds};
  CHECK(refused({"verify", holds, "--part", "3/2", "-o", into}) ==
        "--part: expected I/N with I from 1 to N, as in 2/8, got \"3/2\"\n");
  CHECK(refused({"verify", holds, "--part", "1/2"}) ==
        "--part: expected --output FOLDER beside it\n");
  for (const Words& options :
       {Words{"--case", "1"}, Words{"--out", into}, Words{"--format", "json"},
        Words{"--junit", into}, Words{"--annotate", "github"}, Words{"--allow-undecided"}})
    CHECK(refused(joined(part_words(command, 1, 2, into), options)) ==
          "--part: expected no --case, --out, --format, --junit, --annotate or --allow-undecided "
          "beside it; `orrery merge` writes the answer\n");
  CHECK(refused(part_words({"verify", "-"}, 1, 2, into)) ==
        "--part: expected files or folders, got -, which other parts cannot read\n");
  CHECK(refused(part_words(command, 1, 2, other)) ==
        other + ": expected a folder, or none yet: Not a directory\n");
  CHECK_FALSE(std::filesystem::exists(into));

  CHECK(ran(part_words(command, 1, 2, into)).outcome == Outcome::Holds);
  CHECK(
      refused({"merge", into}) ==
      fmt::format("{}: expected all blocks of cases, got all but 1, the first of them cases 50 to "
                  "99 of {}; start the parts again as they were started: `orrery verify {} --part "
                  "I/N -o {}`\n",
                  into, holds, holds, into));
  const auto another = [&](const std::string& here) {
    return fmt::format("{}: expected parts of `orrery {}`, got those of `orrery verify {}`\n", into,
                       here, holds);
  };
  CHECK(refused(part_words({"verify", other}, 2, 2, into)) == another("verify " + other));
  for (const Words& options : {Words{"--seed", "7"}, Words{"--cases", "50"}, Words{"--pass-over"},
                               Words{"--limit", "devices=64"}})
    CHECK(refused(part_words(joined(command, options), 2, 2, into)) ==
          another(fmt::format("verify {} {}", holds,
                              options.size() == 1 ? options[0] : options[0] + " " + options[1])));
  CHECK(refused(part_words({"run", holds, other}, 2, 2, into)) ==
        another(fmt::format("run {} {}", holds, other)));
  CHECK(refused({"merge", into, "--format", "csv"}) ==
        "--format: expected text or json for parts of `orrery verify`\n");
  CHECK(refused({"merge", into, "--all"}) == "--all: expected none for parts of `orrery verify`\n");

  // Cases of a law that was changed are run again.
  folder.file("holds.json", law(kHolds, "n > 1"));
  CHECK(refused({"merge", into}).find("got all but 2, the first of them cases 0 to 49 of") !=
        std::string::npos);
  CHECK(ran(part_words(command, 1, 1, into))
            .out.find(": 2 blocks of cases are in " + into + ", 0 of them were") !=
        std::string::npos);
  check_merged(command, {into}, {{}});

  folder.file("parts/command", "{");
  CHECK(refused(part_words(command, 2, 2, into)) ==
        fmt::format("{}: expected parts of `orrery verify {}`, but its file command is damaged\n",
                    into, holds));
  CHECK(refused({"merge", into}) ==
        into + ": expected a folder that --part has made, but its file command is damaged\n");
}

TEST_CASE("parts: a folder has parts of one kind of command") {
  const TemporaryFolder folder;
  const std::string holds = folder.file("holds.json", law(kHolds));
  const std::string plan = in_tree("scenarios/plan/does-it-fit.json");
  const std::string of_law = folder.path() + "/law";
  const std::string of_plan = folder.path() + "/plan";
  work_out({"verify", holds, "--cases", "20"}, 1, of_law);
  work_out({"plan", plan}, 1, of_plan);
  CHECK(refused(part_words({"plan", plan}, 1, 1, of_law)) ==
        of_law +
            ": expected parts of `orrery plan`, got those of another command, as its file command "
            "says\n");
  CHECK(refused(part_words({"verify", holds}, 1, 1, of_plan)) ==
        of_plan +
            ": expected parts of `orrery verify`, got those of another command, as its file "
            "plan.json says\n");
  CHECK(refused({"merge", of_plan, "--out", of_law}) ==
        "--out: expected none for parts of `orrery plan`\n");
  CHECK(refused({"merge", of_plan, "--allow-undecided"}) ==
        "--allow-undecided: expected none for parts of `orrery plan`\n");
}

TEST_CASE("parts: a unit that is damaged, or of another program, is refused") {
  const TemporaryFolder folder;
  const std::string holds = folder.file("holds.json", law(kHolds));
  const std::string into = folder.path() + "/parts";
  work_out({"verify", holds, "--cases", "20"}, 1, into);
  std::string unit;
  for (const auto& file : std::filesystem::directory_iterator(into))
    if (file.path().extension() == ".unit")
      unit = file.path();
  const std::string whole = text_of(unit);
  std::string other = whole;
  ++other[whole.size() / 2];
  for (const std::string& text : {whole.substr(0, whole.size() / 2), std::string(), whole + "\n",
                                  other, text_of(into + "/command")}) {
    folder.file("parts/" + std::filesystem::path(unit).filename().string(), text);
    CHECK(refused({"merge", into}) ==
          fmt::format("{}: expected cases 0 to 19 of {}, got a damaged file; remove it and start "
                      "the part again\n",
                      unit, holds));
  }
  std::filesystem::remove(unit);
  std::filesystem::create_directory(unit);
  CHECK(refused({"merge", into}) ==
        unit + ": expected a file that `orrery verify --part` has made\n");
  std::filesystem::remove(unit);
  work_out({"verify", holds, "--cases", "20"}, 1, into);
  CHECK(text_of(unit) == whole);
}

/// Makes a folder of scenarios: some hold, one fails, one is wrong, and there is a law.
std::string scenarios(const TemporaryFolder& folder) {
  const auto scenario = [](const std::string& expect) {
    return fmt::format(
        R"({{"orrery": 1, "mesh": {{"x": 4}}, "check_types": false,
 "cluster": {{"topology": "ring", "devices": 4, "bandwidth": "1 GB/s", "latency": "1 us"}},
 "arrays": {{"a": {{"shape": [8], "dtype": "f32", "spec": ["x"]}}}},
 "program": [{{"id": "s", "op": "psum", "of": "a", "axis_name": "x"}}],
 "expect": [{}]}})",
        expect);
  };
  for (int i = 0; i < 4; ++i)
    folder.file(fmt::format("all/holds{}.json", i), scenario(R"({"holds": ["proved"]})"));
  folder.file("all/late.json", scenario(R"({"makespan": {"at_most": "1 ns"}})"));
  folder.file("all/wrong.json", scenario(R"({"close": ["s", "nothing"]})"));
  folder.file("all/no.json", "{");
  folder.file("all/law.json", law(kHolds));
  return folder.path() + "/all";
}

TEST_CASE("run parts: merged, they give the bytes of one process, in every form") {
  const TemporaryFolder folder;
  const std::string all = scenarios(folder);
  for (const Words& options :
       {Words{}, Words{"--algorithm", "psum=ring", "--algorithm", "all_gather=ring"},
        Words{"--cluster-figure", "latency=3 us", "--seed", "4", "--limit", "devices=64"}}) {
    const Words command = joined({"run", all}, options);
    Words folders;
    for (const uint64_t parts : {1U, 3U, 40U}) {
      folders.push_back(fmt::format("{}/parts{}{}", folder.path(), parts,
                                    options.empty() ? "" : options[1].substr(0, 4)));
      work_out(command, parts, folders.back());
    }
    check_merged(command, folders, {{}, {"--format", "json"}});
  }
}

TEST_CASE("run parts: a part says what it did, and does again only what was changed") {
  const TemporaryFolder folder;
  const std::string all = scenarios(folder);
  const std::string into = folder.path() + "/parts";
  const auto said = [&](int files, int before) {
    return fmt::format("part 1 of 2: {} files are in {}, {} of them were there before\n", files,
                       into, before);
  };
  // There are 8 files, of which one is a law.
  CHECK(ran(part_words({"run", all}, 1, 2, into)).out == said(4, 0));
  CHECK(ran(part_words({"run", all}, 1, 2, into)).out == said(4, 4));
  CHECK(
      refused({"merge", into}) ==
      fmt::format("{}: expected all files, got all but 3, the first of them {}/holds1.json; start "
                  "the parts again as they were started: `orrery run {} --part I/N -o {}`\n",
                  into, all, all, into));
  folder.file("all/holds0.json", text_of(all + "/holds0.json") + " ");
  CHECK(ran(part_words({"run", all}, 1, 2, into)).out == said(4, 3));
  CHECK(ran(part_words({"run", all}, 2, 2, into)).outcome == Outcome::Holds);
  check_merged({"run", all}, {into}, {{}});
}

TEST_CASE("run parts: processes that are killed lose and damage nothing") {
  const TemporaryFolder folder;
  check_killed({"run", in_tree("scenarios/hangs")}, folder, tries(10));
}

TEST_CASE("run parts: wrong parts are refused") {
  const TemporaryFolder folder;
  const std::string all = scenarios(folder);
  const std::string into = folder.path() + "/parts";
  for (const Words& options :
       {Words{"--backend", "cuda"}, Words{"--format", "json"}, Words{"--ops", "all"},
        Words{"--verbose"}, Words{"--values", "all"}, Words{"--encoding", "bits"},
        Words{"--explain", "s"}, Words{"--trace", into}, Words{"--html", into},
        Words{"--junit", into}, Words{"--annotate", "github"}, Words{"--allow-undecided"}})
    // An annotation of the error goes to stdout.
    CHECK(ran(joined(part_words({"run", all}, 1, 2, into), options)).err ==
          "--part: expected no --backend cuda, --format, --ops, --verbose, --values, --encoding, "
          "--explain, --trace, --html, --junit, --annotate or --allow-undecided beside it; "
          "`orrery merge` writes the answer\n");
  CHECK(refused(part_words({"run", all, "-"}, 1, 2, into)) ==
        "--part: expected files or folders, got -, which other parts cannot read\n");
  CHECK(refused(part_words({"run", all + "/late.json"}, 1, 2, into)) ==
        fmt::format("--part: expected several scenarios, got {}/late.json alone\n", all));
  CHECK_FALSE(std::filesystem::exists(into));

  const std::string cluster = folder.file(
      "ring.json",
      R"({"topology": "ring", "devices": 4, "bandwidth": "1 GB/s", "latency": "1 us"})");
  const Words command = {"run", all, "--cluster", cluster};
  work_out(command, 1, into);
  check_merged(command, {into}, {{}});
  CHECK(refused(part_words({"run", all}, 1, 1, into)) ==
        fmt::format("{}: expected parts of `orrery run {}`, got those of `orrery run {} --cluster "
                    "{}`\n",
                    into, all, all, cluster));
  folder.file("ring.json", text_of(cluster) + " ");
  for (const Words& again : {part_words(command, 1, 1, into), Words{"merge", into}})
    CHECK(refused(again) ==
          into + ": expected parts with this file of --cluster, got those with another\n");
}

}  // namespace
}  // namespace orrery::test
