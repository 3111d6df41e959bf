#pragma once

// Compares two runs, A and B. For each aspect it tells the first difference and how many there are.
// Ops and values are matched by id, devices by number, checks by name and by what they are about.
//
// compare() works on records (run_record.h), so a run can be compared with a saved report, which
// holds less. Things that only one of the two holds are named and not compared.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/tensor.h"
#include "tools/report/run_record.h"
#include "tools/report/style.h"

namespace orrery {

struct TensorDifference {
  int64_t element = 0;  // row-major index of the first that differs
  int64_t count = 0;    // how many differ
  /// For floats of one dtype: the distance in ulps of that element, and the largest distance of all
  /// elements. They are empty if a NaN differs from a number. The distance between 0 and -0 is 0.
  std::optional<uint64_t> ulps, most_ulps;
};

/// Compares bits where the dtypes are the same (all NaNs count as one), and values otherwise. The
/// result is empty if no element differs. Requires equal shapes.
std::optional<TensorDifference> first_difference(const Tensor& a, const Tensor& b);

/// The kinds of differences. If one op differs in several aspects, they are told in this order, the
/// likelier cause first.
enum class Aspect : uint8_t {
  Op,         // what the op is
  Type,       // of a value: dtype or shape
  Algorithm,  // with its messages
  Value,      // elements
  Time,       // start or end
  Space,      // what an mpmd_map holds in a memory space of its cores
  Memory,     // peak or arena of a device
  Verdict,    // whether a check holds
};

/// Returns the aspect in texts and in JSON: "op", "type", "algorithm", "value", "time", "space",
/// "memory", "verdict".
std::string_view name(Aspect aspect);

/// This is one difference between the runs.
struct Difference {
  std::string
      at;  // an op's or value's id ("ct_w" for a gradient), a check's name, or empty: memory
  std::optional<LogicalId> device;  // empty if a record does not tell devices apart
  std::string what;                 // "element 3", "end", "peak", "dtype"
  std::string a, b;
  std::string note;  // "1 ulp apart; 5 of 16 elements differ", "5 us later"; or empty
};

struct Finding {
  Aspect aspect = Aspect::Op;
  Difference first;
  std::vector<std::string> places;  // all ids, devices or checks that differ, in A's order
};

/// This is a setting that differs. It is told beside the findings, since it is no difference of
/// results.
struct SettingDifference {
  std::string key;
  std::string a, b;
};

struct RunComparison {
  std::vector<SettingDifference> settings;
  std::vector<Finding> findings;                  // one per aspect, ordered by where it begins
  std::vector<std::string> only_in_a, only_in_b;  // ops
  std::vector<std::string> not_compared;          // sentences about what a record lacks
  /// Whether the fingerprints differ and nothing else does that both records have.
  bool unexplained = false;

  bool same() const {
    return findings.empty() && only_in_a.empty() && only_in_b.empty() && !unexplained;
  }
};

/// Compares arguments first, then ops by their ends in A (then by issue order and device), then
/// memory, then verdicts. A result never depends on a later one in this order, so the first value
/// that differs is where the difference begins. Programs that do not end are compared in issue
/// order.
RunComparison compare(const RunRecord& a, const RunRecord& b);

/// Returns the comparison for people.
std::string difference_text(const RunComparison& comparison, const RunRecord& a, const RunRecord& b,
                            const Style& style);

/// Returns the comparison as JSON. Its keys are a contract with readers of version 1, as the
/// report's are.
std::string difference_json(const RunComparison& comparison, const RunRecord& a,
                            const RunRecord& b);

}  // namespace orrery
