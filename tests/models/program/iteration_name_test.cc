#include "models/program/iteration_name.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace orrery {
namespace {

using InIterations = std::vector<std::pair<std::string, int64_t>>;

InIterations iterations_in(std::string_view name) {
  InIterations found;
  for_each_iteration_in(
      name, [&](std::string_view loop, int64_t index) { found.emplace_back(loop, index); });
  return found;
}

TEST_CASE("iteration names: the iterations that a name is in, outer ones first") {
  CHECK(iterations_in("l[3].m[-40].y") == InIterations{{"l", 3}, {"l[3].m", -40}});
  CHECK(iterations_in("y").empty());
}

TEST_CASE("iteration names: brackets without an index name no iteration") {
  CHECK(iterations_in("l[].y").empty());
  CHECK(iterations_in("l[a].y").empty());
  CHECK(iterations_in("l[3a].y").empty());
  CHECK(iterations_in("l[3").empty());
  CHECK(iterations_in("l[9223372036854775808].y").empty());  // 2^63 is no index
}

TEST_CASE("iteration names: without indices, and a bracket that closes none stays") {
  CHECK(without_indices("l[3].m[-40].y") == "l.m.y");
  CHECK(without_indices("a]l[3].y") == "a]l.y");
}

}  // namespace
}  // namespace orrery
