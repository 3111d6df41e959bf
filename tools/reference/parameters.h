#pragma once

// This file has a sentence for each parameter of an op. Names are JAX's and mean the same in every
// op.

#include <string>
#include <string_view>

#include "models/program/rules.h"

namespace orrery {

/// Returns the sentence for a parameter. The result is empty for an unknown name; a test requires a
/// sentence for every parameter.
std::string_view parameter_summary(std::string_view name);

/// Returns the values that may be given: "a whole number, at least 1", "\"eager\" or
/// \"rendezvous\"".
std::string parameter_domain(const Parameter& parameter);

/// Returns the value of an optional parameter that is not given: "2", "false". The result is empty
/// if it has none.
std::string parameter_default(const Parameter& parameter);

/// Returns whether every collective has the parameter, except for the halves of a transfer.
bool is_common(const Parameter& parameter);

}  // namespace orrery
