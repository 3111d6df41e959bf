#pragma once

// What each parameter of an op means, in a sentence. Names are JAX's and mean the same in every op.

#include <string>
#include <string_view>

#include "models/program/rules.h"

namespace orrery {

/// Empty where no sentence exists for that name; a test requires one for every parameter.
std::string_view parameter_summary(std::string_view name);

/// What may be given: "a whole number, at least 1", "\"eager\" or \"rendezvous\"".
std::string parameter_domain(const Parameter& parameter);

/// The value of an optional parameter that is not given: "2", "false"; empty where it has none.
std::string parameter_default(const Parameter& parameter);

/// Whether every collective has the parameter, halves of a transfer apart.
bool is_common(const Parameter& parameter);

}  // namespace orrery
