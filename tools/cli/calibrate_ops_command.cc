// orrery calibrate ops fits what products of matrices reach of a device's peak rates.

#include <filesystem>
#include <ostream>
#include <string>
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
  std::vector<MeasuredProduct> products;
  std::vector<std::string> names;
  for (const std::string& file : command.tables) {
    names.push_back(std::filesystem::path(file).filename().string());
    for (const MeasuredProduct& product :
         read_op_table(file, load_text(file, command.limits), command.limits)) {
      if (!base.device.flops.contains(product.dtype))
        refuse("--base",
               fmt::format("expected a peak rate of {}, which {} has products of, got none",
                           name(product.dtype), file));
      products.push_back(product);
    }
  }
  if (!base.device.memory_bandwidth)
    refuse("--base", "expected a memory_bandwidth, got none");
  options.source = command.source.value_or(fmt::format("{}", fmt::join(names, ", ")));
  options.evaluations = command.evaluations;
  options.validates = command.validates;
  const OpFit fit = fit_ops(base, products, options);
  write_file(command.output, cluster_text(fit.cluster).lines());
  terminal.out << op_fit_text(fit, terminal.style) << "\nwritten to " << command.output << "\n";
  return Outcome::Holds;
}

}  // namespace orrery
