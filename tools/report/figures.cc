#include "tools/report/figures.h"

#include <algorithm>

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
  const Program& program = report.scenario->program;
  std::optional<Exposed> most;
  for (const DeviceReport& device : report.devices) {
    const auto lists = static_cast<size_t>(
        std::max<ptrdiff_t>(1, std::ranges::count_if(device.threads, [&](ThreadId thread) {
                              return !program.thread(thread).issue_order.empty();
                            })));
    const auto exposed = static_cast<double>(device.times.exposed.count());
    const double share = exposed / (*whole * static_cast<double>(lists));
    if (!most || share > most->share)
      most = Exposed{device.device, device.times.exposed, lists, share};
  }
  return most;
}

std::optional<double> utilization(const Report& report, const LinkReport& link) {
  const std::optional<double> whole = makespan(report);
  if (!whole)
    return std::nullopt;
  const BytesPerSecond bandwidth = report.fabric().link(link.link).bandwidth;
  return link.wire * 1e12 * static_cast<double>(report.fabric().rate_parts()) /
         (static_cast<double>(bandwidth.count()) * *whole);
}

}  // namespace orrery
