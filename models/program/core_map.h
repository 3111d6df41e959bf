#pragma once

// A CoreMap is what an mpmd_map has beside its operands, as a scenario writes it: functions, each
// with the mesh of cores on which it runs, and the refs by which they communicate. It is plain
// data. cores.h says what it means on operands of given types.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/array/dtype.h"
#include "models/array/shape.h"
#include "models/mesh/mesh.h"
#include "models/program/attributes.h"
#include "models/program/core_types.h"
#include "models/program/op.h"

namespace orrery {

/// A CoreMesh has the cores on which a function runs. A mesh of vector cores has two axes, the core
/// axis and the subcore axis; the others have one.
struct CoreMesh {
  CoreType type = CoreType::Tensor;
  std::string name;
  std::vector<Axis> axes;
  friend bool operator==(const CoreMesh&, const CoreMesh&) = default;
};

/// A CoreOutput is the type of a result.
struct CoreOutput {
  Shape shape;
  Dtype dtype = Dtype::F32;
  friend bool operator==(const CoreOutput&, const CoreOutput&) = default;
};

/// A CoreScratch is an array that only the functions see, or a semaphore.
struct CoreScratch {
  std::string name;
  bool semaphore = false;  // one counter, or one per row of a shape of one dimension
  Shape shape = {};
  Dtype dtype = Dtype::S32;
  CoreSpace space = CoreSpace::Any;
  std::optional<std::string> core = {};  // the mesh whose instances may use it; empty: all
  friend bool operator==(const CoreScratch&, const CoreScratch&) = default;
};

/// A CoreRow is a row of a ref's first dimension: the instance's index over an axis, or a number.
struct CoreRow {
  std::optional<std::string> axis = {};
  int64_t number = 0;
  friend bool operator==(const CoreRow&, const CoreRow&) = default;
};

/// A CoreRef names an array or a semaphore, or one row of it.
struct CoreRef {
  std::string name;
  std::optional<CoreRow> row = {};
  friend bool operator==(const CoreRef&, const CoreRef&) = default;
};

/// A CoreOp is one op of a function's body.
struct CoreOp {
  enum class Kind : uint8_t {
    Copy,    // of one ref to another: a DMA
    Local,   // an op of the op table, on refs
    Signal,  // adds `amount` to a counter
    Wait,    // goes on once it can take off `amount`
  };
  Kind kind = Kind::Copy;
  OpKind op = OpKind::Full;  // of Local
  Attributes attributes = {};
  std::vector<CoreRef> of = {};  // of Copy one ref; of Signal and Wait the semaphore
  std::optional<CoreRef> to = {};
  int64_t amount = 1;
  friend bool operator==(const CoreOp&, const CoreOp&) = default;
};

struct CoreFunction {
  CoreMesh mesh;
  std::vector<CoreOp> body;
  friend bool operator==(const CoreFunction&, const CoreFunction&) = default;
};

/// A CoreEstimate is what the author says of the cost (Pallas' CostEstimate). Nothing depends on
/// it.
struct CoreEstimate {
  int64_t flops = 0;
  int64_t transcendentals = 0;
  int64_t bytes_accessed = 0;
  int64_t remote_bytes_transferred = 0;
  friend bool operator==(const CoreEstimate&, const CoreEstimate&) = default;
};

struct CoreMap {
  std::vector<CoreOutput> out;
  std::vector<CoreScratch> scratch;
  bool scratch_is_list = false;                      // then its names are scratch0, scratch1, ..
  std::vector<std::pair<int64_t, int64_t>> aliases;  // input to output, as written
  std::optional<CoreEstimate> estimate;
  std::vector<CoreFunction> functions;
  friend bool operator==(const CoreMap&, const CoreMap&) = default;
};

/// Returns whether an op of the op table may be in a body.
bool is_body_op(OpKind kind);

/// Returns the word of a body's op: "copy", "add", "wait".
std::string_view word(const CoreOp& op);

/// The most body ops of all instances together. The checks of an mpmd_map look at pairs of them.
inline constexpr int64_t kMostCoreSteps = 100'000;  // also the most semaphores
/// The most arrays, those that each instance has of its own counted for each.
inline constexpr size_t kMostCoreStorages = 1'000'000;

}  // namespace orrery
