#pragma once

// These functions read and set one element of a tensor, by its row-major index.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/array/tensor.h"

namespace orrery {

/// Returns the shortest decimal that parse_element reads back to the same element ("0.1", "-0",
/// "1e+30", "-7"). The others are "NaN", "Infinity", "-Infinity", "true" and "false" for pred, and
/// "[1,-2.5]" for complex dtypes.
std::string element_text(const Tensor& tensor, int64_t index);

/// Sets the element to the value of `text`, in the form above ("0" and "1" too for pred), rounded
/// to nearest even. Returns false, with the element unchanged, if `text` as a whole is not of that
/// form, or if the dtype cannot represent the value. That is an integer out of range, an infinity
/// that the dtype lacks, or a finite float that would overflow or round to 0. (Floats narrower than
/// f32 round the f64 nearest to the decimal.)
bool parse_element(std::string_view text, Tensor& tensor, int64_t index);

// These convert as arith.h does. Floats are rounded to nearest even. Floats become integers by
// truncation and saturation, and NaN becomes 0. A u64 wraps to int64. Complex numbers give their
// real part.
double element_as_double(const Tensor& tensor, int64_t index);
int64_t element_as_int64(const Tensor& tensor, int64_t index);
void set_element_from_int64(Tensor& tensor, int64_t index, int64_t value);

/// Returns the real and the imaginary parts of complex elements along a new last dimension of 2.
Tensor parts(const Tensor& tensor);
/// Returns the complex elements with such parts.
Tensor joined(const Tensor& parts);

/// Returns the first element of which the bits differ, or nothing. Requires one dtype and shape.
std::optional<int64_t> differing_element(const Tensor& a, const Tensor& b);
/// Returns both elements as "1 and 2". NaNs have their bits too.
std::string differing_text(const Tensor& a, const Tensor& b, int64_t element);

// These require a dtype that is not complex.

/// Returns the element's bits, in the low bits of the word.
uint64_t element_bits(const Tensor& tensor, int64_t index);

/// Sets the element to the low bits of `bits`; the others must be 0.
void set_element_bits(Tensor& tensor, int64_t index, uint64_t bits);

}  // namespace orrery
