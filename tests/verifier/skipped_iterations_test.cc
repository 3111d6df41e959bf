// Tests from which iterations on, and in which states, the sweep and the engine may skip iterations
// of loops.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/scenario/fault.h"
#include "tests/verifier/long_loops_rig.h"

namespace orrery::test {
namespace {

TEST_CASE(
    "skipped iterations: what was started before the loop is awaited in one of the first "
    "iterations") {
  // Four collectives are carried. The fourth was started last, on a stream of its own, which is
  // busy for longer than three iterations: the fourth iteration waits for it.
  std::string busy;
  std::string dones;
  for (int i = 0; i < 40; ++i) {
    busy += fmt::format(
        R"({{"id": "b{}", "op": "psum_start", "of": "a", "axis_name": "y", "stream": 2}}, )", i);
    if (i < 39)
      dones += fmt::format(R"(, {{"id": "e{0}", "op": "done", "of": "b{0}"}})", i);
  }
  std::string carry = R"("h": "a", "s": "b39")";
  std::string before;
  for (const std::string id : {"p", "q", "r"}) {
    before += fmt::format(
        R"({{"id": "{}0", "op": "psum_start", "of": "a", "axis_name": "x", "stream": 1}}, )", id);
    carry += fmt::format(R"(, "{0}": "{0}0")", id);
  }
  std::string body =
      R"({"id": "d", "op": "done", "of": "p"}, {"id": "y0", "op": "neg", "of": "h"})";
  for (int i = 1; i < 10; ++i)
    body += fmt::format(R"(, {{"id": "y{}", "op": "neg", "of": "y{}"}})", i, i - 1);
  body += R"(, {"id": "n", "op": "psum_start", "of": "y9", "axis_name": "x", "stream": 1})";
  for (const std::string id : {"p", "q", "r", "s"})
    dones += fmt::format(R"(, {{"id": "z{0}", "op": "done", "of": "l.{0}"}})", id);
  const std::string program =
      R"("program": [)" + busy + before +
      loop("l", 100, carry, body, R"("h": "y9", "p": "q", "q": "r", "r": "s", "s": "n")") + dones +
      "]";
  // Messages along x and y share no links.
  const std::string cluster = R"("topology": "fully_connected", "bandwidth": "50 GB/s",
       "latency": "1 us", "launch": "1 us", "memory_bandwidth": "1 TB/s")";
  const Outcome outcome = check_same(scenario_text(cluster, program));
  CHECK(outcome.by == TimedBy::Sweep);
  CHECK(outcome.added > 0);
}

TEST_CASE(
    "skipped iterations: a message that takes as long as many iterations is on its way in each of "
    "them") {
  // 240 bytes go at 1 MB/s. In an iteration, which takes a microsecond, few of the bytes are sent.
  const std::string text =
      R"({"orrery": 1, "check_types": false, "mesh": {"x": 2},
      "cluster": {"devices": 2, "topology": "ring", "bandwidth": "10 GB/s", "latency": "100 ns",
                  "launch": "0 ns", "flops": {"f32": "1 TFLOP/s"}, "memory_bandwidth": "1 TB/s"},
      "arrays": {"a": {"shape": [250], "dtype": "f32"}, "slow": {"shape": [60], "dtype": "f32"}},
      "program": [{"id": "f", "op": "ppermute_start", "of": "slow", "axis_name": "x",
                   "perm": [[1, 0]], "stream": 1}, )" +
      loop("l", 300, R"("h": "a")",
           R"({"id": "w", "op": "compute", "flops": "1 MFLOP", "bytes": "0 B", "dtype": "f32"},
              {"id": "m", "op": "ppermute", "of": "h", "axis_name": "x", "perm": [[0, 1]]})",
           R"("h": "m")") +
      R"(, {"id": "d", "op": "done", "of": "f"}]})";
  SlowLink slow_link;
  slow_link.from = VertexId(1);
  slow_link.to = VertexId(0);
  slow_link.bandwidth = BytesPerSecond(1'000'000);
  CHECK(check_same(text, {slow_link}).left_out);
}

TEST_CASE("skipped iterations: who meets in an inner loop alone drifts in the outer one too") {
  // Device 2 is slower by a fiftieth, and device 0 gets up to two iterations ahead of it. Only
  // after many iterations of the outer loop does device 0 have to wait.
  std::string work =
      R"({"id": "d", "op": "done", "of": "p"}, {"id": "y0", "op": "neg", "of": "k"})";
  for (int i = 1; i < 10; ++i)
    work += fmt::format(R"(, {{"id": "y{}", "op": "neg", "of": "y{}"}})", i, i - 1);
  work += R"(, {"id": "n", "op": "psum_start", "of": "k", "axis_name": "x"})";
  const std::string inner =
      loop("m", 10, R"("k": "h", "p": "f", "q": "g")", work, R"("k": "y9", "p": "q", "q": "n")");
  const std::string program =
      R"("program": [{"id": "f0", "op": "psum_start", "of": "a", "axis_name": "x"},
                     {"id": "g0", "op": "psum_start", "of": "a", "axis_name": "x"}, )" +
      loop("l", 60, R"("h": "a", "f": "f0", "g": "g0")", inner,
           R"("h": "m.k", "f": "m.p", "g": "m.q")") +
      R"(, {"id": "zf", "op": "done", "of": "l.f"}, {"id": "zg", "op": "done", "of": "l.g"}])";
  const Outcome outcome = check_same(scenario_text(kSwitch, program), {slow(2, 51, 50)});
  CHECK(outcome.by == TimedBy::Sweep);
  CHECK(outcome.added > 0);
}

TEST_CASE("skipped iterations: one waits at the end of an iteration for another one's inner loop") {
  const std::string meet =
      R"({"id": "SUM", "op": "psum", "of": "HELD", "axis_name": "x", "site": "s"})";
  const auto named = [&](const std::string& sum, const std::string& held) {
    std::string text = meet;
    text.replace(text.find("SUM"), 3, sum);
    return text.replace(text.find("HELD"), 4, held);
  };
  const std::string programs =
      R"("programs": [{"on": {"x": 0}, "do": [)" +
      loop("l", 1000, R"("h": "a")", named("s", "h"), R"("h": "s")") +
      R"(]}, {"on": {"x": 1}, "do": [)" +
      loop("k", 1000, R"("g": "a")",
           named("t", "g") + ", " +
               loop("m", 9, R"("i": "t")", R"({"id": "u", "op": "neg", "of": "i"})", R"("i": "u")"),
           R"("g": "m")") +
      "]}]";
  check_same(scenario_text(kSwitch, programs));
  Timed timed(scenario_text(kSwitch, programs), LongLoops::LeftOut, {});
  const Completion& times = timed.stages.times().value();
  CHECK(times.added[0].count > 900);  // of "l"
  CHECK(times.added[1].count > 900);  // of "k"
}

TEST_CASE(
    "skipped iterations: what was started before a loop waits for others while iterations are "
    "added") {
  const auto program = [](const std::string& prefix, bool before) {
    const std::string start = fmt::format(
        R"({{"id": "{}f", "op": "psum_start", "of": "a", "axis_name": "x", "site": "s", "stream": 1}})",
        prefix);
    const std::string body = loop(
        prefix + "l", 200, fmt::format(R"("{}h": "a")", prefix),
        fmt::format(R"({{"id": "{0}s", "op": "psum", "of": "{0}h", "axis_name": "y"}})", prefix),
        fmt::format(R"("{0}h": "{0}s")", prefix));
    return (before ? start + ", " + body : body + ", " + start) +
           fmt::format(R"(, {{"id": "{0}d", "op": "done", "of": "{0}f"}})", prefix);
  };
  check_same(scenario_text(kSwitch, R"("programs": [{"on": {"x": 0}, "do": [)" +
                                        program("p", true) + R"(]}, {"on": {"x": 1}, "do": [)" +
                                        program("q", false) + "]}]"));
}

}  // namespace
}  // namespace orrery::test
