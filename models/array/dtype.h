#pragma once

// Element types, under HLO's short names. What their bits mean and how they add is in arith.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

enum class Dtype : uint8_t { Pred, S8, S32, U8, U32, F16, BF16, F32, F64 };

/// Every dtype, in the order of the enumeration.
std::span<const Dtype> all_dtypes();

/// HLO's short name: "pred", "s8", ..., "bf16".
std::string_view name(Dtype dtype);

/// Reads HLO's short name or NumPy's ("float32", "int8", "bool", ...); empty where `text` is
/// neither.
std::optional<Dtype> dtype_named(std::string_view text);

Bytes itemsize(Dtype dtype);

bool is_float(Dtype dtype);
bool is_integer(Dtype dtype);  // pred is neither a float nor an integer
bool is_signed(Dtype dtype);   // floats and signed integers

}  // namespace orrery
