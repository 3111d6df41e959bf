#pragma once

// The table of algorithms. Lowering chooses from it, and `orrery show` lists it.

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/base/answer.h"
#include "models/program/op.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/algorithm/direct.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// Everything that a schedule depends on besides its algorithm: equal requests give equal
/// schedules.
struct ScheduleRequest {
  OpKind kind = OpKind::Psum;
  uint32_t nodes = 1;
  int64_t elements = 0;  // of one node's operand
  Transport transport;
  Node source;                           // of a broadcast
  std::vector<SourceDestination> pairs;  // of a permutation
  friend bool operator==(const ScheduleRequest&, const ScheduleRequest&) = default;
  friend auto operator<=>(const ScheduleRequest&, const ScheduleRequest&) = default;
};

/// The request for a collective op over a group of `nodes`, whose operand has `elements`.
ScheduleRequest schedule_request(const Op& op, uint32_t nodes, int64_t elements,
                                 Transport transport);

struct Algorithm {
  std::string_view name;     // the scenario's "algorithm"
  std::string_view summary;  // one line for `orrery show` and the documentation
  std::vector<OpKind> kinds;
  /// Whether it supports groups of this size, each rank with this many channels
  /// (Transport::channels).
  Answer (*fits)(uint32_t nodes, uint32_t channels);
  std::unique_ptr<const Schedule> (*make)(const ScheduleRequest& request);
};

/// In order of preference where times are equal.
std::span<const Algorithm> algorithms();

/// Those that serve the kind, in table order.
std::vector<const Algorithm*> algorithms_for(OpKind kind);

}  // namespace orrery
