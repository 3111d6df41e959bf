#pragma once

// This reads what queries have in common, and writes their answers: a line of JSON each. A query
// has a mesh and specs as JAX has them, and may be one of something that JAX refuses. So what is
// refused only when the mesh or the spec is made, such as an axis whose name is null, is kept as
// that error until all of the line is read.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/shape.h"
#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/mesh/device_mesh.h"
#include "models/mesh/partition_spec.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/queries.h"
#include "models/scenario/size_limits.h"

namespace orrery {

struct QueryMesh {
  std::vector<Axis> axes;
  std::optional<std::vector<AxisType>> types;
  MeshDevices devices;
  std::optional<std::string> error;

  /// Makes the mesh, which has at most limits.devices devices. Throws ShardingError.
  DeviceMesh made(const Limits& limits) const;
};

struct QuerySpec {
  PartitionSpec spec;
  std::optional<std::string> spec_error;      // the spec alone cannot be made
  std::optional<std::string> sharding_error;  // it fits no mesh

  /// Throws ShardingError unless the spec is one of some mesh.
  void check() const;
};

// Readers add errors to the diagnostics, and leave out what has an error.

/// Reads "mesh", "device_order" and "axis_types".
QueryMesh read_query_mesh(Fields& fields, Diagnostics& diagnostics);

/// Reads the entries of a spec. `what` was expected if the value is no list.
QuerySpec read_query_spec(DocumentNode node, std::string_view what, Diagnostics& diagnostics);
inline constexpr std::string_view kSpecEntries =
    "a list with null, an axis name or a list of them per dimension";

/// Reads the axes of the spec's set `key`, which is "unreduced" or "reduced", if the query has it.
/// Returns its value.
std::optional<DocumentNode> read_query_set(Fields& fields, std::string_view key, QuerySpec& spec,
                                           Diagnostics& diagnostics);

/// Reads the shape of an array.
std::optional<Shape> read_query_shape(DocumentNode node, Diagnostics& diagnostics);

/// Returns the text as a string of JSON.
std::string text_json(std::string_view text);
/// Returns "[1, 2]".
std::string integers_json(std::span<const int64_t> numbers);
std::string names_json(std::span<const std::string> names);
/// Returns the entries as a query has them.
std::string spec_json(const PartitionSpec& spec);

/// An AnswerLine is an object of JSON whose members are added one by one.
class AnswerLine {
 public:
  void add(std::string_view key, std::string_view json);
  void add_text(std::string_view key, std::string_view text) { add(key, text_json(text)); }
  void add_flag(std::string_view key, bool flag) { add(key, flag ? "true" : "false"); }
  std::string finished() && { return std::move(text_) + "}"; }

 private:
  std::string text_ = "{";
};

/// Reads a line that is at most limits.file long, and answers it. `answer` adds the members, and
/// may throw ShardingError after the last that it can add. `error_json` makes the value of "error"
/// of a stage and a message.
QueryAnswer answered(
    std::string_view line, const Limits& limits,
    FunctionRef<void(DocumentNode root, Diagnostics& diagnostics, AnswerLine& answer)> answer,
    FunctionRef<std::string(std::string_view stage, std::string_view message)> error_json);

}  // namespace orrery
