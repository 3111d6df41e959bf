#pragma once

// A Report has all results of a run, as plain data. Rendering is up to tools/. Ops, links and
// devices are named by their ids in the scenario's program and cluster, which the report keeps.
// Times are on the simulated clock, which is 0 where the program begins. A report depends on the
// scenario, the options and the seed alone: the same input gives the same bytes on every machine,
// except for measurements of GPUs (`gpus`).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/array/tensor.h"
#include "models/scenario/scenario.h"
#include "simulator/analyze/critical_path.h"
#include "simulator/analyze/device_times.h"
#include "simulator/analyze/fabric_bounds.h"
#include "simulator/lower/core_times.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"
#include "simulator/values/gpu_facts.h"
#include "simulator/values/values.h"
#include "verifier/verdict.h"

namespace orrery {

struct Lowered;

/// How close a collective came to what its fabric allows (fabric_bounds.h).
struct ReachedBound {
  FabricBound bound;
  Duration took;  // from the begin of the first launch in the group to the last end
  std::optional<BusiestLink> busiest;
  size_t groups = 1;  // of the op; the bound is that of one, as if the others were not there

  /// Returns the share of the bound that was reached, for display only: 1 if nothing is quicker.
  double share() const {
    return static_cast<double>(bound.least().count()) / static_cast<double>(took.count());
  }

  /// Returns whether other links than its cut's keep the collective from its bound, or one of them
  /// that carries more than its share. The bound is that of the cut and of the op's only group, and
  /// less than 9/10 of it is reached. One link takes a tenth longer than the cut, and at least half
  /// of the whole time.
  bool is_missed_by_links() const {
    if (!busiest || bound.cut < bound.latency || groups > 1)
      return false;
    const Int128 link = busiest->takes.count();
    const Int128 all = took.count();
    const Int128 cut = bound.cut.count();
    return cut * 10 < all * 9 && link * 10 > cut * 11 && link * 2 >= all;
  }
};

/// A CoreReport says what an mpmd_map does on its cores, the same on all devices.
struct CoreReport {
  Cores cores;
  CoreTimes times;
  Cost work;  // of all instances; its bytes are those in the device's memory
  std::vector<SpaceUse> spaces;
};

/// An OpReport has one op's figures over all devices of its thread.
struct OpReport {
  OpId op;
  std::optional<Choice> choice;   // of a collective; a precv has none, since its psend says it
  Bytes bytes;                    // of a collective: S of nccl-tests; else the bytes touched
  uint64_t messages = 0;          // over all groups; a precv has none, since its psend counts them
  Instant start;                  // when the first device reaches it
  Instant entered;                // the first entry, which in a collective follows the launch
  Instant end;                    // when the last device ends it
  Duration exposed;               // of a collective, on the device where it took longest
  Duration hidden;                // the rest of its time on that device
  std::optional<Duration> slack;  // slack.h; absent without times, and above RunOptions' budget
  /// For display only: the bandwidths of a collective that took time, as nccl-tests counts them.
  /// They are over the time on the device where the op took longest, launch included. A precv has
  /// none, since its time is a wait.
  std::optional<double> algbw_GBps;
  std::optional<double> busbw_GBps;
  /// A collective that took time, and whose ranks must exchange data, has this for the group of the
  /// device where it took longest. It is null for other ops, and for a precv.
  std::shared_ptr<const ReachedBound> reached = nullptr;
};

/// A ReshardReport has the figures of a reshard, whose ops have rows of their own.
struct ReshardReport {
  size_t reshard = 0;  // in Program::reshards
  Instant start;       // of its first op
  Instant end;         // of its last op
  Bytes bytes;         // those that count against the threshold, of all arrays
  Bytes peak;          // the most that a device holds while the reshard runs; reserved included
  std::vector<Bytes> targets;  // per transfer group: the bytes of its results on a device
  std::vector<Bytes> scratch;  // the same: the most that a device holds beside these and what it
                               // held before: intermediate results, and scratch of collectives
};

struct DeviceReport {
  LogicalId device;
  std::vector<ThreadId> threads;  // whose lists it runs
  std::optional<Bytes> capacity;
  DeviceTimes times;
};

/// This is the traffic of a link. Links that carry nothing have no row.
struct LinkReport {
  LinkId link;
  Bytes bytes;      // of data
  double wire = 0;  // bytes of data and of flags; for display
};

/// An OnPath is an entry of the critical path. Its run may be left out of the program. Then `op` is
/// a run of the same op that is written.
struct OnPath {
  PathEntry entry;
  std::string name;  // of the run: "l[17].y"
};

struct Report {
  std::shared_ptr<const Scenario> scenario;  // copies of the report share it
  std::shared_ptr<const Lowered> lowered;    // the schedules that were run; copies share them
  std::optional<Fabric> links_of_run;        // with the faults; absent if the cluster's have none
  Verdict verdict = Verdict::Holds;          // of all checks together
  std::string fingerprint;
  /// This is the digest of the only executor that ran (digest.h). It is absent if several ran,
  /// since SCHEDULE.DIGEST compares them.
  std::optional<uint64_t> digest;
  std::vector<std::string> faults;       // the scenario's, each as a sentence
  std::vector<std::string> labels;       // what was assumed: "launch: 0 (not given)"
  std::optional<Completion> completion;  // absent when the program hangs; times are then 0
  std::vector<OnPath> critical_path;
  std::string no_critical_path;  // why it is not computed; empty if it is
  std::vector<OpReport> ops;     // in issue order, thread by thread
  std::map<OpId, std::shared_ptr<const CoreReport>> cores;  // of each mpmd_map
  std::vector<ReshardReport> reshards;
  MemoryProfile memory;
  std::vector<DeviceReport> devices;
  std::vector<LinkReport> links;  // by id; none without times
  std::vector<Check> checks;
  std::optional<DeviceValues> values;  // those of the GPUs if it ran there; absent without data
  std::optional<cuda::GpuFacts> gpus;  // if it ran on GPUs

  bool holds() const { return verdict == Verdict::Holds; }

  /// Returns the report of an mpmd_map; null for another op.
  const CoreReport* cores_of(OpId op) const {
    const auto found = cores.find(op);
    return found == cores.end() ? nullptr : found->second.get();
  }

  /// Returns the links as they were for this run, with the rates at which they carry data.
  const Fabric& fabric() const { return links_of_run ? *links_of_run : scenario->cluster.fabric; }
};

/// Returns a hash of all results, which does not depend on which executors computed them: 32
/// hexadecimal digits. For each device by logical id, they cover:
///  - each op that it issues, in order: start, end and bytes;
///  - its memory at each op, its peak and its arena;
///  - its values by id, where data was run.
/// Names, checks and labels are not in it.
///
/// Loops that leave out iterations, or may, are hashed in the shortened form (loops.h). So the hash
/// does not depend on whether all iterations were written out. Each op then adds the number of its
/// hidden iterations and their total time. Only the outputs among the values in loops are hashed.
/// The arena and the sizes held at the peak are left out, because they are known for the shown
/// iterations only.
std::string fingerprint(const Report& report);

/// Returns the whole array. Takes each part from the first of the devices that have it. Along axes
/// over which the output is unreduced, the copies are added in their order, by the program's
/// numerics; copies of pred are added as s32. Returns nothing if a device has no value, as after a
/// hang.
std::optional<Tensor> assembled(const Scenario& scenario, const Boundary& boundary,
                                const DeviceValues& values);

}  // namespace orrery
