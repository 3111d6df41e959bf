#pragma once

// Element types, under HLO's short names. What their bits mean and how they add is in arith.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "models/base/quantity.h"

namespace orrery {

enum class Dtype : uint8_t {
  Pred,
  S8,
  S16,
  S32,
  S64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E5M2,
};

/// Every dtype, in the order of the enumeration.
std::span<const Dtype> all_dtypes();

/// HLO's short name: "pred", "s8", ..., "bf16".
std::string_view name(Dtype dtype);

/// Reads HLO's short name or that of NumPy and ml_dtypes ("float32", "int8", "bool",
/// "float8_e5m2", ...); empty where `text` is neither.
std::optional<Dtype> dtype_named(std::string_view text);

/// Whether `text` names a complex type of HLO or NumPy, none of which is a dtype here.
bool names_complex(std::string_view text);

Bytes itemsize(Dtype dtype);

bool is_float(Dtype dtype);
bool is_integer(Dtype dtype);  // pred is neither a float nor an integer
bool is_signed(Dtype dtype);   // floats and signed integers

}  // namespace orrery
