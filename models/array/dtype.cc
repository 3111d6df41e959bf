#include "models/array/dtype.h"

#include <array>

namespace orrery {

namespace {

enum class Class : uint8_t { Boolean, Signed, Unsigned, Float };

struct Facts {
  std::string_view hlo;
  std::string_view numpy;
  int64_t bytes;
  Class sort;
};

constexpr std::array<Dtype, 9> kAll = {Dtype::Pred, Dtype::S8,   Dtype::S32, Dtype::U8, Dtype::U32,
                                       Dtype::F16,  Dtype::BF16, Dtype::F32, Dtype::F64};

// One entry per dtype, in the order of the enumeration.
constexpr std::array<Facts, kAll.size()> kFacts = {{
    {"pred", "bool", 1, Class::Boolean},
    {"s8", "int8", 1, Class::Signed},
    {"s32", "int32", 4, Class::Signed},
    {"u8", "uint8", 1, Class::Unsigned},
    {"u32", "uint32", 4, Class::Unsigned},
    {"f16", "float16", 2, Class::Float},
    {"bf16", "bfloat16", 2, Class::Float},
    {"f32", "float32", 4, Class::Float},
    {"f64", "float64", 8, Class::Float},
}};

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

bool is_signed(Dtype dtype) {
  return facts(dtype).sort == Class::Signed || facts(dtype).sort == Class::Float;
}

}  // namespace orrery
