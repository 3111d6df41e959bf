#include "tools/report/figures.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"

namespace orrery {
namespace {

/// Returns the makespan in picoseconds. The result is empty if there is none or it is 0.
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

std::string percent_text(Bytes part, Bytes whole) {
  const Int128 tenths = (Int128{part.count()} * 2000 + whole.count()) / (Int128{whole.count()} * 2);
  return fmt::format("{}.{} %", static_cast<int64_t>(tenths / 10),
                     static_cast<int64_t>(tenths % 10));
}

std::string share_text(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t d = 0; d < digits.size(); ++d) {
    if (d > 0 && (digits.size() - d) % 3 == 0)
      text += ',';
    text += digits[d];
  }
  return text;
}

void Spread::add(Duration time) {
  if (!least_ || time > most_) {
    most_ = time;
    longest_ = count_;
  }
  least_ = std::min(least_.value_or(time), time);
  ++count_;
}

bool Spread::differs() const {
  return least_ && time_text(*least_) != time_text(most_);
}

std::string Spread::text(bool ascii) const {
  ORRERY_CHECK(least_, "a spread has a time");
  return differs() ? time_text(*least_, ascii) + " to " + time_text(most_, ascii)
                   : time_text(most_, ascii);
}

std::string_view name(HeldAs kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"argument", "output", "temporary",
                                                             "in_flight", "scratch"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name(TimedBy timed_by) {
  return timed_by == TimedBy::Sweep ? "sweep" : "engine";
}

std::string_view name(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> kNames = {"holds", "undecided", "fails"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string_view in_words(Verdict verdict) {
  static constexpr std::array<std::string_view, 3> kWords = {"holds", "is undecided",
                                                             "does not hold"};
  return kWords[static_cast<size_t>(verdict)];
}

std::string types_text(const Scenario& scenario, const Op& op) {
  std::vector<std::string> types;
  for (const ValueId id : op.results) {
    ValueType type = scenario.program.value(id).type;
    if (scenario.checks == Checks::Shapes)
      std::fill(type.axes.begin(), type.axes.end(), AxisState::Invarying);
    types.push_back(text(type, scenario.program.mesh));
  }
  return types.size() == 1 ? types[0] : fmt::format("({})", fmt::join(types, ", "));
}

std::string digest_text(uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace orrery
