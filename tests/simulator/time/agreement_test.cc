// Compares the sweep with the event engine. Also tests that the engine's results do not depend on
// the order in which it handles simultaneous events.

#include <string>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/random_sketch.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

Digest whole(const Lowered& lowered) {
  Digest digest;
  for (size_t c = 0; c < lowered.collectives.size(); ++c)
    add_all(digest, nullptr, CollectiveId(c), *lowered.collectives[c].schedule,
            itemsize(lowered.collectives[c].work));
  return digest;
}

/// Returns whether all but the executor's name is the same.
bool same(const Completion& a, const Completion& b) {
  return a.spans == b.spans && a.makespan == b.makespan && a.messages == b.messages &&
         a.digest == b.digest;
}

/// Compares sweep and engine on random programs of a kind that the sweep can time, usually
/// `programs` of them.
void check_agreement(uint64_t programs, RandomKind kind) {
  Random random(1);
  uint64_t compared = 0;
  uint64_t stuck =
      0;  // the sweep runs whole collectives, and refuses where two wait for each other
  uint64_t messages = 0;
  while (compared < tries(programs)) {
    kind.capped = random.below(2) == 0;
    const RandomSketch program = random_sketch(random, kind);
    const Sketch& sketch = program.sketch;
    if (sweep_refusal(sketch.lowered, program.fabric) || !ends(sketch))
      continue;
    const auto swept =
        sweep(sketch.program, sketch.lowered, program.fabric, {program.device_start});
    if (std::holds_alternative<std::string>(swept)) {
      ++stuck;
      continue;
    }
    EngineOptions options;
    options.device_start = program.device_start;
    options.share_all_links = true;  // otherwise the engine would share nothing here
    const Completion simulated = simulate(sketch.program, sketch.lowered, program.fabric, options);
    CAPTURE(compared);
    REQUIRE(std::get<Completion>(swept).spans == simulated.spans);
    REQUIRE(same(std::get<Completion>(swept), simulated));
    REQUIRE(simulated.digest == whole(sketch.lowered));
    messages += simulated.messages;
    ++compared;
  }
  // The programs are not trivial.
  CHECK(messages > 10 * kind.least_devices * compared);
  if (is_all_tried())
    CHECK(stuck < compared / 10);
}

TEST_CASE("sweep and engine agree to the picosecond on 2,000 random programs") {
  check_agreement(2'000, {});
}

TEST_CASE("sweep and engine agree to the picosecond on 16 to 64 devices") {
  check_agreement(60, {.least_devices = 16, .most_devices = 64});
}

/// So many programs of a kind were timed by a sweep and by the engine, in part by the engine alone,
/// and refused by the sweep.
struct Contended {
  uint64_t in_part_by_engine = 0;
  uint64_t refused = 0;
};

/// Compares a sweep with the engine on 1,000 random programs whose links may be contended. `set`
/// sets the sweep's options.
template <class Set>
Contended compare_contended(uint64_t seed, Set&& set) {
  Random random(seed);
  Contended counts;
  for (uint64_t compared = 0; compared < tries(1'000);) {
    const RandomSketch program = random_sketch(random, {random.below(2) == 0});
    const Sketch& sketch = program.sketch;
    if (!sweep_refusal(sketch.lowered, program.fabric) || !ends(sketch))
      continue;
    Paths paths(program.fabric);
    const Demands asked = demands(sketch.lowered, paths);
    SweepOptions sweeping;
    sweeping.device_start = program.device_start;
    set(sweeping, asked);
    const auto swept = sweep(sketch.program, sketch.lowered, paths, sweeping);
    if (std::holds_alternative<std::string>(swept)) {
      ++counts.refused;
      continue;
    }
    EngineOptions options;
    options.device_start = program.device_start;
    options.share_all_links = true;
    const Completion simulated = simulate(sketch.program, sketch.lowered, program.fabric, options);
    CAPTURE(compared);
    REQUIRE(std::get<Completion>(swept).spans == simulated.spans);
    REQUIRE(same(std::get<Completion>(swept), simulated));
    counts.in_part_by_engine += std::get<Completion>(swept).by == TimedBy::Engine ? 1 : 0;
    ++compared;
  }
  return counts;
}

TEST_CASE(
    "a sweep that checks the links' capacities agrees with the engine on 1,000 programs whose "
    "links may be contended") {
  const Contended counts = compare_contended(
      3, [](SweepOptions& options, const Demands& asked) { options.check_capacity = &asked; });
  CHECK(counts.in_part_by_engine == 0);
  CHECK(counts.refused > tries(100));  // and in many others links are really shared
}

TEST_CASE(
    "collectives that are timed apart agree with the engine on 1,000 programs whose links may be "
    "contended") {
  const Contended counts = compare_contended(
      4, [](SweepOptions& options, const Demands& asked) { options.apart = &asked; });
  CHECK(counts.in_part_by_engine > tries(300));  // a collective shares links with itself
  CHECK(counts.refused > tries(100));            // collectives share links
}

TEST_CASE(
    "engine: shuffled order, extra update points and needless sharing change nothing on 200 "
    "programs") {
  Random random(2);
  uint64_t compared = 0;
  while (compared < tries(200)) {
    const RandomSketch program = random_sketch(random, {});
    const Sketch& sketch = program.sketch;
    if (!sweep_refusal(sketch.lowered, program.fabric) || !ends(sketch))
      continue;  // links must be contended
    EngineOptions options;
    options.device_start = program.device_start;
    const Completion plain = simulate(sketch.program, sketch.lowered, program.fabric, options);
    for (int trial = 0; trial < 4; ++trial) {
      options.share_all_links = trial % 2 == 0;
      options.shuffle_seed = random.next();
      options.extra_updates.clear();
      for (int u = 0; u < 20; ++u)
        options.extra_updates.emplace_back(random.between(0, plain.makespan.picoseconds()));
      CAPTURE(compared);
      REQUIRE(same(simulate(sketch.program, sketch.lowered, program.fabric, options), plain));
    }
    ++compared;
  }
}

TEST_CASE("sweep: refuses where two collectives wait for each other's ends") {
  // Device 0 sends to device 1 in both collectives, and device 1's thread has the second collective
  // first. The program ends, since device 0 goes on once it has sent. The sweep runs whole
  // collectives, so it cannot time this program.
  const Fabric fabric = ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration(0)});
  Sketch sketch(2);
  sketch.thread({0});
  sketch.thread({1});
  CollectiveFigures capped;
  capped.messages.channel_rate = BytesPerSecond(500'000'000);
  sketch.figures(capped);
  const SiteId first = sketch.site(flows(2, {{0, 1, 1'000}}), 0);
  const SiteId second = sketch.site(flows(2, {{0, 1, 1'000}}), 1);
  sketch.back_to_thread(0);
  sketch.sync(first);  // eager: device 0 need not wait for device 1
  sketch.sync(second);
  sketch.back_to_thread(1);
  sketch.sync(second);
  sketch.sync(first);
  REQUIRE(!sweep_refusal(sketch.lowered, fabric));
  const auto swept = sweep(sketch.program, sketch.lowered, fabric);
  CHECK(std::get<std::string>(swept) ==
        "device 0 waits for the end of 'op0', whose members' entries depend on each other's ends");
  // 1,000 bytes at 0.5 GB/s take 2 us each.
  const Completion timed = run_time(sketch.program, sketch.lowered, fabric);
  CHECK(timed.by == TimedBy::Engine);
  CHECK(timed.makespan == Instant(4'000'000));
}

}  // namespace
}  // namespace orrery::test
