#pragma once

// A scenario is a cluster, a program, its data, and the properties that must hold of it.
//
// The folder reads it from JSON (reader.h) and writes it (writer.h); a scenario that is written and
// read again is the same. A text passes these stages, each of which adds its errors to one
// Diagnostics with their positions, so that a user sees all of them at once:
//
//   document.h      text -> a tree of values with their positions, within size_limits.h
//   fields.h        one value -> a number, a name, a quantity, the members of an object
//   cluster_json.h  "cluster" -> a Cluster; figure_reader.h its figures with their sources
//   placement.h     "mesh", "on", states, "spec", "corrected", "hlo": how arrays lie on the mesh
//   arrays_reader.h "arrays" and "outputs": what enters and leaves the program
//   program_reader.h "program" -> calls of a ProgramBuilder, op by op (op_reader.h)
//   transform_reader.h "transform" -> the transforms that make another program from it
//   memory_policy.h, expectation.h, fault.h   the other parts, each with its types and its reader
//
// The key of a part, its default and its errors stand in that part's reader and nowhere else;
// tools/reference makes the JSON schema and docs/ops.md from the same tables.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/array/tensor.h"
#include "models/base/id.h"
#include "models/fabric/fabric.h"
#include "models/mesh/partition_spec.h"
#include "models/program/iterations.h"
#include "models/program/program.h"
#include "models/program/unroll.h"
#include "models/scenario/expectation.h"
#include "models/scenario/fault.h"
#include "models/scenario/memory_policy.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// Says how an argument's elements are made.
struct IotaInit {};  // 0, 1, 2, ... over the global array
struct FillInit {
  NumberOrPair value = 0;
};  // every element
struct RandomInit {
  uint64_t seed = 0;  // and the run's
  /// Floats have all bits of their fractions, or are whole numbers, whose sums are mostly exact.
  enum class Values : uint8_t { Fractions, Integers } values = Values::Fractions;
  /// The elements are drawn as those of an array of this name; if empty, by the array's own name.
  /// An array that is "same_as" another has the init of that one, with its name here.
  std::optional<std::string> named = {};
};
struct PerDeviceInit {
  std::vector<Tensor> tensors;
};  // one local tensor per device that has the array, by logical id
using Init = std::variant<IotaInit, FillInit, RandomInit, PerDeviceInit>;

/// The states of an array along the axes that its spec does not name. The array is varying along
/// the axes that the spec names.
struct ArrayStates {
  /// Only an array given per device that is not joined has this list. If it is empty, such an array
  /// varies over all axes that are not in the other lists.
  std::optional<std::vector<std::string>> varying = {};
  std::vector<std::string> unreduced = {};
  std::vector<std::string> reduced = {};
  bool given() const { return varying || !unreduced.empty() || !reduced.empty(); }
};

/// An output that leaves the program as one array in parts over the mesh (JAX's out_specs).
struct Boundary {
  ValueId value;
  PartitionSpec spec;
  ArrayStates states = {};  // along other axes
};

/// An `Array` is the data of one argument of the program.
struct Array {
  std::string name;
  Dtype dtype = Dtype::F32;
  Shape global;             // for an array given per device: its local shape
  PartitionSpec spec;       // empty for an array given per device that is not joined
  bool per_device = false;  // given as "local_shape" and not as "shape" with "spec"
  bool joined = false;      // given per device, and its parts make a whole array by the spec
  /// The spec of the file, where `spec` is corrected() from it; empty otherwise.
  std::optional<PartitionSpec> uncorrected = {};
  std::optional<std::vector<LogicalId>> on = {};  // ascending; empty: on every device
  ArrayStates states = {};
  Init init;
};

struct Scenario {
  std::string file;  // as the user named it; for messages
  std::string name;
  Cluster cluster;
  bool catalog_cluster = false;  // `cluster.name` is a catalog entry; otherwise it was given inline
  Checks checks = Checks::Shapes;
  MemoryPolicy memory;
  Program program;                        // its loops may be regions
  std::vector<Array> arrays;              // one per program.arguments, in that order
  std::vector<Boundary> boundaries = {};  // one for each output that has one
  std::vector<Expectation> expectations;
  std::vector<Fault> faults = {};
  /// Collectives on two streams of a device make progress at the same time, in whatever order they
  /// were issued. Otherwise STREAMS.ORDERED checks that nothing depends on it.
  bool concurrent_streams = false;
  bool fuses_elementwise = false;  // the program was charged by fuse_elementwise()
};

/// A scenario as it is run, with the iterations of its loops written. Its outputs and expectations
/// mean the values that they meant in the given scenario.
struct WrittenScenario {
  Scenario scenario;
  std::vector<OpRun> runs;  // per op of its program: what it is a run of in the given one
  /// Per value of the given program: the value of this program that stands for it, or nothing, as
  /// in Unrolled::values. The list is empty if the given program has no loops.
  std::vector<std::optional<ValueId>> values = {};
};

/// Writes the iterations of `given`. With `limits`, throws InputError if the program exceeds them.
WrittenScenario written(const Scenario& given, LongLoops long_loops,
                        const Limits* limits = nullptr);

/// Returns the part of `array` on device `id`. An element depends only on its place in the global
/// array, so devices that hold the same part hold the same bits. Iota counts in row-major order and
/// converts each count to the dtype. Random elements are drawn one by one, from the run's `seed`,
/// the array's own seed and its name, or the name that its init has. Floats are fractions of either
/// sign from 1/16 to 1, as many in each power of two. All bits of their dtype are random, so sums
/// of them round in every dtype, and overflow in none. Integers, and floats where asked for, are
/// whole numbers of -4..4 (0..8 for unsigned dtypes, -1..1 for 8-bit floats), and pred is 0 or 1.
Tensor initial_value(const Scenario& scenario, const Array& array, LogicalId id, uint64_t seed);

}  // namespace orrery
