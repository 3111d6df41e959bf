#pragma once

// The rows of tables of nccl-tests as calls that can be timed on a cluster.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
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
  Bytes size;                              // the row's
  uint32_t gpus_of_process = 1;
  std::vector<MeasuredTime> times;  // out of place, in place: at least one
  size_t table = 0;                 // of the list that it is from
};

struct MeasuredCalls {
  std::vector<MeasuredCall> calls;
  std::vector<std::string> left_out;  // tables and rows that are none, each with its reason
};

/// The rows that our model can time on a cluster of so many devices. Tables of several hosts are
/// left out, and rows without elements or times. Calls without a type are of floats.
MeasuredCalls measured_calls(std::span<const NcclTable> tables, uint32_t devices);

/// The modelled time that stands beside a measured one.
Duration modelled_as(const MeasuredTime& measured, const CallTime& modelled);

/// The time of each call on the cluster. Threads share the calls.
std::vector<CallTime> modelled_times(std::span<const MeasuredCall> calls, const Cluster& cluster,
                                     const Limits& limits);

}  // namespace orrery
