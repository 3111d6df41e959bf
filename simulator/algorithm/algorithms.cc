#include "simulator/algorithm/algorithms.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/bruck.h"
#include "simulator/algorithm/chain.h"
#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/halving_doubling.h"
#include "simulator/algorithm/hierarchical.h"
#include "simulator/algorithm/in_switch.h"
#include "simulator/algorithm/one_shot.h"
#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/pat.h"
#include "simulator/algorithm/ragged_exchange.h"
#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"
#include "simulator/algorithm/tree.h"

namespace orrery {
namespace {

using OwnedSchedule = std::unique_ptr<const Schedule>;

// Each misfit function returns why a group cannot run an algorithm, or nothing if it can.

std::optional<std::string> misfit(const PlacedGroup& group) {
  return too_many_channels(uint64_t{group.ranks.size()} * group.channels);
}

std::optional<std::string> misfit_bidirectional(const PlacedGroup& group) {
  return too_many_channels(2 * uint64_t{group.ranks.size()} * group.channels);
}

std::optional<std::string> misfit_tree(const PlacedGroup& group) {
  return too_many_channels(group.ranks.size() * TreeSchedule::all_channels(group.channels));
}

std::optional<std::string> misfit_direct(const PlacedGroup& group) {
  const uint64_t ranks = group.ranks.size();
  if (ranks > kMostDirectRanks)
    return fmt::format("expected groups of at most {} ranks, got {}", kMostDirectRanks, ranks);
  return too_many_channels(ranks * ranks * group.channels);
}

std::vector<VertexId> switches_of_one(const PlacedGroup& group, uint32_t nodes) {
  return std::vector<VertexId>(nodes, reducing_switch(group).value());
}

std::optional<std::string> misfit_in_switch(const PlacedGroup& group) {
  if (!reducing_switch(group))
    return fmt::format(
        "expected a switch that reduces and has a link to each rank of a group and from it, got {}",
        group.fabric.reducing_switches().empty() ? "no switch that reduces"
                                                 : "none that has them all");
  // Each of the n ranks and of their n switch nodes has at most 2n channels.
  const uint64_t ranks = group.ranks.size();
  return too_many_channels(2 * ranks * 2 * ranks * group.channels);
}

// Each of these returns why an algorithm is not considered for a group unless it is named.

/// The algorithm exists for the order in which it folds.
std::optional<std::string> only_by_name(const PlacedGroup& /*group*/, const Hints& /*asked*/) {
  return "only if asked for";
}

/// Returns whether far ranks are more links apart than near ones, other than along a single line:
/// in nodes, in trees of several levels, and on tori of several dimensions. Few rounds gain most
/// there.
bool has_levels(const Topology& topology) {
  const auto* const tree = dynamic_cast<const Tree*>(&topology);
  const auto* const torus = dynamic_cast<const Torus*>(&topology);
  return has_nodes(topology) || (tree != nullptr && tree->levels().size() > 1) ||
         (torus != nullptr && std::ranges::count_if(torus->dimensions(), [](const auto& each) {
                                return each.size > 1;
                              }) > 1);
}

/// In one node a tree is a chain, which is no faster than a ring.
std::optional<std::string> in_one_node(const PlacedGroup& group, const Hints& /*asked*/) {
  if (group.layout.together < group.ranks.size())
    return std::nullopt;
  return "all ranks are on one node";
}

/// Returns whether switches join the ranks of the group, and nothing else does.
bool is_behind_switches(const PlacedGroup& group) {
  const auto is_tree = [](const Topology& topology) {
    return dynamic_cast<const Tree*>(&topology) != nullptr;
  };
  const Topology& topology = group.fabric.topology();
  if (const auto* const nodes = dynamic_cast<const Nodes*>(&topology))
    return group.layout.together >= group.ranks.size() && is_tree(*nodes->form().inside);
  return is_tree(topology);
}

/// A ring gains by going back only over links that the way on leaves idle. Behind a switch, both
/// ways share each rank's links.
std::optional<std::string> not_both_ways(const PlacedGroup& group, const Hints& asked) {
  if (asked.channels)
    return "the op gives its channels, and it has twice as many";
  const size_t ranks = group.ranks.size();
  if (ranks <= 2)
    return "two ranks have one link each way";
  if (is_behind_switches(group))
    return "both ways share each rank's links to the switch";
  if (!group.fabric.topology().is_searched())
    return std::nullopt;
  const auto place = [&](size_t r) {
    return group.ranks[group.layout.orders.empty() ? r : group.layout.orders.front()[r]];
  };
  for (size_t r = 0; r < ranks; ++r) {
    const VertexId rank = place(r);
    const VertexId next = place((r + 1) % ranks);
    if (!group.fabric.direct_link(rank, next) || !group.fabric.direct_link(next, rank))
      return "some neighbours have no links both ways";
  }
  return std::nullopt;
}

Combine combine_of(const ScheduleRequest& request) {
  return rules(request.kind).form.combine;
}

/// Returns the form of a gather, a scatter or a reduction, and the elements that the ranks divide.
template <class Form>
std::pair<Form, int64_t> form_of(const ScheduleRequest& request) {
  switch (request.kind) {
    case OpKind::AllGather:
      return {Form::AllGather, request.nodes * request.elements};
    case OpKind::PsumScatter:
      return {Form::ReduceScatter, request.elements};
    default:
      return {Form::AllReduce, request.elements};
  }
}

/// Each channel of a ring or of a chain goes round the ranks in an order of the layout.
uint32_t one_an_order(const Layout& layout) {
  return std::max<uint32_t>(1, static_cast<uint32_t>(layout.orders.size()));
}

/// Returns the rings over all links of a torus that the ranks fill; none elsewhere, or if none are
/// found.
SharedList<SharedList<uint32_t>> rings_of(const Layout& layout) {
  return layout.wraps ? torus_rings(layout.axes) : SharedList<SharedList<uint32_t>>();
}

/// A chain on a torus has a channel for each ring, both ways round.
uint32_t one_a_chain(const Layout& layout) {
  const SharedList<SharedList<uint32_t>> rings = rings_of(layout);
  return rings.empty() ? one_an_order(layout) : static_cast<uint32_t>(rings.size());
}

/// If nodes have several NICs, the layout has an order for each. Then a pair of channels begins at
/// each rank of a node, and so at each NIC. In lists of links an order is a ring, and each rank
/// counts as a node, so there is one pair.
uint32_t pair_a_rank(const Layout& layout) {
  return layout.orders.empty() ? 1 : 2 * layout.together;
}

OwnedSchedule make_ring(const ScheduleRequest& request, RingSchedule::Ways ways) {
  const auto [form, count] = form_of<RingSchedule::Form>(request);
  return std::make_unique<RingSchedule>(form, request.nodes, count, combine_of(request),
                                        request.transport, ways, request.layout.orders);
}

OwnedSchedule make_one_way(const ScheduleRequest& request) {
  return make_ring(request, RingSchedule::Ways::One);
}

OwnedSchedule make_bidirectional(const ScheduleRequest& request) {
  return make_ring(request, RingSchedule::Ways::Both);
}

OwnedSchedule make_recursive_doubling(const ScheduleRequest& request) {
  return std::make_unique<RecursiveDoublingSchedule>(request.nodes, request.elements,
                                                     combine_of(request), request.transport);
}

OwnedSchedule make_halving_doubling(const ScheduleRequest& request) {
  const auto [form, count] = form_of<HalvingDoublingSchedule::Form>(request);
  return std::make_unique<HalvingDoublingSchedule>(form, request.nodes, count, combine_of(request),
                                                   request.transport);
}

OwnedSchedule make_bruck(const ScheduleRequest& request) {
  const bool gathers = request.kind == OpKind::AllGather;
  return std::make_unique<BruckSchedule>(
      gathers ? BruckSchedule::Form::AllGather : BruckSchedule::Form::AllToAll, request.nodes,
      gathers ? request.elements : request.elements / request.nodes, request.transport);
}

OwnedSchedule make_pat(const ScheduleRequest& request) {
  const bool gathers = request.kind == OpKind::AllGather;
  return std::make_unique<PatSchedule>(
      request.nodes, gathers ? request.elements : request.elements / request.nodes,
      combine_of(request), request.transport);
}

OwnedSchedule make_tree(const ScheduleRequest& request) {
  return std::make_unique<TreeSchedule>(request.nodes, request.elements, combine_of(request),
                                        request.layout.together, request.transport);
}

OwnedSchedule make_direct(const ScheduleRequest& request) {
  return std::make_unique<DirectAllToAllSchedule>(request.nodes, request.elements / request.nodes,
                                                  request.transport);
}

OwnedSchedule make_pairwise(const ScheduleRequest& request) {
  return std::make_unique<PairwiseSchedule>(request.nodes, request.elements / request.nodes,
                                            request.transport);
}

OwnedSchedule make_permute(const ScheduleRequest& request) {
  return direct_permute(request.nodes, request.elements, request.pairs, request.transport);
}

OwnedSchedule make_ragged(const ScheduleRequest& request) {
  return std::make_unique<RaggedExchangeSchedule>(
      RaggedSlices{request.nodes, request.elements - request.initial, request.initial,
                   request.slices},
      request.transport);
}

/// Makes the schedule of a transfer: the first of two ranks sends to the second, and one rank alone
/// sends nothing.
OwnedSchedule make_transfer(const ScheduleRequest& request) {
  std::vector<SourceDestination> pairs;
  if (request.nodes == 2)
    pairs.push_back({Node(0), Node(1)});
  return direct_permute(request.nodes, request.elements, pairs, request.transport);
}

OwnedSchedule make_in_switch(const ScheduleRequest& request) {
  using Form = InSwitchSchedule::Form;
  const auto [form, count] = request.kind == OpKind::Pbroadcast
                                 ? std::pair(Form::Broadcast, request.elements)
                                 : form_of<Form>(request);
  return std::make_unique<InSwitchSchedule>(form, request.nodes, count, combine_of(request),
                                            request.source, request.transport);
}

OwnedSchedule make_one_shot(const ScheduleRequest& request) {
  const auto form = request.kind == OpKind::PsumScatter ? OneShotSchedule::Form::ReduceScatter
                                                        : OneShotSchedule::Form::AllReduce;
  return std::make_unique<OneShotSchedule>(form, request.nodes, request.elements,
                                           combine_of(request), request.transport);
}

/// Makes one round for each distance from the source, in growing order. In the round of distance 0
/// the source copies.
OwnedSchedule make_broadcast(const ScheduleRequest& request) {
  const Node source = request.source;
  const Slice sent{Area::Input, 0, request.elements};
  const Slice taken{Area::Output, 0, request.elements};
  std::vector<std::vector<DirectExchange>> rounds(request.nodes,
                                                  std::vector<DirectExchange>(request.nodes));
  for (uint32_t distance = 0; distance < request.nodes; ++distance) {
    const Node to((source.index() + distance) % request.nodes);
    rounds[distance][source.index()].to = to;
    rounds[distance][source.index()].source = sent;
    rounds[distance][to.index()].from = source;
    rounds[distance][to.index()].target = taken;
  }
  Extent areas;
  areas.input = request.elements;
  areas.output = request.elements;
  return std::make_unique<DirectSchedule>(areas, std::move(rounds), request.transport);
}

/// Returns the orders of the layout for chains that begin at the source. Its node comes first, and
/// in it the source. So no chain enters that node again at its end, and the chains still leave it
/// by different ranks.
SharedList<SharedList<uint32_t>> orders_from(uint32_t source, const Layout& layout) {
  if (layout.nodes.empty())
    return layout.orders;
  std::vector<SharedList<uint32_t>> orders;
  for (const SharedList<uint32_t>& given : layout.orders) {
    std::vector<uint32_t> order(given.begin(), given.end());
    const auto at = std::ranges::find(order, source);
    auto node = order.begin();
    for (auto ranks = layout.nodes.begin(); at - node >= *ranks; ++ranks)
      node += *ranks;
    std::rotate(node, at, at + 1);
    std::rotate(order.begin(), node, order.end());
    orders.emplace_back(std::move(order));
  }
  return orders;
}

OwnedSchedule make_chain(const ScheduleRequest& request) {
  const SharedList<SharedList<uint32_t>> rings = rings_of(request.layout);
  return std::make_unique<ChainSchedule>(
      request.nodes, request.elements, request.source, request.transport,
      rings.empty() ? orders_from(request.source.index(), request.layout) : rings);
}

/// Returns the pairs of a permutation.
std::vector<SourceDestination> pairs_of(const Op& op) {
  if (over_no_axes(op.attributes))
    return {{Node(0), Node(0)}};
  std::vector<SourceDestination> pairs;
  if (op.kind == OpKind::Pshuffle) {
    for (const int64_t source : op.attributes.integers("perm"))
      pairs.push_back({Node(static_cast<size_t>(source)), Node(pairs.size())});
  } else {
    for (const std::vector<int64_t>& pair : op.attributes.lists("perm"))
      pairs.push_back({Node(static_cast<size_t>(pair[0])), Node(static_cast<size_t>(pair[1]))});
  }
  return pairs;
}

}  // namespace

std::optional<std::string> too_many_channels(uint64_t channels) {
  if (channels <= kMostGroupChannels)
    return std::nullopt;
  return fmt::format("expected at most {} channels over all ranks of a group, got {}",
                     kMostGroupChannels, channels);
}

std::optional<VertexId> reducing_switch(const PlacedGroup& group) {
  const auto joined = [&](VertexId hub) {
    return std::all_of(group.ranks.begin(), group.ranks.end(), [&](VertexId rank) {
      return group.fabric.direct_link(rank, hub) && group.fabric.direct_link(hub, rank);
    });
  };
  const std::span<const VertexId> switches = group.fabric.reducing_switches();
  if (switches.empty())
    return std::nullopt;
  const std::vector<VertexId> near = group.fabric.neighbours(group.ranks.front());
  const auto found = std::find_if(near.begin(), near.end(), [&](VertexId hub) {
    return std::binary_search(switches.begin(), switches.end(), hub) && joined(hub);
  });
  return found == near.end() ? std::nullopt : std::optional(*found);
}

ScheduleRequest schedule_request(const Op& op, uint32_t nodes, int64_t elements,
                                 Transport transport) {
  ScheduleRequest request{exchanged_as(op.kind), nodes, elements, transport, {}, {}, 0, {}, {}};
  if (op.kind == OpKind::Ppermute || op.kind == OpKind::Pshuffle)
    request.pairs = pairs_of(op);
  if (op.kind == OpKind::Pbroadcast && !over_no_axes(op.attributes))
    request.source = Node(static_cast<size_t>(op.attributes.integer("source")));
  return request;
}

SharedList<ExchangedSlice> exchanged_slices(const RaggedGroup& group, int64_t row) {
  std::vector<ExchangedSlice> slices;
  for (size_t from = 0; from < group.ranks.size(); ++from) {
    const SliceTables& sender = group.ranks[from];
    for (size_t i = 0; i < sender.send_sizes.size(); ++i)
      if (sender.send_sizes[i] * row > 0)
        slices.push_back({Node(from), Node(i / group.slices_for_each()),
                          sender.input_offsets[i] * row, sender.output_offsets[i] * row,
                          sender.send_sizes[i] * row});
  }
  return slices;
}

std::unique_ptr<const SlicedSchedule> cut(std::unique_ptr<const Schedule> whole, int64_t stretch) {
  const auto* const ring = dynamic_cast<const RingSchedule*>(whole.get());
  if (ring == nullptr)
    return std::make_unique<const SlicedOver<>>(std::move(whole), stretch);
  whole.release();
  return std::make_unique<const SlicedOver<RingSchedule>>(std::unique_ptr<const RingSchedule>(ring),
                                                          stretch);
}

std::span<const Algorithm> algorithms() {
  static const std::vector<OpKind> kReductions = {OpKind::Psum, OpKind::Pmean,   OpKind::Pmax,
                                                  OpKind::Pmin, OpKind::Pargmax, OpKind::Pargmin};
  const auto reductions_and = [](std::initializer_list<OpKind> others) {
    std::vector<OpKind> kinds = kReductions;
    kinds.insert(kinds.end(), others);
    return kinds;
  };
  static const std::vector<OpKind> kReducesAndGathers =
      reductions_and({OpKind::AllGather, OpKind::PsumScatter});
  static const std::vector<OpKind> kInSwitch =
      reductions_and({OpKind::AllGather, OpKind::PsumScatter, OpKind::Pbroadcast});
  static const std::vector<OpKind> kReducesAndScatters = reductions_and({OpKind::PsumScatter});
  static const std::vector<OpKind> kExchanges = {OpKind::AllToAll, OpKind::Pswapaxes};
  static const std::vector<Algorithm> kTable = [] {
    std::vector<Algorithm> table = {
        {.name = "ring",
         .summary = "each rank sends to the next, chunk by chunk",
         .kinds = kReductions,
         .misfit = misfit,
         .make = make_one_way,
         .own_channels = one_an_order},
        {.name = "recursive_doubling",
         .summary = "ranks that differ in one bit exchange all they have, bit by bit",
         .kinds = kReductions,
         .misfit = misfit,
         .make = make_recursive_doubling},
        {.name = "ring",
         .summary = "each rank sends to the next, chunk by chunk",
         .kinds = {OpKind::AllGather, OpKind::PsumScatter},
         .misfit = misfit,
         .make = make_one_way,
         .own_channels = one_an_order},
        {.name = "bidirectional",
         .summary = "half of each chunk goes each way round the ring",
         .kinds = kReducesAndGathers,
         .misfit = misfit_bidirectional,
         .make = make_bidirectional,
         .set_aside = not_both_ways,
         .own_channels = one_an_order},
        {.name = "direct",
         .summary = "each rank sends to every other at once",
         .kinds = kExchanges,
         .misfit = misfit_direct,
         .make = make_direct,
         .channel_use = ChannelUse::WholeParts},
        {.name = "pairwise",
         .summary = "each rank sends to one other at a time, in turns",
         .kinds = kExchanges,
         .misfit = misfit,
         .make = make_pairwise,
         .channel_use = ChannelUse::WholeParts},
        {.name = "direct",
         .summary = "each source sends to its destination",
         .kinds = {OpKind::Ppermute, OpKind::Pshuffle},
         .misfit = misfit,
         .make = make_permute,
         .channel_use = ChannelUse::WholeParts},
        {.name = "direct",
         .summary = "each rank sends to every other at once the slices that have rows",
         .kinds = {OpKind::RaggedAllToAll},
         .misfit = misfit_direct,
         .make = make_ragged,
         .channel_use = ChannelUse::WholeParts,
         .cutting = Cutting::ByItself},
        {.name = "direct",
         .summary = "a source sends to its destination",
         .kinds = {OpKind::Psend},
         .misfit = misfit,
         .make = make_transfer,
         .channel_use = ChannelUse::WholeParts},
        {.name = "direct",
         .summary = "the source sends to every other at once",
         .kinds = {OpKind::Pbroadcast},
         .misfit = misfit_direct,
         .make = make_broadcast,
         .channel_use = ChannelUse::WholeParts},
        {.name = "ring",
         .summary = "each rank sends to the next, from the source on, piece by piece",
         .kinds = {OpKind::Pbroadcast},
         .misfit = misfit,
         .make = make_chain,
         .channel_use = ChannelUse::EvenSharesForEachRank,
         .pieces = kPiecesOfChain,
         .own_channels = one_a_chain},
        {.name = "in_switch",
         .summary = "the switch folds what the ranks send, and sends them copies",
         .kinds = kInSwitch,
         .misfit = misfit_in_switch,
         .make = make_in_switch,
         .switches_of = switches_of_one,
         .pieces = kPiecesOfChain},
        {.name = "halving_doubling",
         .summary =
             "ranks that differ in one bit exchange halves and fold, or double what they have",
         .kinds = kReducesAndGathers,
         .misfit = misfit,
         .make = make_halving_doubling,
         .cutting = Cutting::ByItself,
         .considered_on = has_levels},
        {.name = "bruck",
         .summary = "parts go 1, 2, 4, ... ranks further in log2 n rounds: for small messages",
         .kinds = {OpKind::AllGather, OpKind::AllToAll, OpKind::Pswapaxes},
         .misfit = misfit,
         .make = make_bruck,
         .cutting = Cutting::ByItself,
         .considered_on = has_levels},
        {.name = "pat",
         .summary = "parts go along trees: far ranks exchange the fewest, near ones half of them",
         .kinds = {OpKind::AllGather, OpKind::PsumScatter},
         .misfit = misfit,
         .make = make_pat,
         .cutting = Cutting::ByItself,
         .considered_on = has_levels},
        {.name = "tree",
         .summary = "halves of the data go up two trees, folded piece by piece, and down again",
         .kinds = kReductions,
         .misfit = misfit_tree,
         .make = make_tree,
         .set_aside = in_one_node,
         .pieces = kPiecesOfTree,
         .own_channels = pair_a_rank,
         .considered_on = has_nodes},
        {.name = "one_shot",
         .summary = "each rank sends to every other at once, and folds what it gets in group order",
         .kinds = kReducesAndScatters,
         .misfit = misfit_direct,
         .make = make_one_shot,
         .set_aside = only_by_name,
         .channel_use = ChannelUse::WholeParts},
    };
    const std::vector<Algorithm> staged =
        staged_algorithms(kReductions, kReducesAndGathers, kExchanges);
    table.insert(table.end(), staged.begin(), staged.end());
    return table;
  }();
  return kTable;
}

SharedList<VertexId> vertices_of_nodes(const Algorithm& algorithm, const Schedule& schedule,
                                       const PlacedGroup& group) {
  std::vector<VertexId> vertices(group.ranks.begin(), group.ranks.end());
  if (const uint32_t nodes = schedule.extent().switch_nodes; nodes > 0) {
    const std::vector<VertexId> switches = algorithm.switches_of(group, nodes);
    vertices.insert(vertices.end(), switches.begin(), switches.end());
  }
  return vertices;
}

std::vector<const Algorithm*> algorithms_for(OpKind kind) {
  std::vector<const Algorithm*> result;
  for (const Algorithm& algorithm : algorithms())
    for (const OpKind served : algorithm.kinds)
      if (served == exchanged_as(kind))
        result.push_back(&algorithm);
  return result;
}

std::vector<OpKind> ops_of(const Algorithm& algorithm) {
  std::vector<OpKind> result;
  for (const OpKind served : algorithm.kinds)
    for (const OpRules& op : all_rules())
      if (takes_algorithm(op) && exchanged_as(op.kind) == served)
        result.push_back(op.kind);
  return result;
}

}  // namespace orrery
