#include "tools/report/figures.h"

namespace orrery {
namespace {

/// In picoseconds; empty where there is none or it is 0.
std::optional<double> makespan(const Report& report) {
  if (!report.completion || report.completion->makespan == Instant())
    return std::nullopt;
  return static_cast<double>(report.completion->makespan.picoseconds());
}

}  // namespace

std::optional<Exposed> most_exposed(const Report& report) {
  const std::optional<double> whole = makespan(report);
  if (!whole || report.devices.empty())
    return std::nullopt;
  const DeviceReport* most = &report.devices.front();
  for (const DeviceReport& device : report.devices)
    if (device.times.exposed > most->times.exposed)
      most = &device;
  const Duration exposed = most->times.exposed;
  return Exposed{most->device, exposed, static_cast<double>(exposed.count()) / *whole};
}

std::optional<double> utilization(const Report& report, const LinkReport& link) {
  const std::optional<double> whole = makespan(report);
  if (!whole)
    return std::nullopt;
  const BytesPerSecond bandwidth = report.fabric().link(link.link).bandwidth;
  return static_cast<double>(link.bytes.count()) * 1e12 *
         static_cast<double>(report.fabric().rate_parts()) /
         (static_cast<double>(bandwidth.count()) * *whole);
}

}  // namespace orrery
