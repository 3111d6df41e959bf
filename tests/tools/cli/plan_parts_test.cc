// Tests `orrery plan --part` and `orrery merge`: whatever happens to the processes, the merged
// answer has the bytes of one process.

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
#include "tests/tools/shell.h"

namespace orrery::test {
namespace {

/// Returns a plan of 24 points, of which some do not fit, some are refused, and one is a case.
std::string many_points() {
  return R"({"orrery": 1, "name": "sums", "sweep": {"n": [1, 2, 4, 8, 16, 32], "rows": [1, 3, 40, 900]},
 "work": {"tokens": "${n * rows}"}, "price": {"per_device_hour": "3.6 USD"},
 "cases": [{"id": "large", "let": {"n": 8, "rows": 1000}}],
 "cluster": {"topology": "switch", "devices": 16, "bandwidth": "1 GB/s", "latency": "1 us", "memory": "8 MiB",
  "memory_bandwidth": "1 TB/s", "flops": {"f32": "1 TFLOP/s"}, "launch": "1 us"},
 "mesh": {"x": "${n}"}, "check_types": false,
 "arrays": {"w_a": {"shape": ["${rows}", 1000], "dtype": "f32", "init": "zeros"}},
 "program": [{"id": "c", "op": "dot_general", "of": ["w_a", "w_a"], "dimension_numbers": [[[1], [1]], [[], []]]},
  {"id": "s", "op": "psum", "of": "c", "axis_name": "x"}],
 "outputs": ["s"]})";
}

std::vector<std::string> part(const std::string& plan, uint64_t part, uint64_t of,
                              const std::string& folder, const std::string& jobs = "1") {
  return {"plan", plan, "--part", fmt::format("{}/{}", part, of), "-o", folder, "--jobs", jobs};
}

TEST_CASE("plan parts: merged, they give the bytes of one process, in every form") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", many_points());
  std::vector<std::string> folders;
  for (const uint64_t parts : {1U, 3U, 40U}) {
    folders.push_back(fmt::format("{}/parts{}", folder.path(), parts));
    for (uint64_t p = 1; p <= parts; ++p)
      CHECK(ran(part(plan, p, parts, folders.back(), p % 2 == 0 ? "2" : "1")).outcome ==
            Outcome::Holds);
  }
  for (const std::vector<std::string>& form : std::vector<std::vector<std::string>>{
           {"--format", "text"}, {"--all"}, {"--format", "json"}, {"--format", "csv"}}) {
    std::vector<std::string> whole = {"plan", plan};
    whole.insert(whole.end(), form.begin(), form.end());
    const Ran at_once = ran(whole);
    for (const std::string& into : folders) {
      CAPTURE(into + " " + form.back());
      std::vector<std::string> merge = {"merge", into};
      merge.insert(merge.end(), form.begin(), form.end());
      const Ran merged = ran(merge);
      CHECK(merged.outcome == at_once.outcome);
      CHECK(merged.out == at_once.out);
      CHECK(merged.err.empty());
    }
  }
}

TEST_CASE("plan parts: a part says what it did, and does nothing again") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", many_points());
  const std::string into = folder.path() + "/parts";
  const auto said = [&](int points, int before) {
    return fmt::format("part 2 of 3: {} points are in {}, {} of them were there before\n", points,
                       into, before);
  };
  CHECK(ran(part(plan, 2, 3, into)).out == said(8, 0));  // of 24 points and a case
  CHECK(ran(part(plan, 2, 3, into)).out == said(8, 8));
  CHECK(ran(part(plan, 1, 3, into)).out.find(": 9 points are in") != std::string::npos);
}

TEST_CASE("plan parts: processes that are killed at 50 instants lose and damage nothing") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", many_points());
  const std::string whole = ran({"plan", plan, "--format", "json"}).out;
  Random random(5);
  uint64_t killed = 0;
  uint64_t round = 0;
  while (killed < tries(50)) {
    const std::string into = fmt::format("{}/parts{}", folder.path(), round++);
    std::vector<uint64_t> left = {1, 2, 3, 4};
    // On a slow machine a process does nothing in the first times, which double.
    for (int64_t longest = 20'000; !left.empty(); longest *= 2) {
      std::vector<pid_t> processes;
      for (const uint64_t p : left) {
        const pid_t process = fork();
        REQUIRE(process >= 0);
        if (process == 0)
          _exit(ran(part(plan, p, 4, into)).outcome == Outcome::Holds ? 0 : 1);
        processes.push_back(process);
      }
      std::vector<uint64_t> again;
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

TEST_CASE("plan parts: wrong parts and folders are refused") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", many_points());
  const std::string into = folder.path() + "/parts";
  const auto refused = [](const std::vector<std::string>& arguments) {
    const Ran got = ran(arguments);
    CHECK(got.outcome == Outcome::WrongInput);
    CHECK(got.out.empty());
    return got.err;
  };
  for (const std::string text : {"0/4", "5/4", "2", "2/", "/4", "1/0", "-1/4", "1/4x", ""})
    CHECK(refused({"plan", plan, "--part", text, "-o", into}) ==
          fmt::format("--part: expected I/N with I from 1 to N, as in 2/8, got \"{}\"\n", text));
  CHECK(refused({"plan", plan, "--part", "1/4"}) == "--part: expected --output FOLDER beside it\n");
  CHECK(
      refused({"plan", plan, "--part", "1/4", "-o", into, "--all"}) ==
      "--part: expected no --find, --scenario, --all or --format beside it; `orrery merge` writes "
      "the answer\n");
  CHECK(refused({"plan", plan, "--part", "1/4", "-o", plan}) ==
        plan + ": expected a folder, or none yet: Not a directory\n");
  CHECK_FALSE(std::filesystem::exists(into));
  CHECK(refused({"merge", into}) ==
        into +
            ": expected a folder that `orrery plan --part` has made, got one without a whole "
            "plan.json\n");

  CHECK(ran(part(plan, 1, 2, into)).outcome == Outcome::Holds);
  CHECK(refused({"merge", into}) ==
        fmt::format(
            "{}: expected all points, got all but 12, the first of them n=1,rows=3; start the "
            "parts again as they were started: `orrery plan {} --part I/N -o {}`, with the "
            "same --let, --seed and --limit\n",
            into, plan, into));
  CHECK(refused({"plan", plan, "--part", "2/2", "-o", into, "--limit", "points=100"}) ==
        into +
            ": expected parts of this plan, got those of another one (--limit points: 100000 "
            "there, 100 here)\n");
  const std::string latin = folder.file("latin.json", "// \xfc\n" + many_points());
  CHECK(refused(part(latin, 1, 1, folder.path() + "/latin")) ==
        "--part: expected UTF-8, got another byte in the plan, at offset 3\n");
  CHECK(refused({"plan", plan, "--part", "2/2", "-o", into, "--seed", "7"}) ==
        into + ": expected parts of this plan, got those of another one (seed: 0 there, 7 here)\n");
  const std::string other = folder.file("other.json", many_points() + " ");
  CHECK(
      refused(part(other, 2, 2, into)) ==
      fmt::format("{}: expected parts of this plan, got those of another one (file: \"{}\" there, "
                  "\"{}\" here)\n",
                  into, plan, other));
  folder.file("sums.json", many_points() + " ");
  CHECK(refused(part(plan, 2, 2, into)) ==
        into + ": expected parts of this plan, got those of another one (the plan's text)\n");
  folder.file("sums.json", many_points());
  folder.file("parts/plan.json", "{");
  CHECK(refused(part(plan, 2, 2, into)) ==
        into + ": expected parts of this plan, but plan.json is damaged\n");
}

TEST_CASE("plan parts: a point that is damaged, or of another program, is refused") {
  const TemporaryFolder folder;
  const std::string plan = folder.file("sums.json", many_points());
  const std::string into = folder.path() + "/parts";
  CHECK(ran(part(plan, 1, 1, into)).outcome == Outcome::Holds);
  std::string point;
  for (const auto& file : std::filesystem::directory_iterator(into))
    if (text_of(file.path()).find("n=2,rows=3\"") != std::string::npos)
      point = file.path();
  const std::string whole = text_of(point);
  const auto replaced = [&](const std::string& before, const std::string& after) {
    std::string text = whole;
    REQUIRE(text.find(before) != std::string::npos);
    return text.replace(text.find(before), before.size(), after);
  };
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), std::string(), replaced("\"fits\"", "\"fit\""),
        replaced("\"fits\"", "\"refused\""), replaced("\"figures\"", "\"other\""),
        replaced("\"times\"", "\"other\""), replaced("\"peak_bytes\": ", "\"peak_bytes\": -"),
        replaced("\"makespan_ps\": ", "\"makespan_ps\": 1e"), replaced("rows=3", "rows=4"),
        replaced("\"devices\": ", "\"devices\": 9999999999"),
        replaced("\"unit\": ", "\"unit\": " + nested + ", \"other\": ")}) {
    CAPTURE(text.substr(0, 1'000));
    folder.file(std::filesystem::relative(point, folder.path()), text);
    CHECK(ran({"merge", into}).err ==
          point +
              ": expected the point n=2,rows=3, got a damaged file; remove it and start the part "
              "again\n");
  }
  std::filesystem::remove(point);
  std::filesystem::create_directory(point);
  CHECK(ran({"merge", into}).err ==
        point + ": expected a file that `orrery plan --part` has made\n");
  std::filesystem::remove(point);
  CHECK(ran(part(plan, 1, 1, into)).out.find("25 points are in") != std::string::npos);
  CHECK(text_of(point) == whole);

  const std::string setup = into + "/plan.json";
  std::string text = text_of(setup);
  const std::string another = "orrery 0.0.1 (commit 0123456789ab)";
  const size_t version = text.find(version_text());
  REQUIRE(version != std::string::npos);
  text.replace(version, version_text().size(), another);
  folder.file("parts/plan.json", text);
  CHECK(ran({"merge", into}).err == fmt::format("{}: expected parts made by {}, got those of {}\n",
                                                into, version_text(), another));
}

/// The folder in which the command lines of docs/planning.md are typed: `big.json` is a plan, and
/// `orrery` is the program, except that the first time that it works out part 3 it is killed.
class Machines {
 public:
  Machines() {
    folder_.file("big.json", many_points());
    script("orrery", fmt::format(R"(case "$*" in *"--part 3/"*)
if [ ! -e killed ]; then touch killed; kill -9 $$; fi;; esac
exec '{}' "$@")",
                                 ORRERY_BINARY));
    const Launched planned = typed("orrery plan big.json --format json");
    REQUIRE(planned.status == 0);
    whole_ = planned.said;
  }

  Launched typed(const std::string& line) const {
    return shell(fmt::format("cd '{0}' && PATH='{0}/bin':\"$PATH\" && {1}", folder_.path(), line));
  }

  /// Makes a program that a command line may name.
  void script(const std::string& name, const std::string& text) const {
    const std::string file = folder_.file("bin/" + name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  void check_merged() const {
    CHECK(typed("orrery merge parts --format json -o answer.json") == Launched());
    CHECK(text_of(folder_.path() + "/answer.json") == whole_);
  }

  std::string file(const std::string& name) const { return text_of(folder_.path() + "/" + name); }

 private:
  TemporaryFolder folder_;
  std::string whole_;  // the bytes of one process
};

/// Returns the command line of docs/planning.md that begins like this.
std::string documented(const std::string& begin) {
  const std::string document = text_of(in_tree("docs/planning.md"));
  const size_t at = document.find("\n" + begin);
  REQUIRE(at != std::string::npos);
  return document.substr(at + 1, document.find_first_of("\r\n", at + 1) - at - 1);
}

TEST_CASE("plan parts: the shell's loop of the documents gives the bytes of one process") {
  const Machines machines;
  const std::string line = documented("for i in ");
  CHECK(line.find("orrery plan big.json --part $i/4 -o parts") != std::string::npos);
  (void)machines.typed(line);  // part 3 is killed
  CHECK(
      machines.typed("orrery merge parts").said.find("parts: expected all points, got all but ") ==
      0);
  CHECK(machines.typed(line).said.find(
            "part 3 of 4: 6 points are in parts, 0 of them were there ") != std::string::npos);
  machines.check_merged();
}

TEST_CASE("plan parts: the line for GNU parallel goes on where it was interrupted") {
  const Machines machines;
  const Launched version = machines.typed("parallel --version");
  if (version.said.find("GNU parallel") == std::string::npos) {
    MESSAGE("GNU parallel is not installed");
    return;
  }
  const std::string line = documented("parallel ");
  CHECK(line.find("orrery plan big.json --part {}/8 -o parts") != std::string::npos);
  CHECK(machines.typed(line).status == 1);  // as many jobs as failed
  CHECK(machines.typed(line) ==
        Launched{0, "part 3 of 8: 3 points are in parts, 0 of them were there before\n"});
  CHECK(machines.typed(line) == Launched());
  machines.check_merged();
}

TEST_CASE("plan parts: the line for Slurm's job arrays, with the variables that sbatch sets") {
  const Machines machines;
  // Runs the tasks of the array, and again what is killed, as --requeue does.
  machines.script("sbatch", R"(for word; do case "$word" in
--array=1-*) last=${word#--array=1-};; --requeue) requeue=1;; --wrap) wrap=next;;
*) if [ "$wrap" = next ]; then wrap=$word; fi;; esac; done
SLURM_ARRAY_JOB_ID=17 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=$last SLURM_ARRAY_TASK_COUNT=$last
export SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX SLURM_ARRAY_TASK_COUNT
for task in $(seq $last); do
  export SLURM_JOB_ID=$((17 + task % last)) SLURM_ARRAY_TASK_ID=$task SLURM_RESTART_COUNT=0
  until sh -c "$wrap" >slurm-17_$task.out 2>&1; do
    [ -n "$requeue" ] && [ $SLURM_RESTART_COUNT = 0 ] || exit 1
    SLURM_RESTART_COUNT=1
  done
done)");
  const std::string line = documented("sbatch ");
  CHECK(line.find("--wrap 'orrery plan big.json --part $SLURM_ARRAY_TASK_ID/8 -o parts'") !=
        std::string::npos);
  CHECK(machines.typed(line) == Launched());
  CHECK(machines.file("slurm-17_3.out") ==
        "part 3 of 8: 3 points are in parts, 0 of them were there before\n");
  CHECK(machines.file("killed").empty());
  machines.check_merged();
}

}  // namespace
}  // namespace orrery::test
