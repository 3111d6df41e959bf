#include "simulator/algorithm/hierarchical.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/halving_doubling.h"
#include "simulator/algorithm/in_switch.h"
#include "simulator/algorithm/ring.h"
#include "simulator/algorithm/tree.h"

namespace orrery {
namespace {

using OwnedSchedule = std::unique_ptr<const Schedule>;

/// Returns the same form of another algorithm.
template <class Form>
Form form_as(StageForm form) {
  return form == StageForm::AllReduce       ? Form::AllReduce
         : form == StageForm::ReduceScatter ? Form::ReduceScatter
                                            : Form::AllGather;
}

OwnedSchedule ring_line(const LineRequest& request) {
  return std::make_unique<RingSchedule>(form_as<RingSchedule::Form>(request.form), request.nodes,
                                        request.count, request.combine, request.transport);
}

OwnedSchedule in_switch_line(const LineRequest& request) {
  return std::make_unique<InSwitchSchedule>(form_as<InSwitchSchedule::Form>(request.form),
                                            request.nodes, request.count, request.combine, Node(0),
                                            request.transport);
}

OwnedSchedule fold_and_cast_line(const LineRequest& request) {
  return std::make_unique<InSwitchSchedule>(InSwitchSchedule::Form::FoldAndCast, request.nodes,
                                            request.count, request.combine, Node(0),
                                            request.transport);
}

OwnedSchedule tree_line(const LineRequest& request) {
  return std::make_unique<TreeSchedule>(request.nodes, request.count, request.combine, 1,
                                        request.transport);
}

OwnedSchedule halving_line(const LineRequest& request) {
  Transport transport = request.transport;
  transport.largest = request.count / std::bit_floor(request.nodes);
  return std::make_unique<HalvingDoublingSchedule>(
      form_as<HalvingDoublingSchedule::Form>(request.form), request.nodes, request.count,
      request.combine, transport);
}

OwnedSchedule direct_line(const LineRequest& request) {
  return std::make_unique<DirectAllToAllSchedule>(request.nodes, request.count / request.nodes,
                                                  request.transport);
}

uint32_t one_for_each(uint32_t nodes) {
  return nodes;
}
uint32_t one_unit(uint32_t /*nodes*/) {
  return 1;
}
uint32_t halves(uint32_t /*nodes*/) {
  return 2;
}
uint32_t powers_of_two(uint32_t nodes) {
  return std::bit_floor(nodes);
}

uint64_t one_channel(uint64_t /*nodes*/) {
  return 1;
}
uint64_t channels_of_switch(uint64_t nodes) {
  return 2 * nodes;
}
uint64_t channels_of_network_switch(uint64_t nodes) {
  return nodes + 2;
}
uint64_t channels_of_tree(uint64_t /*nodes*/) {
  return TreeSchedule::all_channels(1);
}
uint64_t channel_for_each(uint64_t nodes) {
  return nodes;
}

StageForm form_of(OpKind kind) {
  switch (kind) {
    case OpKind::AllGather:
      return StageForm::AllGather;
    case OpKind::PsumScatter:
      return StageForm::ReduceScatter;
    case OpKind::AllToAll:
    case OpKind::Pswapaxes:
      return StageForm::AllToAll;
    default:
      return StageForm::AllReduce;
  }
}

int64_t count_of(const ScheduleRequest& request) {
  return request.kind == OpKind::AllGather ? request.nodes * request.elements : request.elements;
}

/// Returns the schedule of a group of one rank, or of an exchange along one axis.
OwnedSchedule without_stages(const ScheduleRequest& request, const LineAlgorithm& algorithm) {
  return algorithm.make({form_of(request.kind), request.nodes, count_of(request),
                         rules(request.kind).form.combine, request.transport});
}

/// Returns why the group has no equal nodes with several ranks each.
std::optional<std::string> misfit_nodes(const PlacedGroup& group) {
  const auto ranks = static_cast<uint32_t>(group.ranks.size());
  const uint32_t together = group.layout.together;
  if (together > 1 && together < ranks && ranks % together == 0)
    return std::nullopt;
  const std::string_view expected =
      "expected groups of several nodes of the topology \"nodes\", with several ranks on each, "
      "side by side and as many on each";
  if (together <= 1)
    return fmt::format("{}, got {} ranks with none side by side on a node", expected, ranks);
  return fmt::format("{}, got {} ranks, {} on a node", expected, ranks, together);
}

/// Returns why the group does not fill several axes of a torus.
std::optional<std::string> misfit_axes(const PlacedGroup& group) {
  const size_t axes = group.layout.axes.size();
  if (axes > StagedSchedule::kMostAxes)
    return fmt::format("expected groups that fill at most {} axes, got {}",
                       StagedSchedule::kMostAxes, axes);
  if (axes > 1)
    return std::nullopt;
  return fmt::format(
      "expected groups that fill several axes of a torus or a mesh, got {} ranks that do not",
      group.ranks.size());
}

/// Fewer elements of a rank take more overhead in halves than the latencies that halves save: with
/// 1 us for each message, 4 MiB on 4 nodes of 4 take 7 % longer, and 32 MiB less.
constexpr int64_t kLeastHalved = int64_t{1} << 17;

/// Returns whether the messages of stages are sent in halves, if each rank has so many elements of
/// the data. A ring with one slot for each half hangs.
bool halves_messages(const StagedForm& form, const Transport& transport, int64_t elements) {
  return std::ranges::all_of(form.algorithms, &LineAlgorithm::waits) && elements >= kLeastHalved &&
         transport.slots >= 4 && transport.slots % 2 == 0;
}

}  // namespace

const StagePart kRingPart = {{ring_line, one_for_each, true}, one_channel};
const StagePart kInSwitchPart = {
    {in_switch_line, one_for_each}, channels_of_switch, kPiecesOfTrees, true};
const StagePart kNetworkSwitchPart = {
    {fold_and_cast_line, one_unit}, channels_of_network_switch, kPiecesOfTrees, true};
const StagePart kTreePart = {{tree_line, halves}, channels_of_tree, kPiecesOfTrees};
const StagePart kHalvingPart = {{halving_line, powers_of_two, true}, one_channel};
const StagePart kDirectPart = {{direct_line, one_for_each}, channel_for_each};

OwnedSchedule make_hierarchical(const ScheduleRequest& request, const LineAlgorithm& inside,
                                const LineAlgorithm& between) {
  const uint32_t together = std::min(request.layout.together, request.nodes);
  const bool one_axis = together == 1 || together == request.nodes;
  StagedForm form;
  form.form = form_of(request.kind);
  if (form.form == StageForm::AllToAll && one_axis)
    return without_stages(request, inside);
  if (request.nodes == 1)
    return without_stages(request, kRingPart.line);
  if (one_axis) {
    form.sizes = {request.nodes};
    form.algorithms = {together == 1 ? between : inside};
    form.lanes.assign(request.transport.channels, {{0}});
  } else {
    form.sizes = {request.nodes / together, together};
    form.algorithms = {between, inside};
    form.lanes.assign(request.transport.channels, {{1, 0}});
  }
  form.count = count_of(request);
  if (halves_messages(form, request.transport, form.count / request.nodes))
    form.pieces = 2;
  form.combine = rules(request.kind).form.combine;
  form.transport = request.transport;
  return std::make_unique<StagedSchedule>(std::move(form));
}

OwnedSchedule make_torus(const ScheduleRequest& request, bool whole_parts) {
  const SharedList<uint32_t>& sizes = request.layout.axes;
  const auto axes = static_cast<uint32_t>(sizes.size());
  if (axes < 2)
    return without_stages(request, kRingPart.line);
  StagedForm form;
  form.form = form_of(request.kind);
  form.sizes.assign(sizes.begin(), sizes.end());
  form.algorithms.assign(axes, kRingPart.line);
  for (uint32_t c = 0; c < request.transport.channels; ++c)
    for (const bool goes_back : {false, true})
      for (uint32_t first = 0; first < axes; ++first) {
        StagedLane& lane = form.lanes.emplace_back();
        lane.goes_back = goes_back;
        for (uint32_t a = 0; a < axes; ++a)
          lane.axes.push_back((first + a) % axes);
      }
  form.count = count_of(request);
  form.combine = rules(request.kind).form.combine;
  form.transport = request.transport;
  form.whole_parts = whole_parts && form.form == StageForm::AllReduce;
  // Iterations cut units, not parts, since parts of different stages overlap.
  const int64_t largest = request.transport.largest;
  auto schedule = std::make_unique<StagedSchedule>(form);
  if (largest == 0 || schedule->largest_message() <= largest)
    return schedule;
  form.whole_parts = false;
  return cut(std::make_unique<StagedSchedule>(std::move(form)), largest);
}

bool has_nodes(const Topology& topology) {
  return dynamic_cast<const Nodes*>(&topology) != nullptr;
}

namespace {

/// Returns the ranks of a node, or those with one number in all nodes.
std::vector<VertexId> ranks_of_line(const PlacedGroup& group, bool inside, uint32_t number) {
  const auto ranks = static_cast<uint32_t>(group.ranks.size());
  const uint32_t together = group.layout.together;
  const uint32_t nodes = ranks / together;
  std::vector<VertexId> line;
  for (uint32_t i = 0; i < (inside ? together : nodes); ++i)
    line.push_back(group.ranks[inside ? number * together + i : i * together + number]);
  return line;
}

/// Returns the switch that reduces for each node, or for the ranks with each number. It is empty if
/// some have none.
std::vector<VertexId> switches_of_lines(const PlacedGroup& group, bool inside) {
  const auto ranks = static_cast<uint32_t>(group.ranks.size());
  const uint32_t together = group.layout.together;
  std::vector<VertexId> switches;
  for (uint32_t number = 0; number < (inside ? ranks / together : together); ++number) {
    const std::vector<VertexId> line = ranks_of_line(group, inside, number);
    const std::optional<VertexId> found = reducing_switch({group.fabric, line});
    if (!found)
      return {};
    switches.push_back(*found);
  }
  return switches;
}

template <const StagePart& inside, const StagePart& between>
std::optional<std::string> misfit_hierarchical(const PlacedGroup& group) {
  if (std::optional<std::string> why = misfit_nodes(group))
    return why;
  const uint64_t ranks = group.ranks.size();
  const uint64_t together = group.layout.together;
  const uint64_t nodes = ranks / together;
  if (inside.has_switches && switches_of_lines(group, true).empty())
    return "expected a switch that reduces and has a link to each rank of a node and from it, got "
           "none";
  if (between.has_switches && switches_of_lines(group, false).empty())
    return "expected a switch outside of nodes that reduces and has a link to a rank of each node "
           "and from it, got none";
  if (nodes > kMostDirectRanks)
    return fmt::format("expected at most {} nodes, got {}", kMostDirectRanks, nodes);
  const uint64_t channels =
      group.channels * (2 * inside.channels(together) + between.channels(nodes));
  const uint64_t switches =
      (inside.has_switches ? 2 * ranks : 0) + (between.has_switches ? together : 0);
  return too_many_channels((ranks + switches * group.channels) * channels);
}

std::optional<std::string> misfit_torus(const PlacedGroup& group) {
  if (std::optional<std::string> why = misfit_axes(group))
    return why;
  const uint64_t axes = group.layout.axes.size();
  return too_many_channels(group.ranks.size() * group.channels * 2 * axes * (2 * axes - 1));
}

/// Returns the switch of each switch node. A lane has one or two stages inside nodes, with a switch
/// node for each rank, and one between them, with a switch node for each number of ranks in a node.
/// If both are in switches, the op reduces to all: the stage between is the second of three.
template <const StagePart& inside, const StagePart& between>
std::vector<VertexId> switches_of_stages(const PlacedGroup& group, uint32_t nodes) {
  const uint32_t together = group.layout.together;
  std::vector<VertexId> of_stage;
  std::vector<VertexId> of_lane;
  if (inside.has_switches)
    for (const VertexId hub : switches_of_lines(group, true))
      of_stage.insert(of_stage.end(), together, hub);
  of_lane = of_stage;
  if (between.has_switches) {
    const std::vector<VertexId> hubs = switches_of_lines(group, false);
    of_lane.insert(of_lane.end(), hubs.begin(), hubs.end());
    of_lane.insert(of_lane.end(), of_stage.begin(), of_stage.end());
  }
  std::vector<VertexId> switches;
  for (uint32_t n = 0; n < nodes; ++n)
    switches.push_back(of_lane[n % of_lane.size()]);
  return switches;
}

template <const StagePart& inside, const StagePart& between>
OwnedSchedule make_in_nodes(const ScheduleRequest& request) {
  return make_hierarchical(request, inside.line, between.line);
}

OwnedSchedule make_torus_in_turn(const ScheduleRequest& request) {
  return make_torus(request, true);
}
OwnedSchedule make_torus_pipelined(const ScheduleRequest& request) {
  return make_torus(request, false);
}

bool is_torus(const Topology& topology) {
  const auto* const torus = dynamic_cast<const Torus*>(&topology);
  return torus != nullptr && torus->dimensions().size() > 1;
}

/// Returns the row of an algorithm that runs one part in nodes and one between them.
template <const StagePart& inside, const StagePart& between>
Algorithm nodes_algorithm(std::string_view name, std::string_view summary,
                          std::vector<OpKind> kinds) {
  return {.name = name,
          .summary = summary,
          .kinds = std::move(kinds),
          .misfit = misfit_hierarchical<inside, between>,
          .make = make_in_nodes<inside, between>,
          .switches_of = inside.has_switches || between.has_switches
                             ? switches_of_stages<inside, between>
                             : nullptr,
          .pieces = {between.pieces.most, std::max(inside.pieces.least, between.pieces.least)},
          .is_for_topology = has_nodes};
}

}  // namespace

std::vector<Algorithm> staged_algorithms(const std::vector<OpKind>& reductions,
                                         const std::vector<OpKind>& reduces_and_gathers,
                                         const std::vector<OpKind>& exchanges) {
  return {
      nodes_algorithm<kRingPart, kRingPart>("ring+ring", "a ring in each node, and rings between",
                                            reduces_and_gathers),
      nodes_algorithm<kInSwitchPart, kRingPart>(
          "in_switch+ring", "the switch of each node folds and copies, and rings between",
          reduces_and_gathers),
      nodes_algorithm<kRingPart, kTreePart>("ring+tree", "a ring in each node, and trees between",
                                            reductions),
      nodes_algorithm<kInSwitchPart, kTreePart>(
          "in_switch+tree", "the switch of each node folds and copies, and trees between",
          reductions),
      nodes_algorithm<kRingPart, kNetworkSwitchPart>(
          "ring+in_switch", "a ring in each node, and a switch outside folds and copies",
          reductions),
      nodes_algorithm<kInSwitchPart, kNetworkSwitchPart>(
          "in_switch+in_switch",
          "the switch of each node folds and copies, and so does a switch outside", reductions),
      nodes_algorithm<kInSwitchPart, kHalvingPart>(
          "in_switch+halving_doubling",
          "the switch of each node folds and copies, and halves are exchanged between", reductions),
      nodes_algorithm<kDirectPart, kDirectPart>(
          "direct+direct", "parts go to the rank that has the receiver's number, then between",
          exchanges),
      {.name = "torus",
       .summary = "rings along one axis after the other, on all links of a device at once",
       .kinds = reduces_and_gathers,
       .misfit = misfit_torus,
       .make = make_torus_in_turn,
       .cutting = Cutting::ByItself,
       .is_for_topology = is_torus},
      {.name = "torus_pipelined",
       .summary = "the same, and the rings along one axis overlap with those along the next",
       .kinds = reductions,
       .misfit = misfit_torus,
       .make = make_torus_pipelined,
       .is_for_topology = is_torus},
  };
}

}  // namespace orrery
