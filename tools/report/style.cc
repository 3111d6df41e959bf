#include "tools/report/style.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "models/base/compiler.h"

namespace orrery {
namespace {

bool continues_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::string repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t t = 0; t < times; ++t)
    result += text;
  return result;
}

}  // namespace

size_t columns(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm')
        ++i;  // an escape sequence takes no column
      continue;
    }
    if (!continues_code_point(text[i]))
      ++count;
  }
  return count;
}

std::string Style::wrapped(const char* code, std::string_view text) const {
  if (colours_ == Colours::Plain || text.empty())
    return std::string(text);
  std::string result = "\033[";
  result += code;
  result += 'm';
  result += text;
  return result + "\033[0m";
}

std::string Style::mark(Verdict verdict) const {
  const char* const kAscii[] = {"ok", "??", "NO"};
  const char* const kUnicode[] = {"✓", "?", "✗"};
  return coloured(verdict, (ascii() ? kAscii : kUnicode)[static_cast<size_t>(verdict)]);
}

std::string Style::coloured(Verdict verdict, std::string_view text) const {
  switch (verdict) {
    case Verdict::Holds:
      return good(text);
    case Verdict::Undecided:
      return wrapped("33", text);
    case Verdict::Fails:
      break;
  }
  return bad(text);
}

std::string Style::bar(int64_t part, int64_t whole, size_t width) const {
  size_t filled = whole <= 0 || part >= whole
                      ? width
                      : static_cast<size_t>(Int128{part} * static_cast<int64_t>(width) / whole);
  if (part > 0 && filled == 0)
    filled = 1;
  const std::string full = repeated(ascii() ? "#" : "█", filled);
  const std::string empty = repeated(ascii() ? "." : "░", width - filled);
  return (part > whole ? bad(full) : good(full)) + dim(empty);
}

std::string Style::block(size_t width) const {
  return repeated(ascii() ? "#" : "█", width);
}

std::string Style::shade(size_t width) const {
  return good(repeated(ascii() ? "=" : "▒", width));
}

std::vector<size_t> Table::widths() const {
  std::vector<size_t> widths(align_.size(), 0);
  for (const Row& row : rows_)
    for (size_t c = 0; c < row.cells.size(); ++c)
      widths[c] = std::max(widths[c], columns(row.cells[c]));
  return widths;
}

size_t Table::width() const {
  const std::vector<size_t> widths = this->widths();
  size_t width = 0;
  for (size_t c = 0; c < widths.size(); ++c)
    if (!left_out_[c])
      width += (width > 0 ? 2 : 0) + widths[c];
  return width;
}

void Table::leave_out(size_t column) {
  left_out_[column] = true;
}

std::string Table::text(const Style& style, size_t indent) const {
  const std::vector<size_t> widths = this->widths();
  std::string result;
  for (size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows_[r].cells.size(); ++c) {
      if (left_out_[c])
        continue;
      const std::string& cell = rows_[r].cells[c];
      const std::string fill(widths[c] - columns(cell), ' ');
      line += c == 0 ? "" : "  ";
      line += align_[c] == Align::Right ? fill + cell : cell + fill;
    }
    line += rows_[r].note;
    line.erase(line.find_last_not_of(' ') + 1);
    result += std::string(indent, ' ') + (r == 0 ? style.dim(line) : line) + "\n";
  }
  return result;
}

std::string shortened(std::string_view text, size_t width, const Style& style) {
  if (columns(text) <= width)
    return std::string(text);
  const std::string_view ellipsis = style.ascii() ? "..." : "…";
  const size_t keep = width - columns(ellipsis);
  size_t at = 0;
  for (size_t taken = 0; at < text.size(); ++at) {
    if (!continues_code_point(text[at]) && taken++ == keep)
      break;
  }
  return std::string(text.substr(0, at)) + std::string(ellipsis);
}

std::string with_units(std::string text, const Style& style) {
  static constexpr std::string_view kUnit = "us";
  if (style.ascii())
    return text;
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = text.find(kUnit); at != std::string::npos; at = text.find(kUnit, at + 1)) {
    const size_t past = at + kUnit.size();
    if (at == 0 || (past < text.size() && in_word(text[past])))
      continue;
    const size_t number = text.find_last_not_of(" \n", at - 1);  // a line may end before the unit
    if (number != std::string::npos && number + 1 < at && text[number] >= '0' &&
        text[number] <= '9')
      text.replace(at, 1, "µ");
  }
  return text;
}

size_t lines_of(const std::string& section) {
  return static_cast<size_t>(std::count(section.begin(), section.end(), '\n'));
}

size_t lines_each(const std::vector<std::string>& sections, size_t most) {
  std::vector<size_t> lines;
  for (const std::string& section : sections)
    lines.push_back(lines_of(section));
  const auto together = [&](size_t limit) {
    size_t sum = 0;
    for (const size_t count : lines)
      sum += std::min(count, limit);
    return sum;
  };
  size_t limit = lines.empty() ? 0 : *std::max_element(lines.begin(), lines.end());
  // A cut section has its heading, a line and the line that says what is left out.
  constexpr size_t kLeast = 4;
  while (limit > kLeast && together(limit) > most)
    --limit;
  return limit;
}

std::string fitted(const std::vector<std::string>& sections, size_t most, std::string_view all,
                   const Style& style) {
  const size_t limit = lines_each(sections, most);
  std::string text;
  for (size_t s = 0; s < sections.size(); ++s) {
    const size_t lines = lines_of(sections[s]);
    if (lines <= limit) {
      text += sections[s];
      continue;
    }
    size_t end = 0;
    for (size_t line = 0; line + 1 < limit; ++line)
      end = sections[s].find('\n', end) + 1;
    text += sections[s].substr(0, end) +
            style.dim(fmt::format("  and {} more lines ({})", lines + 1 - limit, all)) + "\n";
  }
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, space - at));
    at = space + 1;
  }
  return words;
}

std::string wrapped_words(const std::vector<std::string>& words, size_t width, size_t indent) {
  std::string result;
  size_t used = 0;
  for (const std::string& word : words) {
    const size_t needed = columns(word);
    if (used > 0 && used + 1 + needed > width) {
      result += "\n" + std::string(indent, ' ');
      used = 0;
    }
    if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += needed;
  }
  return result;
}

}  // namespace orrery
