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

// Memory: what runs without data were seen to take for each, and some more; of data, what they take
// with it. tests/tools/cli/memory_test.cc holds runs to these figures. Steps take no memory
// but state, nesting and texts none but the file's.
constexpr std::array<LimitInfo, 13> kLimits = {{
    {"file", &Limits::file, "in a file", true, 4, kOffsets},
    {"nesting", &Limits::nesting, "levels of nesting", false, 0, kOffsets},
    {"values", &Limits::values, "values in a file", false, 160, kOffsets},
    {"text", &Limits::text, "in a text", true, 0, kOffsets},
    {"devices", &Limits::devices, "devices", false, 1280, kIds},
    {"links", &Limits::links, "links", false, 200, kIds},
    {"ops", &Limits::ops, "ops", false, 2048, kIds},
    {"places", &Limits::places, "ops over all devices", false, 128, kCounts},
    {"steps", &Limits::steps, "steps of collectives", false, 0, kCounts},
    {"state", &Limits::state, "of memory for collectives at work", true, 1, kCounts},
    {"data", &Limits::data, "of values in all when data is moved", true, 4, kCounts},
    {"blocks", &Limits::blocks, "thread blocks", false, 2048, kIds},
    {"clocks", &Limits::clocks, "thread blocks times steps", false, 128, kCounts},
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
