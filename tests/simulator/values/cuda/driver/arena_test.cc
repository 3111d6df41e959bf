// Tests the memory of a virtual device: its size, its place, and who may access it.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/check.h"
#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

using cuda::ArenaSize;
using cuda::ByteRange;
using cuda::DeviceArena;

constexpr int64_t kGranule = 1 << 16;  // of the mock

TEST_CASE("arena: sizes are rounded up to what the driver gives at once") {
  DriverRig rig;
  const DeviceArena arena(rig.gpus, 0, {Bytes(5 * kGranule), Bytes(kGranule + 1)}, "d");
  CHECK(arena.limit() == Bytes(5 * kGranule));
  CHECK(arena.used() == Bytes(kGranule + 1));
  CHECK(arena.backed() == Bytes(2 * kGranule));
  CHECK(arena.beyond() == ByteRange{Bytes(kGranule + 1), Bytes(kGranule - 1)});
  CHECK(rig.gpus[0].memory().free == Bytes((1 << 30) - 2 * kGranule));
}

TEST_CASE("arena: only what is used takes memory, however high the limit") {
  DriverRig rig({.memory = kGranule});
  const DeviceArena arena(rig.gpus, 0, {Bytes(int64_t{1} << 40), Bytes(kGranule)}, "d");
  CHECK(rig.gpus[0].memory().free == Bytes());
}

TEST_CASE("arena: one that uses nothing takes nothing") {
  DriverRig rig;
  const DeviceArena arena(rig.gpus, 0, {Bytes(), Bytes()}, "d");
  CHECK(arena.backed() == Bytes());
  CHECK(mock().calls("cuMemCreate") == 0);
}

TEST_CASE("arena: more than the GPU has is out of memory, and leaves nothing") {
  DriverRig rig({.memory = 3 * kGranule});
  const auto make = [&](int64_t used) {
    const DeviceArena arena(rig.gpus, 0, {Bytes(100 * kGranule), Bytes(used)}, "virtual device 3");
  };
  CHECK(cuda_error([&] { make(3 * kGranule); }) == "");
  CHECK(cuda_error([&] { make(3 * kGranule + 1); }) ==
        "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2): 262144 bytes of virtual device 3 on GPU 0");
  CHECK(rig.gpus[0].memory().free == Bytes(3 * kGranule));
}

TEST_CASE("arena: what was written is read, at its offset") {
  DriverRig rig;
  const auto arena = rig.arena();
  const std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}, std::byte{3}};
  arena.fill({Bytes(0), Bytes(8)}, std::byte{9});
  arena.write(Bytes(2), bytes);
  std::vector<std::byte> read(5);
  arena.read(Bytes(1), read);
  CHECK(read == std::vector<std::byte>{std::byte{9}, std::byte{1}, std::byte{2}, std::byte{3},
                                       std::byte{9}});
  CHECK(arena.address(Bytes(5)) == arena.address() + 5);
}

TEST_CASE("arena: nothing is copied where there is nothing") {
  DriverRig rig;
  const auto arena = rig.arena();
  arena.write(Bytes(3), {});
  arena.read(Bytes(3), {});
  arena.fill({Bytes(3), Bytes()}, std::byte{1});
  CHECK(mock().calls("cuMemcpyHtoD") + mock().calls("cuMemcpyDtoH") + mock().calls("cuMemsetD8") ==
        0);
}

TEST_CASE("arena: the last byte with memory can be written, the next one is refused") {
  DriverRig rig;
  const DeviceArena arena(rig.gpus, 0, {Bytes(2 * kGranule), Bytes(10)}, "d");
  arena.fill({Bytes(kGranule - 1), Bytes(1)}, std::byte{1});
  CHECK_THROWS_AS(arena.fill({Bytes(kGranule), Bytes(1)}, std::byte{1}), InternalError);
  CHECK_THROWS_AS(arena.fill({Bytes(-1), Bytes(1)}, std::byte{1}), InternalError);
}

TEST_CASE("arena: more used than the limit is our bug") {
  DriverRig rig;
  CHECK_THROWS_AS(DeviceArena(rig.gpus, 0, {Bytes(1), Bytes(2)}, "d"), InternalError);
}

TEST_CASE("arena: a peer sees it") {
  DriverRig rig({.devices = 2});
  const auto arena = rig.arena(1);
  arena.fill({Bytes(0), Bytes(8)}, std::byte{7});
  rig.gpus[0].make_current();
  uint64_t number = 0;
  CHECK(rig.driver.cuMemcpyDtoH(&number, arena.address(), 8) == cuda::CUDA_SUCCESS);
  CHECK(number == 0x0707070707070707);
}

}  // namespace
}  // namespace orrery::test
