// Tests which run of an op makes the value that another run reads. The reference is the program
// with all iterations written out.

#include "models/program/iterations.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/program/unroll.h"
#include "tests/models/program/looping.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

TEST_CASE("iterations: random loops read what the written iterations read") {
  for (uint64_t seed = 0; seed < tries(300); ++seed) {
    CAPTURE(seed);
    const Program region = RandomLoops(seed, RandomLoops::Ops::All).make();
    const Iterations iterations(region);
    const auto name = [&](ValueRun run) {
      return iterations.name(region.value(run.value).name, iterations.loop_of(run.value),
                             run.iteration);
    };
    Lines lines;
    const Runs runs(region);
    for (const OpRun run : runs.all()) {
      const Op& op = region.op(run.op);
      Names operands;
      for (const ValueId operand : op.operands)
        operands.push_back(name(iterations.source(operand, run)));
      lines.lines.push_back(fmt::format("{} = {}({})", name({op.results.front(), run.iteration}),
                                        op_name(op.kind, op.issue), fmt::join(operands, ", ")));
    }
    REQUIRE(lines == listing(unrolled(region, LongLoops::WrittenOut).program));
  }
}

TEST_CASE("iterations: the makers of what a carry stands for are those of all its iterations") {
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 0, 9, {{"p", "a"}, {"q", "b"}});
  l.with(op("l[].y", "neg", {"l[].p"})).end({{"p", "l[].q"}, {"q", "l[].y"}});
  const Program program = l.finish();
  const Iterations iterations(program);
  CHECK(iterations.makers(program.loops[0].carries[0].result) == std::vector{OpId(0), OpId(1)});
}

TEST_CASE("iterations: carries that go round are found at once, however long the loop is") {
  constexpr int64_t kTrips = int64_t{1} << 40U;
  Looping l;
  l.with(op("b", "neg", {"a"})).with(op("c", "neg", {"b"}));
  l.begin("l", 0, kTrips, {{"p", "a"}, {"q", "b"}, {"r", "c"}});
  l.with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].q"}, {"q", "l[].r"}, {"r", "l[].p"}});
  const Program region = l.finish();
  const Iterations iterations(region);
  const OpId y = OpId(region.loops[0].ops.begin);
  for (const int64_t iteration : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, kTrips - 1}) {
    const ValueRun source =
        iterations.source(region.op(y).operands[0], {y, static_cast<uint64_t>(iteration)});
    CHECK(region.value(source.value).name == std::string(1, "abc"[iteration % 3]));
  }
}

TEST_CASE("iterations: a body has a value from itself, from a carry, or from outside") {
  using Kind = BodySource::Kind;
  using Of = Iterations::Of;
  Looping l;
  l.with(op("b", "neg", {"a"})).begin("l", 0, 9, {{"p", "a"}, {"q", "b"}});
  l.with(op("l[].y", "neg", {"l[].p"}));
  l.with(op("l[].r", "reshape", {"l[].q"}, {{"new_sizes", std::vector<int64_t>{4}}}));
  // After three iterations, v has what w had at first.
  l.begin("l[].m", 0, 3, {{"v", "l[].y"}, {"w", "l[].p"}})
      .end({{"v", "l[].m[].w"}, {"w", "l[].m[].v"}});
  l.end({{"p", "l[].m.v"}, {"q", "l[].m.w"}});
  const Program program = l.finish();
  const Iterations iterations(program);
  const auto source = [&](const std::string& name, Of of) {
    const BodySource found = iterations.in_body(0, values_by_name(program).at(name), of);
    return std::pair(found.kind, found.carry);
  };
  CHECK(source("l[].y", Of::Value) == std::pair(Kind::Body, 0U));
  CHECK(source("b", Of::Value) == std::pair(Kind::Outside, 0U));
  CHECK(source("l[].q", Of::Value) == std::pair(Kind::Carry, 1U));
  CHECK(source("l[].m.v", Of::Value) == std::pair(Kind::Carry, 0U));
  CHECK(source("l[].m.w", Of::Value) == std::pair(Kind::Body, 0U));
  CHECK(source("l[].r", Of::Value) == std::pair(Kind::Body, 0U));
  CHECK(source("l[].r", Of::Storage) == std::pair(Kind::Carry, 1U));
}

}  // namespace
}  // namespace orrery::test
