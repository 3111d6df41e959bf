#pragma once

// Reads the commands and outputs that a document shows, so that tests can run them.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace orrery::test {

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
inline std::vector<Shown> commands_of(const std::string& document) {
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

inline std::vector<std::string> words_of(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> all;
  for (std::string word; words >> word;)
    all.push_back(word);
  return all;
}

}  // namespace orrery::test
