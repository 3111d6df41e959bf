#include "tools/nccl_tests/call_time.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

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

}  // namespace

CallTime call_time(const NcclCall& call, const Program& program, uint32_t gpus_of_process,
                   const Cluster& cluster, const Limits& limits) {
  const std::string called = program_name(call.collective);
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
  const Duration issued = issue_time(program, cluster) * int64_t{gpus_of_process};
  return {std::max(times->makespan - Instant(), issued), stages.lowered().labels,
          stages.lowered().choices};
}

}  // namespace orrery
