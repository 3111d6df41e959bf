// These benchmarks measure the bytes per second of the host executor on a ring all-reduce, beside
// those of memcpy. Both count every byte that they must read or write.

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/base/check.h"
#include "models/program/program.h"
#include "simulator/algorithm/ring.h"
#include "simulator/lower/lower.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/host_executor.h"

namespace orrery {
namespace {

/// Returns the bytes that a schedule must touch: each step's received message, source, target and
/// sent message.
int64_t bytes_touched(const Schedule& schedule, int64_t itemsize) {
  int64_t bytes = 0;
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n) {
    for (uint32_t c = 0; c < schedule.extent().channels; ++c) {
      const uint32_t steps = schedule.steps(Node(n), Channel(c));
      for (uint32_t i = 0; i < steps; ++i) {
        const Step step = schedule.step({Node(n), Channel(c), i});
        const int times =
            (step.from ? 1 : 0) + (step.source ? 1 : 0) + (step.target ? 1 : 0) + (step.to ? 1 : 0);
        bytes += times * step.count() * itemsize;
      }
    }
  }
  return bytes;
}

/// This is one psum of f32 over all devices by a ring.
struct RingAllReduce {
  Program program;
  Lowered lowered;

  RingAllReduce(uint32_t devices, int64_t elements) {
    const AxisStates varying{AxisState::Varying};
    program.mesh = Mesh({{"x", devices}});
    program.buffers = {{Bytes(4 * elements), MemorySpace::Device},
                       {Bytes(4 * elements), MemorySpace::Device}};
    program.values = {{"a", {Dtype::F32, Shape{elements}, varying, false}, BufferId(0), Bytes()},
                      {"r", {Dtype::F32, Shape{elements}, varying, false}, BufferId(1), Bytes()}};
    program.arguments = {{ValueId(0)}};
    Op& op = program.ops.emplace_back();
    op.name = "r";
    op.kind = OpKind::Psum;
    op.operands = {ValueId(0)};
    op.results = {ValueId(1)};
    op.site = SiteId(0);
    Thread& thread = program.threads.emplace_back();
    thread.issue_order = {OpId(0)};

    for (uint32_t d = 0; d < devices; ++d)
      thread.devices.emplace_back(d);
    program.sites = {{"r", {OpId(0)}, {thread.devices}}};

    auto schedule = std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, devices, elements,
                                                   Combine::Add, Transport{});
    Collective collective;
    collective.schedule = schedule.get();
    collective.input = View::whole(elements);
    collective.output = View::whole(elements);
    collective.members = thread.devices;
    lowered = lowered_alone(program, std::move(collective));
    lowered.schedules.push_back(std::move(schedule));
  }
};

void BM_Memcpy(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  std::vector<std::byte> from(size, std::byte{1});
  std::vector<std::byte> to(size);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), size);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * state.range(0));
}
BENCHMARK(BM_Memcpy)->Arg(int64_t{64} << 20);

void BM_HostRingAllReduce(benchmark::State& state) {
  const auto devices = static_cast<uint32_t>(state.range(0));
  const int64_t elements = state.range(1) / 4;
  const RingAllReduce ring(devices, elements);
  DeviceValues values(ring.program);
  for (uint32_t d = 0; d < devices; ++d)
    values.at(ValueId(0), LogicalId(d)).emplace(Dtype::F32, Shape{elements});
  for (auto _ : state) {
    HostRun run = execute(ring.program, ring.lowered, std::move(values));
    ORRERY_CHECK(run.stop.finished(), "an all-reduce ends");
    state.PauseTiming();
    values = std::move(run.values);
    for (uint32_t d = 0; d < devices; ++d)
      values.at(ValueId(1), LogicalId(d)).reset();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() *
                          bytes_touched(*ring.lowered.schedules[0], int64_t{4}));
}
// The runs are so long that page faults for new memory, which are slow on virtual machines, weigh
// little.
BENCHMARK(BM_HostRingAllReduce)
    ->Args({8, int64_t{64} << 20})
    ->Args({8, int64_t{1} << 20})
    ->Args({8, int64_t{4} << 10})
    ->MinTime(3)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
