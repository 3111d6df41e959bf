// Tests that the documents on queries show what their commands print, in their order.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/document.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Compares what the commands of a document print with what it shows. Returns how many it has.
size_t commands_compared(const std::string& document) {
  const TemporaryFolder folder;
  const WorkingFolder working(folder.path());
  const std::vector<Shown> commands = commands_of(text_of(in_tree(document)));
  for (const Shown& shown : commands) {
    INFO(shown.command);
    std::vector<std::string> words = words_of(shown.command);
    REQUIRE(words[0] == "orrery");
    words.erase(words.begin());
    for (std::string& word : words)
      std::erase(word, '\'');  // as the shell does
    const Ran run = ran(words);
    CHECK(run.err == "");
    CHECK(run.out == shown.output);
    CHECK((run.outcome == Outcome::WrongInput) == (words.back() == "wrong.jsonl"));
  }
  return commands.size();
}

TEST_CASE("docs/shardings.md shows what its commands print") {
  CHECK(commands_compared("docs/shardings.md") == 5);
}

TEST_CASE("docs/mpmd.md shows what its commands print") {
  CHECK(commands_compared("docs/mpmd.md") == 5);
}

}  // namespace
}  // namespace orrery::test
