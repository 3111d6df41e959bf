// Tests that docs/shardings.md shows what its commands print, in its order.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/document.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

TEST_CASE("docs/shardings.md shows what its commands print") {
  const TemporaryFolder folder;
  const WorkingFolder working(folder.path());
  size_t asked = 0;
  for (const Shown& shown : commands_of(text_of(in_tree("docs/shardings.md")))) {
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
    ++asked;
  }
  CHECK(asked == 5);
}

}  // namespace
}  // namespace orrery::test
