#pragma once

// This is one call of a collective by nccl-tests: as a program of ours, and how long that takes on
// a cluster by our model.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/lowered.h"
#include "tools/nccl_tests/collective.h"

namespace orrery {

struct NcclCall {
  NcclCollective collective = NcclCollective::AllReduce;
  uint32_t ranks = 1;
  NcclCounts counts;  // by nccl_counts()
  Dtype dtype = Dtype::F32;
  NcclRedop redop = NcclRedop::Sum;  // only used by collectives that reduce
  uint32_t root = 0;                 // only used by collectives with a root
};

/// Returns why no program of ours does what the call does: "no op of orrery multiplies". The result
/// is empty if one does.
std::optional<std::string> not_modelled(NcclCollective collective, Dtype dtype, NcclRedop redop);

struct NcclProgram {
  Program program;
  std::vector<Array> arrays;  // one of random elements per argument
};

/// Returns the program of a call. Rank r is device r. All ranks issue the same ops:
///  - For all_reduce they issue a psum, pmax, pmin or pmean, for all_gather an all_gather, for
///    reduce_scatter a psum_scatter, for alltoall an all_to_all, and for broadcast a pbroadcast.
///  - For sendrecv they issue a ppermute to the next rank.
///  - For gather and scatter they issue a ppermute for each rank, all at once, as NCCL sends and
///    receives in one group.
///  - For hypercube they issue a ppermute for each bit, one after the other, of all that was
///    gathered so far. Each has an array of its own, so that nothing is copied between them.
///
/// Requires a call that is modelled and a root that is a rank. A gather or scatter must have at
/// most kMostSends ranks, and a hypercube a power of 2.
NcclProgram program_of(const NcclCall& call);

/// A gather or scatter has at most this many ranks. Each send has a stream of its own, so that they
/// run at the same time.
inline constexpr uint32_t kMostSends = 1024;

struct CallTime {
  Duration out_of_place;
  Duration in_place;
  std::vector<std::string> labels;  // what it assumes: "reduce_rate: infinite (not given)"
  std::vector<Choice> choices;      // how its collectives are carried out, by site
};

/// Returns the time of one call as nccl-tests measures it, the mean over many calls in a row. It is
/// the larger of two times. One is that of the collective, from its issue to its end on the last
/// rank. The other is that of the host, where a process issues each call on its GPUs one after the
/// other, also from several threads (host_launch of the transport).
///
/// In place, the part of the result that a rank has already (its part of an all_gather, all of a
/// broadcast's root) is not copied inside a device. A library chooses how to carry out a collective
/// by its size, so both times are of the same choice: that of out of place.
///
/// `program` is program_of(call). Throws InputError if it cannot be lowered or does not end.
CallTime call_time(const NcclCall& call, const Program& program, uint32_t gpus_of_process,
                   const Cluster& cluster, const Limits& limits);

}  // namespace orrery
