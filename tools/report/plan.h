#pragma once

// Writes the answers to a plan (verifier/plan/planner.h): for people, as JSON, and as a table of
// comma-separated values.

#include <optional>
#include <string>

#include "models/scenario/plan.h"
#include "tools/report/style.h"
#include "verifier/plan/planner.h"

namespace orrery {

/// Returns the answers, and with `all_points` a row for each point.
std::string plan_text(const Plan& plan, const PlanReport& report, bool all_points,
                      const Style& style);

/// Returns all figures as JSON.
std::string plan_json(const Plan& plan, const PlanReport& report);

/// Returns a line of names, and then a line for each point.
std::string plan_csv(const Plan& plan, const PlanReport& report);

/// Returns the answer to `--find largest:NAME`.
std::string largest_text(const Plan& plan, size_t name, const std::optional<Largest>& largest,
                         const Style& style);

}  // namespace orrery
