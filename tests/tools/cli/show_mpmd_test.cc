// Tests the command that answers queries about MPMD meshes and arrays, and shows what a reshard
// takes with other thresholds.

#include <string>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Returns the run on a file of this text.
Ran asked_mpmd(const std::string& text) {
  const TemporaryFolder folder;
  return ran({"show", "mpmd", "--queries", folder.file("q.jsonl", text)});
}

const std::string kGroups = R"({"kind": "group_by_size", "sizes": [1, 2], "threshold": 2})";

TEST_CASE("show mpmd: an answer per query, in order") {
  const Ran run = asked_mpmd(kGroups + "\n" +
                             R"({"kind": "threshold", "limit_and_peak": [[7, 1]]})"
                             "\n" +
                             kGroups);
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.err == "");
  CHECK(run.out == "{\"groups\": [[0], [1]]}\n{\"threshold\": 2}\n{\"groups\": [[0], [1]]}\n");
}

TEST_CASE("show mpmd: 2 after all answers where a line is no query, but not for its errors") {
  const Ran run = asked_mpmd(kGroups + "\n{}\n" + kGroups + "\n");
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == "");
  CHECK(run.out ==
        "{\"groups\": [[0], [1]]}\n{\"error\": \"column 1: missing key \\\"kind\\\"\"}\n"
        "{\"groups\": [[0], [1]]}\n");
  CHECK(asked_mpmd(R"({"kind": "mesh", "mesh": [["s", 0]], "mpmd_axis": "s"})").outcome ==
        Outcome::Holds);
}

TEST_CASE("show mpmd: without queries there is nothing to show") {
  const Ran run = ran({"show", "mpmd"});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == "show mpmd: expected --queries, or a scenario and the id of a reshard\n");
  CHECK(ran({"show", "mpmd", "--queries", "/nowhere/q.jsonl"}).err ==
        "/nowhere/q.jsonl: cannot be read: No such file or directory\n");
}

/// Two arrays of 64 bytes a device, and one of 32, that move to two groups.
const std::string kScenario = R"({"orrery": 1, "mesh": {"s": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
"arrays": {"a": {"shape": [32], "dtype": "f32", "spec": ["s"]}, "b": {"shape": [32], "dtype": "f32", "spec": ["s"]},
           "c": {"shape": [16], "dtype": "f32", "spec": ["s"]}},
"program": [{"id": ["p", "q", "r"], "op": "spmd_to_mpmd_reshard", "of": ["a", "b", "c"], "mpmd_axis": "s", "threshold": "200 B",
  "shardings": [{"mesh_ids": [0], "spec": []}, {"mesh_ids": [0], "spec": []}, {"mesh_ids": [0], "spec": []}]}]})";

TEST_CASE("show mpmd: a line for each grouping, and a star at the one that is taken") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", kScenario);
  const std::string svg = folder.path() + "/t.svg";
  const Ran run = ran({"show", "mpmd", file, "p", "--svg", svg});
  CHECK(run.err == "");
  CHECK(run.outcome == Outcome::Holds);
  // The sizes are 128, 128 and 64, the largest first. One array moves at a time; then the last two;
  // then the first two.
  // Each group takes the latency of 1 us and its bytes. A device holds the sources that are left,
  // and the targets of the group: nothing reads them afterwards. Each takes 256 bytes.
  CHECK(run.out == R"(reshard "p": 3 arrays to groups of axis "s"
   threshold  groups  largest      time      peak
         0 B       3    128 B  3.003 µs     1 KiB
*      192 B       2    192 B  2.003 µs     1 KiB
       256 B       2    256 B  2.003 µs  1.25 KiB
       320 B       1    320 B  1.003 µs   1.5 KiB
)");
  CHECK(text_of(svg).find("<circle") != std::string::npos);
}

TEST_CASE("show mpmd: what it refuses of a scenario") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", kScenario);
  CHECK(ran({"show", "mpmd", file}).err ==
        file + ": expected the id of a reshard too, such as \"p\"\n");
  CHECK(ran({"show", "mpmd", file, "P"}).err ==
        file + ": no reshard is called \"P\"; did you mean \"p\"?\n");
  CHECK(ran({"show", "mpmd", file, "p", "--svg", ""}).err == "--svg: expected a file, got \"\"\n");
  const std::string none = folder.file("none.json", R"({"orrery": 1, "mesh": {"s": 2},
"cluster": {"devices": 2, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"}, "program": []})");
  CHECK(ran({"show", "mpmd", none, "p"}).err ==
        none + ": expected a scenario with a reshard to or from groups, got none\n");
}

}  // namespace
}  // namespace orrery::test
