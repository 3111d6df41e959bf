// Tests the error bounds of complex numbers, which are distances in the plane.

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/base/random.h"
#include "tests/models/array/tensors.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/tries.h"
#include "tests/verifier/bounded.h"
#include "verifier/definition/bounds.h"

namespace orrery::test {
namespace {

using Complexes = std::vector<std::complex<double>>;
using Exact = std::vector<std::complex<long double>>;

/// Returns two devices whose sum "s" is `sum`. Each has half of it, so the bounds are u |s|.
Bounded summed(const Complexes& sum) {
  Complexes halves;
  for (const std::complex<double> number : sum)
    halves.push_back(number / 2.0);
  return Bounded(std::vector<Tensor>(2, complex_numbers(Dtype::C64, halves)));
}

std::complex<long double> element(const Tensor& tensor, size_t i) {
  const Tensor both = parts(convert(tensor, Dtype::C128));
  return {both.as<double>()[2 * i], both.as<double>()[2 * i + 1]};
}

}  // namespace

TEST_CASE("complex bounds: a sum by the magnitudes of its terms, parts and pairs by their errors") {
  Bounded bounded = summed({{3, 4}, {0, -2}});
  bounded.rig.op("real", "re", {"s"});
  bounded.rig.op("imag", "im", {"s"});
  bounded.rig.op("conj", "c", {"s"});
  bounded.rig.op("complex", "z", {"re", "im"});
  check_close_to(bounded.of("s"), {kU * 5, kU * 2});
  check_close_to(bounded.of("re"), {kU * 5, kU * 2});
  check_close_to(bounded.of("im"), {kU * 5, kU * 2});
  check_close_to(bounded.of("c"), {kU * 5, kU * 2});
  check_close_to(bounded.of("z"), {kU * 10, kU * 4});
}

TEST_CASE("complex bounds: a product has sqrt(5) roundings, a quotient one and what f64 adds") {
  Bounded bounded = summed({{3, 4}, {0, -2}});
  bounded.rig.op("mul", "p", {"s", "s"});
  bounded.rig.op("div", "q", {"s", "s"});
  const auto product = [](double size) {
    return kU * size * size * (2 + std::sqrt(5.0)) + kU * kU * size * size;
  };
  check_close_to(bounded.of("p"), {product(5), product(2)});
  // The bound is (e_x + 1 e_y) / (|y| - e_y), and u and 6 x 2^-53 of the quotient 1.
  const double quotient = 2 * kU / (1 - kU) + kU + 6 * 0x1p-53;
  check_close_to(bounded.of("q"), {quotient, quotient});
}

TEST_CASE("complex bounds: none near the branch cut, where the exact operand may be beyond it") {
  for (const char* op : {"log", "sqrt", "rsqrt"}) {
    CAPTURE(op);
    // u |s| is 2^-24 x 2: an imaginary part of 2^-22 is beyond that, and one of 2^-24 is not.
    Bounded bounded = summed({{-2, 0x1p-22}, {-2, -0x1p-24}, {-2, 0.0}, {2, 0.0}});
    bounded.rig.op(op, "f", {"s"});
    const std::vector<double> bounds = bounded.of("f");
    CHECK(std::isfinite(bounds[0]));
    CHECK(std::isinf(bounds[1]));
    CHECK(std::isinf(bounds[2]));
    CHECK(std::isfinite(bounds[3]));
    // Exact operands are on their own side of the branch cut.
    Bounded exact = summed({{-2, 0.0}});
    exact.rig.op(op, "f", {"a"});
    CHECK(std::isfinite(exact.of("f")[0]));
  }
}

TEST_CASE("complex bounds: none of what is not finite, of which one part may be rounded") {
  const double infinity = std::numeric_limits<double>::infinity();
  Bounded bounded = summed({{infinity, 1}});
  CHECK(bounded.of("s") == std::vector<double>{infinity});
}

TEST_CASE("complex bounds: signs and conversions that round nothing keep infinite parts exact") {
  const double infinity = std::numeric_limits<double>::infinity();
  Bounded bounded = summed({{infinity, 0.1}, {1, -infinity}});
  bounded.rig.op("neg", "n", {"a"});
  bounded.rig.op("neg", "ns", {"s"});
  CHECK(bounded.of("n") == std::vector<double>{0, 0});
  // A sum that is not known does not become known.
  CHECK(bounded.of("ns") == std::vector<double>{infinity, infinity});
}

TEST_CASE("complex bounds: a conversion to a real dtype is that of the real part") {
  const double infinity = std::numeric_limits<double>::infinity();
  // 2^200 overflows f32, and 1 + 2^-30 rounds. The imaginary parts do not matter.
  const Complexes numbers = {
      {0x1p200, infinity}, {0.5, infinity}, {1 + 0x1p-30, infinity}, {0.5, 0.1}};
  Bounded bounded(std::vector<Tensor>(2, complex_numbers(Dtype::C128, numbers)));
  bounded.rig.op("convert_element_type", "r", {"a"}, {{"new_dtype", Dtype::F32}});
  const std::vector<double> bounds = bounded.of("r");
  CHECK(std::isinf(bounds[0]));
  CHECK(bounds[1] == 0);
  check_close_to({bounds[2]}, {kU + 0x1p-150});
  CHECK(bounds[3] == 0);
}

TEST_CASE("complex bounds: an infinite number converts exactly where its parts are not rounded") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Complexes numbers = {{infinity, 0.5}, {infinity, 0.1}};
  Bounded bounded(std::vector<Tensor>(2, complex_numbers(Dtype::C128, numbers)));
  bounded.rig.op("convert_element_type", "r", {"a"}, {{"new_dtype", Dtype::C64}});
  CHECK(bounded.of("r") == std::vector<double>{0, infinity});
}

TEST_CASE("complex bounds: eq and ne are exact where numbers are further apart than their errors") {
  Bounded bounded = summed({{3, 4}, {3, 4}});
  bounded.rig.argument(
      "b", std::vector<Tensor>(2, complex_numbers(Dtype::C64, {{3, 4 + 0x1p-20}, {3, 4}})));
  bounded.rig.op("eq", "equal", {"s", "b"});
  // 5 u is below 2^-20, by which the imaginary parts differ.
  check_unknown(bounded, "equal", {false, true});
}

TEST_CASE("complex bounds: no chain of ops is further from its exact value, on random data") {
  constexpr uint32_t kDevices = 4;
  constexpr size_t kCount = 8;
  Random random(7);
  std::map<std::string, double> shares;
  const auto unit = [&] {
    return static_cast<double>(static_cast<float>(random.between(-(1 << 30), 1 << 30)) * 0x1p-30F);
  };
  for (uint64_t round = 0; round < tries(40); ++round) {
    HostRig rig({{"x", kDevices}});
    std::vector<Complexes> data(kDevices);
    std::vector<Tensor> tensors;
    for (Complexes& own : data) {
      for (size_t i = 0; i < kCount; ++i)
        own.emplace_back(unit(), unit());
      tensors.push_back(complex_numbers(Dtype::C64, own));
    }
    rig.argument("a", tensors);
    rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}});
    rig.op("pmean", "m", {"a"}, {{"axis_name", Names{"x"}}});
    rig.op("mul", "p", {"s", "m"});
    rig.op("div", "q", {"p", "a"});
    rig.op("sub", "d", {"p", "s"});
    for (const char* op : {"exp", "log", "sqrt", "rsqrt", "logistic", "sin", "cos"})
      rig.op(op, op, {"p"});
    rig.op("reduce_sum", "sum", {"p"}, {{"axes", Integers{0}}});
    rig.op("dot_general", "dot", {"p", "m"}, {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}});
    const DeviceValues values = rig.run().values;
    const DeviceValues bounds = error_bounds(rig.program, rig.lowered, values);

    Exact s(kCount, 0), m, p, q, d;
    std::complex<long double> sum = 0;
    std::complex<long double> dot = 0;
    for (size_t i = 0; i < kCount; ++i) {
      for (const Complexes& own : data)
        s[i] += std::complex<long double>(own[i]);
      m.push_back(s[i] / static_cast<long double>(kDevices));
      p.push_back(s[i] * m[i]);
      q.push_back(p[i] / std::complex<long double>(data[0][i]));
      d.push_back(p[i] - s[i]);
      sum += p[i];
      dot += p[i] * m[i];
    }
    const auto check = [&](const std::string& name, const Exact& exact) {
      const Tensor& computed = *values.at(rig.value(name), LogicalId(0));
      const Numbers bound = numbers(*bounds.at(rig.value(name), LogicalId(0)));
      for (size_t i = 0; i < exact.size(); ++i) {
        const auto error = static_cast<double>(std::abs(element(computed, i) - exact[i]));
        CAPTURE(name);
        CAPTURE(i);
        CHECK(error <= bound[i]);
        if (std::isfinite(bound[i]))
          shares[name] = std::max(shares[name], error / bound[i]);
      }
    };
    const auto mapped = [&](auto function) {
      Exact result;
      for (const std::complex<long double> x : p)
        result.push_back(function(x));
      return result;
    };
    using Number = std::complex<long double>;
    check("s", s);
    check("m", m);
    check("p", p);
    check("q", q);
    check("d", d);
    check("exp", mapped([](Number x) { return std::exp(x); }));
    check("log", mapped([](Number x) { return std::log(x); }));
    check("sqrt", mapped([](Number x) { return std::sqrt(x); }));
    check("rsqrt", mapped([](Number x) { return Number(1) / std::sqrt(x); }));
    check("logistic", mapped([](Number x) { return Number(1) / (Number(1) + std::exp(-x)); }));
    check("sin", mapped([](Number x) { return std::sin(x); }));
    check("cos", mapped([](Number x) { return std::cos(x); }));
    check("sum", {sum});
    check("dot", {dot});
  }
  // No bound is so wide that random roundings come nowhere near it.
  for (const auto& share : shares) {
    CAPTURE(share.first);
    CHECK(share.second > 1.0 / 32);
  }
}

}  // namespace orrery::test
