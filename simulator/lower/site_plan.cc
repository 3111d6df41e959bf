#include "simulator/lower/site_plan.h"

#include <algorithm>
#include <utility>

#include "models/program/sides.h"

namespace orrery {
const SitePlans::Outcome& SitePlans::of(const Site& site) {
  Key key = key_of(site);
  const auto known = plans_.find(key);
  if (known != plans_.end())
    return known->second;
  Outcome made = plan(key);
  return plans_.emplace(std::move(key), std::move(made)).first->second;
}

SitePlans::Key SitePlans::key_of(const Site& site) {
  const Op& op = program_.op(site.ops.front());
  const auto [operand, result] = exchanged_types(program_, op);
  Key key;
  key.grouping = &groupings_.of(site.groups, site.transfers);
  key.asked = asked_by(op);
  // What nobody takes is not sent: it would wait somewhere for ever.
  if (std::count(site.transfers.begin(), site.transfers.end(), TransferGroup::Unreceived) > 0)
    key.asked.entry = Entry::Rendezvous;
  key.request = schedule_request(op, 0, operand.shape.elements(), Transport());
  key.operand = operand.dtype;
  key.result = result.dtype;
  // Kinds with a part per rank have groups of one size only.
  key.parts = collective_parts(op, operand.shape, result.shape,
                               static_cast<int64_t>(site.groups.front().size()));
  return key;
}

SitePlans::Outcome SitePlans::plan(const Key& key) {
  SitePlan plan;
  plan.grouping = key.grouping;
  plan.work = work_type(rules(key.request.kind).form.entering, key.operand);
  plan.input = view(key.parts.operand);
  plan.output = view(key.parts.result);

  const auto picked =
      pick_method({key.asked, key.request, plan.work, *key.grouping}, transport_, maker_, timer_);
  if (const auto* error = std::get_if<TypeError>(&picked))
    return *error;
  const Pick& pick = std::get<Pick>(picked);
  plan.method = pick.method;
  plan.choice = choice_of(pick.method, pick.because);

  std::map<size_t, uint64_t> steps;  // by group size
  for (size_t g = 0; g < key.grouping->groups.size(); ++g) {
    const Group& group = key.grouping->groups[g];
    GroupPlan& of_size = plan.by_size[group.size()];
    if (of_size.schedule == nullptr) {
      ScheduleRequest request = key.request;
      request.nodes = static_cast<uint32_t>(group.size());
      const SharedSchedule& schedule = schedule_of(
          plan.method,
          maker_.with_connections(plan.method, key.asked, std::move(request), plan.work),
          plan.work);
      if (schedule.too_long)
        return TypeError{"",
                         "expected less than 2^31 steps of a channel, got more; larger slots of "
                         "the transport make fewer"};
      of_size = group_plan(key, *schedule.schedule, plan);
      steps[group.size()] = schedule.steps;
    }
    plan.steps = std::min(plan.steps + steps[group.size()], most_steps_ + 1);
    const SharedList<VertexId>& ranks = key.grouping->vertices[g];
    plan.vertices.push_back(pick.method.algorithm->switch_of == nullptr
                                ? ranks
                                : vertices_of_nodes(*pick.method.algorithm, *of_size.schedule,
                                                    {paths_.fabric(), ranks}));
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
    const Schedule& schedule = *plan.of(plan.grouping->groups[g].size()).schedule;
    if (auto lost = first_unrouted(schedule, plan.vertices[g], paths_, reach_))
      return lost;
  }
  return std::nullopt;
}

}  // namespace orrery
