#pragma once

// Writes the answers to a plan (verifier/plan/planner.h): for people as text and as a page, as
// JSON, and as a table of comma-separated values. Also writes what processes tell each other that
// work out parts of a plan.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario/plan.h"
#include "models/scenario/size_limits.h"
#include "tools/report/outline.h"
#include "tools/report/style.h"
#include "verifier/plan/planner.h"

namespace orrery {

/// Returns the answers, and with `all_points` a row for each point.
std::string plan_text(const Plan& plan, const PlanReport& report, bool all_points,
                      const Style& style);

/// Returns what the text says, with a table of `points`, or of the front if there are none.
Outline plan_outline(const Plan& plan, const PlanReport& report, const std::vector<size_t>& points,
                     const Style& style);

/// Returns the answers as a page. `shown` is the run of the best point, or of the nearest if none
/// fits; it may be null.
std::string plan_html(const Plan& plan, const PlanReport& report, const Report* shown);

/// Returns all figures as JSON.
std::string plan_json(const Plan& plan, const PlanReport& report);

/// Returns a line of names, and then a line for each point.
std::string plan_csv(const Plan& plan, const PlanReport& report);

/// Returns the answer to `--find largest:NAME`, for people and as JSON.
std::string largest_text(const Plan& plan, size_t name, const LargestSearch& search,
                         const Style& style);
std::string largest_json(const Plan& plan, size_t name, const LargestSearch& search);

/// A PlanSetup is all that the points of a plan depend on. Processes with equal setups may each
/// work out a part of them.
struct PlanSetup {
  std::string version;  // of the program
  std::string file;     // as it was given
  std::string text;
  std::vector<std::string> let;
  uint64_t seed = 0;
  Limits limits = {};
  friend bool operator==(const PlanSetup& a, const PlanSetup& b);
};

/// Returns the setup as JSON, and reads it. Reading returns nothing if the text is no setup.
std::string setup_json(const PlanSetup& setup);
std::optional<PlanSetup> read_setup(std::string_view text);
/// Returns what the first difference is: "seed: 0 there, 7 here". Requires that they differ.
std::string difference(const PlanSetup& there, const PlanSetup& here);

/// Returns the status and the figures of a point as JSON, with the unit (PlanStore) that it is of,
/// and reads them. Reading returns nothing if the text is no point, or one of another unit.
std::string point_json(const std::string& unit, const PlanPoint& point);
std::optional<PlanPoint> read_point(std::string_view text, const std::string& unit);

}  // namespace orrery
