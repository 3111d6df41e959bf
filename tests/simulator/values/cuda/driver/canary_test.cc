// Tests bytes that nothing may write: a write out of bounds must be found.

#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/memory.h"
#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

using cuda::ByteRange;
using cuda::DeviceArena;

constexpr uint64_t kSeed = 5;

/// A `Guarded` arena has 100 used bytes and two canaries: bytes 10 to 15, and all bytes beyond the
/// used ones.
struct Guarded {
  DriverRig rig;
  DeviceArena arena{rig.gpus, 0, {Bytes(100), Bytes(100)}, "virtual device 3"};
  std::vector<ByteRange> ranges = {{Bytes(10), Bytes(6)}, arena.beyond()};

  Guarded() { cuda::write_canaries(arena, ranges, kSeed); }
  /// Writes another value over a byte.
  void change(int64_t offset) {
    arena.fill({Bytes(offset), Bytes(1)}, cuda::canary(kSeed, Bytes(offset)) ^ std::byte{1});
  }
  auto damage() { return cuda::damaged_canary(arena, ranges, kSeed); }
};

TEST_CASE("canary: untouched, there is no damage") {
  CHECK_FALSE(Guarded().damage());
}

TEST_CASE("canary: what is written beside it is no damage") {
  Guarded guarded;
  for (const int64_t offset : {9, 16, 99})
    guarded.change(offset);
  CHECK_FALSE(guarded.damage());
}

TEST_CASE("canary: the first and the last byte of each are guarded") {
  for (const int64_t offset : {10, 15, 100, (1 << 16) - 1}) {
    Guarded guarded;
    guarded.change(offset);
    REQUIRE(guarded.damage());
    CHECK(guarded.damage()->offset == Bytes(offset));
  }
}

TEST_CASE("canary: the first wrong byte is named") {
  Guarded guarded;
  guarded.change(13);
  guarded.change(12);
  const auto damage = guarded.damage();
  REQUIRE(damage);
  CHECK(damage->range == ByteRange{Bytes(10), Bytes(6)});
  CHECK(damage->offset == Bytes(12));
  CHECK(damage->expected == cuda::canary(kSeed, Bytes(12)));
  CHECK(damage->found == (cuda::canary(kSeed, Bytes(12)) ^ std::byte{1}));
}

TEST_CASE("canary: the damage in words") {
  Guarded guarded;
  const cuda::CanaryDamage damage = {
      {Bytes(10), Bytes(6)}, Bytes(12), std::byte{0x1f}, std::byte{}};
  CHECK(cuda::damage_text(guarded.arena, damage) ==
        "virtual device 3: the byte at offset 12 was overwritten: expected 0x1f, got 0x00 (guards "
        "bytes 10 to 15)");
}

TEST_CASE("canary: a canary at another place, or of another seed, is none") {
  Guarded guarded;
  std::array<std::byte, 6> copy{};
  guarded.arena.read(Bytes(100), copy);
  guarded.arena.write(Bytes(10), copy);
  CHECK(guarded.damage());
  CHECK(cuda::damaged_canary(guarded.arena, guarded.ranges, kSeed + 1));
}

TEST_CASE("canary: a large one is checked to its end") {
  DriverRig rig;
  const Bytes size(3 << 20);
  const DeviceArena arena(rig.gpus, 0, {size, size}, "d");
  const std::array<ByteRange, 1> all = {ByteRange{Bytes(), size}};
  cuda::write_canaries(arena, all, kSeed);
  CHECK_FALSE(cuda::damaged_canary(arena, all, kSeed));
  const Bytes last = size - Bytes(1);
  arena.fill({last, Bytes(1)}, ~cuda::canary(kSeed, last));
  const auto damage = cuda::damaged_canary(arena, all, kSeed);
  REQUIRE(damage);
  CHECK(damage->offset == last);
}

}  // namespace
}  // namespace orrery::test
