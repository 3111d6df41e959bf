#include <string>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

const std::string kQuery = R"({"mesh": [["x", 2]], "shape": [2], "spec": "AUTO"})";
const std::string kAnswer = R"~({"sdy": "SdyArray([{?}])"})~";

/// Returns the run on a file of this text.
Ran asked(const std::string& text) {
  const TemporaryFolder folder;
  return ran({"show", "sharding", "--queries", folder.file("q.jsonl", text)});
}

TEST_CASE("show sharding: an answer per query, in order") {
  const std::string pair =
      R"({"equivalent": [{"mesh": [], "spec": []}, {"mesh": [], "spec": []}], "ndim": 0})";
  const Ran run = asked(kQuery + "\n" + pair + "\n" + kQuery + "\n");
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.err == "");
  CHECK(run.out == kAnswer + "\n{\"equivalent\": true, \"equal\": true}\n" + kAnswer + "\n");
}

TEST_CASE("show sharding: the last line needs no end, and no line has no answer") {
  CHECK(asked(kQuery).out == kAnswer + "\n");
  CHECK(asked("").out == "");
  CHECK(asked("").outcome == Outcome::Holds);
}

TEST_CASE("show sharding: 2 after all answers where a line is no query, but not for its errors") {
  const Ran run = asked(kQuery + "\n\n" + kQuery + "\n");
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == kAnswer + R"(
{"error": {"stage": "query", "message": "column 1: expected a value, got the end of the file"}}
)" + kAnswer + "\n");
  CHECK(run.err == "");
  CHECK(asked(R"({"mesh": [[null, 2]], "shape": [], "spec": []})").outcome == Outcome::Holds);
}

TEST_CASE("show sharding: answers to many queries are all written") {
  std::string queries;
  std::string answers;
  for (int i = 0; i < 5000; ++i) {
    queries += kQuery + "\n";
    answers += kAnswer + "\n";
  }
  CHECK(asked(queries).out == answers);
}

TEST_CASE("show sharding: a file that cannot be read") {
  const Ran run = ran({"show", "sharding", "--queries", "/nowhere/q.jsonl"});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.err == "/nowhere/q.jsonl: cannot be read: No such file or directory\n");
}

}  // namespace
}  // namespace orrery::test
