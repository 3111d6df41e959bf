#pragma once

#include <span>
#include <string_view>

namespace orrery {

/// A BuiltinLaw is a law of scenarios/laws, as the executable has it.
struct BuiltinLaw {
  std::string_view id;  // "L01"
  std::string_view json;
};

/// Returns the built-in laws, by id.
std::span<const BuiltinLaw> builtin_laws();

}  // namespace orrery
