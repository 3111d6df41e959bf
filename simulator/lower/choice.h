#pragma once

// The algorithm of a site: the one that the scenario names, or the fastest one on the quiet fabric,
// with the reason.

#include <optional>
#include <string>
#include <variant>

#include "models/array/work.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/quiet_time.h"

namespace orrery {

/// What the choice depends on.
struct SiteFigures {
  std::optional<std::string> asked_for;  // the op's "algorithm"
  ScheduleRequest request;               // without a group size
  WorkType work;
  const Grouping& grouping;
};

struct Pick {
  const Algorithm* algorithm;
  std::string because;
};

/// At most so many groups of different shapes are timed.
inline constexpr size_t kMostTimedShapes = 8;

/// The algorithm that the scenario names. Without a name: the only one that fits all groups, or the
/// one whose slowest group is fastest (of equal ones, the first in the table). Groups of one shape
/// are timed once: those with the same arrangement of ranks and links (Grouping::shapes). An error
/// if no algorithm of the kind has the name, or none fits.
std::variant<Pick, TypeError> pick_algorithm(const SiteFigures& site, QuietTimer& timer);

}  // namespace orrery
