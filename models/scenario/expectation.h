#pragma once

// What a scenario says must hold: its "expect".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/diagnostics.h"
#include "models/program/program.h"
#include "models/scenario/document.h"
#include "models/scenario/literal.h"

namespace orrery {

/// Where values are compared: on the devices that have them, which must be the same, or on those
/// that they have in common.
enum class ComparedDevices : uint8_t { Same, Common };

/// A value of an expectation. What a loop carries out may also be named by the loop.
struct ComparedValue {
  std::string name;     // the value's own
  std::string written;  // as the scenario has it
};

struct ComparedValues {
  std::vector<ComparedValue> values;
  ComparedDevices devices = ComparedDevices::Same;
};

/// What the scenario says must hold. Each has the place where it stands, for verdicts: "/expect/0".
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
/// How many messages a device may have under way that nobody receives yet.
struct ExpectBufferedMessages {
  int64_t at_most = 0;
};
enum class Property : uint8_t { DeadlockFree, RaceFree, NoLeak, Proved };
struct ExpectHolds {
  std::vector<Property> properties;
};

/// "deadlock_free", "race_free", "no_leak", "proved".
std::string_view property_name(Property property);

struct Expectation {
  Origin origin;
  std::variant<ExpectEqual, ExpectClose, ExpectValues, ExpectMakespan, ExpectPeakMemory,
               ExpectBufferedMessages, ExpectHolds>
      what;
};

/// What must hold, in the order of the file. Without a program (it has errors), names and literal
/// values are not checked.
std::vector<Expectation> read_expectations(DocumentNode node, const Program* program,
                                           Diagnostics& diagnostics);

}  // namespace orrery
