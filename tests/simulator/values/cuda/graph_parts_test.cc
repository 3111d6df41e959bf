#include <doctest/doctest.h>

#include "simulator/values/cuda/gpu_graph.h"
#include "tests/simulator/memory/hand_program.h"

namespace orrery::cuda {

namespace {

using Parts = std::vector<std::vector<WorkId>>;

/// Returns a loop of one op, whose iterations are copies of each other, and an op behind the loop.
Program looped(uint32_t iterations) {
  test::HandProgram p;
  WrittenLoop loop;
  for (uint32_t i = 0; i <= iterations; ++i) {
    p.op(OpKind::Full, "x", {}, 1);
    if (i < iterations)
      loop.written.push_back({i, "l", "", {i, i + 1}, {}, {}});
  }
  loop.upper = iterations;
  p.program.written_loops.push_back(loop);
  return p.program;
}

Work zero(uint32_t op, DevicePointer at) {
  return {Fill{at, Bytes(1)}, LogicalId(0), {OpId(op)}};
}

TEST_CASE("graph parts: what fits one graph is one") {
  WorkGraph graph;
  const WorkId first = graph.add(zero(0, 1), {});
  graph.add(zero(1, 2), std::vector{first});
  const GraphParts parts = graph_parts(graph, looped(2), 2);
  CHECK(parts.parts == Parts{{WorkId(0), WorkId(1)}});
  CHECK(parts.launches == std::vector<uint32_t>{0});
}

TEST_CASE("graph parts: iterations that do the same are one graph, launched for each") {
  constexpr uint32_t kIterations = 5;
  WorkGraph graph;
  std::vector<WorkId> after;
  for (uint32_t i = 0; i < kIterations; ++i) {
    const WorkId a = graph.add(zero(i, 1), after);
    after = {graph.add(zero(i, 2), std::vector{a})};
  }
  graph.add(zero(kIterations, 3), after);
  const GraphParts parts = graph_parts(graph, looped(kIterations), 2);
  CHECK(parts.parts == Parts{{WorkId(0), WorkId(1)}, {WorkId(10)}});
  CHECK(parts.launches == std::vector<uint32_t>{0, 0, 0, 0, 0, 1});
}

TEST_CASE(
    "graph parts: iterations that differ in an address or in an edge are graphs of their own") {
  WorkGraph graph;
  const WorkId a = graph.add(zero(0, 1), {});
  graph.add(zero(0, 2), std::vector{a});
  graph.add(zero(1, 1), {});
  graph.add(zero(1, 2), {});  // no edge
  const WorkId e = graph.add(zero(2, 1), {});
  graph.add(zero(2, 9), std::vector{e});  // another address
  const GraphParts parts = graph_parts(graph, looped(3), 2);
  CHECK(parts.launches == std::vector<uint32_t>{0, 1, 2});
}

TEST_CASE("graph parts: nothing is launched before what it waits for, and no part is too large") {
  WorkGraph graph;
  // A node of iteration 0 waits for one of iteration 1, and so is in the same part.
  const WorkId late = graph.add(zero(1, 1), {});
  graph.add(zero(0, 2), std::vector{late});
  for (uint32_t i = 0; i < 4; ++i)
    graph.add(zero(0, 10 + i), {});
  const GraphParts parts = graph_parts(graph, looped(2), 3);
  for (const std::vector<WorkId>& part : parts.parts)
    CHECK(part.size() <= 3);
  // No two parts do the same work, so each is launched once.
  REQUIRE(parts.launches.size() == parts.parts.size());
  std::vector<size_t> launch_of(graph.size());
  for (size_t l = 0; l < parts.launches.size(); ++l)
    for (const WorkId node : parts.parts[parts.launches[l]])
      launch_of[node.index()] = l;
  for (uint32_t w = 0; w < graph.size(); ++w)
    for (const WorkId before : graph.after(WorkId(w)))
      CHECK(launch_of[before.index()] <= launch_of[w]);
  CHECK(launch_of[1] == launch_of[0]);
}

}  // namespace

}  // namespace orrery::cuda
