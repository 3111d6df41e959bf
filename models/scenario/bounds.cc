#include "models/scenario/bounds.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/scenario/quantity_text.h"

namespace orrery {

namespace {

constexpr int64_t kOffsets = std::numeric_limits<uint32_t>::max() - 1;
constexpr int64_t kIds = int64_t{1} << 30;
constexpr int64_t kCounts = int64_t{1} << 60;

constexpr std::array<LimitInfo, 12> kLimits = {{
    {"file", &Limits::file, "in a file", true, kOffsets},
    {"nesting", &Limits::nesting, "levels of nesting", false, kOffsets},
    {"values", &Limits::values, "values in a file", false, kOffsets},
    {"text", &Limits::text, "in a text", true, kOffsets},
    {"devices", &Limits::devices, "devices", false, kIds},
    {"links", &Limits::links, "links", false, kIds},
    {"ops", &Limits::ops, "ops", false, kIds},
    {"places", &Limits::places, "ops over all devices", false, kCounts},
    {"steps", &Limits::steps, "steps of collectives", false, kCounts},
    {"data", &Limits::data, "of values in all when data is moved", true, kCounts},
    {"blocks", &Limits::blocks, "thread blocks", false, kIds},
    {"clocks", &Limits::clocks, "thread blocks times steps", false, kCounts},
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

}  // namespace

std::span<const LimitInfo> all_limits() {
  return kLimits;
}

std::string limit_text(const LimitInfo& limit, const Limits& limits) {
  return count_text(limit, limits.*limit.value);
}

std::string beyond(const Limits& limits, int64_t Limits::*limit, std::string_view got) {
  const LimitInfo& about = info(limit);
  return fmt::format("expected at most {} {}, got {} (--limit {}={} allows more)",
                     limit_text(about, limits), about.of, got, about.name,
                     about.bytes ? "SIZE" : "N");
}

std::string beyond(const Limits& limits, int64_t Limits::*limit, int64_t got) {
  return beyond(limits, limit, count_text(info(limit), got));
}

}  // namespace orrery
