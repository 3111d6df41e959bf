#include "models/program/futures.h"

#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/looping.h"

namespace orrery::test {
namespace {

TEST_CASE("futures: of several dones of one start the last one's result stands for all") {
  Looping l;
  l.with(op("f", "psum_start", {"a"}, {{"axis_name", Names{"x"}}}));
  l.with(op("d", "done", {"f"})).with(op("e", "done", {"f"}));
  const Program program = l.finish();
  const Futures futures(program);
  const auto value = [&](const char* name) { return values_by_name(program).at(name); };
  CHECK(futures.results(program.ops[0]) == std::vector{value("d"), value("e")});
  CHECK(futures.result(program.ops[0]) == value("e"));
}

}  // namespace
}  // namespace orrery::test
