#pragma once

// Properties of random inputs inside doctest cases, by rapidcheck. A failure prints the shrunk
// counterexample and the RC_PARAMS that replay it. Tests draw through the functions below, which
// are compiled once: rapidcheck's own templates take the compiler a second or two in each suite.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include <rapidcheck/Assertions.h>

namespace orrery::test {

void check_property(const char* what, const std::function<void()>& property);
void check_property(const char* what, const std::function<void(uint64_t)>& property);

/// Checks `property` on random cases (how many: tries.h), as one assertion of the enclosing test
/// case. It says by RC_ASSERT what must hold, and draws its inputs, or one seed, which it is given.
template <class Property>
void holds_for_all(const char* what, const Property& property) {
  if constexpr (std::is_invocable_v<Property, uint64_t>) {
    static_assert(std::is_void_v<std::invoke_result_t<Property, uint64_t>>);
    check_property(what, std::function<void(uint64_t)>(property));
  } else {
    static_assert(std::is_void_v<std::invoke_result_t<Property>>);
    check_property(what, std::function<void()>(property));
  }
}

// To be called inside a property.

/// From `low` on and below `high`; near `low` in the first cases.
int64_t drawn_range(int64_t low, int64_t high);
template <class Int>
Int in_range(Int low, Int high) {
  return static_cast<Int>(drawn_range(static_cast<int64_t>(low), static_cast<int64_t>(high)));
}

/// From 0 on and below `count`; in all cases alike.
int64_t evenly_below(int64_t count);

bool any_bool();

/// Any value, a small one in the first cases. It has 8 to 64 bits, with or without a sign.
template <class Int>
Int any_int();

template <class T, class... More>
T one_of(T first, More... more) {
  const T all[] = {first, static_cast<T>(more)...};
  return all[in_range<size_t>(0, 1 + sizeof...(more))];
}

}  // namespace orrery::test
