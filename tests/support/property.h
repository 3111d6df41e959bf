#pragma once

// Checks properties of random inputs inside doctest cases, by rapidcheck. A failure prints the
// shrunk counterexample and the RC_PARAMS that replay it. Tests draw values by the functions below,
// which are compiled once: rapidcheck's own templates cost a second or two of compile time in each
// suite.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

#include <rapidcheck/Assertions.h>

namespace orrery::test {

void check_property(const char* what, const std::function<void()>& property);
void check_property(const char* what, const std::function<void(uint64_t)>& property);

/// Checks `property` on random cases (tries.h says how many), as one assertion of the enclosing
/// test case. The property states by RC_ASSERT what must hold. It draws its own inputs, or takes a
/// seed as its argument.
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

// The functions below may be called inside a property only.

/// Returns a value in [low, high). In the first cases it is near `low`.
int64_t drawn_range(int64_t low, int64_t high);
template <class Int>
Int in_range(Int low, Int high) {
  return static_cast<Int>(drawn_range(static_cast<int64_t>(low), static_cast<int64_t>(high)));
}

/// Returns a value in [0, count), with equal odds in all cases.
int64_t evenly_below(int64_t count);

bool any_bool();

/// Returns any value of an integer type of 8 to 64 bits. In the first cases it is small.
template <class Int>
Int any_int();

template <class T, class... More>
T one_of(T first, More... more) {
  const T all[] = {first, static_cast<T>(more)...};
  return all[in_range<size_t>(0, 1 + sizeof...(more))];
}

}  // namespace orrery::test
