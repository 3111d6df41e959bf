#pragma once

// A test controls the mock driver by `mock().fail("cuMemCreate", 1, CUDA_ERROR_OUT_OF_MEMORY)` and
// similar calls.

#include <cstdint>
#include <string>

#include "simulator/values/cuda/driver/driver.h"
#include "tests/support/mock_cuda/mock_cuda.h"

namespace orrery::test {

class MockControl {
 public:
  /// Loads the mock.
  MockControl();

  /// Returns the library's file, for load_driver().
  static std::string library();

  void reset(const MockCudaSettings& settings = {}) const { mock_cuda_reset(&settings); }
  void seed(uint64_t seed) const { mock_cuda_seed(seed); }
  void fail(const char* entry_point, int64_t nth, cuda::CUresult code) const {
    mock_cuda_fail(entry_point, nth, static_cast<int32_t>(code));
  }
  int64_t calls(const char* entry_point) const { return mock_cuda_calls(entry_point); }
  std::string alive() const { return mock_cuda_alive(); }
  std::string misuses() const { return mock_cuda_misuses(); }
  int64_t nodes_run() const { return mock_cuda_nodes_run(); }

 private:
  // These members point to the functions of the library, under their own names.
#define MOCK_CUDA_MEMBER(result, name, parameters) result(*name) parameters = nullptr;
  MOCK_CUDA_CONTROLS(MOCK_CUDA_MEMBER)
#undef MOCK_CUDA_MEMBER
};

/// Returns the mock. The first call loads it.
const MockControl& mock();

/// Returns the objects that are alive on the mock and its misuses; "" if there are none.
std::string left_on_mock();

/// Resets the mock and loads it as the driver. Fails the test if that fails.
cuda::Driver mock_driver(const MockCudaSettings& settings = {});

}  // namespace orrery::test
