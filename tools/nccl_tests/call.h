#pragma once

// One call of a collective by nccl-tests, as a program of ours.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/scenario.h"
#include "tools/nccl_tests/collective.h"
#include "tools/nccl_tests/types.h"

namespace orrery {

struct NcclCall {
  NcclCollective collective = NcclCollective::AllReduce;
  uint32_t ranks = 1;
  NcclCounts counts;  // nccl_counts(); not empty
  Dtype dtype = Dtype::F32;
  NcclRedop redop = NcclRedop::Sum;  // of those that reduce
  uint32_t root = 0;                 // of those with a root
};

/// Why no program of ours does what the call does: "no op of orrery multiplies"; empty where one
/// does. It depends on the collective, the dtype and the operation only.
std::optional<std::string> not_modelled(NcclCollective collective, Dtype dtype, NcclRedop redop);

struct NcclProgram {
  Program program;
  std::vector<Array> arrays;  // random, one per argument
};

/// Rank r is device r. All ranks issue:
///  - all_reduce psum, pmax, pmin or pmean, all_gather all_gather, reduce_scatter psum_scatter,
///    alltoall all_to_all, broadcast pbroadcast;
///  - sendrecv a ppermute to the next rank;
///  - gather and scatter a ppermute for each rank, all at once, as NCCL sends and receives in one
///    group;
///  - hypercube a ppermute for each bit, one after the other, of all that was gathered so far. Each
///    has an array of its own, so that nothing is copied between them.
///
/// Requires a call that is modelled, a root that is a rank, of a gather or scatter at most
/// kMostSends ranks, of a hypercube a power of 2.
NcclProgram program_of(const NcclCall& call);

/// Each send has a stream of its own, so that they run at the same time.
inline constexpr uint32_t kMostSends = 1024;

}  // namespace orrery
