// orrery calibrate fits a cluster's transport to tables of nccl-tests.

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/document.h"
#include "tools/calibrate/calibration.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"

namespace orrery {
namespace {

std::vector<NcclTable> all_tables(const CalibrateCommand& command, const Terminal& terminal) {
  std::vector<NcclTable> tables;
  for (const std::string& file : command.tables)
    for (NcclTable& table : tables_given(file, load_text(file, command.limits), command.facts,
                                         command.limits, terminal.err))
      tables.push_back(std::move(table));
  return tables;
}

/// If the base has nodes, leaves out the calls whose ranks are all on one: they tell nothing of the
/// network.
void keep_calls_over_nodes(MeasuredCalls& measured, const std::vector<NcclTable>& tables,
                           const Cluster& base) {
  const Nodes* const nodes = nodes_of(base);
  if (nodes == nullptr)
    return;
  const auto on_one = [&](const MeasuredCall& call) {
    return call.call.ranks <= nodes->per_node();
  };
  for (size_t t = 0; t < tables.size(); ++t)
    if (std::any_of(measured.calls.begin(), measured.calls.end(),
                    [&](const MeasuredCall& call) { return call.table == t && on_one(call); }))
      measured.left_out.push_back(
          fmt::format("{}:{}: left out: its {} are on one node of the base, whose figures stay",
                      tables[t].file, tables[t].line, counted(tables[t].ranks, "rank")));
  std::erase_if(measured.calls, on_one);
}

}  // namespace

Outcome execute(const CalibrateCommand& command, const Terminal& terminal) {
  std::vector<std::string> inputs = command.tables;
  inputs.push_back(command.base);
  keep_inputs("-o", command.output, inputs);
  if (command.source)
    require_label("--source", *command.source);
  const std::string date = calibration_date(command.date);
  require_writable(command.output);
  const Cluster base = cluster_given("--base", command.base, command.limits);
  const std::vector<NcclTable> tables = all_tables(command, terminal);
  MeasuredCalls measured = measured_calls(tables, base);
  keep_calls_over_nodes(measured, tables, base);
  for (const std::string& reason : measured.left_out)
    terminal.err << "orrery: " << reason << "\n";
  if (measured.calls.empty()) {
    const Nodes* const nodes = nodes_of(base);
    refuse("TABLE",
           fmt::format("expected times of {} to {} ranks, got none",
                       nodes == nullptr ? 2 : nodes->per_node() + 1, base.fabric.devices()));
  }
  CalibrationOptions options;
  options.leave_out_ranks = command.validates;
  options.evaluations = command.evaluations;
  options.date = date;
  options.source = command.source;
  options.limits = command.limits;
  const Calibration made = calibrate(base, tables, measured.calls, options);
  write_file(command.output, cluster_text(made.cluster).lines());
  terminal.out << calibration_text(made, terminal.style) << "\nwritten to " << command.output
               << "\n";
  return Outcome::Holds;
}

}  // namespace orrery
