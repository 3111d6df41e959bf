#include "simulator/algorithm/algorithms.h"

#include <bit>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/pairwise.h"
#include "simulator/algorithm/recursive_doubling.h"
#include "simulator/algorithm/ring.h"

namespace orrery {
namespace {

using Made = std::unique_ptr<const Schedule>;

/// Walkers keep a few dozen bytes for each channel of each rank: some 200 MB at this many.
constexpr uint64_t kMostChannels = uint64_t{1} << 22U;
/// A rank's connections to all others are a channel each up to here, where the table of its
/// exchanges has some 80 MB.
constexpr uint32_t kMostDirectRanks = 1024;
/// Up to here a rank's connections to all others are assumed to fit a device.
constexpr uint32_t kFewRanks = 64;

Verdict fits_channels(uint64_t channels) {
  if (channels <= kMostChannels)
    return Verdict::yes();
  return Verdict::no(fmt::format("expected at most {} channels over all ranks of a group, got {}",
                                 kMostChannels, channels));
}

Verdict fits(uint32_t nodes, uint32_t channels) {
  return fits_channels(uint64_t{nodes} * channels);
}

Verdict fits_direct(uint32_t nodes, uint32_t channels) {
  if (nodes > kMostDirectRanks)
    return Verdict::no(
        fmt::format("expected groups of at most {} ranks, got {}", kMostDirectRanks, nodes));
  return fits_channels(uint64_t{nodes} * nodes * channels);
}

Combine combine_of(const ScheduleRequest& request) {
  return rules(request.op.kind).form.combine;
}

Made make_ring(const ScheduleRequest& request) {
  switch (request.op.kind) {
    case OpKind::AllGather:
      return std::make_unique<RingSchedule>(RingSchedule::Form::AllGather, request.nodes,
                                            request.nodes * request.elements, combine_of(request),
                                            request.transport);
    case OpKind::PsumScatter:
      return std::make_unique<RingSchedule>(RingSchedule::Form::ReduceScatter, request.nodes,
                                            request.elements, combine_of(request),
                                            request.transport);
    default:
      return std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, request.nodes,
                                            request.elements, combine_of(request),
                                            request.transport);
  }
}

Duration hop_time(const Hop& hop, Bytes size) {
  return hop.latency + transfer_time(size, hop.bandwidth);
}

/// 2(n-1) hops to the next rank, each with the largest chunk (Patarasuk and Yuan, 2009).
Duration estimate_ring(const EstimateRequest& request) {
  const int64_t chunk = ceil_divide(request.elements, int64_t{request.nodes});
  return hop_time(request.hops[0], request.itemsize * chunk) * (2 * (int64_t{request.nodes} - 1));
}

Made make_recursive_doubling(const ScheduleRequest& request) {
  return std::make_unique<RecursiveDoublingSchedule>(request.nodes, request.elements,
                                                     combine_of(request), request.transport);
}

/// floor(log2 n) hops with all the data, each twice as far as the one before (Thakur, Rabenseifner
/// and Gropp, 2005), and two more between neighbours where n is not a power of two.
Duration estimate_recursive_doubling(const EstimateRequest& request) {
  const Bytes size = request.itemsize * request.elements;
  Duration total;
  if (!std::has_single_bit(request.nodes))
    total = hop_time(request.hops[0], size) * 2;
  for (size_t k = 0; uint64_t{2} << k <= request.nodes; ++k)
    total += hop_time(request.hops[k], size);
  return total;
}

Made make_direct(const ScheduleRequest& request) {
  return std::make_unique<DirectAllToAllSchedule>(request.nodes, request.elements / request.nodes,
                                                  request.transport);
}

Made make_pairwise(const ScheduleRequest& request) {
  return std::make_unique<PairwiseSchedule>(request.nodes, request.elements / request.nodes,
                                            request.transport);
}

Made make_permute(const ScheduleRequest& request) {
  const Attributes& given = request.op.attributes;
  std::vector<SourceDestination> pairs;
  if (given.names("axis_name").empty()) {
    pairs = {{Node(0), Node(0)}};  // the identity, whatever `perm` says
  } else if (request.op.kind == OpKind::Pshuffle) {
    for (const int64_t source : given.integers("perm"))
      pairs.push_back({Node(static_cast<size_t>(source)), Node(pairs.size())});
  } else {
    for (const std::vector<int64_t>& pair : given.lists("perm"))
      pairs.push_back({Node(static_cast<size_t>(pair[0])), Node(static_cast<size_t>(pair[1]))});
  }
  return direct_permute(request.nodes, request.elements, pairs, request.transport);
}

/// A round for each distance from the source, in growing order; that of distance 0 copies.
Made make_broadcast(const ScheduleRequest& request) {
  const Attributes& given = request.op.attributes;
  const auto source = given.names("axis_name").empty()  // the identity, whatever `source` says
                          ? 0U
                          : static_cast<uint32_t>(given.integer("source"));
  const Slice sent{Area::Input, 0, request.elements};
  const Slice taken{Area::Output, 0, request.elements};
  std::vector<std::vector<Turn>> rounds(request.nodes, std::vector<Turn>(request.nodes));
  for (uint32_t distance = 0; distance < request.nodes; ++distance) {
    const Node to((source + distance) % request.nodes);
    rounds[distance][source].to = to;
    rounds[distance][source].source = sent;
    rounds[distance][to.index()].from = Node(source);
    rounds[distance][to.index()].target = taken;
  }
  Extent areas;
  areas.input = request.elements;
  areas.output = request.elements;
  return std::make_unique<DirectSchedule>(areas, std::move(rounds), request.transport);
}

}  // namespace

std::span<const Algorithm> algorithms() {
  static const std::vector<OpKind> kReductions = {OpKind::Psum, OpKind::Pmean,   OpKind::Pmax,
                                                  OpKind::Pmin, OpKind::Pargmax, OpKind::Pargmin};
  static const std::vector<Algorithm> kTable = {
      {"ring",
       "each rank sends to the next, chunk by chunk",
       kReductions,
       fits,
       make_ring,
       estimate_ring,
       {}},
      {"recursive_doubling",
       "ranks that differ in one bit exchange all they have, bit by bit",
       kReductions,
       fits,
       make_recursive_doubling,
       estimate_recursive_doubling,
       {}},
      {"ring",
       "each rank sends to the next, chunk by chunk",
       {OpKind::AllGather, OpKind::PsumScatter},
       fits,
       make_ring,
       nullptr,
       {}},
      {"direct",
       "each rank sends to every other at once",
       {OpKind::AllToAll, OpKind::Pswapaxes},
       fits_direct,
       make_direct,
       nullptr,
       kFewRanks},
      {"pairwise",
       "each rank sends to one other at a time, in turns",
       {OpKind::AllToAll, OpKind::Pswapaxes},
       fits,
       make_pairwise,
       nullptr,
       {}},
      {"direct",
       "each source sends to its destination",
       {OpKind::Ppermute, OpKind::Pshuffle},
       fits,
       make_permute,
       nullptr,
       {}},
      {"direct",
       "the source sends to every other at once",
       {OpKind::Pbroadcast},
       fits_direct,
       make_broadcast,
       nullptr,
       {}},
  };
  return kTable;
}

std::vector<const Algorithm*> algorithms_for(OpKind kind) {
  std::vector<const Algorithm*> result;
  for (const Algorithm& algorithm : algorithms())
    for (const OpKind served : algorithm.kinds)
      if (served == kind)
        result.push_back(&algorithm);
  return result;
}

}  // namespace orrery
