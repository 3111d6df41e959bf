// A law inside a test: the sum of n equal arrays is n times one of them, for every n.

#include <doctest/doctest.h>

#include "orrery.h"

TEST_CASE("a law in C++: the sum of n equal arrays is n times one of them") {
  const orrery::Law law("sums", R"({"orrery": 1, "forall": {"n": {"from": 1, "to": 8}},
    "mesh": {"x": "${n}"}, "check_types": false,
    "arrays": {"a": {"shape": [4], "dtype": "s32"}, "n": {"shape": [4], "dtype": "s32", "init": "${n}"}},
    "program": [{"id": "sum", "op": "psum", "of": "a", "axis_name": "x"},
      {"id": "product", "op": "mul", "of": ["a", "n"]}],
    "expect": [{"equal": ["sum", "product"]}]})");
  CHECK(orrery::verify(law).verdict == orrery::Verdict::Holds);
}
