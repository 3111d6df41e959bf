#include "tools/nccl_tests/call_time.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/diagnostics.h"
#include "models/program/rules.h"
#include "simulator/lower/assumptions.h"
#include "verifier/stages.h"

namespace orrery {
namespace {

/// What a process takes to issue the call on one device. Ops that are started together
/// are one group, which is issued at once.
Duration issue_time(const Program& program, const Cluster& cluster) {
  if (!cluster.transport)
    return {};
  Duration time;
  for (const Op& op : program.ops) {
    if (!op.site)
      continue;
    const auto& launches = cluster.transport->host_launch;
    const auto launch = launches.find(rules(timed_as(op.kind)).name);
    if (launch != launches.end())
      time = op.issue == Issue::Start ? launch->second : time + launch->second;
  }
  return time;
}

bool has_copy_rate(const Cluster& cluster) {
  if (cluster.device.copy_rate)
    return true;
  return cluster.transport &&
         std::any_of(cluster.transport->protocols.begin(), cluster.transport->protocols.end(),
                     [](const ProtocolFigures& of) { return of.copy_rate; });
}

Cluster without_copy_rates(Cluster cluster) {
  cluster.device.copy_rate.reset();
  if (cluster.transport)
    for (ProtocolFigures& protocol : cluster.transport->protocols)
      protocol.copy_rate.reset();
  return cluster;
}

bool any_copies(const Lowered& lowered) {
  return std::any_of(
      lowered.collectives.begin(), lowered.collectives.end(),
      [](const Collective& collective) { return collective.schedule->extent().copies; });
}

/// The program with its collectives carried out as chosen before, by site.
Program carried_out(Program program, std::span<const Choice> choices) {
  for (Op& op : program.ops) {
    if (!op.site)
      continue;
    const Choice& choice = choices[op.site->index()];
    op.hints.algorithm = choice.algorithm;
    if (!choice.protocol.empty())
      op.hints.protocol = choice.protocol;
  }
  return program;
}

/// Of the collectives of one call.
struct DeviceTime {
  Duration time;
  std::vector<std::string> labels;
  std::vector<Choice> choices;
  bool copies = false;
};

DeviceTime device_time(const std::string& called, const Program& program, const Cluster& cluster,
                       const Limits& limits) {
  Diagnostics diagnostics(called);
  StageOptions options;
  options.limits = limits;
  options.slack_budget = 0;
  Stages stages(program, cluster, std::move(options), diagnostics);
  diagnostics.throw_if_any();
  const std::optional<Completion>& times = stages.times();
  diagnostics.throw_if_any();
  if (!times)
    throw InputError(called, {{{}, fmt::format("cannot end on cluster {}", cluster.name)}});
  const Lowered& lowered = stages.lowered();
  return {times->makespan - Instant(), lowered.labels, lowered.choices, any_copies(lowered)};
}

}  // namespace

CallTime call_time(const NcclCall& call, const Program& program, uint32_t gpus_of_process,
                   const Cluster& cluster, const Limits& limits) try {
  const std::string called = program_name(call.collective);
  DeviceTime made = device_time(called, program, cluster, limits);
  const Duration in_place = made.copies && has_copy_rate(cluster)
                                ? device_time(called, carried_out(program, made.choices),
                                              without_copy_rates(cluster), limits)
                                      .time
                                : made.time;
  const Duration issued = issue_time(program, cluster) * int64_t{gpus_of_process};
  return {std::max(made.time, issued), std::max(in_place, issued), std::move(made.labels),
          std::move(made.choices)};
} catch (const Overflow& overflow) {
  throw InputError(program_name(call.collective),
                   {{{},
                     fmt::format("{} of {} on cluster {}: a time is too long: {}",
                                 size_text(nccl_row_size(call.counts, itemsize(call.dtype))),
                                 counted(call.ranks, "rank"), cluster.name, overflow.what())}});
}

}  // namespace orrery
