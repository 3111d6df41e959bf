#pragma once

// What a program of nccl-tests would print on a cluster: times of the schedules that lowering
// makes, by our model or measured on GPUs; their values against the definitions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "tools/nccl_tests/collective.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// A type and an operation of rows; the operation counts where the collective has one.
struct PerfKind {
  NcclType type;
  NcclRedopName redop;
};

/// Rows are for each kind and each root every size, as nccl-tests has them.
struct PerfRequest {
  NcclCollective collective = NcclCollective::AllReduce;
  NcclSettings settings;  // least <= most; step > 0 bytes, or a factor > 1
  uint32_t processes = 1;
  std::vector<PerfKind> kinds;                    // that are modelled (call.h)
  std::vector<uint32_t> roots;                    // of those with a root; ranks
  Bytes data_budget = Bytes(int64_t{256} << 20);  // of all values of one call on all ranks
  uint64_t seed = 0;
  /// The driver's library: if given, times are measured on the GPUs that are there.
  std::optional<std::string> gpus_library = {};
  Limits limits;
};

struct PerfTable {
  NcclTable table;
  std::optional<std::string> measured_on = {};  // "measured on 8 virtual devices of .."
  std::vector<std::string> assumed;  // by the times, each once: "reduce_rate: infinite (not given)"
  std::optional<Bytes> reduced_most;  // the largest size, where the settings' does not fit a device
  std::vector<std::string> wrong;     // a sentence for each row with wrong elements
};

/// Times are those of call_time(). A call without elements takes none, since NCCL discards it.
///
/// `#wrong` is 0 where every result equals its definition; 1, for one or more, where one does not;
/// N/A where the settings ask for no check, values are above the budget or undecided, and in place
/// of what nccl-tests does not check there (alltoall, sendrecv).
///
/// Measured times are the mean over the settings' iterations of launches of a graph that does one
/// call, launch included. Values are those of the GPUs, which must be the host's too. A program
/// here has no call in place: those columns are of a second measurement out of place, which
/// `assumed` says.
///
/// The largest size is, as nccl-tests limits it, a third of the memory of a device (a half without
/// a check) less a part that it leaves free. It is in the settings as it was asked for.
///
/// Throws InputError where the cluster has fewer devices than ranks, a call cannot be lowered, or
/// there are too many rows. Likewise for too many ranks of a gather or scatter, and for ranks of a
/// hypercube that are no power of 2. Measured ones also throw as run() does: NoGpus, CudaError.
PerfTable perf_table(const PerfRequest& request, const Cluster& cluster);

}  // namespace orrery
