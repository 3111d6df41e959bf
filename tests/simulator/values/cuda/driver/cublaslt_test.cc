// Tests cuBLASLt: the message where it is missing, products by it, each call that fails, and the
// misuses that the mock finds.

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/matmul.h"
#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

using cuda::MatmulShape;

/// Returns why `library` cannot be used; "" if it can.
std::string why_no_cublaslt(const std::string& library) {
  const auto loaded = cuda::load_cublaslt(library);
  const auto* const missing = std::get_if<cuda::MissingCublasLt>(&loaded);
  return missing == nullptr ? "" : missing->reason;
}

cuda::CublasLt mock_cublaslt() {
  return std::get<cuda::CublasLt>(cuda::load_cublaslt(MockControl::library()));
}

/// Returns the text of the CublasLtError that `action` throws; "" if it throws none.
template <class Action>
std::string cublaslt_error(const Action& action) {
  try {
    action();
  } catch (const cuda::CublasLtError& error) {
    return error.what();
  }
  return "";
}

/// Returns the shape of 2 x 3 by 3 x 2 of f64, as column-major matrices.
MatmulShape shape_of_2_3_2() {
  MatmulShape shape;
  shape.operands = cuda::CUDA_R_64F;
  shape.result = cuda::CUDA_R_64F;
  shape.compute = cuda::CUBLAS_COMPUTE_64F;
  shape.batch = 1;
  shape.m = 2;
  shape.n = 2;
  shape.k = 3;
  shape.a = {false, 2, 0, 256};
  shape.b = {false, 3, 0, 256};
  shape.result_alignment = 256;
  return shape;
}

void write_doubles(const cuda::DeviceArena& arena, const std::vector<double>& numbers) {
  arena.write(Bytes(), std::as_bytes(std::span(numbers)));
}

struct MatmulRig : DriverRig {
  cuda::CublasLt library = mock_cublaslt();
  cuda::CublasLtHandle handle{library, gpus[0]};
  cuda::Stream stream{gpus[0]};
  cuda::DeviceArena a = arena();
  cuda::DeviceArena b = arena();
  cuda::DeviceArena d = arena();

  explicit MatmulRig(MockCudaSettings settings = {}) : DriverRig(settings) {}

  /// Returns the first numbers of D after the product, which is captured and launched.
  std::vector<double> multiply(const MatmulShape& shape, const std::vector<double>& left,
                               const std::vector<double>& right) {
    write_doubles(a, left);
    write_doubles(b, right);
    const std::optional<cuda::Matmul> matmul = cuda::Matmul::find(handle, shape);
    REQUIRE(matmul);
    cuda::Graph graph(driver);
    graph.add_child(
        cuda::Graph::captured(stream,
                              [&] { matmul->give(stream, d.address(), a.address(), b.address()); }),
        {});
    const cuda::GraphExec exec(graph);
    exec.launch(stream);
    stream.synchronize("a product");
    std::vector<double> numbers(static_cast<size_t>(shape.batch * shape.m * shape.n));
    d.read(Bytes(), std::as_writable_bytes(std::span(numbers)));
    return numbers;
  }
};

TEST_CASE("cuBLASLt: a library that is not there, and one of something else") {
  CHECK(why_no_cublaslt("/nowhere/libcublasLt.so.13") ==
        "cuBLASLt is not there: /nowhere/libcublasLt.so.13: cannot open shared object file: No "
        "such file or directory");
  CHECK(why_no_cublaslt("libm.so.6") == "cuBLASLt is not there: libm.so.6 lacks cublasLtCreate");
}

TEST_CASE("cuBLASLt: a product, with each operand as it lies or transposed") {
  MatmulRig rig;
  // The columns of A are (1 2) (3 4) (5 6), those of B (1 0 2) (0 1 1). D = A B has (11 14) and (8
  // 10).
  const std::vector<double> expected = {11, 14, 8, 10};
  MatmulShape shape = shape_of_2_3_2();
  CHECK(rig.multiply(shape, {1, 2, 3, 4, 5, 6}, {1, 0, 2, 0, 1, 1}) == expected);
  shape.a = {true, 3, 0, 256};
  shape.b = {true, 2, 0, 256};
  CHECK(rig.multiply(shape, {1, 3, 5, 2, 4, 6}, {1, 0, 0, 1, 2, 1}) == expected);
  // Now the columns have a gap between them.
  shape.a = {true, 4, 0, 256};
  CHECK(rig.multiply(shape, {1, 3, 5, 0, 2, 4, 6}, {1, 0, 0, 1, 2, 1}) == expected);
}

TEST_CASE("cuBLASLt: several products, of which one operand may be the same for all") {
  MatmulRig rig;
  MatmulShape shape = shape_of_2_3_2();
  shape.batch = 2;
  shape.n = 1;
  shape.a.batch_stride = 0;
  shape.b.batch_stride = 3;
  CHECK(rig.multiply(shape, {1, 2, 3, 4, 5, 6}, {1, 0, 2, 0, 1, 1}) ==
        std::vector<double>{11, 14, 8, 10});
}

TEST_CASE("cuBLASLt: where it has no algorithm, there is no product") {
  MatmulRig rig({.algorithms = 0});
  CHECK_FALSE(cuda::Matmul::find(rig.handle, shape_of_2_3_2()));
}

TEST_CASE("cuBLASLt: each call fails once, which is told, and leaves nothing") {
  const auto use = [] {
    const cuda::Driver driver = std::get<cuda::Driver>(cuda::load_driver(MockControl::library()));
    const cuda::Gpus gpus(driver, 1);
    const cuda::CublasLt library = mock_cublaslt();
    const cuda::CublasLtHandle handle(library, gpus[0]);
    const cuda::Stream stream(gpus[0]);
    const Bytes size(64);
    const cuda::DeviceArena memory(gpus, 0, {size, size}, "d");
    const std::optional<cuda::Matmul> matmul = cuda::Matmul::find(handle, shape_of_2_3_2());
    cuda::Graph graph(driver);
    graph.add_child(
        cuda::Graph::captured(
            stream,
            [&] { matmul->give(stream, memory.address(), memory.address(), memory.address()); }),
        {});
    const cuda::GraphExec exec(graph);
    exec.launch(stream);
    stream.synchronize("a product");
  };
  std::vector<std::string> names;
#define ORRERY_NAME(name, parameters) names.emplace_back(#name);
  ORRERY_CUBLASLT_ENTRY_POINTS(ORRERY_NAME)
#undef ORRERY_NAME
  mock().reset();
  use();
  std::vector<int64_t> calls;
  for (const std::string& name : names)
    calls.push_back(mock().calls(name.c_str()));
  for (size_t n = 0; n < names.size(); ++n) {
    CAPTURE(names[n]);
    CHECK(calls[n] > 0);
    for (int64_t nth = 1; nth <= calls[n]; ++nth) {
      CAPTURE(nth);
      mock().reset();
      mock().fail(names[n].c_str(), nth,
                  static_cast<cuda::CUresult>(cuda::CUBLAS_STATUS_EXECUTION_FAILED));
      const std::string error = cublaslt_error(use);
      const bool destroys = names[n].find("Destroy") != std::string::npos;
      if (destroys)
        CHECK(error == "");
      else
        CHECK(error.find(names[n] + ": CUBLAS_STATUS_EXECUTION_FAILED (13): ") == 0);
      CHECK(mock().alive() == "");
      CHECK(mock().misuses() == "");
    }
  }
}

TEST_CASE("cuBLASLt: a failure says of which product") {
  MatmulRig rig;
  mock().fail("cublasLtMatmulDescCreate", 1,
              static_cast<cuda::CUresult>(cuda::CUBLAS_STATUS_ALLOC_FAILED));
  CHECK(cublaslt_error([&] { cuda::Matmul::find(rig.handle, shape_of_2_3_2()); }) ==
        "cublasLtMatmulDescCreate: CUBLAS_STATUS_ALLOC_FAILED (3): 1 product, 2 x 3 by 3 x 2");
}

/// Returns the mock's misuses after a product with these addresses.
std::string misuse_of_product(MatmulShape shape, int64_t to, int64_t from) {
  mock().reset();
  const cuda::Driver driver = std::get<cuda::Driver>(cuda::load_driver(MockControl::library()));
  const cuda::Gpus gpus(driver, 1);
  const cuda::CublasLt library = mock_cublaslt();
  const cuda::CublasLtHandle handle(library, gpus[0]);
  const cuda::Stream stream(gpus[0]);
  const Bytes size(1 << 16);
  const cuda::DeviceArena memory(gpus, 0, {size, size}, "d");
  const std::optional<cuda::Matmul> matmul = cuda::Matmul::find(handle, shape);
  CHECK(cublaslt_error([&] {
          matmul->give(stream, memory.address(Bytes(to)), memory.address(Bytes(from)),
                       memory.address());
        }) == "cublasLtMatmul: CUBLAS_STATUS_INVALID_VALUE (7): 1 product, 2 x 3 by 3 x 2");
  return mock().misuses();
}

TEST_CASE(
    "mock cuBLASLt: an address that is aligned less than was said, and beyond what is mapped") {
  CHECK(misuse_of_product(shape_of_2_3_2(), 8, 256) ==
        "cublasLtMatmul: an address that is aligned less than was said\n");
  CHECK(misuse_of_product(shape_of_2_3_2(), 0, 1 << 16).find("cublasLtMatmul: 48 bytes at ") == 0);
}

TEST_CASE("mock cuBLASLt: a handle outlives its context, and columns that overlap") {
  mock().reset();
  const cuda::Driver driver = std::get<cuda::Driver>(cuda::load_driver(MockControl::library()));
  const cuda::CublasLt library = mock_cublaslt();
  cuda::cublasLtHandle_t handle = nullptr;
  {
    const cuda::Gpus gpus(driver, 1);
    gpus[0].make_current();
    CHECK(library.cublasLtCreate(&handle) == cuda::CUBLAS_STATUS_SUCCESS);
  }
  CHECK(mock().misuses() ==
        "cuDevicePrimaryCtxRelease: the context of device 0 ended before a handle of cuBLASLt\n");
  CHECK(mock().alive() == "1 handle of cuBLASLt");
  CHECK(library.cublasLtDestroy(handle) == cuda::CUBLAS_STATUS_SUCCESS);
  cuda::cublasLtMatrixLayout_t layout = nullptr;
  CHECK(library.cublasLtMatrixLayoutCreate(&layout, cuda::CUDA_R_32F, 3, 2, 2) ==
        cuda::CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
}  // namespace orrery::test
