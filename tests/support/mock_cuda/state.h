#pragma once

// All that the mock knows, and the frame of a call.

#include <optional>
#include <string>

#include "tests/support/mock_cuda/call_log.h"
#include "tests/support/mock_cuda/memory.h"
#include "tests/support/mock_cuda/runner.h"
#include "tests/support/mock_cuda/things.h"

namespace orrery::mock_cuda {

struct State {
  explicit State(const MockCudaSettings& given)
      : settings(given), memory(given), runner(given, things, memory, log) {}

  MockCudaSettings settings;
  bool initialised = false;
  CallLog log;
  Things things;
  Memory memory;
  Runner runner;
  cuda::CUcontext current = nullptr;  // the host thread's

  /// The context in which a call happens. Throws Misuse where there is none.
  Context& context();
  /// Throws Misuse where there is no such device.
  void check_device(int device) const;
};

/// "1 context, 2 streams" of what there is any of.
std::string alive_text(State& s);

/// As it is since the last reset.
State& state();
void reset(const MockCudaSettings& settings);

enum class CallKind { Makes, Destroys };

/// Counts a call, and answers as `body` does: it returns nothing, or throws Misuse or Refusal. A
/// call that is to fail does not come to `body`, unless it destroys something.
template <class Body>
cuda::CUresult call(const char* entry_point, CallKind kind, const Body& body) {
  State& s = state();
  const std::optional<cuda::CUresult> told = s.log.enter(entry_point);
  if (told && kind == CallKind::Makes)
    return *told;
  try {
    if (!s.initialised)
      throw Misuse(cuda::CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
    body(s);
  } catch (const Misuse& misuse) {
    s.log.write_down(entry_point, misuse.what());
    return misuse.code();
  } catch (const Refusal& refusal) {
    return refusal.code;
  }
  return told.value_or(cuda::CUDA_SUCCESS);
}

template <class Body>
cuda::CUresult call(const char* entry_point, const Body& body) {
  return call(entry_point, CallKind::Makes, body);
}

}  // namespace orrery::mock_cuda
