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

/// Executors number the channels. Their memory depends on the window too: Limits::state.
constexpr uint64_t kMostChannels = uint64_t{1} << 22U;
/// Up to this size, a rank may have a channel for each other rank. The table of exchanges then
/// takes about 80 MB.
constexpr uint32_t kMostDirectRanks = 1024;

// Each misfit function returns why a group cannot run an algorithm, or nothing if it can.

std::optional<std::string> too_many_channels(uint64_t channels) {
  if (channels <= kMostChannels)
    return std::nullopt;
  return fmt::format("expected at most {} channels over all ranks of a group, got {}",
                     kMostChannels, channels);
}

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

/// Returns the lowest switch that reduces and has a link to each rank and from it.
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

/// A ring gains by going back only over links that the way on leaves idle. Behind a switch, both
/// ways share each rank's links.
std::optional<std::string> not_both_ways(const PlacedGroup& group, const Hints& asked) {
  if (asked.channels)
    return "the op gives its channels, and it has twice as many";
  const size_t ranks = group.ranks.size();
  if (ranks <= 2)
    return "two ranks have one link each way";
  for (size_t r = 0; r < ranks; ++r) {
    const VertexId rank = group.ranks[r];
    const VertexId next = group.ranks[(r + 1) % ranks];
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

OwnedSchedule make_ring(const ScheduleRequest& request, RingSchedule::Ways ways) {
  const auto [form, count] = form_of<RingSchedule::Form>(request);
  return std::make_unique<RingSchedule>(form, request.nodes, count, combine_of(request),
                                        request.transport, ways);
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
                                        request.together, request.transport);
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

OwnedSchedule make_chain(const ScheduleRequest& request) {
  return std::make_unique<ChainSchedule>(request.nodes, request.elements, request.source,
                                         request.transport);
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

ScheduleRequest schedule_request(const Op& op, uint32_t nodes, int64_t elements,
                                 Transport transport) {
  ScheduleRequest request{exchanged_as(op.kind), nodes, elements, transport, {}, {}, 0, {}};
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

std::span<const Algorithm> algorithms() {
  static const std::vector<OpKind> kReductions = {OpKind::Psum, OpKind::Pmean,   OpKind::Pmax,
                                                  OpKind::Pmin, OpKind::Pargmax, OpKind::Pargmin};
  static const std::vector<OpKind> kReducesAndGathers = [] {
    std::vector<OpKind> kinds = kReductions;
    kinds.insert(kinds.end(), {OpKind::AllGather, OpKind::PsumScatter});
    return kinds;
  }();
  static const std::vector<Algorithm> kTable = {
      {"ring", "each rank sends to the next, chunk by chunk", kReductions, misfit, make_one_way},
      {"recursive_doubling", "ranks that differ in one bit exchange all they have, bit by bit",
       kReductions, misfit, make_recursive_doubling},
      {"ring",
       "each rank sends to the next, chunk by chunk",
       {OpKind::AllGather, OpKind::PsumScatter},
       misfit,
       make_one_way},
      {"bidirectional", "half of each chunk goes each way round the ring", kReducesAndGathers,
       misfit_bidirectional, make_bidirectional, nullptr, not_both_ways},
      {"direct",
       "each rank sends to every other at once",
       {OpKind::AllToAll, OpKind::Pswapaxes},
       misfit_direct,
       make_direct,
       nullptr,
       nullptr,
       ChannelUse::WholeParts},
      {"pairwise",
       "each rank sends to one other at a time, in turns",
       {OpKind::AllToAll, OpKind::Pswapaxes},
       misfit,
       make_pairwise,
       nullptr,
       nullptr,
       ChannelUse::WholeParts},
      {"direct",
       "each source sends to its destination",
       {OpKind::Ppermute, OpKind::Pshuffle},
       misfit,
       make_permute,
       nullptr,
       nullptr,
       ChannelUse::WholeParts},
      {"direct",
       "each rank sends to every other at once the slices that have rows",
       {OpKind::RaggedAllToAll},
       misfit_direct,
       make_ragged,
       nullptr,
       nullptr,
       ChannelUse::WholeParts,
       Cutting::ByItself},
      {"direct",
       "a source sends to its destination",
       {OpKind::Psend},
       misfit,
       make_transfer,
       nullptr,
       nullptr,
       ChannelUse::WholeParts},
      {"direct",
       "the source sends to every other at once",
       {OpKind::Pbroadcast},
       misfit_direct,
       make_broadcast,
       nullptr,
       nullptr,
       ChannelUse::WholeParts},
      {"ring",
       "each rank sends to the next, from the source on, piece by piece",
       {OpKind::Pbroadcast},
       misfit,
       make_chain,
       nullptr,
       nullptr,
       ChannelUse::EvenSharesForEachRank,
       Cutting::InIterations,
       true},
      {"in_switch",
       "the switch folds what the ranks send, and sends them copies",
       {OpKind::Psum, OpKind::Pmean, OpKind::Pmax, OpKind::Pmin, OpKind::Pargmax, OpKind::Pargmin,
        OpKind::AllGather, OpKind::PsumScatter, OpKind::Pbroadcast},
       misfit_in_switch,
       make_in_switch,
       reducing_switch,
       nullptr,
       ChannelUse::EvenShares,
       Cutting::InIterations,
       true},
      {"halving_doubling",
       "ranks that differ in one bit exchange halves and fold, or double what they have",
       kReducesAndGathers, misfit, make_halving_doubling, nullptr, nullptr, ChannelUse::EvenShares,
       Cutting::ByItself, false, true},
      {"bruck",
       "parts go 1, 2, 4, ... ranks further in log2 n rounds: for small messages",
       {OpKind::AllGather, OpKind::AllToAll, OpKind::Pswapaxes},
       misfit,
       make_bruck,
       nullptr,
       nullptr,
       ChannelUse::EvenShares,
       Cutting::ByItself,
       false,
       true},
      {"pat",
       "parts go along trees: far ranks exchange the fewest, near ones half of them",
       {OpKind::AllGather, OpKind::PsumScatter},
       misfit,
       make_pat,
       nullptr,
       nullptr,
       ChannelUse::EvenShares,
       Cutting::ByItself,
       false,
       true},
      {"tree", "halves of the data go up two trees, folded piece by piece, and down again",
       kReductions, misfit_tree, make_tree, nullptr, nullptr, ChannelUse::EvenShares,
       Cutting::InIterations, true, true},
      {"one_shot",
       "each rank sends to every other at once, and folds what it gets in group order",
       {OpKind::Psum, OpKind::Pmean, OpKind::Pmax, OpKind::Pmin, OpKind::Pargmax, OpKind::Pargmin,
        OpKind::PsumScatter},
       misfit_direct,
       make_one_shot,
       nullptr,
       only_by_name,
       ChannelUse::WholeParts},
  };
  return kTable;
}

SharedList<VertexId> vertices_of_nodes(const Algorithm& algorithm, const Schedule& schedule,
                                       const PlacedGroup& group) {
  std::vector<VertexId> vertices(group.ranks.begin(), group.ranks.end());
  if (const uint32_t nodes = schedule.extent().switch_nodes; nodes > 0)
    vertices.insert(vertices.end(), nodes, algorithm.switch_of(group).value());
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
