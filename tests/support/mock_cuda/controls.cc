// Defines the exports that tests call.

#include <string>

#include "tests/support/mock_cuda/state.h"

using orrery::mock_cuda::state;

void mock_cuda_reset(const MockCudaSettings* settings) {
  orrery::mock_cuda::reset(*settings);
}

void mock_cuda_seed(uint64_t seed) {
  state().runner.seed(seed);
}

void mock_cuda_fail(const char* entry_point, int64_t nth, int32_t code) {
  state().log.fail(entry_point, nth, static_cast<orrery::cuda::CUresult>(code));
}

int64_t mock_cuda_calls(const char* entry_point) {
  return state().log.calls(entry_point);
}

const char* mock_cuda_alive() {
  static std::string text;
  text = orrery::mock_cuda::alive_text(state());
  return text.c_str();
}

const char* mock_cuda_misuses() {
  static std::string text;
  text = state().log.misuses();
  return text.c_str();
}

int64_t mock_cuda_nodes_run() {
  return state().runner.nodes_run();
}
