#pragma once

// This finds the values that have the names which a transform is given.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/program/program.h"

namespace orrery {

/// A NamedAt is a name in a scenario, with its place.
struct NamedAt {
  std::string name;
  Origin origin;
};

/// Says which values have a cotangent: floats and complex numbers for a gradient, all numbers in a
/// linear program.
enum class Differentiated : uint8_t { Inexact, Numbers };

/// UnusedNames gives each new op and value an unused name.
class UnusedNames {
 public:
  explicit UnusedNames(const Program& program);
  /// Returns `name`, or `name` with the first number that makes it unused.
  std::string take(const std::string& name);
  /// Does the same, such that the name which `also` makes of the result is unused too. Takes both.
  std::string take_with(const std::string& name, FunctionRef<std::string(const std::string&)> also);
  /// Does the same, such that no name is the result or begins with it, as "l.y" and "l[].y" do with
  /// "l".
  std::string take_prefix(const std::string& name);

 private:
  std::set<std::string, std::less<>> names_;
  std::map<std::string, size_t, std::less<>> tried_;  // the numbers, by name
};

/// Returns the results of ops that have these names. Adds an error for a name of no result, and for
/// a result that has no cotangent.
std::vector<ValueId> named_results(const Program& program, const std::vector<NamedAt>& names,
                                   Differentiated what, Diagnostics& diagnostics);
/// Returns the arguments that have these names, with the same errors.
std::vector<ValueId> named_arguments(const Program& program, const std::vector<NamedAt>& names,
                                     Differentiated what, Diagnostics& diagnostics);

/// Returns "ct_ID", the name of the cotangent of ID.
std::string cotangent_name(const NamedAt& of);

/// Adds an error for each value whose cotangent has a name that the program has already, as after
/// an earlier transform.
void check_cotangents_unused(const Program& program, const std::vector<NamedAt>& names,
                             Diagnostics& diagnostics);

/// Returns for each value whether it is in `values`, or depends on one by values with cotangents.
std::vector<bool> dependents(const Program& program, const std::vector<ValueId>& values,
                             Differentiated what);

}  // namespace orrery
