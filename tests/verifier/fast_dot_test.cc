// Tests values that depend on products by cuBLASLt: they are compared within bounds, which find
// wrong values.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/array/text.h"
#include "models/base/random.h"
#include "models/program/dependent_values.h"
#include "simulator/memory/profile.h"
#include "simulator/values/cuda/executor.h"
#include "simulator/values/host_executor.h"
#include "tests/models/array/random_tensors.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/mock_cuda/mock_control.h"
#include "tests/support/tries.h"
#include "verifier/definition/bounds.h"
#include "verifier/gpus/gpus.h"

namespace orrery::test {

namespace {

const std::pair<std::string, Attribute> kRowsByColumns = {"dimension_numbers",
                                                          Lists{{1}, {0}, {}, {}}};

/// Returns any floats between -1 and 1.
Tensor random_floats(Dtype dtype, Shape shape, Random& random) {
  Tensor tensor(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    set_element_from_double(
        tensor, i,
        std::ldexp(static_cast<double>(random.between(-(int64_t{1} << 40), int64_t{1} << 40)),
                   -40));
  return tensor;
}

/// Adds "d", a product of dtype[6,40] by dtype[40,5] on two devices.
void give_product(HostRig& rig, Dtype dtype, uint64_t seed) {
  Random random(seed);
  const auto both = [&](const Shape& shape) {
    return std::vector<Tensor>{random_floats(dtype, shape, random),
                               random_floats(dtype, shape, random)};
  };
  rig.argument("a", both({6, 40}));
  rig.argument("b", both({40, 5}));
  rig.op("dot_general", "d", {"a", "b"}, {kRowsByColumns});
}

/// Runs the program on the mock, by cuBLASLt.
cuda::GpuRun run_fast(HostRig& rig, MockCudaSettings settings = {}) {
  rig.lower();
  const cuda::Driver driver = mock_driver(settings);
  const auto library = std::get<cuda::CublasLt>(cuda::load_cublaslt(MockControl::library()));
  cuda::ExecutorOptions options;
  options.cublaslt = &library;
  const MemoryPolicy policy;
  return cuda::execute(driver, rig.program, rig.lowered, policy,
                       profile(rig.program, rig.lowered, policy), rig.arguments, options);
}

Check checked(HostRig& rig, const cuda::GpuRun& gpus) {
  const HostRun host = rig.run();
  return gpu_values_agree(rig.program, rig.lowered, host.values, gpus.values,
                          gpus.facts.dots->by_cublaslt);
}

TEST_CASE("fast dot: what depends on it is compared within bounds, the rest bit for bit") {
  HostRig rig({{"x", 2}});
  give_product(rig, Dtype::F32, 1);
  rig.op("psum", "s", {"d"}, {{"axis_name", Names{"x"}}});
  rig.op("exp", "e", {"s"});
  rig.op("add", "twice", {"a", "a"});
  const cuda::GpuRun gpus = run_fast(rig);
  const Check check = checked(rig, gpus);
  // The counts are of "twice" on two devices, and of "d", "s" and "e".
  CHECK(check.verdict == Verdict::Holds);
  CHECK(check.message ==
        "2 values of the GPUs are those of the host executor, bit for bit. 6 that depend on "
        "--fast-dot were compared within the bounds of both sides' roundings.");
  const HostRun host = rig.run();
  CHECK_FALSE(same_bits(*host.values.at(rig.value("d"), LogicalId(0)),
                        *gpus.values.at(rig.value("d"), LogicalId(0))));
}

TEST_CASE("fast dot: products in another order of adding are within the bounds, of every dtype") {
  size_t other_bits = 0;
  for (uint64_t seed = 1; seed <= tries(40); ++seed) {
    HostRig rig({{"x", 2}});
    const Dtype dtype = std::vector{Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}[seed % 4];
    give_product(rig, dtype, seed);
    rig.op("psum", "s", {"d"}, {{"axis_name", Names{"x"}}});
    rig.op("mul", "m", {"s", "d"});
    rig.op("dot_general", "again", {"m", "a"}, {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}});
    const cuda::GpuRun gpus = run_fast(rig, {.seed = seed});
    CAPTURE(seed);
    CHECK(gpus.facts.dots->by_cublaslt.size() == 2);
    CHECK(checked(rig, gpus).verdict == Verdict::Holds);
    const HostRun host = rig.run();
    other_bits += same_bits(*host.values.at(rig.value("again"), LogicalId(0)),
                            *gpus.values.at(rig.value("again"), LogicalId(0)))
                      ? 0
                      : 1;
  }
  // The other bits are of f32 and f64; narrow results mostly round to the same bits.
  CHECK(other_bits >= tries(20));
}

TEST_CASE("fast dot: an element that is wrong by more than its bound is named") {
  for (const Dtype dtype : {Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}) {
    HostRig rig({{"x", 2}});
    give_product(rig, dtype, 3);
    const Check check = checked(rig, run_fast(rig, {.product_errors = 1}));
    CAPTURE(name(dtype));
    CHECK(check.verdict == Verdict::Fails);
    CHECK(check.message.find("\"d\" on device 0: element 0 is ") == 0);
    CHECK(check.message.find(" on the host, and the roundings of both allow a difference of ") !=
          std::string::npos);
  }
}

TEST_CASE("fast dot: a wrong bit of what does not depend on it is found") {
  HostRig rig({{"x", 2}});
  give_product(rig, Dtype::F32, 1);
  rig.op("add", "twice", {"a", "a"});
  cuda::GpuRun gpus = run_fast(rig);
  Tensor& twice = *gpus.values.at(rig.value("twice"), LogicalId(1));
  twice.bytes()[8] ^= std::byte{1};
  const Check check = checked(rig, gpus);
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message.find("\"twice\" on device 1: element 2 is ") == 0);
  CHECK(check.message.find("roundings") == std::string::npos);
}

TEST_CASE("fast dot: comparisons of what is nearer than its errors are not compared, and counted") {
  HostRig before({{"x", 2}});
  give_product(before, Dtype::F32, 1);
  const HostRun known = before.run();
  HostRig rig({{"x", 2}});
  give_product(rig, Dtype::F32, 1);
  rig.argument("known", {*known.values.at(before.value("d"), LogicalId(0)),
                         *known.values.at(before.value("d"), LogicalId(1))});
  rig.op("eq", "same", {"d", "known"});
  const cuda::GpuRun gpus = run_fast(rig);
  // On the host, all elements are the same. On the GPUs, the elements differ whose bits depend on
  // the order of additions.
  int64_t others = 0;
  for (const size_t device : {0u, 1u}) {
    const Tensor& same = *gpus.values.at(rig.value("same"), LogicalId(device));
    for (int64_t i = 0; i < same.elements(); ++i)
      others += element_text(same, i) == "false" ? 1 : 0;
  }
  CHECK(others > 0);
  const Check check = checked(rig, gpus);
  CHECK(check.verdict == Verdict::Undecided);
  CHECK(check.message ==
        fmt::format("0 values of the GPUs are those of the host executor, bit for bit. 4 that "
                    "depend on --fast-dot were compared within the bounds of both sides' "
                    "roundings. Not compared: {} elements of which no bound is known, the first in "
                    "\"same\" on device 0.",
                    others));
}

TEST_CASE("fast dot: what follows from a comparison that came out alike is compared") {
  // On both sides each row's largest element equals the maximum, though both have errors.
  HostRig rig({{"x", 2}});
  give_product(rig, Dtype::F32, 1);
  rig.op("reduce_max", "most", {"d"}, {{"axes", Integers{1}}});
  rig.op("broadcast_in_dim", "wide", {"most"},
         {{"shape", Integers{6, 5}}, {"broadcast_dimensions", Integers{0}}});
  rig.op("eq", "is_most", {"d", "wide"});
  rig.op("exp", "other", {"d"});
  rig.op("select_n", "chosen", {"is_most", "d", "other"});
  cuda::GpuRun gpus = run_fast(rig);
  CHECK(checked(rig, gpus).verdict == Verdict::Holds);
  Tensor& chosen = *gpus.values.at(rig.value("chosen"), LogicalId(1));
  set_element_from_double(chosen, 7, 100);
  const Check check = checked(rig, gpus);
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message.find("\"chosen\" on device 1: element 7 is 100") == 0);
}

TEST_CASE("fast dot: where the bounds decide no element of a value, it is undecided") {
  HostRig rig({{"x", 1}});
  // The sum is 2^-30, of terms whose sizes add up to 2. In f32 any order may give 0.
  rig.argument("a", {tensor(Dtype::F32, {1, 3}, {1, 0x1p-30, -1})});
  rig.argument("b", {tensor(Dtype::F32, {3, 1}, {1, 1, 1})});
  rig.op("dot_general", "d", {"a", "b"}, {kRowsByColumns});
  cuda::GpuRun gpus = run_fast(rig);
  Tensor& d = *gpus.values.at(rig.value("d"), LogicalId(0));
  set_element_from_double(d, 0, 0x1p-30);  // the host has 0
  const Check check = checked(rig, gpus);
  CHECK(check.verdict == Verdict::Undecided);
  CHECK(
      check.message ==
      "0 values of the GPUs are those of the host executor, bit for bit. 1 that depend on "
      "--fast-dot were compared within the bounds of both sides' roundings. In 1 of their elements "
      "the bounds are as large as the values. The bounds decide no element of \"d\" on device "
      "0.");
}

TEST_CASE("dependent values: through collectives to all members, and through starts and dones") {
  HostRig rig({{"x", 2}});
  give_product(rig, Dtype::F32, 1);
  rig.op("add", "apart", {"a", "a"});
  rig.op("psum_start", "f", {"d"}, {{"axis_name", Names{"x"}}});
  rig.op("done", "s", {"f"});
  rig.op("exp", "e", {"s"});
  rig.lower();
  std::vector<OpId> dots;
  for (size_t i = 0; i < rig.program.ops.size(); ++i)
    if (rig.program.ops[i].kind == OpKind::DotGeneral)
      dots.emplace_back(i);
  std::vector<std::string> names;
  for (const auto& [value, op] : dependent_values(rig.program, dots)) {
    names.push_back(rig.program.value(value).name);
    CHECK(op == dots[0]);
  }
  std::ranges::sort(names);
  CHECK(names == Names{"d", "e", "f", "s"});
}

/// Returns the sum after one step of a tensor core without extra bits, which adds `count` products
/// to `sum`. Each addend is cut off below the last bit that f32 has of the largest addend, and so
/// is the new sum.
double tensor_core_step(double sum, const double* products, size_t count) {
  double largest = std::fabs(sum);
  for (size_t i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(products[i]));
  if (largest == 0)
    return 0;
  const auto cut = [](double value, double of) {
    const double unit = std::ldexp(1.0, std::ilogb(of) - 23);
    return std::trunc(value / unit) * unit;
  };
  double added = cut(sum, largest);
  for (size_t i = 0; i < count; ++i)
    added += cut(products[i], largest);
  return added == 0 ? 0 : cut(added, added);
}

/// This is the error of f16 x by y on tensor cores with `block` products per step, relative to two
/// bounds: that of rounding to nearest, and that which we allow.
struct OfBounds {
  double of_nearest;
  double of_ours;
};
OfBounds error_of_tensor_cores(const Numbers& x, const Numbers& y, size_t block) {
  HostRig rig({{"x", 1}});
  const auto count = static_cast<int64_t>(x.size());
  rig.argument("a", {tensor(Dtype::F16, {1, count}, x)});
  rig.argument("b", {tensor(Dtype::F16, {count, 1}, y)});
  rig.op("dot_general", "d", {"a", "b"}, {kRowsByColumns, {"preferred_element_type", Dtype::F32}});
  const HostRun run = rig.run();
  std::vector<double> products;
  double exact = 0;  // double has every bit of f16 and of these sums
  for (size_t i = 0; i < x.size(); ++i) {
    products.push_back(x[i] * y[i]);
    exact += products.back();
  }
  double sum = 0;
  for (size_t i = 0; i < products.size(); i += block)
    sum = tensor_core_step(sum, &products[i], std::min(block, products.size() - i));
  const auto bound = [&](RoundedBy by) {
    return numbers(*error_bounds(rig.program, rig.lowered, run.values, by)
                        .at(rig.value("d"), LogicalId(0)))[0];
  };
  const double error = std::fabs(sum - exact);
  return {error / bound(RoundedBy::Orrery), error / bound(RoundedBy::CublasLt)};
}

TEST_CASE(
    "bounds: sums of tensor cores, which cut off, are within them, and not within the usual ones") {
  // The first product is 1. Each other product is cut off completely, just below the last bit of 1.
  Numbers x(1025, 2047 * 0x1p-23);
  Numbers y(1025, 2047 * 0x1p-22);
  x[0] = y[0] = 1;
  for (const size_t block : {4u, 8u, 16u}) {
    const OfBounds worst = error_of_tensor_cores(x, y, block);
    CAPTURE(block);
    CHECK(worst.of_nearest > 1.9);
    CHECK(worst.of_ours > 0.6);
    CHECK(worst.of_ours <= 1);
  }
  Random random(11);
  for (uint64_t i = 0; i < tries(200); ++i) {
    const auto count = static_cast<size_t>(random.between(1, 300));
    Numbers left, right;
    for (size_t k = 0; k < count; ++k) {
      left.push_back(static_cast<double>(random.between(1024, 2047)) *
                     std::ldexp(1.0, static_cast<int>(random.between(-12, 0)) - 10));
      right.push_back(static_cast<double>(random.between(1024, 2047)) * 0x1p-10);
    }
    CHECK(error_of_tensor_cores(left, right, 4).of_ours <= 1);
  }
}

}  // namespace

}  // namespace orrery::test
