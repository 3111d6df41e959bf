#include "simulator/analyze/critical_path.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/reader.h"
#include "simulator/lower/lower.h"
#include "simulator/time/completion.h"

using namespace orrery;

namespace {

/// A `Timed` has two devices joined both ways at 1 GB/s and 1 us, 1 TFLOP/s, and one array "a" of
/// 1,000 f32 each. A ring psum of "a" takes two hops of 1 us + 2,000 B at 1 GB/s, which is 6 us.
struct Timed {
  explicit Timed(const std::string& programs, const std::string& launch = "0 us")
      : scenario(read_scenario("test.json", fmt::format(
                                                R"({{"orrery": 1, "cluster": {{"devices": 2,
            "topology": "fully_connected", "bandwidth": "1 GB/s", "latency": "1 us", "memory": "1 GiB",
            "memory_bandwidth": "1 TB/s", "flops": {{"f32": "1 TFLOP/s"}}, "launch": "{}"}},
            "mesh": {{"x": 2}},
            "arrays": {{"a": {{"shape": [2000], "dtype": "f32", "spec": ["x"], "init": "iota"}}}},
            "programs": {}}})",
                                                launch, programs))) {
    Diagnostics diagnostics("test.json");
    const Lowered lowered = lower(scenario.program, scenario.cluster, diagnostics);
    diagnostics.throw_if_any();
    completion = run_time(scenario.program, lowered, scenario.cluster.fabric);
    path = critical_path(scenario.program, lowered, completion).value();
  }

  /// Returns "op@device start-end, ..." in nanoseconds.
  std::string text() const {
    std::string text;
    for (const PathEntry& entry : path)
      text += fmt::format("{}{}@{} {}-{}", text.empty() ? "" : ", ",
                          scenario.program.op(entry.op).name, entry.device.index(),
                          entry.start.picoseconds() / 1000, entry.end.picoseconds() / 1000);
    return text;
  }

  Scenario scenario;
  Completion completion;
  std::vector<PathEntry> path;
};

std::string compute(const std::string& id, int microseconds) {
  return fmt::format(
      R"({{"id": "{}", "op": "compute", "flops": "{} MFLOP", "bytes": "0 B", "dtype": "f32"}})", id,
      microseconds);
}

std::string psum(const std::string& id, const std::string& more = "") {
  return fmt::format(
      R"({{"id": "{}", "op": "psum{}", "of": "a", "axis_name": "x", "algorithm": "ring"{}}})", id,
      more.find("\"stream\"") == std::string::npos ? "" : "_start", more);
}

std::string done(const std::string& id, const std::string& of) {
  return fmt::format(R"({{"id": "{}", "op": "done", "of": "{}"}})", id, of);
}

std::string everywhere(const std::string& ops) {
  return R"([{"on": {}, "do": [)" + ops + "]}]";
}

std::string two(const std::string& left, const std::string& right) {
  return R"([{"on": {"x": 0}, "do": [)" + left + R"(]}, {"on": {"x": 1}, "do": [)" + right + "]}]";
}

}  // namespace

TEST_CASE("critical path: ops that follow each other") {
  CHECK(Timed(everywhere(compute("c", 1) + "," + psum("r") + "," + compute("e", 2))).text() ==
        "c@0 0-1000, r@0 1000-7000, e@0 7000-9000");
}

TEST_CASE("critical path: goes through the device that entered last") {
  const std::string site = R"(, "site": "s")";
  CHECK(Timed(two(compute("c", 1) + "," + psum("r", site),
                  compute("late", 3) + "," + psum("q", site)))
            .text() == "late@1 0-3000, q@1 3000-9000");
}

std::string hop(const std::string& id, const std::string& issue) {
  return fmt::format(
      R"({{"id": "{}", "op": "ppermute{}", "of": "a", "axis_name": "x", "perm": [[0, 1]], "site": "s"}})",
      id, issue);
}

TEST_CASE("critical path: a collective is named by the op with which it ends there") {
  // Device 0 ends its part with its send. Device 1 waits for the message of 4,000 B.
  const std::string left = compute("c", 1) + "," + hop("f", "_start") + "," + done("d", "f");
  CHECK(Timed(two(left, hop("got", ""))).text() == "c@0 0-1000, got@1 1000-6000");
  const std::string started = compute("c", 1) + "," + hop("f", "_start");
  CHECK(Timed(two(started, hop("got", "") + "," + compute("e", 2))).text() ==
        "c@0 0-1000, got@1 1000-6000, e@1 6000-8000");
}

TEST_CASE("critical path: a collective hidden behind computation is not on it") {
  const std::string program =
      psum("r", R"(, "stream": 0)") + "," + compute("c", 10) + "," + done("d", "r");
  CHECK(Timed(everywhere(program)).text() == "c@0 0-10000");
}

TEST_CASE("critical path: computation hidden behind a collective is not on it") {
  const std::string program = psum("r", R"(, "stream": 0)") + "," + compute("c", 2) + "," +
                              done("d", "r") + "," + compute("e", 1);
  CHECK(Timed(everywhere(program)).text() == "r@0 0-6000, e@0 6000-7000");
}

TEST_CASE("critical path: a collective waits for the one before it on its stream") {
  const std::string program = psum("r", R"(, "stream": 0)") + "," + psum("q", R"(, "stream": 0)") +
                              "," + compute("c", 7) + "," + done("d", "r") + "," + done("e", "q");
  CHECK(Timed(everywhere(program)).text() == "r@0 0-6000, q@0 6000-12000");
}

TEST_CASE("critical path: launches belong to their entries, which are contiguous") {
  // Every local op and every entry takes 500 ns more.
  const Timed timed(everywhere(compute("c", 1) + "," + psum("r") + "," + compute("e", 2)),
                    "500 ns");
  CHECK(timed.text() == "c@0 0-1500, r@0 1500-8000, e@0 8000-10500");
}

TEST_CASE("critical path: can end with a collective that is never done") {
  CHECK(Timed(everywhere(psum("r", R"(, "stream": 0)") + "," + compute("c", 2))).text() ==
        "r@0 0-6000");
}

TEST_CASE("critical path: ends at the makespan and is contiguous") {
  const std::string site = R"(, "site": "s")";
  const Timed timed(two(compute("c", 5) + "," + psum("r", site) + "," + compute("e", 1),
                        compute("f", 3) + "," + psum("q", site) + "," + compute("g", 4)));
  REQUIRE_FALSE(timed.path.empty());
  CHECK(timed.path.front().start == Instant(0));
  CHECK(timed.path.back().end == timed.completion.makespan);
  for (size_t i = 1; i < timed.path.size(); ++i)
    CHECK(timed.path[i].start == timed.path[i - 1].end);
}
