#pragma once

// `State` is everything that the mock knows. `call` wraps the body of every entry point.

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
  cuda::CUcontext current = nullptr;  // of the host thread

  /// Returns the current context. Throws Misuse where there is none.
  Context& context();
  /// Throws Misuse where there is no such device.
  void check_device(int device) const;
};

/// Returns the objects that are alive, by kind: "1 context, 2 streams".
std::string alive_text(State& s);

/// Returns the state since the last reset.
State& state();
void reset(const MockCudaSettings& settings);

enum class CallKind { Makes, Destroys };

/// Counts a call and runs `body`, which returns nothing, or throws Misuse or Refusal. Returns the
/// code of the call. If the call is set to fail, `body` runs only if the call destroys something.
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
