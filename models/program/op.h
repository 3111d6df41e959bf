#pragma once

// An Op is plain data. The properties of its kind are in its rules (rules.h). An OpOverflow is an
// error that names its op.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/attributes.h"

namespace orrery {

struct Cost;

enum class OpKind : uint8_t {
  // Collectives.
  Psum,
  Pmean,
  Pmax,
  Pmin,
  Pargmax,
  Pargmin,
  AllGather,
  PsumScatter,
  AllToAll,
  Pswapaxes,
  Ppermute,
  Pshuffle,
  Pbroadcast,
  RaggedAllToAll,
  // One exchange that members enter as senders and as receivers.
  Psend,
  Precv,
  // The same exchanges between other states of values.
  UnreducedPsum,
  UnreducedPsumScatter,
  AllGatherInvariant,
  AllGatherReduced,
  // The end of any started collective.
  Done,
  // Casts of states.
  Pvary,
  Preduced,
  VaryUnreducedCast,
  ReducedVaryCast,
  Pcast,
  // Local ops.
  AxisIndex,
  AxisSize,
  Add,
  Sub,
  Mul,
  Div,
  Max,
  Min,
  Neg,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Logistic,
  Sin,
  Cos,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  SelectN,
  ConvertElementType,
  Real,
  Imag,
  Conj,
  Complex,
  Reshape,
  Transpose,
  Slice,
  Concatenate,
  Split,
  Pad,
  BroadcastInDim,
  ReorderSequence,
  DynamicSlice,
  DynamicUpdateSlice,
  Take,
  ScatterAdd,
  ReduceSum,
  ReduceMax,
  ReduceMin,
  Full,
  Iota,
  CreateToken,
  DotGeneral,
  DotProductAttention,
  DotProductAttentionVjp,
  MpmdMap,
  OptimizationBarrier,
  LogicallyStacked,
  Compute,
  // Local ops that only reshards of MPMD arrays are made of (Reshard of program.h). A scenario does
  // not name them.
  HeldOn,
  HeldOrZeros,
};

/// It says whether a collective blocks its device until it has ended there, or returns a future.
enum class Issue : uint8_t { Sync, Start };

/// A Pass says where an op of a gradient's program comes from. Again: the backward pass computes an
/// op of the forward pass again.
enum class Pass : uint8_t { Forward, Backward, Again };

/// An Entry says whether a sender waits until its peer has entered the collective.
enum class Entry : uint8_t { Eager, Rendezvous };

/// The start of a psend or precv "x" of a group is called "x.start", since its done is called "x".
inline constexpr std::string_view kStartInGroup = ".start";

/// Hints say how a collective is to be carried out. Its meaning does not depend on them. Lowering
/// chooses the hints that are empty. A receive has no hints but the stream, since the sender says
/// how messages are passed.
struct Hints {
  std::optional<std::string> algorithm = {};
  std::optional<std::string> protocol = {};
  std::optional<uint32_t> channels = {};
  std::optional<uint32_t> slots = {};
  Entry entry = Entry::Eager;
  uint32_t stream = 0;
  friend auto operator<=>(const Hints&, const Hints&) = default;
};

struct Op {
  std::string name;  // unique in the program: the scenario's id, of several the first
  OpKind kind = OpKind::Compute;
  Issue issue = Issue::Sync;
  Pass pass = Pass::Forward;  // in the others `origin` is the forward op's
  /// The op that a backward op goes back through, or computes again. It is empty if the program
  /// does not have that op, and for the cotangents of arguments.
  std::optional<OpId> forward = {};
  Attributes attributes;
  Hints hints;  // collectives only
  /// The group (ncclGroupStart) in which a started psend or precv is issued. It has a name of its
  /// own in its thread and iteration. It is empty for all other ops.
  std::string group = {};
  std::optional<uint32_t> reshard = {};  // in Program::reshards: of which it is a part
  std::vector<ValueId> operands;
  std::vector<ValueId> results;  // any number of a local op, one of the others
  std::vector<ValueId> donated;  // operands whose storage this op may take at its end
  std::optional<SiteId> site;    // collectives only
  std::optional<Origin> origin;  // absent in programs that were not read from a file
  /// The cost that a local op is charged for in place of its own, if it is a part of a fused
  /// kernel.
  std::shared_ptr<const Cost> charged = {};
};

/// Returns the name that the scenario gives the op. A start in a group has an ending besides.
inline std::string_view given_name(const Op& op) {
  std::string_view name = op.name;
  if (!op.group.empty())
    name.remove_suffix(kStartInGroup.size());
  return name;
}

/// An OpOverflow is a quantity that leaves 64 bits, with its op, so that the user is told where.
class OpOverflow : public Overflow {
 public:
  OpOverflow(OpId op, const std::string& what) : Overflow(what), op_(op) {}
  OpId op() const { return op_; }

 private:
  OpId op_;
};

/// A BeyondLimit is an op that goes beyond a limit. The message names the limit.
class BeyondLimit : public OpOverflow {
 public:
  using OpOverflow::OpOverflow;
};

/// Does `work`. An Overflow that it throws becomes an OpOverflow, unless it is one already.
template <class Work>
decltype(auto) on_behalf_of(OpId op, Work&& work) {
  try {
    return work();
  } catch (const OpOverflow&) {
    throw;
  } catch (const Overflow& overflow) {
    throw OpOverflow(op, overflow.what());
  }
}

}  // namespace orrery
