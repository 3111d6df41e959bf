#pragma once

// How long a call of nccl-tests takes on a cluster, by our model.

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/lowered.h"
#include "tools/nccl_tests/call.h"

namespace orrery {

struct CallTime {
  Duration out_of_place;
  Duration in_place;
  std::vector<std::string> labels;  // what it assumes: "reduce_rate: infinite (not given)"
  std::vector<Choice> choices;      // how its collectives are carried out, by site
};

/// nccl-tests' mean over many calls in a row: the larger of two times. One is that of the
/// collective, from its issue to its end on the last rank. The other is that of the host: a process
/// issues each call on its GPUs one after the other, also from several threads (host_launch of the
/// transport).
///
/// In place, what a rank has of its own result (its part of an all_gather, all of a broadcast's
/// root) is there already: nothing is copied inside a device. A library chooses how to carry out a
/// collective by its size, so both times are of the same choice: that of out of place.
///
/// `program` is program_of(call). Throws InputError where it cannot be lowered, or does not end.
CallTime call_time(const NcclCall& call, const Program& program, uint32_t gpus_of_process,
                   const Cluster& cluster, const Limits& limits);

}  // namespace orrery
