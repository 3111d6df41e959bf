#pragma once

// Turns the rows of tables of nccl-tests into calls that can be timed on a cluster.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/call.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

struct MeasuredTime {
  Duration time;  // more than 0
  bool in_place = false;
  friend bool operator==(const MeasuredTime&, const MeasuredTime&) = default;
};

struct MeasuredCall {
  NcclCall call;
  std::shared_ptr<const Program> program;  // program_of(call)
  Bytes size;                              // that of the row
  uint32_t gpus_of_process = 1;
  std::vector<MeasuredTime> times;  // one or two: out of place, in place
  size_t table = 0;                 // the index of its table in the list
};

struct MeasuredCalls {
  std::vector<MeasuredCall> calls;
  std::vector<std::string> left_out;  // tables and rows that are not calls, each with its reason
};

/// Returns the rows that our model can time on the cluster. Ranks are its first devices. If it has
/// nodes, tables of several hosts must have as many ranks on each as a node has devices; else the
/// number of hosts does not count. Rows without elements or times are left out. A row without a
/// type counts as one of floats.
MeasuredCalls measured_calls(std::span<const NcclTable> tables, const Cluster& cluster);

/// Returns the op as which a call is timed: "psum".
std::string_view op_of(const MeasuredCall& call);

/// Returns whether the protocol may carry out the call with some algorithm.
bool may_carry_out(const ProtocolFigures& protocol, const MeasuredCall& call,
                   const std::optional<TransportFigures>& transport);

/// Returns the modelled time that a measured one is compared with.
Duration modelled_as(const MeasuredTime& measured, const CallTime& modelled);

/// Returns the time of each call on the cluster. Threads share the calls.
std::vector<CallTime> modelled_times(std::span<const MeasuredCall> calls, const Cluster& cluster,
                                     const Limits& limits);

}  // namespace orrery
