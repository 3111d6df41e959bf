// Tests the errors that the mock finds. On a GPU each gives an error, wrong values, or worse.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/graph.h"
#include "simulator/values/cuda/driver/memory.h"
#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

/// A `Misused` is a driver whose misuses the test expects.
struct Misused {
  cuda::Driver driver;
  cuda::Gpus gpus;

  explicit Misused(MockCudaSettings settings = {})
      : driver(mock_driver(settings)), gpus(driver, settings.devices) {}
  cuda::DeviceArena arena(size_t gpu = 0) {
    return cuda::DeviceArena(gpus, gpu, {Bytes(800), Bytes(800)}, "d");
  }
};

bool misused(const std::string& text) {
  return mock().misuses().find(text) != std::string::npos;
}

TEST_CASE("mock driver: memory that nothing was written to is random") {
  DriverRig rig;
  const auto one = rig.arena();
  const auto two = rig.arena();
  CHECK(read_numbers(one) != read_numbers(two));
  CHECK(read_numbers(one)[0] != 0);
}

TEST_CASE(
    "mock driver: a fill by the host goes on after its call, and a stream does not wait for it") {
  std::set<std::byte> found;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    DriverRig rig({.seed = seed});
    const auto arena = rig.arena();
    const cuda::Stream stream(rig.gpus[0]);
    cuda::Graph graph(rig.driver);
    graph.add_fill(rig.gpus[0], arena.address(), Bytes(1), std::byte{1}, {});
    const cuda::GraphExec exec(graph);
    rig.gpus[0].make_current();
    rig.driver.cuMemsetD8(arena.address(), 2, 1);  // nothing waits for it, unlike in fill()
    exec.launch(stream);
    stream.synchronize("the test");
    std::vector<std::byte> byte(1);
    arena.read(Bytes(), byte);
    found.insert(byte[0]);
  }
  CHECK(found == std::set<std::byte>{std::byte{1}, std::byte{2}});
}

TEST_CASE("mock driver: a handle that was destroyed") {
  Misused rig;
  const cuda::Stream stream(rig.gpus[0]);
  cuda::CUgraphExec exec = nullptr;
  {
    const cuda::Graph graph(rig.driver);
    CHECK(rig.driver.cuGraphInstantiate(&exec, graph.get(), 0) == cuda::CUDA_SUCCESS);
  }
  CHECK(rig.driver.cuGraphExecDestroy(exec) == cuda::CUDA_SUCCESS);
  CHECK(rig.driver.cuGraphExecDestroy(exec) == cuda::CUDA_ERROR_INVALID_HANDLE);
  CHECK(rig.driver.cuGraphLaunch(exec, stream.get()) == cuda::CUDA_ERROR_INVALID_HANDLE);
  CHECK(misused("cuGraphExecDestroy: handle "));
  CHECK(misused("cuGraphLaunch: handle "));
  CHECK(misused(" is of no executable graph, or of one that was destroyed\n"));
}

TEST_CASE("mock driver: a handle of another kind") {
  Misused rig;
  const cuda::Stream stream(rig.gpus[0]);
  CHECK(rig.driver.cuEventSynchronize(reinterpret_cast<cuda::CUevent>(stream.get())) ==
        cuda::CUDA_ERROR_INVALID_HANDLE);
  CHECK(misused("is of no event"));
}

TEST_CASE("mock driver: what is alive") {
  const cuda::Driver driver = mock_driver();
  CHECK(mock().alive() == "");
  {
    const cuda::Gpus gpus(driver, 1);
    const cuda::DeviceArena arena(gpus, 0, {Bytes(1), Bytes(1)}, "d");
    const cuda::Stream one(gpus[0]);
    const cuda::Stream two(gpus[0]);
    const cuda::PinnedMemory pinned(gpus[0], Bytes(1));
    CHECK(mock().alive() == "1 context, 2 streams, 1 reservation, 1 mapping, 1 pinned block");
  }
  CHECK(mock().alive() == "");
}

TEST_CASE("mock driver: a context that ends before what is in it") {
  Misused rig;
  CHECK(rig.driver.cuDevicePrimaryCtxRelease(0) == cuda::CUDA_SUCCESS);
  std::optional<cuda::Gpus> gpus(std::in_place, rig.driver, 1);
  const cuda::Stream stream((*gpus)[0]);
  rig.driver.cuDevicePrimaryCtxRelease(0);
  CHECK(misused("cuDevicePrimaryCtxRelease: the context of device 0 ended before a stream\n"));
}

TEST_CASE("mock driver: the argument of a kernel has another size") {
  Misused rig;
  cuda::KernelModule module(rig.gpus[0], {}, mock_cuda::kTestPtx);
  cuda::Graph graph(rig.driver);
  const mock_cuda::AppendDigit argument = {0, 1, 1};
  CHECK(cuda_error([&] {
          graph.add_kernel({module.function("mock_add"), 1, 1, bytes_of(argument)}, {});
        }) == "cuGraphAddKernelNode: CUDA_ERROR_INVALID_VALUE (1): node 0 of a graph, a kernel");
  CHECK(misused("cuGraphAddKernelNode: the argument has 24 bytes, the kernel takes 32\n"));
}

TEST_CASE("mock driver: a block of too many threads, and none") {
  Misused rig;
  cuda::KernelModule module(rig.gpus[0], {}, mock_cuda::kTestPtx);
  cuda::Graph graph(rig.driver);
  const mock_cuda::AppendDigit argument = {0, 0, 1};
  for (const unsigned int threads : {0u, 1025u})
    CHECK(cuda_error([&] {
            graph.add_kernel({module.function("mock_append"), 1, threads, bytes_of(argument)}, {});
          }) != "");
  CHECK(misused("1 blocks of 1025 threads\n"));
}

TEST_CASE("mock driver: a copy that leaves what is mapped") {
  Misused rig;
  const auto arena = rig.arena();
  cuda::Graph graph(rig.driver);
  const auto copy = [&](int64_t from, int64_t size) {
    graph.add_copy(rig.gpus[0], arena.address(), arena.address(Bytes(from)), Bytes(size), {});
  };
  copy(1, (1 << 16) - 1);
  CHECK(cuda_error([&] { copy(1, 1 << 16); }) != "");
  CHECK(cuda_error([&] { copy(-1, 1); }) != "");
  CHECK(misused("cuGraphAddMemcpyNode: 65536 bytes at "));
  CHECK(misused(" are not all mapped\n"));
}

TEST_CASE("mock driver: a copy by a device that does not see the memory") {
  Misused rig({.devices = 2, .peers = 0});
  const auto here = rig.arena(0);
  const auto there = rig.arena(1);
  cuda::Graph graph(rig.driver);
  CHECK(cuda_error([&] {
          graph.add_copy(rig.gpus[0], here.address(), there.address(), Bytes(8), {});
        }) != "");
  CHECK(misused("cuGraphAddMemcpyNode: device 0 may not use 8 bytes at "));
}

TEST_CASE("mock driver: memory is unmapped while work may use it") {
  Misused rig;
  const auto arena = rig.arena();
  const cuda::Stream stream(rig.gpus[0]);
  cuda::Graph graph(rig.driver);
  graph.add_fill(rig.gpus[0], arena.address(), Bytes(8), std::byte{}, {});
  const cuda::GraphExec exec(graph);
  exec.launch(stream);
  CHECK(rig.driver.cuMemUnmap(arena.address(), 1 << 16) == cuda::CUDA_ERROR_INVALID_VALUE);
  CHECK(misused("cuMemUnmap: work that may use the memory has not ended\n"));
  stream.synchronize("the fill");
}

TEST_CASE("mock driver: the work of a stream that was destroyed goes on") {
  Misused rig;
  const auto arena = rig.arena();
  const cuda::Event event(rig.gpus[0]);
  cuda::Graph graph(rig.driver);
  graph.add_fill(rig.gpus[0], arena.address(), Bytes(8), std::byte{}, {});
  graph.add_record(event, {});
  const cuda::GraphExec exec(graph);
  cuda::CUstream stream = nullptr;
  CHECK(rig.driver.cuStreamCreate(&stream, 0) == cuda::CUDA_SUCCESS);
  CHECK(rig.driver.cuGraphLaunch(exec.get(), stream) == cuda::CUDA_SUCCESS);
  CHECK(rig.driver.cuStreamDestroy(stream) == cuda::CUDA_SUCCESS);
  CHECK(mock().nodes_run() == 0);
  CHECK(rig.driver.cuMemUnmap(arena.address(), 1 << 16) == cuda::CUDA_ERROR_INVALID_VALUE);
  event.synchronize("the test");
  CHECK(mock().nodes_run() > 0);
}

TEST_CASE("mock driver: a kernel of a module that is gone fails where something waits for it") {
  Misused rig;
  const auto arena = rig.arena();
  const cuda::Stream stream(rig.gpus[0]);
  cuda::Graph graph(rig.driver);
  const mock_cuda::AppendDigit argument = {arena.address(), 1, 1};
  {
    cuda::KernelModule module(rig.gpus[0], {}, mock_cuda::kTestPtx);
    graph.add_kernel({module.function("mock_append"), 1, 1, bytes_of(argument)}, {});
  }
  const cuda::GraphExec exec(graph);
  exec.launch(stream);
  CHECK(cuda_error([&] { stream.synchronize("the test"); }) ==
        "cuStreamSynchronize: CUDA_ERROR_INVALID_HANDLE (400): the test");
  CHECK(misused("a node that runs: handle "));
}

TEST_CASE("mock driver: a node waits for one of another graph, or for one twice") {
  Misused rig;
  cuda::Graph one(rig.driver);
  cuda::Graph two(rig.driver);
  const std::vector<cuda::GraphNode> node = {one.add_join({})};
  CHECK(cuda_error([&] { two.add_join(node); }) ==
        "cuGraphAddEmptyNode: CUDA_ERROR_INVALID_VALUE (1): node 0 of a graph, a join");
  CHECK(misused("a node waits for one that is not in its graph\n"));
  const std::vector<cuda::GraphNode> twice = {node[0], node[0]};
  CHECK(cuda_error([&] { one.add_join(twice); }) != "");
  CHECK(misused("a node waits for another twice\n"));
}

TEST_CASE("mock driver: an access where the device has no virtual memory management") {
  Misused rig({.virtual_memory = 0});
  CHECK_FALSE(rig.gpus[0].info().virtual_memory);
  CHECK(cuda_error([&] { rig.arena(); }) ==
        "cuMemGetAllocationGranularity: CUDA_ERROR_NOT_SUPPORTED (801): the memory of GPU 0");
}

TEST_CASE("mock driver: what a stream that is captured cannot do") {
  Misused rig;
  const cuda::Stream stream(rig.gpus[0]);
  const cuda::Event event(rig.gpus[0]);
  const cuda::GraphExec exec{cuda::Graph(rig.driver)};
  const auto begin = [&] {
    return rig.driver.cuStreamBeginCapture(stream.get(), cuda::CU_STREAM_CAPTURE_MODE_RELAXED);
  };
  CHECK(begin() == cuda::CUDA_SUCCESS);
  CHECK(begin() == cuda::CUDA_ERROR_ILLEGAL_STATE);
  CHECK(rig.driver.cuStreamSynchronize(stream.get()) ==
        cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(rig.driver.cuGraphLaunch(exec.get(), stream.get()) ==
        cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(rig.driver.cuEventRecord(event.get(), stream.get()) ==
        cuda::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  cuda::CUgraph graph = nullptr;
  CHECK(rig.driver.cuStreamEndCapture(stream.get(), &graph) == cuda::CUDA_SUCCESS);
  CHECK(rig.driver.cuGraphDestroy(graph) == cuda::CUDA_SUCCESS);
  CHECK(rig.driver.cuStreamEndCapture(stream.get(), &graph) == cuda::CUDA_ERROR_ILLEGAL_STATE);
  CHECK(misused("cuStreamBeginCapture: the stream is captured already\n"));
  CHECK(misused("cuStreamEndCapture: the stream is not captured\n"));
  CHECK(misused("cuGraphLaunch: the stream is captured\n"));
}

TEST_CASE("mock driver: a graph that is a child of itself, or a child that was destroyed") {
  Misused rig;
  cuda::Graph graph(rig.driver);
  CHECK(cuda_error([&] { graph.add_child(graph, {}); }) ==
        "cuGraphAddChildGraphNode: CUDA_ERROR_INVALID_VALUE (1): node 0 of a graph, a graph "
        "itself");
  cuda::CUgraph gone = nullptr;
  {
    const cuda::Graph child(rig.driver);
    gone = child.get();
  }
  cuda::CUgraphNode node = nullptr;
  CHECK(rig.driver.cuGraphAddChildGraphNode(&node, graph.get(), nullptr, 0, gone) ==
        cuda::CUDA_ERROR_INVALID_HANDLE);
  CHECK(misused("is of no graph, or of one that was destroyed"));
}

}  // namespace
}  // namespace orrery::test
