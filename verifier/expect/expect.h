#pragma once

// This folder judges the scenario's expectations by the results of the run. It computes nothing of
// its own but error bounds: run.cc makes one Expectations of the Evidence when all else is known,
// and asks it for the check of each expectation, in the order of the file.
//  - `equal` compares values bit for bit, and `values` compares one with a literal. If sums behind
//    the values are exact in any order, the check says that other data may differ.
//  - `close` compares values by the error bounds of both (definition/bounds.h), which say how far
//    roundings can move each element. The expectation is undecided where no bound is known.
//  - `makespan`, `peak_memory` and `buffered_messages` compare a figure with its limits.
//  - `holds` asks for properties. Each consists of checks that the run has made already.
// An expectation on what the run does not have is undecided, and says why. In long loops the values
// of first iterations are judged by a run of these alone (long_loops.h).

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "models/base/callable.h"
#include "models/scenario/scenario.h"
#include "simulator/memory/profile.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"
#include "simulator/values/values.h"
#include "verifier/check/names.h"
#include "verifier/report.h"

namespace orrery {

/// Evidence has the results of a run, as far as it got.
struct Evidence {
  const Scenario& scenario;
  const Lowered& lowered;
  /// The program in which buffered messages are counted, if that is expected: it has all iterations
  /// of loops, unless these are too many.
  const Program& counted;
  const Lowered& lowered_counted;
  const MemoryProfile& memory;
  const std::optional<Completion>& completion;
  const std::optional<DeviceValues>& values;
  std::function<DeviceValues()> error_bounds;  // computes those of the values
  std::string undecided;  // a sentence on why there are no values or no times; empty if there are
  std::span<const Check> checks;
  bool leaves_out = false;  // iterations of loops; only values outside of them are there
};

/// It makes one check for each expectation, with its JSON pointer. An expectation on values or
/// times that the run does not have is undecided, and says why.
class Expectations {
 public:
  explicit Expectations(const Evidence& evidence);

  Check check(const Expectation& expectation);

 private:
  /// Returns why an expectation on values that depend on an opaque computation is not decided.
  std::optional<std::string> opaque(const Expectation& expectation);
  Check equal(const std::string& of, const ExpectEqual& expected);
  Check close(const std::string& of, const ExpectClose& expected);
  Check literal(const std::string& of, const ExpectValues& expected) const;
  Check makespan(const std::string& of, const ExpectMakespan& expected) const;
  Check peak_memory(const std::string& of, const ExpectPeakMemory& expected) const;
  Check buffered_messages(const std::string& of, const ExpectBufferedMessages& expected) const;
  Check holds_all(const std::string& of, const ExpectHolds& expected) const;

  /// Compares two values on one device; returns the failed check if they differ.
  using Compare = FunctionRef<std::optional<Check>(LogicalId device, const ComparedValue& other,
                                                   const Tensor& a, const Tensor& b)>;
  /// Compares the first value with each other one, on each device that has both. A device that has
  /// only one of the two fails, unless the expectation is on common devices. Returns the first
  /// check that fails, or where they were compared: "8 devices, 512 elements each".
  std::variant<Check, std::string> compare_each(CheckKind kind, const std::string& of,
                                                const ComparedValues& expected,
                                                Compare compare) const;
  ValueId id(const ComparedValue& value) const { return values_by_name_.at(value.name); }
  const std::optional<Tensor>& tensor(const ComparedValue& value, LogicalId device) const;
  const DeviceValues& bounds();
  std::string sums_text(const std::vector<ComparedValue>& values) const;

  const Evidence& evidence_;
  /// For each name of a check, it has the first check with the worst verdict.
  std::map<std::string_view, const Check*> verdicts_;
  std::map<std::string, ValueId> values_by_name_;
  std::optional<DeviceValues> bounds_;             // computed when a `close` needs them
  std::optional<std::map<ValueId, OpId>> opaque_;  // found when values are compared
};

/// Returns the values that an expectation compares; empty if it is about something else.
std::vector<ComparedValue> compared_values(const Expectation& expectation);

}  // namespace orrery
