#pragma once

// Reads what an op of a program says of itself: its name, its parameters and its axes.
// program_reader.h reads the list of ops, and which values they take.

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

/// The advice for an op that is unknown here but usual elsewhere: "did you mean "psum"?" for
/// all_reduce. "" for other words. Upper case and hyphens make no difference.
std::string op_of_other_name(std::string_view word);

/// The value of a parameter, under its name or, for an amount, its name with a unit's suffix.
std::optional<DocumentNode> find_parameter(Fields& fields, const Parameter& parameter);

/// Empty if it is not given, or an error was added.
std::optional<Attribute> read_parameter(Fields& fields, const Parameter& parameter,
                                        Diagnostics& diagnostics);

// Dimensions of the operand among the axes of a collective: {"axis_name": ["x", 0]}. JAX reduces
// over them on each device first, and then over the axes of the mesh; so does the program that is
// read.

/// The local op that reduces over dimensions as psum, pmax or pmin does over axes. Empty for other
/// collectives, which have no such axes.
std::optional<OpKind> reduction_over_dimensions(OpKind collective);

/// Whether "axis_name" names dimensions, or may do so.
bool may_have_dimensions(DocumentNode axis_name, OpKind collective);

struct Axes {
  std::vector<std::string> names;
  std::vector<int64_t> dimensions;
};
/// Reads "axis_name" of a collective that errors call `title`: psum "r". Empty if an error was
/// added.
std::optional<Axes> read_axes(DocumentNode axis_name, OpKind collective, std::string_view title,
                              Diagnostics& diagnostics);

/// Takes the operand of a collective, of this dtype, through the reduction over the dimensions,
/// "ID.local", whose result the collective reads. Returns the ops that come before the collective.
/// A psum of pred also has a conversion to s32, "ID.counted", in which psum counts.
std::vector<OpRequest> reduced_first(OpRequest& collective, Dtype operand,
                                     std::vector<int64_t> dimensions);

}  // namespace orrery
