#pragma once

// This reads one op of a program: its name, its parameters and its axes. program_reader.h reads the
// list of ops, and which values they take.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/op_request.h"
#include "models/program/rules.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"

namespace orrery {

/// Returns the advice for an op that is unknown here but usual elsewhere: "did you mean "psum"?"
/// for all_reduce. Returns "" for other words. Upper case and hyphens make no difference.
std::string op_of_other_name(std::string_view word);

/// Returns a parameter's value, under its name or, for an amount, its name with a unit's suffix.
std::optional<DocumentNode> find_parameter(Fields& fields, const Parameter& parameter);

/// Reads the keys of an mpmd_map that are its own: functions, out, scratch, aliases and
/// cost_estimate. The op table knows them as one parameter, "functions". Returns nothing if an
/// error was added, or if there are no functions.
std::optional<SharedCoreMap> read_core_map(Fields& fields, Diagnostics& diagnostics);

/// Reads a parameter. The result is empty if it is not given, or an error was added.
std::optional<Attribute> read_parameter(Fields& fields, const Parameter& parameter,
                                        Diagnostics& diagnostics);

// The axes of a collective may include dimensions of the operand: {"axis_name": ["x", 0]}. JAX
// reduces over the dimensions on each device first, and then over the axes of the mesh. The program
// that is read does the same.

/// Returns the local op that reduces over dimensions as psum, pmax or pmin does over axes. The
/// result is empty for other collectives, which cannot reduce over dimensions.
std::optional<OpKind> reduction_over_dimensions(OpKind collective);

/// Returns whether "axis_name" names dimensions, or may do so.
bool may_have_dimensions(DocumentNode axis_name, OpKind collective);

struct Axes {
  std::vector<std::string> names;
  std::vector<int64_t> dimensions;
};
/// Reads the "axis_name" of a collective. Errors call the collective `title`: psum "r". The result
/// is empty if an error was added.
std::optional<Axes> read_axes(DocumentNode axis_name, OpKind collective, std::string_view title,
                              Diagnostics& diagnostics);

/// Makes the collective read the result of a local reduction of its operand over the dimensions,
/// "ID.local". `operand` is the operand's dtype. Returns the ops that come before the collective. A
/// psum of pred also needs a conversion to s32, "ID.counted", in which it counts.
std::vector<OpRequest> reduced_first(OpRequest& collective, Dtype operand,
                                     std::vector<int64_t> dimensions);

}  // namespace orrery
