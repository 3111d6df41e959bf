#pragma once

// This freestanding file has the elementwise ops, and the function of elements that each applies.

#include <stdint.h>

#include "models/array/combine.h"
#include "models/array/functions.h"
#include "models/array/host_device.h"
#include "models/array/xla_cpu.h"

namespace orrery {

/// Neg takes numbers, the others take floats and complex dtypes.
enum class Unary : uint8_t { Neg, Exp, Log, Sqrt, Rsqrt, Logistic, Sin, Cos };
/// Binary ops take numbers. Max and Min take pred too, as `or` and `and`, but not complex dtypes.
enum class Binary : uint8_t { Add, Sub, Mul, Div, Max, Min };
/// Comparisons take any dtype, but complex ones have Eq and Ne only. The result is pred. false <
/// true.
enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

namespace arith {

// Each with_function() calls `use` with the function that the op applies to elements of type E. It
// returns false if the op does not take such elements.

template <class E, class Use>
ORRERY_HOST_DEVICE constexpr bool with_function(Unary op, Use&& use) {
  if constexpr (kIsNumber<E>) {
    if (op == Unary::Neg)
      return use([](E x) { return negate(x); }), true;
  }
  if constexpr (kIsFloat<E> || kIsComplex<E>) {
    switch (op) {
      case Unary::Neg:
        break;
      case Unary::Exp:
        return use([](E x) { return exp(x); }), true;
      case Unary::Log:
        return use([](E x) { return log(x); }), true;
      case Unary::Sqrt:
        return use([](E x) { return sqrt(x); }), true;
      case Unary::Rsqrt:
        return use([](E x) { return rsqrt(x); }), true;
      case Unary::Logistic:
        return use([](E x) { return logistic(x); }), true;
      case Unary::Sin:
        return use([](E x) { return sin(x); }), true;
      case Unary::Cos:
        return use([](E x) { return cos(x); }), true;
    }
  }
  return false;
}

/// With XlaCpu the function flushes subnormal operands and results.
template <class E, class Use>
ORRERY_HOST_DEVICE constexpr bool with_function(Binary op, Numerics numerics, Use&& use) {
  constexpr bool kFlushes = kIsFloat<E> || kIsComplex<E>;
  if constexpr (kFlushes) {
    if (numerics == Numerics::XlaCpu) {
      switch (op) {
        case Binary::Add:
          return use([](E x, E y) { return xla_cpu::add(x, y); }), true;
        case Binary::Sub:
          return use([](E x, E y) { return xla_cpu::subtract(x, y); }), true;
        case Binary::Mul:
          return use([](E x, E y) { return xla_cpu::multiply(x, y); }), true;
        case Binary::Div:
          return use([](E x, E y) {
                   using xla_cpu::flushed;
                   if constexpr (kIsComplex<E>)  // XLA's own formula is not copied
                     return flushed(divide(flushed(x), flushed(y)));
                   else
                     return xla_cpu::divide(x, y);
                 }),
                 true;
        case Binary::Max:
          if constexpr (kIsOrdered<E>)
            return use([](E x, E y) { return maximum(xla_cpu::flushed(x), xla_cpu::flushed(y)); }),
                   true;
          break;
        case Binary::Min:
          if constexpr (kIsOrdered<E>)
            return use([](E x, E y) { return minimum(xla_cpu::flushed(x), xla_cpu::flushed(y)); }),
                   true;
          break;
      }
      return false;
    }
  }
  if constexpr (kIsOrdered<E>) {
    if (op == Binary::Max)
      return use([](E x, E y) { return maximum(x, y); }), true;
    if (op == Binary::Min)
      return use([](E x, E y) { return minimum(x, y); }), true;
  }
  if constexpr (kIsNumber<E>) {
    switch (op) {
      case Binary::Add:
        return use([](E x, E y) { return add(x, y); }), true;
      case Binary::Sub:
        return use([](E x, E y) { return subtract(x, y); }), true;
      case Binary::Mul:
        return use([](E x, E y) { return multiply(x, y); }), true;
      case Binary::Div:
        return use([](E x, E y) { return divide(x, y); }), true;
      case Binary::Max:
      case Binary::Min:
        break;
    }
  }
  return false;
}

template <class E, class Use>
ORRERY_HOST_DEVICE constexpr bool with_function(Comparison op, Use&& use) {
  if (op == Comparison::Eq)
    return use([](E x, E y) { return equal(x, y); }), true;
  if (op == Comparison::Ne)
    return use([](E x, E y) { return !equal(x, y); }), true;
  if constexpr (kIsOrdered<E>) {
    switch (op) {
      case Comparison::Eq:
      case Comparison::Ne:
        break;  // need no order
      case Comparison::Lt:
        return use([](E x, E y) { return less(x, y); }), true;
      case Comparison::Le:
        return use([](E x, E y) { return less(x, y) || equal(x, y); }), true;
      case Comparison::Gt:
        return use([](E x, E y) { return less(y, x); }), true;
      case Comparison::Ge:
        return use([](E x, E y) { return less(y, x) || equal(x, y); }), true;
    }
  }
  return false;
}

}  // namespace arith

}  // namespace orrery
