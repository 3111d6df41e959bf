// Tests figures of the tree that may only fall, as tools/build/figures counts them. A change that
// makes a figure smaller must lower its number here.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/shell.h"

namespace orrery::test {
namespace {

const std::string kFigures = std::string(ORRERY_SOURCE_ROOT) + "/tools/build/figures";

/// Returns the number after "`name`: " in the script's output.
int figure(const std::string& printed, const std::string& name) {
  const std::string before = "\n" + name + ": ";
  const size_t at = ("\n" + printed).find(before);
  REQUIRE_MESSAGE(at != std::string::npos, "no line \"" << name << ": ...\" in:\n" << printed);
  return std::stoi(printed.substr(at + before.size() - 1));
}

/// Returns the first `count` lines of `text`.
std::string first_lines(const std::string& text, int count) {
  size_t end = 0;
  for (int line = 0; line < count && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

TEST_CASE("ratchet: headers, sentences without a subject and ARCHITECTURE.md do not grow") {
  const Launched figures = shell(kFigures);
  REQUIRE_MESSAGE(figures.status == 0, figures.said);
  const std::string sentences =
      "comment sentences that begin with \"Of\", \"As of\", \"What\" or \"Likewise\"";
  struct Row {
    std::string name;
    int at_most;
  };
  const std::vector<Row> rows = {
      {"headers", 298}, {sentences, 0}, {"lines of ARCHITECTURE.md", 220}};
  for (const Row& row : rows) {
    const int found = figure(figures.said, row.name);
    const std::string places =
        row.name == sentences && found > row.at_most ? shell(kFigures + " --sentences").said : "";
    CHECK_MESSAGE(found <= row.at_most, row.name << ": expected at most " << row.at_most << ", got "
                                                 << found << "\n"
                                                 << first_lines(places, 40));
  }
}

}  // namespace
}  // namespace orrery::test
