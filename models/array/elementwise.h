#pragma once

// Local ops that work element by element. Their element functions are in element_ops.h.
// Callers have checked the operands; a failed check here is a bug.

#include <span>
#include <variant>

#include "models/array/element_ops.h"
#include "models/array/numerics.h"
#include "models/array/tensor.h"

namespace orrery {

Tensor elementwise(Unary op, const Tensor& operand);

// Operands of one dtype and one shape; a scalar goes with any.
Tensor elementwise(Binary op, const Tensor& left, const Tensor& right);
Tensor elementwise(Comparison op, const Tensor& left, const Tensor& right);

// The parts of a complex number, as floats.
Tensor real(const Tensor& operand);
Tensor imag(const Tensor& operand);
/// The complex number of two parts: f32 or f64, of one shape; a scalar goes with any.
Tensor complex(const Tensor& real, const Tensor& imag);
/// The complex conjugate, also of f32 and f64, whose imaginary part is +0.
Tensor conj(const Tensor& operand);

using Elementwise = std::variant<Unary, Binary, Comparison>;
/// As many operands as the op has. By XlaCpu subnormals are flushed, but Neg keeps them.
Tensor elementwise(const Elementwise& op, std::span<const Tensor* const> operands,
                   Numerics numerics = Numerics::Ieee);

/// Element by element from cases[which], with `which` clamped to the cases (false is 0, true is 1).
/// `which` is of pred or s32; the cases are of one dtype. All have one shape, or are scalars.
Tensor select_n(const Tensor& which, std::span<const Tensor* const> cases);

}  // namespace orrery
