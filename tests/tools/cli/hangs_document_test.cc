// Tests that docs/hangs.md has what the scenarios of hangs are reported with.

#include <filesystem>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Returns the text below each command of the document, by the command's scenario.
std::map<std::string, std::string> shown_causes(const std::string& document) {
  const std::string command = "```\n$ ./orrery run ";
  std::map<std::string, std::string> shown;
  for (size_t at = document.find(command); at != std::string::npos;
       at = document.find(command, at)) {
    at += command.size();
    const size_t line_end = document.find('\n', at);
    const size_t end = document.find("```", line_end);
    REQUIRE(end != std::string::npos);
    shown[document.substr(at, line_end - at)] = document.substr(line_end + 1, end - line_end - 1);
  }
  return shown;
}

/// Returns what does not hold, or the errors of a wrong input: `cause` of tools/update_golden.
std::string cause(const std::string& scenario) {
  const Ran run = ran({"run", in_tree(scenario)});
  if (run.outcome == Outcome::WrongInput) {
    REQUIRE(run.err.starts_with(in_tree("")));
    return run.err.substr(in_tree("").size());
  }
  const size_t begin = run.out.find("CHECKS that do not hold\n");
  REQUIRE(begin != std::string::npos);
  return run.out.substr(begin, run.out.find("\n\n", begin) + 1 - begin);
}

TEST_CASE("docs/hangs.md: has the cause of every hang; tools/update_golden writes it") {
  const std::string document = text_of(in_tree("docs/hangs.md"));
  const std::map<std::string, std::string> shown = shown_causes(document);
  size_t scenarios = 0;
  for (const auto& entry : std::filesystem::directory_iterator(in_tree("scenarios/hangs"))) {
    const std::string scenario = "scenarios/hangs/" + entry.path().filename().string();
    CAPTURE(scenario);
    ++scenarios;
    CHECK(document.find("](../" + scenario + ")") != std::string::npos);
    const auto found = shown.find(scenario);
    REQUIRE(found != shown.end());
    CHECK(found->second == cause(scenario));
  }
  CHECK(shown.size() == scenarios);
}

}  // namespace
}  // namespace orrery::test
