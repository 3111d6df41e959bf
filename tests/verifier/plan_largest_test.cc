// Tests the planner's search for the largest value with which a point fits.

#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/base/random.h"
#include "tests/support/tries.h"
#include "verifier/plan/planner.h"

namespace orrery::test {
namespace {

/// Returns the search for the largest `n` in a plan of one device with 1 MiB, on which three arrays
/// of so many rows of 4 KiB are held: 85 rows fit.
LargestSearch largest_of(const std::string& sweep, const std::string& rows,
                         const std::string& keys = "", unsigned jobs = 1) {
  PlanOptions options;
  options.jobs = jobs;
  const Plan plan("f", fmt::format(R"({{"sweep": {{{}}}{}, "orrery": 1, "cluster": {{
"topology": "switch", "devices": 8, "bandwidth": "10 GB/s", "latency": "1 us", "memory": "1 MiB"}},
"mesh": {{"x": 1}}, "check_types": false,
"arrays": {{"w_a": {{"shape": ["${{{}}}", 1024], "dtype": "f32", "init": "zeros"}}}},
"program": [{{"id": "c", "op": "neg", "of": "w_a"}}, {{"id": "s", "op": "exp", "of": "c"}}],
"outputs": ["c", "s"]}})",
                                   sweep, keys, rows));
  return largest_that_fits(plan, 0, options);
}

std::string found(const LargestSearch& search) {
  return search.largest ? search.largest->point.id : "none";
}

TEST_CASE("planner: the largest value that fits, by bisection, and the next one that does not") {
  const LargestSearch search = largest_of(R"("n": {"from": 1, "to": 20000})", "n");
  CHECK(found(search) == "n=85");
  CHECK(search.largest->value == TemplateValue{int64_t{85}});
  REQUIRE(search.does_not_fit);
  CHECK(search.does_not_fit->id == "n=86");
  CHECK(search.does_not_fit->because ==
        "peak_memory: 1.008 MiB, 8 KiB more than the 1 MiB of a device");
  CHECK(search.falls.empty());
  CHECK(search.points == 20'000);
  CHECK(search.tried <= 17);  // the largest, the least, and log2 of what is between
  // The largest of the sweep may fit; then no other one is tried.
  const LargestSearch all = largest_of(R"("n": {"from": 1, "to": 85})", "n");
  CHECK(found(all) == "n=85");
  CHECK_FALSE(all.does_not_fit);
  CHECK(all.tried == 1);
}

TEST_CASE("planner: the search for the largest value passes over points that are refused") {
  // Eighths of other numbers are not whole.
  const LargestSearch search = largest_of(R"("n": {"from": 3, "to": 4001})", "n / 8 * 8");
  CHECK(found(search) == "n=80");
  CHECK(search.does_not_fit->id == "n=88");
  CHECK(search.falls.empty());
  CHECK(search.refused > 0);
  CHECK(search.tried <= 8 * 13);
  CHECK_THROWS_WITH_AS(
      largest_of(R"("n": [1, 5, 3])", "n / 8"),
      "f: expected a point that can be timed, got none of 3; the first is refused: f:4:30: "
      "/arrays/w_a/shape/0: \"n / 8\": 1 / 8 is not a whole number",
      InputError);
}

TEST_CASE("planner: where a figure is seen to fall, values are tried from the largest down") {
  // 1,441, 641, 161, 1, 161, 641 and 1,441 rows: only n = 4 fits.
  const LargestSearch search =
      largest_of(R"("n": {"from": 1, "to": 7})", "(n - 4) * (n - 4) * 160 + 1");
  CHECK(found(search) == "n=4");
  CHECK(search.does_not_fit->id == "n=5");
  CHECK(search.falls ==
        "peak_memory takes 1689 % of what is allowed with n=1, and 751.2 % with n=2");
  CHECK(search.tried == 6);  // 7, 1, 2; then 6, 5, 4
}

TEST_CASE("planner: the largest value is sought for each combination of the other names") {
  // With a, b and c, 85 / 3, 85 / 2 and 85 values fit.
  const std::string sweep = R"("n": {"from": 1, "to": 500}, "m": ["a", "b", "c"])";
  const std::string rows = "n * if(m == 'a', 3, if(m == 'b', 2, 1))";
  const LargestSearch search = largest_of(sweep, rows);
  CHECK(found(search) == "n=85,m=c");
  CHECK(search.does_not_fit->id == "n=86,m=c");
  CHECK(search.tried < 60);
  const LargestSearch other = largest_of(sweep, rows, "", 2);
  CHECK(found(other) == found(search));
  CHECK(other.tried == search.tried);
  // Where "where" leaves m = c out for larger values, another one has the largest.
  CHECK(found(largest_of(sweep, rows, R"(, "where": "m != 'c' or n < 20")")) == "n=42,m=b");
}

/// Returns the search for the largest value of a swept name in a plan of `n` devices, which compute
/// 8 GFLOP at 1 TFLOP/s each all together, and then sum 80 MB.
LargestSearch largest_of_sums(const std::string& keys, size_t name = 0) {
  return largest_that_fits(Plan("f", fmt::format(R"({{{}, "orrery": 1, "cluster": {{
"topology": "switch", "devices": 8, "bandwidth": "10 GB/s", "latency": "1 us", "memory": "300 MB",
"memory_bandwidth": "1 TB/s", "flops": {{"f32": "1 TFLOP/s"}}, "launch": "5 us"}},
"mesh": {{"x": "${{n}}"}}, "check_types": false,
"arrays": {{"w_up": {{"shape": [20000000], "dtype": "f32", "init": "zeros"}}}}, "program": [
{{"id": "c", "op": "compute", "of": "w_up", "flops": "${{8000000000 / n}} FLOP", "bytes": "0 B",
 "dtype": "f32", "shape": [20000000]}},
{{"id": "s", "op": "psum", "of": "c", "axis_name": "x", "algorithm": "ring"}}], "outputs": ["s"]}})",
                                                 keys)),
                           name);
}

TEST_CASE("planner: the largest value keeps all constraints, of equal points the best counts") {
  CHECK(found(largest_of_sums(
            R"("sweep": {"n": [8, 1, 4, 2]}, "constraints": {"devices": {"at_most": 5}})")) ==
        "n=4");
  const LargestSearch none =
      largest_of_sums(R"("sweep": {"n": [8]}, "constraints": {"devices": {"at_most": 5}})");
  CHECK(found(none) == "none");
  CHECK(none.does_not_fit->because == "devices: 8, 3 more than the 5 allowed");
  // n = 1, 2, 4, 8 take 8.01, 12.009, 14.022 and 15.038 ms.
  CHECK(
      found(largest_of_sums(
          R"("sweep": {"n": [8, 1, 4, 2]}, "constraints": {"makespan": {"at_most": "14 ms"}})")) ==
      "n=2");
  // The best point is that with the fewest devices.
  CHECK(found(largest_of_sums(R"("sweep": {"n": [4, 2, 1], "m": [1, 2]}, "minimize": ["devices"])",
                              1)) == "n=1,m=2");
}

TEST_CASE("planner: bisection finds what a search of all values finds, whatever is refused") {
  Random random(9);
  for (uint64_t round = 0; round < tries(100); ++round) {
    const int64_t slope = random.between(1, 30);
    const int64_t modulus = random.between(1, 6);
    const int64_t rest = random.between(0, modulus - 1);
    const int64_t to = random.between(modulus, 60);
    CAPTURE(slope);
    CAPTURE(modulus);
    CAPTURE(rest);
    CAPTURE(to);
    std::string expected = "none";
    for (int64_t n = rest == 0 ? modulus : rest; n <= to; n += modulus)
      if (n * slope <= 85)
        expected = fmt::format("n={}", n);
    // (n - rest) / modulus is whole for the points that are not refused.
    const LargestSearch search =
        largest_of(fmt::format(R"("n": {{"from": 1, "to": {}}})", to),
                   fmt::format("n * {0} + ({1} - n) / {2} * 0", slope, rest, modulus));
    CHECK(found(search) == expected);
    CHECK(search.falls.empty());
  }
}

}  // namespace
}  // namespace orrery::test
