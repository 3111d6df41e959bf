#pragma once

// Makes the table that a program of nccl-tests would print on a cluster. Times are those of the
// schedules that lowering makes, by our model or measured on GPUs; values are compared with the
// definitions.

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

/// The type and the operation of rows. Only collectives that reduce use the operation.
struct PerfKind {
  NcclType type;
  NcclRedopName redop;
};

/// This is a table to make. As in nccl-tests it has a row for every size, for each kind and each
/// root.
struct PerfRequest {
  NcclCollective collective = NcclCollective::AllReduce;
  NcclSettings settings;  // least <= most; step > 0 bytes, or a factor > 1
  uint32_t processes = 1;
  std::vector<PerfKind> kinds;                    // all must be modelled (not_modelled())
  std::vector<uint32_t> roots;                    // ranks; only used by collectives with a root
  Bytes data_budget = Bytes(int64_t{256} << 20);  // for all values of one call on all ranks
  uint64_t seed = 0;
  /// This is the file of the driver. If it is given, times are measured on the GPUs that are there.
  std::optional<std::string> gpus_library = {};
  Limits limits;
};

struct PerfTable {
  NcclTable table;
  std::optional<std::string> measured_on = {};  // "measured on 8 virtual devices of .."
  std::vector<std::string> assumed;  // what the times assume: "reduce_rate: infinite (not given)"
  /// This tells of the row whose time out of place comes closest to the least that the fabric
  /// allows (simulator/analyze/fabric_bounds.h). It is empty for calls of several ops and on GPUs.
  std::optional<std::string> bound = {};
  std::optional<Bytes> reduced_most;  // the largest size, if the settings' does not fit a device
  std::vector<std::string> wrong;     // a sentence for each row with wrong elements
};

/// Makes the table. Modelled times are those of call_time(). A call without elements takes no time
/// (is_discarded, sides.h).
///
/// `#wrong` is 0 if every result equals its definition, and 1 if one or more do not. It is N/A if
/// the settings ask for no check, if values are above the budget or undecided, and in place for the
/// collectives that nccl-tests does not check there (alltoall, sendrecv).
///
/// A measured time is the mean over the settings' iterations. Each launches a graph that does one
/// call, and the launch counts. Values are those of the GPUs, which must equal the host's. Our
/// programs have no call in place. So the columns of in place have a second measurement out of
/// place, and `assumed` says so.
///
/// The largest size is limited as in nccl-tests: to a third of a device's memory (a half without a
/// check), less a part that stays free. The settings keep the size that was asked for.
///
/// Throws InputError if the cluster has fewer devices than ranks, if a call cannot be lowered, or
/// if there are too many rows. It also throws if a gather or scatter has too many ranks, or if the
/// ranks of a hypercube are not a power of 2. Measuring also throws NoGpus and its subclasses, as
/// run() does.
PerfTable perf_table(const PerfRequest& request, const Cluster& cluster);

}  // namespace orrery
