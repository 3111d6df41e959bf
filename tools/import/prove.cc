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
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/walk.h"
#include "verifier/check/hang.h"
#include "verifier/check/names.h"
#include "verifier/check/step_races.h"
#include "verifier/prove/prove.h"
#include "verifier/run.h"

namespace orrery {
namespace {

constexpr Dtype kDtype = Dtype::F32;  // sizes are in bytes; chunks are of whole elements

/// A step of a walk that only asks whether the schedule ends.
struct NoVisitor {
  void receive(StepRef, const Step&) {}
  void send(StepRef, const Step&) {}
};

std::vector<Parked> stuck(const Schedule& schedule) {
  NoVisitor visitor;
  return walk(schedule, visitor);
}

/// The most messages on one connection: with as many slots, no send waits for one.
uint32_t most_messages(const MscclAlgorithm& algorithm) {
  std::map<std::tuple<Node, Channel, Node, Channel>, uint32_t> count;
  uint32_t most = 1;
  for (const StoredSchedule::Message& message : algorithm.messages)
    most = std::max(most, ++count[{message.send.node, message.send.channel, message.receive.node,
                                   message.receive.channel}]);
  return most;
}

/// More slots never hurt, so the least number is found by halving.
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

OpKind kind(MscclCollective collective) {
  switch (collective) {
    case MscclCollective::AllGather:
      return OpKind::AllGather;
    case MscclCollective::AllToAll:
      return OpKind::AllToAll;
    case MscclCollective::ReduceScatter:
      return OpKind::PsumScatter;
    case MscclCollective::AllReduce:
      break;
  }
  return OpKind::Psum;
}

/// What `rank` must hold at the end: of a reduce-scatter in place, in its own part of the buffer,
/// counted from there.
Definition definition(const MscclAlgorithm& algorithm, int64_t chunk, Rank rank) {
  const int64_t whole = algorithm.chunks * chunk;
  const int64_t part = algorithm.part() * chunk;
  const int64_t own = part * rank.index();
  switch (algorithm.collective) {
    case MscclCollective::AllReduce:
      return {Combine::Add, {{0, whole, Rank(0), algorithm.gpus, 0}}};
    case MscclCollective::ReduceScatter:
      return {Combine::Add, {{0, part, Rank(0), algorithm.gpus, own}}};
    case MscclCollective::AllGather:
    case MscclCollective::AllToAll:
      break;
  }
  Definition result{Combine::None, {}};
  for (uint32_t q = 0; q < algorithm.gpus; ++q) {
    const bool gathers = algorithm.collective == MscclCollective::AllGather;
    const int64_t source = !gathers ? own : algorithm.in_place ? part * q : 0;
    result.parts.push_back({part * q, part, Rank(q), 1, source});
  }
  return result;
}

/// The stretch [first, first + count) of `pieces`, counted from `first`.
std::vector<Piece> cut(const std::vector<Piece>& pieces, int64_t first, int64_t count) {
  std::vector<Piece> result;
  for (Piece piece : pieces) {
    const int64_t begin = std::max(piece.first, first);
    const int64_t end = std::min(piece.first + piece.count, first + count);
    if (begin >= end)
      continue;
    for (Contribution& part : piece.made_of)
      part.source += begin - piece.first;
    result.push_back({begin - first, end - begin, piece.undefined, std::move(piece.made_of)});
  }
  return result;
}

Check proved(const MscclAlgorithm& algorithm, const Schedule& schedule, int64_t chunk) {
  const Extent& extent = schedule.extent();
  const View input = View::whole(extent.input);
  const View output = View::whole(extent.in_place ? extent.input : extent.output);
  const Claim claim{schedule, input, output};
  Made made = trace(claim);
  if (algorithm.in_place && algorithm.collective == MscclCollective::ReduceScatter) {
    const int64_t part = algorithm.part() * chunk;
    for (size_t r = 0; r < made.results.size(); ++r)
      made.results[r] = cut(made.results[r], part * static_cast<int64_t>(r), part);
  }
  Proof proof = prove(claim, made, [&](Rank rank) { return definition(algorithm, chunk, rank); });
  if (!proof.holds)
    return failed(CheckKind::ScheduleProved, "", proof.why_not, std::move(proof.witness));
  return passed(CheckKind::ScheduleProved, "",
                fmt::format("for all values, every gpu ends with the {} of {} chunks over {} gpus",
                            name(algorithm.collective), algorithm.chunks, algorithm.gpus));
}

/// The schedule as the one collective of a program that does nothing else.
struct OneOp {
  Program program;
  Lowered lowered;
};

Program one_op_program(const MscclAlgorithm& algorithm, int64_t elements) {
  Diagnostics diagnostics(algorithm.file);
  ProgramBuilder builder(Mesh({{"gpu", int64_t{algorithm.gpus}}}), Checks::Shapes, diagnostics);
  builder.argument("buffer", kDtype, Shape{elements}, {"gpu"});
  std::vector<LogicalId> devices;
  for (uint32_t g = 0; g < algorithm.gpus; ++g)
    devices.emplace_back(g);
  builder.thread("all", std::move(devices));
  // What the schedule does is in the schedule; the op is only where the devices meet.
  OpRequest op;
  op.name = "algorithm";
  op.kind = OpKind::Psum;
  op.operands = {"buffer"};
  op.attributes.set("axis_name", std::vector<std::string>{"gpu"});
  builder.op(std::move(op));
  Program program = builder.finish();
  ORRERY_CHECK(diagnostics.empty(), "a psum over the only axis satisfies every rule");
  return program;
}

OneOp one_op(const MscclAlgorithm& algorithm, std::unique_ptr<const Schedule> schedule,
             const DeviceFigures& device) {
  const Extent& extent = schedule->extent();
  OneOp result{one_op_program(algorithm, extent.input), {}};
  Collective collective;
  collective.kind = OpKind::Psum;
  collective.work = {kDtype};
  collective.schedule = schedule.get();
  collective.input = View::whole(extent.input);
  collective.output = View::whole(extent.in_place ? extent.input : extent.output);
  Group group;
  std::vector<VertexId> places;
  for (uint32_t g = 0; g < algorithm.gpus; ++g) {
    group.emplace_back(g);
    places.emplace_back(g);
  }
  collective.members = group;
  collective.places = std::move(places);
  Lowered& lowered = result.lowered;
  lowered.schedules.push_back(std::move(schedule));
  lowered.collectives.push_back(std::move(collective));
  lowered.tapes = {{{Instruction::Kind::Enter, OpId(0), OpId(0), StreamId(0)},
                    {Instruction::Kind::Wait, OpId(0), OpId(0), StreamId(0)}}};
  lowered.choices = {{algorithm.name, "it was given"}};
  lowered.local.resize(1);
  lowered.launch = device.launch.value_or(Duration());
  lowered.rates = {device.reduce_rate, device.copy_rate};
  lowered.members = {SiteMembers(CollectiveId(0), std::vector<Group>{group})};
  return result;
}

void require_routes(const MscclAlgorithm& algorithm, const Cluster& cluster) {
  Diagnostics diagnostics(algorithm.file);
  if (cluster.fabric.devices() < algorithm.gpus)
    diagnostics.add({"/algo/ngpus", {}},
                    fmt::format("the algorithm is for {} gpus, and cluster {} has {}",
                                algorithm.gpus, cluster.name, cluster.fabric.devices()));
  diagnostics.throw_if_any();
  Paths paths(cluster.fabric);
  for (const StoredSchedule::Message& message : algorithm.messages) {
    const VertexId from(message.send.node.index());
    const VertexId to(message.receive.node.index());
    if (!paths.find(from, to)) {
      diagnostics.add({"/algo", {}}, fmt::format("cluster {} has no route from {} to {}",
                                                 cluster.name, cluster.fabric.vertex_text(from),
                                                 cluster.fabric.vertex_text(to)));
      break;
    }
  }
  diagnostics.throw_if_any();
}

AlgorithmTime time_on(const Cluster& cluster, const MscclAlgorithm& algorithm,
                      std::unique_ptr<const Schedule> schedule, Bytes size) {
  const OneOp run = one_op(algorithm, std::move(schedule), cluster.device);
  AlgorithmTime time{run_time(run.program, run.lowered, cluster.fabric), std::nullopt};
  const Duration took = time.completion.makespan - Instant();
  if (took.count() > 0)
    time.bandwidths = bandwidths(kind(algorithm.collective), size, algorithm.gpus, took);
  return time;
}

AlgorithmProof prove_in_range(const MscclAlgorithm& algorithm, const ProofRequest& request) {
  if (request.cluster != nullptr)
    require_routes(algorithm, *request.cluster);
  const Bytes smallest = itemsize(kDtype) * algorithm.chunks;
  const int64_t chunk = std::max<int64_t>(1, ceil_divide(request.size.count(), smallest.count()));

  AlgorithmProof result;
  result.size = smallest * chunk;
  for (const std::vector<std::vector<Step>>& gpu : algorithm.steps)
    for (const std::vector<Step>& channel : gpu)
      result.steps += channel.size();
  result.least_slots = least_slots(algorithm);

  std::unique_ptr<const Schedule> schedule = stored_schedule(algorithm, chunk, request.slots);
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
    const Verdict races = step_races(settled);
    result.checks.push_back(races.holds
                                ? passed(CheckKind::RaceFree, "",
                                         "any two steps that touch the same elements are ordered")
                                : failed(CheckKind::RaceFree, "", races.witness));
    result.checks.push_back(proved(algorithm, settled, chunk));
  }
  result.holds = std::all_of(result.checks.begin(), result.checks.end(),
                             [](const Check& check) { return check.holds; });
  if (ends && request.cluster != nullptr)
    result.time = time_on(*request.cluster, algorithm, std::move(schedule), result.size);
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
