#include "tools/nccl_tests/call.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/program/builder.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/lower/assumptions.h"
#include "verifier/stages.h"

namespace orrery {
namespace {

constexpr const char* kAxis = "rank";

using Pairs = std::vector<std::vector<int64_t>>;

/// Adds arrays and ops to the program of a call.
class CallBuilder {
 public:
  explicit CallBuilder(const NcclCall& call)
      : call_(call),
        diagnostics_(program_name(call.collective)),
        builder_(Mesh({{kAxis, int64_t{call.ranks}}}), Checks::Shapes, diagnostics_) {}

  NcclProgram build() {
    add_arguments();
    std::vector<LogicalId> devices;
    for (uint32_t rank = 0; rank < call_.ranks; ++rank)
      devices.emplace_back(rank);
    builder_.thread("all", std::move(devices));
    add_ops();
    NcclProgram made{builder_.finish(), std::move(arrays_)};
    diagnostics_.throw_if_any();
    return made;
  }

 private:
  /// Adds an argument for each part that a rank sends by itself.
  void add_arguments() {
    switch (call_.collective) {
      case NcclCollective::Hypercube:
        for (uint32_t mask = 1; mask < call_.ranks; mask *= 2)
          argument(fmt::format("gathered{}", mask), call_.counts.send * mask);
        break;
      case NcclCollective::Scatter:
        for (uint32_t rank = 0; rank < call_.ranks; ++rank)
          argument(fmt::format("part{}", rank), call_.counts.receive);
        break;
      default:
        argument("sent", call_.counts.send);
    }
  }

  void add_ops() {
    switch (call_.collective) {
      case NcclCollective::AllReduce:
        return op(reduction());
      case NcclCollective::AllGather:
        return op(tiled(OpKind::AllGather));
      case NcclCollective::ReduceScatter:
        return op(tiled(OpKind::PsumScatter));
      case NcclCollective::Alltoall:
        return op(exchange());
      case NcclCollective::Broadcast:
        return op(broadcast());
      case NcclCollective::SendRecv:
        return op(permute("received", "sent", to_next()));
      case NcclCollective::Hypercube:
        return add_exchanges();
      case NcclCollective::Gather:
      case NcclCollective::Scatter:
        return add_sends();
      case NcclCollective::Alltoallv:
      case NcclCollective::Reduce:
        break;
    }
    fail_check("not_modelled", "a call that is modelled", __FILE__, __LINE__);
  }

  void argument(std::string name, int64_t elements) {
    builder_.argument(name, call_.dtype, Shape({elements}), {kAxis});
    arrays_.push_back({.name = std::move(name),
                       .dtype = call_.dtype,
                       .global = Shape({checked_multiply(elements, call_.ranks)}),
                       .spec = {{{kAxis}}},
                       .init = RandomInit{}});
  }

  static OpRequest request(OpKind kind, std::string name, std::string operand) {
    OpRequest op;
    op.name = std::move(name);
    op.kind = kind;
    op.operands = {std::move(operand)};
    op.attributes.set("axis_name", std::vector<std::string>{kAxis});
    return op;
  }

  OpRequest reduction() const {
    const OpKind kind = call_.redop == NcclRedop::Max   ? OpKind::Pmax
                        : call_.redop == NcclRedop::Min ? OpKind::Pmin
                        : call_.redop == NcclRedop::Avg ? OpKind::Pmean
                                                        : OpKind::Psum;
    return request(kind, "reduced", "sent");
  }

  static OpRequest tiled(OpKind kind) {
    OpRequest op = request(kind, "received", "sent");
    op.attributes.set("tiled", true);
    return op;
  }

  static OpRequest exchange() {
    OpRequest op = tiled(OpKind::AllToAll);
    op.attributes.set("split_axis", int64_t{0});
    op.attributes.set("concat_axis", int64_t{0});
    return op;
  }

  OpRequest broadcast() const {
    OpRequest op = request(OpKind::Pbroadcast, "received", "sent");
    op.attributes.set("source", int64_t{call_.root});
    return op;
  }

  static OpRequest permute(std::string name, std::string operand, Pairs pairs) {
    OpRequest op = request(OpKind::Ppermute, std::move(name), std::move(operand));
    op.attributes.set("perm", std::move(pairs));
    return op;
  }

  Pairs to_next() const {
    Pairs pairs;
    for (int64_t rank = 0; rank < call_.ranks; ++rank)
      pairs.push_back({rank, (rank + 1) % call_.ranks});
    return pairs;
  }

  void add_exchanges() {
    for (uint32_t mask = 1; mask < call_.ranks; mask *= 2) {
      Pairs pairs;
      for (uint32_t rank = 0; rank < call_.ranks; ++rank)
        pairs.push_back({rank, rank ^ mask});
      op(permute(fmt::format("received{}", mask), fmt::format("gathered{}", mask),
                 std::move(pairs)));
    }
  }

  void add_sends() {
    const bool gathers = call_.collective == NcclCollective::Gather;
    const int64_t root = call_.root;
    for (int64_t rank = 0; rank < call_.ranks; ++rank) {
      OpRequest send =
          gathers ? permute(fmt::format("from{}", rank), "sent", {{rank, root}})
                  : permute(fmt::format("to{}", rank), fmt::format("part{}", rank), {{root, rank}});
      send.issue = Issue::Start;
      send.attributes.set("stream", rank);
      builder_.op(std::move(send));
    }
    for (uint32_t rank = 0; rank < call_.ranks; ++rank) {
      OpRequest done;
      done.name = fmt::format("received{}", rank);
      done.kind = OpKind::Done;
      done.operands = {fmt::format("{}{}", gathers ? "from" : "to", rank)};
      op(std::move(done));
    }
  }

  /// Adds an op whose result is an output.
  void op(OpRequest request) {
    const std::string name = request.name;
    builder_.op(std::move(request));
    builder_.output(name);
  }

  const NcclCall& call_;
  Diagnostics diagnostics_;
  ProgramBuilder builder_;
  std::vector<Array> arrays_;
};

/// Returns the time in which a process issues the call on one device. Ops that are started together
/// are one group, which is issued at once.
Duration issue_time(const Program& program, const Cluster& cluster) {
  if (!cluster.transport)
    return {};
  Duration time;
  for (const Op& op : program.ops) {
    if (!op.site || is_discarded(program, op))
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

/// Returns the program with its collectives carried out as `choices` says, by site.
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

/// Returns the time of a program of one collective over all its devices. It is known if the
/// collective was timed alone when its method was chosen.
std::optional<Duration> time_of_choice(const Program& program, const Lowered& lowered) {
  if (program.ops.size() != 1 || lowered.collectives.size() != 1)
    return std::nullopt;
  const Collective& collective = lowered.collectives.front();
  const std::optional<Duration>& alone = lowered.choices.front().alone;
  return alone ? std::optional(*alone + collective.pack + collective.leave) : std::nullopt;
}

/// This is the time that the collectives of one call take on the devices.
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
  options.only_times = true;
  Stages stages(program, cluster, std::move(options), diagnostics);
  diagnostics.throw_if_any();
  const Lowered& lowered = stages.lowered();
  const auto made = [&](Duration time) {
    return DeviceTime{time, lowered.labels, lowered.choices, any_copies(lowered)};
  };
  if (const std::optional<Duration> time = time_of_choice(program, lowered))
    return made(*time);
  const std::optional<Completion>& times = stages.times();
  diagnostics.throw_if_any();
  if (!times)
    throw InputError(called, {{{}, fmt::format("cannot end on cluster {}", cluster.name)}});
  return made(times->makespan - Instant());
}

}  // namespace

std::optional<std::string> not_modelled(NcclCollective collective, Dtype dtype, NcclRedop redop) {
  if (collective == NcclCollective::Alltoallv)
    return "no op of orrery exchanges parts of several sizes";
  if (collective == NcclCollective::Reduce)
    return "no op of orrery reduces to one rank";
  const bool reduces =
      collective == NcclCollective::AllReduce || collective == NcclCollective::ReduceScatter;
  if (!reduces || redop == NcclRedop::Sum)
    return std::nullopt;
  if (redop == NcclRedop::Prod || redop == NcclRedop::MulSum)
    return "no collective of orrery multiplies";
  if (collective == NcclCollective::ReduceScatter)
    return "psum_scatter can only sum";
  if (redop == NcclRedop::Avg && !is_float(dtype))
    return "pmean makes floats of integers";
  return std::nullopt;
}

NcclProgram program_of(const NcclCall& call) {
  ORRERY_CHECK(!not_modelled(call.collective, call.dtype, call.redop) && call.root < call.ranks,
               "a call that is modelled, with a root that is a rank");
  return CallBuilder(call).build();
}

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
