#include "simulator/lower/lower.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/program/did_you_mean.h"
#include "models/program/loops.h"
#include "models/program/op_overflow.h"
#include "models/program/op_request.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/assumptions.h"
#include "simulator/lower/local_cost.h"
#include "simulator/lower/site_plan.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/schedule/tape_order.h"

namespace orrery {
namespace {

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
           Diagnostics& diagnostics)
      : program_(program),
        cluster_(cluster),
        limits_(limits),
        transport_(std::make_shared<const std::optional<TransportFigures>>(
            instead ? std::optional(TransportFigures{{*instead}}) : cluster.transport)),
        tables_(tables),
        diagnostics_(diagnostics),
        repetitions_(repetitions(program)),
        costs_(program, cluster.device, diagnostics),
        plans_(program, cluster, paths, limits, *transport_, lowered_.schedules) {}

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
      lowered_.tapes.push_back(tape_of(program_, thread));
    for (size_t s = 0; s < program_.sites.size(); ++s)
      on_behalf_of(program_.sites[s].ops.front(), [&] { lower_site(SiteId(s)); });
    if (!diagnostics_.empty())
      return {};
    find_threads();
    lowered_.transport = transport_;
    lowered_.steps = steps_;
    lowered_.tables = tables_;
    label();
    return std::move(lowered_);
  }

 private:
  /// Whether the protocols name algorithms that exist.
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
    add_collectives(id, op, plan);
    if (count_steps(id, op, plan) && plan.unrouted)
      refuse_unrouted(op, plan);
  }

  /// The thread of each member, if a device runs several lists.
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
                                      plan.method.protocol,
                                      group.figures,
                                      group.costs.pack,
                                      group.costs.leave,
                                      repetitions_[program_.site(site).ops.front().index()],
                                      {},
                                      transfer,
                                      transfer ? std::optional(receiver_stream) : std::nullopt,
                                      g});
    }
  }

  /// Whether the program's steps stay within the limit with those of the site.
  bool count_steps(SiteId id, const Op& op, const SitePlan& plan) {
    const auto most = static_cast<uint64_t>(limits_.steps);
    const uint64_t before = steps_;
    if (steps_ <= most) {
      const UInt128 steps =
          UInt128{plan.steps} * repetitions_[program_.site(id).ops.front().index()];
      steps_ += static_cast<uint64_t>(std::min<UInt128>(steps, most + 1));
    }
    if (before <= most && steps_ > most)
      diagnostics_.add(origin_of(op, {}), fmt::format("{}: {}", op_title(op),
                                                      beyond(limits_, &Limits::steps, "more")));
    return steps_ <= most;
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
  }

  const Program& program_;
  const Cluster& cluster_;
  const Limits& limits_;
  const std::shared_ptr<const std::optional<TransportFigures>> transport_;
  const RaggedTables& tables_;
  Diagnostics& diagnostics_;
  const std::vector<uint64_t> repetitions_;  // per op
  LocalCosts costs_;
  Lowered lowered_;
  SitePlans plans_;
  uint64_t steps_ = 0;   // of the collectives so far
  bool copies_ = false;  // inside devices
};

}  // namespace

Lowered lower(const Program& program, const Cluster& cluster, Paths& paths,
              Diagnostics& diagnostics, const Limits& limits,
              const std::optional<ProtocolFigures>& instead, const RaggedTables& tables) {
  return Lowering(program, cluster, paths, limits, instead, tables, diagnostics).run();
}

Lowered lower(const Program& program, const Cluster& cluster, Diagnostics& diagnostics,
              const Limits& limits, const RaggedTables& tables) {
  Paths paths(cluster.fabric);
  return lower(program, cluster, paths, diagnostics, limits, std::nullopt, tables);
}

}  // namespace orrery
