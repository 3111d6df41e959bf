#include "tests/tools/reference/examples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ORRERY_SOURCE_ROOT;

std::vector<std::string> json_blocks(const std::string& markdown) {
  const std::string open = "```json\n";
  std::vector<std::string> blocks;
  for (size_t at = markdown.find(open); at != std::string::npos; at = markdown.find(open, at)) {
    at += open.size();
    blocks.push_back(markdown.substr(at, markdown.find("```", at) - at));
  }
  return blocks;
}

/// Returns the JSON files below a folder of the tree whose own folders have a wanted name.
template <class Wanted>
std::vector<std::string> paths_below(const char* folder, Wanted wanted) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder))
    if (entry.path().extension() == ".json" &&
        wanted(entry.path().parent_path().filename().string()))
      paths.push_back(fs::relative(entry.path(), kRoot).string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(kRoot / path, std::ios::binary).rdbuf();
  return text.str();
}

Json json_of(const std::string& text) {
  return Json::parse(text, nullptr, true, true);
}

std::vector<std::string> scenario_paths() {
  return paths_below(
      "scenarios", [](const std::string& folder) { return folder != "laws" && folder != "plan"; });
}

std::vector<std::string> plan_paths() {
  return paths_below("scenarios", [](const std::string& folder) { return folder == "plan"; });
}

std::vector<Json> document_examples() {
  std::vector<Json> examples;
  for (const std::string& block : json_blocks(text_of("docs/scenario.md"))) {
    if (examples.empty()) {
      examples.push_back(json_of(block));
      continue;
    }
    const Json part = json_of("{" + block + "}");
    Json whole = examples.front();
    whole.erase("outputs");
    whole.erase("expect");
    if (part.contains("programs"))
      whole.erase("program");
    for (const auto& member : part.items())
      whole[member.key()] = member.value();
    examples.push_back(std::move(whole));
  }
  return examples;
}

}  // namespace orrery::test
