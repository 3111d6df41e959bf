#include "models/array/dtype.h"

#include <array>

#include <doctest/doctest.h>

#include "models/array/arith.h"

namespace orrery {

TEST_CASE("dtype: names, sizes and kinds") {
  struct Row {
    Dtype dtype;
    std::string_view hlo, numpy;
    int64_t bytes;
    bool is_float, is_integer, is_complex, is_signed;
  };
  const std::array<Row, 17> rows = {{
      {Dtype::Pred, "pred", "bool", 1, false, false, false, false},
      {Dtype::S8, "s8", "int8", 1, false, true, false, true},
      {Dtype::S16, "s16", "int16", 2, false, true, false, true},
      {Dtype::S32, "s32", "int32", 4, false, true, false, true},
      {Dtype::S64, "s64", "int64", 8, false, true, false, true},
      {Dtype::U8, "u8", "uint8", 1, false, true, false, false},
      {Dtype::U16, "u16", "uint16", 2, false, true, false, false},
      {Dtype::U32, "u32", "uint32", 4, false, true, false, false},
      {Dtype::U64, "u64", "uint64", 8, false, true, false, false},
      {Dtype::F16, "f16", "float16", 2, true, false, false, true},
      {Dtype::BF16, "bf16", "bfloat16", 2, true, false, false, true},
      {Dtype::F32, "f32", "float32", 4, true, false, false, true},
      {Dtype::F64, "f64", "float64", 8, true, false, false, true},
      {Dtype::F8E4M3FN, "f8e4m3fn", "float8_e4m3fn", 1, true, false, false, true},
      {Dtype::F8E5M2, "f8e5m2", "float8_e5m2", 1, true, false, false, true},
      {Dtype::C64, "c64", "complex64", 8, false, false, true, true},
      {Dtype::C128, "c128", "complex128", 16, false, false, true, true},
  }};
  REQUIRE(all_dtypes().size() == rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    CAPTURE(row.hlo);
    CHECK(all_dtypes()[i] == row.dtype);
    CHECK(name(row.dtype) == row.hlo);
    CHECK(dtype_named(row.hlo) == row.dtype);
    CHECK(dtype_named(row.numpy) == row.dtype);
    CHECK(itemsize(row.dtype) == Bytes(row.bytes));
    CHECK(is_float(row.dtype) == row.is_float);
    CHECK(is_integer(row.dtype) == row.is_integer);
    CHECK(is_complex(row.dtype) == row.is_complex);
    CHECK(is_inexact(row.dtype) == (row.is_float || row.is_complex));
    CHECK(is_signed(row.dtype) == row.is_signed);
    const bool as_dispatched = dispatch(row.dtype, [&](auto tag) {
      using E = typename decltype(tag)::type;
      return int64_t{sizeof(E)} == row.bytes && arith::kIsFloat<E> == row.is_float &&
             arith::kIsInteger<E> == row.is_integer && arith::kIsComplex<E> == row.is_complex;
    });
    CHECK(as_dispatched);
  }
}

TEST_CASE("dtype: unknown names are refused") {
  for (const std::string_view text :
       {"", "F32", "f8", "float", "s4", "int4", "f32 ", "c32", "complex"}) {
    CAPTURE(text);
    CHECK_FALSE(dtype_named(text));
  }
}

TEST_CASE("dtype: the parts of complex numbers are floats of half the size") {
  for (const Dtype dtype : all_dtypes()) {
    CAPTURE(name(dtype));
    const Dtype part = part_dtype(dtype);
    if (is_complex(dtype)) {
      CHECK(is_float(part));
      CHECK(itemsize(part) * 2 == itemsize(dtype));
      CHECK(complex_of(part) == dtype);
    } else {
      CHECK(part == dtype);
    }
  }
  CHECK_FALSE(complex_of(Dtype::F16));
  CHECK_FALSE(complex_of(Dtype::S32));
  CHECK_FALSE(complex_of(Dtype::C64));
}

}  // namespace orrery
