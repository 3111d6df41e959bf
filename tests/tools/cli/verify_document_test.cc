// Tests that docs/verify.md shows what its commands print, in its order.

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"

namespace orrery::test {
namespace {

/// Changes the working folder while it lives, since the document's commands name files in it.
class WorkingFolder {
 public:
  explicit WorkingFolder(const std::string& folder) : before_(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~WorkingFolder() { std::filesystem::current_path(before_); }
  WorkingFolder(const WorkingFolder&) = delete;
  WorkingFolder& operator=(const WorkingFolder&) = delete;

 private:
  std::filesystem::path before_;
};

struct Shown {
  std::string command;
  std::string output;  // empty: not shown
};

/// Returns the commands of the blocks "console". The file in the comment before a block "json" is
/// written into the working folder.
std::vector<Shown> commands_of(const std::string& document) {
  std::vector<Shown> commands;
  std::string file;
  std::string text;
  std::string block;  // its language; empty outside
  std::istringstream lines(document);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<!-- "))
      file = line.substr(5, line.find(' ', 5) - 5);
    else if (block.empty() && line.starts_with("```"))
      block = line.substr(3);
    else if (line == "```") {
      if (block == "json" && !file.empty())
        std::ofstream(file) << text;
      block.clear();
      text.clear();
    } else if (block == "json")
      text += line + "\n";
    else if (block == "console" && line.starts_with("$ "))
      commands.push_back({line.substr(2), ""});
    else if (block == "console")
      commands.back().output += line + "\n";
  }
  return commands;
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> all;
  for (std::string word; words >> word;)
    all.push_back(word);
  return all;
}

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

}  // namespace
}  // namespace orrery::test
