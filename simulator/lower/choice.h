#pragma once

// Which algorithm a site gets: the scenario's, or the one that takes least time on the quiet
// fabric, with the reason.

#include <optional>
#include <string>
#include <variant>

#include "models/array/work.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/quiet_time.h"

namespace orrery {

/// A site, as far as the choice goes.
struct SiteFigures {
  std::optional<std::string> asked_for;  // the op's "algorithm"
  ScheduleRequest request;               // for no group size
  WorkType work;
  const Grouping& grouping;
};

struct Pick {
  const Algorithm* algorithm;
  std::string because;
};

/// So many groups of different shapes are timed at most.
inline constexpr size_t kMostTimedShapes = 8;

/// By name, where the scenario asks for one; else of those that fit all groups the only one, or the
/// one whose slowest group takes least (of equal ones the first of the table). Groups of one shape
/// are timed once: those whose ranks lie alike and have alike links (Grouping::shapes). An error
/// where the name is none of the kind's, or nothing fits.
std::variant<Pick, TypeError> pick_algorithm(const SiteFigures& site, QuietTimer& timer);

}  // namespace orrery
