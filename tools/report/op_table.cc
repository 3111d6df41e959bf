#include "tools/report/op_table.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "tools/report/spread.h"
#include "tools/report/units.h"

namespace orrery {
namespace {

constexpr size_t kIndent = 2;
constexpr size_t kAlgbw = 5;  // columns
constexpr size_t kHidden = 8;

/// Of rows that show several ops.
constexpr std::string_view kWhose = "start of the first, messages of all, the rest of the last";

class OpTable {
 public:
  OpTable(const Report& report, const FoldedEntries& folded, const Style& style)
      : report_(report), program_(report.scenario->program), folded_(folded), style_(style) {}

  std::string text() const { return loops() + blocks() + table_text(); }

 private:
  std::string time(Duration duration) const { return time_text(duration, style_.ascii()); }
  std::string time(Instant instant) const { return time(instant - Instant()); }

  /// One line for each loop. Its ops are shown from the first start to the last end; what they took
  /// is that of the last iteration. Iterations that the scenario names have a line of their own.
  std::string loops() const {
    std::string text;
    std::string_view before;
    for (const OpEntry& entry : folded_.entries) {
      if (entry.loop.empty() || entry.loop == before)
        continue;
      before = entry.loop;
      const std::string period =
          entry.period
              ? fmt::format(", the last {} after the one before; {}", time(*entry.period), kWhose)
              : std::string();
      text += "  " +
              style_.dim(fmt::format("{}: {} iteration{}{}", entry.loop, grouped(entry.iterations),
                                     entry.iterations == 1 ? "" : "s", period)) +
              "\n";
    }
    return text;
  }

  /// One line for each block of ops that comes several times in a row.
  std::string blocks() const {
    std::string text;
    for (const FoldedEntries::Block& block : folded_.blocks) {
      const OpEntry& first = folded_.entries[block.begin];
      const OpEntry& last = folded_.entries[block.begin + block.length - 1];
      const std::string ops =
          block.length == 1 ? first.id
                            : fmt::format("{} to {} ({} ops)", first.id, last.id, block.length);
      const std::string line = fmt::format("{}: {} times in a row{}; {} (all: --ops all)", ops,
                                           grouped(block.times), periods(first), kWhose);
      text += "  " + style_.dim(wrapped_words(words_of(line), kReportColumns - 2, 4)) + "\n";
    }
    return text;
  }

  /// How much later each of them began than the one before, on each device; empty unless all began
  /// in this order.
  std::string periods(const OpEntry& entry) const {
    if (!report_.completion)
      return "";
    Spread spread;
    for (size_t i = 1; i < entry.runs.size(); ++i) {
      const std::vector<OpSpan>& before = report_.completion->spans[entry.runs[i - 1]->op.index()];
      const std::vector<OpSpan>& spans = report_.completion->spans[entry.runs[i]->op.index()];
      if (spans.size() != before.size())
        return "";
      for (size_t device = 0; device < spans.size(); ++device) {
        if (spans[device].start < before[device].start)
          return "";
        spread.add(spans[device].start - before[device].start);
      }
    }
    return fmt::format(", each {} after the one before", spread.text(style_.ascii()));
  }

  /// Of the op on the device where it takes longest.
  Duration longest(const OpReport& run) const {
    Duration longest;
    if (report_.completion)
      for (const OpSpan& span : report_.completion->spans[run.op.index()])
        longest = std::max(longest, span.end - span.start);
    return longest;
  }

  /// Of ops that are shown together: the figures in which they differ, with the op of the largest.
  std::string differing(const OpEntry& entry) const {
    std::vector<std::string> words;
    const auto figure = [&](std::string_view name, auto of) {
      Spread spread;
      for (const OpReport* run : entry.runs)
        spread.add(of(*run));
      if (spread.differs())
        words.push_back(fmt::format("{} {} ({})", name, spread.text(style_.ascii()),
                                    program_.op(entry.runs[spread.longest()]->op).name));
    };
    figure("takes", [&](const OpReport& run) { return longest(run); });
    figure("exposed", [](const OpReport& run) { return run.exposed; });
    figure("hidden", [](const OpReport& run) { return run.hidden; });
    figure("slack", [](const OpReport& run) { return run.slack.value_or(Duration()); });
    for (size_t w = 0; w + 1 < words.size(); ++w)
      words[w] += ",";
    return wrapped_words(words, kReportColumns - kIndent - 2, kIndent + 2);
  }

  /// Within the width of a report, if leaving out the columns of the algbw and the hidden time
  /// brings it there. The JSON report has them all.
  std::string table_text() const {
    Table table = this->table();
    for (const size_t column : {kAlgbw, kHidden})
      if (table.width() + kIndent > kReportColumns)
        table.leave_out(column);
    return table.text(style_, kIndent);
  }

  Table table() const {
    using Align = Table::Align;
    Table table({Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right,
                 Align::Right, Align::Right, Align::Right, Align::Right});
    table.row(
        {"id", "op", "start", "end", "bytes", "algbw", "busbw", "exposed", "hidden", "slack"});
    const auto row = [&](const std::string& id, Instant start, const OpReport& run) {
      const Op& op = program_.op(run.op);
      const bool timed = report_.completion.has_value();
      const auto rate = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.1f}", *value) : std::string();
      };
      table.row({shortened(id, kNameWidth, style_), op_name(op.kind, op.issue),
                 timed ? time(start) : "", timed ? time(run.end) : "",
                 run.bytes.count() > 0 ? size_text(run.bytes) : "", rate(run.algbw_GBps),
                 rate(run.busbw_GBps), timed && run.exposed.count() > 0 ? time(run.exposed) : "",
                 timed && run.hidden.count() > 0 ? time(run.hidden) : "",
                 run.slack ? time(*run.slack) : ""});
    };
    for (const OpEntry& entry : folded_.entries) {
      const OpReport& last = entry.last();
      row(entry.id, entry.first().start, last);
      if (last.choice)
        table.note(style_.dim(fmt::format(
            "{} {}: {}; {} message{}", style_.corner(), last.choice->method(), last.choice->because,
            grouped(entry.messages), entry.messages == 1 ? "" : "s")));
      // What iterations take that are left out is not known here.
      const bool complete = entry.loop.empty() || entry.iterations == entry.runs.size();
      if (const std::string said = differing(entry); complete && !said.empty())
        table.note(style_.dim(fmt::format("{} {}", style_.corner(), said)));
      for (const OpReport* run : entry.named)
        row(program_.op(run->op).name, run->start, *run);
    }
    return table;
  }

  const Report& report_;
  const Program& program_;
  const FoldedEntries& folded_;
  const Style& style_;
};

}  // namespace

std::string op_table(const Report& report, const FoldedEntries& folded, const Style& style) {
  return OpTable(report, folded, style).text();
}

}  // namespace orrery
