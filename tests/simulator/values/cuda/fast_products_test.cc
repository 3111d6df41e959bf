// Tests products by cuBLASLt, on the mock. The sums of the numbers are exact in every order, so the
// products must be the host's, bit for bit.

#include "simulator/values/cuda/fast_products.h"

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/memory/profile.h"
#include "simulator/values/host_executor.h"
#include "tests/models/array/tensors.h"
#include "tests/simulator/values/cuda/mock_rig.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

/// Returns elements -1, 0 and 1. Sums of up to 256 of their products are exact in every dtype here.
Tensor random_signs(Dtype dtype, const std::vector<int64_t>& dims, Random& random) {
  Tensor tensor(dtype, Shape(dims));
  for (int64_t i = 0; i < tensor.elements(); ++i)
    set_element_from_double(tensor, i, static_cast<double>(random.between(-1, 1)));
  return tensor;
}

/// A `Factor` has the dimensions of one operand and their roles. Batch and contracting dimensions
/// have the same numbers in both operands.
struct Factor {
  std::vector<int64_t> dims;
  std::vector<int64_t> batch;        // index of each batch dimension
  std::vector<int64_t> contracting;  // index of each contracting dimension
};

Factor random_side(const std::vector<int64_t>& batch, const std::vector<int64_t>& contracting,
                   size_t free, Random& random) {
  struct Dim {
    int64_t extent;
    std::vector<int64_t> Factor::*list;
    size_t number;
  };
  std::vector<Dim> dims;
  for (size_t i = 0; i < batch.size(); ++i)
    dims.push_back({batch[i], &Factor::batch, i});
  for (size_t i = 0; i < contracting.size(); ++i)
    dims.push_back({contracting[i], &Factor::contracting, i});
  for (size_t i = 0; i < free; ++i)
    dims.push_back({random.between(1, 4), nullptr, 0});
  // There are few exchanges, so that groups often stay together.
  for (int64_t times = random.between(0, 2); times > 0 && dims.size() > 1; --times) {
    const size_t at = random.below(dims.size() - 1);
    std::swap(dims[at], dims[at + 1]);
  }
  Factor side;
  side.batch.resize(batch.size());
  side.contracting.resize(contracting.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    side.dims.push_back(dims[d].extent);
    if (dims[d].list != nullptr)
      (side.*dims[d].list)[dims[d].number] = static_cast<int64_t>(d);
  }
  return side;
}

cuda::CublasLt cublaslt_of_mock() {
  return std::get<cuda::CublasLt>(cuda::load_cublaslt(MockControl::library()));
}

TEST_CASE("products: of random dimensions and dtypes, in any order of adding, the host's values") {
  const cuda::CublasLt library = cublaslt_of_mock();
  Random random(3);
  size_t fast = 0;
  std::map<std::string, uint32_t> in_order;
  for (uint64_t i = 0; i < tries(300); ++i) {
    const auto extents = [&](int64_t most) {
      std::vector<int64_t> dims(static_cast<size_t>(random.between(0, most)));
      for (int64_t& extent : dims)
        extent = random.between(1, 4);
      return dims;
    };
    const std::vector<int64_t> batch = extents(2);
    const std::vector<int64_t> contracting = extents(2);
    const Factor left = random_side(batch, contracting, random.below(3), random);
    const Factor right = random_side(batch, contracting, random.below(3), random);
    const Dtype dtype =
        std::vector{Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}[random.below(4)];
    HostRig rig({{"x", 2}});
    rig.argument("a",
                 {random_signs(dtype, left.dims, random), random_signs(dtype, left.dims, random)});
    rig.argument(
        "b", {random_signs(dtype, right.dims, random), random_signs(dtype, right.dims, random)});
    std::vector<std::pair<std::string, Attribute>> attributes = {
        {"dimension_numbers", Lists{left.contracting, right.contracting, left.batch, right.batch}}};
    if (dtype == Dtype::BF16 && random.below(2) == 0)
      attributes.emplace_back("preferred_element_type", Dtype::F32);
    rig.op("dot_general", "d", {"a", "b"}, attributes);
    rig.op("add", "twice", {"d", "d"});
    rig.lower();
    cuda::ExecutorOptions options;
    options.cublaslt = &library;
    const cuda::GpuRun run = run_on_mock({rig.program, rig.lowered, rig.arguments}, random.next(),
                                         options, {.devices = 2});
    INFO("product ", i);
    CHECK(first_difference(rig.program, rig.run().values, run.values) == "");
    CHECK(mock().misuses() == "");
    CHECK(mock().alive() == "");
    REQUIRE(run.facts.dots);
    fast += run.facts.dots->by_cublaslt.size();
    for (const auto& [why, count] : run.facts.dots->in_order)
      in_order[why] += count;
  }
  // cuBLASLt does many of the products.
  CHECK(fast >= tries(100));
  // All four reasons occur: a batch is innermost, or the dimensions of one of three groups are not
  // consecutive.
  if (is_all_tried())
    CHECK(in_order.size() == 4);
}

/// Adds f32[4,8] by f32[8,4] on two devices, and an addition to the product.
void add_product(HostRig& rig) {
  Random random(5);
  rig.argument(
      "a", {random_signs(Dtype::F32, {4, 8}, random), random_signs(Dtype::F32, {4, 8}, random)});
  rig.argument(
      "b", {random_signs(Dtype::F32, {8, 4}, random), random_signs(Dtype::F32, {8, 4}, random)});
  rig.op("dot_general", "d", {"a", "b"}, {{"dimension_numbers", Lists{{1}, {0}, {}, {}}}});
  rig.op("psum", "s", {"d"}, {{"axis_name", Names{"x"}}});
}

TEST_CASE("products: each is one node of the graph, in place of a kernel") {
  HostRig rig({{"x", 2}});
  add_product(rig);
  rig.lower();
  const OnGpus on_mock{rig.program, rig.lowered, rig.arguments};
  const cuda::GpuRun in_order = run_on_mock(on_mock, 1);
  CHECK_FALSE(in_order.facts.dots);
  const cuda::CublasLt library = cublaslt_of_mock();
  cuda::ExecutorOptions options;
  options.cublaslt = &library;
  const cuda::GpuRun fast = run_on_mock(on_mock, 1, options);
  CHECK(fast.facts.nodes == in_order.facts.nodes);
  CHECK(mock().calls("cublasLtMatmul") == 2);
  CHECK(fast.facts.dots->by_cublaslt.size() == 1);
}

TEST_CASE(
    "products: the same for several virtual devices and several launches is found once a GPU") {
  HostRig rig({{"x", 2}});
  add_product(rig);
  rig.op("dot_general", "e", {"a", "b"}, {{"dimension_numbers", Lists{{1}, {0}, {}, {}}}});
  rig.lower();
  const cuda::CublasLt library = cublaslt_of_mock();
  cuda::ExecutorOptions options;
  options.cublaslt = &library;
  options.measured_runs = 2;
  run_on_mock({rig.program, rig.lowered, rig.arguments}, 1, options, {.devices = 2});
  CHECK(mock().calls("cublasLtCreate") == 2);
  CHECK(mock().calls("cublasLtMatmulAlgoGetHeuristic") == 2);
}

TEST_CASE("products: where cuBLASLt has no algorithm, the kernel of the stated order") {
  HostRig rig({{"x", 2}});
  add_product(rig);
  rig.lower();
  const cuda::CublasLt library = cublaslt_of_mock();
  cuda::ExecutorOptions options;
  options.cublaslt = &library;
  const cuda::GpuRun run =
      run_on_mock({rig.program, rig.lowered, rig.arguments}, 1, options, {.algorithms = 0});
  CHECK(first_difference(rig.program, rig.run().values, run.values) == "");
  CHECK(run.facts.dots->by_cublaslt.empty());
  CHECK(
      run.facts.dots->in_order ==
      std::map<std::string, uint32_t>{{"cuBLASLt has no algorithm without memory of its own", 1}});
}

}  // namespace
}  // namespace orrery::test
