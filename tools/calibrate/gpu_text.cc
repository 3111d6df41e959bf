#include "tools/calibrate/gpu_text.h"

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "tools/calibrate/gpu_names.h"
#include "tools/calibrate/residuals.h"
#include "tools/report/names.h"

namespace orrery {

namespace {

using Align = Table::Align;

}  // namespace

std::string gpu_calibration_text(const cuda::GpuMeasurements& measured,
                                 std::span<const GpuFit> fits, const Style& style) {
  const auto gpus = static_cast<int64_t>(measured.gpus.size());
  std::string text = fmt::format("{} on {} ({}), CUDA {}\n\n",
                                 counted(measured.devices, "virtual device"), counted(gpus, "GPU"),
                                 measured.gpus.front().name, cuda_version_text(measured.driver));
  text += style.bold("nodes") +
          ": latency + amount / rate; errors, modelled / measured - 1, of all amounts\n";
  Table table({Align::Left, Align::Right, Align::Left, Align::Right, Align::Right, Align::Right,
               Align::Right, Align::Right});
  table.row({"work", "at once", "amounts", "latency", "rate of each", "of all", "mean", "worst"});
  for (const GpuFit& fit : fits)
    table.row({kind_name(fit), fmt::format("{}", fit.at_once),
               fmt::format("{} to {}", amount_text(fit, fit.least), amount_text(fit, fit.most)),
               time_text(fit.latency, style.ascii()), rate_text(fit, fit.rate),
               rate_text(fit, fit.rate * int64_t{fit.at_once}), percent(fit.mean_error()),
               signed_percent(fit.worst_error())});
  text += table.text(style, 2);
  return text + fmt::format(
                    "\nlaunch of a graph: {} (in no figure of the cluster: the modelled makespan "
                    "lacks it)\n",
                    time_text(measured.launch, style.ascii()));
}

}  // namespace orrery
