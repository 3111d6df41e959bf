// Tests that each planted error is caught by the check made for it, with its whole message.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/verifier/scenario_rig.h"
#include "verifier/check/names.h"

using namespace orrery;
using namespace orrery::test;

namespace {

using Names = std::vector<std::string>;

/// Returns two threads over two stages of two devices each, with two psums between all four.
ScenarioParts two_stages(std::string left, std::string right) {
  ScenarioParts parts;
  parts.threads = true;
  parts.mesh = R"({"stage": 2, "x": 2})";
  parts.arrays =
      R"({"a": {"shape": [32], "dtype": "f32", "spec": [["stage", "x"]], "init": "iota"}})";
  parts.program = R"([{"name": "left", "on": {"stage": 0}, "do": [)" + left +
                  R"(]}, {"name": "right", "on": {"stage": 1}, "do": [)" + right + "]}]";
  return parts;
}

std::string psum(const std::string& id, const std::string& site, const std::string& more = "") {
  return R"({"id": ")" + id + R"(", "op": "psum)" + (more.empty() ? "" : "_start") +
         R"(", "of": "a", "axis_name": ["stage", "x"], "algorithm": "ring", "site": ")" + site +
         "\"" + more + "}";
}

const std::string kSum = R"({"id": "s", "op": "psum_start", "of": "a", "axis_name": "x")";
const std::string kDone = R"({"id": "d", "op": "done", "of": "s"})";

}  // namespace

TEST_CASE("a program without errors: every check holds") {
  ScenarioParts parts;
  parts.program = "[" + kSum + "}, " + kDone + "]";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{});
  CHECK(ran.report.holds());
}

TEST_CASE("hang: two threads that disagree on the order of two collectives") {
  const Ran ran = run_parts(
      two_stages(psum("a1", "A") + "," + psum("b1", "B"), psum("b2", "B") + "," + psum("a2", "A")));
  // On the ring 0 1 2 3, device 1 gets device 0's first message. It then waits for the chunk that
  // device 3 must begin. Device 3 is in the other collective, and waits there for device 1's chunk.
  const Check& check = ran.check("DEADLOCK.FREE");
  CHECK(check.verdict == Verdict::Fails);
  CHECK(check.message == "The program cannot end: devices wait for each other, in a cycle of 2.");
  CHECK(check.witness ==
        Witness{
            {"device 1",
             "waits in \"a1\" for device 3 to enter \"a2\", which \"right\" issues after \"b2\""},
            {"device 3",
             "waits in \"b2\" for device 1 to enter \"b1\", which \"left\" issues after \"a1\""}});
  CHECK(check.of == "/programs/0/do/0");
  CHECK(ran.report.verdict == Verdict::Fails);
  CHECK_FALSE(ran.report.completion);
  CHECK_FALSE(ran.report.values);
}

TEST_CASE("order mismatch: the two orders are named") {
  const Ran ran = run_parts(
      two_stages(psum("a1", "A") + "," + psum("b1", "B"), psum("b2", "B") + "," + psum("a2", "A")));
  CHECK(ran.check("ORDER.AGREED").message ==
        "On stream 0, programs \"left\" and \"right\" issue two collectives in opposite orders.");
  CHECK(ran.check("ORDER.AGREED").witness ==
        Witness{{"left", "a1 before b1"}, {"right", "b2 before a2"}});
}

TEST_CASE("no order mismatch: two sites of which no two threads share a group") {
  // Each half does a psum and a pmax among its own devices. The sites are common, but no collective
  // is.
  const auto within = [](const std::string& id, const std::string& op, const std::string& site) {
    return R"({"id": ")" + id + R"(", "op": ")" + op +
           R"(", "of": "a", "axis_name": "x", "site": ")" + site + "\"}";
  };
  const Ran ran =
      run_parts(two_stages(within("p1", "psum", "A") + "," + within("q1", "pmax", "B"),
                           within("q2", "pmax", "B") + "," + within("p2", "psum", "A")));
  CHECK(ran.broken() == Names{});
}

TEST_CASE("data: more than the limit is refused before it is allocated") {
  ScenarioParts parts;
  parts.program = "[" + kSum + "}, " + kDone + "]";
  RunOptions options;
  options.data = Data::On;
  options.limits.data = 100;
  // The argument, the future and the sum have 8 f32 each on 4 devices.
  CHECK_THROWS_WITH_AS(run_parts(parts, options),
                       "test.json: expected at most 100 B of values in all when data is moved, got "
                       "384 B (--limit data=SIZE allows more)",
                       InputError);
}

TEST_CASE(
    "hang: started collectives queue on one stream, behind one that the peer has not entered") {
  const std::string on_stream = R"(, "stream": 3)";
  const std::string left = psum("a1", "A", on_stream) + "," + psum("b1", "B", on_stream) +
                           R"(,{"id": "da1", "op": "done", "of": "a1"},)"
                           R"({"id": "db1", "op": "done", "of": "b1"})";
  const std::string right = psum("b2", "B", on_stream) + "," + psum("a2", "A", on_stream) +
                            R"(,{"id": "da2", "op": "done", "of": "a2"},)"
                            R"({"id": "db2", "op": "done", "of": "b2"})";
  const Ran ran = run_parts(two_stages(left, right));
  REQUIRE(ran.check("DEADLOCK.FREE").witness.size() == 2);
  CHECK(ran.check("DEADLOCK.FREE").witness.front().second ==
        "waits in \"a1\" for device 3 to enter \"a2\", which \"right\" issues after \"b2\"");
}

TEST_CASE("no hang: on streams of their own, opposite orders end only if both streams progress") {
  const std::string first = R"(, "stream": 0)";
  const std::string second = R"(, "stream": 1)";
  const std::string left = psum("a1", "A", first) + "," + psum("b1", "B", second) +
                           R"(,{"id": "da1", "op": "done", "of": "a1"},)"
                           R"({"id": "db1", "op": "done", "of": "b1"})";
  const std::string right = psum("b2", "B", second) + "," + psum("a2", "A", first) +
                            R"(,{"id": "da2", "op": "done", "of": "a2"},)"
                            R"({"id": "db2", "op": "done", "of": "b2"})";
  const Ran ran = run_parts(two_stages(left, right));
  CHECK(ran.broken() == Names{"STREAMS.ORDERED"});
  CHECK(ran.check("DEADLOCK.FREE").holds());
}

TEST_CASE("leak: a started collective that is never done") {
  ScenarioParts parts;
  parts.program = "[" + kSum + "}]";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{"LEAK.FREE"});
  CHECK(ran.check("LEAK.FREE").message == "\"s\" starts a collective that is never done.");
  CHECK(ran.check("LEAK.FREE").of == "/program/0");
}

TEST_CASE("done twice: the second done is named") {
  ScenarioParts parts;
  parts.program = "[" + kSum + "}, " + kDone + R"(, {"id": "e", "op": "done", "of": "s"}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{"FUTURE.DONE_ONCE"});
  CHECK(ran.check("FUTURE.DONE_ONCE").message == "\"e\" ends \"s\" again, which \"d\" has ended.");
}

TEST_CASE("use after donation: the later reader is named") {
  ScenarioParts parts;
  parts.program = R"([{"id": "p", "op": "psum", "of": "a", "axis_name": "x", "donate": "a"},
                      {"id": "q", "op": "add", "of": ["p", "a"]}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{"DONATION.USE"});
  CHECK(ran.check("DONATION.USE").message == "\"q\" uses \"a\" after its donation to \"p\".");
}

TEST_CASE("use after donation: an op of the backward pass is said to be one") {
  ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [32], "dtype": "f32", "spec": ["x"], "init": "iota"},
                     "ct_q": {"shape": [32], "dtype": "f32", "spec": ["x"], "init": 1}})";
  parts.program = R"([{"id": "p", "op": "neg", "of": "a"},
                      {"id": "q", "op": "exp", "of": "p"},
                      {"id": "z", "op": "mul", "of": ["q", "q"], "donate": "q"}],
      "transform": {"vjp": {"of": "q", "with_respect_to": "a"}})";
  const Ran ran = run_parts(parts);
  CHECK(ran.check("DONATION.USE").of == "/program/1 \"q.bwd\"");
  CHECK(
      ran.check("DONATION.USE").message ==
      "\"q.bwd\" uses \"q\" after its donation to \"z\". \"q.bwd\" is of the backward pass, which "
      "\"transform\" added.");
}

TEST_CASE("use after donation: of an alias of the value, and by the outputs") {
  ScenarioParts parts;
  parts.program = R"([{"id": "r", "op": "reshape", "of": "a", "new_sizes": [2, 4]},
                      {"id": "p", "op": "psum", "of": "a", "axis_name": "x", "donate": "a"}])";
  parts.outputs = R"(["r"])";
  CHECK(run_parts(parts).check("DONATION.USE").message ==
        "The output \"r\", which lives in the storage of \"a\", is kept after its donation to "
        "\"p\".");
}

TEST_CASE("donation: a reshape of the donated value keeps its storage and may be used") {
  ScenarioParts parts;
  parts.program = R"([{"id": "r", "op": "reshape", "of": "a", "new_sizes": [2, 4], "donate": "a"},
                      {"id": "p", "op": "psum", "of": "r", "axis_name": "x"}])";
  CHECK(run_parts(parts).broken() == Names{});
}

TEST_CASE("race: an operand is donated while the collective that reads it is in flight") {
  ScenarioParts parts;
  parts.program = "[" + kSum + R"(}, {"id": "q", "op": "add", "of": ["a", "a"], "donate": "a"}, )" +
                  kDone + "]";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{"RACE.FREE"});
  CHECK(ran.check("RACE.FREE").message ==
        "\"q\" takes over \"a\" while \"s\" is in flight and reads it.");
}

TEST_CASE("use after donation: a read between a donating start and its done") {
  ScenarioParts parts;
  parts.program = "[" + kSum + R"(, "donate": "a"}, {"id": "q", "op": "add", "of": ["a", "a"]}, )" +
                  kDone + "]";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{"RACE.FREE", "DONATION.USE"});
  CHECK(ran.check("RACE.FREE").message ==
        "\"q\" reads \"a\" while \"s\" is in flight and takes it over.");
  CHECK(ran.check("DONATION.USE").message ==
        "\"q\" uses \"a\" after its donation to \"s\", which is in flight.");
}

TEST_CASE("race: collectives of one stream run one after another, those of two do not") {
  for (const int stream : {0, 1}) {
    ScenarioParts parts;
    parts.program =
        "[" + kSum +
        R"(}, {"id": "g", "op": "psum_start", "of": "a", "axis_name": "x", "donate": "a",
                    "stream": )" +
        std::to_string(stream) + "}, " + kDone + R"(, {"id": "h", "op": "done", "of": "g"}])";
    CHECK(run_parts(parts).broken() == (stream == 0 ? Names{} : Names{"RACE.FREE"}));
  }
}

TEST_CASE("no race: a donation after the done") {
  ScenarioParts parts;
  parts.program = "[" + kSum + "}, " + kDone +
                  R"(, {"id": "q", "op": "add", "of": ["a", "a"], "donate": "a"}])";
  CHECK(run_parts(parts).broken() == Names{});
}

TEST_CASE("capacity: the op, the device, and what is held") {
  ScenarioParts parts;
  // Each device has 1 KiB of "a" and 1 KiB of "s", but 1.5 KiB of memory.
  parts.arrays = R"({"a": {"shape": [1024], "dtype": "f32", "spec": ["x"], "init": "iota"}})";
  parts.memory = "1536 B";
  parts.program = R"([{"id": "s", "op": "add", "of": ["a", "a"]}])";
  parts.outputs = R"(["s"])";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{"MEMORY.CAPACITY"});
  const Check& check = ran.check("MEMORY.CAPACITY");
  CHECK(check.message ==
        "At \"s\" device 0 holds 2 KiB, over its 1.5 KiB: \"a\" 1 KiB (argument), \"s\" 1 KiB "
        "(output).");
  CHECK(check.of == "/program/0");
  parts.memory = "2048 B";
  CHECK(run_parts(parts).broken() == Names{});
}
