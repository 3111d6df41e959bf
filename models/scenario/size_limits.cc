#include "models/scenario/size_limits.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/compiler.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

constexpr int64_t kOffsets = std::numeric_limits<uint32_t>::max() - 1;
constexpr int64_t kIds = int64_t{1} << 30;
constexpr int64_t kCounts = int64_t{1} << 60;

/// A run of next to nothing takes less than this many bytes: 12 MB on 2026-11-29. With 18 MiB here,
/// a run of 40,000 ops came to within 1 % of all that is stated for it.
constexpr int64_t kLeastMemory = int64_t{20} << 20;

// The memory is a little more than runs were seen to take for each unit;
// tests/tools/cli/memory_test.cc checks it. It is 0 if a limit takes none of its own, or only with
// data, or only for an imported algorithm.
constexpr std::array<LimitInfo, 15> kLimits = {{
    {"file", &Limits::file, "in a file", true, 4, kOffsets},
    {"nesting", &Limits::nesting, "levels of nesting", false, 0, kOffsets},
    {"values", &Limits::values, "values in a file", false, 100, kOffsets},
    {"text", &Limits::text, "in a text", true, 0, kOffsets},
    {"devices", &Limits::devices, "devices", false, 800, kIds},
    {"links", &Limits::links, "links", false, 176, kIds},
    {"ops", &Limits::ops, "ops", false, 1300, kIds},
    {"device_ops", &Limits::device_ops, "ops over all devices", false, 104, kCounts},
    {"steps", &Limits::steps, "steps of collectives", false, 200, kCounts},
    {"state", &Limits::state, "of memory for collectives at work", true, 1, kCounts},
    {"runs", &Limits::runs, "ops run one by one in loops", false, 60, kCounts},
    {"data", &Limits::data, "of values in all when data is moved", true, 0, kCounts},
    {"blocks", &Limits::blocks, "thread blocks", false, 0, kIds},
    {"clocks", &Limits::clocks, "thread blocks times steps", false, 0, kCounts},
    {"points", &Limits::points, "points of a plan", false, 0, kIds},
}};

std::string count_text(const LimitInfo& limit, int64_t count) {
  return limit.bytes ? quantity_text(Bytes(count)) : std::to_string(count);
}

const LimitInfo& info(int64_t Limits::*limit) {
  const auto* const found =
      std::find_if(kLimits.begin(), kLimits.end(),
                   [&](const LimitInfo& candidate) { return candidate.value == limit; });
  ORRERY_CHECK(found != kLimits.end(), "every limit is in the table");
  return *found;
}

std::string beyond_text(const LimitInfo& about, std::string_view most, std::string_view got) {
  return fmt::format("expected at most {} {}, got {} (--limit {}={} allows more)", most, about.of,
                     got, about.name, about.bytes ? "SIZE" : "N");
}

}  // namespace

std::span<const LimitInfo> all_limits() {
  return kLimits;
}

int64_t most_memory(const Limits& limits) {
  Int128 bytes = kLeastMemory;
  for (const LimitInfo& limit : kLimits) {
    int64_t counted = limits.*limit.value;
    if (limit.value == &Limits::steps)
      counted = std::min(counted, kStepsLookedAt);
    if (limit.value == &Limits::runs)
      counted = std::min(counted, kRunsRemembered);
    bytes += Int128{limit.memory} * counted;
  }
  return checked_narrow(bytes);
}

std::string limit_text(const LimitInfo& limit, const Limits& limits) {
  return count_text(limit, limits.*limit.value);
}

std::string beyond(const Limits& limits, int64_t Limits::*limit, std::string_view got) {
  const LimitInfo& about = info(limit);
  return beyond_text(about, limit_text(about, limits), got);
}

std::string beyond(const Limits& limits, int64_t Limits::*limit, int64_t got) {
  const LimitInfo& about = info(limit);
  const std::string most = limit_text(about, limits);
  const std::string there = count_text(about, got);
  const auto unit = [](std::string_view text) { return text.substr(text.find(' ') + 1); };
  if (!about.bytes || unit(most) == unit(there))
    return beyond_text(about, most, there);
  return beyond_text(about, fmt::format("{} B", limits.*limit), fmt::format("{} B", got));
}

}  // namespace orrery
