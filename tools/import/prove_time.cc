#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/check.h"
#include "models/fabric/transport.h"
#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/lower/assumptions.h"
#include "simulator/lower/lower.h"
#include "simulator/lower/schedule_maker.h"
#include "simulator/network/paths.h"
#include "tools/import/chunk_definition.h"
#include "tools/import/judged_sizes.h"
#include "tools/import/msccl_schedule.h"
#include "tools/import/prove.h"
#include "tools/import/runtime.h"
#include "verifier/run.h"

namespace orrery {
namespace {

[[noreturn]] void refuse(const MscclAlgorithm& algorithm, std::string message) {
  throw InputError(algorithm.file, {{{"/algo", {}}, std::move(message)}});
}

/// Returns the bandwidths as nccl-tests counts them. A custom collective has none.
std::optional<Bandwidths> bandwidths_of(const MscclAlgorithm& algorithm, const Program& program,
                                        Duration took) {
  if (took.count() == 0 || algorithm.collective == MscclCollective::Custom)
    return std::nullopt;
  const Op& op = program.ops.front();
  const Bytes size =
      nccl_size(op.kind, program.value(op.operands.front()).type.size(), algorithm.gpus);
  Bandwidths result = bandwidths(op.kind, size, algorithm.gpus, took);
  // Each byte crosses the root's links once.
  if (algorithm.collective == MscclCollective::Broadcast ||
      algorithm.collective == MscclCollective::Reduce)
    result.busbw_GBps = result.algbw_GBps;
  return result;
}

/// Returns the op as which a transport's protocols know the collective.
OpKind op_of(const MscclAlgorithm& algorithm, const Program& program) {
  return algorithm.collective == MscclCollective::Broadcast ? OpKind::Pbroadcast
                                                            : program.ops.front().kind;
}

/// The protocols by which an algorithm may be timed. The fastest of them counts.
struct Candidates {
  std::vector<ProtocolFigures> protocols;
  std::vector<std::string> labels;  // why these
};

/// Returns whether the protocol may pass the messages of one of our algorithms for the op.
bool serves_ours(const ProtocolFigures& protocol, OpKind kind, const Cluster& cluster) {
  for (const Algorithm* const algorithm : algorithms_for(kind))
    for (const ProtocolFigures* const serving : protocols_for(algorithm, kind, cluster.transport))
      if (serving == &protocol)
        return true;
  return false;
}

/// Returns the cluster's protocol that the file names. If the cluster has none of that name for
/// this op, it returns those by which our algorithms for the op pass messages, and without any of
/// them the runtime's flags alone.
Candidates candidates(const TimedCall& call, const Cluster& cluster, OpKind kind) {
  const Protocol named = call.algorithm.protocol;
  Candidates found;
  for (const ProtocolFigures* protocol : protocols_for(nullptr, kind, cluster.transport)) {
    if (protocol->name == key_of(named))
      return {{*protocol}, {}};
    if (serves_ours(*protocol, kind, cluster))
      found.protocols.push_back(*protocol);
  }
  const std::string_view op = rules(timed_as(kind)).name;
  if (!found.protocols.empty()) {
    std::vector<std::string_view> names;
    for (const ProtocolFigures& protocol : found.protocols)
      names.push_back(protocol.name);
    found.labels.push_back(fmt::format(
        "transport: the cluster has no {} for {}: the fastest of {} passes the messages",
        key_of(named), op, fmt::join(names, ", ")));
    return found;
  }
  if (cluster.transport)
    found.labels.push_back(fmt::format("transport: the cluster has no protocol for {}", op));
  ProtocolFigures& flags = found.protocols.emplace_back();
  flags.name = key_of(named);
  flags.share = call.runtime.figures(named).share;
  return found;
}

/// Returns the protocol with the slots of the call. A runtime that has slots cuts the messages by
/// itself, so its slot stands for the protocol's.
ProtocolFigures with_slots(ProtocolFigures protocol, const TimedCall& call) {
  protocol.slots = call.slots;
  if (const auto slot = call.runtime.figures(call.algorithm.protocol).slot) {
    protocol.slot = on_wire(*slot, protocol.share);
    protocol.pieces.reset();
  }
  return protocol;
}

/// Returns how messages are cut: by the runtime, or by the protocol if the runtime has no slots.
MscclCut cut_by(const ProtocolFigures& protocol, const TimedCall& call) {
  const MscclCut by_runtime = call.sizes.cut();
  if (call.runtime.figures(call.algorithm.protocol).slot)
    return by_runtime;
  const int64_t chunk = call.sizes.elements();
  const std::unique_ptr<const Schedule> whole = in_elements(
      areas_of(call.algorithm, call.placement, call.slots),
      cut_steps(call.algorithm, call.placement, by_runtime.chunks, !call.runtime.limits), chunk,
      chunk);
  const std::optional<int64_t> most =
      message_cut({nullptr, &protocol}, WorkType{Dtype::F32}).largest_message(*whole);
  if (!most)
    return by_runtime;
  return {std::max<int64_t>(1, *most / chunk), std::min(*most, chunk)};
}

/// Refuses more steps than the limit, or 2^31 of a channel.
void require_few_steps(const TimedCall& call, const CutSteps& cut, int64_t iterations,
                       const Limits& limits) {
  size_t longest = 0;
  size_t steps = 0;
  for (const auto& gpu : cut.steps) {
    for (const std::vector<Step>& channel : gpu) {
      longest = std::max(longest, channel.size());
      steps += channel.size();
    }
  }
  if (Int128{iterations} * Int128{longest} >= Int128{1} << 31U ||
      Int128{iterations} * Int128{steps} > limits.steps)
    refuse(call.algorithm, beyond(limits, &Limits::steps,
                                  fmt::format("{} in each of {} iterations", steps, iterations)));
}

void require_routes(const TimedCall& call, const Cluster& cluster, const Schedule& schedule) {
  std::vector<VertexId> vertices;
  for (uint32_t gpu = 0; gpu < call.algorithm.gpus; ++gpu)
    vertices.emplace_back(gpu);
  Paths paths(cluster.fabric);
  if (const auto ends = first_unrouted(schedule, vertices, paths))
    refuse(call.algorithm, fmt::format("cluster {} has no route from {} to {}", cluster.name,
                                       cluster.fabric.vertex_text(ends->sender),
                                       cluster.fabric.vertex_text(ends->receiver)));
}

/// Returns the labels of the cluster's figures that the time depends on: not those of other
/// protocols, and not of a process that issues the collective.
std::vector<std::string> figure_labels(const Cluster& cluster, const Program& program,
                                       const ProtocolFigures& protocol) {
  Cluster used = cluster;
  std::erase_if(used.sources, [&](const FigureSource& source) {
    return source.figure.starts_with("transport/") &&
           !source.figure.starts_with("transport/" + protocol.name + "/");
  });
  return fitted_figures(used, program);
}

/// Returns the time by one protocol. The result is empty if the algorithm hangs with its messages
/// cut for it.
std::optional<AlgorithmTime> time_by(const ProtocolFigures& given, const TimedCall& call,
                                     const Cluster& cluster, const Program& program,
                                     const Limits& limits) {
  const ProtocolFigures protocol = with_slots(given, call);
  const MscclCut how = cut_by(protocol, call);
  const CutSteps cut = cut_steps(call.algorithm, call.placement, how.chunks, !call.runtime.limits);
  if (!stuck(call.algorithm, call.placement, cut, call.slots).empty())
    return std::nullopt;
  require_routes(call, cluster, *one_iteration(call.algorithm, call.placement, cut, call.slots));
  const int64_t chunk = call.sizes.elements();
  require_few_steps(call, cut, ceil_divide(chunk, how.elements), limits);
  TransportFigures transport{{protocol}};
  if (cluster.transport)
    transport.calibrated = cluster.transport->calibrated;
  const Lowered lowered = lower_with(
      in_elements(areas_of(call.algorithm, call.placement, call.slots), cut, chunk, how.elements),
      call.algorithm.name, program, cluster.device, std::move(transport));
  AlgorithmTime time{run_time(program, lowered, cluster.fabric), std::nullopt, lowered.labels,
                     protocol.name};
  if (!protocol.algorithms.empty())
    time.labels.push_back(fmt::format(
        "transport: {}: extrapolated to this algorithm; figures and errors are those of {}",
        protocol.name, fmt::join(protocol.algorithms, ", ")));
  for (std::string& label : figure_labels(cluster, program, protocol))
    time.labels.push_back(std::move(label));
  time.bandwidths = bandwidths_of(call.algorithm, program, time.completion.makespan - Instant());
  return time;
}

}  // namespace

std::optional<AlgorithmTime> time_on(const Cluster& cluster, const TimedCall& call,
                                     const Limits& limits) {
  const Program program = program_of(call.algorithm, call.sizes.elements());
  const Candidates all = candidates(call, cluster, op_of(call.algorithm, program));
  std::optional<AlgorithmTime> least;
  for (const ProtocolFigures& protocol : all.protocols) {
    std::optional<AlgorithmTime> time = time_by(protocol, call, cluster, program, limits);
    if (time && (!least || time->completion.makespan < least->completion.makespan))
      least = std::move(time);
  }
  if (least)
    least->labels.insert(least->labels.end(), all.labels.begin(), all.labels.end());
  return least;
}

}  // namespace orrery
