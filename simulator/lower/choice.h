#pragma once

// This picks a site's method: the one that the scenario names, or the fastest on the quiet fabric,
// with the reason. Methods are compared by the time of one collective when nothing else runs.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "models/array/work.h"
#include "models/base/callable.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/base/shared_map.h"
#include "models/fabric/transport.h"
#include "models/program/rules.h"
#include "models/scenario/size_limits.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/schedule_maker.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/durations.h"
#include "simulator/time/apart.h"

namespace orrery {

/// Groups of up to this many ranks, or with up to this many steps, are timed completely.
inline constexpr uint32_t kMostTimedRanks = 64;
inline constexpr uint64_t kMostTimedSteps = uint64_t{1} << 19U;

/// A larger group is timed completely after all if it has up to so many steps, and if its method is
/// the fastest, but another one takes nearly as long.
inline constexpr uint64_t kMostCheckedSteps = uint64_t{1} << 21U;

struct QuietTime {
  Duration takes;
  /// For a larger group: the two group sizes that were timed instead.
  std::optional<std::pair<uint32_t, uint32_t>> extended_from;
};

/// QuietTimes has times of collectives that were found on equal clusters within equal limits.
/// Lowerings and runs that are given the same QuietTimes find each time once.
struct QuietTimes {
  /// The algorithm, the protocol or "", what the op asks for, the request, the dtype of the work
  /// and whether its elements have ranks, where the ranks are, and whether all are timed.
  using Key = std::tuple<const Algorithm*, std::string, Hints, ScheduleRequest, Dtype, bool,
                         std::vector<VertexId>, bool>;
  SharedMap<Key, std::variant<QuietTime, std::string>> by_method{size_t{1} << 16U};
  std::shared_ptr<AloneTimes> alone;  // may be of several clusters with equal fabrics
};

/// A QuietTimer runs a collective that all ranks enter at once on a fabric without other messages,
/// by the executor of whole programs (time_program).
///
/// A group of more ranks and steps than these is timed in two smaller sizes. Its size is halved
/// until it is at most kMostTimedRanks, and once more. The ranks of a node stay together; a group
/// of fewer than four nodes is timed completely. In nodes, in trees and for a ring both ways,
/// evenly spaced nodes or ranks are timed. A group that fills axes of a torus is timed on smaller
/// tori with the same links. Elsewhere the first ranks are timed. Messages are as large as in the
/// whole. The time that they take beyond that of their busiest link is extrapolated by the number
/// of steps of a rank, and added to the time of the whole group's busiest link. If a rank has as
/// many steps in any group, the longest chain of messages counts instead: it grows with the ranks
/// of a chain, and with the levels of a tree. A permutation and a ragged exchange are timed
/// completely, since they name all ranks.
class QuietTimer {
 public:
  /// `maker` must outlive this object. Schedules beyond the limits are not timed. Groups with up to
  /// `most_steps` steps are timed completely, whatever their ranks, and by of_all() those with up
  /// to `most_checked`. `known` and `made`, if they are given, must outlive this object too.
  QuietTimer(Paths& paths, const ScheduleMaker& maker, const Limits& limits,
             uint64_t most_steps = kMostTimedSteps, QuietTimes* known = nullptr,
             MadeSchedules* made = nullptr, uint64_t most_checked = kMostCheckedSteps)
      : paths_(paths),
        maker_(maker),
        limits_(limits),
        most_steps_(most_steps),
        most_checked_(most_checked),
        known_(known),
        made_(made) {}

  const Fabric& fabric() const { return paths_.fabric(); }

  /// Returns the time from the launch for the ranks on `vertices`, one for each of `request.nodes`;
  /// or why it has none: "has no route for some message". The request has no connections yet.
  /// Requires that the algorithm fits. Throws Overflow.
  using Outcome = std::variant<QuietTime, std::string>;
  Outcome of(const Method& method, const Hints& asked, const ScheduleRequest& request,
             WorkType work, std::span<const VertexId> vertices);

  /// Returns the time of all ranks for a group that of() times in smaller sizes. Returns nothing
  /// for a group of more steps than `most_checked`, and if it has no time.
  std::optional<QuietTime> of_all(const Method& method, const Hints& asked,
                                  const ScheduleRequest& request, WorkType work,
                                  std::span<const VertexId> vertices);

  /// Returns a lower bound on the time that of() returns, found without a walk. A link needs at
  /// least the time for all that is sent over it, and a channel the time for what it sends at its
  /// rate. A bound beyond 64 bits is the largest Duration. It is 0 for a schedule with very many
  /// channels. For a group that is timed in smaller sizes it is the larger one of its bound and
  /// that of the larger size.
  Duration at_least(const Method& method, const Hints& asked, const ScheduleRequest& request,
                    WorkType work, std::span<const VertexId> vertices) const;

 private:
  /// A smaller group that is timed in place of the whole.
  struct Fewer {
    std::optional<Fabric> torus;  // the fabric, if it is not the timer's
    std::vector<VertexId> vertices;
    ScheduleRequest request;  // with its connections
  };

  bool times_whole(const Method& method, const Hints& asked, const ScheduleRequest& request,
                   WorkType work) const;
  bool has_at_most(uint64_t steps, const Method& method, const Hints& asked,
                   const ScheduleRequest& request, WorkType work) const;
  /// Returns two smaller groups, the smallest first.
  std::array<Fewer, 2> fewer(const Method& method, const Hints& asked,
                             const ScheduleRequest& request, WorkType work,
                             std::span<const VertexId> vertices) const;
  /// Returns the time that the busiest link or channel needs for what is sent over it, and the
  /// launch. Returns nothing for a schedule with very many channels.
  std::optional<Duration> busiest(const Method& method, const ScheduleRequest& connected,
                                  WorkType work, std::span<const VertexId> vertices) const;
  /// Returns the bound of at_least() for a request with its connections.
  Duration bound(const Method& method, const ScheduleRequest& connected, WorkType work,
                 std::span<const VertexId> vertices) const;
  std::variant<Duration, std::string> timed(const Method& method, const ScheduleRequest& request,
                                            WorkType work, std::span<const VertexId> vertices);
  Outcome extended(const Method& method, const Hints& asked, const ScheduleRequest& request,
                   WorkType work, std::span<const VertexId> vertices);
  Outcome found(const Method& method, const Hints& asked, const ScheduleRequest& request,
                WorkType work, std::span<const VertexId> vertices);
  /// Returns what `find` returns, which it calls once for equal arguments (QuietTimes).
  Outcome known_or(const Method& method, const Hints& asked, const ScheduleRequest& request,
                   WorkType work, std::span<const VertexId> vertices, bool all,
                   FunctionRef<Outcome()> find);

  Paths& paths_;
  const ScheduleMaker& maker_;
  const Limits limits_;
  const uint64_t most_steps_;
  const uint64_t most_checked_;
  QuietTimes* const known_;
  MadeSchedules* const made_;
};

/// SiteFigures have all that the choice of a method depends on.
struct SiteFigures {
  Hints asked;
  ScheduleRequest request;  // without a group size, slices and connections
  WorkType work;
  const Grouping& grouping;
  std::span<const SharedList<ExchangedSlice>> slices = {};  // of each group; empty: none

  /// Returns the request of a group, without connections.
  ScheduleRequest request_of(size_t group) const {
    ScheduleRequest own = request;
    own.nodes = static_cast<uint32_t>(grouping.groups[group].size());
    own.layout = grouping.layouts[group];
    if (!slices.empty())
      own.slices = slices[group];
    return own;
  }
};

struct Pick {
  Method method;
  std::string because;
  std::optional<Duration> alone = {};  // as in Choice
};

/// At most so many groups of different shapes are timed.
inline constexpr size_t kMostTimedShapes = 8;

/// Returns the method that the op asks for, or the one whose slowest group is fastest. The method
/// has an algorithm that fits all groups, and a protocol of the transport that serves it. Among
/// equal times the first algorithm in the table is taken, with its first protocol. Groups of one
/// shape (Grouping::shapes) are timed once; if groups have slices of their own, each is timed. Only
/// the first kMostTimedShapes are timed. If there is no such method, that is an error.
std::variant<Pick, TypeError> pick_method(const SiteFigures& site,
                                          const std::optional<TransportFigures>& transport,
                                          const ScheduleMaker& maker, QuietTimer& timer);

}  // namespace orrery
