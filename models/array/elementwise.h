#pragma once

// Local ops that work element by element. Their element functions are in arith.h and
// transcendental.h. Callers have checked the operands; a failed check here is a bug.

#include <cstdint>
#include <span>
#include <variant>

#include "models/array/numerics.h"
#include "models/array/tensor.h"

namespace orrery {

/// Neg of numbers, the others of floats.
enum class Unary : uint8_t { Neg, Exp, Log, Sqrt, Rsqrt, Logistic, Sin, Cos };
/// Of numbers; Max and Min also of pred, as `or` and `and`.
enum class Binary : uint8_t { Add, Sub, Mul, Div, Max, Min };
/// Of any dtype; the result is pred. false < true.
enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };

Tensor elementwise(Unary op, const Tensor& operand);

// Operands of one dtype and one shape; a scalar goes with any.
Tensor elementwise(Binary op, const Tensor& left, const Tensor& right);
Tensor elementwise(Comparison op, const Tensor& left, const Tensor& right);

using Elementwise = std::variant<Unary, Binary, Comparison>;
/// As many operands as the op has. By XlaCpu subnormals are flushed, but Neg keeps them.
Tensor elementwise(const Elementwise& op, std::span<const Tensor* const> operands,
                   Numerics numerics = Numerics::Ieee);

/// Element by element from cases[which], with `which` clamped to the cases (false is 0, true is 1).
/// `which` is of pred or s32; the cases are of one dtype. All have one shape, or are scalars.
Tensor select_n(const Tensor& which, std::span<const Tensor* const> cases);

}  // namespace orrery
