#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/characters.h"
#include "tools/nccl_tests/text_reader.h"

namespace orrery {
namespace {

/// Logs put at most this many words before a line: "Tue Jun 3 10:11:12 2025 host app[7]:".
constexpr size_t kMostWords = 8;

/// Returns whether the word tells a time or a date: "10:11:12.5", "[2025-06-03T10:11:12Z]", or
/// seconds since 1970. A host's name, such as "node-1-2-3:", begins with a letter.
bool is_clock(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of("[(<\"'"), word.size()));
  if (word.empty() || !is_digit(word.front()))
    return false;
  size_t digits = 0;
  while (digits < word.size() && is_digit(word[digits]))
    ++digits;
  constexpr size_t kSecondsSince1970 = 10;  // a size in bytes may have as many digits, but no point
  const auto between_digits = [&](char separator) {
    int64_t found = 0;
    for (size_t i = 1; i + 1 < word.size(); ++i)
      found += word[i] == separator && is_digit(word[i - 1]) && is_digit(word[i + 1]) ? 1 : 0;
    return found;
  };
  const bool seconds = digits >= kSecondsSince1970 && digits < word.size() && word[digits] == '.';
  return seconds || between_digits(':') == 2 || between_digits('-') == 2 ||
         between_digits('/') == 2;
}

/// Returns the words that are no clocks, joined by spaces.
std::string process_of(std::span<const std::string_view> words) {
  std::string process;
  for (const std::string_view word : words)
    if (!is_clock(word))
      process += (process.empty() ? "" : " ") + std::string(word);
  return process;
}

/// Returns the place of a "#" in the word that text without a space precedes, as in
/// "2025<stdout>:#".
size_t attached_hash(std::string_view word) {
  const size_t at = word.find('#');
  const bool attached = at != std::string_view::npos && at > 0 &&
                        std::string_view(":>|]").find(word[at - 1]) != std::string_view::npos;
  return attached ? at : std::string_view::npos;
}

/// The text before a comment of nccl-tests.
struct Prefix {
  std::vector<std::string_view> words;
  std::string_view rest;
};

/// Finds a comment of nccl-tests in the line. The result is empty if there is none.
std::optional<Prefix> find_comment(std::string_view line, std::vector<std::string_view> words) {
  for (size_t w = 0; w < std::min(words.size(), kMostWords); ++w) {
    const size_t hash = attached_hash(words[w]);
    const auto before = words.begin() + static_cast<ptrdiff_t>(w);
    Prefix found{{words.begin(), before}, {}};
    std::string_view begin = words[w];
    if (hash != std::string_view::npos) {
      found.words.push_back(words[w].substr(0, hash));
      begin.remove_prefix(hash);
    }
    found.rest = line.substr(static_cast<size_t>(begin.data() - line.data()));
    if (begin.front() == '#')
      begin.remove_prefix(1);
    const std::string_view whole = std::exchange(words[w], begin);
    if (NcclContext::is_comment(std::span(words).subspan(begin.empty() ? w + 1 : w)))
      return found;
    words[w] = whole;
  }
  return std::nullopt;
}

}  // namespace

bool is_number(std::string_view word) {
  if (!word.empty() && (word.front() == '-' || word.front() == '+'))
    word.remove_prefix(1);
  return !word.empty() && is_digit(word.front()) &&
         word.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

bool is_nccl_header(std::span<const std::string_view> words) {
  return words.size() > 3 && words[0] == "size" && words[1] == "count" && words[2] == "type";
}

bool is_nccl_row(std::span<const std::string_view> words) {
  return !words.empty() && is_number(words[0]) && (words.size() == 1 || is_number(words[1]));
}

bool NcclContext::is_comment(std::span<const std::string_view> words) {
  const auto begins = [&](std::string_view first, std::string_view second) {
    return words.size() > 1 && words[0] == first && words[1].starts_with(second);
  };
  const auto is_placement = [](std::string_view word) {
    return word == "in-place" || word == "out-of-place";
  };
  return is_nccl_header(words) || begins("(B)", "(elements)") ||
         (words.size() > 3 && words[0].starts_with("nThread") && words[2].starts_with("nGpus")) ||
         (words.size() > 3 && words[0] == "Rank" && is_number(words[1]) &&
          (words[2] == "Pid" || words[2] == "Group")) ||
         (words.size() == 2 && begins("Using", "devices")) || begins("Out", "of") ||
         begins("Avg", "bus") || begins("nccl-tests", "version") ||
         (words.size() == 4 && begins("Collective", "test")) ||
         (!words.empty() && std::all_of(words.begin(), words.end(), is_placement));
}

LoggedLine launched_line(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  if (begin == line.size())
    return {{}, line};
  if (line[begin] == '[') {
    for (const std::string_view stream : {"]<stdout>:", "]<stderr>:"})
      if (const size_t at = line.find(stream, begin); at != std::string_view::npos)
        return {std::string(line.substr(begin, at + 1 - begin)), line.substr(at + stream.size())};
  } else {
    size_t digits = begin;
    while (digits < line.size() && is_digit(line[digits]))
      ++digits;
    if (digits > begin && digits < line.size() && line[digits] == ':' &&
        (digits + 1 == line.size() || line[digits + 1] == ' '))
      return {std::string(line.substr(begin, digits - begin)), line.substr(digits + 1)};
  }
  return {{}, line};
}

LoggedLine LogPrefixes::split(std::string_view line) {
  const LoggedLine launched = launched_line(line);
  const std::vector<std::string_view> words = words_between_spaces(launched.line);
  if (const std::optional<Prefix> found = find_comment(launched.line, words)) {
    if (found->words.empty())
      return launched;
    const std::string process = process_of(found->words);
    known_.emplace(found->words.size(), process);
    return {launched.process + process, found->rest};
  }
  for (const auto& [count, process] : known_) {
    if (words.size() < count || process_of(std::span(words).first(count)) != process)
      continue;
    const size_t end = static_cast<size_t>(words[count - 1].data() - launched.line.data()) +
                       words[count - 1].size();
    return {launched.process + process, launched.line.substr(end)};
  }
  return launched;
}

}  // namespace orrery
