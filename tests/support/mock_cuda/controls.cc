// The exports for tests.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/mock_cuda/state.h"

using orrery::mock_cuda::state;

namespace {

/// "1 context, 2 streams" of what there is any of.
std::string alive_text() {
  auto& s = state();
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
  add(s.memory.reservations(), "reservation", "reservations");
  add(s.memory.mappings(), "mapping", "mappings");
  add(s.memory.handles(), "memory handle", "memory handles");
  add(s.memory.pinned(), "pinned block", "pinned blocks");
  return text;
}

}  // namespace

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
  text = alive_text();
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
