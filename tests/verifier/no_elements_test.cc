// Tests collectives without elements: a library discards them, so they take no time, and nobody
// waits there.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/verifier/scenario_rig.h"

namespace orrery::test {
namespace {

const std::string kLaunched = R"("topology": "ring", "launch": "3 us")";

/// A protocol with a launch of its own, and messages that are cut.
const std::string kLaunchedByProtocol =
    kLaunched +
    R"(, "transport": {"protocols": {"p": {"slot": "1 KiB", "launch": "7 us", "channel_launch": "1 us", "overhead": "1 us", "latency": "2 us", "channels": 2}}})";

/// Returns a program over arrays without elements on each of four devices.
ScenarioParts empty_parts(const std::vector<std::string>& ops) {
  ScenarioParts parts;
  parts.fabric = kLaunched;
  parts.arrays = R"({"a": {"shape": [0], "dtype": "f32", "spec": ["x"]},
                     "b": {"local_shape": [4, 0], "dtype": "f32",
                           "per_device": [[], [], [], []]},
                     "t": {"local_shape": [4], "dtype": "s32", "per_device":
                           [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]}})";
  parts.program = fmt::format("[{}]", fmt::join(ops, ", "));
  parts.expect = R"([{"holds": ["deadlock_free"]}])";
  return parts;
}

std::string empty_op(const std::string& kind, const std::string& of, const std::string& more = "") {
  return fmt::format(R"({{"id": "r", "op": "{}", "of": {}, "axis_name": "x"{}}})", kind, of, more);
}

const std::vector<std::string> kEmptyOps = {
    empty_op("psum", R"("a")"),
    empty_op("pmax", R"("a")"),
    empty_op("pmean", R"("a")"),
    empty_op("psum", R"("a")", R"(, "algorithm": "recursive_doubling")"),
    empty_op("psum", R"("a")", R"(, "algorithm": "one_shot")"),
    empty_op("psum", R"("a")", R"(, "channels": 3, "entry": "rendezvous")"),
    empty_op("all_gather", R"("a")", R"(, "tiled": true)"),
    empty_op("psum_scatter", R"("a")", R"(, "tiled": true)"),
    empty_op("all_to_all", R"("b")", R"(, "split_axis": 0, "concat_axis": 0)"),
    empty_op("all_to_all", R"("b")",
             R"(, "split_axis": 0, "concat_axis": 0, "algorithm": "pairwise")"),
    empty_op("ppermute", R"("a")", R"(, "perm": [[0, 1], [1, 2]])"),
    empty_op("pbroadcast", R"("a")", R"(, "source": 1)"),
    empty_op("ragged_all_to_all", R"(["a", "a", "t", "t", "t", "t"])")};

TEST_CASE("no elements: no collective takes time, and every one is proved") {
  for (const std::string& of : kEmptyOps)
    for (const std::string& fabric : {kLaunched, kLaunchedByProtocol}) {
      INFO(of);
      ScenarioParts parts = empty_parts({of});
      parts.fabric = fabric;
      const Ran ran = run_parts(parts);
      CHECK(ran.broken().empty());
      CHECK(ran.report.completion->makespan == Instant());
      CHECK(ran.report.ops[0].messages == 0);
      CHECK(ran.check("SCHEDULE.PROVED").holds());
      CHECK(ran.report.ops[0].choice->because == "without elements it is discarded");
    }
}

TEST_CASE("no elements: a started collective is done at once") {
  const Ran ran = run_parts(
      empty_parts({R"({"id": "f", "op": "psum_start", "of": "a", "axis_name": "x", "stream": 1})",
                   R"({"id": "r", "op": "done", "of": "f"})"}));
  CHECK(ran.broken().empty());
  CHECK(ran.report.completion->makespan == Instant());
}

TEST_CASE("no elements: what cannot carry it out is refused all the same") {
  const auto refused = [](const std::string& more) -> std::string {
    try {
      run_parts(empty_parts({empty_op("psum", R"("a")", more)}));
    } catch (const InputError& error) {
      return error.diagnostics().front().message;
    }
    return "accepted";
  };
  CHECK(refused(R"(, "algorithm": "rings")") ==
        "psum \"r\": expected one of ring, recursive_doubling, bidirectional, halving_doubling, "
        "tree, "
        "one_shot, got "
        "\"rings\"; did you "
        "mean \"ring\"?");
}

/// Returns two programs: devices 0 and 1, and devices 2 and 3.
ScenarioParts halves_of_empty(const std::string& front, const std::string& back) {
  ScenarioParts parts = empty_parts({});
  parts.threads = true;
  parts.program = fmt::format(R"([{{"name": "front", "on": [0, 1], "do": [{}]}},
                                  {{"name": "back", "on": [2, 3], "do": [{}]}}])",
                              front, back);
  return parts;
}

std::string empty_psum(const std::string& id, const std::string& site,
                       const std::string& more = "") {
  return fmt::format(
      R"({{"id": "{}", "op": "psum{}", "of": "a", "axis_name": "x", "site": "{}"{}}})", id,
      more.empty() ? "" : "_start", site, more);
}

TEST_CASE("no elements: no device waits for another there") {
  const Ran ran = run_parts(halves_of_empty(
      R"({"id": "s", "op": "iota", "shape": [4], "dtype": "f32", "dimension": 0}, )" +
          empty_psum("p", "s"),
      empty_psum("q", "s")));
  CHECK(ran.broken().empty());
  // The front's local op takes the launch, and the time for 16 B at 1 TB/s.
  const Instant written = Instant() + Duration(3'000'016);
  CHECK(ran.report.completion->spans[1][0].end == written);
  CHECK(ran.report.completion->spans[2][0].end == Instant());
}

TEST_CASE("no elements: a device that does not issue it is a verdict all the same") {
  CHECK(run_parts(halves_of_empty(empty_psum("p", "s"), "")).check("DEADLOCK.FREE").verdict ==
        Verdict::Fails);
}

TEST_CASE("no elements: opposite orders are no error, on one stream and on two") {
  CHECK(run_parts(halves_of_empty(empty_psum("p", "s") + ", " + empty_psum("q", "u"),
                                  empty_psum("v", "u") + ", " + empty_psum("w", "s")))
            .broken()
            .empty());
  const auto started = [](const std::string& first, const std::string& second) {
    const auto done = [](const std::string& id) {
      return fmt::format(R"({{"id": "{0}d", "op": "done", "of": "{0}"}})", id);
    };
    return fmt::format(
        "{}, {}, {}, {}",
        empty_psum(first, first.substr(1), fmt::format(R"(, "stream": {})", first.substr(1))),
        empty_psum(second, second.substr(1), fmt::format(R"(, "stream": {})", second.substr(1))),
        done(first), done(second));
  };
  CHECK(run_parts(halves_of_empty(started("p1", "p2"), started("q2", "q1"))).broken().empty());
}

TEST_CASE("no elements: a psend and its precv are carried out") {
  const Ran ran = run_parts(empty_parts(
      {R"({"id": "sent", "op": "psend", "of": "a", "axis_name": "x", "perm": [[0, 1]]})",
       R"({"id": "r", "op": "precv", "of": "sent", "shape": [0], "dtype": "f32", "axis_name": "x", "perm": [[0, 1]]})"}));
  CHECK(ran.broken().empty());
  CHECK(ran.report.ops[0].messages == 1);
  // Each device launches both. The message was sent at 3 us, and came 1 us later.
  CHECK(ran.report.completion->makespan == Instant() + Duration(6'000'000));
}

}  // namespace
}  // namespace orrery::test
