#include "simulator/lower/lower.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/program/op_overflow.h"
#include "models/program/op_request.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/choice.h"
#include "simulator/lower/local_cost.h"
#include "simulator/lower/reach.h"
#include "simulator/lower/views.h"
#include "simulator/schedule/tape_order.h"

namespace orrery {
namespace {

Origin place(const Op& op, const std::string& parameter) {
  Origin origin = place_of(op.name, op.origin);
  if (!parameter.empty())
    origin.pointer += "/" + parameter;
  return origin;
}

/// Logical id d runs on device d.
VertexId vertex_of(LogicalId id) {
  return VertexId(id.index());
}

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

/// Ranks x vertices that the figures of one distance may take to find.
constexpr size_t kMostSearched = size_t{1} << 18U;
/// Ranks up to which algorithms are compared by their estimates.
constexpr size_t kMostEstimated = size_t{1} << 16U;

class Lowering {
 public:
  Lowering(const Program& program, const Cluster& cluster, Paths& paths, const Limits& limits,
           Diagnostics& diagnostics)
      : program_(program),
        cluster_(cluster),
        paths_(paths),
        limits_(limits),
        diagnostics_(diagnostics),
        costs_(program, cluster.device, diagnostics),
        reach_(cluster.fabric) {}

  Lowered run() {
    const uint32_t devices = cluster_.fabric.devices();
    if (program_.mesh.devices() > devices) {
      diagnostics_.add({"/mesh", {}},
                       fmt::format("expected a mesh of at most the {} devices of the cluster, got "
                                   "{}",
                                   devices, program_.mesh.devices()));
      return {};
    }
    for (size_t i = 0; i < program_.ops.size(); ++i)
      lowered_.local.push_back(
          {on_behalf_of(OpId(i), [&] { return local_time(program_.ops[i]); }), {}});
    issued_by_.resize(program_.ops.size());
    for (size_t t = 0; t < program_.threads.size(); ++t) {
      lowered_.tapes.push_back(tape_of(program_, program_.threads[t]));
      for (const OpId op : program_.threads[t].issue_order)
        issued_by_[op.index()] = ThreadId(t);
    }
    thread_of_.resize(program_.mesh.devices());
    for (size_t s = 0; s < program_.sites.size(); ++s)
      on_behalf_of(program_.sites[s].ops.front(), [&] { lower_site(SiteId(s)); });
    lowered_.members = members_by_site(lowered_, program_.sites.size());
    lowered_.launch = cluster_.device.launch.value_or(Duration());
    lowered_.reduce_rate = cluster_.device.reduce_rate;
    label();
    return std::move(lowered_);
  }

 private:
  Duration local_time(const Op& op) {
    return rules(op.kind).family == Family::Local ? costs_.of(op) : Duration();
  }

  void lower_site(SiteId id) {
    const Site& site = program_.site(id);
    const Op& op = program_.op(site.ops.front());
    const ValueType& operand = program_.value(op.operands.front()).type;

    SiteFigures figures;
    figures.kind = op.kind;
    if (op.attributes.has("algorithm"))
      figures.asked_for = op.attributes.text("algorithm");
    figures.channels = transport_of(op).channels;
    figures.elements = operand.shape.elements();
    figures.itemsize = itemsize(work_type(rules(op.kind).form.entering, operand.dtype));
    for (const Group& group : site.groups)
      figures.groups.push_back({static_cast<uint32_t>(group.size()), hops_of(group)});
    const auto picked = pick_algorithm(figures);
    if (const auto* fault = std::get_if<TypeFault>(&picked)) {
      diagnostics_.add(place(op, fault->parameter),
                       fmt::format("{}: {}", op_name(op.kind, op.issue), fault->message));
      lowered_.choices.emplace_back();
      return;
    }
    const Pick& pick = std::get<Pick>(picked);
    lowered_.choices.push_back({std::string(pick.algorithm->name), pick.because});

    const size_t first = lowered_.collectives.size();
    find_threads(site);
    std::map<size_t, const Schedule*> schedules;  // by group size
    for (const Group& group : site.groups) {
      const Schedule*& schedule = schedules[group.size()];
      if (schedule == nullptr) {
        lowered_.schedules.push_back(pick.algorithm->make(
            {op, static_cast<uint32_t>(group.size()), operand.shape.elements(), transport_of(op)}));
        schedule = lowered_.schedules.back().get();
      }
      add_collective(id, op, group, *schedule);
    }
    if (!count_steps(first, op))
      return;
    check_routes(first, op, pick);
  }

  /// Which thread brings each member to the site.
  void find_threads(const Site& site) {
    for (const OpId op : site.ops) {
      const ThreadId thread = issued_by_[op.index()];
      if (site.ops.size() == 1 && thread == alone_)
        return;  // as at the site before
      for (const LogicalId device : program_.thread(thread).devices)
        thread_of_[device.index()] = thread;
      alone_ = site.ops.size() == 1 ? std::optional(thread) : std::nullopt;
    }
  }

  /// Whether the program is within the limit with the collectives from `first` on.
  bool count_steps(size_t first, const Op& op) {
    const auto most = static_cast<uint64_t>(limits_.steps);
    const uint64_t before = steps_;
    std::map<const Schedule*, uint64_t> known;  // looked up only
    for (size_t i = first; i < lowered_.collectives.size() && steps_ <= most; ++i) {
      const Schedule& schedule = *lowered_.collectives[i].schedule;
      const auto [at, added] = known.emplace(&schedule, 0);
      if (added)
        at->second = orrery::count_steps(schedule);
      steps_ += at->second;
    }
    if (before <= most && steps_ > most)
      diagnostics_.add(place(op, {}), fmt::format("{}: {}", op_name(op.kind, op.issue),
                                                  beyond(limits_, &Limits::steps, "more")));
    return steps_ <= most;
  }

  void add_collective(SiteId site, const Op& op, const Group& group, const Schedule& schedule) {
    const ValueType& operand = program_.value(op.operands.front()).type;
    const ValueType& result = program_.value(op.results.front()).type;
    CollectiveViews views =
        collective_views(op, operand.shape, result.shape, static_cast<int64_t>(group.size()));
    Collective collective;
    collective.site = site;
    collective.kind = op.kind;
    collective.work = work_type(rules(op.kind).form.entering, operand.dtype);
    collective.schedule = &schedule;
    collective.members = group;
    collective.input = std::move(views.input);
    collective.output = std::move(views.output);
    collective.stream = stream_of(op);
    collective.scratch = scratch(schedule.extent(), collective.work, operand.dtype, result.dtype);
    for (const LogicalId member : group) {
      collective.places.push_back(vertex_of(member));
      collective.threads.push_back(thread_of_[member.index()]);
    }
    lowered_.collectives.push_back(std::move(collective));
  }

  /// What messages meet when the ranks of `group` all send `distance` further on. Where a search of
  /// the fabric for each rank would take long, only the first ranks are looked at.
  std::optional<Hop> hop_of(const Group& group, size_t distance) {
    const size_t looked_at =
        std::min(group.size(), std::max<size_t>(1, kMostSearched / group.size()));
    std::map<LinkId, int64_t> messages;
    Hop hop;
    for (size_t r = 0; r < looked_at; ++r) {
      const std::optional<Path> way =
          paths_.find(vertex_of(group[r]), vertex_of(group[(r + distance) % group.size()]));
      if (!way)
        return std::nullopt;
      for (const LinkId id : way->links)
        ++messages[id];
      hop.latency = std::max(hop.latency, way->latency);
    }
    for (const auto& [id, count] : messages) {
      const BytesPerSecond share(
          std::max<int64_t>(1, cluster_.fabric.link(id).bandwidth.count() / count));
      if (hop.bandwidth == BytesPerSecond() || share < hop.bandwidth)
        hop.bandwidth = share;
    }
    return hop;
  }

  std::vector<Hop> hops_of(const Group& group) {
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

  /// Names the first pair that sends without a way, in the collectives from `first` on: those of
  /// one site.
  void check_routes(size_t first, const Op& op, const Pick& pick) {
    const Fabric& fabric = cluster_.fabric;
    for (size_t i = first; i < lowered_.collectives.size(); ++i) {
      const auto lost = first_unrouted(lowered_.collectives[i], paths_, reach_);
      if (!lost)
        continue;
      diagnostics_.add(place(op, {}),
                       fmt::format("{}: expected a route from {} to {}, where {} sends, got none "
                                   "over the cluster's links",
                                   op_name(op.kind, op.issue), fabric.vertex_text(lost->sender),
                                   fabric.vertex_text(lost->receiver), pick.algorithm->name));
      return;
    }
  }

  void label() {
    if (!cluster_.device.launch)
      lowered_.labels.emplace_back("launch: 0 (not given)");
    const auto reduces = [](const Collective& collective) {
      return rules(collective.kind).form.combine != Combine::None;
    };
    if (!cluster_.device.reduce_rate &&
        std::any_of(lowered_.collectives.begin(), lowered_.collectives.end(), reduces))
      lowered_.labels.emplace_back("reduce_rate: infinite (not given)");
    for (std::string& label : costs_.labels())
      lowered_.labels.push_back(std::move(label));
  }

  const Program& program_;
  const Cluster& cluster_;
  Paths& paths_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  LocalCosts costs_;
  Lowered lowered_;
  Reach reach_;
  std::vector<ThreadId> issued_by_;  // per op
  std::vector<ThreadId> thread_of_;  // per device: at the site that is being lowered
  std::optional<ThreadId> alone_;    // of the last site, if all its members are of this thread
  uint64_t steps_ = 0;               // of the collectives so far
};

}  // namespace

Lowered lower(const Program& program, const Cluster& cluster, Paths& paths,
              Diagnostics& diagnostics, const Limits& limits) {
  return Lowering(program, cluster, paths, limits, diagnostics).run();
}

Lowered lower(const Program& program, const Cluster& cluster, Diagnostics& diagnostics,
              const Limits& limits) {
  Paths paths(cluster.fabric);
  return lower(program, cluster, paths, diagnostics, limits);
}

}  // namespace orrery
