#pragma once

// The algorithms there are: one table, from which lowering chooses and `orrery show` lists.

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/base/verdict.h"
#include "models/program/op.h"
#include "simulator/algorithm/chunks.h"
#include "simulator/algorithm/direct.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// All that a schedule depends on beside its algorithm: equal requests make equal schedules.
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

/// Of a collective op over a group of `nodes`, whose operand has `elements`.
ScheduleRequest schedule_request(const Op& op, uint32_t nodes, int64_t elements,
                                 Transport transport);

struct Algorithm {
  std::string_view name;     // the scenario's "algorithm"
  std::string_view summary;  // one line for `orrery show` and the documentation
  std::vector<OpKind> kinds;
  /// Whether it can serve a group of so many, each with so many channels (Transport::channels).
  Verdict (*fits)(uint32_t nodes, uint32_t channels);
  std::unique_ptr<const Schedule> (*make)(const ScheduleRequest& request);
};

/// In order of preference among equals.
std::span<const Algorithm> algorithms();

/// Those that serve the kind, in table order.
std::vector<const Algorithm*> algorithms_for(OpKind kind);

}  // namespace orrery
