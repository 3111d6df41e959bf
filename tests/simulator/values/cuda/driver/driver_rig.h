#pragma once

// Provides mock GPUs with the test kernels, for tests of the owners of driver objects.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/gpu.h"
#include "simulator/values/cuda/driver/kernel_module.h"
#include "simulator/values/cuda/driver/memory.h"
#include "tests/support/mock_cuda/mock_control.h"
#include "tests/support/mock_cuda/test_kernels.h"

namespace orrery::test {

/// An arena of the rig holds this many numbers.
inline constexpr int64_t kNumbers = 100;

/// Checks at the end that every driver object was given back and that nothing was misused.
class NothingLeft {
 public:
  ~NothingLeft() {
    CHECK(mock().alive() == "");
    CHECK(mock().misuses() == "");
  }
};

/// Returns an argument of a kernel as bytes.
template <class Argument>
std::span<const std::byte> bytes_of(const Argument& argument) {
  return std::as_bytes(std::span(&argument, 1));
}

class DriverRig {
 public:
  explicit DriverRig(MockCudaSettings settings = {})
      : driver(mock_driver(settings)), gpus(driver, settings.devices) {}

  /// Returns an arena of kNumbers numbers.
  cuda::DeviceArena arena(size_t gpu = 0) {
    const Bytes size(kNumbers * 8);
    return cuda::DeviceArena(gpus, gpu, {size, size}, "virtual device 0");
  }

 private:
  NothingLeft nothing_left_;

 public:
  cuda::Driver driver;
  cuda::Gpus gpus;
};

inline std::vector<uint64_t> read_numbers(const cuda::DeviceArena& arena) {
  std::vector<uint64_t> numbers(kNumbers);
  arena.read(Bytes(), std::as_writable_bytes(std::span(numbers)));
  return numbers;
}
inline void write_numbers(const cuda::DeviceArena& arena, const std::vector<uint64_t>& numbers) {
  arena.write(Bytes(), std::as_bytes(std::span(numbers)));
}

/// Returns the text of the CudaError that `action` throws; "" if it throws none.
template <class Action>
std::string cuda_error(const Action& action) {
  try {
    action();
  } catch (const cuda::CudaError& error) {
    return error.what();
  }
  return "";
}

}  // namespace orrery::test
