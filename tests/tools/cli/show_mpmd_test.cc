// Tests the command that answers queries about MPMD meshes and arrays.

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
  CHECK(run.err.find("--queries is required") != std::string::npos);
  CHECK(ran({"show", "mpmd", "--queries", "/nowhere/q.jsonl"}).err ==
        "/nowhere/q.jsonl: cannot be read: No such file or directory\n");
}

}  // namespace
}  // namespace orrery::test
