// Tests the time between events, by the mock's clock. In any order of the work, a node begins when
// all nodes that it waits for have ended.

#include <vector>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/graph.h"
#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

using cuda::Event;
using cuda::GraphNode;

using Nodes = std::vector<GraphNode>;

/// Returns a clock of round numbers: a copy takes 1 us and 1 ns per byte, a kernel 7 us and 1 ns
/// per thread, and the launch of a graph 100 us.
MockCudaSettings round_clock(uint64_t seed) {
  return {.seed = seed,
          .launch_ps = 100'000'000,
          .kernel_ps = 7'000'000,
          .thread_ps = 1'000,
          .copy_ps = 1'000'000,
          .bytes_per_second = 1'000'000'000};
}

Duration microseconds(int64_t count) {
  return Duration(count * 1'000'000);
}
/// Returns whether two times agree to 100 ns. The driver gives times as floats of milliseconds.
bool close(Duration a, Duration b) {
  return a - b < Duration(100'000) && b - a < Duration(100'000);
}

TEST_CASE("event: between two in a stream lies what was launched between them") {
  DriverRig rig(round_clock(1));
  cuda::KernelModule module(rig.gpus[0], {}, mock_cuda::kTestPtx);
  const auto numbers = rig.arena();
  const cuda::Stream stream(rig.gpus[0]);
  const Event start(rig.gpus[0]);
  const Event end(rig.gpus[0]);
  start.record(stream);
  const mock_cuda::AppendDigit argument = {numbers.address(), kNumbers, 1};
  launch({module.function("mock_append"), 10, 100, bytes_of(argument)}, stream, "a digit");
  end.record(stream);
  end.synchronize("the test");
  CHECK(close(end.since(start), microseconds(7 + 1)));
  CHECK(start.since(start) == Duration());
}

TEST_CASE("event: in a graph the longest way counts") {
  for (uint64_t seed = 1; seed < 10; ++seed) {
    DriverRig rig(round_clock(seed));
    const cuda::DeviceArena arena(rig.gpus, 0, {Bytes(40'000), Bytes(40'000)}, "d");
    const cuda::Stream stream(rig.gpus[0]);
    const Event start(rig.gpus[0]);
    const Event middle(rig.gpus[0]);
    const Event end(rig.gpus[0]);
    cuda::Graph graph(rig.driver);
    const auto fill = [&](int64_t size, const Nodes& after) {
      return graph.add_fill(rig.gpus[0], arena.address(), Bytes(size), std::byte{}, after);
    };
    const GraphNode begin = graph.add_record(start, {});
    const GraphNode one = fill(2'000, {begin});      // 3 us
    const GraphNode two = fill(9'000, {one});        // 10 us more
    const GraphNode beside = fill(30'000, {begin});  // 31 us
    graph.add_record(middle, Nodes{two});
    graph.add_record(end, Nodes{two, beside});
    const cuda::GraphExec exec(graph);
    exec.launch(stream);
    stream.synchronize("the test");
    CHECK(close(middle.since(start), microseconds(13)));
    CHECK(close(end.since(start), microseconds(31)));
  }
}

TEST_CASE("event: a launch of a graph takes time by itself") {
  DriverRig rig(round_clock(1));
  const cuda::Stream stream(rig.gpus[0]);
  const Event start(rig.gpus[0]);
  const Event end(rig.gpus[0]);
  const cuda::GraphExec exec{cuda::Graph(rig.driver)};
  start.record(stream);
  for (int i = 0; i < 3; ++i)
    exec.launch(stream);
  end.record(stream);
  stream.synchronize("the test");
  CHECK(close(end.since(start), microseconds(300)));
}

TEST_CASE("event: the time of one that has not come is an error") {
  const cuda::Driver driver = mock_driver();
  const cuda::Gpus gpus(driver, 1);
  const cuda::Stream stream(gpus[0]);
  const Event start(gpus[0]);
  const Event end(gpus[0]);
  CHECK(cuda_error([&] { end.since(start); }) ==
        "cuEventElapsedTime: CUDA_ERROR_INVALID_HANDLE (400): the time between two events");
  start.record(stream);
  end.record(stream);
  CHECK(cuda_error([&] { end.since(start); }) ==
        "cuEventElapsedTime: CUDA_ERROR_NOT_READY (600): the time between two events");
}

}  // namespace
}  // namespace orrery::test
