#pragma once

// A corpus of programs with what JAX computed of them: one program a line, as tools/oracle writes
// it (corpus.py there).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/array/tensor.h"
#include "models/program/op.h"

namespace orrery::test {

/// How a result is compared, from the strictest to the loosest.
enum class Comparison : uint8_t {
  Moved,  // bit for bit, NaNs too
  Exact,  // bit for bit, where all NaNs are one
  Fold,   // as Exact by Numerics::XlaCpu, where one_shot folds; else as Bound
  Bound,  // by the bounds on the roundings of both
};
std::string_view name(Comparison comparison);

struct Expected {
  std::string name;  // of the value
  Comparison comparison = Comparison::Exact;
  std::vector<Tensor> per_device;
};

/// An op of a program as it is before a transform.
struct ForwardOp {
  OpKind op;
  bool complex;  // whether what it works on is, or without operands its result
};

/// The type that JAX gives a value, as a report has it: "f32[2,3]{V:x}".
struct ExpectedType {
  std::string name;  // of the value
  std::string type;
};

struct Case {
  std::string scenario;  // as text; all of `expected` are outputs
  Numerics numerics;
  std::vector<Expected> expected;
  bool transformed = false;         // a transform makes what runs
  std::vector<ExpectedType> types;  // of a program whose types are checked
};

/// By XlaCpu all reductions name the algorithm one_shot. `index` selects one of several topologies.
/// Throws for a line that has another form.
Case read_case(std::string_view line, size_t index, Numerics numerics);

/// The ops of a line, without its transform.
std::vector<ForwardOp> forward_ops(std::string_view line);

/// The numerics by which our results are JAX's: XlaCpu, and Ieee where it differs by roundings
/// alone.
std::vector<Numerics> numerics_of(std::string_view line);

/// The scenario, with an expectation: the value has the elements that JAX computed. It has their
/// bits if NaNs are compared by bits.
std::string with_expectation(const Case& made, const Expected& expected);

/// The lines of a file, compressed by gzip or as it stands. Throws where it cannot be read.
std::vector<std::string> lines_of(const std::string& path);

}  // namespace orrery::test
