// The peak memory of the timing executors, counted at the allocator.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <doctest/doctest.h>

#include "models/fabric/fabric.h"
#include "simulator/algorithm/direct_all_to_all.h"
#include "simulator/algorithm/ring.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/simulator/time/sketch.h"

namespace {

// Of the whole test program, which has one thread.
size_t held = 0;
size_t most_held = 0;

/// Space before each block that stores its size.
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

/// The peak memory of sweeping a ring all-gather of so many ranks, beyond what was allocated
/// before.
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
  // 16 times the ranks, 256 times the messages: 16 times the memory, apart from vectors that round
  // up to a power of two.
  const size_t few = peak(256);
  const size_t many = peak(4'096);
  CHECK(many <= 17 * few);
  CHECK(many <= size_t{4'096} * 1'024);  // a kilobyte a rank
}

TEST_CASE("engine: all-to-all at once takes about 250 bytes for each message in flight") {
  // All messages are under way at once, each on a channel and a route of its own. 128 x 127
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
  CHECK(a_message <= 270);
}

}  // namespace
}  // namespace orrery::test
