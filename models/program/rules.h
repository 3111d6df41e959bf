#pragma once

// What each kind of op means to the program: one table, which the reader, the writer, the type
// check, the cost model and the memory profile all go by. The rules of a family stand in one file
// each (collective_rules.cc, elementwise_rules.cc, ...; families.h lists them).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/array/elementwise.h"
#include "models/array/tensor.h"
#include "models/array/work.h"
#include "models/base/quantity.h"
#include "models/mesh/mesh.h"
#include "models/program/op.h"
#include "models/program/op_memory.h"
#include "models/program/value.h"

namespace orrery {

/// Which state rules hold: with Checks::States a collective must be given what its type asks for;
/// without, the states are inferred and never refused (JAX's check_vma).
enum class Checks : uint8_t { Shapes, States };

/// What a type rule sees.
struct TypeContext {
  const Mesh& mesh;
  Checks checks;
  const Attributes& attributes;
  std::span<const ValueType> operands;
  /// The group size of a collective over its axes and axis_index_groups (of the first group); 1 for
  /// others.
  int64_t group_size;
};

/// An error of an op: in the named parameter, or in the op as a whole where `parameter` is empty.
struct TypeError {
  std::string parameter;
  std::string message;
};

/// The types of the results, or what is wrong.
using TypeOutcome = std::variant<std::vector<ValueType>, TypeError>;
/// Operands have passed the checks of the builder: as many as the rules say, none a future (but for
/// done), attributes complete and of their kinds, axis names in the mesh. With Checks::Shapes there
/// is no unreduced and no reduced state among them: both count as varying. Of a started collective
/// it says the type that done will give. May throw Overflow.
using TypeRule = TypeOutcome (*)(const TypeContext&);

/// What one device computes and touches in a local op. Bytes are what it reads of its operands (of
/// one named twice, twice) and what it writes. An elementwise op is one flop per element, whichever
/// it is: as XLA's cost analysis counts, which however keeps exp, log, sin, ... apart as
/// "transcendentals", and has three more for logistic.
struct Cost {
  Flops flops;
  Bytes bytes;               // read and written in device memory
  Dtype dtype = Dtype::F32;  // which peak rate applies
  bool runs = true;          // false: nothing runs, so there is no launch either
};
using CostRule = Cost (*)(const Attributes&, std::span<const ValueType> operands,
                          std::span<const ValueType> results);

/// What a local op is evaluated on: the operands of one device.
struct LocalCall {
  const Mesh& mesh;
  LogicalId device;
  const Attributes& attributes;
  std::span<const Tensor* const> operands;
  std::span<const ValueType> results;

  const Tensor& operand(size_t i) const { return *operands[i]; }
  const ValueType& result() const { return results[0]; }
};
/// The results, of the types that the op's type rule says.
using EvaluateRule = std::vector<Tensor> (*)(const LocalCall&);

/// The rule of an op with one result.
template <Tensor (*kResult)(const LocalCall&)>
std::vector<Tensor> one_result(const LocalCall& call) {
  std::vector<Tensor> results;
  results.push_back(kResult(call));
  return results;
}

/// Where the results lie, and the scratch that the op needs.
using MemoryRule = OpMemory (*)(const Attributes&, std::span<const ValueType> operands,
                                std::span<const ValueType> results);

/// Every result has a buffer of its own.
OpMemory fresh_results(const Attributes&, std::span<const ValueType> operands,
                       std::span<const ValueType> results);
/// So too, but it may take over that of an operand that ends with the op.
OpMemory results_over_dying(const Attributes&, std::span<const ValueType> operands,
                            std::span<const ValueType> results);
/// Each result is the operand at its place, under another type.
OpMemory results_in_operands(const Attributes&, std::span<const ValueType> operands,
                             std::span<const ValueType> results);
/// Fresh results; scratch as the parameter `scratch` says, if it is given.
OpMemory declared_scratch(const Attributes& attributes, std::span<const ValueType> operands,
                          std::span<const ValueType> results);

struct Parameter {
  std::string_view name;
  ParameterKind kind;
  enum class Need : uint8_t { Required, Optional } need;
  std::optional<Attribute> otherwise;     // the value of an optional parameter that is not given
  std::optional<int64_t> least, most;     // of an Integer; also of the numbers of Integers, a
                                          // FlopCount and a ByteCount
  std::vector<std::string_view> choices;  // of a Text; empty: any
};

/// Over no axes (axis_name []) a collective is over groups of one.
enum class Family : uint8_t { Local, Collective, Done };

/// The dimension along which a tensor has a part for each rank of the group: of the operand, whose
/// shape it is given, or of the result.
using PartsRule = size_t (*)(const Attributes&, const Shape& operand);

/// How a collective exchanges: operands become work elements, which are folded or moved, and become
/// the results. A tensor without a parts rule is whole: each rank has, or gets, all of it.
struct CollectiveForm {
  Combine combine = Combine::None;  // what folds the work elements; None: they are moved
  Entering entering = Entering::Same;
  Leaving leaving = Leaving::Same;
  PartsRule operand_parts = nullptr;
  PartsRule result_parts = nullptr;
};

/// Groups of unequal size make sense for reductions only; the others exchange equal parts.
enum class GroupSizes : uint8_t { Any, Equal };

struct OpRules {
  OpKind kind;
  std::string_view name;     // the scenario's "op"; a started collective adds "_start"
  std::string_view summary;  // one line for `orrery show ops` and the documentation
  Family family = Family::Local;
  size_t least_operands = 1;
  size_t most_operands = 1;
  size_t most_results = 1;            // done and collectives have exactly one
  std::vector<Parameter> parameters;  // those of the family included
  TypeRule type = nullptr;
  CostRule cost = nullptr;          // local ops only
  EvaluateRule evaluate = nullptr;  // local ops only
  MemoryRule memory = fresh_results;
  /// Every element of a result is one of an operand's, as it is; which one, integer operands and
  /// the parameters alone decide. So evaluate also takes operands of another dtype in the place of
  /// the others (the bounds of their errors).
  bool moves = false;
  std::optional<Elementwise> elementwise;      // what the op computes of each element, if it is one
  GroupSizes group_sizes = GroupSizes::Equal;  // collectives only
  CollectiveForm form;                         // collectives only
  /// The op stands for a computation that is not written out. It has a cost and result types; the
  /// values of its results are stand-ins, and a comparison of them would mean nothing.
  bool opaque = false;
};

const OpRules& rules(OpKind kind);

/// All rules, in the order of OpKind.
std::span<const OpRules> all_rules();

/// Reads "psum", "psum_start", "add", "done", ...
struct OpName {
  OpKind kind;
  Issue issue;
};
std::optional<OpName> op_named(std::string_view name);
std::string op_name(OpKind kind, Issue issue);

}  // namespace orrery
