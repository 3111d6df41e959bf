#pragma once

// This is the table of algorithms. Lowering chooses from it, and `orrery show` lists it.
//
// A ScheduleRequest states a collective of one group: how it exchanges, the ranks, the elements and
// the Transport (channels, slots, entry). An Algorithm makes a Schedule for it. A row of the table
// (algorithms.cc) states when that is possible and when it is tried:
//   misfit      returns why a group cannot run the algorithm: too many channels, no switch
//   make        makes the Schedule of a group that fits
//   set_aside   returns why lowering does not time the algorithm if the scenario names none
//
// Each algorithm has a Schedule class in a header of its own; chunks.h has what they share. A class
// computes each step from its node, channel and number, so it stores no steps. The class states
//   step           what a step reads and stores, and its sender and receiver
//   peer           the step at the other end of a message
//   takes_slot_of  the step that must free the slot of a message first
//   extent         the areas, the channels, and how far channels run ahead of each other
// A class says nothing of time: simulator/time walks its steps by simulator/schedule/causes.h.
//
// To add an algorithm, write its class and add a row to the table.

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/base/shared_list.h"
#include "models/fabric/fabric.h"
#include "models/program/op.h"
#include "models/program/ragged.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/algorithm/direct.h"
#include "simulator/algorithm/ragged_exchange.h"
#include "simulator/schedule/schedule.h"
#include "simulator/schedule/sliced_schedule.h"

namespace orrery {

/// Rings over all links of a torus of so many ranks are searched for in less than 1 s.
inline constexpr uint32_t kMostRanksInRings = 1024;

/// A Layout says how the ranks of a group lie on the fabric, as far as algorithms use it. Lowering
/// finds it (lower/groupings.h).
struct Layout {
  /// So many consecutive ranks are on one node of the topology "nodes". The last node may have
  /// fewer.
  uint32_t together = 1;
  /// The sizes of the axes of a torus that the ranks fill, in any order of the axes: the last one
  /// is that along which ranks follow each other. It is empty elsewhere.
  SharedList<uint32_t> axes = {};
  /// Whether these are several, each of them a ring of three ranks or more, and at most
  /// kMostRanksInRings ranks. Then rings of all ranks may use all links (torus_rings,
  /// hierarchical.h).
  bool wraps = false;
  /// The orders of the ranks in which rings use different links: channel c of a ring or of a chain
  /// has order c mod their number. If there are none, they go by rank.
  SharedList<SharedList<uint32_t>> orders = {};
  /// If orders go from node to node: how many ranks of each node follow each other. All orders have
  /// the same nodes at the same places.
  SharedList<uint32_t> nodes = {};

  friend bool operator==(const Layout&, const Layout&) = default;
  friend auto operator<=>(const Layout&, const Layout&) = default;
};

/// A `ScheduleRequest` is all that a schedule depends on besides its algorithm. Equal requests give
/// equal schedules.
struct ScheduleRequest {
  OpKind kind = OpKind::Psum;
  uint32_t nodes = 1;    // ranks
  int64_t elements = 0;  // of one node's operand
  Transport transport;
  Node source;                           // of a broadcast
  std::vector<SourceDestination> pairs;  // of a permutation
  int64_t initial = 0;  // the last so many elements of the operand are the result's initial ones
  SharedList<ExchangedSlice> slices = {};  // of a ragged exchange
  Layout layout;
  friend bool operator==(const ScheduleRequest&, const ScheduleRequest&) = default;
  friend auto operator<=>(const ScheduleRequest&, const ScheduleRequest&) = default;

  /// Returns whether the request names single ranks. Then there is no such request for fewer ranks.
  bool names_ranks() const { return !pairs.empty() || !slices.empty(); }
};

/// Returns the request for a collective op over a group of `nodes`, whose operand has `elements`.
ScheduleRequest schedule_request(const Op& op, uint32_t nodes, int64_t elements,
                                 Transport transport);

/// Returns the slices of a group, by its senders' tables. Each row has `row` elements. Requires
/// tables whose slices lie in their arrays.
SharedList<ExchangedSlice> exchanged_slices(const RaggedGroup& group, int64_t row);

/// This is a group on a fabric.
struct PlacedGroup {
  const Fabric& fabric;
  std::span<const VertexId> ranks;  // where each rank is
  uint32_t channels = 1;            // Transport::channels
  Layout layout = {};
};

/// Says how the number of channels follows from a protocol's channel_bytes, and which part of a
/// message each channel takes. The protocol also has its own limit on channels.
enum class ChannelUse : uint8_t {
  /// Each channel takes an even share of each message. There are as many channels as leave at least
  /// channel_bytes to each share of the largest message.
  EvenShares,
  /// The same, but a share has at least channel_bytes for each rank of the group. The message of a
  /// chain is all of the data, and that of a ring is one rank's part. Libraries count by parts in
  /// both (NCCL 2.30.7 src/graph/tuning.cc, the thread threshold of its ring).
  EvenSharesForEachRank,
  /// Each rank sends to each of its peers by itself. A channel takes channel_bytes of a message
  /// before the next channel takes any (Transport::whole_part).
  WholeParts,
};

/// Says who cuts messages that are larger than a slot.
enum class Cutting : uint8_t {
  InIterations,  // SlicedSchedule does: messages of about the same size go on in step
  ByItself,      // the algorithm does, by Transport::largest: its messages may differ in size
};

/// Into how many pieces a message is cut if neither slots nor the protocol's pieces cut it, so that
/// nodes send one piece on while the next arrives. No piece is smaller than `least`. The numbers
/// are ours.
struct PieceRule {
  int64_t most = 1;
  Bytes least;
  friend auto operator<=>(const PieceRule&, const PieceRule&) = default;
};
/// With 512 pieces a chain of 32 ranks takes 6 % longer than its slowest link is busy. A piece of
/// 64 KiB takes about as long as a message's latency.
inline constexpr PieceRule kPiecesOfChain = {512, Bytes(int64_t{64} << 10)};
/// A tree takes the time of a piece for each message of its longest chain, besides the latencies.
/// So of 4 MiB the smaller pieces take less: 81 us instead of 96 on 64 nodes of 8. With smaller
/// ones yet it takes 73 us, and twice as long to simulate.
inline constexpr PieceRule kPiecesOfTree = {256, Bytes(int64_t{32} << 10)};
/// Trees between nodes are not as deep.
inline constexpr PieceRule kPiecesOfTrees = {128, Bytes(int64_t{64} << 10)};
/// A rank of a ring of a stage has two messages under way (StagedForm::pieces), so each one should
/// take as long as a latency. Rings of stages have several units to overlap, besides the pieces.
inline constexpr PieceRule kPiecesOfStages = {16, Bytes(int64_t{2} << 20)};

/// The name of all algorithms that run one algorithm in nodes and one between them.
inline constexpr std::string_view kHierarchical = "hierarchical";

struct Algorithm {
  std::string_view name;     // the scenario's "algorithm"; "a+b": a in nodes, b between them
  std::string_view summary;  // one line for `orrery show` and the documentation
  std::vector<OpKind> kinds;
  /// Returns why the group cannot run it, as "expected ..., got ...". The result is empty if the
  /// group can.
  std::optional<std::string> (*misfit)(const PlacedGroup& group);
  std::unique_ptr<const Schedule> (*make)(const ScheduleRequest& request);
  /// Returns the switch of each of the schedule's `nodes` switch nodes, for a group that fits. Null
  /// if the algorithm has none.
  std::vector<VertexId> (*switches_of)(const PlacedGroup& group, uint32_t nodes) = nullptr;
  /// Returns why the algorithm is not considered for the group unless the scenario names it. The
  /// result is empty if the algorithm is considered. Null: it always is.
  std::optional<std::string> (*set_aside)(const PlacedGroup& group, const Hints& asked) = nullptr;
  ChannelUse channel_use = ChannelUse::EvenShares;
  Cutting cutting = Cutting::InIterations;
  PieceRule pieces = {};
  /// Returns how many channels it has if neither the op nor the protocol says so: as many as use
  /// all NICs of a node. Null: one.
  uint32_t (*own_channels)(const Layout& layout) = nullptr;
  /// Returns whether lowering considers the algorithm on such a topology. Where it does not, the
  /// scenario must name it; reports do not say so each time. Null: it is considered on all.
  bool (*considered_on)(const Topology& topology) = nullptr;
  bool is_considered_on(const Fabric& fabric) const {
    return considered_on == nullptr || considered_on(fabric.topology());
  }

  /// Returns whether a scenario that asks for `asked` may get the algorithm: by its name, or by
  /// "hierarchical" if it is one of nodes and between them.
  bool is_called(std::string_view asked) const {
    return name == asked || (asked == kHierarchical && name.find('+') != std::string_view::npos);
  }

  /// Returns whether the algorithm is for topologies like that of the fabric. Null: for all.
  bool (*is_for_topology)(const Topology& topology) = nullptr;
  bool is_for(const Fabric& fabric) const {
    return is_for_topology == nullptr || is_for_topology(fabric.topology());
  }

  /// Returns whether some group of the fabric may fit, as far as its topology and switches go.
  bool offered_on(const Fabric& fabric) const {
    if (!is_for(fabric))
      return false;
    return switches_of == nullptr || !fabric.reducing_switches().empty();
  }
};

/// Returns the schedule that runs in the place of `made`, which is what the algorithm made for the
/// request; it may be `made` itself. It has the nodes and the areas of `made`.
using ReplaceSchedule = std::function<std::shared_ptr<const Schedule>(
    const Algorithm& algorithm, const ScheduleRequest& request,
    std::shared_ptr<const Schedule> made)>;

/// Executors number the channels of all ranks of a group: it may have so many. Their memory depends
/// on the window too: Limits::state.
inline constexpr uint64_t kMostGroupChannels = uint64_t{1} << 22U;
/// Returns why a group may not have so many channels.
std::optional<std::string> too_many_channels(uint64_t channels);
/// Up to this size, a rank may have a channel for each other rank. The table of exchanges then
/// takes about 80 MB.
inline constexpr uint32_t kMostDirectRanks = 1024;

/// Returns the lowest switch that reduces and has a link to each rank of the group and from it.
std::optional<VertexId> reducing_switch(const PlacedGroup& group);

/// Returns where each node of the algorithm's schedule for the group is: the ranks, then the switch
/// nodes. Requires that the group fits.
SharedList<VertexId> vertices_of_nodes(const Algorithm& algorithm, const Schedule& schedule,
                                       const PlacedGroup& group);

/// Returns the schedule with its messages cut. A ring stays one that the sweep knows.
std::unique_ptr<const SlicedSchedule> cut(std::unique_ptr<const Schedule> whole, int64_t stretch);

/// Returns the table, in order of preference where times are equal.
std::span<const Algorithm> algorithms();

/// Returns the algorithms that serve the exchange of the kind, in table order. Requires a
/// collective.
std::vector<const Algorithm*> algorithms_for(OpKind kind);

/// Returns the ops that may ask for the algorithm by its name. Each of its kinds is followed by the
/// other ops that exchange as it does.
std::vector<OpKind> ops_of(const Algorithm& algorithm);

}  // namespace orrery
