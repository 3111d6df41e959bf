// orrery calibrate ops fits what products of matrices and attention reach of a device's peak rates.

#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/scenario/cluster_json.h"
#include "tools/calibrate/op_fit.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"

namespace orrery {

Outcome execute(const CalibrateOpsCommand& command, const Terminal& terminal) {
  std::vector<std::string> inputs = command.tables;
  inputs.push_back(command.base);
  keep_inputs("-o", command.output, inputs);
  if (command.source)
    require_label("--source", *command.source);
  OpFitOptions options;
  options.date = calibration_date(command.date);
  require_writable(command.output);
  const Cluster base = cluster_given("--base", command.base, command.limits);
  std::vector<MeasuredOp> ops;
  std::vector<std::string> names;
  for (const std::string& file : command.tables) {
    names.push_back(std::filesystem::path(file).filename().string());
    for (MeasuredOp& op : read_op_table(file, load_text(file, command.limits), command.limits)) {
      if (!base.device.flops.contains(op.dtype))
        refuse("--base", fmt::format("expected a peak rate of {}, which {} has ops of, got none",
                                     name(op.dtype), file));
      ops.push_back(std::move(op));
    }
  }
  if (!base.device.memory_bandwidth)
    refuse("--base", "expected a memory_bandwidth, got none");
  options.source = command.source.value_or(fmt::format("{}", fmt::join(names, ", ")));
  options.evaluations = command.evaluations;
  options.validates = command.validates;
  const OpFit fit = fit_ops(base, ops, options);
  write_file(command.output, cluster_text(fit.cluster).lines());
  terminal.out << op_fit_text(fit, terminal.style) << "\nwritten to " << command.output << "\n";
  return Outcome::Holds;
}

}  // namespace orrery
