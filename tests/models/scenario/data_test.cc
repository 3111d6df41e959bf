#include <cmath>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/scenario/reader.h"
#include "models/scenario/scenario.h"
#include "tests/models/array/tensors.h"

namespace orrery {
namespace {

/// Returns a scenario on a mesh of x: 2, y: 2 with one array.
Scenario scenario_with(const std::string& array) {
  return read_scenario("f", R"({"orrery": 1, "mesh": {"x": 2, "y": 2}, "program": [],
"cluster": {"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
"arrays": {"a": )" + array + "}}");
}

Tensor part(const Scenario& s, uint32_t device, uint64_t seed = 0) {
  return initial_value(s, s.arrays[0], LogicalId(device), seed);
}

std::vector<int64_t> numbers(const Tensor& tensor) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    result.push_back(element_as_int64(tensor, i));
  return result;
}

TEST_CASE("initial value: iota counts over the global array") {
  // There are rows 0..3 of two columns: device (x, y) has rows 2x, 2x+1 and column y.
  const Scenario s =
      scenario_with(R"({"shape": [4, 2], "dtype": "s32", "spec": ["x", "y"], "init": "iota"})");
  CHECK(numbers(part(s, 0)) == std::vector<int64_t>{0, 2});
  CHECK(numbers(part(s, 1)) == std::vector<int64_t>{1, 3});
  CHECK(numbers(part(s, 2)) == std::vector<int64_t>{4, 6});
  CHECK(numbers(part(s, 3)) == std::vector<int64_t>{5, 7});
  CHECK(part(s, 3).shape() == Shape{2, 1});
}

TEST_CASE("initial value: a dimension cut by two axes, the first the major one") {
  const Scenario s = scenario_with(
      R"({"shape": [2, 8], "dtype": "s32", "spec": [null, ["y", "x"]], "init": "iota"})");
  // Device 1 is at x = 0, y = 1: it has part 2 of 4.
  CHECK(numbers(part(s, 1)) == std::vector<int64_t>{4, 5, 12, 13});
}

TEST_CASE("initial value: iota is the one of the kernels") {
  const Scenario s = scenario_with(R"({"shape": [3, 5], "dtype": "bf16", "init": "iota"})");
  CHECK(part(s, 2) == iota(Dtype::BF16, Shape{3, 5}));
}

TEST_CASE("initial value: a scalar and an empty array") {
  CHECK(numbers(part(scenario_with(R"({"shape": [], "dtype": "s32", "init": "iota"})"), 0)) ==
        std::vector<int64_t>{0});
  CHECK(
      part(scenario_with(R"({"shape": [4, 0], "dtype": "s32", "spec": ["x"], "init": "iota"})"), 1)
          .elements() == 0);
}

TEST_CASE("initial value: one number everywhere") {
  const Scenario s = scenario_with(R"({"shape": [4], "dtype": "f16", "spec": ["x"], "init": 0.5})");
  CHECK(part(s, 0) == full(Dtype::F16, Shape{2}, 0.5));
}

TEST_CASE("initial value: literal elements of each device") {
  const Scenario s =
      scenario_with(R"({"local_shape": [1], "dtype": "u8", "per_device": [[9], [8], [7], [6]]})");
  CHECK(numbers(part(s, 2)) == std::vector<int64_t>{7});
}

TEST_CASE("initial value: random elements depend only on the index in the global array") {
  const Scenario cut = scenario_with(R"({"shape": [6, 4], "dtype": "f32", "spec": ["x", "y"]})");
  const Scenario whole = scenario_with(R"({"shape": [6, 4], "dtype": "f32"})");
  const Tensor all = part(whole, 0, 5);
  CHECK(part(whole, 3, 5) == all);
  // Device 2 is at x = 1, y = 0: it has rows 3 to 5, columns 0 and 1.
  CHECK(part(cut, 2, 5) == slice(all, {{3, 0}, {6, 2}, {}}));
}

TEST_CASE("initial value: other seeds and other array names give other elements") {
  const Scenario s = scenario_with(R"({"shape": [64], "dtype": "f32", "init": "random"})");
  const Scenario seeded =
      scenario_with(R"({"shape": [64], "dtype": "f32", "init": {"random": 1}})");
  Scenario renamed = s;
  renamed.arrays[0].name = "b";
  CHECK(part(s, 0, 5) == part(s, 0, 5));
  CHECK_FALSE(part(s, 0, 5) == part(s, 0, 6));
  CHECK_FALSE(part(s, 0, 5) == part(seeded, 0, 5));
  CHECK_FALSE(part(s, 0, 5) == part(renamed, 0, 5));
}

TEST_CASE("initial value: random floats have all bits of their dtype, in four powers of two") {
  for (const Dtype dtype :
       {Dtype::F64, Dtype::F32, Dtype::BF16, Dtype::F16, Dtype::F8E4M3FN, Dtype::F8E5M2}) {
    CAPTURE(name(dtype));
    const Scenario s =
        scenario_with("{\"shape\": [4000], \"dtype\": \"" + std::string(name(dtype)) + "\"}");
    const Tensor drawn = part(s, 0);
    uint64_t ones = 0;  // bits that some element has
    uint64_t zeros = 0;
    std::map<int, int> powers;
    double sum = 0;
    for (int64_t i = 0; i < drawn.elements(); ++i) {
      const double value = element_as_double(drawn, i);
      sum += value;
      CHECK(std::fabs(value) >= 1.0 / 16);
      CHECK(std::fabs(value) <= 1);  // rounding up
      ones |= element_bits(drawn, i);
      zeros |= ~element_bits(drawn, i);
      ++powers[std::ilogb(value)];
    }
    CHECK((ones & zeros & 3U) == 3U);  // the last two bits of the fraction, and the sign
    CHECK(((ones & zeros) >> (8 * static_cast<uint64_t>(itemsize(dtype).count()) - 1) & 1U) == 1U);
    for (int power = -4; power <= -1; ++power)
      CHECK(powers[power] > 700);  // of about 1000, less those that round up
    // Both signs are equally likely: the sum of 4000 numbers has a deviation of 33 (each of about
    // 0.53).
    CHECK(std::fabs(sum) < 5 * 33.0);
  }
}

TEST_CASE("initial value: random sums depend on their order, in every float dtype") {
  for (const Dtype dtype :
       {Dtype::F64, Dtype::F32, Dtype::BF16, Dtype::F16, Dtype::F8E4M3FN, Dtype::F8E5M2}) {
    CAPTURE(name(dtype));
    const Scenario s =
        scenario_with("{\"shape\": [3, 100], \"dtype\": \"" + std::string(name(dtype)) + "\"}");
    const Tensor rows = part(s, 0);
    const auto row = [&](int64_t r) { return slice(rows, {{r, 0}, {r + 1, 100}, {}}); };
    const auto add = [](const Tensor& a, const Tensor& b) {
      return elementwise(Binary::Add, a, b);
    };
    CHECK_FALSE(add(add(row(0), row(1)), row(2)) == add(row(0), add(row(1), row(2))));
  }
}

TEST_CASE("initial value: of complex dtypes both parts are random, and random by their place") {
  const Scenario s = scenario_with(R"({"shape": [6, 4], "dtype": "c64", "spec": ["x", "y"]})");
  const Scenario whole = scenario_with(R"({"shape": [6, 4], "dtype": "c64"})");
  CHECK(part(s, 2) == slice(part(whole, 2), {{3, 0}, {6, 2}, {}}));
  const Tensor both = parts(part(whole, 0));
  CHECK_FALSE(real(part(whole, 0)) == imag(part(whole, 0)));
  for (int64_t i = 0; i < both.elements(); ++i) {
    CHECK(std::fabs(element_as_double(both, i)) >= 1.0 / 16);
    CHECK(std::fabs(element_as_double(both, i)) <= 1);
  }
}

TEST_CASE("initial value: numbers and counts of complex dtypes are real; pairs have two parts") {
  CHECK(part(scenario_with(R"({"shape": [2], "dtype": "c64", "init": 1.5})"), 0) ==
        test::complex_numbers(Dtype::C64, {{1.5, 0}, {1.5, 0}}));
  CHECK(part(scenario_with(R"({"shape": [2], "dtype": "c64", "init": [1.5, "-Infinity"]})"), 0) ==
        test::complex_numbers(Dtype::C64, {{1.5, -test::kInf}, {1.5, -test::kInf}}));
  CHECK(part(scenario_with(R"({"shape": [2], "dtype": "c128", "init": "iota"})"), 0) ==
        test::complex_numbers(Dtype::C128, {{0, 0}, {1, 0}}));
  const Scenario s = scenario_with(R"({"local_shape": [2], "dtype": "c64",
"per_device": [[[1, -2], ["NaN", "Infinity"]], [[0, 0], [0, 0]], [[0, 0], [0, 0]], [[0, 0], [0, 0]]]})");
  CHECK(part(s, 0) == test::complex_numbers(Dtype::C64, {{1, -2}, {test::kNan, test::kInf}}));
  const Scenario bits = scenario_with(R"({"local_shape": [1], "dtype": "c64", "encoding": "bits",
"per_device": [[[1065353216, 2147483648]], [[0, 0]], [[0, 0]], [[0, 0]]]})");
  CHECK(part(bits, 0) == test::complex_numbers(Dtype::C64, {{1, -0.0}}));
}

TEST_CASE("initial value: random integers are all the small whole numbers, and floats on request") {
  const auto drawn = [](std::string_view dtype) {
    const Scenario s = scenario_with("{\"shape\": [1000], \"dtype\": \"" + std::string(dtype) +
                                     "\", \"init\": {\"random\": 0, \"values\": \"integers\"}}");
    const std::vector<int64_t> values = numbers(part(s, 0));
    return std::set<int64_t>(values.begin(), values.end());
  };
  CHECK(drawn("f32") == std::set<int64_t>{-4, -3, -2, -1, 0, 1, 2, 3, 4});
  CHECK(drawn("f8e5m2") == std::set<int64_t>{-1, 0, 1});
  CHECK(drawn("s8") == std::set<int64_t>{-4, -3, -2, -1, 0, 1, 2, 3, 4});
  CHECK(drawn("u32") == std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(drawn("pred") == std::set<int64_t>{0, 1});
}

}  // namespace
}  // namespace orrery
