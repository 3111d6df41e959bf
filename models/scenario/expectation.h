#pragma once

// Expectations are the properties that a scenario's "expect" says must hold.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/scenario/document.h"
#include "models/scenario/literal.h"

namespace orrery {

/// Says on which devices values are compared: `Same` requires that they have the same devices,
/// `Common` takes the devices that they have in common.
enum class ComparedDevices : uint8_t { Same, Common };

/// A value of an expectation. A value that a loop carries out may go by the loop's name.
struct ComparedValue {
  std::string name;     // the value's own, in the scenario's program
  std::string written;  // as the scenario has it
};

struct ComparedValues {
  std::vector<ComparedValue> values;
  ComparedDevices devices = ComparedDevices::Same;
};

// The kinds of expectations.

struct ExpectEqual : ComparedValues {};  // bitwise the same
struct ExpectClose : ComparedValues {};  // within the bounds of their folds
struct ExpectValues {
  ComparedValue value;
  std::vector<Tensor> per_device;
  Encoding encoding = Encoding::Values;
};  // literal, bitwise; given as values, all NaNs are alike
struct ExpectMakespan {
  std::optional<Duration> at_least, at_most;
};
struct ExpectPeakMemory {
  std::optional<Bytes> at_least, at_most;
};  // the largest over devices
/// Bounds how many messages a device may have under way whose precv is not reached yet.
struct ExpectBufferedMessages {
  int64_t at_most = 0;
};
enum class Property : uint8_t { DeadlockFree, RaceFree, NoLeak, Proved };
struct ExpectHolds {
  std::vector<Property> properties;
};

/// Returns "deadlock_free", "race_free", "no_leak" or "proved".
std::string_view property_name(Property property);

/// An `Expectation` is one item of "expect".
struct Expectation {
  Origin origin;  // the place where it stands, for verdicts: "/expect/0"
  std::variant<ExpectEqual, ExpectClose, ExpectValues, ExpectMakespan, ExpectPeakMemory,
               ExpectBufferedMessages, ExpectHolds>
      what;
};

/// Visits the values that an expectation compares. There are none if it is about something else.
void for_each_compared(Expectation& expectation, FunctionRef<void(ComparedValue& value)> visit);

/// Reads "expect", in the order of the file. `program` is null if it has errors; then names and
/// literal values are not checked.
std::vector<Expectation> read_expectations(DocumentNode node, const Program* program,
                                           Diagnostics& diagnostics);

}  // namespace orrery
