// Tests that the expectations of the project's scenarios hold.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/scenario/plan.h"
#include "tests/support/tries.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Returns the outcome that the file's first line states; without one it must hold.
Outcome stated_outcome(const std::string& file) {
  const std::string text = text_of(file);
  if (text.starts_with("// Fails on purpose, exit 2: "))
    return Outcome::WrongInput;
  return text.starts_with("// Fails on purpose: ") ? Outcome::Fails : Outcome::Holds;
}

/// Returns whether a number is followed by "us", on its line or on the next.
bool has_ascii_unit(const std::string& text) {
  static const std::regex kMicroseconds("[0-9][ \n]+us\\b");
  return std::regex_search(text, kMicroseconds);
}

/// Checks that a report is short, says in its first 30 lines what does not hold, and has one form
/// of each unit.
void check_report(const std::string& text) {
  CHECK(std::count(text.begin(), text.end(), '\n') <= 120);
  CHECK_FALSE(has_ascii_unit(text));
  const size_t failing = text.find("\n  ✗ ");
  if (failing != std::string::npos)
    CHECK(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(failing), '\n') < 30);
}

// Without sanitizers all of them are run, whatever the share: what a scenario states must hold
// before a change lands.
TEST_CASE("run: every scenario of the project holds, but for those that fail on purpose") {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(in_tree("scenarios")))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  size_t scenarios = 0;
  size_t failing = 0;
  for (const std::string& file : files) {
    if (!file.ends_with(".json") || is_template(text_of(file), {}))
      continue;
    const Outcome stated = stated_outcome(file);
    failing += stated != Outcome::Holds ? 1 : 0;
    if (!is_tried_sanitized(++scenarios))
      continue;
    const Ran run = ran({"run", file});
    INFO(file << "\n" << run.out << run.err);
    CHECK(run.outcome == stated);
    check_report(run.out);
  }
  CHECK(scenarios > 0);
  CHECK(failing > 0);
}

}  // namespace
}  // namespace orrery::test
