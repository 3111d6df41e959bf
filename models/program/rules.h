#pragma once

// This table has all that is known of each kind of op, in one entry (OpRules) for each.
//
// An entry has the op's name and parameters, which the reader, the writer and the documentation
// follow. It has a rule for each question that other code asks of an op: the types of its results
// (builder), its cost (simulator/lower), where its results lie (simulator/memory), its values on
// one device (simulator/values), its backward and its batched form (models/transform), and how
// errors pass through it (verifier/definition). Other code asks the entry rather than the kind. It
// tests the kind only to find one certain op (such as done), or if each kind needs other code above
// this folder (CUDA kernels, algorithms of collectives). A rule is a function. But if the answer
// needs code above this folder (error bounds, a collective's definition), the rule names the form
// of the answer.
//
// Entries are in one file per family: elementwise_rules.cc, movement_rules.cc, collective_rules.cc,
// and so on. The backward and batch rules of a family are in files beside it, such as
// elementwise_backward.cc and elementwise_batch.cc. families.h lists all rules.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/array/kernels.h"
#include "models/array/tensor.h"
#include "models/array/work.h"
#include "models/base/quantity.h"
#include "models/mesh/mesh.h"
#include "models/program/backward.h"
#include "models/program/batch.h"
#include "models/program/op.h"
#include "models/program/value.h"

namespace orrery {

struct Program;

/// A TypeContext is the input of a type rule.
struct TypeContext {
  const Mesh& mesh;
  Checks checks;
  const Attributes& attributes;
  std::span<const ValueType> operands;
  /// The group size of a collective, or of its first group if axis_index_groups makes the sizes
  /// unequal. It is 1 for other ops.
  int64_t group_size;
};

/// A TypeError is an error of an op. It is in the named parameter, or in the whole op if
/// `parameter` is empty.
struct TypeError {
  std::string parameter;
  std::string message;
};

/// A TypeOutcome has the types of the results, or the error.
using TypeOutcome = std::variant<std::vector<ValueType>, TypeError>;
/// A TypeRule is called with operands that have passed the builder's checks. Their number fits the
/// rules, and none is a future (except for done). Attributes are complete and of their kinds, and
/// axis names are in the mesh. With Checks::Shapes no state is unreduced or reduced: both count as
/// varying. For a started collective the rule returns the types that done will give. It may throw
/// Overflow.
using TypeRule = TypeOutcome (*)(const TypeContext&);

/// The sizes of attention. All heads of the query that are beside each other, heads / key_heads of
/// them, meet the same head of the key.
struct AttentionSizes {
  int64_t batch = 1;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t heads = 0;
  int64_t key_heads = 0;
  int64_t depth = 0;
  bool causal = false;  // query t meets the keys up to number t
};

/// A Cost is the work of a local op on one device. `bytes` counts the bytes read of the operands
/// (twice if an operand is named twice) and the bytes written. Any elementwise op is one flop per
/// element, as in XLA's cost analysis. But XLA counts exp, log, sin, ... separately as
/// "transcendentals", and logistic as three more.
struct Cost {
  /// The results of a product of matrices, and how many products each sums up. A batch has several
  /// matrices of results, each of so many rows and columns.
  struct Product {
    int64_t results = 0;
    int64_t depth = 0;
    int64_t rows = 0;
    int64_t columns = 0;
  };

  Flops flops;
  Bytes bytes;                                   // read and written in device memory
  Dtype dtype = Dtype::F32;                      // which peak rate applies
  bool runs = true;                              // false: nothing runs, not even a launch
  std::optional<Product> product = {};           // of a product that is not empty
  std::optional<AttentionSizes> attention = {};  // of attention and its gradients
  Flops again = {};  // of the flops: those that a backward pass computes again
};
using CostRule = Cost (*)(const Attributes&, std::span<const ValueType> operands,
                          std::span<const ValueType> results);

/// A LocalCall has the operands of a local op on one device.
struct LocalCall {
  const Mesh& mesh;
  LogicalId device;
  const Attributes& attributes;
  std::span<const Tensor* const> operands;
  std::span<const ValueType> results;
  Numerics numerics = Numerics::Ieee;

  const Tensor& operand(size_t i) const { return *operands[i]; }
  const ValueType& result() const { return results[0]; }
};
/// An EvaluateRule returns the results, of the types that the op's type rule gives.
using EvaluateRule = std::vector<Tensor> (*)(const LocalCall&);

/// This is the rule of an op with one result.
template <Tensor (*kResult)(const LocalCall&)>
std::vector<Tensor> one_result(const LocalCall& call) {
  std::vector<Tensor> results;
  results.push_back(kResult(call));
  return results;
}

/// A BodyRule returns what an op means as a program of other ops on one device. Its arguments are
/// the op's operands, and its outputs the results.
using BodyRule = Program (*)(const Attributes&, std::span<const ValueType> operands);

/// An Alias says where an op puts a result.
enum class Alias : uint8_t {
  Fresh,         // in a buffer of its own
  DyingOperand,  // the same, but it may take over that of an operand that ends here, where the
                 // memory policy asks for it: no element is read after the same one has been
                 // written. A collective does if its schedule works in place
                 // (Extent::works_in_place)
  DyingFirst,    // the same, but only of the first operand: others are read again later
  Operand,       // in the storage of an operand, which is not changed
  InPlace,       // the same, but the op writes it over the operand, which must be donated
};

/// A ResultMemory says where one result lies.
struct ResultMemory {
  Alias alias = Alias::Fresh;
  size_t operand = 0;  // of Operand and InPlace: which one
  Bytes offset = {};   // the same: where in it the result begins
  friend bool operator==(const ResultMemory&, const ResultMemory&) = default;
};

struct OpMemory {
  std::vector<ResultMemory> results;  // one for each result
  Bytes scratch = {};                 // held while the op runs, beside its operands and results
  friend bool operator==(const OpMemory&, const OpMemory&) = default;
};

/// A MemoryRule returns where the results lie, and the scratch that the op needs.
using MemoryRule = OpMemory (*)(const Attributes&, std::span<const ValueType> operands,
                                std::span<const ValueType> results);

/// Gives every result a buffer of its own.
OpMemory fresh_results(const Attributes&, std::span<const ValueType> operands,
                       std::span<const ValueType> results);
/// Does the same, but a result may take over the buffer of an operand that ends with the op.
OpMemory results_over_dying(const Attributes&, std::span<const ValueType> operands,
                            std::span<const ValueType> results);
/// Does the same, but a result may take over the buffer of the first operand alone.
OpMemory results_over_dying_first(const Attributes&, std::span<const ValueType> operands,
                                  std::span<const ValueType> results);
/// Puts each result in the storage of the operand of the same position.
OpMemory results_in_operands(const Attributes&, std::span<const ValueType> operands,
                             std::span<const ValueType> results);
/// Gives every result a buffer of its own, and the op the scratch of the parameter `scratch`, if
/// that is given.
OpMemory declared_scratch(const Attributes& attributes, std::span<const ValueType> operands,
                          std::span<const ValueType> results);

/// The most "channels" and "slots" of a collective, and its last "stream". The messages of a group
/// have the streams after that.
inline constexpr int64_t kMostStream = 1023;
inline constexpr int64_t kMostChannels = 1024;
inline constexpr int64_t kMostSlots = 65'536;

struct Parameter {
  std::string_view name;
  ParameterKind kind;
  enum class Need : uint8_t { Required, Optional } need;
  std::optional<Attribute> otherwise;     // the value of an optional parameter that is not given
  std::optional<int64_t> least, most;     // of an Integer; also of the numbers of Integers, a
                                          // FlopCount and a ByteCount
  std::vector<std::string_view> choices;  // of a Text; empty: any
};

enum class Family : uint8_t { Local, Collective, Done };

/// Returns whether a collective is over no axes (axis_name []). The collective is then over groups
/// of one, and gives its operand. (Still, pmean converts to a float, and an untiled all_to_all
/// moves the dimension that it splits, of extent 1. pargmax and pargmin require one axis.)
bool over_no_axes(const Attributes& given);

/// A PartsRule returns the dimension along which a tensor has one part per rank. The tensor is the
/// operand, whose shape is given, or the result.
using PartsRule = size_t (*)(const Attributes&, const Shape& operand);

/// A SourceRule returns the member whose whole operand `rank` gets, or nothing if it gets zeros.
using SourceRule = std::optional<Rank> (*)(const Attributes&, Rank rank);

/// A Side is the side by which an op enters a collective. In a transfer, a member that gives its
/// operand enters by one op (psend), and a member that takes a result by another (precv).
enum class Side : uint8_t { Both, Sends, Receives };

/// A CollectiveForm says how a collective exchanges. Operands become work elements, which are
/// folded or moved, and become the results. A tensor without a parts rule is whole: each rank has,
/// or gets, all of it. The definition of a collective (verifier/definition/definitions.h) follows
/// from its form.
struct CollectiveForm {
  Combine combine = Combine::None;  // the reduction of the work elements; None: they are moved
  Entering entering = Entering::Same;
  Leaving leaving = Leaving::Same;
  PartsRule operand_parts = nullptr;
  PartsRule result_parts = nullptr;
  SourceRule source = nullptr;  // where whole operands are moved
  Side side = Side::Both;
  /// This many of the first operands are exchanged, one after another along their first dimension.
  /// The other operands say how.
  size_t exchanged_operands = 1;
  /// If it is true, tables among the operands say what goes where (ragged.h).
  bool by_tables = false;
};

/// Only reductions allow groups of unequal size. Other collectives exchange equal parts.
enum class GroupSizes : uint8_t { Any, Equal };

/// The operands [first, end) of an op say where elements come from or go to.
struct IndexOperands {
  size_t first = 0;
  size_t end = 0;
  bool contain(size_t operand) const { return operand >= first && operand < end; }
};

/// Errors says how the errors of an op's operands pass into its results, and where its own
/// roundings come from. Each is one rule of verifier/definition/local_bounds.h, which ops of one
/// form share.
enum class Errors : uint8_t {
  /// The results depend on no element of an operand, and are exact: full, iota.
  Free,
  /// Every element of a result is an unchanged element of an operand, or fills a place that no
  /// operand fills. The index operands and the parameters alone say which one it is. The evaluate
  /// rule also takes the other operands in another dtype, to move their errors.
  Moved,
  /// Like Moved, but the index of an element decides about that element alone: select_n.
  Selected,
  /// An element's error stays what it is: neg, real.
  Kept,
  /// A complex element has the errors of its two parts.
  Parts,
  /// The errors follow from the op's `elementwise` function.
  Function,
  /// The errors follow from the dtypes of operand and result.
  Conversion,
  /// The results are sums, or extrema, along the dimensions of the parameter `axes`.
  Sum,
  Extremum,
  /// Each result is the sum of an element of the first operand and of the elements of the second
  /// that the third operand puts there.
  ScatteredSum,
  /// The results are sums of products along the contracting dimensions.
  Products,
  /// The values are placeholders (`stand_in` of source_rules.cc).
  StandIn,
  /// Errors pass through the op's body.
  Body,
};

/// Transforms says how programs with an op are transformed.
struct Transforms {
  BackwardRule backward = nullptr;  // how cotangents pass through; null: the op has no gradient
  LinearIn linear_in = LinearIn::None;
  BatchRule batch = nullptr;  // how it is done for a batch; null: it is not
};

/// An OpRules has all that is known of a kind of op. A new op needs one, in the file of its family.
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
  EvaluateRule evaluate = nullptr;  // local ops without a body only
  BodyRule body = nullptr;          // of a local op that stands for several others
  MemoryRule memory = fresh_results;
  /// If it is true and the first operand is donated, the result is written over it. Then only the
  /// place that the second operand updates is read and written.
  bool updates_donated = false;
  /// Whether an operand that a result is written over is donated without being named so.
  bool donates_overwritten = false;
  Errors errors = Errors::Free;  // local ops only
  IndexOperands index_operands;
  std::optional<Elementwise> elementwise;      // what the op computes of each element, if it is one
  GroupSizes group_sizes = GroupSizes::Equal;  // collectives only
  /// The collective that exchanges alike, if this one differs from it only in the states of its
  /// operand and result, or in the side (collectives only).
  std::optional<OpKind> exchanges_as;
  /// The collective whose row in tables of times this one uses, if it is not the one that it
  /// exchanges as: psum for all reductions to all ranks (collectives only).
  std::optional<OpKind> timed_as;
  CollectiveForm form;        // collectives only
  bool takes_tokens = false;  // among its operands
  /// Whether the op stands for a computation that is not written out. The op has a cost and result
  /// types. The values of its results are placeholders, and comparing them is meaningless.
  bool opaque = false;
  Transforms transforms;
};

const OpRules& rules(OpKind kind);

/// Returns the rules of the ops that a scenario names, in the order of OpKind.
std::span<const OpRules> all_rules();

/// Returns the collective that exchanges as `kind` does in any states. Requires a collective.
OpKind exchanged_as(OpKind kind);

/// Returns whether the op says how it is scheduled. Collectives do, except the receiving side of a
/// transfer, for which the sending side says it.
bool takes_algorithm(const OpRules& rules);

/// Returns the collective whose row in tables of times `kind` uses. Requires a collective.
OpKind timed_as(OpKind kind);
/// Returns the names of the collectives that have a row in tables of times.
std::vector<std::string_view> timed_ops();

/// An OpName is a name such as "psum", "psum_start", "add" or "done", which op_named() reads.
struct OpName {
  OpKind kind;
  Issue issue;
};
std::optional<OpName> op_named(std::string_view name);
std::string op_name(OpKind kind, Issue issue);

/// Returns the title of an op in errors: `psum "r"`. An op in a loop has the name that the scenario
/// gives it: "l.y" for "l[3].y".
std::string op_title(OpKind kind, Issue issue, std::string_view name);
inline std::string op_title(const Op& op) {
  return op_title(op.kind, op.group.empty() ? op.issue : Issue::Sync, given_name(op));
}

}  // namespace orrery
