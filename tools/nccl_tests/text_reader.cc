#include "tools/nccl_tests/text_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/characters.h"
#include "models/scenario/document.h"

namespace orrery {
namespace {

enum class Column : uint8_t {
  Size,
  Count,
  Type,
  Redop,
  Root,
  Time,
  Algbw,
  Busbw,
  Wrong,
  Other,  // not read: the "error" of old versions, the statistics of -I
  Clock,  // a date and a time (-S)
};

std::optional<Column> column_named(std::string_view word) {
  static const std::map<std::string_view, Column> kColumns = {
      {"size", Column::Size},       {"count", Column::Count}, {"type", Column::Type},
      {"redop", Column::Redop},     {"root", Column::Root},   {"time", Column::Time},
      {"cputime", Column::Time},    {"algbw", Column::Algbw}, {"busbw", Column::Busbw},
      {"#wrong", Column::Wrong},    {"error", Column::Other}, {"i_min", Column::Other},
      {"i_max", Column::Other},     {"i_p99", Column::Other}, {"i_cv%", Column::Other},
      {"timestamp", Column::Clock},
  };
  const auto found = kColumns.find(word);
  return found == kColumns.end() ? std::nullopt : std::optional(found->second);
}

/// The columns of a table, as its header names them.
struct Columns {
  std::vector<Column> all;
  std::vector<std::string> names;
  size_t placed = 0;   // the first column of a placement
  size_t figures = 0;  // how many each placement has
  size_t placements = 0;
  bool cpu_times = false;

  /// Returns the number of words of a row that has all columns.
  size_t words() const {
    return all.size() + (!all.empty() && all.back() == Column::Clock ? 1 : 0);
  }
  bool has(Column column) const { return std::find(all.begin(), all.end(), column) != all.end(); }
};

bool is_header(const std::vector<std::string_view>& words) {
  return words.size() > 3 && words[0] == "size" && words[1] == "count" && words[2] == "type";
}

/// Reads a header. The result is empty, with an error, if a column is unknown or a placement lacks
/// one.
std::optional<Columns> read_header(const std::vector<std::string_view>& words, const Origin& origin,
                                   Diagnostics& diagnostics) {
  Columns columns;
  for (const std::string_view word : words) {
    const std::optional<Column> column = column_named(word);
    if (!column) {
      diagnostics.add(origin,
                      fmt::format("expected a column of nccl-tests, got {}", in_quotes(word)));
      return std::nullopt;
    }
    if (column == Column::Time && columns.placements++ == 0)
      columns.placed = columns.all.size();
    columns.cpu_times |= word == "cputime";
    columns.all.push_back(*column);
    columns.names.emplace_back(word);
  }
  const size_t clock = columns.has(Column::Clock) ? 1 : 0;
  const size_t figures = columns.all.size() - columns.placed - clock;
  const auto begin = columns.all.begin() + static_cast<ptrdiff_t>(columns.placed);
  const bool alike =
      columns.placements == 1 || (columns.placements == 2 && figures % 2 == 0 &&
                                  std::equal(begin, begin + static_cast<ptrdiff_t>(figures / 2),
                                             begin + static_cast<ptrdiff_t>(figures / 2)));
  const std::vector<Column> least = {Column::Time, Column::Algbw, Column::Busbw};
  if (!alike || figures < 4 || !std::equal(least.begin(), least.end(), begin)) {
    diagnostics.add(origin, fmt::format("expected time, algbw, busbw and #wrong, once or twice, "
                                        "got {}",
                                        in_quotes(fmt::format("{}", fmt::join(words, " ")))));
    return std::nullopt;
  }
  columns.figures = figures / columns.placements;
  return columns;
}

bool is_number(std::string_view word) {
  if (!word.empty() && (word.front() == '-' || word.front() == '+'))
    word.remove_prefix(1);
  return !word.empty() && is_digit(word.front()) &&
         word.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

/// Returns whether the line is a table's row. Any other line is a log.
bool is_row(const std::vector<std::string_view>& words) {
  return !words.empty() && is_number(words[0]) && (words.size() == 1 || is_number(words[1]));
}

/// A launcher has at most this many processes. The lines of each are read by themselves.
constexpr size_t kMostProcesses = size_t{1} << 16U;

/// nccl-tests prints this many spaces for a row without figures out of place.
constexpr size_t kNoFigures = 32;

class RowReader {
 public:
  RowReader(const Columns& columns, const std::vector<std::string_view>& words,
            const Origin& origin, Diagnostics& diagnostics)
      : columns_(columns), words_(words), diagnostics_(diagnostics) {
    row_.origin = origin;
  }

  std::optional<PrintedRow> read() {
    const size_t errors = diagnostics_.size();
    // hypercube and old versions of alltoall print no operation.
    const bool blank_redop =
        columns_.has(Column::Redop) && words_.size() > 3 && is_number(words_[3]);
    const size_t there = words_.size() + (blank_redop ? 1 : 0);
    const bool only_in_place = columns_.placements == 2 &&
                               there + columns_.figures == columns_.words() &&
                               gap_before_figures(blank_redop);
    if (there != columns_.words() && !only_in_place) {
      refuse(fmt::format("expected {} ({}), got {}", counted_columns(columns_.words()),
                         fmt::join(columns_.names, " "), counted_columns(words_.size())));
      return std::nullopt;
    }
    row_.without_redop = !columns_.has(Column::Redop);
    if (!columns_.has(Column::Root))
      row_.root = -1;
    size_t word = 0;
    size_t placement = 0;
    for (size_t c = 0; c < columns_.all.size(); ++c) {
      const Column column = columns_.all[c];
      if (column == Column::Redop && blank_redop) {
        row_.redop = "";
        continue;
      }
      if (c >= columns_.placed && column == Column::Time)
        ++placement;
      if (c >= columns_.placed && placement == 1 && only_in_place)
        continue;
      read(column, words_[word++], placement);
    }
    if (!only_in_place)
      row_.out_of_place = figures_[0];
    if (columns_.placements == 2)
      row_.in_place = figures_[1];
    return diagnostics_.size() == errors ? std::optional(std::move(row_)) : std::nullopt;
  }

 private:
  static std::string counted_columns(size_t columns) {
    return counted(static_cast<int64_t>(columns), "column");
  }

  void refuse(std::string message) { diagnostics_.add(row_.origin, std::move(message)); }

  /// Returns whether the figures out of place are left blank.
  bool gap_before_figures(bool blank_redop) const {
    const size_t before = columns_.placed - (blank_redop ? 1 : 0);
    if (before == 0 || before >= words_.size())
      return false;
    const char* const end = words_[before - 1].data() + words_[before - 1].size();
    return words_[before].data() - end >= static_cast<ptrdiff_t>(kNoFigures);
  }

  void read(Column column, std::string_view word, size_t placement) {
    PrintedFigures& figures = figures_[placement == 2 ? 1 : 0];
    switch (column) {
      case Column::Size:
        row_.size = Bytes(whole(word, "a size in bytes"));
        break;
      case Column::Count:
        row_.count = whole(word, "a count of elements");
        break;
      case Column::Type:
        if (is_number(word))
          refuse(fmt::format("expected a type, got {}", in_quotes(word)));
        row_.type = std::string(word);
        break;
      case Column::Redop:
        row_.redop = std::string(word);
        break;
      case Column::Root:
        row_.root = word == "-1" ? -1 : whole(word, "a root");
        break;
      case Column::Time:
        if (const auto time = read_decimal(word, kTimeDecimals))
          figures.time = *time;
        else
          refuse(fmt::format("expected a time in us, got {}", in_quotes(word)));
        break;
      case Column::Algbw:
        figures.algbw = bandwidth(word);
        break;
      case Column::Busbw:
        figures.busbw = bandwidth(word);
        break;
      case Column::Wrong:
        if (word != "N/A")
          figures.wrong = whole(word, "a number of wrong elements, or N/A");
        break;
      case Column::Other:
      case Column::Clock:
        break;
    }
  }

  int64_t whole(std::string_view word, std::string_view what) {
    if (const std::optional<PrintedDecimal> number = read_decimal(word, 0))
      return number->value;
    refuse(fmt::format("expected {}, got {}", what, in_quotes(word)));
    return 0;
  }

  std::optional<PrintedDecimal> bandwidth(std::string_view word) {
    if (word == "nan" || word == "-nan" || word == "inf")
      return std::nullopt;
    std::optional<PrintedDecimal> rate = read_decimal(word, kBandwidthDecimals);
    if (!rate)
      refuse(fmt::format("expected a bandwidth in GB/s, got {}", in_quotes(word)));
    return rate;
  }

  const Columns& columns_;
  const std::vector<std::string_view>& words_;
  Diagnostics& diagnostics_;
  PrintedRow row_;
  PrintedFigures figures_[2];
};

/// Reads the lines of one rank.
class Stream {
 public:
  Stream(std::vector<std::pair<uint32_t, NcclDraft>>& tables, Diagnostics& diagnostics)
      : tables_(tables), diagnostics_(diagnostics) {}

  void line(std::string_view line, TextPosition at) {
    const Origin origin{"", at};
    const std::vector<std::string_view> words = words_between_spaces(line);
    if (words.empty())
      return;
    if (words[0].front() == '#') {
      comment(line.substr(static_cast<size_t>(words[0].data() - line.data()) + 1), origin);
    } else if (open_ && is_row(words)) {
      require_room(draft_->rows.size(), origin, diagnostics_);
      if (auto row = RowReader(*columns_, words, origin, diagnostics_).read())
        draft_->rows.push_back(std::move(*row));
      else
        broken_ = true;
    } else {
      context_.read_log(line);
    }
  }

  /// Ends the stream. Requires that no line follows.
  void end() { close(); }

 private:
  void comment(std::string_view comment, const Origin& origin) {
    std::vector<std::string_view> words = words_between_spaces(comment);
    if (words.empty())
      return;
    if (is_header(words)) {
      close();
      columns_ = read_header(words, origin, diagnostics_);
      if (columns_) {
        draft_ = context_.draft(origin);
        draft_->times_are_cpu_times = columns_->cpu_times;
        open_ = true;
      }
      return;
    }
    if (words[0] == "Out" || words[0] == "Avg")
      open_ = false;
    if (NcclContext::begins_run(comment))
      close();
    if (words.size() == 4 && words[2] == "concluded:") {
      // It may be that nothing else has named the table.
      const auto named = nccl_collective_named(words[3]);
      if (draft_ && named)
        draft_->named.push_back(*named);
      return close();
    }
    context_.read_comment(comment, origin, diagnostics_);
  }

  void close() {
    open_ = false;
    if (!draft_)
      return;
    // Facts about this run say nothing about the next one.
    context_ = NcclContext();
    if (!broken_)
      tables_.emplace_back(draft_->origin.at->line, std::move(*draft_));
    draft_.reset();
    broken_ = false;
  }

  std::vector<std::pair<uint32_t, NcclDraft>>& tables_;  // by the line of their header
  Diagnostics& diagnostics_;
  NcclContext context_;
  std::optional<Columns> columns_;
  std::optional<NcclDraft> draft_;
  bool open_ = false;    // rows may follow
  bool broken_ = false;  // a row was refused, so the table would not be whole
};

}  // namespace

LaunchedLine launched_line(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  if (begin == line.size())
    return {{}, line};
  if (line[begin] == '[') {
    for (const std::string_view stream : {"]<stdout>:", "]<stderr>:"})
      if (const size_t at = line.find(stream, begin); at != std::string_view::npos)
        return {line.substr(begin, at + 1 - begin), line.substr(at + stream.size())};
  } else {
    size_t digits = begin;
    while (digits < line.size() && is_digit(line[digits]))
      ++digits;
    if (digits > begin && digits < line.size() && line[digits] == ':' &&
        (digits + 1 == line.size() || line[digits + 1] == ' '))
      return {line.substr(begin, digits - begin), line.substr(digits + 1)};
  }
  return {{}, line};
}

std::vector<NcclDraft> read_text_tables(std::string_view text, Diagnostics& diagnostics) {
  std::vector<std::pair<uint32_t, NcclDraft>> found;
  std::map<std::string_view, Stream> streams;
  uint32_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r')
      line.remove_suffix(1);
    ++number;
    begin = end + 1;
    if (const size_t nul = line.find('\0'); nul != std::string_view::npos) {
      diagnostics.add({"", TextPosition{number, static_cast<uint32_t>(nul) + 1}},
                      "expected text, got a byte of 0");
      return {};
    }
    const LaunchedLine launched = launched_line(line);
    const auto column = static_cast<uint32_t>(launched.line.data() - line.data()) + 1;
    const TextPosition at{number, column};
    streams.try_emplace(launched.process, found, diagnostics).first->second.line(launched.line, at);
    if (streams.size() > kMostProcesses) {
      diagnostics.add({"", at}, fmt::format("expected lines of at most {} processes, got more",
                                            kMostProcesses));
      return {};
    }
  }
  for (auto& [process, stream] : streams)
    stream.end();
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NcclDraft> drafts;
  for (auto& [line, draft] : found)
    drafts.push_back(std::move(draft));
  return drafts;
}

}  // namespace orrery
