// Tests the peak memory of the timing executors, counted at the allocator.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <variant>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/ring.h"
#include "simulator/time/engine.h"
#include "simulator/time/state_budget.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"
#include "tests/support/tries.h"

namespace {

// These are the bytes that the whole test program holds now, and has held at most. The program has
// one thread.
size_t held = 0;
size_t most_held = 0;

/// The space before each block stores the block's size.
constexpr size_t kHeader = alignof(std::max_align_t);

}  // namespace

void* operator new(size_t size) {
  void* const block = std::malloc(size + kHeader);
  if (block == nullptr)
    throw std::bad_alloc();
  *static_cast<size_t*>(block) = size;
  held += size;
  most_held = std::max(most_held, held);
  return static_cast<std::byte*>(block) + kHeader;
}

/// std::stable_sort allocates its buffer by this operator.
void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* pointer) noexcept {
  if (pointer == nullptr)
    return;
  void* const block = static_cast<std::byte*>(pointer) - kHeader;
  held -= *static_cast<size_t*>(block);
  std::free(block);
}

void operator delete(void* pointer, size_t /*size*/) noexcept {
  operator delete(pointer);
}

namespace orrery::test {
namespace {

/// Returns the peak memory of sweeping a ring all-gather of `ranks` ranks, beyond what was
/// allocated before.
size_t peak(uint32_t ranks) {
  const Fabric fabric = ring_fabric(ranks, {BytesPerSecond(50'000'000'000), Duration(1'000'000)});
  Sketch sketch(ranks);
  sketch.sync(sketch.site(std::make_unique<RingSchedule>(
      RingSchedule::Form::AllGather, ranks, int64_t{ranks} * 3, Combine::None, Transport{})));
  const size_t before = held;
  most_held = held;
  const auto swept = sweep(sketch.program, sketch.lowered, fabric);
  CHECK(std::get<Completion>(swept).messages == uint64_t{ranks} * (ranks - 1));
  return most_held - before;
}

TEST_CASE("sweep: memory grows with ranks, not with their square or with the steps") {
  // 16 times the ranks have 256 times the messages, but should need 16 times the memory, apart from
  // vectors that round up to a power of two.
  const uint32_t ranks = test::is_all_tried() ? 4'096 : 1'024;
  const size_t few = peak(ranks / 16);
  const size_t many = peak(ranks);
  CHECK(many <= 17 * few);
  CHECK(many <= size_t{ranks} * 1'024);  // a kilobyte a rank
}

TEST_CASE("engine: all-to-all at once takes about 190 bytes for each message in flight") {
  // All messages are in flight at once, each on a channel and a route of its own. 128 x 127
  // messages just fit the powers of two that vectors grow to.
  constexpr uint32_t kRanks = 128;
  const Fabric fabric = switch_fabric(kRanks, {BytesPerSecond(50'000'000'000), Duration(250'000)});
  Sketch sketch(kRanks);
  sketch.sync(sketch.site(std::make_unique<DirectAllToAllSchedule>(kRanks, 16, Transport{})));
  const size_t before = held;
  most_held = held;
  CHECK(simulate(sketch.program, sketch.lowered, fabric).messages == kRanks * (kRanks - 1));
  const size_t a_message = (most_held - before) / (kRanks * (kRanks - 1));
  CHECK(a_message >= 150);
  CHECK(a_message <= 210);
}

TEST_CASE("sweep: an all-to-all that asks its links for too much at once takes no table of steps") {
  constexpr uint32_t kRanks = 128;
  const Fabric fabric = switch_fabric(kRanks, {BytesPerSecond(50'000'000'000), Duration(250'000)});
  Sketch sketch(kRanks);
  sketch.sync(sketch.site(std::make_unique<DirectAllToAllSchedule>(kRanks, 16, Transport{})));
  Paths paths(fabric);
  const Demands asked = demands(sketch.lowered, paths);
  SweepOptions options;
  options.check_capacity = &asked;
  const size_t before = held;
  most_held = held;
  CHECK(std::holds_alternative<std::string>(sweep(sketch.program, sketch.lowered, paths, options)));
  CHECK(most_held - before < size_t{8} * kRanks * kRanks);  // a step alone is 32 bytes
}

TEST_CASE("state: what is refused by a byte less is swept and simulated within the limit") {
  const Fabric fabric = ring_fabric(64, {BytesPerSecond(50'000'000'000), Duration(1'000'000)});
  Sketch sketch(64);
  sketch.sync(sketch.site(std::make_unique<RingSchedule>(
      RingSchedule::Form::AllReduce, 64, 640, Combine::Add, Transport{1, 100, Entry::Eager})));
  Paths paths(fabric);
  const Demands asked = demands(sketch.lowered, paths);
  const auto swept = [&](int64_t most) {
    SweepOptions options;
    options.most_state = most;
    return sweep(sketch.program, sketch.lowered, paths, options);
  };
  const auto simulated = [&](int64_t most) {
    EngineOptions options;
    options.most_state = most;
    return simulate(sketch.program, sketch.lowered, paths, asked, options);
  };
  const auto least_for = [](auto run) {  // by bisection
    int64_t refused = 0;
    int64_t enough = int64_t{1} << 30;
    while (enough - refused > 1) {
      const int64_t most = refused + (enough - refused) / 2;
      try {
        (void)run(most);
        enough = most;
      } catch (const TooMuchState& error) {
        CHECK(std::string(error.what()).find("--limit state=") != std::string::npos);
        refused = most;
      }
    }
    return enough;
  };
  // There are 100 slots, so 128 steps of each rank are remembered.
  for (const int64_t least : {least_for(swept), least_for(simulated)}) {
    CHECK(least >= 64 * 128 * 16);
    CHECK(least <= 64 * 128 * 40);
  }
  // If the sweep has too little, the engine takes its place.
  CHECK(least_for(simulated) < least_for(swept));
  TimeOptions options;
  options.most_state = least_for(swept) - 1;
  const Completion by_engine =
      time_program(sketch.program, sketch.lowered, paths, asked, options).value();
  CHECK(by_engine.because == "the sweep takes more memory than the limit allows");
  options.most_state = least_for(swept);
  const Completion by_sweep =
      time_program(sketch.program, sketch.lowered, paths, asked, options).value();
  CHECK(by_sweep.by == TimedBy::Sweep);
  CHECK(by_engine.spans == by_sweep.spans);
  options.most_state = least_for(simulated) - 1;
  CHECK_THROWS_AS((void)time_program(sketch.program, sketch.lowered, paths, asked, options),
                  TooMuchState);
  const size_t before = held;
  most_held = held;
  (void)simulated(least_for(simulated));
  CHECK(static_cast<int64_t>(most_held - before) <= least_for(simulated) + 100'000);
}

}  // namespace
}  // namespace orrery::test
