#pragma once

// The method of a site: the one that the scenario names, or the fastest one on the quiet fabric,
// with the reason.

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "models/array/work.h"
#include "models/fabric/transport.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/method.h"
#include "simulator/lower/quiet_time.h"
#include "simulator/lower/schedule_maker.h"

namespace orrery {

/// What the choice depends on.
struct SiteFigures {
  Hints asked;
  ScheduleRequest request;  // without a group size, slices and connections
  WorkType work;
  const Grouping& grouping;
  std::span<const SharedList<ExchangedSlice>> slices = {};  // of each group; empty: none

  /// The request of a group, without connections.
  ScheduleRequest request_of(size_t group) const {
    ScheduleRequest own = request;
    own.nodes = static_cast<uint32_t>(grouping.groups[group].size());
    if (!slices.empty())
      own.slices = slices[group];
    return own;
  }
};

struct Pick {
  Method method;
  std::string because;
};

/// At most so many groups of different shapes are timed.
inline constexpr size_t kMostTimedShapes = 8;

/// Of the algorithms that fit all groups, each with each protocol of the transport that serves it,
/// the method that the op asks for, or the one whose slowest group is fastest. Of equal ones, the
/// first algorithm in the table, and its first protocol. Groups of one shape are timed once: those
/// with the same arrangement of ranks and links (Grouping::shapes); where groups have slices of
/// their own, each is timed. Of many, the first kMostTimedShapes are timed. An error if there is no
/// such method.
std::variant<Pick, TypeError> pick_method(const SiteFigures& site,
                                          const std::optional<TransportFigures>& transport,
                                          const ScheduleMaker& maker, QuietTimer& timer);

}  // namespace orrery
