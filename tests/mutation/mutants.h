#pragma once

// The scripts in tests/mutation insert calls of these functions into the sources. A mutant is an
// expression that differs from the original when its number is active. Every object of a mutated
// build includes this header first.

namespace mutants {

/// This is the number of the active mutant, from ORRERY_MUTANT: 0 for none, and -1 while a run
/// notes the mutants that it reaches.
extern const int active;
/// Notes that a mutant was reached. ORRERY_MUTANTS_REACHED names the file that lists these mutants.
void reached(int number);

/// Returns whether the mutant is active. It is false where the compiler evaluates constants.
constexpr bool on(int number) {
  if (__builtin_is_constant_evaluated())
    return false;
  if (active < 0)
    reached(number);
  return active == number;
}

constexpr auto value(int number, auto one, auto other) {
  return on(number) ? other : one;
}

#define MUTANTS_OPERATOR(name, one, other)                                     \
  constexpr auto name(int number, const auto& a, const auto& b) {              \
    return on(number) ? static_cast<decltype(a one b)>(a other b) : (a one b); \
  }
MUTANTS_OPERATOR(lt, <, <=)
MUTANTS_OPERATOR(le, <=, <)
MUTANTS_OPERATOR(gt, >, >=)
MUTANTS_OPERATOR(ge, >=, >)
MUTANTS_OPERATOR(eq, ==, !=)
MUTANTS_OPERATOR(ne, !=, ==)
MUTANTS_OPERATOR(add, +, -)
MUTANTS_OPERATOR(sub, -, +)
MUTANTS_OPERATOR(mul, *, +)
MUTANTS_OPERATOR(div, /, *)
#undef MUTANTS_OPERATOR

}  // namespace mutants
