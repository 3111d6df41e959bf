#include "models/array/dtype.h"

#include <array>

namespace orrery {

namespace {

enum class Class : uint8_t { Boolean, Signed, Unsigned, Float, Complex };

struct Facts {
  std::string_view hlo;
  std::string_view numpy;
  int64_t bytes;
  Class sort;
};

// There is one entry per dtype, in the order of the enumeration.
constexpr std::array<Facts, 17> kFacts = {{
    {"pred", "bool", 1, Class::Boolean},
    {"s8", "int8", 1, Class::Signed},
    {"s16", "int16", 2, Class::Signed},
    {"s32", "int32", 4, Class::Signed},
    {"s64", "int64", 8, Class::Signed},
    {"u8", "uint8", 1, Class::Unsigned},
    {"u16", "uint16", 2, Class::Unsigned},
    {"u32", "uint32", 4, Class::Unsigned},
    {"u64", "uint64", 8, Class::Unsigned},
    {"f16", "float16", 2, Class::Float},
    {"bf16", "bfloat16", 2, Class::Float},
    {"f32", "float32", 4, Class::Float},
    {"f64", "float64", 8, Class::Float},
    {"f8e4m3fn", "float8_e4m3fn", 1, Class::Float},
    {"f8e5m2", "float8_e5m2", 1, Class::Float},
    {"c64", "complex64", 8, Class::Complex},
    {"c128", "complex128", 16, Class::Complex},
}};

constexpr std::array<Dtype, kFacts.size()> kAll = [] {
  std::array<Dtype, kFacts.size()> all{};
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<Dtype>(i);
  return all;
}();

const Facts& facts(Dtype dtype) {
  return kFacts[static_cast<size_t>(dtype)];
}

}  // namespace

std::span<const Dtype> all_dtypes() {
  return kAll;
}

std::string_view name(Dtype dtype) {
  return facts(dtype).hlo;
}

std::optional<Dtype> dtype_named(std::string_view text) {
  for (const Dtype dtype : kAll) {
    if (text == facts(dtype).hlo || text == facts(dtype).numpy)
      return dtype;
  }
  return std::nullopt;
}

Bytes itemsize(Dtype dtype) {
  return Bytes(facts(dtype).bytes);
}

bool is_float(Dtype dtype) {
  return facts(dtype).sort == Class::Float;
}

bool is_integer(Dtype dtype) {
  return facts(dtype).sort == Class::Signed || facts(dtype).sort == Class::Unsigned;
}

bool is_complex(Dtype dtype) {
  return facts(dtype).sort == Class::Complex;
}

bool is_signed(Dtype dtype) {
  return facts(dtype).sort == Class::Signed || is_inexact(dtype);
}

bool is_inexact(Dtype dtype) {
  return is_float(dtype) || is_complex(dtype);
}

Dtype part_dtype(Dtype dtype) {
  if (!is_complex(dtype))
    return dtype;
  return dtype == Dtype::C64 ? Dtype::F32 : Dtype::F64;
}

std::optional<Dtype> complex_of(Dtype part) {
  for (const Dtype dtype : kAll)
    if (is_complex(dtype) && part_dtype(dtype) == part)
      return dtype;
  return std::nullopt;
}

}  // namespace orrery
