// orrery show prints the catalog, ops and schemas, and a scenario's program, schedules, critical
// path and topology.

#include <algorithm>
#include <array>
#include <memory>
#include <ostream>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/program/iterations.h"
#include "models/program/rules.h"
#include "models/scenario/law.h"
#include "models/scenario/program_reader.h"
#include "models/scenario/reader.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/lower.h"
#include "simulator/schedule/sliced_schedule.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/cli/overrides.h"
#include "tools/reference/reference.h"
#include "tools/report/figures.h"
#include "tools/report/text_parts.h"
#include "verifier/laws/verify.h"
#include "verifier/ragged/ragged_tables.h"

namespace orrery {
namespace {

using Align = Table::Align;

std::string show_catalog(const ShowCommand& command, const Style& style) {
  std::string list;
  if (!command.entry.empty())
    cluster_named("NAME", command.entry);  // refuses an unknown one, naming the nearest word
  for (const CatalogFile& entry : catalog()) {
    if (entry.name == command.entry.substr(0, command.entry.find(' ')))  // a slice has a space
      return std::string(entry.json);
    list += fmt::format("{}\n", entry.name);
  }
  return list + style.dim("orrery show catalog NAME prints the figures with their sources") + "\n";
}

/// Returns a built-in law, or the list of them with their names.
std::string show_law(const ShowCommand& command, const Style& style) {
  Table table({Align::Left, Align::Left});
  table.row({"law", "what holds"});
  std::vector<std::string_view> ids;
  for (const BuiltinLaw& law : builtin_laws()) {
    if (law.id == command.entry)
      return std::string(law.json);
    ids.push_back(law.id);
    table.row({std::string(law.id), Law(std::string(law.id), std::string(law.json)).name()});
  }
  if (!command.entry.empty())
    refuse("ID", fmt::format("no law {} is built in{}", in_quotes(command.entry),
                             did_you_mean(command.entry, ids)));
  return table.text(style, 0) + style.dim("orrery show law ID prints one of them") + "\n";
}

std::string show_ops(const Style& style) {
  Table table({Align::Left, Align::Left});
  table.row({"op", "what it does; [optional] parameters"});
  for (const OpRules& op : all_rules()) {
    std::string parameters;
    for (const Parameter& parameter : op.parameters) {
      parameters += parameters.empty() ? "" : " ";
      const bool required = parameter.need == Parameter::Need::Required;
      parameters += required ? std::string(parameter.name) : fmt::format("[{}]", parameter.name);
    }
    table.row({fmt::format("{}{}", op.name, op.family == Family::Collective ? "[_start]" : ""),
               std::string(op.summary)});
    if (!parameters.empty())
      table.note(style.dim("  " + parameters));
  }
  table.row({std::string(kGroupOp), std::string(kGroupSummary)});
  table.note(style.dim(fmt::format("  {}", kGroupKeys)));
  table.row({std::string(kToGroupsOp), std::string(kToGroupsSummary)});
  table.note(style.dim(fmt::format("  {}", kToGroupsKeys)));
  table.row({std::string(kToMeshOp), std::string(kToMeshSummary)});
  table.note(style.dim(fmt::format("  {}", kToMeshKeys)));
  table.row({std::string(kLoopOp), std::string(kLoopSummary)});
  table.note(style.dim(fmt::format("  {}", kLoopKeys)));
  return table.text(style, 0);
}

std::string show_algorithms(const Style& style) {
  Table table({Align::Left, Align::Left, Align::Left});
  table.row({"algorithm", "what it does", "for"});
  for (const Algorithm& algorithm : algorithms()) {
    std::string kinds;
    for (const OpKind kind : ops_of(algorithm))
      kinds += fmt::format("{}{}", kinds.empty() ? "" : " ", op_name(kind, Issue::Sync));
    table.row({std::string(algorithm.name), std::string(algorithm.summary), kinds});
  }
  table.row({std::string(kHierarchical), "the fastest of those that are named inside+between", ""});
  return table.text(style, 0);
}

std::string names_text(const Program& program, const std::vector<ValueId>& values) {
  std::string text;
  for (const ValueId value : values)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", program.value(value).name);
  return text;
}

/// Returns the other names by which outputs and expectations may call values: "ct_w = w.bwd, ...".
std::string other_names_text(const Program& program) {
  std::string text;
  for (const auto& [name, value] : program.other_names)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, program.value(value).name);
  return text;
}

/// Returns the operands of a run, by the names that they have in its iteration.
std::string operands_text(const Program& regions, const Iterations& iterations, OpRun run) {
  std::string text;
  for (const ValueId operand : regions.op(run.op).operands) {
    const auto [value, iteration] = iterations.source(operand, run);
    text += text.empty() ? "" : ", ";
    text += iterations.name(regions.value(value).name, iterations.loop_of(value), iteration);
  }
  return text;
}

Scenario scenario_given(const ShowCommand& command) {
  const std::string text = load_text(command.file, command.limits);
  refuse_template(command.file, text, command.limits);
  return read_scenario(command.file, text, command.limits);
}

std::string show_program(const ShowCommand& command, const Style& style) {
  const Scenario given = scenario_given(command);
  const Iterations iterations(given.program);
  const auto [scenario, runs, values] = written(given, LongLoops::LeftOut);
  const Program& program = scenario.program;
  std::string out = scenario.name.empty() ? "" : style.bold(scenario.name) + "\n\n";
  Table arguments({Align::Left, Align::Left, Align::Right, Align::Left});
  const bool limited =
      std::any_of(program.arguments.begin(), program.arguments.end(),
                  [](const Argument& argument) { return argument.on.has_value(); });
  arguments.row({"argument", "type", "bytes", limited ? "on" : ""});
  for (const Argument& argument : program.arguments) {
    const Value& value = program.value(argument.value);
    std::string on = limited ? "every device" : "";
    if (argument.on)
      on = ranges_text(*argument.on);
    arguments.row({value.name, text(value.type, program.mesh), size_text(value.type.size()), on});
  }
  out += arguments.text(style, 0);
  for (const Thread& thread : program.threads) {
    out += fmt::format("\n{}\n", style.dim(fmt::format("program {} on devices {}", thread.name,
                                                       ranges_text(thread.devices))));
    Table ops({Align::Left, Align::Left, Align::Left, Align::Left});
    ops.row({"id", "op", "of", "type"});
    for (const OpId id : thread.issue_order) {
      const Op& op = program.op(id);
      for (const WrittenLoop& loop : program.written_loops)
        for (size_t w = 1; w < loop.written.size(); ++w)
          if (loop.left_out_before(w) > 0 && loop.written[w].ops.begin == id.index())
            ops.note(style.dim(fmt::format(
                "{}: {} iterations like the last{} are not shown", loop.name,
                loop.left_out_before(w), loop.period == 1 ? "" : fmt::format(" {}", loop.period))));
      std::string types;
      for (const ValueId result : op.results)
        types += (types.empty() ? "" : ", ") + text(program.value(result).type, program.mesh);
      const std::string ids = op.results.empty() ? op.name : names_text(program, op.results);
      ops.row({ids, op_name(op.kind, op.issue),
               operands_text(given.program, iterations, runs[id.index()]), types});
    }
    out += ops.text(style, 0);
  }
  if (!program.other_names.empty())
    out += fmt::format("\nother names: {}\n", other_names_text(program));
  return out + fmt::format("\noutputs: {}\n", names_text(program, program.outputs));
}

std::string slice_text(const std::optional<Slice>& slice) {
  if (!slice)
    return "";
  return fmt::format("{}[{}:{}]", name(slice->area), slice->first, slice->first + slice->count);
}

std::string combine_text(Combine combine) {
  static constexpr std::array<const char*, 4> kNames = {"", "add", "max", "min"};
  return kNames[static_cast<size_t>(combine)];
}

std::string steps_text(const Schedule& schedule, Node node, const Style& style) {
  Table table({Align::Right, Align::Right, Align::Right, Align::Left, Align::Left, Align::Left,
               Align::Right, Align::Left});
  table.row({"channel", "step", "from", "combine", "source", "target", "to", "after"});
  for (uint32_t c = 0; c < schedule.extent().channels; ++c) {
    for (uint32_t s = 0; s < schedule.steps(node, Channel(c)); ++s) {
      const Step step = schedule.step({node, Channel(c), s});
      const auto peer = [](const std::optional<Node>& other) {
        return other ? std::to_string(other->index()) : std::string();
      };
      table.row({std::to_string(c), std::to_string(s), peer(step.from), combine_text(step.combine),
                 slice_text(step.source), slice_text(step.target), peer(step.to),
                 step.after ? fmt::format("{}.{}", step.after->channel.index(), step.after->index)
                            : std::string()});
    }
  }
  return table.text(style, 0);
}

/// Returns the collective that the scenario's op begins.
SiteId site_of(const Scenario& scenario, const std::string& name) {
  std::vector<std::string_view> collectives;
  for (const Op& op : scenario.program.ops) {
    if (op.site && given_name(op) == name)
      return *op.site;
    if (op.site)
      collectives.push_back(given_name(op));
  }
  refuse(scenario.file,
         fmt::format("no collective is called \"{}\"{}", name, did_you_mean(name, collectives)));
}

std::string show_schedule(const ShowCommand& command, const Style& style) {
  const Scenario scenario =
      written(scenario_given(command), LongLoops::WrittenOut, &command.limits).scenario;
  TableOptions options;
  options.budget = RunOptions().data_budget;
  const FoundTables found = find_tables(scenario, options);
  for (const Check& check : found.checks)
    if (!check.holds())
      refuse(command.file, check.message);
  const SiteId site = site_of(scenario, command.op);
  Diagnostics diagnostics(scenario.file);
  Paths paths(scenario.cluster.fabric);
  const Lowered lowered = lower(scenario.program, scenario.cluster, paths, diagnostics,
                                command.limits, scenario.memory.transport, found.tables);
  diagnostics.throw_if_any();
  const auto first = std::find_if(lowered.collectives.begin(), lowered.collectives.end(),
                                  [&](const Collective& each) { return each.site == site; });
  ORRERY_CHECK(first != lowered.collectives.end(), "a site has at least one group");
  const Extent& extent = first->schedule->extent();
  if (command.node >= extent.nodes)
    refuse("--node", fmt::format("expected 0 to {}, got {}", extent.nodes - 1, command.node));
  const Choice& choice = lowered.choices[site.index()];
  const Node node(command.node);
  // If the schedule is cut into stretches, the steps are shown as they are before the cut.
  const auto* const cut = dynamic_cast<const SlicedSchedule*>(first->schedule);
  const std::string times =
      cut == nullptr ? std::string()
                     : fmt::format(
                           "all steps run {} times, each time for the next {} elements of "
                           "every slice\n",
                           cut->iterations(), cut->stretch());
  return fmt::format("{} {}\n{}\n{}\n{}\n", style.bold(command.op), choice.method(),
                     style.dim("because " + choice.because),
                     style.dim(fmt::format(
                         "group of devices {}; node {} of {} ({}), {} channels, {} "
                         "slots a connection; elements: input {}, output {}, scratch {}",
                         ranges_text(first->members), command.node, extent.nodes,
                         scenario.cluster.fabric.vertex_text(first->vertices[command.node]),
                         extent.channels, extent.slots, extent.size(node, Area::Input),
                         extent.size(node, Area::Output), extent.size(node, Area::Scratch))),
                     style.dim(times)) +
         steps_text(cut == nullptr ? *first->schedule : cut->whole(), node, style);
}

std::string show_critical_path(const ShowCommand& command, const Style& style) {
  RunOptions options;
  options.data = Data::Off;
  options.limits = command.limits;
  const Report report = run(scenario_given(command), options);
  if (!report.completion)
    refuse(command.file, fmt::format("the program {}, so it has no critical path", no_end(report)));
  return style.bold(report.scenario->name) + "\n\n" + critical_path_text(report, style);
}

std::string shown(const ShowCommand& command, const Style& style) {
  switch (command.what) {
    case ShowCommand::What::Program:
      return with_units(show_program(command, style), style);
    case ShowCommand::What::Schedule:
      return with_units(show_schedule(command, style), style);
    case ShowCommand::What::CriticalPath:
      return with_units(show_critical_path(command, style), style);
    case ShowCommand::What::Topology:
      return show_topology(command, style);
    case ShowCommand::What::Catalog:
      return show_catalog(command, style);
    case ShowCommand::What::Law:
      return show_law(command, style);
    case ShowCommand::What::Algorithms:
      return show_algorithms(style);
    case ShowCommand::What::Schema:
      return command.entry == "scenario" ? scenario_schema()
             : command.entry == "law"    ? law_schema()
             : command.entry == "plan"   ? plan_schema()
             : command.entry == "report" ? report_schema()
                                         : plan_report_schema();
    case ShowCommand::What::Ops:
      break;
  }
  return command.ops_format == OpsFormat::Markdown ? op_reference() : show_ops(style);
}

}  // namespace

Outcome execute(const ShowCommand& command, const Terminal& terminal) {
  terminal.out << shown(command, terminal.style);
  return Outcome::Holds;
}

}  // namespace orrery
