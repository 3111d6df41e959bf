#include "tests/tools/structure/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ORRERY_SOURCE_ROOT;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::vector<SourceFile> source_files(const std::vector<std::string>& endings) {
  std::vector<SourceFile> files;
  for (const char* const folder : {"models", "simulator", "verifier", "tools", "tests"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string ending = entry.path().extension().string();
      if (entry.is_regular_file() &&
          std::find(endings.begin(), endings.end(), ending) != endings.end())
        files.push_back({fs::relative(entry.path(), kRoot).string(), read(entry.path())});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::string code_only(const std::string& text) {
  std::string code;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size()) - 1;
    } else if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
    } else if (text.compare(i, 2, "R\"") == 0) {
      const size_t open = text.find('(', i);
      const std::string close = ")" + text.substr(i + 2, open - i - 2) + "\"";
      i = std::min(text.find(close, open), text.size() - close.size()) + close.size() - 1;
    } else if (text[i] == '"' ||
               (text[i] == '\'' &&
                (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0))) {
      const char quote = text[i];
      for (++i; i < text.size() && text[i] != quote; ++i)
        if (text[i] == '\\')
          ++i;
    } else {
      code += text[i];
    }
  }
  return code;
}

std::vector<std::string> subdirs(const std::string& meson_path) {
  const std::string text = read(kRoot / meson_path);
  const std::regex call("subdir\\('([^']*)'\\)");
  std::vector<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

bool exists(const std::string& path) {
  return fs::exists(kRoot / path);
}

}  // namespace orrery::test
