#pragma once

// The table of algorithms. Lowering chooses from it, and `orrery show` lists it.

#include <compare>
#include <cstdint>
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

namespace orrery {

/// Everything that a schedule depends on besides its algorithm: equal requests give equal
/// schedules.
struct ScheduleRequest {
  OpKind kind = OpKind::Psum;
  uint32_t nodes = 1;    // ranks
  int64_t elements = 0;  // of one node's operand
  Transport transport;
  Node source;                           // of a broadcast
  std::vector<SourceDestination> pairs;  // of a permutation
  int64_t initial = 0;  // of the elements, the last so many are what the result begins as
  SharedList<ExchangedSlice> slices = {};  // of a ragged exchange
  friend bool operator==(const ScheduleRequest&, const ScheduleRequest&) = default;
  friend auto operator<=>(const ScheduleRequest&, const ScheduleRequest&) = default;

  /// Whether it names single ranks, so that there is no such request for fewer of them.
  bool names_ranks() const { return !pairs.empty() || !slices.empty(); }
};

/// The request for a collective op over a group of `nodes`, whose operand has `elements`.
ScheduleRequest schedule_request(const Op& op, uint32_t nodes, int64_t elements,
                                 Transport transport);

/// The slices of a group, by its senders' tables, each row of `row` elements. Requires tables whose
/// slices lie in their arrays.
SharedList<ExchangedSlice> exchanged_slices(const RaggedGroup& group, int64_t row);

/// A group on a fabric.
struct PlacedGroup {
  const Fabric& fabric;
  std::span<const VertexId> ranks;  // where each of them is
  uint32_t channels = 1;            // Transport::channels
};

/// When an algorithm is timed with the others of its op. One that the scenario names is always
/// used.
enum class Considered : uint8_t {
  Always,
  /// Only with a protocol that cuts messages to slots: it is made to send on one piece while the
  /// next arrives. Where the scenario does not say how messages are cut, it would be slow.
  WithSlots,
  /// Never: it is there for the order in which it folds.
  ByName,
};

/// How many channels a protocol's channel_bytes gives, and what each takes of a message. A protocol
/// has its own limit besides.
enum class ChannelUse : uint8_t {
  /// So many that each has a message of at least channel_bytes. They share messages evenly.
  EvenShares,
  /// The same, but each has at least channel_bytes for each rank of the group. A chain's message
  /// is all of the data, where a ring's is a rank's part of it, and libraries count by parts in
  /// both (NCCL 2.30.7 src/graph/tuning.cc, the thread threshold of its ring).
  EvenSharesForEachRank,
  /// Each rank sends to each of its peers by itself: a channel takes channel_bytes of a message
  /// before the next takes any (Transport::whole_part).
  WholeParts,
};

/// Who cuts messages that are larger than a slot.
enum class Cutting : uint8_t {
  InIterations,  // SlicedSchedule: messages that are about as large go on in step
  ByItself,      // the algorithm, by Transport::largest: its messages have any sizes
};

struct Algorithm {
  std::string_view name;     // the scenario's "algorithm"
  std::string_view summary;  // one line for `orrery show` and the documentation
  std::vector<OpKind> kinds;
  /// Why the group cannot run it: "expected ..., got ..."; empty if it can.
  std::optional<std::string> (*misfit)(const PlacedGroup& group);
  std::unique_ptr<const Schedule> (*make)(const ScheduleRequest& request);
  /// Where its switch nodes are, for a group that it fits. Null: it has none.
  std::optional<VertexId> (*switch_of)(const PlacedGroup& group) = nullptr;
  Considered considered = Considered::Always;
  ChannelUse channel_use = ChannelUse::EvenShares;
  Cutting cutting = Cutting::InIterations;

  /// Whether some group of the fabric may fit, as far as its switches go.
  bool offered_on(const Fabric& fabric) const {
    return switch_of == nullptr || !fabric.reducing_switches().empty();
  }
};

/// Where each node of the algorithm's schedule for the group is: the ranks, then the switch nodes.
/// Requires that it fits.
SharedList<VertexId> vertices_of_nodes(const Algorithm& algorithm, const Schedule& schedule,
                                       const PlacedGroup& group);

/// In order of preference where times are equal.
std::span<const Algorithm> algorithms();

/// Those that serve what the kind exchanges, in table order. Requires a collective.
std::vector<const Algorithm*> algorithms_for(OpKind kind);

/// The ops that may ask for the algorithm by its name: those of its kinds, each before others that
/// exchange as it does.
std::vector<OpKind> ops_of(const Algorithm& algorithm);

}  // namespace orrery
