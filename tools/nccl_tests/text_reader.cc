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
      {"size", Column::Size},    {"count", Column::Count},     {"type", Column::Type},
      {"redop", Column::Redop},  {"root", Column::Root},       {"time", Column::Time},
      {"cputime", Column::Time}, {"algbw", Column::Algbw},     {"busbw", Column::Busbw},
      {"#wrong", Column::Wrong}, {"wrong", Column::Wrong},     {"error", Column::Other},
      {"i_min", Column::Other},  {"i_max", Column::Other},     {"i_p99", Column::Other},
      {"i_cv%", Column::Other},  {"timestamp", Column::Clock},
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
  bool only_in_place = false;  // whether the one placement is in place

  /// Returns the number of words of a row that has all columns.
  size_t words() const {
    return all.size() + (!all.empty() && all.back() == Column::Clock ? 1 : 0);
  }
  bool has(Column column) const { return std::find(all.begin(), all.end(), column) != all.end(); }
};

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
    const bool only_out_of_place =
        columns_.placements == 2 && !only_in_place && there + columns_.figures == columns_.words();
    if (there != columns_.words() && !only_in_place && !only_out_of_place) {
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
      if (placement == 1 && only_in_place)
        continue;
      if (placement == 2 && only_out_of_place && column != Column::Clock)
        continue;
      read(column, words_[word++], placement);
    }
    if (columns_.only_in_place)
      row_.in_place = figures_[0];
    else if (!only_in_place)
      row_.out_of_place = figures_[0];
    if (columns_.placements == 2 && !only_out_of_place)
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

/// Returns the program that the line runs: "mpirun -np 8 build/all_reduce_perf -b 8". The result is
/// empty if it names none or several.
std::optional<NcclCollective> program_run_by(const std::vector<std::string_view>& words) {
  std::optional<NcclCollective> found;
  for (std::string_view word : words) {
    while (!word.empty() &&
           std::string_view(";,\"'`)&").find(word.back()) != std::string_view::npos)
      word.remove_suffix(1);
    while (!word.empty() && std::string_view("\"'`($").find(word.front()) != std::string_view::npos)
      word.remove_prefix(1);
    const std::optional<NcclCollective> named =
        word.find("_perf") == std::string_view::npos ? std::nullopt : nccl_collective_named(word);
    if (named && found && *named != *found)
      return std::nullopt;
    found = named ? named : found;
  }
  return found;
}

/// All streams of a file share these facts.
struct FileFacts {
  std::vector<std::pair<uint32_t, NcclDraft>> tables;  // by the line of their header
  std::optional<NcclHint> command;  // the last line that runs a program of nccl-tests
};

/// Reads the lines of one rank.
class Stream {
 public:
  /// `process` is the text before the stream's lines, but for clocks.
  Stream(FileFacts& facts, std::string process, Diagnostics& diagnostics)
      : facts_(facts), process_(std::move(process)), diagnostics_(diagnostics) {}

  /// `prefixed` says whether text before the line was taken away.
  void line(std::string_view line, bool prefixed, TextPosition at) {
    const Origin origin{"", at};
    const std::vector<std::string_view> words = words_between_spaces(line);
    prefixes_ += prefixed ? 1 : 0;
    if (words.empty())
      return;
    if (words[0].front() == '#') {
      comment(line.substr(static_cast<size_t>(words[0].data() - line.data()) + 1), origin);
    } else if (open_ && is_nccl_row(words)) {
      require_room(draft_->rows.size(), origin, diagnostics_);
      if (auto row = RowReader(*columns_, words, origin, diagnostics_).read())
        draft_->rows.push_back(std::move(*row));
      else
        broken_ = true;
    } else if (NcclContext::is_comment(words)) {
      comment(line, origin);
    } else if (const auto program = program_run_by(words)) {
      facts_.command = {*program, fmt::format("the command in line {} runs it", at.line)};
    } else if (!context_.read_log(line)) {
      ++others_;
    }
  }

  /// Ends the stream. Requires that no line follows.
  void end() { close(); }

 private:
  void comment(std::string_view comment, const Origin& origin) {
    std::vector<std::string_view> words = words_between_spaces(comment);
    if (words.empty())
      return;
    if (is_nccl_header(words)) {
      close();
      columns_ = read_header(words, origin, diagnostics_);
      if (columns_) {
        draft_ = context_.draft(origin);
        draft_->times_are_cpu_times = columns_->cpu_times;
        if (facts_.command)
          draft_->hints.push_back(*facts_.command);
        columns_->only_in_place = columns_->placements == 1 && only_in_place_;
        open_ = true;
      }
      return;
    }
    if (words[0] == "in-place" || words[0] == "out-of-place")
      only_in_place_ = words[0] == "in-place";
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
    only_in_place_ = false;
    note_dropped();
    if (!broken_ && draft_->rows.empty() && !process_.empty()) {
      diagnostics_.add(draft_->origin,
                       fmt::format("expected rows below the header of a table, with {} before "
                                   "them as before it, got none; only clocks may change there",
                                   in_quotes(process_)));
      broken_ = true;
    }
    if (!broken_)
      facts_.tables.emplace_back(draft_->origin.at->line, std::move(*draft_));
    draft_.reset();
    broken_ = false;
  }

  /// Notes how much of the file is no part of the table.
  void note_dropped() {
    std::vector<std::string> dropped;
    if (prefixes_ > 0)
      dropped.push_back(fmt::format("the text before {}", counted(prefixes_, "line")));
    if (others_ > 0)
      dropped.push_back(fmt::format("{} of other text", counted(others_, "line")));
    if (!dropped.empty())
      draft_->table.notes.push_back(fmt::format("line {}: dropped: {}", draft_->origin.at->line,
                                                fmt::join(dropped, ", and ")));
    prefixes_ = others_ = 0;
  }

  FileFacts& facts_;
  const std::string process_;
  Diagnostics& diagnostics_;
  NcclContext context_;
  std::optional<Columns> columns_;
  std::optional<NcclDraft> draft_;
  bool open_ = false;           // rows may follow
  bool broken_ = false;         // a row was refused, so the table would not be whole
  bool only_in_place_ = false;  // the line above the header names no other placement first
  int64_t prefixes_ = 0;        // lines since the last table before which text was taken away
  int64_t others_ = 0;          // lines since the last table that say nothing
};

}  // namespace

std::vector<NcclDraft> read_text_tables(std::string_view text, Diagnostics& diagnostics) {
  std::vector<std::string_view> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (!lines.back().empty() && lines.back().back() == '\r')
      lines.back().remove_suffix(1);
    if (const size_t nul = lines.back().find('\0'); nul != std::string_view::npos) {
      diagnostics.add(
          {"", TextPosition{static_cast<uint32_t>(lines.size()), static_cast<uint32_t>(nul) + 1}},
          "expected text, got a byte of 0");
      return {};
    }
    begin = end + 1;
  }
  LogPrefixes prefixes;
  for (const std::string_view line : lines)
    prefixes.split(line);  // so that they are known before the first comment
  FileFacts facts;
  std::map<std::string, Stream> streams;
  for (size_t l = 0; l < lines.size(); ++l) {
    LoggedLine logged = prefixes.split(lines[l]);
    const auto before = static_cast<uint32_t>(logged.line.data() - lines[l].data());
    const TextPosition at{static_cast<uint32_t>(l) + 1, before + 1};
    streams.try_emplace(logged.process, facts, logged.process, diagnostics)
        .first->second.line(logged.line, before > 0, at);
    if (streams.size() > kMostProcesses) {
      diagnostics.add({"", at}, fmt::format("expected lines of at most {} processes, got more",
                                            kMostProcesses));
      return {};
    }
  }
  for (auto& [process, stream] : streams)
    stream.end();
  std::stable_sort(facts.tables.begin(), facts.tables.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NcclDraft> drafts;
  for (auto& [line, draft] : facts.tables)
    drafts.push_back(std::move(draft));
  return drafts;
}

}  // namespace orrery
