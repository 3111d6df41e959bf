// The part of a page that is about a run: its timeline, memory, links and ops.

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/program/rules.h"
#include "simulator/analyze/list_runs.h"
#include "simulator/lower/local_cost.h"
#include "tools/report/explain.h"
#include "tools/report/figures.h"
#include "tools/report/json_writer.h"
#include "tools/report/op_entries.h"
#include "tools/report/outline.h"
#include "tools/report/text.h"
#include "tools/report/text_parts.h"
#include "tools/report/trace_rows.h"

namespace orrery {
namespace {

// A page stays under 5 MB with these, and its charts stay readable.
constexpr size_t kClassesDrawn = 8;    // of devices
constexpr size_t kMemoriesDrawn = 6;   // kinds of devices
constexpr int64_t kBarsInARow = 1500;  // shorter slices that follow each other share a bar
constexpr size_t kSteps = 1500;        // of a memory line
constexpr size_t kOpsShown = 250;
constexpr uint64_t kMessagesExplained = 4'000'000;
constexpr size_t kLinksShown = 40;
constexpr size_t kHeldShown = 40;

std::string time(Duration duration) {
  return time_text(duration, false);
}
std::string time(Instant instant) {
  return time(instant - Instant());
}

std::string preformatted(const std::string& text) {
  return fmt::format("<pre>{}</pre>\n", html_of(text));
}

std::string paragraph(const std::string& text) {
  return fmt::format("<p class=\"dim\">{}</p>\n", html_of(text));
}

/// A bar of the timeline: one slice, or several short ones that follow each other.
struct Bar {
  ListSlice slice;  // the longest of them
  TimeSpan span;
  size_t count = 1;
};

/// Joins slices of a row that are shorter than `least` and nearly touch.
std::vector<Bar> bars_of(const std::vector<ListSlice>& slices, Duration least) {
  std::vector<Bar> bars;
  for (const ListSlice& slice : slices) {
    if (slice.span.begin == slice.span.end)
      continue;
    const bool is_short = slice.span.end - slice.span.begin < least;
    if (is_short && !bars.empty()) {
      Bar& last = bars.back();
      if (last.span.end - last.span.begin < least && slice.span.begin >= last.span.begin &&
          slice.span.begin - last.span.begin < least) {
        last.span.end = std::max(last.span.end, slice.span.end);
        ++last.count;
        if (slice.span.end - slice.span.begin > last.slice.span.end - last.slice.span.begin)
          last.slice = slice;
        continue;
      }
    }
    bars.push_back({slice, slice.span});
  }
  return bars;
}

class RunSections {
 public:
  explicit RunSections(const Report& report)
      : report_(report),
        program_(report.scenario->program),
        runs_(program_, *report.lowered, *report.completion) {
    uint32_t list = 0;  // lists are in the order of devices
    for (const DeviceReport& device : report.devices) {
      first_list_.emplace(device.device, ListId(list));
      while (list < runs_.size() && runs_.device(ListId(list)) == device.device)
        ++list;
    }
  }

  /// Returns one group of rows for each class of devices, whose lists do the same at the same time.
  std::string timeline() const {
    using Doings = std::vector<std::tuple<uint32_t, OpId, uint8_t, Instant, Instant>>;
    struct Class {
      std::vector<LogicalId> devices;
      Instant end;
    };
    std::map<Doings, size_t> known;
    std::vector<Class> classes;
    size_t left_out = 0;
    for (const DeviceReport& device : report_.devices) {
      Doings key;
      Instant end;
      for (const ListId list : lists(device)) {
        for (const ListSlice& slice : slices_of(runs_, list)) {
          end = std::max(end, slice.span.end);
          key.emplace_back(runs_.lists()[list].thread.index(), slice.op,
                           static_cast<uint8_t>(slice.kind), slice.span.begin, slice.span.end);
        }
      }
      if (key.empty())
        continue;
      const auto [at, is_new] = known.try_emplace(std::move(key), classes.size());
      if (is_new)
        classes.push_back({{}, end});
      classes[at->second].devices.push_back(device.device);
    }
    // Those that end last are drawn, in the order of their first devices.
    std::stable_sort(classes.begin(), classes.end(),
                     [](const Class& a, const Class& b) { return a.end > b.end; });
    for (size_t c = kClassesDrawn; c < classes.size(); ++c)
      left_out += classes[c].devices.size();
    classes.resize(std::min(classes.size(), kClassesDrawn));
    std::sort(classes.begin(), classes.end(),
              [](const Class& a, const Class& b) { return a.devices.front() < b.devices.front(); });
    std::string data;
    JsonWriter json(data);
    std::vector<std::pair<std::string, std::vector<Bar>>> rows;
    for (const Class& each : classes)
      add_rows(each.devices, rows);
    if (rows.empty())
      return paragraph("Nothing takes time.");
    std::map<OpId, size_t> numbers;
    std::vector<std::string_view> names;
    json.object([&] {
      json.key("end").value(report_.completion->makespan.picoseconds());
      json.key("rows").array([&] {
        for (const auto& row : rows)
          json.value(row.first);
      });
      json.key("bars").array([&] {
        for (size_t r = 0; r < rows.size(); ++r)
          for (const Bar& bar : rows[r].second)
            json.array([&] {
              const auto [number, is_new] = numbers.try_emplace(bar.slice.op, names.size());
              if (is_new)
                names.push_back(program_.op(bar.slice.op).name);
              json.value(r);
              json.value(kind_of(bar.slice));
              json.value(bar.span.begin.picoseconds());
              json.value(bar.span.end.picoseconds());
              json.value(number->second);
              json.value(bar.count);
            });
      });
      json.key("names").array([&] {
        for (const std::string_view name : names)
          json.value(name);
      });
    });
    std::string html = chart_html("timeline", "what each device does when, by stream", data);
    if (left_out > 0)
      html +=
          paragraph(fmt::format("{} that end earlier are not drawn: `orrery run --trace` has all.",
                                counted(static_cast<int64_t>(left_out), "device")));
    if (!report_.completion->not_kept.empty())
      html += paragraph(
          "Iterations of loops that repeat are not drawn: the gaps are theirs. `orrery run "
          "--trace` "
          "has all.");
    return html;
  }

  /// Returns the live bytes over time of each kind of device, with what they have and may take.
  std::string memory_chart(std::optional<Bytes> allowed) const {
    struct Line {
      std::vector<LogicalId> devices;
      const DeviceReport* first = nullptr;
    };
    std::map<size_t, Line> kinds;
    for (const DeviceReport& device : report_.devices) {
      Line& line = kinds[*report_.memory.kind_of[device.device.index()]];
      line.devices.push_back(device.device);
      if (line.first == nullptr)
        line.first = &device;
    }
    std::vector<Line> lines;
    for (auto& [kind, line] : kinds)
      lines.push_back(std::move(line));
    std::stable_sort(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
      return report_.memory.of(a.first->device).peak > report_.memory.of(b.first->device).peak;
    });
    const size_t left_out = lines.size() - std::min(lines.size(), kMemoriesDrawn);
    lines.resize(lines.size() - left_out);
    std::string data;
    JsonWriter json(data);
    json.object([&] {
      json.key("end").value(report_.completion->makespan.picoseconds());
      json.key("capacity");
      std::optional<int64_t> capacity;
      for (const DeviceReport& device : report_.devices)
        if (device.capacity)
          capacity = std::max(capacity.value_or(0), device.capacity->count());
      json.value(capacity);
      if (allowed)
        json.key("allowed").value(allowed->count());
      json.key("lines").array([&] {
        for (const Line& line : lines) {
          const std::vector<LiveBytes> steps =
              fewer(live_bytes(report_, runs_, *line.first, first_list_.at(line.first->device)));
          json.object([&] {
            const std::string first = fmt::format("device {}", line.first->device.index());
            json.key("name").value(
                line.devices.size() == 1
                    ? first
                    : fmt::format("{}, one of {} that hold the same", first, line.devices.size()));
            json.key("at").array([&] {
              for (const LiveBytes& step : steps)
                json.value(step.at.picoseconds());
            });
            json.key("bytes").array([&] {
              for (const LiveBytes& step : steps)
                json.value(step.live.count());
            });
          });
        }
      });
    });
    std::string html = chart_html("memory", "live bytes of a device over time", data);
    if (left_out > 0)
      html += paragraph(fmt::format("Not drawn: {} of devices, whose peaks are lower.",
                                    counted(static_cast<int64_t>(left_out), "kind")));
    return html;
  }

  std::string ops() const {
    const GroupedEntries all = grouped_entries(op_entries(report_), report_);
    std::vector<const OpEntry*> shown;
    for (const OpEntry& entry : all.entries)
      shown.push_back(&entry);
    if (shown.empty())
      return paragraph("The program has no ops.");
    std::string html;
    if (shown.size() > kOpsShown) {
      std::vector<const OpEntry*> longest = shown;
      std::stable_sort(longest.begin(), longest.end(), [](const OpEntry* a, const OpEntry* b) {
        return a->last().end - a->last().start > b->last().end - b->last().start;
      });
      longest.resize(kOpsShown);
      const std::set<const OpEntry*> kept(longest.begin(), longest.end());
      std::erase_if(shown, [&](const OpEntry* entry) { return !kept.contains(entry); });
      html += paragraph(
          fmt::format("The {} of {} ops that take longest.", shown.size(), all.entries.size()));
    }
    html += paragraph(
        "An op of a loop, or of blocks that repeat, has one row: its last run. The last column "
        "says "
        "why it ran when it did.");

    // An explanation keeps the steps of the collectives before it, so a large run has only one.
    const bool has_all_runs = report_.completion->not_kept.empty();
    const bool explains_all = has_all_runs && report_.completion->messages <= kMessagesExplained;
    std::string rows;
    if (!has_all_runs)
      html += paragraph(
          "Iterations of loops are left out of this run, so that ops have no reasons here: `orrery "
          "run --explain ID` has those of any.");
    else if (!explains_all)
      html += paragraph(
          "The run is large, so that only its last op has its reasons here: `orrery run --explain "
          "ID` has those of any.");
    std::vector<std::string> explained;
    std::vector<std::optional<size_t>> reasons(shown.size());
    const auto ends_last =
        std::ranges::max_element(shown, {}, [](const OpEntry* entry) { return entry->last().end; });
    for (size_t e = 0; e < shown.size(); ++e) {
      if (!has_all_runs || (!explains_all && shown[e] != *ends_last))
        continue;
      reasons[e] = explained.size();
      explained.push_back(program_.op(shown[e]->last().op).name);
    }
    const std::vector<Explanation> explanations =
        explained.empty() ? std::vector<Explanation>() : explain(report_, explained);
    std::optional<uint32_t> reshard;  // of the entry before
    for (size_t e = 0; e < shown.size(); ++e) {
      const OpEntry* const entry = shown[e];
      const bool first_part =
          std::exchange(reshard, reshard_of(*entry, report_)) != reshard && reshard;
      if (first_part)
        rows += reshard_row(report_.reshards[*reshard]);
      const OpReport& run = entry->last();
      const Op& op = program_.op(run.op);
      std::string what(op_name(op.kind, op.issue));
      if (run.choice)
        what += fmt::format(" ({})", run.choice->algorithm);
      const uint64_t count = std::max<uint64_t>(entry->iterations, entry->runs.size());
      const std::string why =
          reasons[e]
              ? fmt::format(
                    "<details><summary>{}</summary>{}</details>", html_of(op.name),
                    preformatted(explanation_text(report_, explanations[*reasons[e]], kPageStyle)))
              : std::string();
      rows += fmt::format(
          "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
          "<td class=\"n\">{}</td><td>{}</td></tr>\n",
          html_of(entry->id), html_of(what), grouped(count), time(run.start), time(run.end),
          time(run.end - run.start), op.site ? time(run.exposed) : "", size_text(run.bytes), why);
    }
    return html +
           "<div class=\"wide\"><table class=\"sortable\"><thead><tr><th>op</th><th>what</th>"
           "<th class=\"n\">runs</th><th class=\"n\">start</th><th class=\"n\">end</th>"
           "<th class=\"n\">took</th><th class=\"n\">exposed</th><th class=\"n\">bytes</th>"
           "<th>why</th></tr></thead><tbody>\n" +
           rows + "</tbody></table></div>\n";
  }

 private:
  std::string reshard_row(const ReshardReport& of) const {
    const Reshard& reshard = program_.reshards[of.reshard];
    return fmt::format(
        "<tr><td>{}</td><td>{}</td><td class=\"n\">1</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\"></td>"
        "<td class=\"n\">{}</td><td><details><summary>{}</summary>{}</details></td></tr>\n",
        html_of(reshard.name()), op_name(reshard.to), time(of.start), time(of.end),
        time(of.end - of.start), size_text(of.bytes), html_of(reshard.name()),
        paragraph(reshard_text(report_, of)));
  }

  /// Returns the place of a slice's kind in the legend of charts.js. A launch has no stream if it
  /// is that of a local op.
  static size_t kind_of(const ListSlice& slice) {
    switch (slice.kind) {
      case ListSlice::Kind::Compute:
        return 0;
      case ListSlice::Kind::Wait:
        return 2;
      case ListSlice::Kind::Collective:
        return 3;
      case ListSlice::Kind::Launch:
        break;
    }
    return slice.stream ? 4 : 1;
  }

  /// Returns what the list does. The compute stream is cut into the parts that TimeParts has: the
  /// launch of a local op is a slice before the rest of it.
  std::vector<ListSlice> parts_of(ListId list) const {
    std::vector<ListSlice> parts;
    for (const ListSlice& slice : slices_of(runs_, list)) {
      parts.push_back(slice);
      if (slice.kind != ListSlice::Kind::Compute)
        continue;
      const Duration launch = launch_part(
          op_duration(program_, program_.op(slice.op), report_.scenario->cluster.device),
          slice.span.end - slice.span.begin);
      const Instant launched = slice.span.begin + launch;
      parts.back().span.begin = launched;
      if (slice.span.begin < launched)
        parts.insert(parts.end() - 1,
                     {ListSlice::Kind::Launch, {}, slice.op, {slice.span.begin, launched}});
    }
    return parts;
  }

  std::vector<ListId> lists(const DeviceReport& device) const {
    std::vector<ListId> lists;
    for (uint32_t list = first_list_.at(device.device).index();
         list < runs_.size() && runs_.device(ListId(list)) == device.device; ++list)
      lists.emplace_back(list);
    return lists;
  }

  /// Adds a row for the compute stream of each list, and one for each communication stream.
  void add_rows(const std::vector<LogicalId>& devices,
                std::vector<std::pair<std::string, std::vector<Bar>>>& rows) const {
    const auto device = std::ranges::find_if(
        report_.devices, [&](const DeviceReport& each) { return each.device == devices.front(); });
    const std::vector<ListId> all = lists(*device);
    const Duration least(
        std::max<int64_t>(report_.completion->makespan.picoseconds() / kBarsInARow, 1));
    for (const ListId list : all) {
      std::map<std::optional<StreamId>, std::vector<ListSlice>> streams;
      for (const ListSlice& slice : parts_of(list))
        streams[slice.stream].push_back(slice);
      for (const auto& [stream, slices] : streams) {
        std::vector<Bar> bars = bars_of(slices, least);
        if (bars.empty())
          continue;
        std::string name = devices_text(devices);
        if (all.size() > 1)
          name += fmt::format(", {}", program_.thread(runs_.lists()[list].thread).name);
        name += stream ? fmt::format(", communication [{}]", stream->index()) : ", compute";
        rows.emplace_back(std::move(name), std::move(bars));
      }
    }
  }

  /// Returns at most 2 * kSteps of the steps. Where some are left out, the largest of each stretch
  /// of time stays.
  static std::vector<LiveBytes> fewer(std::vector<LiveBytes> steps) {
    if (steps.size() <= 2 * kSteps)
      return steps;
    std::vector<LiveBytes> fewer;
    const size_t each = (steps.size() + kSteps - 1) / kSteps;
    for (size_t first = 0; first < steps.size(); first += each) {
      const auto begin = steps.begin() + static_cast<ptrdiff_t>(first);
      const auto end = begin + static_cast<ptrdiff_t>(std::min(each, steps.size() - first));
      const auto largest = std::max_element(
          begin, end, [](const LiveBytes& a, const LiveBytes& b) { return a.live < b.live; });
      fewer.push_back(*largest);
      if (std::prev(end) != largest)
        fewer.push_back(*std::prev(end));
    }
    return fewer;
  }

  const Report& report_;
  const Program& program_;
  const ListRuns runs_;
  std::map<LogicalId, ListId> first_list_;
};

/// Returns what is live at the peak of the device that has the largest.
std::string live_at_peak(const Report& report) {
  const DeviceReport* fullest = nullptr;
  for (const DeviceReport& device : report.devices)
    if (fullest == nullptr ||
        report.memory.of(device.device).peak > report.memory.of(fullest->device).peak)
      fullest = &device;
  if (fullest == nullptr)
    return paragraph("No device holds anything.");
  const DeviceMemory& memory = report.memory.of(fullest->device);
  using Align = Table::Align;
  Table table({Align::Left, Align::Left, Align::Right, Align::Right});
  table.row({"held", "as", "bytes", "of the peak"});
  for (size_t h = 0; h < memory.live_at_peak.size() && h < kHeldShown; ++h) {
    const Held& held = memory.live_at_peak[h];
    table.row({held.value, std::string(name(held.kind)), size_text(held.size),
               percent_text(held.size, std::max(memory.peak, Bytes(1)))});
  }
  if (memory.reserved > Bytes())
    table.row({"reserved" + transport_note(memory), "reserved", size_text(memory.reserved),
               percent_text(memory.reserved, memory.peak)});
  std::string html = fmt::format(
      "<h3>Live at the peak of device {}: {}{}</h3>\n", fullest->device.index(),
      size_text(memory.peak),
      fullest->capacity ? fmt::format(" of {}", size_text(*fullest->capacity)) : std::string());
  html += table.html();
  if (memory.live_at_peak.size() > kHeldShown)
    html += paragraph(fmt::format("and {} smaller ones", memory.live_at_peak.size() - kHeldShown));
  return html;
}

/// Returns the links, the busiest first.
std::string links(const Report& report) {
  std::vector<std::pair<double, const LinkReport*>> used;
  for (const LinkReport& link : report.links)
    if (const std::optional<double> share = utilization(report, link))
      used.emplace_back(*share, &link);
  if (used.empty())
    return paragraph("No link carries anything.");
  std::stable_sort(used.begin(), used.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  using Align = Table::Align;
  Table table({Align::Left, Align::Right, Align::Right, Align::Right});
  table.row({"link", "bytes", "used", "links like it"});
  size_t rows = 0;
  size_t left_out = 0;
  for (size_t first = 0, next = 0; first < used.size(); first = next) {
    while (next < used.size() && used[next].first == used[first].first &&
           used[next].second->bytes == used[first].second->bytes)
      ++next;
    if (rows++ < kLinksShown)
      table.row({report.fabric().link_text(used[first].second->link),
                 size_text(used[first].second->bytes), share_text(used[first].first),
                 std::to_string(next - first - 1)});
    else
      left_out += next - first;
  }
  std::string html =
      paragraph("Bytes of data, and the share of what the link could carry in the makespan.") +
      table.html();
  if (left_out > 0)
    html += paragraph(fmt::format("and {} less used links", left_out));
  return html;
}

}  // namespace

void add_run(HtmlPage& page, const Report& report, std::optional<Bytes> allowed) {
  if (!report.completion) {
    const std::string no_times =
        paragraph(fmt::format("The program {}, so that nothing has a time.", no_end(report)));
    page.section("timeline", "Timeline", no_times);
    page.section("memory", "Memory", live_at_peak(report));
    page.section("links", "Links", no_times);
    page.section("ops", "Ops", no_times);
    return;
  }
  const RunSections sections(report);
  page.section("timeline", "Timeline", sections.timeline());
  page.section("memory", "Memory", sections.memory_chart(allowed) + live_at_peak(report));
  page.section("links", "Links", links(report));
  page.section("ops", "Ops", sections.ops());
}

void add_no_run(HtmlPage& page, std::string_view why) {
  for (const auto& [id, title] : {std::pair("timeline", "Timeline"), std::pair("memory", "Memory"),
                                  std::pair("links", "Links"), std::pair("ops", "Ops")})
    page.section(id, title, paragraph(std::string(why)));
}

std::string run_html(const Report& report) {
  const Scenario& scenario = *report.scenario;
  HtmlPage page(scenario.name.empty() ? scenario.file : scenario.name);
  // The first paragraph of the text report is the answer in short.
  std::string answer = report_text(report, kPageStyle, {});
  answer.resize(std::min(answer.find("\n\n"), answer.size()));
  const std::string failed = checks_that_do_not_hold(report.checks, kPageStyle);
  page.section("question", "Question",
               paragraph(fmt::format("What does {} do, and does it do it right?", scenario.file)));
  page.section("answer", "Answer", preformatted(answer + (failed.empty() ? "" : "\n\n" + failed)));
  add_run(page, report);
  page.section("checks", "Checks",
               preformatted(checks_that_hold(report.checks, kPageStyle, ShownChecks::Counted)));
  add_assumptions(page, report.labels);
  add_accuracy(page, scenario);
  return page.text();
}

}  // namespace orrery
