// Tests how long values of loops may be read. The reference is what all runs of the program read.

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/iterations.h"
#include "tests/models/program/looping.h"
#include "tests/support/tries.h"

namespace orrery::test {
namespace {

TEST_CASE("reaches: random loops read no value again that may not be read any more") {
  size_t dropped = 0;
  for (uint64_t seed = 0; seed < tries(300); ++seed) {
    CAPTURE(seed);
    const Program region = RandomLoops(seed, RandomLoops::Ops::All).make();
    const Iterations iterations(region);
    const Reaches reaches(region, iterations);
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
        const bool is_read = reaches.is_read_from({result, before}, runs[at].iteration);
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
  const Reaches reaches(program, iterations);
  std::vector<uint64_t> read;
  for (uint64_t i = 0; i < now; ++i)
    if (reaches.is_read_from({values_by_name(program).at(name), i}, now))
      read.push_back(i);
  return read;
}

using Read = std::vector<uint64_t>;

TEST_CASE("reaches: a value is read in as many later iterations as carries lead on") {
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

TEST_CASE("reaches: the value of an exit is read to the end, and others are not") {
  Looping l;
  l.begin("l", 5, 105, {{"p", "a"}}).with(op("l[].y", "neg", {"l[].p"}));
  l.end({{"p", "l[].y"}}).with(op("z", "neg", {"l[8].y"}));
  CHECK(read_from(l.finish(), "l[].y", 50) == Read{3, 49});
}

TEST_CASE("reaches: of an inner loop, what the outer one carries is read in its next iteration") {
  Looping l;
  l.begin("l", 0, 10, {{"h", "a"}}).begin("l[].m", 0, 10, {{"g", "l[].h"}});
  l.with(op("l[].m[].u", "neg", {"l[].m[].g"})).with(op("l[].m[].v", "neg", {"l[].m[].u"}));
  l.end({{"g", "l[].m[].u"}}).end({{"h", "l[].m.g"}});
  const Program program = l.finish();
  CHECK(read_from(program, "l[].m[].u", 55) == Read{49, 54});
  CHECK(read_from(program, "l[].m[].v", 55) == Read{});
}

TEST_CASE("reaches: a loop without iterations hands on what it carries at first") {
  Looping l;
  l.begin("l", 0, 10, {{"h", "a"}}).with(op("l[].y", "neg", {"l[].h"}));
  l.begin("l[].m", 3, 3, {{"g", "l[].y"}}).with(op("l[].m[].z", "neg", {"l[].m[].g"}));
  l.end({{"g", "l[].m[].z"}}).end({{"h", "l[].m.g"}});
  CHECK(read_from(l.finish(), "l[].y", 5) == Read{4});
}

}  // namespace
}  // namespace orrery::test
