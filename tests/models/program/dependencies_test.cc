#include "models/program/dependencies.h"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/range/iterator_range.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/program/build.h"

namespace orrery {
namespace {

using test::Building;
using test::devices;
using test::donating;
using test::kX;
using test::op;
using test::Spmd;

using Edges = test::Lines;

/// "first > second kind", sorted.
Edges edges(const Program& program) {
  const DependencyGraph graph = dependencies(program);
  Edges result;
  for (const auto edge : boost::make_iterator_range(boost::edges(graph))) {
    const DependencyKind kind = graph[edge].kind;
    result.lines.push_back(fmt::format("{} > {} {}", program.ops[boost::source(edge, graph)].name,
                                       program.ops[boost::target(edge, graph)].name,
                                       kind == DependencyKind::Data    ? "data"
                                       : kind == DependencyKind::Token ? "token"
                                                                       : "reuse"));
  }
  std::sort(result.lines.begin(), result.lines.end());
  return result;
}

TEST_CASE("dependencies: a reader follows the maker, once for each operand it reads") {
  Spmd building;
  building.add(op("p", "add", {"a", "a"}))
      .add(op("q", "mul", {"p", "a"}))
      .add(op("r", "sub", {"q", "p"}))
      .add(op("s", "sub", {"q", "q"}));
  CHECK(edges(building.finish()) ==
        Edges{"p > q data", "p > r data", "q > r data", "q > s data", "q > s data"});
}

TEST_CASE("dependencies: done follows its start") {
  Spmd building;
  building.add(op("s", "psum_start", {"a"}, {{"axis_name", kX}}))
      .add(op("p", "add", {"a", "a"}))
      .add(op("d", "done", {"s"}))
      .add(op("q", "add", {"d", "p"}));
  CHECK(edges(building.finish()) == Edges{"d > q data", "p > q data", "s > d token"});
}

TEST_CASE("dependencies: an op that takes over storage waits for the storage's readers") {
  Spmd building;
  building.add(op("p", "add", {"a", "a"}))
      .add(op("q", "mul", {"p", "p"}))
      .add(donating(op("r", "sub", {"a", "a"}), {"a"}));
  CHECK(edges(building.finish()) == Edges{"p > q data", "p > q data", "p > r reuse"});
}

TEST_CASE("dependencies: aliases share storage") {
  Spmd building;
  building.add(op("r", "reshape", {"a"}, {{"new_sizes", std::vector<int64_t>{2, 2}}}))
      .add(op("p", "add", {"r", "r"}))
      .add(donating(op("q", "add", {"a", "a"}), {"a"}));
  CHECK(edges(building.finish()) ==
        Edges{"p > q reuse", "r > p data", "r > p data", "r > q reuse"});
}

TEST_CASE("dependencies: a started collective reads its operand until it is done") {
  Spmd building;
  building.add(op("s", "psum_start", {"a"}, {{"axis_name", kX}}))
      .add(op("d", "done", {"s"}))
      .add(donating(op("q", "add", {"a", "a"}), {"a"}));
  CHECK(edges(building.finish()) == Edges{"d > q reuse", "s > d token", "s > q reuse"});
}

TEST_CASE("dependencies: threads do not wait for each other's storage") {
  Building building;
  building.thread("front", devices(0, 2))
      .add(op("p", "add", {"a", "a"}))
      .thread("back", devices(2, 4))
      .add(donating(op("q", "add", {"a", "a"}), {"a"}));
  CHECK(edges(building.finish()) == Edges{});
}

TEST_CASE("dependencies: all of them agree with the issue order") {
  Spmd building;
  building.add(op("s", "psum_start", {"a"}, {{"axis_name", kX}}))
      .add(op("p", "add", {"a", "a"}))
      .add(op("d", "done", {"s"}))
      .add(donating(op("q", "add", {"d", "p"}), {"p"}));
  const DependencyGraph graph = dependencies(building.finish());
  for (const auto edge : boost::make_iterator_range(boost::edges(graph)))
    CHECK(boost::source(edge, graph) < boost::target(edge, graph));
}

}  // namespace
}  // namespace orrery
