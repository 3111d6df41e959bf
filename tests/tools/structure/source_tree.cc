#include "tests/tools/structure/source_tree.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string_view>
#include <utility>

namespace orrery::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ORRERY_SOURCE_ROOT;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

enum class Piece : uint8_t { Code, Comment, Text, Character };

/// Returns where the piece that begins at `i` ends, and its kind.
std::pair<Piece, size_t> piece_at(const std::string& text, size_t i) {
  const auto after = [&](std::string_view closing, size_t from) {
    const size_t at = text.find(closing, from);
    return at == text.npos ? text.size() : at + closing.size();
  };
  if (text.compare(i, 2, "//") == 0)
    return {Piece::Comment, std::min(text.find('\n', i), text.size())};
  if (text.compare(i, 2, "/*") == 0)
    return {Piece::Comment, after("*/", i + 2)};
  if (text.compare(i, 2, "R\"") == 0) {
    const size_t open = text.find('(', i);
    return {Piece::Text, after(")" + text.substr(i + 2, open - i - 2) + "\"", open)};
  }
  const bool separates_digits = i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
  if (text[i] != '"' && (text[i] != '\'' || separates_digits))
    return {Piece::Code, i + 1};
  size_t end = i + 1;
  while (end < text.size() && text[end] != text[i])
    end += text[end] == '\\' ? 2 : 1;
  return {text[i] == '"' ? Piece::Text : Piece::Character, std::min(end + 1, text.size())};
}

void for_each_piece(const std::string& text,
                    const std::function<void(Piece, std::string_view)>& visit) {
  for (size_t i = 0; i < text.size();) {
    const auto [piece, end] = piece_at(text, i);
    visit(piece, std::string_view(text).substr(i, end - i));
    i = end;
  }
}

/// Returns the text that R"x(...)x" stands for.
std::string_view in_raw(std::string_view literal) {
  const size_t open = literal.find('(');
  const size_t delimiters = open - 2;
  return literal.substr(open + 1, literal.size() - open - 1 - delimiters - 2);
}

/// Returns the text that "..." stands for.
std::string in_quotes(std::string_view literal) {
  std::string said;
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    const bool escaped = literal[i] == '\\';
    i += escaped ? 1 : 0;
    said += escaped && literal[i] == 'n' ? '\n' : literal[i];
  }
  return said;
}

}  // namespace

namespace {

std::vector<SourceFile> read_files(const std::vector<std::string>& endings) {
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

}  // namespace

const std::vector<SourceFile>& source_files(const std::vector<std::string>& endings) {
  static std::map<std::vector<std::string>, std::vector<SourceFile>> known;
  const auto [files, is_new] = known.try_emplace(endings);
  if (is_new)
    files->second = read_files(endings);
  return files->second;
}

std::string code_only(const std::string& text) {
  std::string code;
  for_each_piece(text, [&](Piece piece, std::string_view said) {
    if (piece == Piece::Code)
      code += said;
  });
  return code;
}

std::vector<std::string> string_literals(const std::string& text) {
  std::vector<std::string> literals;
  bool goes_on = false;
  for_each_piece(text, [&](Piece piece, std::string_view said) {
    if (piece == Piece::Code && said.find_first_not_of(" \n") != said.npos)
      goes_on = false;
    if (piece != Piece::Text)
      return;
    if (!goes_on)
      literals.emplace_back();
    goes_on = true;
    literals.back() += said.starts_with('R') ? in_raw(said) : in_quotes(said);
  });
  return literals;
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
