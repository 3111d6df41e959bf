#include "tools/report/figures.h"

#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

TEST_CASE("utilization: flags count as much as data") {
  const Report report = run(read_scenario("f", R"({"orrery": 1,
"cluster": {"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
"mesh": {"x": 4}, "arrays": {"a": {"shape": [4000], "dtype": "f32", "spec": ["x"]}},
"program": [{"id": "r", "op": "all_gather", "of": "a", "axis_name": "x", "algorithm": "ring"}],
"memory": {"transport": {"protocol": "ll", "slot": "2000 B"}}})"),
                            {});
  // The time is four times three steps of 1,000 B, each with 1,000 B of flags at 1 GB/s, and 1 us
  // of latency.
  REQUIRE(report.completion->makespan == Instant(36'000'000));
  REQUIRE(!report.links.empty());
  for (const LinkReport& link : report.links) {
    CHECK(link.bytes == Bytes(12'000));
    CHECK(utilization(report, link) == doctest::Approx(24.0 / 36));
  }
}

TEST_CASE("utilization: a ring whose links lead both ways is used both ways") {
  const Report report = run(read_scenario("f", R"({"orrery": 1,
"cluster": {"devices": 8, "topology": "ring", "bandwidth": "100 GB/s", "latency": "0 s"},
"mesh": {"x": 8}, "check_types": false,
"arrays": {"b": {"shape": [250000000], "dtype": "f32", "spec": ["x"]}},
"program": [{"id": "g", "op": "all_gather", "of": "b", "axis_name": "x", "tiled": true}]})"),
                            {});
  // Each device receives 7/8 of the 1 GB, half of it over each of its two links.
  REQUIRE(report.completion->makespan == Instant(4'375'000'000));
  CHECK(report.links.size() == 16);
  for (const LinkReport& link : report.links) {
    CHECK(link.bytes == Bytes(437'500'000));
    CHECK(utilization(report, link) == doctest::Approx(1));
  }
}

}  // namespace
}  // namespace orrery::test
