#pragma once

// The plan of a site: its algorithm, schedules and views. Computed once for all sites with the same
// plan, for any number of layers.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/program/ragged.h"
#include "models/program/rules.h"
#include "models/scenario/size_limits.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/choice.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/reach.h"
#include "simulator/lower/schedule_maker.h"
#include "simulator/lower/views.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/end_copies.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// For the groups with equal requests: of one size, and with the same slices.
struct GroupPlan {
  const Schedule* schedule = nullptr;
  CollectiveFigures figures;
  MemberCosts costs;
  uint64_t steps = 0;  // of all its nodes; or some number above Limits::steps
};

struct SitePlan {
  const Grouping* grouping = nullptr;
  Method method;
  std::vector<SharedList<VertexId>> vertices;  // per group: of all nodes of its schedule
  Choice choice;
  WorkType work;
  View input;
  View output;
  std::vector<GroupPlan> groups;     // per group
  bool copies = false;               // inside a device, and without a rate but the device's
  uint64_t steps = 0;                // of all groups; or some number above Limits::steps
  std::optional<Unrouted> unrouted;  // the first pair without a route, within the limit
};

class SitePlans {
 public:
  /// `transport` must outlive this object. Schedules are added to `schedules`, equal ones once. A
  /// site with more steps than Limits::steps gets a plan, but its steps are not visited.
  SitePlans(const Program& program, const Cluster& cluster, Paths& paths, const Limits& limits,
            const std::optional<TransportFigures>& transport,
            std::vector<std::unique_ptr<const Schedule>>& schedules)
      : program_(program),
        paths_(paths),
        transport_(transport),
        most_steps_(static_cast<uint64_t>(limits.steps)),
        reach_(cluster.fabric),
        maker_(cluster.device, limits),
        timer_(paths, reach_, maker_, limits),
        groupings_(cluster.fabric),
        schedules_(schedules) {}

  /// The plan, valid as long as this object; or the error in the op's algorithm.
  using Outcome = std::variant<SitePlan, TypeError>;
  /// `tables` are those of a site that exchanges by tables; else null.
  const Outcome& of(const Site& site, const SiteTables* tables);

 private:
  /// Everything that a plan depends on. `request` has no group size, slices and connections.
  struct Key {
    const Grouping* grouping = nullptr;
    Hints asked;
    ScheduleRequest request;
    Dtype operand = Dtype::F32;
    Dtype result = Dtype::F32;
    CollectiveParts parts;
    std::vector<SharedList<ExchangedSlice>> slices;  // per group, of a ragged exchange
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct SharedSchedule {
    const Schedule* schedule = nullptr;
    uint64_t steps = 0;
    bool too_long = false;
  };

  GroupPlan group_plan(const Key& key, const Schedule& schedule, SitePlan& plan) const;
  Key key_of(const Site& site, const SiteTables* tables);
  Outcome plan(const Key& key);
  const SharedSchedule& schedule_of(const Method& method, const ScheduleRequest& request,
                                    WorkType work);
  std::optional<Unrouted> unrouted(const SitePlan& plan) const;

  const Program& program_;
  Paths& paths_;
  const std::optional<TransportFigures>& transport_;
  const uint64_t most_steps_;
  const Reach reach_;
  const ScheduleMaker maker_;
  QuietTimer timer_;
  Groupings groupings_;
  std::vector<std::unique_ptr<const Schedule>>& schedules_;
  /// By algorithm, request and how messages are cut. Looked up only.
  std::map<std::tuple<const Algorithm*, ScheduleRequest, MessageCut>, SharedSchedule> by_request_;
  std::map<Key, Outcome> plans_;  // looked up only
};

}  // namespace orrery
