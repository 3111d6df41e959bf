// Tests the one-line message where there is no driver to run on.

#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "tests/support/mock_cuda/mock_control.h"

namespace orrery::test {
namespace {

/// Returns why `library` cannot be used; "" if it can.
std::string reason(const std::string& library) {
  const auto loaded = cuda::load_driver(library);
  const auto* const missing = std::get_if<cuda::MissingDriver>(&loaded);
  return missing == nullptr ? "" : missing->reason;
}

/// Returns the reason for the mock, without its name, where the entry point `failing` fails with
/// `code`.
std::string reason_of_mock(const char* failing, int code) {
  mock().reset();
  mock().fail(failing, 1, static_cast<cuda::CUresult>(code));
  const std::string text = reason(MockControl::library());
  REQUIRE(text.find(MockControl::library() + ": ") == 0);
  return text.substr(MockControl::library().size() + 2);
}

TEST_CASE("load driver: it has the version of CUDA that the driver is for") {
  mock().reset({.driver_version = 12040});
  const auto loaded = cuda::load_driver(MockControl::library());
  REQUIRE(std::holds_alternative<cuda::Driver>(loaded));
  CHECK(std::get<cuda::Driver>(loaded).version == 12040);
}

TEST_CASE("load driver: a library that is not there") {
  CHECK(
      reason("/nowhere/libcuda.so.1") ==
      "the driver of CUDA is not there: /nowhere/libcuda.so.1: cannot open shared object file: No "
      "such file or directory");
}

TEST_CASE("load driver: a library of something else") {
  CHECK(reason("libm.so.6") ==
        "libm.so.6 (no driver of CUDA) lacks cuInit: expected a driver of CUDA 12.0 or newer");
}

TEST_CASE("load driver: a driver that is too old") {
  CHECK(reason(ORRERY_OLD_DRIVER) ==
        std::string(ORRERY_OLD_DRIVER) +
            " (of CUDA 11.4) lacks cuGetErrorName: expected a driver of CUDA 12.0 or newer");
}

TEST_CASE("load driver: cuInit fails, in words of our own where the driver may have none") {
  CHECK(reason_of_mock("cuInit", 34) ==
        "cuInit: CUDA_ERROR_STUB_LIBRARY (34): this is the stub that programs are linked with, not "
        "a driver");
  CHECK(reason_of_mock("cuInit", 100) == "cuInit: CUDA_ERROR_NO_DEVICE (100): no GPU is visible");
  CHECK(reason_of_mock("cuInit", 802) ==
        "cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802): the GPUs are not ready yet; a service such as "
        "the fabric manager may not run");
  CHECK(reason_of_mock("cuInit", 803) ==
        "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): the library and the kernel's module are "
        "of different versions");
  CHECK(reason_of_mock("cuInit", 804) ==
        "cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804): this GPU needs the driver that "
        "the system has, not one for forward compatibility");
}

TEST_CASE("load driver: the name alone where nobody has words for a code") {
  CHECK(reason_of_mock("cuInit", 999) == "cuInit: CUDA_ERROR_UNKNOWN (999)");
  CHECK(reason_of_mock("cuInit", 4343) == "cuInit: unknown error (4343)");
}

TEST_CASE("load driver: the driver's name and words for a code that is newer than our table") {
  CHECK(reason_of_mock("cuInit", 4242) ==
        "cuInit: CUDA_ERROR_OF_THE_MOCK (4242): the mock was told to fail");
}

TEST_CASE("load driver: what comes after cuInit may fail too") {
  CHECK(reason_of_mock("cuDriverGetVersion", 3) ==
        "cuDriverGetVersion: CUDA_ERROR_NOT_INITIALIZED (3)");
  CHECK(reason_of_mock("cuDeviceGetCount", 4) == "cuDeviceGetCount: CUDA_ERROR_DEINITIALIZED (4)");
}

TEST_CASE("load driver: a driver that has no GPU") {
  mock().reset({.devices = 0});
  CHECK(reason(MockControl::library()) == MockControl::library() + ": no GPU is visible");
}

}  // namespace
}  // namespace orrery::test
