#pragma once

// Names of values that a transform is given, and what they name.

#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/program/program.h"

namespace orrery {

/// A name in a scenario, with its place.
struct NamedAt {
  std::string name;
  Origin origin;
};

/// What a value must be of to have a cotangent: floats or complex numbers for a gradient, any
/// numbers where all is linear.
enum class Differentiated : uint8_t { Inexact, Numbers };

/// The results of ops of these names. Adds an error for each that names none, or one without a
/// cotangent.
std::vector<ValueId> named_results(const Program& program, const std::vector<NamedAt>& names,
                                   Differentiated what, Diagnostics& diagnostics);
/// Likewise among the arguments.
std::vector<ValueId> named_arguments(const Program& program, const std::vector<NamedAt>& names,
                                     Differentiated what, Diagnostics& diagnostics);

/// "ct_ID": the cotangent of what ID names.
std::string cotangent_name(const NamedAt& of);

/// Adds an error for each whose cotangent has a name that the program has already, as after an
/// earlier transform.
void check_cotangents_unused(const Program& program, const std::vector<NamedAt>& names,
                             Diagnostics& diagnostics);

/// The values that depend on one of `values` through such values.
std::vector<bool> dependents(const Program& program, const std::vector<ValueId>& values,
                             Differentiated what);

}  // namespace orrery
