#pragma once

// This file has a program's values, their types, and the buffers that hold them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/array/dtype.h"
#include "models/array/shape.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/mesh/mesh.h"

namespace orrery {

/// A value has at most this many dimensions. JAX and XLA have no such limit.
inline constexpr size_t kMostDimensions = 64;

/// An AxisState says how the copies of a value relate along one mesh axis, with the positions on
/// the other axes fixed.
enum class AxisState : uint8_t {
  Invarying,  // the copies are bitwise equal
  Varying,    // the copies may differ
  Unreduced,  // the logical value is the sum of the copies
  Reduced,    // the copies are equal, and the cotangent is Unreduced
};

/// AxisStates has one state per mesh axis, in mesh order.
using AxisStates = std::vector<AxisState>;

/// Checks says which state rules apply. With Checks::States the operands of a collective must have
/// the states that its type requires. Otherwise states are inferred and never refused (JAX's
/// check_vma).
enum class Checks : uint8_t { Shapes, States };

/// A ValueType is the type of a value. It describes the part that each device holds.
struct ValueType {
  Dtype dtype = Dtype::F32;
  Shape shape;  // local: one device's part
  AxisStates axes;
  bool future = false;  // the result of a start, readable only by its done
  bool token = false;   // its shape is [0]: it has no data and only orders ops

  Bytes size() const { return itemsize(dtype) * shape.elements(); }
  friend bool operator==(const ValueType&, const ValueType&) = default;
};

/// Returns "f32[2,3]{V:x, U:y, R:(a,b)}", "future f32[2,3]", "token" or the like. The axes that are
/// not invarying are grouped by state, in mesh order.
std::string text(const ValueType& type, const Mesh& mesh);

enum class MemorySpace : uint8_t { Device, Host };

/// A Buffer is the storage of one or more values. Values share it if an op only renames elements
/// (reshape, done).
struct Buffer {
  Bytes size;
  MemorySpace space = MemorySpace::Device;
};

struct Value {
  std::string name;  // unique in the program; the scenario's id
  ValueType type;
  BufferId buffer;
  Bytes offset;  // where in the buffer the value begins
};

}  // namespace orrery
