#include "tools/import/prove.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/builder.h"
#include "simulator/lower/assumptions.h"
#include "simulator/lower/given_schedule.h"
#include "simulator/lower/reach.h"
#include "simulator/lower/views.h"
#include "simulator/schedule/walk.h"
#include "verifier/check/hang.h"
#include "verifier/check/names.h"
#include "verifier/check/step_races.h"
#include "verifier/prove/prove.h"
#include "verifier/run.h"

namespace orrery {
namespace {

constexpr Dtype kDtype = Dtype::F32;  // sizes are in bytes, and chunks hold whole elements
constexpr const char* kAxis = "gpu";

std::vector<Parked> stuck(const Schedule& schedule) {
  NoVisitor visitor;
  return walk(schedule, visitor);
}

/// The most messages on one connection. With as many slots, no send waits for one.
uint32_t most_messages(const MscclAlgorithm& algorithm) {
  std::map<std::tuple<Node, Channel, Node, Channel>, uint32_t> count;
  uint32_t most = 1;
  for (const StoredSchedule::Message& message : algorithm.messages)
    most = std::max(most, ++count[{message.send.node, message.send.channel, message.receive.node,
                                   message.receive.channel}]);
  return most;
}

/// More slots never hurt, so a binary search finds the smallest number.
std::optional<uint32_t> least_slots(const MscclAlgorithm& algorithm) {
  uint32_t enough = most_messages(algorithm);
  if (!stuck(*stored_schedule(algorithm, 1, enough)).empty())
    return std::nullopt;
  uint32_t low = 1;
  while (low < enough) {
    const uint32_t middle = low + (enough - low) / 2;
    if (stuck(*stored_schedule(algorithm, 1, middle)).empty())
      enough = middle;
    else
      low = middle + 1;
  }
  return enough;
}

/// The algorithm's collective as an op without its operand.
OpRequest request_of(MscclCollective collective) {
  OpRequest op;
  op.name = std::string(name(collective));
  op.attributes.set("axis_name", std::vector<std::string>{kAxis});
  switch (collective) {
    case MscclCollective::AllReduce:
      op.kind = OpKind::Psum;
      break;
    case MscclCollective::AllGather:
      op.kind = OpKind::AllGather;
      op.attributes.set("tiled", true);
      break;
    case MscclCollective::ReduceScatter:
      op.kind = OpKind::PsumScatter;
      op.attributes.set("tiled", true);
      break;
    case MscclCollective::AllToAll:
      op.kind = OpKind::AllToAll;
      op.attributes.set("split_axis", int64_t{0});
      op.attributes.set("concat_axis", int64_t{0});
      op.attributes.set("tiled", true);
      break;
  }
  return op;
}

/// A program of only the algorithm's collective, with chunks of `chunk` elements.
Program program_of(const MscclAlgorithm& algorithm, int64_t chunk) {
  const bool gathers = algorithm.collective == MscclCollective::AllGather;
  const int64_t operand = (gathers ? algorithm.part() : algorithm.chunks) * chunk;
  Diagnostics diagnostics(algorithm.file);
  ProgramBuilder builder(Mesh({{kAxis, int64_t{algorithm.gpus}}}), Checks::Shapes, diagnostics);
  builder.argument("operand", kDtype, Shape{operand}, {kAxis});
  std::vector<LogicalId> devices;
  for (uint32_t g = 0; g < algorithm.gpus; ++g)
    devices.emplace_back(g);
  builder.thread("all", std::move(devices));
  OpRequest op = request_of(algorithm.collective);
  op.operands = {"operand"};
  builder.op(std::move(op));
  Program program = builder.finish();
  ORRERY_CHECK(diagnostics.empty(), "a buffer that divides into parts satisfies every rule");
  return program;
}

/// In place, an all-gather's operand is the gpu's own part of the single buffer, and so is a
/// reduce-scatter's result.
Buffers buffers_of(const MscclAlgorithm& algorithm, const Extent& extent, int64_t chunk) {
  Buffers buffers = whole_areas(extent);
  const int64_t part = algorithm.part() * chunk;
  if (algorithm.in_place && algorithm.collective == MscclCollective::AllGather)
    buffers.operand = {part, part};
  if (algorithm.in_place && algorithm.collective == MscclCollective::ReduceScatter)
    buffers.result = {part, part};
  return buffers;
}

Check proved(const MscclAlgorithm& algorithm, const Schedule& schedule, const Program& program,
             int64_t chunk) {
  const Op& op = program.ops.front();
  const Shape& operand = program.value(op.operands.front()).type.shape;
  const Shape& result = program.value(op.results.front()).type.shape;
  const CollectiveViews views = collective_views(op, operand, result, int64_t{algorithm.gpus});
  Proof proof = prove(trace(schedule, buffers_of(algorithm, schedule.extent(), chunk)),
                      {views.input, views.output},
                      [&](Rank rank) { return define(op, operand, algorithm.gpus, rank); });
  if (!proof.holds)
    return failed(CheckKind::ScheduleProved, "", proof.why_not, std::move(proof.witness));
  return passed(CheckKind::ScheduleProved, "",
                fmt::format("for all values, every gpu ends with the {} of {} chunks over {} gpus",
                            name(algorithm.collective), algorithm.chunks, algorithm.gpus));
}

void require_devices(const MscclAlgorithm& algorithm, const Cluster& cluster) {
  Diagnostics diagnostics(algorithm.file);
  if (cluster.fabric.devices() < algorithm.gpus)
    diagnostics.add({"/algo/ngpus", {}},
                    fmt::format("the algorithm is for {} gpus, and cluster {} has {}",
                                algorithm.gpus, cluster.name, cluster.fabric.devices()));
  diagnostics.throw_if_any();
}

void require_routes(const MscclAlgorithm& algorithm, const Schedule& schedule,
                    const Cluster& cluster) {
  const Fabric& fabric = cluster.fabric;
  std::vector<VertexId> vertices;
  for (uint32_t gpu = 0; gpu < algorithm.gpus; ++gpu)
    vertices.emplace_back(gpu);
  Paths paths(fabric);
  Diagnostics diagnostics(algorithm.file);
  if (const auto ends = first_unrouted(schedule, vertices, paths, Reach(fabric)))
    diagnostics.add({"/algo", {}}, fmt::format("cluster {} has no route from {} to {}",
                                               cluster.name, fabric.vertex_text(ends->sender),
                                               fabric.vertex_text(ends->receiver)));
  diagnostics.throw_if_any();
}

AlgorithmTime time_on(const Cluster& cluster, const MscclAlgorithm& algorithm,
                      const Program& program, std::unique_ptr<const Schedule> schedule) {
  const Lowered lowered = lower_with(std::move(schedule), algorithm.name, program, cluster.device);
  AlgorithmTime time{run_time(program, lowered, cluster.fabric), std::nullopt, lowered.labels};
  for (std::string& figure : fitted_figures(cluster))
    time.labels.push_back(std::move(figure));
  if (algorithm.protocol != "Simple")
    time.labels.push_back(fmt::format(
        "the flags that protocol {} sends with the data are not counted", algorithm.protocol));
  const Duration took = time.completion.makespan - Instant();
  const Op& op = program.ops.front();
  const Bytes size =
      nccl_size(op.kind, program.value(op.operands.front()).type.size(), algorithm.gpus);
  if (took.count() > 0)
    time.bandwidths = bandwidths(op.kind, size, algorithm.gpus, took);
  return time;
}

AlgorithmProof prove_in_range(const MscclAlgorithm& algorithm, const ProofRequest& request) {
  if (request.cluster != nullptr)
    require_devices(algorithm, *request.cluster);
  const Bytes smallest = itemsize(kDtype) * algorithm.chunks;
  const int64_t chunk = std::max<int64_t>(1, ceil_divide(request.size.count(), smallest.count()));

  AlgorithmProof result;
  result.size = smallest * chunk;
  for (const std::vector<std::vector<Step>>& gpu : algorithm.steps)
    for (const std::vector<Step>& channel : gpu)
      result.steps += channel.size();
  result.least_slots = least_slots(algorithm);

  const Program program = program_of(algorithm, chunk);
  std::unique_ptr<const Schedule> schedule = stored_schedule(algorithm, chunk, request.slots);
  if (request.cluster != nullptr)
    require_routes(algorithm, *schedule, *request.cluster);
  const std::vector<Parked> parked = stuck(*schedule);
  const bool ends = parked.empty();
  const std::string slots =
      fmt::format("{} slot{} a connection", request.slots, request.slots == 1 ? "" : "s");
  const std::string need = result.least_slots ? fmt::format("it needs {}", *result.least_slots)
                                              : std::string("no number is enough");
  if (ends)
    result.checks.push_back(
        passed(CheckKind::DeadlockFree, "", fmt::format("ends with {}; {}", slots, need)));
  else
    result.checks.push_back(
        failed(CheckKind::DeadlockFree, "",
               fmt::format("hangs with {}; {}: {}", slots, need, stuck_text(parked))));

  if (result.least_slots) {
    const std::unique_ptr<const Schedule> ending =
        ends ? nullptr : stored_schedule(algorithm, chunk, *result.least_slots);
    const Schedule& settled = ends ? *schedule : *ending;
    const StepRaces races = step_races(settled);
    result.checks.push_back(races.none()
                                ? passed(CheckKind::RaceFree, "",
                                         "any two steps that touch the same elements are ordered")
                                : failed(CheckKind::RaceFree, "", races.first->text()));
    result.checks.push_back(proved(algorithm, settled, program, chunk));
  }
  result.holds = std::all_of(result.checks.begin(), result.checks.end(),
                             [](const Check& check) { return check.holds(); });
  if (ends && request.cluster != nullptr)
    result.time = time_on(*request.cluster, algorithm, program, std::move(schedule));
  return result;
}

}  // namespace

AlgorithmProof prove_algorithm(const MscclAlgorithm& algorithm, const ProofRequest& request) {
  try {
    return prove_in_range(algorithm, request);
  } catch (const Overflow& overflow) {
    throw InputError(algorithm.file, {{{}, too_large(overflow)}});
  }
}

}  // namespace orrery
