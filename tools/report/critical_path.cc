#include "tools/report/critical_path.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/schedule/lowered.h"
#include "tools/report/figures.h"
#include "tools/report/units.h"

namespace orrery {
namespace {

std::string path_table(const Report& report, const Style& style) {
  const Program& program = report.scenario->program;
  const auto time = [&](Duration duration) { return time_text(duration, style.ascii()); };
  const auto makespan = static_cast<double>(report.completion->makespan.picoseconds());
  using Align = Table::Align;
  Table table({Align::Right, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left,
               Align::Left});
  table.row({"from", "to", "takes", "share", "device", "id", "op"});
  for (const PathEntry& entry : report.critical_path) {
    const Op& op = program.op(entry.op);
    const Duration takes = entry.end - entry.start;
    table.row({time(entry.start - Instant()), time(entry.end - Instant()), time(takes),
               share_text(static_cast<double>(takes.count()) / makespan),
               std::to_string(entry.device.index()), op.name,
               op.site ? fmt::format("{} by {}", op_name(op.kind, op.issue),
                                     report.lowered->choices[op.site->index()].method())
                       : op_name(op.kind, op.issue)});
  }
  return table.text(style, 2);
}

std::string slack_table(const Report& report, const Style& style) {
  const Program& program = report.scenario->program;
  std::vector<const OpReport*> off;
  for (const OpReport& entry : report.ops)
    if (entry.slack && *entry.slack > Duration())
      off.push_back(&entry);
  if (off.empty())
    return "";
  std::stable_sort(off.begin(), off.end(),
                   [](const OpReport* a, const OpReport* b) { return *a->slack < *b->slack; });
  using Align = Table::Align;
  Table table({Align::Right, Align::Left, Align::Left});
  table.row({"slack", "id", "op"});
  for (const OpReport* entry : off) {
    const Op& op = program.op(entry->op);
    table.row({time_text(*entry->slack, style.ascii()), op.name, op_name(op.kind, op.issue)});
  }
  return "\n" + style.bold("OFF THE PATH") + "  how much longer an op could last\n" +
         table.text(style, 2);
}

}  // namespace

std::string critical_path_text(const Report& report, const Style& style) {
  std::string text = style.bold("CRITICAL PATH") + "  " +
                     time_text(report.completion->makespan - Instant(), style.ascii()) + " by " +
                     (report.completion->by == TimedBy::Sweep ? "sweep" : "engine") + "\n";
  if (report.critical_path.empty())
    return text + "  nothing takes time\n";
  text += path_table(report, style) + slack_table(report, style);
  if (const std::optional<Exposed> most = most_exposed(report))
    text += fmt::format("\ncommunication exposed for {} on device {}, {} of the makespan\n",
                        time_text(most->exposed, style.ascii()), most->device.index(),
                        share_text(most->share));
  return text;
}

}  // namespace orrery
