#include "simulator/lower/lower.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/compiler.h"
#include "models/base/diagnostics.h"
#include "models/program/loops.h"
#include "models/program/op.h"
#include "models/program/op_request.h"
#include "models/program/ragged.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/assumptions.h"
#include "simulator/lower/choice.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/local_cost.h"
#include "simulator/lower/schedule_maker.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/tape.h"
#include "simulator/schedule/view.h"

namespace orrery {
namespace {

// The plan of a site has its method, schedules and views. It is computed once for all sites with
// the same plan, for any number of layers.

/// The plan of all groups with equal requests: of one size, and with the same slices.
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
  /// `transport`, `replace` and `known`, if given, must outlive this object. Schedules are taken
  /// from `made`, or made, replaced and added there. They are added to `schedules`, each once. A
  /// site with more steps than Limits::steps gets a plan, but its steps are not visited.
  SitePlans(const Program& program, const Cluster& cluster, Paths& paths, const Limits& limits,
            const std::optional<TransportFigures>& transport, MadeSchedules& made,
            const ReplaceSchedule& replace, QuietTimes* known,
            std::vector<std::shared_ptr<const Schedule>>& schedules)
      : program_(program),
        paths_(paths),
        transport_(transport),
        most_steps_(static_cast<uint64_t>(limits.steps)),
        maker_(cluster.device, limits),
        timer_(paths, maker_, limits, kMostTimedSteps, known, replace ? nullptr : &made),
        groupings_(cluster.fabric),
        made_(made),
        replace_(replace),
        schedules_(schedules) {}

  /// The plan, or the error in the op's algorithm. It is valid as long as this object.
  using Outcome = std::variant<SitePlan, TypeError>;
  /// Returns the site's plan. `tables` are those of a site that exchanges by tables; else null.
  const Outcome& of(const Site& site, const SiteTables* tables);

 private:
  /// All that a plan depends on. `request` has no group size, slices and connections.
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
  GroupPlan group_plan(const Key& key, const Method& method, const Schedule& schedule,
                       SitePlan& plan) const;
  Key key_of(const Site& site, const SiteTables* tables);
  Outcome plan(const Key& key);
  MadeSchedule schedule_of(const Method& method, const ScheduleRequest& request, WorkType work);
  std::optional<Unrouted> unrouted(const SitePlan& plan) const;

  const Program& program_;
  Paths& paths_;
  const std::optional<TransportFigures>& transport_;
  const uint64_t most_steps_;
  const ScheduleMaker maker_;
  QuietTimer timer_;
  Groupings groupings_;
  MadeSchedules& made_;
  const ReplaceSchedule& replace_;
  std::vector<std::shared_ptr<const Schedule>>& schedules_;
  std::set<const Schedule*> taken_;  // those in `schedules_`
  std::map<Key, Outcome> plans_;     // looked up only
};

/// Returns the hints of the op for this group. If a member never comes, all messages of the group
/// are rendezvous, so that nothing is sent to it.
Hints asked_in(const Grouping& grouping, size_t group, Hints asked) {
  if (std::ranges::any_of(grouping.absent,
                          [&](const GroupMember& member) { return member.group == group; }))
    asked.entry = Entry::Rendezvous;
  return asked;
}

const SitePlans::Outcome& SitePlans::of(const Site& site, const SiteTables* tables) {
  Key key = key_of(site, tables);
  const auto known = plans_.find(key);
  if (known != plans_.end())
    return known->second;
  Outcome made = plan(key);
  return plans_.emplace(std::move(key), std::move(made)).first->second;
}

/// Returns whether each rank gives a whole operand and gets the whole result, and the result does
/// not depend on the order of the ranks.
bool reduces_wholes(OpKind kind) {
  const CollectiveForm& form = rules(kind).form;
  return form.combine != Combine::None && form.operand_parts == nullptr &&
         form.result_parts == nullptr && form.entering != Entering::Ranked;
}

SitePlans::Key SitePlans::key_of(const Site& site, const SiteTables* tables) {
  const Op& op = program_.op(site.ops.front());
  const auto [operand, result] = exchanged_types(program_, op);
  Key key;
  key.grouping = &groupings_.of(reduces_wholes(op.kind) && site.absent.empty()
                                    ? node_by_node(paths_.fabric(), site.groups)
                                    : site.groups,
                                site.transfers, site.absent);
  key.asked = asked_by(op);
  key.request = schedule_request(op, 0, operand.shape.elements(), Transport());
  key.operand = operand.dtype;
  key.result = result.dtype;
  // Kinds with a part per rank have groups of one size only.
  key.parts = collective_parts(op, operand.shape, result.shape,
                               static_cast<int64_t>(site.groups.front().size()));
  if (tables != nullptr) {
    key.request.initial = result.shape.elements();
    for (const RaggedGroup& group : tables->groups)
      key.slices.push_back(exchanged_slices(group, result.shape.elements_from(1)));
  }
  return key;
}

SitePlans::Outcome SitePlans::plan(const Key& key) {
  SitePlan plan;
  plan.grouping = key.grouping;
  plan.work = work_type(rules(key.request.kind).form.entering, key.operand);
  plan.input = view(key.parts.operand);
  plan.output = view(key.parts.result);

  const SiteFigures site = {key.asked, key.request, plan.work, *key.grouping, key.slices};
  const auto picked = pick_method(site, transport_, maker_, timer_);
  if (const auto* error = std::get_if<TypeError>(&picked))
    return *error;
  const Pick& pick = std::get<Pick>(picked);
  plan.method = pick.method;
  plan.choice = choice_of(pick.method, pick.because);
  plan.choice.alone = pick.alone;

  std::map<std::pair<Entry, ScheduleRequest>, GroupPlan> plans;
  for (size_t g = 0; g < key.grouping->groups.size(); ++g) {
    const ScheduleRequest request = site.request_of(g);
    const Method method = method_of(plan.method, key.grouping->groups[g].size());
    const Hints asked = asked_in(*key.grouping, g, key.asked);
    const auto [known, added] = plans.try_emplace({asked.entry, request});
    GroupPlan& group = known->second;
    if (added) {
      const MadeSchedule& schedule = schedule_of(
          method, maker_.with_connections(method, asked, request, plan.work), plan.work);
      if (schedule.too_long)
        return TypeError{"",
                         "expected less than 2^31 steps of a channel, got more; larger slots of "
                         "the transport make fewer"};
      group = group_plan(key, method, *schedule.schedule, plan);
      group.steps = schedule.steps;
    }
    plan.groups.push_back(group);
    plan.steps = std::min(plan.steps + group.steps, most_steps_ + 1);
    const SharedList<VertexId>& ranks = key.grouping->vertices[g];
    plan.vertices.push_back(pick.method.algorithm->switches_of == nullptr
                                ? ranks
                                : vertices_of_nodes(*pick.method.algorithm, *group.schedule,
                                                    {paths_.fabric(), ranks, 1, request.layout}));
  }
  if (plan.steps <= most_steps_)
    plan.unrouted = unrouted(plan);
  return plan;
}

GroupPlan SitePlans::group_plan(const Key& key, const Method& method, const Schedule& schedule,
                                SitePlan& plan) const {
  const MemberFigures member =
      maker_.member_figures(method, key.request.kind, schedule,
                            {plan.work, key.operand, key.result, plan.input, plan.output});
  plan.copies |= member.copies;
  return {&schedule, member.collective, member.costs};
}

MadeSchedule SitePlans::schedule_of(const Method& method, const ScheduleRequest& request,
                                    WorkType work) {
  MadeSchedule made = maker_.make(method, request, work, made_, replace_);
  if (taken_.insert(made.schedule.get()).second)
    schedules_.push_back(made.schedule);
  return made;
}

std::optional<Unrouted> SitePlans::unrouted(const SitePlan& plan) const {
  for (size_t g = 0; g < plan.vertices.size(); ++g) {
    const Schedule& schedule = *plan.groups[g].schedule;
    if (auto lost = first_unrouted(schedule, plan.vertices[g], paths_))
      return lost;
  }
  return std::nullopt;
}

Origin origin_of(const Op& op, const std::string& parameter) {
  Origin origin = origin_of(op.name, op.origin);
  if (!parameter.empty())
    origin.pointer += "/" + parameter;
  return origin;
}

class Lowering {
 public:
  Lowering(const Program& program, const Cluster& cluster, Paths& paths, const Limits& limits,
           const std::optional<ProtocolFigures>& instead, const RaggedTables& tables,
           MadeSchedules* made, const ReplaceSchedule& replace, QuietTimes* known,
           Diagnostics& diagnostics)
      : program_(program),
        cluster_(cluster),
        limits_(limits),
        transport_(std::make_shared<const std::optional<TransportFigures>>(
            instead ? std::optional(TransportFigures{{*instead}}) : cluster.transport)),
        tables_(tables),
        diagnostics_(diagnostics),
        iterations_(std::make_shared<const Iterations>(program)),
        repetitions_(repetitions(program)),
        costs_(program, cluster.device, diagnostics),
        plans_(program, cluster, paths, limits, *transport_, made == nullptr ? made_ : *made,
               replace, known, lowered_.schedules) {}

  Lowered run() {
    const uint32_t devices = cluster_.fabric.devices();
    if (program_.mesh.devices() > devices) {
      diagnostics_.add({"/mesh", {}},
                       fmt::format("expected a mesh of at most the {} devices of the cluster, got "
                                   "{}",
                                   devices, program_.mesh.devices()));
      return {};
    }
    check_transport();
    for (size_t i = 0; i < program_.ops.size(); ++i)
      lowered_.local.push_back(
          {on_behalf_of(OpId(i), [&] { return local_time(program_.ops[i]); }), {}});
    for (const Thread& thread : program_.threads)
      lowered_.tapes.emplace_back(program_, thread, iterations_);
    lowered_.iterations = iterations_;
    size_t groups = 0;
    for (const Site& site : program_.sites)
      groups += site.groups.size();
    lowered_.collectives.reserve(groups);
    for (size_t s = 0; s < program_.sites.size(); ++s)
      on_behalf_of(program_.sites[s].ops.front(), [&] { lower_site(SiteId(s)); });
    if (!diagnostics_.empty())
      return {};
    find_streams();
    find_threads();
    lowered_.transport = transport_;
    lowered_.steps = steps_;
    lowered_.tables = tables_;
    label();
    return std::move(lowered_);
  }

 private:
  /// Checks that the protocols name algorithms that exist.
  void check_transport() {
    if (!*transport_)
      return;
    std::vector<std::string_view> names;
    for (const Algorithm& algorithm : algorithms())
      names.push_back(algorithm.name);
    for (const ProtocolFigures& protocol : (*transport_)->protocols)
      for (const std::string& algorithm : protocol.algorithms)
        if (std::find(names.begin(), names.end(), algorithm) == names.end())
          diagnostics_.add(protocol.algorithms_origin,
                           fmt::format("expected names of algorithms, got \"{}\"{}", algorithm,
                                       did_you_mean(algorithm, names)));
  }

  Duration local_time(const Op& op) {
    return rules(op.kind).family == Family::Local ? costs_.of(op) : Duration();
  }

  void lower_site(SiteId id) {
    const Site& site = program_.site(id);
    const Op& op = program_.op(site.ops.front());
    if (repetitions_[site.ops.front().index()] == 0) {  // in a loop that never runs
      lowered_.members.emplace_back();
      lowered_.choices.emplace_back();
      return;
    }
    const auto tables = tables_.find(id);
    if (rules(op.kind).form.by_tables && tables == tables_.end()) {
      diagnostics_.add(origin_of(op, {}),
                       fmt::format("{}: expected slices that are known before it is lowered, got "
                                   "none",
                                   op_title(op)));
      return;
    }
    const SitePlans::Outcome& outcome =
        plans_.of(site, tables == tables_.end() ? nullptr : tables->second.get());
    if (const auto* error = std::get_if<TypeError>(&outcome)) {
      diagnostics_.add(origin_of(op, error->parameter),
                       fmt::format("{}: {}", op_title(op), error->message));
      return;
    }
    const SitePlan& plan = std::get<SitePlan>(outcome);
    lowered_.choices.push_back(plan.choice);
    copies_ |= plan.copies;
    if (cut_by_rule(plan.method) && !plan.grouping->shapes.empty() && plan.steps > 0)
      cut_by_rule_[plan.method.algorithm->pieces].insert(
          fmt::format("{} by {}", rules(op.kind).name, plan.choice.algorithm));
    add_collectives(id, op, plan);
    if (count_steps(id, op, plan) && plan.unrouted)
      refuse_unrouted(op, plan);
  }

  /// Sets the streams of messages that are in groups. Ops at one site may have different ones
  /// there.
  void find_streams() {
    if (!has_groups(program_))
      return;
    const ProgramLists lists(program_, lowered_);
    for (size_t c = 0; c < lowered_.collectives.size(); ++c) {
      Collective& collective = lowered_.collectives[c];
      if (!collective.transfer)
        continue;
      for (size_t n = 0; n < collective.members.size(); ++n)
        if (const std::optional<Side> side = collective.side_of(Node(n))) {
          const StreamId stream = stream_of(program_.op(lists.op(CollectiveId(c), Node(n))));
          (side == Side::Receives ? *collective.receiver_stream : collective.stream) = stream;
        }
    }
  }

  /// Sets the thread of each member, if a device runs several lists.
  void find_threads() {
    const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program_);
    if (std::none_of(threads_of.begin(), threads_of.end(),
                     [](const auto& threads) { return threads.size() > 1; }))
      return;
    const ProgramLists lists(program_, lowered_);
    for (size_t c = 0; c < lowered_.collectives.size(); ++c) {
      Collective& collective = lowered_.collectives[c];
      for (size_t n = 0; n < collective.members.size(); ++n)
        collective.threads.push_back(lists.thread_of(CollectiveId(c), Node(n)));
    }
  }

  void add_collectives(SiteId site, const Op& op, const SitePlan& plan) {
    const StreamId receiver_stream = stream_of(program_.op(program_.site(site).ops.back()));
    lowered_.members.emplace_back(CollectiveId(lowered_.collectives.size()), plan.grouping->table);
    for (size_t g = 0; g < plan.grouping->groups.size(); ++g) {
      const SharedList<LogicalId>& members = plan.grouping->members[g];
      const auto transfer = transfer_of(program_.site(site), g);
      const GroupPlan& group = plan.groups[g];
      lowered_.collectives.push_back({site,
                                      op.kind,
                                      plan.work,
                                      group.schedule,
                                      members,
                                      plan.vertices[g],
                                      plan.input,
                                      plan.output,
                                      stream_of(op),
                                      group.costs.scratch,
                                      method_of(plan.method, members.size()).protocol,
                                      group.figures,
                                      group.costs.pack,
                                      group.costs.leave,
                                      repetitions_[program_.site(site).ops.front().index()],
                                      {},
                                      transfer,
                                      transfer ? std::optional(receiver_stream) : std::nullopt,
                                      g,
                                      absent_ranks(program_.site(site), g)});
    }
  }

  /// Adds the site's steps. Returns whether the schedules' steps stay within the limit. How many of
  /// them are run is known later: iterations of loops may be skipped.
  bool count_steps(SiteId id, const Op& op, const SitePlan& plan) {
    const auto most = static_cast<uint64_t>(limits_.steps);
    const uint64_t before = written_steps_;
    if (before <= most)
      written_steps_ += std::min(plan.steps, most + 1);
    if (before <= most && written_steps_ > most)
      diagnostics_.add(origin_of(op, {}), fmt::format("{}: {}", op_title(op),
                                                      beyond(limits_, &Limits::steps, "more")));
    constexpr UInt128 kMost = std::numeric_limits<int64_t>::max();
    const UInt128 runs = repetitions_[program_.site(id).ops.front().index()];
    steps_ = static_cast<uint64_t>(std::min(steps_ + UInt128{plan.steps} * runs, kMost));
    return written_steps_ <= most;
  }

  void refuse_unrouted(const Op& op, const SitePlan& plan) {
    const Fabric& fabric = cluster_.fabric;
    diagnostics_.add(
        origin_of(op, {}),
        fmt::format("{}: expected a route from {} to {}, where {} sends, got none over the "
                    "cluster's links",
                    op_title(op), fabric.vertex_text(plan.unrouted->sender),
                    fabric.vertex_text(plan.unrouted->receiver), plan.choice.algorithm));
  }

  void label() {
    lowered_.labels = missing_figures(cluster_.device, lowered_.collectives, copies_);
    for (std::string& label : costs_.labels())
      lowered_.labels.push_back(std::move(label));
    for (std::string& label : transport_labels(*transport_, lowered_.collectives))
      lowered_.labels.push_back(std::move(label));
    if (std::optional<std::string> label =
            nodes_label(cluster_.fabric, lowered_.collectives, lowered_.choices))
      lowered_.labels.push_back(std::move(*label));
    for (const auto& [rule, collectives] : cut_by_rule_)
      lowered_.labels.push_back(
          fmt::format("pieces: {}: a message is passed on in up to {} pieces, each of {} or more "
                      "(modelled)",
                      fmt::join(collectives, ", "), rule.most, size_text(rule.least)));
  }

  const Program& program_;
  const Cluster& cluster_;
  const Limits& limits_;
  const std::shared_ptr<const std::optional<TransportFigures>> transport_;
  const RaggedTables& tables_;
  Diagnostics& diagnostics_;
  const std::shared_ptr<const Iterations> iterations_;
  const std::vector<uint64_t> repetitions_;  // per op
  LocalCosts costs_;
  Lowered lowered_;
  MadeSchedules made_;  // where none are given
  SitePlans plans_;
  uint64_t steps_ = 0;          // of the collectives so far, each as often as it runs
  uint64_t written_steps_ = 0;  // the same, each once
  bool copies_ = false;         // inside devices
  std::map<PieceRule, std::set<std::string>> cut_by_rule_;  // "pbroadcast by ring"
};

}  // namespace

Lowered lower(const Program& program, const Cluster& cluster, Paths& paths,
              Diagnostics& diagnostics, const Limits& limits,
              const std::optional<ProtocolFigures>& instead, const RaggedTables& tables,
              MadeSchedules* made, const ReplaceSchedule& replace, QuietTimes* known) {
  return Lowering(program, cluster, paths, limits, instead, tables, made, replace, known,
                  diagnostics)
      .run();
}

Lowered lower(const Program& program, const Cluster& cluster, Diagnostics& diagnostics,
              const Limits& limits, const RaggedTables& tables) {
  Paths paths(cluster.fabric);
  return lower(program, cluster, paths, diagnostics, limits, std::nullopt, tables);
}

}  // namespace orrery
