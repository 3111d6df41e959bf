#include "tools/report/text.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "tools/report/figures.h"
#include "tools/report/gpus.h"
#include "tools/report/op_entries.h"
#include "tools/report/text_parts.h"
#include "verifier/check/names.h"

namespace orrery {
namespace {

constexpr size_t kLinkKindsShown = 4;
constexpr size_t kTimelineRows = 48;  // more would not fit a screen
constexpr size_t kTimelineRuns = 32;

std::string heading(const Style& style, std::string_view text) {
  return "\n" + style.bold(text) + "\n";
}

std::string mesh_text(const Mesh& mesh) {
  std::string text;
  for (const Axis& axis : mesh.axes())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", axis.name, axis.size);
  return text;
}

/// Returns a count with its verb: "1 is undecided", "2 are undecided".
std::string undecided_text(size_t count) {
  return fmt::format("{} {} undecided", count, count == 1 ? "is" : "are");
}

/// Returns all verdicts in short: "12 checks hold", "1 of 12 checks fails, 2 are undecided".
std::string counted_verdicts(const std::vector<Check>& checks) {
  const auto count = [&](Verdict verdict) {
    return std::count_if(checks.begin(), checks.end(),
                         [&](const Check& check) { return check.verdict == verdict; });
  };
  const auto failed = count(Verdict::Fails);
  const auto open = static_cast<size_t>(count(Verdict::Undecided));
  if (failed == 0 && open == 0)
    return fmt::format("{} checks hold", checks.size());
  if (failed == 0)
    return fmt::format("{} of {} checks {} undecided", open, checks.size(),
                       open == 1 ? "is" : "are");
  return fmt::format("{} of {} checks fail", failed, checks.size()) +
         (open > 0 ? ", " + undecided_text(open) : std::string());
}

class TextReport {
 public:
  TextReport(const Report& report, const Style& style, const TextOptions& options)
      : report_(report),
        program_(report.scenario->program),
        grouped_(options.ops == ShownOps::All ? single_entries(report)
                                              : grouped_entries(op_entries(report), report)),
        entries_(grouped_.entries),
        style_(style),
        options_(options) {}

  std::string text() const {
    constexpr size_t kAll = std::numeric_limits<size_t>::max();
    std::vector<std::string> sections = {header(), checks_not_holding(), faults(), ops(kAll)};
    if (report_.completion)
      for (std::string& section : std::vector{timeline(), critical_path(), links(), gpus()})
        sections.push_back(std::move(section));
    for (std::string& section : std::vector{memory(), checks_holding(), assumptions(), footer()})
      sections.push_back(std::move(section));
    const size_t most = options_.is_whole() ? kAll : kReportLines;
    std::string& ops_section = sections[3];
    for (const size_t shown : {size_t{32}, size_t{16}, size_t{8}})
      if (report_.completion && lines_of(ops_section) > lines_each(sections, most))
        ops_section = ops(shown);
    return with_units(fitted(sections, most, "all: --verbose", style_), style_);
  }

 private:
  std::string time(Duration duration) const { return time_text(duration, style_.ascii()); }
  std::string time(Instant instant) const { return time(instant - Instant()); }

  /// Returns the header. Its first line answers the verdict, how long the program takes, how much
  /// of that is communication that nothing hides, and how large the peak is.
  std::string header() const {
    const Scenario& scenario = *report_.scenario;
    const std::string mesh = mesh_text(program_.mesh);
    const std::string dot = fmt::format(" {} ", style_.dot());
    std::string answers;
    if (report_.completion)
      answers = time(report_.completion->makespan);
    else if (has_failed(CheckKind::TablesAgreed))
      answers = "its tables do not agree";
    else if (!report_.ops.empty())
      answers = fmt::format("it {}", no_end(report_));
    if (const std::optional<Exposed> most = most_exposed(report_))
      answers += fmt::format(", {} of it exposed communication", share_text(most->share));
    if (const std::string peak = peak_text(); !peak.empty())
      answers += fmt::format("{}peak {}", answers.empty() ? "" : ", ", peak);
    std::string text = fmt::format("{} {}  {}\n", style_.mark(report_.verdict),
                                   headline(report_.verdict, style_), answers);
    if (!scenario.name.empty())
      text += "  " + style_.bold(scenario.name) + "\n";
    return text +
           style_.dim(fmt::format("  {}{}{} devices{}mesh {}{}{} ops", scenario.cluster.name, dot,
                                  program_.mesh.devices(), dot, mesh.empty() ? "[]" : mesh, dot,
                                  program_.ops.size())) +
           "\n";
  }

  bool has_failed(CheckKind kind) const {
    return std::any_of(report_.checks.begin(), report_.checks.end(), [&](const Check& check) {
      return check.name == info(kind).name && !check.holds();
    });
  }

  /// Returns the peak of the device that is fullest, or without capacities the largest peak.
  std::string peak_text() const {
    const DeviceReport* fullest = nullptr;
    const auto peak = [&](const DeviceReport& device) {
      return report_.memory.of(device.device).peak;
    };
    const auto fuller = [&](const DeviceReport& a, const DeviceReport& b) {
      if (a.capacity.has_value() != b.capacity.has_value())
        return a.capacity.has_value();
      if (!a.capacity)
        return peak(a) > peak(b);
      return Int128{peak(a).count()} * b.capacity->count() >
             Int128{peak(b).count()} * a.capacity->count();
    };
    for (const DeviceReport& device : report_.devices)
      if (fullest == nullptr || fuller(device, *fullest))
        fullest = &device;
    if (fullest == nullptr)
      return "";
    const Bytes most = peak(*fullest);
    if (!fullest->capacity || fullest->capacity->count() == 0)
      return size_text(most);
    return fmt::format("{} of {} ({})", size_text(most), size_text(*fullest->capacity),
                       percent_text(most, *fullest->capacity));
  }

  /// Returns the ops, at most so many entries.
  std::string ops(size_t most_shown) const {
    if (report_.ops.empty())
      return "";
    std::string title = "OPS";
    if (report_.completion)
      title = fmt::format("TIME  {}", time(report_.completion->makespan));
    std::string text = heading(style_, title);
    if (report_.completion)
      text +=
          fmt::format("  {}\n", style_.dim(fmt::format("by {}: {}", name(report_.completion->by),
                                                       report_.completion->because)));
    if (const std::optional<Exposed> most = most_exposed(report_))
      text += "  " +
              style_.dim(fmt::format(
                  "communication exposed for {} on device {}, {} of the makespan{}",
                  time(most->exposed), most->device.index(), share_text(most->share),
                  most->lists == 1 ? std::string()
                                   : fmt::format(" of each of its {} programs", most->lists))) +
              "\n";
    text += op_table(report_, grouped_, most_shown,
                     options_.is_whole() ? ShownBounds::All : ShownBounds::MissedByLinks, style_);
    return text;
  }

  /// Draws a bar for each op that takes time, to scale. Computation is full and communication is
  /// shaded.
  std::string timeline() const {
    const int64_t makespan = report_.completion->makespan.picoseconds();
    std::string text;
    size_t name_width = 0;
    size_t rows = 0;
    const auto drawn = [&](const OpReport& run) {
      return run.end > run.entered && program_.op(run.op).kind != OpKind::Done;
    };
    // Many runs on one line would be a bar that tells nothing.
    const auto any_drawn = [&](const OpEntry& entry) {
      return entry.runs.size() <= kTimelineRuns &&
             std::any_of(entry.runs.begin(), entry.runs.end(),
                         [&](const OpReport* run) { return drawn(*run); });
    };
    for (const OpEntry& entry : entries_) {
      if (any_drawn(entry)) {
        name_width = std::max(name_width, std::min(kNameWidth, columns(entry.id)));
        ++rows;
      }
    }
    if (makespan == 0 || rows == 0 || rows > kTimelineRows)
      return "";
    const size_t width = kReportColumns - name_width - 4;
    const auto column = [&](Instant instant) {
      return static_cast<size_t>(Int128{instant.picoseconds()} * static_cast<int64_t>(width) /
                                 makespan);
    };
    for (const OpEntry& entry : entries_) {
      if (!any_drawn(entry))
        continue;
      const std::string op_name = shortened(entry.id, kNameWidth, style_);
      text += fmt::format("  {}{}  ", op_name, std::string(name_width - columns(op_name), ' '));
      size_t end = 0;  // the columns that are drawn so far
      for (const OpReport* run : entry.runs) {
        if (!drawn(*run))
          continue;
        const size_t first = std::max(std::min(column(run->entered), width - 1), end);
        const size_t past =
            std::max(column(run->end), std::min(column(run->entered), width - 1) + 1);
        if (past <= end)
          continue;
        text += std::string(first - end, ' ');
        text += program_.op(run->op).site ? style_.shade(past - first) : style_.block(past - first);
        end = past;
      }
      text += "\n";
    }
    return heading(style_, "TIMELINE") + text;
  }

  std::string critical_path() const {
    if (report_.critical_path.empty())
      return "";
    const PathBlocks blocks =
        options_.ops == ShownOps::Grouped ? PathBlocks::Once : PathBlocks::Each;
    return heading(style_, "CRITICAL PATH") + path_text(report_, entries_, blocks, style_) + "\n";
  }

  /// Returns the links, the busiest first. Links that carry as many bytes at the same bandwidth
  /// share a line.
  std::string links() const {
    struct Used {
      const LinkReport* link;
      double share;
    };
    const Fabric& fabric = report_.fabric();
    std::vector<Used> used;
    for (const LinkReport& link : report_.links)
      if (const std::optional<double> share = utilization(report_, link))
        used.push_back({&link, *share});
    if (used.empty())
      return "";
    const auto order = [](const Used& use) {
      return std::make_tuple(-use.share, -use.link->bytes.count());
    };
    std::stable_sort(used.begin(), used.end(),
                     [&](const Used& a, const Used& b) { return order(a) < order(b); });
    std::string text =
        heading(style_, "LINKS  bytes, and the share of what the makespan has room for");
    size_t kinds = 0;
    for (size_t first = 0, next = 0; first < used.size(); first = next, ++kinds) {
      while (next < used.size() && order(used[next]) == order(used[first]))
        ++next;
      if (kinds >= kLinkKindsShown)
        continue;
      const std::string more =
          next - first > 1 ? fmt::format(" and {} like it", next - first - 1) : "";
      text += fmt::format("  {}{}  {} ({})\n", fabric.link_text(used[first].link->link),
                          style_.dim(more), size_text(used[first].link->bytes),
                          share_text(used[first].share));
    }
    if (kinds > kLinkKindsShown)
      text +=
          style_.dim(fmt::format("  and {} kinds that are used less\n", kinds - kLinkKindsShown));
    return text;
  }

  std::string gpus() const {
    return report_.gpus ? heading(style_, "GPUS") + gpus_text(report_, grouped_, style_) : "";
  }

  std::string memory() const {
    if (report_.devices.empty())
      return "";
    return heading(style_, "MEMORY  live bytes at the peak") + memory_text(report_, style_);
  }

  std::string checks_not_holding() const {
    const std::string text = checks_that_do_not_hold(report_.checks, style_);
    return text.empty() ? "" : heading(style_, "CHECKS that do not hold") + text;
  }

  std::string checks_holding() const {
    const std::string text = checks_that_hold(report_.checks, style_, options_.checks);
    const bool all = report_.verdict == Verdict::Holds;
    return text.empty() ? "" : heading(style_, all ? "CHECKS" : "CHECKS that hold") + text;
  }

  std::string faults() const { return listed("FAULTS", report_.faults); }
  std::string assumptions() const { return listed("ASSUMED", report_.labels); }

  std::string listed(const char* title, const std::vector<std::string>& sentences) const {
    if (sentences.empty())
      return "";
    std::string text = heading(style_, title);
    for (const std::string& label : sentences)
      text += fmt::format("  {} {}\n", style_.dot(),
                          wrapped_words(words_of(label), kReportColumns - 4, 4));
    return text;
  }

  std::string footer() const {
    const std::string count = style_.coloured(report_.verdict, counted_verdicts(report_.checks));
    const std::string digest =
        report_.digest
            ? style_.dim(fmt::format("schedule digest {}: one executor ran, nothing was compared\n",
                                     digest_text(*report_.digest)))
            : std::string();
    return "\n" + count + style_.dim("  fingerprint " + report_.fingerprint) + "\n" + digest;
  }

  const Report& report_;
  const Program& program_;
  const GroupedEntries grouped_;
  const std::vector<OpEntry>& entries_;  // of grouped_
  const Style& style_;
  const TextOptions options_;
};

}  // namespace

std::string headline(Verdict verdict, const Style& style) {
  const char* const kWords[] = {"HOLDS", "UNDECIDED", "DOES NOT HOLD"};
  return style.coloured(verdict, kWords[static_cast<size_t>(verdict)]);
}

std::string report_text(const Report& report, const Style& style, const TextOptions& options) {
  return TextReport(report, style, options).text();
}

SummaryLine summary_line(const Report& report, const Style& style) {
  SummaryLine line;
  line.file = report.scenario->file;
  line.verdict = report.verdict;
  if (report.completion)
    line.makespan = time_text(report.completion->makespan - Instant(), style.ascii());
  line.peak = size_text(report.memory.largest_peak());
  for (const Check& check : report.checks) {
    if (check.verdict == report.verdict && !check.holds()) {
      line.remark = check.name + ": " + check.message;
      break;
    }
  }
  return line;
}

std::string summary_text(const std::vector<SummaryLine>& lines, const Style& style) {
  using Align = Table::Align;
  Table table({Align::Left, Align::Left, Align::Right, Align::Right, Align::Left});
  table.row({"", "scenario", "makespan", "peak", ""});
  size_t file_width = 0;
  for (const SummaryLine& line : lines)
    file_width = std::max(file_width, columns(line.file));
  constexpr size_t kOthers = 3 + 2 + 9 + 2 + 9 + 2;  // mark, makespan, peak, gaps
  const size_t remark_width =
      std::max<size_t>(kReportColumns - std::min(kReportColumns, file_width + kOthers), 30);
  size_t holding = 0;
  size_t open = 0;
  for (const SummaryLine& line : lines) {
    holding += line.verdict == Verdict::Holds ? 1 : 0;
    open += line.verdict == Verdict::Undecided ? 1 : 0;
    table.row({style.mark(line.verdict), line.file, line.makespan, line.peak,
               shortened(line.remark, remark_width, style)});
  }
  const std::string count = fmt::format("{} of {} scenarios hold{}", holding, lines.size(),
                                        open > 0 ? ", " + undecided_text(open) : std::string());
  return with_units(table.text(style, 0), style) + "\n" +
         (holding == lines.size() ? style.good(count) : style.bad(count)) + "\n";
}

}  // namespace orrery
