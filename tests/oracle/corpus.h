#pragma once

// Reads a corpus of programs with the results of JAX. Each line of a file is one program, written
// by tools/oracle/corpus.py.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/combine.h"
#include "models/array/tensor.h"
#include "models/program/op.h"

namespace orrery::test {

/// Says how a result is compared. The order is from the strictest to the loosest.
enum class Comparison : uint8_t {
  Moved,  // bit for bit, NaNs too
  Exact,  // bit for bit, except that all NaNs are equal
  Fold,   // as Exact under Numerics::XlaCpu, where one_shot folds; else as Bound
  Bound,  // within the bounds on the roundings of both sides
};
std::string_view name(Comparison comparison);

struct Expected {
  std::string name;  // of the value
  Comparison comparison = Comparison::Exact;
  std::vector<Tensor> per_device;
};

/// A `ForwardOp` is an op of a program before its transform.
struct ForwardOp {
  OpKind op;
  bool complex;  // of the first operand that it works on; without operands, of its result
};

/// An `ExpectedType` is the type that JAX gives a value, as a report shows it: "f32[2,3]{V:x}".
struct ExpectedType {
  std::string name;  // of the value
  std::string type;
};

struct Case {
  std::string scenario;  // JSON; its outputs are all of `expected`
  Numerics numerics;
  std::vector<Expected> expected;
  bool transformed = false;         // the program that runs is made by a transform
  std::vector<ExpectedType> types;  // if the program's types are checked
};

/// Reads one line of a corpus. Under XlaCpu, all reductions name the algorithm one_shot. `index`
/// selects one of several topologies. Throws where the line has another form.
Case read_case(std::string_view line, size_t index, Numerics numerics);

/// Returns the ops of a line, without its transform.
std::vector<ForwardOp> forward_ops(std::string_view line);

/// Returns the numerics by which the results must agree with JAX: XlaCpu, and also Ieee where Ieee
/// differs by roundings alone.
std::vector<Numerics> numerics_of(std::string_view line);

/// Returns the scenario with an expectation: the value has the elements that JAX computed, given as
/// bit patterns.
std::string with_expectation(const Case& made, const Expected& expected);

/// Returns the lines of a file, compressed by gzip or plain. Throws if it cannot read the file.
std::vector<std::string> lines_of(const std::string& path);

}  // namespace orrery::test
