#pragma once

// A scenario: a cluster, a program, its data, and what must hold of it. Read from JSON by reader.h,
// written by writer.h; a scenario that is written and read again is the same.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/fabric/protocol.h"
#include "models/program/program.h"
#include "models/scenario/fault.h"

namespace orrery {

/// How an argument's elements are made.
struct IotaInit {};  // 0, 1, 2, ... over the global array
struct FillInit {
  NumberOrPair value = 0;
};  // every element
struct RandomInit {
  uint64_t seed = 0;  // and the run's
  /// Of floats: with all bits of their fractions, or whole numbers, whose sums are mostly exact.
  enum class Values : uint8_t { Fractions, Integers } values = Values::Fractions;
};
struct PerDeviceInit {
  std::vector<Tensor> tensors;
};  // one local tensor per device that has the array, by logical id
using Init = std::variant<IotaInit, FillInit, RandomInit, PerDeviceInit>;

/// How elements are written: as numbers, "NaN" (any of them), "Infinity", "-Infinity", true and
/// false; or as their bits, read as an unsigned integer.
enum class Encoding : uint8_t { Values, Bits };

/// The states of an array along axes, but for those that its spec names: it varies over these.
struct ArrayStates {
  /// Of an array given per device; empty: over all axes that are not in the other lists.
  std::optional<std::vector<std::string>> varying = {};
  std::vector<std::string> unreduced = {};
  std::vector<std::string> reduced = {};
  bool given() const { return varying || !unreduced.empty() || !reduced.empty(); }
};

/// How an output leaves the program: as one array that the mesh holds in parts (JAX's out_specs).
struct Boundary {
  ValueId value;
  PartitionSpec spec;
  ArrayStates states = {};  // along other axes
};

/// The data of one argument of the program.
struct Array {
  std::string name;
  Dtype dtype = Dtype::F32;
  Shape global;             // for an array given per device: its local shape
  PartitionSpec spec;       // empty for an array given per device
  bool per_device = false;  // given as "local_shape" and not as "shape" with "spec"
  std::optional<std::vector<LogicalId>> on = {};  // ascending; empty: on every device
  ArrayStates states = {};
  Init init;
};

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

struct Expectation {
  Origin origin;
  std::variant<ExpectEqual, ExpectClose, ExpectValues, ExpectMakespan, ExpectPeakMemory,
               ExpectBufferedMessages, ExpectHolds>
      what;
};

/// The data of a slot have room for a work element of any type.
inline constexpr Bytes kSmallestSlot = Bytes(64);

/// The most of each part of what is reserved on a device: by the runtime, and transport buffers. So
/// a device's memory leaves the 64-bit range only where its values are to blame.
inline constexpr Bytes kMostReserved = Bytes(int64_t{1} << 60);

/// The memory rules of a run.
struct MemoryPolicy {
  enum class Reuse : uint8_t { Never, Xla } reuse = Reuse::Never;
  Bytes alignment = Bytes(256);
  Bytes reserved;  // by the runtime, on every device
  /// The buffers of the transport are counted: those of the cluster's, or those given here.
  bool counts_transport = false;
  std::optional<ProtocolFigures> transport = {};  // in place of the cluster's transport
  friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

struct Scenario {
  std::string file;  // as the user named it; for messages
  std::string name;
  Cluster cluster;
  bool catalog_cluster = false;  // `cluster.name` is a catalog entry; otherwise it was given inline
  Checks checks = Checks::Shapes;
  MemoryPolicy memory;
  Program program;
  std::vector<Array> arrays;              // one per program.arguments, in that order
  std::vector<Boundary> boundaries = {};  // of outputs that have one
  std::vector<Expectation> expectations;
  std::vector<Fault> faults = {};
};

}  // namespace orrery
