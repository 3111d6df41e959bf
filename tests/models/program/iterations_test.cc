// Tests which run of an op makes the value that another run reads, and for how long a value may be
// read. The reference is the program with all iterations written out.

#include "models/program/iterations.h"

#include <map>
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

/// `Runs` holds all runs of a program's only thread, in order.
class Runs {
 public:
  explicit Runs(const Program& program) : program_(program) {
    add({0, static_cast<uint32_t>(program.ops.size())}, std::nullopt, 0);
  }

  const std::vector<OpRun>& all() const { return runs_; }

 private:
  void add(IdRange ops, std::optional<size_t> around, uint64_t iteration) {
    uint32_t op = ops.begin;
    const auto add_ops = [&](uint32_t end) {
      for (; op < end; ++op)
        runs_.push_back({OpId(op), iteration});
    };
    for (size_t l = 0; l < program_.loops.size(); ++l) {
      const Loop& loop = program_.loops[l];
      if (loop.around != around)
        continue;
      add_ops(loop.ops.begin);
      const auto trips = static_cast<uint64_t>(loop.upper - loop.lower);
      for (uint64_t i = 0; i < trips; ++i)
        add(loop.ops, l, iteration * trips + i);
      op = loop.ops.end;
    }
    add_ops(ops.end);
  }

  const Program& program_;
  std::vector<OpRun> runs_;
};

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

TEST_CASE("iterations: random loops read no value again that may not be read any more") {
  size_t dropped = 0;
  for (uint64_t seed = 0; seed < tries(300); ++seed) {
    CAPTURE(seed);
    const Program region = RandomLoops(seed, RandomLoops::Ops::All).make();
    const Iterations iterations(region);
    const std::vector<OpRun> runs = Runs(region).all();
    std::map<ValueRun, size_t> last_read;  // by the index of the reader
    for (size_t at = 0; at < runs.size(); ++at)
      for (const ValueId operand : region.op(runs[at].op).operands)
        last_read[iterations.source(operand, runs[at])] = at;
    for (uint32_t v = 0; v < region.values.size(); ++v)
      if (!iterations.loop_of(ValueId(v)))  // as an output
        last_read[iterations.source(ValueId(v), std::nullopt, 0)] = runs.size();
    std::map<OpId, std::vector<uint64_t>> made;  // iterations
    for (size_t at = 0; at < runs.size(); ++at) {
      const ValueId result = region.op(runs[at].op).results.front();
      for (const uint64_t before : made[runs[at].op]) {
        const auto last = last_read.find({result, before});
        const bool is_read = iterations.is_read_from({result, before}, runs[at].iteration);
        dropped += is_read ? 0 : 1;
        if (last != last_read.end() && last->second >= at && !is_read)
          FAIL(fmt::format("{} of iteration {} is read after {}", region.value(result).name, before,
                           runs[at].iteration));
      }
      made[runs[at].op].push_back(runs[at].iteration);
    }
  }
  CHECK((!is_all_tried() || dropped > 100'000));
}

/// Returns the iterations of a value that may be read once its maker runs in iteration `now`.
std::vector<uint64_t> read_from(const Program& program, const std::string& name, uint64_t now) {
  const Iterations iterations(program);
  std::vector<uint64_t> read;
  for (uint64_t i = 0; i < now; ++i)
    if (iterations.is_read_from({values_by_name(program).at(name), i}, now))
      read.push_back(i);
  return read;
}

using Read = std::vector<uint64_t>;

TEST_CASE("iterations: a value is read in as many later iterations as carries lead on") {
  Looping l;
  l.begin("l", 5, 105, {{"p", "a"}, {"q", "a"}, {"r", "a"}});
  l.with(op("l[].y", "neg", {"l[].r"})).with(op("l[].z", "neg", {"l[].y"}));
  l.end({{"p", "l[].y"}, {"q", "l[].p"}, {"r", "l[].r"}});
  const Program program = l.finish();
  CHECK(read_from(program, "l[].y", 50) == Read{48, 49});
  CHECK(read_from(program, "l[].z", 50) == Read{});
  // After the loop, p is y of the last iteration, and q is y of the iteration before.
  CHECK(read_from(program, "l[].y", 99) == Read{97, 98});
}

TEST_CASE("iterations: the value of an exit is read to the end, and others are not") {
  Looping l;
  l.begin("l", 5, 105, {{"p", "a"}}).with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].y"}}).with(op("z", "neg", {"l[8].y"}));
  CHECK(read_from(l.finish(), "l[].y", 50) == Read{3, 49});
}

TEST_CASE(
    "iterations: of an inner loop, what the outer one carries is read in its next iteration") {
  Looping l;
  l.begin("l", 0, 10, {{"h", "a"}}).begin("l[].m", 0, 10, {{"g", "l[].h"}});
  l.with(op("l[].m[].u", "neg", {"l[].m[].g"})).with(op("l[].m[].v", "neg", {"l[].m[].u"}));
  l.end({{"g", "l[].m[].u"}}).end({{"h", "l[].m.g"}});
  const Program program = l.finish();
  CHECK(read_from(program, "l[].m[].u", 55) == Read{49, 54});
  CHECK(read_from(program, "l[].m[].v", 55) == Read{});
}

TEST_CASE("iterations: a loop without iterations hands on what it carries at first") {
  Looping l;
  l.begin("l", 0, 10, {{"h", "a"}}).with(op("l[].y", "neg", {"l[].h"}));
  l.begin("l[].m", 3, 3, {{"g", "l[].y"}}).with(op("l[].m[].z", "neg", {"l[].m[].g"}));
  l.end({{"g", "l[].m[].z"}}).end({{"h", "l[].m.g"}});
  CHECK(read_from(l.finish(), "l[].y", 5) == Read{4});
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

}  // namespace
}  // namespace orrery::test
