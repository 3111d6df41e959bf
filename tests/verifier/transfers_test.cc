// Tests psend and precv in scenarios: values, times, memory, and errors that stop a program that
// uses them.

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "simulator/lower/lower.h"
#include "simulator/network/paths.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/support/property.h"
#include "tests/support/units.h"
#include "tests/verifier/scenario_rig.h"

namespace orrery::test {
namespace {

using Pairs = std::vector<std::vector<int64_t>>;

std::string send(const std::string& id, const std::string& of, const Pairs& perm,
                 const std::string& more = "") {
  return fmt::format(R"({{"id": "{}", "op": "psend", "of": "{}", "axis_name": "x", "perm": {}{}}})",
                     id, of, perm, more);
}

/// Returns a precv of 1,000 f32 elements, as many as "a" has on each device.
std::string receive(const std::string& id, const std::string& token, const Pairs& perm,
                    const std::string& more = "") {
  const std::string of = token.empty() ? "" : fmt::format(R"("of": "{}", )", token);
  return fmt::format(
      R"({{"id": "{}", "op": "precv", {}"shape": [1000], "dtype": "f32", "axis_name": "x", "perm": {}{}}})",
      id, of, perm, more);
}

const std::string kRendezvous = R"(, "entry": "rendezvous")";

std::string at(const std::string& site) {
  return fmt::format(R"(, "site": "{}")", site);
}

/// Returns a program where each device has 4,000 B in "a": 4 us over a link of 1 GB/s, with a
/// latency of 1 us.
ScenarioParts parts_of(const std::vector<std::string>& ops) {
  ScenarioParts parts;
  parts.arrays = R"({"a": {"shape": [4000], "dtype": "f32", "spec": ["x"], "init": "iota"}})";
  parts.program = fmt::format("[{}]", fmt::join(ops, ", "));
  return parts;
}

/// Returns one program for each device.
ScenarioParts parts_of_each(const std::vector<std::vector<std::string>>& lists) {
  ScenarioParts parts = parts_of({});
  std::vector<std::string> programs;
  for (size_t d = 0; d < lists.size(); ++d)
    programs.push_back(
        fmt::format(R"({{"on": {{"x": {}}}, "do": [{}]}})", d, fmt::join(lists[d], ", ")));
  parts.threads = true;
  parts.program = fmt::format("[{}]", fmt::join(programs, ", "));
  return parts;
}

Duration makespan(const Ran& ran) {
  REQUIRE(ran.report.completion.has_value());
  return ran.report.completion->makespan - Instant();
}

std::string refusal(const ScenarioParts& parts) {
  try {
    run_parts(parts);
  } catch (const InputError& error) {
    std::string text;
    for (const Diagnostic& each : error.diagnostics())
      text += (text.empty() ? "" : "\n") + each.origin.pointer + ": " + each.message;
    return text;
  }
  return "accepted";
}

TEST_CASE(
    "transfers: back to back they are a ppermute, in values and where nothing waits in time") {
  for (const std::string& entry : {std::string(), kRendezvous}) {
    ScenarioParts parts =
        parts_of({send("t", "a", {{0, 1}, {2, 3}}, entry), receive("y", "t", {{0, 1}, {2, 3}})});
    // A transfer takes 4 us and the latency, as the ppermute does. The sources go on after 4 us.
    const Ran ran = run_parts(parts);
    CHECK(ran.broken().empty());
    CHECK(makespan(ran) == Duration(5 * kUs));
    CHECK(ran.report.completion->by == TimedBy::Sweep);
    CHECK(ran.report.completion->spans[0][0].end == Instant() + Duration(4 * kUs));
    CHECK(ran.report.completion->spans[0][1].end == Instant());
    CHECK(ran.report.completion->messages == 2);
  }
  ScenarioParts parts = parts_of(
      {send("t", "a", {{0, 1}, {1, 2}}), receive("y", "t", {{0, 1}, {1, 2}}),
       R"({"id": "p", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1], [1, 2]]})"});
  parts.expect = R"([{"equal": ["y", "p"]}])";
  CHECK(run_parts(parts).broken().empty());
}

TEST_CASE("transfers: a chain waits for its end under rendezvous, and runs at once otherwise") {
  const Pairs chain = {{0, 1}, {1, 2}, {2, 3}};
  // All devices send at 0.
  CHECK(makespan(run_parts(parts_of({send("t", "a", chain), receive("y", "t", chain)}))) ==
        Duration(5 * kUs));
  // Device 3 receives at once, so device 2 sends from 0 to 4 us and then receives. Device 1 sends
  // from 4 to 8 us, and device 0 from 8 to 12 us. Its message takes 1 us more to arrive.
  const Ran waits =
      run_parts(parts_of({send("t", "a", chain, kRendezvous), receive("y", "t", chain)}));
  CHECK(waits.broken().empty());
  CHECK(makespan(waits) == Duration(13 * kUs));
}

TEST_CASE("transfers: a psend's operand is held until it is sent, the result from its precv on") {
  // a has 4,000 B, in storage of 4,096 B. b is freed when it has been sent, so y can take its
  // place. In a ppermute both are live at once.
  const std::string b = R"({"id": "b", "op": "neg", "of": "a"})";
  const Ran ran = run_parts(parts_of({b, send("t", "b", {{0, 1}}), receive("y", "t", {{0, 1}})}));
  CHECK(ran.report.memory.kinds.front().peak == Bytes(2 * 4096));
  const Ran whole = run_parts(parts_of(
      {b, R"({"id": "p", "op": "ppermute", "of": "b", "axis_name": "x", "perm": [[0, 1]]})"}));
  CHECK(whole.report.memory.kinds.front().peak == Bytes(3 * 4096));
}

TEST_CASE("transfers: a cycle over two of them is fine where each is received before the next") {
  const Pairs chain = {{0, 1}, {1, 2}, {2, 3}};
  const Ran ran =
      run_parts(parts_of({send("t", "a", chain, kRendezvous), receive("y", "t", chain),
                          send("u", "y", {{3, 0}}, kRendezvous), receive("z", "u", {{3, 0}})}));
  CHECK(ran.broken().empty());
  // Device 0 has sent after 12 us (as above) and receives; device 3 then sends for 4 us.
  CHECK(makespan(ran) == Duration(17 * kUs));
}

TEST_CASE("transfers: both send first hangs under rendezvous, and ends with one message kept") {
  const auto both = [](const std::string& entry) {
    return run_parts(parts_of({send("t", "a", {{0, 1}}, entry), send("u", "a", {{1, 0}}, entry),
                               receive("y", "t", {{0, 1}}), receive("z", "u", {{1, 0}})}));
  };
  const Ran hangs = both(kRendezvous);
  CHECK(hangs.broken() == std::vector<std::string>{"DEADLOCK.FREE", "SENDS.UNBUFFERED"});
  CHECK(hangs.check("DEADLOCK.FREE").message ==
        "The program cannot end: devices wait for each other, in a cycle of 2.");
  CHECK(hangs.check("SENDS.UNBUFFERED").message ==
        "The program would end only if a device could have 1 message under way that nobody "
        "receives yet.");
  const Ran eager = both("");
  CHECK(eager.broken() == std::vector<std::string>{"SENDS.UNBUFFERED"});
  CHECK(eager.check("SENDS.UNBUFFERED").message ==
        "The program is safe only by buffering: a device must be able to have 1 message under way "
        "that nobody receives yet.");
  CHECK(makespan(eager) == Duration(5 * kUs));
}

TEST_CASE("transfers: deadlock_free is of the program as it runs, eager or not") {
  const auto judged = [](const std::string& entry, const std::string& expect) {
    ScenarioParts parts =
        parts_of({send("t", "a", {{0, 1}}, entry), send("u", "a", {{1, 0}}, entry),
                  receive("y", "t", {{0, 1}}), receive("z", "u", {{1, 0}})});
    parts.expect = "[" + expect + "]";
    return run_parts(parts);
  };
  const std::string holds = R"({"holds": ["deadlock_free"]})";
  CHECK(judged("", holds).broken() == std::vector<std::string>{"SENDS.UNBUFFERED"});
  CHECK(judged(kRendezvous, holds).broken() ==
        std::vector<std::string>{"DEADLOCK.FREE", "SENDS.UNBUFFERED", "PROPERTY.HOLDS"});
  // If the scenario states the number of messages on which it relies, that number is judged instead
  // of none.
  const std::string need =
      "The program is safe only by buffering: a device must be able to have 1 message under way "
      "that nobody receives yet. ";
  const Ran relies = judged("", holds + R"(, {"buffered_messages": {"at_most": 1}})");
  CHECK(relies.broken().empty());
  CHECK(relies.check("SENDS.BUFFERED").message == need + "Expected are at most 1.");
  const Ran none = judged("", R"({"buffered_messages": {"at_most": 0}})");
  CHECK(none.broken() == std::vector<std::string>{"SENDS.BUFFERED"});
  CHECK(none.check("SENDS.BUFFERED").message == need + "Expected are at most 0.");
  CHECK(none.check("SENDS.BUFFERED").of == "/expect/0");
  CHECK(none.check("SENDS.BUFFERED").witness ==
        std::vector<std::pair<std::string, std::string>>{
            {"device 0", "goes on from \"t\" before device 1 is at its precv"}});
  // A run that hangs does so with any number.
  CHECK(judged(kRendezvous, R"({"buffered_messages": {"at_most": 1}})").broken() ==
        std::vector<std::string>{"DEADLOCK.FREE"});
}

TEST_CASE("transfers: what may be buffered is expected of programs that need nothing, or no end") {
  const std::string expect = R"([{"buffered_messages": {"at_most": 3}}])";
  const auto message = [&](ScenarioParts parts) {
    parts.expect = expect;
    return run_parts(parts).check("SENDS.BUFFERED").message;
  };
  CHECK(message(parts_of({send("t", "a", {{0, 1}}), receive("y", "t", {{0, 1}})})) ==
        "The program ends though each psend waits until its precv is reached.");
  CHECK(message(parts_of({R"({"id": "b", "op": "neg", "of": "a"})"})) ==
        "The program has no psend.");
  CHECK(message(parts_of({send("t", "a", {{0, 1}})})) ==
        "The program cannot end, however many messages are buffered.");
}

TEST_CASE(
    "transfers: the least number of buffered messages is that of the device that needs most") {
  // Both devices send n messages before they receive one. One of the two must have all its messages
  // in flight before it can receive.
  for (int64_t n = 1; n <= 3; ++n) {
    std::vector<std::vector<std::string>> lists(2);
    for (int64_t i = 0; i < n; ++i) {
      lists[0].push_back(send(fmt::format("t{}", i), "a", {{0, 1}}, at(fmt::format("t{}", i))));
      lists[1].push_back(send(fmt::format("u{}", i), "a", {{1, 0}}, at(fmt::format("u{}", i))));
    }
    for (int64_t i = 0; i < n; ++i) {
      lists[0].push_back(receive(fmt::format("z{}", i), "", {{1, 0}}, at(fmt::format("u{}", i))));
      lists[1].push_back(receive(fmt::format("y{}", i), "", {{0, 1}}, at(fmt::format("t{}", i))));
    }
    const Ran ran = run_parts(parts_of_each(lists));
    CHECK(ran.check("DEADLOCK.FREE").holds());
    CHECK(ran.check("SENDS.UNBUFFERED").message ==
          fmt::format("The program is safe only by buffering: a device must be able to have {} "
                      "message{} under way that nobody receives yet.",
                      n, n == 1 ? "" : "s"));
  }
}

TEST_CASE("transfers: one forward, one backward of two stages needs a buffered message") {
  // The first stage sends two activations before it takes a gradient. The second stage gives a
  // gradient after each activation: at the second activation, both send. Buffering one of the two
  // messages is enough.
  const Ran ran = run_parts(parts_of_each(
      {{send("f0", "a", {{0, 1}}, at("f0")), send("f1", "a", {{0, 1}}, at("f1")),
        receive("g0", "", {{1, 0}}, at("b0")), receive("g1", "", {{1, 0}}, at("b1"))},
       {receive("h0", "", {{0, 1}}, at("f0")), send("b0", "h0", {{1, 0}}, at("b0")),
        receive("h1", "", {{0, 1}}, at("f1")), send("b1", "h1", {{1, 0}}, at("b1"))}}));
  CHECK(ran.broken() == std::vector<std::string>{"SENDS.UNBUFFERED"});
  CHECK(ran.check("SENDS.UNBUFFERED").witness ==
        std::vector<std::pair<std::string, std::string>>{
            {"device 0", "goes on from \"f1\" before device 1 is at its precv"}});
  // A receive that is started first takes the gradient when it comes.
  const Ran started = run_parts(parts_of_each(
      {{R"({"id": "g", "op": "precv_start", "shape": [1000], "dtype": "f32", "axis_name": "x", "perm": [[1, 0]], "stream": 1, "site": "b0"})",
        send("f0", "a", {{0, 1}}, at("f0")), send("f1", "a", {{0, 1}}, at("f1")),
        R"({"id": "g0", "op": "done", "of": "g"})", receive("g1", "", {{1, 0}}, at("b1"))},
       {receive("h0", "", {{0, 1}}, at("f0")), send("b0", "h0", {{1, 0}}, at("b0")),
        receive("h1", "", {{0, 1}}, at("f1")), send("b1", "h1", {{1, 0}}, at("b1"))}}));
  CHECK(started.broken().empty());
}

TEST_CASE("transfers: what nobody receives, or nobody sends, ends in no way and is named") {
  const Ran unreceived = run_parts(parts_of({send("t", "a", {{0, 1}})}));
  CHECK(unreceived.check("DEADLOCK.FREE").message ==
        "The program cannot end: \"t\" sends from device 0 to device 1, where no precv takes it.");
  CHECK(unreceived.check("SENDS.UNBUFFERED").message ==
        "The program cannot end, however many messages are buffered.");
  CHECK(!unreceived.report.completion);
  const Ran unsent =
      run_parts(parts_of({R"({"id": "t", "op": "create_token"})", receive("y", "t", {{0, 1}})}));
  CHECK(unsent.check("DEADLOCK.FREE").message ==
        "The program cannot end: \"y\" receives on device 1 from device 0, where no psend sends "
        "it. Its token \"t\" comes of no psend. A precv that is issued before its psend names a "
        "\"site\", which the psend names too.");
  // Only the first precv of a token gets the message.
  const Ran twice = run_parts(parts_of(
      {send("t", "a", {{0, 1}}), receive("y", "t", {{0, 1}}), receive("z", "t", {{0, 1}})}));
  CHECK(twice.check("DEADLOCK.FREE").message ==
        "The program cannot end: \"z\" receives on device 1 from device 0, where no psend sends "
        "it. \"y\" has taken what its token \"t\" leads to.");
  CHECK(twice.broken() == std::vector<std::string>{"DEADLOCK.FREE", "SENDS.UNBUFFERED"});
  // There is no proof of a transfer that is never received, or never sent.
  const auto proofs = [](const Ran& ran) {
    return std::count_if(ran.report.checks.begin(), ran.report.checks.end(),
                         [](const Check& check) { return check.name == "SCHEDULE.PROVED"; });
  };
  CHECK(proofs(unreceived) == 0);
  CHECK(proofs(unsent) == 0);
  CHECK(proofs(twice) == 1);
  // The token goes through a barrier.
  const Ran barred =
      run_parts(parts_of({send("t", "a", {{0, 1}}),
                          R"({"id": ["b", "u"], "op": "optimization_barrier", "of": ["a", "t"]})",
                          receive("y", "t", {{0, 1}}), receive("z", "u", {{0, 1}})}));
  CHECK(barred.check("DEADLOCK.FREE").message ==
        "The program cannot end: \"z\" receives on device 1 from device 0, where no psend sends "
        "it. \"y\" has taken what its token \"u\" leads to.");
}

const std::string kToken = R"({"id": "k", "op": "create_token"})";

TEST_CASE("transfers: a precv may come before its psend in one program, by a site") {
  // The message takes 4 us and the latency, whatever comes first: device 0 only sends.
  for (const char* const token : {"k", "", "l"}) {
    INFO(token);
    ScenarioParts parts =
        parts_of({kToken, R"({"id": ["b", "l"], "op": "optimization_barrier", "of": ["a", "k"]})",
                  receive("y", token, {{0, 1}}, at("s")), send("t", "a", {{0, 1}}, at("s"))});
    parts.outputs = R"(["y"])";
    parts.expect = R"([{"holds": ["deadlock_free", "proved", "race_free"]}])";
    const Ran ran = run_parts(parts);
    CHECK(ran.broken().empty());
    CHECK(makespan(ran) == Duration(5 * kUs));
    // The result may vary over every axis, as the psend is not known when the precv is typed.
    parts.mesh = R"({"x": 2, "y": 2})";
    parts.arrays = R"({"a": {"shape": [2000], "dtype": "f32", "spec": ["x"], "init": "iota"}})";
    const Ran two_axes = run_parts(parts);
    CHECK(two_axes.broken().empty());
    const Program& program = two_axes.report.scenario->program;
    CHECK(program.value(program.ops[2].results[0]).type.axes == AxisStates(2, AxisState::Varying));
  }
  // In a ring of sends, device 0 receives before it sends, and so does each other one.
  const Ran cycle = run_parts(
      parts_of({kToken, receive("y", "k", {{0, 1}}, at("s")), receive("z", "k", {{1, 0}}, at("u")),
                send("t", "a", {{0, 1}}, at("s")), send("v", "a", {{1, 0}}, at("u"))}));
  CHECK(cycle.check("DEADLOCK.FREE").verdict == Verdict::Fails);
}

TEST_CASE(
    "transfers: a precv before its psend meets it in each iteration, written and read again") {
  ScenarioParts parts = parts_of({});
  parts.program = fmt::format(
      R"([{}, {{"id": "l", "op": "fori_loop", "lower": 0, "upper": 3, "body": [{}, {}]}}])", kToken,
      receive("y", "k", {{0, 1}}, at("s")), send("t", "a", {{0, 1}}, at("s")));
  const Ran ran = run_parts(parts);
  CHECK(ran.broken().empty());
  // Device 0 sends each message when the one before is on its way.
  CHECK(makespan(ran) == Duration((3 * 4 + 1) * kUs));
  const Scenario again = read_scenario("f", write_scenario(*ran.report.scenario));
  CHECK(again.program.sites.size() == ran.report.scenario->program.sites.size());
}

TEST_CASE("transfers: transforms refuse a precv that meets its psend by a site") {
  ScenarioParts parts =
      parts_of({kToken, receive("y", "k", {{0, 1}}, at("s")), send("t", "a", {{0, 1}}, at("s"))});
  parts.program += R"(, "transform": {"vjp": {"of": ["y"], "with_respect_to": ["a"]}})";
  CHECK(refusal(parts) ==
        "/program/1: precv \"y\": expected a token of its psend in \"of\", as transforms follow "
        "tokens, got a \"site\"");
}

TEST_CASE(
    "transfers: a pair is sent as its op says, also where another of its pairs is not taken") {
  const Ran ran =
      run_parts(parts_of({send("t", "a", {{0, 1}, {2, 3}}), receive("y", "t", {{0, 1}})}));
  std::vector<std::pair<size_t, Entry>> entries;  // with the number of absent members
  for (const Collective& collective : ran.report.lowered->collectives)
    if (collective.members.size() == 2)
      entries.emplace_back(collective.absent.size(), collective.schedule->extent().entry);
  CHECK(entries ==
        std::vector<std::pair<size_t, Entry>>{{0, Entry::Eager}, {1, Entry::Rendezvous}});
}

TEST_CASE("transfers: of started sends that wait together others may need less") {
  const auto start = [](const std::string& id, const Pairs& perm, int stream) {
    return fmt::format(
        R"({{"id": "{}", "op": "psend_start", "of": "a", "axis_name": "x", "perm": {}, "stream": {}, "site": "{}"}})",
        id, perm, stream, id);
  };
  const auto done = [](const std::string& id) {
    return fmt::format(R"({{"id": "done_{}", "op": "done", "of": "{}"}})", id, id);
  };
  // Device 1 has s in flight when it comes to t, which device 0 receives after the end of q. If
  // device 0 has q in flight, all goes on with one message each; but p comes first.
  const Ran ran = run_parts(parts_of_each(
      {{start("p", {{0, 1}}, 1), start("q", {{0, 1}}, 2), done("q"),
        receive("of_t", "", {{1, 0}}, at("t")), done("p"), receive("of_s", "", {{1, 0}}, at("s"))},
       {send("s", "a", {{1, 0}}, at("s")), send("t", "a", {{1, 0}}, at("t")),
        receive("of_p", "", {{0, 1}}, at("p")), receive("of_q", "", {{0, 1}}, at("q"))}}));
  CHECK(ran.check("SENDS.UNBUFFERED").message ==
        "The program is safe only by buffering: it is enough that a device can have 2 messages "
        "under way that nobody receives yet. Fewer may do where other started sends are kept.");
}

/// Returns a loop whose iterations pass "a" on.
std::string loop_of(const std::string& id, int64_t trips, const std::string& body) {
  return fmt::format(
      R"({{"id": "{0}", "op": "fori_loop", "lower": 0, "upper": {1}, "carry": {{"{0}_h": "a"}}, "body": [{2}], "yield": {{"{0}_h": "{0}_h"}}}})",
      id, trips, body);
}

TEST_CASE("transfers: the need is that of all iterations, also where some are left out") {
  const auto loop = [](const std::string& id, const std::string& body) {
    return loop_of(id, 20, body);
  };
  // The s of all iterations are kept while device 1 receives the t, so 20 messages are needed.
  ScenarioParts parts =
      parts_of_each({{loop("l", send("s", "a", {{0, 1}}, at("s") + R"(, "stream": 1)") + ", " +
                                    send("t", "a", {{0, 1}}, at("t")))},
                     {loop("m", receive("of_t", "", {{0, 1}}, at("t"))),
                      loop("n", receive("of_s", "", {{0, 1}}, at("s") + R"(, "stream": 1)"))}});
  const auto judged = [&](int64_t most, uint64_t most_ops_shown) {
    parts.expect = fmt::format(R"([{{"buffered_messages": {{"at_most": {}}}}}])", most);
    RunOptions options;
    options.most_ops_shown = most_ops_shown;
    return run_parts(parts, options).check("SENDS.BUFFERED");
  };
  for (const uint64_t budget : {uint64_t{1'000}, uint64_t{0}}) {
    CHECK(judged(20, budget).verdict == Verdict::Holds);
    CHECK(judged(19, budget).verdict == Verdict::Fails);
    CHECK(judged(19, budget).message ==
          "The program is safe only by buffering: a device must be able to have 20 messages under "
          "way that nobody receives yet. Expected are at most 19.");
  }
}

TEST_CASE("transfers: a need that iterations left out may raise is undecided, or too great") {
  // Both send before they receive. Two devices run four million ops each, and one more.
  const auto exchange = [](const std::string& id, const std::string& there, const Pairs& to,
                           const std::string& here, const Pairs& from) {
    return loop_of(
        id, (int64_t{1} << 21U) + 1,
        send(id + "s", "a", to, at(there)) + ", " + receive(id + "r", "", from, at(here)));
  };
  ScenarioParts parts = parts_of_each({{exchange("l", "p", {{0, 1}}, "q", {{1, 0}})},
                                       {exchange("m", "q", {{1, 0}}, "p", {{0, 1}})}});
  const auto judged = [&](int64_t most) {
    parts.expect = fmt::format(R"([{{"buffered_messages": {{"at_most": {}}}}}])", most);
    RunOptions options;
    options.data = Data::Off;
    return run_parts(parts, options).check("SENDS.BUFFERED");
  };
  CHECK(judged(1).verdict == Verdict::Undecided);
  CHECK(judged(1).message ==
        "The program is safe only by buffering: a device must be able to have at least 1 message "
        "under way that nobody receives yet. Expected are at most 1. Iterations of loops that are "
        "left out may need more.");
  CHECK(judged(0).verdict == Verdict::Fails);
}

TEST_CASE("transfers: a row of psend has the message, a row of precv neither choice nor rate") {
  const Ran ran = run_parts(parts_of({send("t", "a", {{0, 1}}), receive("y", "t", {{0, 1}})}));
  const OpReport& sent = ran.report.ops.at(0);
  const OpReport& received = ran.report.ops.at(1);
  CHECK(sent.choice.has_value());
  CHECK(sent.messages == 1);
  CHECK(sent.busbw_GBps == 1.0);
  CHECK(!received.choice.has_value());
  CHECK(received.messages == 0);
  CHECK(!received.busbw_GBps.has_value());
  CHECK(received.bytes == Bytes(4000));
}

TEST_CASE("transfers: a precv of other pairs than its psend's is named with both") {
  const Ran ran = run_parts(parts_of({send("t", "a", {{0, 1}}), receive("y", "t", {{0, 2}})}));
  const Check& check = ran.check("DEADLOCK.FREE");
  CHECK(check.message ==
        "The program cannot end: \"t\" sends from device 0 to device 1, where no precv takes it.");
  CHECK(check.witness == std::vector<std::pair<std::string, std::string>>{
                             {"device 0", "waits in \"t\" for a precv on device 1"},
                             {"device 1", "at the end of \"main\", after \"y\""},
                             {"y", "has the pairs [[0,2]] over x, and \"t\" has [[0,1]] over x"}});
}

TEST_CASE(
    "transfers: of ops that name different sites, the site is named, and where both devices are") {
  const Ran ran = run_parts(parts_of_each(
      {{send("t", "a", {{0, 1}}, at("there"))}, {receive("y", "", {{0, 1}}, at("here"))}}));
  const Check& check = ran.check("DEADLOCK.FREE");
  CHECK(check.message ==
        "The program cannot end: \"t\" sends from device 0 to device 1, where no precv takes it at "
        "site \"there\".");
  CHECK(check.witness == std::vector<std::pair<std::string, std::string>>{
                             {"device 0", "waits in \"t\" for a precv on device 1"},
                             {"device 1", "waiting in \"y\""}});
}

TEST_CASE("transfers: pairs, types and tokens that cannot be are refused") {
  const auto sent = [](const Pairs& perm) { return refusal(parts_of({send("t", "a", perm)})); };
  CHECK(sent({{0, 1}, {1, 2}, {2, 0}}) ==
        "/program/0/perm: psend \"t\": expected pairs without a cycle, got 0 -> 1 -> 2 -> 0");
  CHECK(sent({{3, 3}}) ==
        "/program/0/perm: psend \"t\": expected pairs without a cycle, got 3 -> 3");
  CHECK(sent({{0, 1}, {0, 2}}) ==
        "/program/0/perm: psend \"t\": expected each source once, got rank 0 twice");
  CHECK(sent({{0, 1}, {2, 1}}) ==
        "/program/0/perm: psend \"t\": expected each destination once, got rank 1 twice");
  CHECK(sent({{0, 4}}) == "/program/0/perm: psend \"t\": expected ranks from 0 to 3, got 4");
  CHECK(sent({{-1, 0}}) == "/program/0/perm: psend \"t\": expected ranks from 0 to 3, got -1");

  const auto received = [](const std::string& precv) {
    return refusal(parts_of({send("t", "a", {{0, 1}}), precv}));
  };
  const std::string rest = R"("op": "precv", "axis_name": "x", "perm": [[0, 1]])";
  CHECK(received(R"({"id": "y", "of": "t", "shape": [10], "dtype": "f32", )" + rest + "}") ==
        "/program/1/shape: precv \"y\": expected f32[1000], as \"t\" sends, got f32[10]");
  CHECK(received(R"({"id": "y", "of": "t", "shape": [1000], "dtype": "s32", )" + rest + "}") ==
        "/program/1/dtype: precv \"y\": expected f32[1000], as \"t\" sends, got s32[1000]");
  CHECK(received(receive("y", "a", {{0, 1}})) ==
        "/program/1/of: precv \"y\": expected a token, as psend gives, got f32[1000]{V:x}");
  CHECK(
      received(receive("y", "", {{0, 1}})) ==
      "/program/1: precv \"y\": expected a token in \"of\", or a \"site\" where a psend meets it, "
      "got neither");
  CHECK(received(receive("y", "t", {{0, 1}}, at("s"))) ==
        "/program/1/site: precv \"y\": expected no site: it receives from the psend of its token");
  CHECK(received(R"({"id": "y", "op": "neg", "of": "t"})") ==
        "/program/1/of: neg \"y\": expected an array, got \"t\", a token, which only precv and "
        "optimization_barrier take");
  ScenarioParts out = parts_of({send("t", "a", {{0, 1}}), receive("y", "t", {{0, 1}})});
  out.outputs = R"(["t"])";
  CHECK(refusal(out) == "/outputs/0: expected an array, got \"t\", a token");
  ScenarioParts future = parts_of(
      {R"({"id": "f", "op": "psend_start", "of": "a", "axis_name": "x", "perm": [[0, 1]]})"});
  future.outputs = R"(["f"])";
  CHECK(refusal(future) ==
        "/outputs/0: expected a value, got \"f\", a future that only done may read");

  ScenarioParts crossed = parts_of(
      {R"({"id": "t", "op": "psend", "of": "a", "axis_name": ["y", "x"], "perm": [[0, 1]]})"});
  crossed.mesh = R"({"x": 2, "y": 2})";
  crossed.arrays = R"({"a": {"shape": [8], "dtype": "f32", "spec": [["x", "y"]], "init": "iota"}})";
  CHECK(refusal(crossed) ==
        "/program/0/axis_name: psend \"t\": expected axes in the order of the mesh, got (y, x)");
}

TEST_CASE("transfers: the result varies over the axes and over what the operand varies over") {
  ScenarioParts parts = parts_of(
      {R"({"id": "t", "op": "psend", "of": "a", "axis_name": "x", "perm": [[0, 1]]})",
       R"({"id": "y", "op": "precv", "of": "t", "shape": [4], "dtype": "f32", "axis_name": "x", "perm": [[0, 1]]})"});
  parts.mesh = R"({"x": 2, "y": 2})";
  parts.arrays = R"({"a": {"shape": [8], "dtype": "f32", "spec": ["y"], "init": "iota"}})";
  const Ran ran = run_parts(parts);
  const Program& program = ran.report.scenario->program;
  CHECK(text(program.value(program.ops[0].results[0]).type, program.mesh) == "token{V:(x,y)}");
  CHECK(text(program.value(program.ops[1].results[0]).type, program.mesh) == "f32[4]{V:(x,y)}");
}

/// Returns pairs without a cycle: some of the links 0 -> 1 -> ... of the ranks in a random order.
Pairs some_pairs(int64_t ranks, Random& random) {
  std::vector<int64_t> order;
  for (int64_t r = 0; r < ranks; ++r)
    order.insert(order.begin() + static_cast<ptrdiff_t>(random.below(order.size() + 1)), r);
  Pairs pairs;
  for (size_t i = 0; i + 1 < order.size(); ++i)
    if (random.below(3) > 0)
      pairs.push_back({order[i], order[i + 1]});
  return pairs;
}

TEST_CASE("transfers: random ones are ppermutes, end unbuffered, and sweep and engine agree") {
  holds_for_all("transfers", [](uint64_t seed) {
    Random random(seed);
    std::vector<std::string> ops;
    std::vector<std::string> expect;
    std::string last = "a";
    for (int i = 0; i < 3; ++i) {
      const Pairs pairs = some_pairs(4, random);
      const std::string y = fmt::format("y{}", i);
      ops.push_back(
          send(fmt::format("t{}", i), last, pairs, random.below(2) == 0 ? kRendezvous : ""));
      ops.push_back(receive(y, fmt::format("t{}", i), pairs));
      ops.push_back(fmt::format(
          R"({{"id": "p{}", "op": "ppermute", "of": "{}", "axis_name": "x", "perm": {}}})", i, last,
          pairs));
      expect.push_back(fmt::format(R"({{"equal": ["{}", "p{}"]}})", y, i));
      last = y;
    }
    ScenarioParts parts = parts_of(ops);
    parts.fabric = R"("topology": "fully_connected")";
    parts.expect = fmt::format("[{}]", fmt::join(expect, ", "));
    const Ran ran = run_parts(parts);
    RC_ASSERT(ran.broken().empty());

    const Scenario& scenario = *ran.report.scenario;
    Diagnostics diagnostics("test.json");
    const Lowered lowered = lower(scenario.program, scenario.cluster, diagnostics);
    const Completion run = simulate(scenario.program, lowered, scenario.cluster.fabric, {});
    const auto swept = sweep(scenario.program, lowered, scenario.cluster.fabric);
    RC_ASSERT(std::holds_alternative<Completion>(swept));
    RC_ASSERT(std::get<Completion>(swept).spans == run.spans);

    const std::string written = write_scenario(scenario);
    RC_ASSERT(write_scenario(read_scenario("again.json", written)) == written);
  });
}

TEST_CASE("transfers: programs that meet by a site are written and read again") {
  const Ran ran = run_parts(
      parts_of_each({{send("t", "a", {{0, 1}}, at("s"))}, {receive("y", "", {{0, 1}}, at("s"))}}));
  CHECK(ran.broken().empty());
  CHECK(makespan(ran) == Duration(5 * kUs));
  const std::string written = write_scenario(*ran.report.scenario);
  CHECK(write_scenario(read_scenario("again.json", written)) == written);
  CHECK(written.find(R"("site": "s")") != std::string::npos);
}

}  // namespace
}  // namespace orrery::test
