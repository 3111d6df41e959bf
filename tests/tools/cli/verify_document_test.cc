// Tests that documents about laws and plans show what their commands print, in their order.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/tries.h"
#include "tests/tools/cli/document.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

TEST_CASE("docs/verify.md shows what its commands print") {
  const TemporaryFolder folder;
  const WorkingFolder working(folder.path());
  std::filesystem::create_directory_symlink(in_tree("scenarios"), "scenarios");
  size_t verified = 0;
  for (const Shown& shown : commands_of(text_of(in_tree("docs/verify.md")))) {
    INFO(shown.command);
    std::vector<std::string> words = words_of(shown.command);
    REQUIRE(words.size() > 2);
    if (words[0] == "sed") {  // sed -i s/FROM/TO/ FILE
      const size_t middle = words[2].find('/', 2);
      const std::string from = words[2].substr(2, middle - 2);
      std::string text = text_of(words[3]);
      text.replace(text.find(from), from.size(),
                   words[2].substr(middle + 1, words[2].size() - middle - 2));
      std::ofstream(words[3]) << text;
      continue;
    }
    REQUIRE(words[0] == "orrery");
    words.erase(words.begin());
    const Ran run = ran(words);
    CHECK(run.err == "");
    if (!shown.output.empty())
      CHECK(run.out == shown.output);
    verified += words[0] == "verify" ? 1 : 0;
  }
  CHECK(verified == 4);
}

TEST_CASE("docs/planning.md shows what its commands print; tools/update_golden writes it") {
  const WorkingFolder working(in_tree(""));
  size_t commands = 0;
  for (const Shown& shown : commands_of(text_of("docs/planning.md"))) {
    if (!is_tried_sanitized(++commands))
      continue;
    INFO(shown.command);
    std::vector<std::string> words = words_of(shown.command);
    REQUIRE(words[0] == "orrery");
    words.erase(words.begin());
    const Ran run = ran(words);
    CHECK(run.err == "");
    CHECK(run.out == shown.output);
  }
  CHECK(commands == 11);
}

}  // namespace
}  // namespace orrery::test
