// Tests graphs: each kind of node does its work, in any order that obeys the edges.

#include "simulator/values/cuda/driver/graph.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "simulator/values/cuda/driver/memory.h"
#include "tests/simulator/values/cuda/driver/driver_rig.h"

namespace orrery::test {
namespace {

using cuda::DeviceArena;
using cuda::Graph;
using cuda::GraphExec;
using cuda::GraphNode;

using Nodes = std::vector<GraphNode>;

/// A `GraphRig` has a graph over an arena of numbers, which are 0 at first.
struct GraphRig : DriverRig {
  cuda::KernelModule module{gpus[0], {}, mock_cuda::kTestPtx};
  DeviceArena numbers = arena();
  cuda::Stream stream{gpus[0]};
  Graph graph{driver};

  explicit GraphRig(MockCudaSettings settings = {}) : DriverRig(settings) {
    write_numbers(numbers, std::vector<uint64_t>(kNumbers));
  }

  /// Adds a node that appends a digit to every number.
  GraphNode append(uint64_t digit, const Nodes& after) {
    const mock_cuda::AppendDigit argument = {numbers.address(), kNumbers, digit};
    return graph.add_kernel({module.function("mock_append"), 4, 32, bytes_of(argument)}, after);
  }
  /// Returns the number in the arena after one run. Checks that all numbers there are the same.
  uint64_t run() {
    const GraphExec exec(graph);
    exec.launch(stream);
    stream.synchronize("the test");
    const std::vector<uint64_t> all = read_numbers(numbers);
    CHECK(all == std::vector<uint64_t>(kNumbers, all[0]));
    return all[0];
  }
};

/// Returns the results of runs under several seeds.
template <class Build>
std::set<uint64_t> results(const Build& build) {
  std::set<uint64_t> results;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    GraphRig rig({.seed = seed});
    build(rig);
    results.insert(rig.run());
  }
  return results;
}

TEST_CASE("graph: a chain gives the same in every order") {
  CHECK(results([](GraphRig& rig) {
          const GraphNode one = rig.append(1, {});
          const GraphNode two = rig.append(2, {one});
          rig.append(3, {two});
        }) == std::set<uint64_t>{123});
}

TEST_CASE("graph: two writes without an edge happen in both orders") {
  CHECK(results([](GraphRig& rig) {
          rig.append(1, {});
          rig.append(2, {});
        }) == std::set<uint64_t>{12, 21});
}

TEST_CASE("graph: what waits for a join waits for all that it waits for") {
  CHECK(results([](GraphRig& rig) {
          const GraphNode one = rig.append(1, {});
          const GraphNode two = rig.append(2, {});
          rig.append(3, {rig.graph.add_join(Nodes{one, two})});
        }) == std::set<uint64_t>{123, 213});
}

TEST_CASE("graph: a missing edge of a diamond shows") {
  // Node 4 waits for node 2 only, so node 3 comes before or after it.
  CHECK(results([](GraphRig& rig) {
          const GraphNode one = rig.append(1, {});
          const GraphNode two = rig.append(2, {one});
          rig.append(3, {one});
          rig.append(4, {two});
        }) == std::set<uint64_t>{1234, 1324, 1243});
}

TEST_CASE("graph: a seed gives one order") {
  const auto order = [](uint64_t seed) {
    GraphRig rig({.seed = seed});
    for (uint64_t digit = 1; digit < 10; ++digit)
      rig.append(digit, {});
    return rig.run();
  };
  CHECK(order(7) == order(7));
  CHECK(order(7) != order(8));
}

TEST_CASE("graph: the items of a kernel come in any order") {
  std::set<uint64_t> first;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    GraphRig rig({.seed = seed});
    rig.numbers.fill({Bytes(), Bytes(8)}, std::byte{0xff});
    const mock_cuda::FirstItem argument = {rig.numbers.address(), kNumbers};
    rig.graph.add_kernel({rig.module.function("mock_first"), 1, 32, bytes_of(argument)}, {});
    const GraphExec exec(rig.graph);
    exec.launch(rig.stream);
    rig.stream.synchronize("the test");
    first.insert(read_numbers(rig.numbers)[0]);
  }
  CHECK(first.size() > 5);
  CHECK(*first.rbegin() < kNumbers);
}

TEST_CASE("graph: a stream that ends waits for its work, so that its memory may end after it") {
  GraphRig rig;
  rig.append(4, {});
  const GraphExec exec(rig.graph);
  {
    const cuda::Stream stream(rig.gpus[0]);
    exec.launch(stream);
  }
  CHECK(read_numbers(rig.numbers)[0] == 4);
}

TEST_CASE("graph: two launches in a stream come one after the other, in two streams in any order") {
  const auto run = [](uint64_t seed, bool two_streams) {
    GraphRig rig({.seed = seed});
    rig.append(1, {});
    const GraphExec one(rig.graph);
    Graph other(rig.driver);
    std::swap(rig.graph, other);
    rig.append(2, {});
    const GraphExec two(rig.graph);
    const cuda::Stream beside(rig.gpus[0]);
    one.launch(rig.stream);
    two.launch(two_streams ? beside : rig.stream);
    rig.stream.synchronize("the test");
    beside.synchronize("the test");
    return read_numbers(rig.numbers)[0];
  };
  std::set<uint64_t> same;
  std::set<uint64_t> different;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    same.insert(run(seed, false));
    different.insert(run(seed, true));
  }
  CHECK(same == std::set<uint64_t>{12});
  CHECK(different == std::set<uint64_t>{12, 21});
}

TEST_CASE("graph: it can be launched again, and runs of it do not overlap") {
  GraphRig rig;
  const GraphNode one = rig.append(1, {});
  rig.append(2, {one});
  const GraphExec exec(rig.graph);
  const cuda::Stream beside(rig.gpus[0]);
  exec.launch(rig.stream);
  exec.launch(beside);
  exec.launch(rig.stream);
  rig.stream.synchronize("the test");
  beside.synchronize("the test");
  CHECK(read_numbers(rig.numbers)[0] == 121212);
  CHECK(mock().nodes_run() == 6);
}

TEST_CASE("graph: an executable graph needs its graph no more") {
  GraphRig rig;
  rig.append(4, {});
  const GraphExec exec(rig.graph);
  rig.graph = Graph(rig.driver);
  exec.launch(rig.stream);
  rig.stream.synchronize("the test");
  CHECK(read_numbers(rig.numbers)[0] == 4);
}

TEST_CASE("graph: a child comes after what it waits for, and before what waits for it") {
  // The child has 2 and then 3. Node 4 waits for the child, and node 5 for the first digit alone.
  CHECK(results([](GraphRig& rig) {
          const auto digit = [&](uint64_t value) {
            const mock_cuda::AppendDigit argument = {rig.numbers.address(), kNumbers, value};
            launch({rig.module.function("mock_append"), 4, 32, bytes_of(argument)}, rig.stream,
                   "a digit");
          };
          const GraphNode one = rig.append(1, {});
          const Graph child = Graph::captured(rig.stream, [&] {
            digit(2);
            digit(3);
          });
          rig.append(4, {rig.graph.add_child(child, Nodes{one})});
          rig.append(5, {one});
        }) == std::set<uint64_t>{12345, 12354, 12534, 15234});
}

TEST_CASE("graph: a child is copied, and one of nothing does nothing") {
  GraphRig rig;
  const GraphNode one = rig.append(1, {});
  Graph graph(rig.driver);
  std::swap(rig.graph, graph);
  const GraphNode before = rig.graph.add_child(Graph::captured(rig.stream, [] {}), {});
  const GraphNode middle = rig.graph.add_child(graph, Nodes{before});
  std::swap(rig.graph, graph);
  rig.append(2, {one});
  std::swap(rig.graph, graph);
  rig.append(3, {middle});
  CHECK(rig.graph.node_count() == 3);
  CHECK(rig.run() == 13);
}

TEST_CASE("graph: where what is captured fails, the stream is as it was") {
  GraphRig rig;
  mock().fail("cuLaunchKernel", 1, cuda::CUDA_ERROR_INVALID_VALUE);
  const mock_cuda::AppendDigit argument = {rig.numbers.address(), kNumbers, 6};
  const auto digit = [&] {
    launch({rig.module.function("mock_append"), 4, 32, bytes_of(argument)}, rig.stream, "a digit");
  };
  CHECK(cuda_error([&] { Graph::captured(rig.stream, digit); }) ==
        "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1): a digit");
  digit();
  rig.stream.synchronize("the test");
  CHECK(read_numbers(rig.numbers)[0] == 6);
}

TEST_CASE("graph: one without nodes runs") {
  GraphRig rig;
  CHECK(rig.run() == 0);
}

TEST_CASE("graph: nothing runs before something waits for it") {
  GraphRig rig;
  rig.append(4, {});
  const GraphExec exec(rig.graph);
  exec.launch(rig.stream);
  CHECK(read_numbers(rig.numbers)[0] == 0);
  rig.stream.synchronize("the test");
  CHECK(read_numbers(rig.numbers)[0] == 4);
}

TEST_CASE("graph: a fill sets the bytes that it says") {
  GraphRig rig;
  rig.graph.add_fill(rig.gpus[0], rig.numbers.address(Bytes(8)), Bytes(3), std::byte{0xab}, {});
  const GraphExec exec(rig.graph);
  exec.launch(rig.stream);
  rig.stream.synchronize("the test");
  std::vector<uint64_t> expected(kNumbers);
  expected[1] = 0xababab;
  CHECK(read_numbers(rig.numbers) == expected);
}

TEST_CASE("graph: a copy between two GPUs") {
  GraphRig rig({.devices = 2});
  const DeviceArena there = rig.arena(1);
  std::vector<uint64_t> counted(kNumbers);
  for (size_t i = 0; i < counted.size(); ++i)
    counted[i] = i;
  write_numbers(rig.numbers, counted);
  rig.graph.add_copy(rig.gpus[0], there.address(), rig.numbers.address(), there.used(), {});
  CHECK(rig.graph.node_count() == 1);
  const GraphExec exec(rig.graph);
  exec.launch(rig.stream);
  rig.stream.synchronize("the test");
  CHECK(read_numbers(there) == counted);
}

TEST_CASE("graph: a copy from pinned memory of the host") {
  GraphRig rig;
  const cuda::PinnedMemory pinned(rig.gpus[0], rig.numbers.used());
  std::fill(pinned.bytes().begin(), pinned.bytes().end(), std::byte{1});
  rig.graph.add_copy(rig.gpus[0], rig.numbers.address(),
                     reinterpret_cast<uintptr_t>(pinned.bytes().data()), rig.numbers.used(), {});
  CHECK(rig.run() == 0x0101010101010101);
}

TEST_CASE("graph: a failure names the node") {
  GraphRig rig;
  rig.append(1, {});
  mock().fail("cuGraphAddKernelNode", 1, cuda::CUDA_ERROR_INVALID_VALUE);
  mock().fail("cuGraphAddMemcpyNode", 1, cuda::CUDA_ERROR_INVALID_VALUE);
  mock().fail("cuGraphAddMemsetNode", 1, cuda::CUDA_ERROR_INVALID_VALUE);
  CHECK(cuda_error([&] { rig.append(1, {}); }) ==
        "cuGraphAddKernelNode: CUDA_ERROR_INVALID_VALUE (1): node 1 of a graph, a kernel");
  const auto to = rig.numbers.address();
  CHECK(cuda_error([&] { rig.graph.add_copy(rig.gpus[0], to, to + 8, Bytes(4), {}); }) ==
        "cuGraphAddMemcpyNode: CUDA_ERROR_INVALID_VALUE (1): node 1 of a graph, a copy of 4 bytes");
  CHECK(cuda_error([&] { rig.graph.add_fill(rig.gpus[0], to, Bytes(4), std::byte{}, {}); }) ==
        "cuGraphAddMemsetNode: CUDA_ERROR_INVALID_VALUE (1): node 1 of a graph, 4 bytes set");
}

TEST_CASE("kernel launch: a kernel by itself, after what the stream had before") {
  GraphRig rig;
  for (const uint64_t digit : {1u, 2u, 3u}) {
    const mock_cuda::AppendDigit argument = {rig.numbers.address(), kNumbers, digit};
    launch({rig.module.function("mock_append"), 2, 64, bytes_of(argument)}, rig.stream, "a digit");
  }
  rig.stream.synchronize("the test");
  CHECK(read_numbers(rig.numbers) == std::vector<uint64_t>(kNumbers, 123));
}

}  // namespace
}  // namespace orrery::test
