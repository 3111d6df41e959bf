// Tests "fusion": "elementwise", which charges chains of ops as one kernel.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/support/tries.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// A device reads or writes a byte in 1 ps and launches a kernel in 1 us; flops take no time to
/// speak of. "x" has 1,000 f32, 4,000 bytes.
std::string fusible(const std::string& program, const std::string& more = "") {
  return R"({"orrery": 1, "mesh": {"d": 2}, "check_types": false,
  "arrays": {"x": {"shape": [10, 100], "dtype": "f32"}, "y": {"shape": [10, 100], "dtype": "f32"}},
  "cluster": {"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
   "memory_bandwidth": "1 TB/s", "launch": "1 us"},
  "program": [)" +
         program + "]" + more + "}";
}

const std::string kFused = R"(, "fusion": "elementwise")";
constexpr int64_t kOneLaunch = 1'000'000;
constexpr int64_t kArray = 4'000;

int64_t time_of(const std::string& text) {
  return (run(read_scenario("f", text), {}).completion->makespan - Instant()).count();
}

std::string op(const std::string& id, const std::string& kind, const std::string& of,
               const std::string& more = "") {
  return fmt::format(R"({{"id": "{}", "op": "{}", "of": {}{}}})", id, kind, of, more);
}

TEST_CASE("fusion: a chain is charged for what enters and leaves it, and one launch") {
  const std::string chain = op("a", "mul", R"(["x", "y"])") + "," +
                            op("b", "add", R"(["a", "x"])") + "," +
                            op("s", "reduce_sum", R"("b")", R"(, "axes": [1])");
  const std::string output = R"(, "outputs": ["s"])";
  // Each op reads its operands and writes its result; the sums are 10 f32.
  CHECK(time_of(fusible(chain, output)) == 3 * kOneLaunch + 3 * kArray + 3 * kArray + kArray + 40);
  CHECK(time_of(fusible(chain, output + kFused)) == kOneLaunch + 2 * kArray + 40);
  CHECK(time_of(fusible(chain, output + R"(, "fusion": "none")")) ==
        time_of(fusible(chain, output)));
  // "a" is read elsewhere too, so it is written.
  CHECK(time_of(fusible(chain, R"(, "outputs": ["s", "a"])" + kFused)) ==
        kOneLaunch + 3 * kArray + 40);
}

TEST_CASE("fusion: an op that runs between those of a chain ends it, and so does a barrier") {
  const std::string first = op("a", "neg", R"("x")");
  const std::string last = op("b", "neg", R"("r")");
  const auto takes = [&](const std::string& between) {
    return time_of(fusible(first + "," + between + "," + last, R"(, "outputs": ["b"])" + kFused));
  };
  CHECK(takes(op("r", "reshape", R"("a")", R"(, "new_sizes": [1000])")) == kOneLaunch + 2 * kArray);
  CHECK(takes(op("r", "optimization_barrier", R"("a")")) == 2 * (kOneLaunch + 2 * kArray));
  CHECK(takes(op("r", "transpose", R"("a")", R"(, "permutation": [1, 0])")) ==
        3 * (kOneLaunch + 2 * kArray));
}

TEST_CASE("fusion: ops that read nothing of each other are kernels of their own") {
  const std::string two = op("a", "neg", R"("x")") + "," + op("b", "neg", R"("y")") + "," +
                          op("c", "neg", R"("a")") + "," + op("e", "neg", R"("b")");
  CHECK(time_of(fusible(two, R"(, "outputs": ["c", "e"])" + kFused)) ==
        2 * (kOneLaunch + 2 * kArray));
}

TEST_CASE("fusion: each iteration of a loop is charged alike, however many there are") {
  for (const int64_t trips : {1, 3, 1'000'000}) {
    CAPTURE(trips);
    const std::string loop = fmt::format(
        R"({{"id": "l", "op": "fori_loop", "lower": 0, "upper": {}, "carry": {{"h": "x"}},
             "yield": {{"h": "b"}}, "body": [{}, {}]}})",
        trips, op("a", "mul", R"(["h", "y"])"), op("b", "neg", R"("a")"));
    CHECK(time_of(fusible(loop, R"(, "outputs": ["l"])" + kFused)) ==
          trips * (kOneLaunch + 3 * kArray));
  }
}

TEST_CASE("fusion: it is written with a scenario, and in its labels") {
  const std::string text = fusible(op("a", "neg", R"("x")") + "," + op("b", "neg", R"("a")"),
                                   R"(, "outputs": ["b"])" + kFused);
  const std::string written = write_scenario(read_scenario("f", text));
  CHECK(written.find(R"("fusion": "elementwise")") != std::string::npos);
  CHECK(time_of(written) == time_of(text));
  const std::vector<std::string> labels = run(read_scenario("f", text), {}).labels;
  CHECK(std::ranges::any_of(labels, [](const std::string& label) {
    return label.starts_with("fusion: elementwise (chains of elementwise ops and reductions");
  }));
}

TEST_CASE("fusion: no random program is slower for it, or has other memory") {
  for (uint64_t seed = 0; seed < tries(300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<std::string> values = {"x", "y"};
    std::vector<std::string> ops;
    for (size_t n = 2 + random.below(8); n-- > 0;) {
      const std::string id = fmt::format("v{}", ops.size());
      const auto any = [&] { return values[random.below(values.size())]; };
      const uint64_t kind = random.below(8);
      ops.push_back(kind == 0
                        ? op(id, "psum", fmt::format(R"("{}")", any()), R"(, "axis_name": "d")")
                    : kind == 1 ? op(id, "slice", fmt::format(R"("{}")", any()),
                                     R"(, "start_indices": [0, 0], "limit_indices": [10, 100])")
                    : kind == 2 ? op(id, "neg", fmt::format(R"("{}")", any()))
                                : op(id, "mul", fmt::format(R"(["{}", "{}"])", any(), any())));
      values.push_back(id);
    }
    const std::string program = fmt::format("{}", fmt::join(ops, ","));
    const std::string outputs = fmt::format(R"(, "outputs": ["{}"])", values.back());
    const Report plain = run(read_scenario("f", fusible(program, outputs)), {});
    const Report fused = run(read_scenario("f", fusible(program, outputs + kFused)), {});
    CHECK(fused.completion->makespan <= plain.completion->makespan);
    CHECK(fused.memory.largest_peak() == plain.memory.largest_peak());
    CHECK(fused.completion->messages == plain.completion->messages);
  }
}

}  // namespace
}  // namespace orrery::test
