#include "simulator/lower/site_plan.h"

#include <algorithm>
#include <utility>

#include "models/program/sides.h"

namespace orrery {

namespace {

/// What the op asks for in this group. What nobody takes is not sent: it would wait somewhere for
/// ever.
Hints asked_in(const Grouping& grouping, size_t group, Hints asked) {
  if (!grouping.transfers.empty() && grouping.transfers[group] == TransferGroup::Unreceived)
    asked.entry = Entry::Rendezvous;
  return asked;
}

}  // namespace

const SitePlans::Outcome& SitePlans::of(const Site& site, const SiteTables* tables) {
  Key key = key_of(site, tables);
  const auto known = plans_.find(key);
  if (known != plans_.end())
    return known->second;
  Outcome made = plan(key);
  return plans_.emplace(std::move(key), std::move(made)).first->second;
}

SitePlans::Key SitePlans::key_of(const Site& site, const SiteTables* tables) {
  const Op& op = program_.op(site.ops.front());
  const auto [operand, result] = exchanged_types(program_, op);
  Key key;
  key.grouping = &groupings_.of(site.groups, site.transfers);
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

  std::map<std::pair<Entry, ScheduleRequest>, GroupPlan> plans;
  for (size_t g = 0; g < key.grouping->groups.size(); ++g) {
    const ScheduleRequest request = site.request_of(g);
    const Hints asked = asked_in(*key.grouping, g, key.asked);
    const auto [known, added] = plans.try_emplace({asked.entry, request});
    GroupPlan& group = known->second;
    if (added) {
      const SharedSchedule& schedule = schedule_of(
          plan.method, maker_.with_connections(plan.method, asked, request, plan.work), plan.work);
      if (schedule.too_long)
        return TypeError{"",
                         "expected less than 2^31 steps of a channel, got more; larger slots of "
                         "the transport make fewer"};
      group = group_plan(key, *schedule.schedule, plan);
      group.steps = schedule.steps;
    }
    plan.groups.push_back(group);
    plan.steps = std::min(plan.steps + group.steps, most_steps_ + 1);
    const SharedList<VertexId>& ranks = key.grouping->vertices[g];
    plan.vertices.push_back(
        pick.method.algorithm->switch_of == nullptr
            ? ranks
            : vertices_of_nodes(*pick.method.algorithm, *group.schedule, {paths_.fabric(), ranks}));
  }
  if (plan.steps <= most_steps_)
    plan.unrouted = unrouted(plan);
  return plan;
}

GroupPlan SitePlans::group_plan(const Key& key, const Schedule& schedule, SitePlan& plan) const {
  const MemberTensors tensors = {plan.work, key.operand, key.result, plan.input, plan.output};
  GroupPlan group;
  group.schedule = &schedule;
  group.figures = maker_.figures(plan.method, schedule);
  group.costs = member_costs(key.request.kind, schedule.extent(), tensors, maker_.device_rates());
  plan.copies |=
      group.costs.copies || (schedule.extent().copies && !group.figures.rates.copy.has_value());
  return group;
}

const SitePlans::SharedSchedule& SitePlans::schedule_of(const Method& method,
                                                        const ScheduleRequest& request,
                                                        WorkType work) {
  SharedSchedule& shared = by_request_[{method.algorithm, request, message_cut(method, work)}];
  if (shared.schedule == nullptr) {
    MadeSchedule made = maker_.make(method, request, work);
    schedules_.push_back(std::move(made.schedule));
    shared = {schedules_.back().get(), made.steps, made.too_long};
  }
  return shared;
}

std::optional<Unrouted> SitePlans::unrouted(const SitePlan& plan) const {
  for (size_t g = 0; g < plan.vertices.size(); ++g) {
    const Schedule& schedule = *plan.groups[g].schedule;
    if (auto lost = first_unrouted(schedule, plan.vertices[g], paths_, reach_))
      return lost;
  }
  return std::nullopt;
}

}  // namespace orrery
