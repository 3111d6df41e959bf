#include "tests/support/mock_cuda/mock_control.h"

#include <stdexcept>
#include <variant>

#include <dlfcn.h>

namespace orrery::test {

MockControl::MockControl() {
  void* const handle = dlopen(library().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw std::runtime_error(dlerror());
#define MOCK_CUDA_BIND(result, name, parameters) \
  name = reinterpret_cast<result(*) parameters>(dlsym(handle, #name));
  MOCK_CUDA_CONTROLS(MOCK_CUDA_BIND)
#undef MOCK_CUDA_BIND
}

std::string MockControl::library() {
  return ORRERY_MOCK_CUDA;
}

const MockControl& mock() {
  static const MockControl control;
  return control;
}

std::string left_on_mock() {
  return mock().alive() + mock().misuses();
}

cuda::Driver mock_driver(const MockCudaSettings& settings) {
  mock().reset(settings);
  std::variant<cuda::Driver, cuda::MissingDriver> driver =
      cuda::load_driver(MockControl::library());
  if (const auto* const missing = std::get_if<cuda::MissingDriver>(&driver))
    throw std::runtime_error(missing->reason);
  return std::get<cuda::Driver>(driver);
}

}  // namespace orrery::test
