#pragma once

// Element types, under HLO's short names. What their bits mean and how they add is in arith.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/array/dtype_enum.h"
#include "models/base/quantity.h"

namespace orrery {

/// Every dtype, in the order of the enumeration.
std::span<const Dtype> all_dtypes();

/// HLO's short name: "pred", "s8", ..., "bf16".
std::string_view name(Dtype dtype);

/// Reads HLO's short name or that of NumPy and ml_dtypes ("float32", "int8", "bool",
/// "float8_e5m2", ...); empty where `text` is neither.
std::optional<Dtype> dtype_named(std::string_view text);

Bytes itemsize(Dtype dtype);

// Each dtype is a float, an integer, complex, or pred.
bool is_float(Dtype dtype);
bool is_integer(Dtype dtype);
bool is_complex(Dtype dtype);

bool is_signed(Dtype dtype);   // floats, complex dtypes and signed integers
bool is_inexact(Dtype dtype);  // floats and complex dtypes: what is computed of them is rounded

/// The dtype of the real and of the imaginary part; of a dtype that is not complex, itself.
Dtype part_dtype(Dtype dtype);
/// The complex dtype with parts of this dtype; empty where there is none.
std::optional<Dtype> complex_of(Dtype part);

}  // namespace orrery
