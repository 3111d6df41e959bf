#include "tests/support/mock_cuda/state.h"

#include <memory>

namespace orrery::mock_cuda {
namespace {

std::unique_ptr<State>& holder() {
  static std::unique_ptr<State> holder = std::make_unique<State>(MockCudaSettings{});
  return holder;
}

}  // namespace

uint64_t next_handle() {
  static uint64_t last = 0x1000;
  return last += 16;
}

State& state() {
  return *holder();
}

void reset(const MockCudaSettings& settings) {
  holder() = std::make_unique<State>(settings);
}

Context& State::context() {
  if (current == nullptr)
    throw Misuse(cuda::CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  return things.contexts.at(current);
}

void State::check_device(int device) const {
  if (device < 0 || device >= settings.devices)
    throw Misuse(cuda::CUDA_ERROR_INVALID_DEVICE, fmt::format("there is no device {}", device));
}

}  // namespace orrery::mock_cuda
