#include "tests/support/mock_cuda/state.h"

#include <cstdio>
#include <memory>

#include "tests/support/mock_cuda/environment.h"

namespace orrery::mock_cuda {
namespace {

/// At the end of a process that the environment controls, prints what is alive and the misuses.
struct Holder {
  std::unique_ptr<State> state = std::make_unique<State>(settings_of_environment());

  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (!in_environment())
      return;
    const std::string alive = alive_text(*state);
    if (!alive.empty())
      std::fprintf(stderr, "mock driver: still alive: %s\n", alive.c_str());
    if (!state->log.misuses().empty())
      std::fprintf(stderr, "mock driver: misused:\n%s", state->log.misuses().c_str());
  }
};

std::unique_ptr<State>& holder() {
  static Holder holder;
  return holder.state;
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

std::string alive_text(State& s) {
  std::string text;
  const auto add = [&](size_t count, const std::string& one, const std::string& several) {
    if (count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, count == 1 ? one : several);
  };
  auto& things = s.things;
  add(things.contexts.size(), "context", "contexts");
  add(things.modules.size(), "module", "modules");
  add(things.streams.size(), "stream", "streams");
  add(things.events.size(), "event", "events");
  add(things.graphs.size(), "graph", "graphs");
  add(things.execs.size(), "executable graph", "executable graphs");
  add(things.cublaslt_handles.size(), "handle of cuBLASLt", "handles of cuBLASLt");
  add(things.operations.size(), "operation of cuBLASLt", "operations of cuBLASLt");
  add(things.layouts.size(), "layout of cuBLASLt", "layouts of cuBLASLt");
  add(things.preferences.size(), "preference of cuBLASLt", "preferences of cuBLASLt");
  add(s.memory.reservations(), "reservation", "reservations");
  add(s.memory.mappings(), "mapping", "mappings");
  add(s.memory.handles(), "memory handle", "memory handles");
  add(s.memory.pinned(), "pinned block", "pinned blocks");
  return text;
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
