// These benchmarks measure the messages per second of the sweep and the engine on a ring all-reduce
// with random figures. Every link has its own bandwidth and latency, and every device its own
// start.

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <benchmark/benchmark.h>

#include "models/base/check.h"
#include "models/base/random.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/algorithm/ring.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/lower.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"

namespace orrery {
namespace {

/// This is one psum over all devices, lowered to a ring all-reduce over a ring of unequal links.
struct RingAllReduce {
  Program program;
  Lowered lowered;
  Fabric fabric;
  std::vector<Instant> device_start;

  explicit RingAllReduce(uint32_t devices) : fabric(unequal_ring(devices)) {
    Random random(devices);
    Thread thread;
    Group group;
    for (uint32_t d = 0; d < devices; ++d) {
      thread.devices.emplace_back(d);
      group.emplace_back(d);
      device_start.emplace_back(random.between(0, 10'000'000));
    }
    thread.issue_order = {OpId(0)};
    program.mesh = Mesh({{"x", devices}});
    program.ops.emplace_back();
    program.ops[0].name = "r";
    program.ops[0].kind = OpKind::Psum;
    program.ops[0].site = SiteId(0);
    program.threads = {thread};
    program.sites = {{"r", {OpId(0)}, {group}}};

    const int64_t count = int64_t{devices} * 4096 + 7;
    auto schedule = std::make_unique<RingSchedule>(RingSchedule::Form::AllReduce, devices, count,
                                                   Combine::Add, Transport{});
    Collective collective;
    collective.schedule = schedule.get();
    collective.members = group;
    collective.vertices = vertices_of(group);
    lowered = lowered_alone(program, std::move(collective));
    lowered.schedules.push_back(std::move(schedule));
  }

  static Fabric unequal_ring(uint32_t devices) {
    Random random(devices + 1);
    std::vector<Link> links;
    for (uint32_t d = 0; d < devices; ++d) {
      const BytesPerSecond bandwidth(random.between(20'000'000'000, 80'000'000'000));
      const Duration latency(random.between(500'000, 2'000'000));
      links.push_back({VertexId(d), VertexId((d + 1) % devices), bandwidth, latency});
    }
    return Fabric(devices, {}, std::move(links));
  }
};

void report(benchmark::State& state, uint64_t messages) {
  state.counters["messages/s"] = benchmark::Counter(static_cast<double>(messages),
                                                    benchmark::Counter::kIsIterationInvariantRate);
}

void sweep_ring(benchmark::State& state) {
  const RingAllReduce ring(static_cast<uint32_t>(state.range(0)));
  uint64_t messages = 0;
  for (auto _ : state) {
    const auto swept = sweep(ring.program, ring.lowered, ring.fabric, {ring.device_start});
    messages = std::get<Completion>(swept).messages;
  }
  report(state, messages);
}

void engine_ring(benchmark::State& state) {
  const RingAllReduce ring(static_cast<uint32_t>(state.range(0)));
  EngineOptions options;
  options.device_start = ring.device_start;
  uint64_t messages = 0;
  for (auto _ : state)
    messages = simulate(ring.program, ring.lowered, ring.fabric, options).messages;
  report(state, messages);
}

BENCHMARK(sweep_ring)
    ->Name("sweep/ring_all_reduce")
    ->RangeMultiplier(8)
    ->Range(8, 4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_ring)->Name("sweep/ring_all_reduce")->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(engine_ring)
    ->Name("engine/ring_all_reduce")
    ->RangeMultiplier(8)
    ->Range(8, 4096)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(engine_ring)->Name("engine/ring_all_reduce")->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
