#include "tools/report/explain.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/iteration_name.h"
#include "models/program/rules.h"
#include "simulator/analyze/list_runs.h"
#include "tools/report/figures.h"

namespace orrery {
namespace {

constexpr size_t kLinksInText = 40;

const std::string& name_of(const Report& report, OpId op) {
  return report.scenario->program.op(op).name;
}

std::string because(const Report& report, const Reason& reason) {
  const auto after = [&] { return name_of(report, *reason.after); };
  switch (reason.because) {
    case Reason::After::Beginning:
      return "with which its list begins";
    case Reason::After::Computed:
      return fmt::format("once it has run {}", after());
    case Reason::After::Ended:
      return fmt::format("once {} has ended there", after());
    case Reason::After::StreamFree:
      return fmt::format("once {} has left its communication stream", after());
    case Reason::After::Launch:
      return "as soon as it is launched";
    case Reason::After::Entry:
      return "as soon as it has entered";
    case Reason::After::PeerEntry:
      return "once the receiver has entered";
    case Reason::After::StepBefore:
      return "after its step before";
    case Reason::After::OtherStep:
      return "after the step of another channel that it names";
    case Reason::After::Message:
      return "once the message for it has arrived";
    case Reason::After::SlotFree:
      return "once the receiver has a free slot";
    case Reason::After::Sent:
      return "for the latency of the links";
  }
  fail_check("an enumerator", "every cause has words", __FILE__, __LINE__);
}

std::string what(const Report& report, const Reason& reason) {
  const std::string& op = name_of(report, reason.op);
  const std::string size = size_text(reason.bytes);
  switch (reason.what) {
    case Reason::What::Compute:
      return "runs " + op;
    case Reason::What::Enter:
      return (reason.begin < reason.end ? "launches " : "enters ") + op;
    case Reason::What::Reduce:
      return fmt::format("combines {} of {}", size, op);
    case Reason::What::Send:
      return fmt::format("sends {} of {} to {}", size, op, report.fabric().vertex_text(*reason.to));
    case Reason::What::Copy:
      return fmt::format("copies {} of {}", size, op);
    case Reason::What::Flight:
      return fmt::format("has {} of {} on the way to {}", size, op,
                         report.fabric().vertex_text(*reason.to));
  }
  fail_check("an enumerator", "every stretch has words", __FILE__, __LINE__);
}

std::string until(const Report& report, const ValueLife& life) {
  const auto to = [&] { return name_of(report, *life.to); };
  switch (life.until) {
    case HeldUntil::EndAsArgument:
      return "to the end of the program, as an argument that is not donated";
    case HeldUntil::EndAsOutput:
      return "to the end of the program, as an output";
    case HeldUntil::EndInFlight:
      return "to the end of the program, as a started collective that has it is never done";
    case HeldUntil::Donation:
      return fmt::format("to its last use by {}, since it is donated", to());
    case HeldUntil::LastUse:
      return fmt::format("to its last use by {}", to());
    case HeldUntil::TakenOver:
      return fmt::format("until {} takes its storage over (reuse: xla)", to());
    case HeldUntil::NeverUsed:
      return "only while it runs: nothing reads it";
  }
  fail_check("an enumerator", "every end has words", __FILE__, __LINE__);
}

/// Returns the device on which the op ended last, the lowest id on a tie.
LogicalId last_device(const Report& report, OpId op) {
  const std::span<const OpSpan> spans = report.completion->spans[op.index()];
  size_t last = 0;
  for (size_t i = 1; i < spans.size(); ++i)
    if (spans[i].end > spans[last].end)
      last = i;
  for (const Thread& thread : report.scenario->program.threads)
    if (std::find(thread.issue_order.begin(), thread.issue_order.end(), op) !=
        thread.issue_order.end())
      return thread.devices[last];
  fail_check("found", "every op is issued by a thread", __FILE__, __LINE__);
}

std::string left_out_text(size_t links, size_t left_out) {
  if (links <= kLinksInJson)
    return fmt::format("{} more, all in the JSON report", left_out);
  return fmt::format("{} more; the JSON report has {} of all {}", left_out, kLinksInJson, links);
}

std::string chain_text(const Report& report, const Explanation& explanation, const Style& style) {
  const auto time = [&](Instant at) { return time_text(at - Instant(), style.ascii()); };
  const Op& op = report.scenario->program.op(*explanation.op);
  std::string head = fmt::format("WHY {}", op.name);
  if (!report.completion)
    return style.bold(head) +
           fmt::format("\n  the program {}, so nothing has an instant\n", no_end(report));
  const ListRuns runs(report.scenario->program, *report.lowered, *report.completion);
  const OpSpan& span = runs.span(*explanation.op, explanation.device);
  std::string text =
      style.bold(head) + fmt::format("  {} on device {}, where it ends last: from {} to {}\n",
                                     op_name(op.kind, op.issue), explanation.device.index(),
                                     time(span.entered), time(span.end));
  using Align = Table::Align;
  Table table({Align::Right, Align::Right, Align::Left, Align::Left});
  table.row({"from", "to", "", ""});
  const size_t links = explanation.chain.size();
  const ShownLinks shown = shown_links(explanation.chain, kLinksInText);
  for (size_t l = 0; l < links; ++l) {
    if (shown.left_out > 0 && l == shown.at_begin) {
      l += shown.left_out;
      table.note(style.dim("  ... " + left_out_text(links, shown.left_out)));
    }
    const Reason& reason = explanation.chain[l];
    table.row({time(reason.begin), time(reason.end), report.fabric().vertex_text(reason.place),
               what(report, reason) + ", " + because(report, reason)});
  }
  if (links == 0)
    return text + "  nothing before it takes time\n";
  return text + table.text(style, 2);
}

/// Returns the longest chain of body ops inside an mpmd_map, by the clock of its end of launch.
std::string cores_text(const CoreReport& of, bool has_slow_device, const Style& style) {
  const auto time = [&](Instant at) { return time_text(at - Instant(), style.ascii()); };
  const std::vector<size_t> chain = critical_runs(of.times.walk);
  const std::string launch = time_text(of.times.whole.launch, style.ascii());
  if (chain.empty())
    return fmt::format("  inside, a launch of {} and no body ops\n", launch);
  std::string text =
      fmt::format("  inside, after a launch of {}, the longest chain of body ops{}:\n", launch,
                  has_slow_device ? " (on a device that is not slow)" : "");
  using Align = Table::Align;
  Table table({Align::Right, Align::Right, Align::Left, Align::Left});
  table.row({"from", "to", "", ""});
  for (size_t r = 0; r < chain.size(); ++r) {
    if (chain.size() > kLinksInText && r == kLinksInText / 2) {
      const size_t left_out = chain.size() - kLinksInText;
      table.note(style.dim("  ... " + left_out_text(chain.size(), left_out)));
      r += left_out;
    }
    const CoreRun& run = of.times.walk.runs[chain[r]];
    const CoreOp& op = *of.cores.step(run.place).op;
    std::string what = fmt::format("{} at {}", word(op), of.cores.path(run.place));
    if (op.kind == CoreOp::Kind::Wait || op.kind == CoreOp::Kind::Signal)
      what += fmt::format(", {}", of.cores.counters[of.cores.step(run.place).counter]);
    if (run.met_by)
      what += ", met by the signal before";
    table.row({time(run.begin), time(run.end),
               of.cores.text(of.cores.instances[run.place.instance]), std::move(what)});
  }
  return text + table.text(style, 2);
}

bool has_slow_device(const Report& report) {
  const std::vector<Fault>& faults = report.scenario->faults;
  return std::any_of(faults.begin(), faults.end(),
                     [](const Fault& fault) { return std::holds_alternative<SlowDevice>(fault); });
}

std::string lives_text(const Report& report, const Explanation& explanation, const Style& style) {
  const Program& program = report.scenario->program;
  const Value& value = program.value(*explanation.value);
  std::string text =
      style.bold("VALUE " + value.name) + "  " + orrery::text(value.type, program.mesh) + "\n";
  for (const ValueLife& life : explanation.lives)
    text += "  " + sentence(report, life, style) + "\n";
  return explanation.lives.empty() ? text + "  no device holds it\n" : text;
}

}  // namespace

std::vector<std::string_view> explainable(const Program& program) {
  std::vector<std::string_view> ids;
  for (const Op& op : program.ops)
    ids.push_back(op.name);
  for (const Op& op : program.ops)
    for (const ValueId result : op.results)
      if (const std::string& name = program.value(result).name; name != op.name)
        ids.push_back(name);
  for (const Argument& argument : program.arguments)
    ids.push_back(program.value(argument.value).name);
  for (const auto& [name, value] : program.other_names)
    ids.push_back(name);
  return ids;
}

Explanation explain(const Report& report, const std::string& id) {
  return explain(report, std::vector<std::string>{id}).front();
}

std::vector<Explanation> explain(const Report& report, const std::vector<std::string>& ids) {
  const Program& program = report.scenario->program;
  std::vector<Explanation> explanations;
  std::vector<OpOnDevice> ends;
  std::vector<size_t> of_ends;  // the explanation of each
  for (const std::string& id : ids) {
    Explanation& explanation = explanations.emplace_back();
    explanation.id = id;
    if (const auto carried = program.other_names.find(id); carried != program.other_names.end())
      explanation.value = carried->second;
    for (size_t v = 0; v < program.values.size(); ++v)
      if (program.values[v].name == id)
        explanation.value = ValueId(v);
    for (size_t o = 0; o < program.ops.size(); ++o) {
      const Op& op = program.ops[o];
      const bool makes_it = explanation.value && std::find(op.results.begin(), op.results.end(),
                                                           *explanation.value) != op.results.end();
      if (op.name == id || makes_it)
        explanation.op = OpId(o);
    }
    if (explanation.op && report.completion) {
      explanation.device = last_device(report, *explanation.op);
      ends.push_back({*explanation.op, explanation.device});
      of_ends.push_back(explanations.size() - 1);
    }
    if (explanation.value)
      explanation.lives = value_lives(program, *report.lowered, report.scenario->memory,
                                      report.memory, *explanation.value);
  }
  if (!ends.empty()) {
    std::vector<std::vector<Reason>> chains =
        why(program, *report.lowered, report.fabric(), *report.completion, ends);
    for (size_t e = 0; e < ends.size(); ++e)
      explanations[of_ends[e]].chain = std::move(chains[e]);
  }
  return explanations;
}

ShownLinks shown_links(const std::vector<Reason>& chain, size_t most) {
  if (chain.size() <= most)
    return {chain.size(), 0};
  return {most / 2, chain.size() - most};
}

std::string sentence(const Report& report, const Reason& reason) {
  return fmt::format("{} {}, {}", report.fabric().vertex_text(reason.place), what(report, reason),
                     because(report, reason));
}

std::vector<std::string> names_together(const Program& program, const ValueLife& life) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const ValueId value : life.together) {
    std::string name = in_any_iteration(program.value(value).name);
    if (known.insert(name).second)
      names.push_back(std::move(name));
  }
  return names;
}

std::string sentence(const Report& report, const ValueLife& life, const Style& style) {
  const Program& program = report.scenario->program;
  std::string text = fmt::format(
      "{}: {} held from {} {}", devices_text(life.devices), size_text(life.size),
      life.from ? name_of(report, *life.from) + ", which makes it," : "before the first op",
      until(report, life));
  if (report.completion && (life.from || life.to)) {
    const auto time = [&](Instant at) { return time_text(at - Instant(), style.ascii()); };
    Instant from;
    Instant to = report.completion->makespan;
    if (life.from) {
      const std::span<const OpSpan> spans = report.completion->spans[life.from->index()];
      from = std::min_element(spans.begin(), spans.end(), [](const OpSpan& a, const OpSpan& b) {
               return a.start < b.start;
             })->start;
    }
    if (life.to) {
      const std::span<const OpSpan> spans = report.completion->spans[life.to->index()];
      to = std::max_element(spans.begin(), spans.end(), [](const OpSpan& a, const OpSpan& b) {
             return a.end < b.end;
           })->end;
    }
    text += fmt::format(" ({} to {})", time(from), time(to));
  }
  if (!life.together.empty())
    text += fmt::format("; in one storage with {}", fmt::join(names_together(program, life), ", "));
  return text;
}

std::string explanation_text(const Report& report, const Explanation& explanation,
                             const Style& style) {
  std::string text;
  if (explanation.op)
    text += "\n" + chain_text(report, explanation, style);
  if (explanation.op && report.completion)
    if (const CoreReport* const cores = report.cores_of(*explanation.op))
      text += cores_text(*cores, has_slow_device(report), style);
  if (explanation.value)
    text += "\n" + lives_text(report, explanation, style);
  return with_units(text, style);
}

}  // namespace orrery
