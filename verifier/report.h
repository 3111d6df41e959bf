#pragma once

// All results of a run, as plain data. Rendering is up to tools/.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/array/tensor.h"
#include "models/scenario/scenario.h"
#include "simulator/analyze/critical_path.h"
#include "simulator/analyze/device_times.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/choice.h"
#include "simulator/time/completion.h"
#include "simulator/values/gpu_facts.h"
#include "simulator/values/values.h"
#include "verifier/verdict.h"

namespace orrery {

struct Lowered;

/// What one op did, over all devices of its thread.
struct OpReport {
  OpId op;
  std::optional<Choice> choice;  // collectives only, and of a transfer the psend
  Bytes bytes;                   // collectives: S of nccl-tests; others: bytes touched
  uint64_t messages = 0;         // over all groups; of a transfer those of the psend
  Instant start;                 // first device that reaches it
  Instant entered;               // first device; of collectives, after the launch; else the start
  Instant end;                   // last device
  Duration exposed;              // collectives: on the device where the op took longest
  Duration hidden;
  std::optional<Duration> slack;  // slack.h; absent without times, and beyond RunOptions' budget
  /// For display only, of collectives that took time, but for precv, whose time is a wait: over the
  /// time on the device where the op took longest, launch included, as nccl-tests counts.
  std::optional<double> algbw_GBps;
  std::optional<double> busbw_GBps;
};

struct DeviceReport {
  LogicalId device;
  std::vector<ThreadId> threads;  // whose lists it runs
  std::optional<Bytes> capacity;
  DeviceTimes times;
};

/// A link that carries something.
struct LinkReport {
  LinkId link;
  Bytes bytes;      // of data
  double wire = 0;  // the same with flags; for display
};

struct Report {
  std::shared_ptr<const Scenario> scenario;  // copies of the report share it
  std::shared_ptr<const Lowered> lowered;    // what was run; copies share it too
  std::optional<Fabric> links_of_run;        // absent: those of the cluster
  Verdict verdict = Verdict::Holds;          // of all checks together
  std::string fingerprint;
  /// The digest of the only executor that ran (digest.h). Absent if several ran: SCHEDULE.DIGEST
  /// compares them.
  std::optional<uint64_t> digest;
  std::vector<std::string> faults;       // of the scenario, each a sentence
  std::vector<std::string> labels;       // what was assumed: "launch: 0 (not given)"
  std::optional<Completion> completion;  // absent when the program hangs; times are then 0
  std::vector<PathEntry> critical_path;
  std::vector<OpReport> ops;  // in issue order, thread by thread
  MemoryProfile memory;
  std::vector<DeviceReport> devices;
  std::vector<LinkReport> links;  // by id; none without times
  std::vector<Check> checks;
  std::optional<DeviceValues> values;  // when data was run
  std::optional<cuda::GpuFacts> gpus;  // when it ran on GPUs, whose values these then are

  bool holds() const { return verdict == Verdict::Holds; }

  /// The links as they were for this run, at the rates at which they carry data.
  const Fabric& fabric() const { return links_of_run ? *links_of_run : scenario->cluster.fabric; }
};

}  // namespace orrery
