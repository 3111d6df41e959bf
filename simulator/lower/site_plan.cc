#include "simulator/lower/site_plan.h"

#include <algorithm>

namespace orrery {
namespace {

Transport transport_of(const Op& op) {
  Transport transport;
  transport.channels = static_cast<uint32_t>(op.attributes.integer("channels"));
  transport.slots = static_cast<uint32_t>(op.attributes.integer("slots"));
  transport.entry = op.attributes.text("entry") == "rendezvous" ? Entry::Rendezvous : Entry::Eager;
  return transport;
}

/// What a member holds besides its operand and its result: the schedule's scratch, and each area
/// whose work elements that tensor's memory cannot hold. The input area is the operand, which stays
/// as it is, or with `in_place` lies where the result will.
Bytes scratch(const Extent& extent, WorkType work, Dtype operand, Dtype result) {
  const Bytes item = itemsize(work);
  int64_t elements = extent.scratch;
  if (!extent.in_place && work != WorkType{operand, false})
    elements += extent.input;
  if (item > itemsize(result))
    elements += extent.in_place ? extent.input : extent.output;
  return item * elements;
}

/// Whether a member copies its operand before its first step. With `in_place` it does so to where
/// the result will be.
bool packs(const Extent& extent, const SitePlan& plan, Dtype operand) {
  return extent.in_place || !plan.input.contiguous() || plan.work != WorkType{operand, false};
}

/// Whether a member copies its result after its last step.
bool unpacks(OpKind kind, const SitePlan& plan, Dtype result) {
  return !plan.output.contiguous() || rules(kind).form.leaving != Leaving::Same ||
         plan.work != WorkType{result, false};
}

/// Ranks x vertices that the figures of one distance may take to find.
constexpr size_t kMostSearched = size_t{1} << 18U;
/// Ranks up to which algorithms are compared by their estimates.
constexpr size_t kMostEstimated = size_t{1} << 16U;

}  // namespace

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
  const ValueType& operand = program_.value(op.operands.front()).type;
  const ValueType& result = program_.value(op.results.front()).type;
  Key key;
  key.grouping = &groupings_.of(site.groups);
  if (op.attributes.has("algorithm"))
    key.asked_for = op.attributes.text("algorithm");
  key.request = schedule_request(op, 0, operand.shape.elements(), transport_of(op));
  key.operand = operand.dtype;
  key.result = result.dtype;
  // Kinds whose tensors have parts have groups of one size.
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

  SiteFigures figures;
  figures.kind = key.request.kind;
  figures.asked_for = key.asked_for;
  figures.channels = key.request.transport.channels;
  figures.elements = key.request.elements;
  figures.itemsize = itemsize(plan.work);
  for (const Group& group : key.grouping->groups)
    figures.groups.push_back({static_cast<uint32_t>(group.size()), hops_of(group)});
  const auto picked = pick_algorithm(figures);
  if (const auto* fault = std::get_if<TypeFault>(&picked))
    return *fault;
  const Pick& pick = std::get<Pick>(picked);
  plan.choice = {std::string(pick.algorithm->name), pick.because};

  std::map<size_t, uint64_t> steps;  // by the size of the group
  for (const Group& group : key.grouping->groups) {
    GroupPlan& of_size = plan.by_size[group.size()];
    if (of_size.schedule == nullptr) {
      ScheduleRequest request = key.request;
      request.nodes = static_cast<uint32_t>(group.size());
      const Made& schedule = made(*pick.algorithm, request);
      of_size = group_plan(key, *schedule.schedule, plan);
      steps[group.size()] = schedule.steps;
    }
    plan.steps = std::min(plan.steps + steps[group.size()], most_steps_ + 1);
  }
  if (plan.steps <= most_steps_)
    plan.unrouted = unrouted(plan);
  return plan;
}

GroupPlan SitePlans::group_plan(const Key& key, const Schedule& schedule, SitePlan& plan) const {
  const Extent& extent = schedule.extent();
  GroupPlan group;
  group.schedule = &schedule;
  group.scratch = scratch(extent, plan.work, key.operand, key.result);
  const Bytes item = itemsize(plan.work);
  const Bytes packed = packs(extent, plan, key.operand) ? item * extent.input : Bytes();
  const Bytes unpacked = unpacks(key.request.kind, plan, key.result)
                             ? item * (extent.in_place ? extent.input : extent.output)
                             : Bytes();
  group.pack = copy_duration(packed, rates_);
  group.leave = copy_duration(unpacked, rates_);
  plan.copies |= extent.copies || packed > Bytes() || unpacked > Bytes();
  return group;
}

const SitePlans::Made& SitePlans::made(const Algorithm& algorithm, const ScheduleRequest& request) {
  Made& made = made_[{&algorithm, request}];
  if (made.schedule == nullptr) {
    schedules_.push_back(algorithm.make(request));
    made.schedule = schedules_.back().get();
    made.steps = count_steps(*made.schedule);
  }
  return made;
}

std::optional<Unrouted> SitePlans::unrouted(const SitePlan& plan) const {
  for (const SharedList<VertexId>& places : plan.grouping->places)
    if (auto lost = first_unrouted(*plan.of(places.size()).schedule, places, fabric_, reach_))
      return lost;
  return std::nullopt;
}

/// What messages meet when the ranks of `group` all send `distance` further on. Where a search of
/// the fabric for each rank would take long, only the first ranks are looked at.
std::optional<Hop> SitePlans::hop_of(const Group& group, size_t distance) const {
  const size_t looked_at =
      std::min(group.size(), std::max<size_t>(1, kMostSearched / group.size()));
  std::map<LinkId, int64_t> messages;
  Hop hop;
  for (size_t r = 0; r < looked_at; ++r) {
    const std::optional<Route> way = fabric_.route(
        VertexId(group[r].index()), VertexId(group[(r + distance) % group.size()].index()));
    if (!way)
      return std::nullopt;
    Duration latency;
    for (const LinkId id : *way) {
      latency += fabric_.link(id).latency;
      ++messages[id];
    }
    hop.latency = std::max(hop.latency, latency);
  }
  for (const auto& [id, count] : messages) {
    const BytesPerSecond share(std::max<int64_t>(1, fabric_.link(id).bandwidth.count() / count));
    if (hop.bandwidth == BytesPerSecond() || share < hop.bandwidth)
      hop.bandwidth = share;
  }
  return hop;
}

std::vector<Hop> SitePlans::hops_of(const Group& group) const {
  std::vector<Hop> hops;
  for (size_t distance = 1; distance < group.size() && group.size() <= kMostEstimated;
       distance *= 2) {
    const std::optional<Hop> hop = hop_of(group, distance);
    if (!hop)
      return {};
    hops.push_back(*hop);
  }
  return hops;
}

}  // namespace orrery
