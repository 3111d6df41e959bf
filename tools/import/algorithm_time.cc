#include "tools/import/algorithm_time.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/fabric/transport.h"
#include "simulator/lower/assumptions.h"
#include "simulator/lower/given_schedule.h"

namespace orrery {
namespace {

/// As nccl-tests counts them. A custom collective has none.
std::optional<Bandwidths> bandwidths_of(const MscclAlgorithm& algorithm, const Op& op, Bytes size,
                                        Duration took) {
  if (took.count() == 0 || algorithm.collective == MscclCollective::Custom)
    return std::nullopt;
  Bandwidths result = bandwidths(op.kind, size, algorithm.gpus, took);
  // Each byte crosses the root's links once.
  if (algorithm.collective == MscclCollective::Broadcast ||
      algorithm.collective == MscclCollective::Reduce)
    result.busbw_GBps = result.algbw_GBps;
  return result;
}

}  // namespace

AlgorithmTime algorithm_time(const MscclAlgorithm& algorithm,
                             std::unique_ptr<const Schedule> schedule, const Program& program,
                             const Cluster& cluster, const Runtime& runtime) {
  const MessageForm& form = runtime.form(algorithm.protocol);
  MessageFigures messages;
  messages.share = form.share;
  const Lowered lowered =
      lower_with(std::move(schedule), algorithm.name, program, cluster.device, messages);
  AlgorithmTime time{run_time(program, lowered, cluster.fabric), std::nullopt, lowered.labels};
  for (std::string& figure : fitted_figures(cluster))
    time.labels.push_back(std::move(figure));
  if (form.share.data != form.share.wire)
    time.labels.push_back(
        fmt::format("{}: links carry data at {}/{} of their rate, the rest is flags ({})",
                    name(algorithm.protocol), form.share.data, form.share.wire, runtime.source));
  const Op& op = program.ops.front();
  const Bytes size =
      nccl_size(op.kind, program.value(op.operands.front()).type.size(), algorithm.gpus);
  time.bandwidths = bandwidths_of(algorithm, op, size, time.completion.makespan - Instant());
  return time;
}

}  // namespace orrery
