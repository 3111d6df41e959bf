#pragma once

// Two runs are compared by their records. A record is taken from a run, or, with less in it, read
// from a saved JSON report (json.h).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/array/tensor.h"
#include "models/scenario/document.h"
#include "verifier/report.h"

namespace orrery {

/// This is a key of the scenario that says how a run is computed, as text.
struct RecordedSetting {
  std::string key;   // "memory.transport.slot"
  std::string text;  // "4 KiB"; "not given"
};

struct RecordedSpan {
  Instant start;
  Instant end;
};

struct RecordedOp {
  std::string id;
  std::string op;                        // "psum_start"
  std::optional<std::string> algorithm;  // of a collective
  Bytes bytes;
  uint64_t messages = 0;
  std::optional<RecordedSpan> span;  // over all devices; empty if the program does not end
  /// The span on each device, by ascending id. A saved report has none.
  std::vector<std::pair<LogicalId, RecordedSpan>> by_device;
  /// The bytes that an mpmd_map holds in each space: "vmem_shared", "vmem of a core of "v"".
  std::map<std::string, Bytes> spaces;
};

struct RecordedDevice {
  LogicalId id;
  Bytes peak;
  std::optional<std::string> peak_at;
  Bytes arena;
};

struct RecordedCheck {
  std::string name;
  std::string of;  // what the check is about
  Verdict verdict = Verdict::Holds;
  std::string message;
};

struct RecordedValue {
  std::string name;  // that of the op that makes it
  Dtype dtype = Dtype::F32;
  Shape shape;
  std::vector<std::optional<Tensor>> per_device;  // by logical id
  std::optional<Tensor> whole = {};               // only for an output with a spec
  std::string other_name = {};                    // a gradient's "ct_w"; often empty

  /// Returns the name by which a user knows it.
  const std::string& shown_name() const { return other_name.empty() ? name : other_name; }
};

struct RunRecord {
  std::string file;
  Verdict verdict = Verdict::Holds;
  std::string fingerprint;
  std::vector<std::string> faults;
  std::vector<RecordedSetting> settings;  // every run has the same keys; a saved report has none
  std::optional<Instant> makespan;
  std::vector<RecordedOp> ops;  // in issue order, thread by thread
  std::vector<RecordedDevice> devices;
  std::vector<RecordedCheck> checks;
  std::vector<RecordedValue> values;  // those that the run kept, arguments first
};

/// Returns the record of a run. It takes the values out of the report.
RunRecord record_of(Report report);

/// Returns whether the document is a report, or a list of them, and not a scenario.
bool is_report(DocumentNode root);

/// Reads a JSON report back. Unknown keys are ignored, since later versions of orrery may write
/// more. Throws InputError, with all errors, if it is not the report of one run.
RunRecord read_saved_report(DocumentNode root, Diagnostics& diagnostics);

}  // namespace orrery
