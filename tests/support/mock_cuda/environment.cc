#include "tests/support/mock_cuda/environment.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace orrery::mock_cuda {
namespace {

constexpr const char* kVariable = "ORRERY_MOCK_CUDA";

int64_t number(std::string_view text, std::string_view setting) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument(std::string(kVariable) + ": " + std::string(setting));
  return value;
}

void set(MockCudaSettings& settings, std::string_view setting) {
  const size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const int64_t value = number(equals == setting.npos ? "" : setting.substr(equals + 1), setting);
#define MOCK_CUDA_SETTING(field)                                   \
  if (name == #field) {                                            \
    settings.field = static_cast<decltype(settings.field)>(value); \
    return;                                                        \
  }
  MOCK_CUDA_SETTING(seed)
  MOCK_CUDA_SETTING(devices)
  MOCK_CUDA_SETTING(peers)
  MOCK_CUDA_SETTING(virtual_memory)
  MOCK_CUDA_SETTING(compute_capability)
  MOCK_CUDA_SETTING(driver_version)
  MOCK_CUDA_SETTING(memory)
  MOCK_CUDA_SETTING(granularity)
  MOCK_CUDA_SETTING(stray_copy)
  MOCK_CUDA_SETTING(multiprocessors)
  MOCK_CUDA_SETTING(computes)
  MOCK_CUDA_SETTING(algorithms)
  MOCK_CUDA_SETTING(product_errors)
  MOCK_CUDA_SETTING(launch_ps)
  MOCK_CUDA_SETTING(kernel_ps)
  MOCK_CUDA_SETTING(thread_ps)
  MOCK_CUDA_SETTING(product_ps)
  MOCK_CUDA_SETTING(copy_ps)
  MOCK_CUDA_SETTING(bytes_per_second)
  MOCK_CUDA_SETTING(sharing)
#undef MOCK_CUDA_SETTING
  throw std::invalid_argument(std::string(kVariable) + ": " + std::string(setting));
}

}  // namespace

MockCudaSettings settings_of(std::string_view text) {
  MockCudaSettings settings;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    set(settings, text.substr(0, comma));
    text = comma == text.npos ? "" : text.substr(comma + 1);
  }
  return settings;
}

MockCudaSettings settings_of_environment() {
  return settings_of(in_environment() ? std::getenv(kVariable) : "");
}

bool in_environment() {
  return std::getenv(kVariable) != nullptr;
}

}  // namespace orrery::mock_cuda
