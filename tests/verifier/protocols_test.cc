// Tests times by the protocols of a transport against times worked out by hand, and how a protocol
// is chosen.

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/base/random.h"
#include "models/scenario/reader.h"
#include "simulator/lower/lower.h"
#include "simulator/network/paths.h"
#include "simulator/time/engine.h"
#include "simulator/time/sweep.h"
#include "tests/support/tries.h"
#include "tests/support/units.h"
#include "verifier/run.h"

namespace orrery::test {
namespace {

/// Two nodes of two devices, each node with one switch inside; a NIC per device.
constexpr const char* kTwoNodes =
    R"({"nodes": 2, "inside": {"switch": 2}, "nics": 2, "outside": {"switch": 4}})";

/// A `OneOp` is one op on `elements` f32 per device over four devices in a ring. The links carry 1
/// GB/s, 1,000 B per microsecond, with a latency of 1 us.
struct OneOp {
  std::string op = R"("op": "all_gather", "algorithm": "ring")";
  int64_t elements = 1000;
  std::string shape = "";  // of the whole array; empty: all elements in one dimension
  std::string protocols;
  std::string memory = "{}";
  std::string topology = R"("ring")";

  std::string text() const {
    return fmt::format(
        R"({{"orrery": 1, "cluster": {{"devices": 4, "topology": {}, "bandwidth": "1 GB/s",
"latency": "1 us", "launch": "2 us", "transport": {{"protocols": {{{}}}}}}}, "mesh": {{"x": 4}},
"arrays": {{"a": {{"shape": [{}], "dtype": "f32", "spec": ["x"], "init": "iota"}}}},
"program": [{{"id": "r", "of": "a", "axis_name": "x", {}}}], "outputs": ["r"], "memory": {}}})",
        topology, protocols, shape.empty() ? std::to_string(elements * 4) : shape, op, memory);
  }
  Report run() const { return orrery::run(read_scenario("f", text()), RunOptions()); }
  std::string error() const {
    try {
      run();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

Duration took(const Report& report) {
  for (const Check& check : report.checks)
    CHECK(check.verdict == Verdict::Holds);
  return report.completion->makespan - Instant();
}

/// Returns the time of an all-gather of 4,000 B per device: three steps, each sent after the
/// message of the step before.
Duration gather(const std::string& figures) {
  OneOp one;
  one.protocols = "\"p\": " + figures;
  return took(one.run());
}

TEST_CASE("protocols: without figures, times are those of whole messages") {
  CHECK(gather("{}") == Duration(2 * kUs + 3 * (4 + 1) * kUs));
}

TEST_CASE("protocols: the launch grows with channels and with the ranks that a rank sends to") {
  CHECK(gather(R"({"launch": "3 us"})") == Duration((2 + 3 + 15) * kUs));
  CHECK(gather(R"({"peer_launch": "3 us"})") == Duration((2 + 3 + 15) * kUs));
  // Two channels share each link, with half of the bandwidth each.
  CHECK(gather(R"({"channels": 2, "channel_launch": "3 us"})") == Duration((2 + 6 + 15) * kUs));
  OneOp all_to_all;
  all_to_all.op =
      R"("op": "all_to_all", "algorithm": "direct", "split_axis": 0, "concat_axis": 0, "tiled": true)";
  all_to_all.topology = R"("fully_connected")";
  all_to_all.protocols = R"("p": {"peer_launch": "3 us"})";
  // A quarter of the 4,000 B goes to each of three ranks at once.
  CHECK(took(all_to_all.run()) == Duration((2 + 3 * 3 + 1 + 1) * kUs));
}

TEST_CASE("protocols: a group of one launches none, and takes a launch and a copy of the device") {
  // A protocol that would take longer in each way.
  const std::string slow =
      R"("p": {"launch": "7 us", "channel_launch": "1 us", "peer_launch": "1 us", "channels": 2,
"slot": "1 KiB", "overhead": "1 us", "latency": "1 us", "copy_rate": "1 MB/s", "store_rate": "1 MB/s"})";
  const auto takes = [&](const std::string& op, const std::string& figures, int64_t more = 0) {
    CAPTURE(op);
    const Report report =
        orrery::run(read_scenario("f", fmt::format(R"({{"orrery": 1, "cluster": {{"devices": 4,
"topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "launch": "2 us"{},
"transport": {{"protocols": {{{}}}}}}}, "mesh": {{"x": 4, "y": 1}}, "check_types": false,
"arrays": {{"a": {{"shape": [4, 1000], "dtype": "f32", "spec": ["x"], "init": "iota"}}}},
"program": [{{"id": "r", "of": "a", "axis_name": "y", {}}}], "outputs": ["r"]}})",
                                                   figures, slow, op)),
                    RunOptions());
    CHECK(report.ops[0].choice->protocol.empty());
    CHECK(report.ops[0].messages == 0);
    CHECK(took(report) == Duration((2 + more) * kUs));
  };
  for (const std::string op :
       {R"("op": "psum")", R"("op": "pmean")", R"("op": "pmax")",
        R"("op": "all_gather", "axis": 0, "tiled": true)",
        R"("op": "psum_scatter", "scatter_dimension": 0, "tiled": true)",
        R"("op": "all_to_all", "split_axis": 0, "concat_axis": 1, "tiled": true)",
        R"("op": "pbroadcast", "source": 0)", R"("op": "ppermute", "perm": [[0, 0]])",
        R"("op": "psum", "protocol": "p")", R"("op": "all_to_all", "split_axis": 0,
"concat_axis": 0, "tiled": true, "algorithm": "direct", "protocol": "p")"}) {
    takes(op, "");
    // 4,000 B at 1 GB/s; what is converted is converted on the way.
    takes(op, R"(, "copy_rate": "1 GB/s")", 4);
  }
  takes(R"("op": "pargmax")", R"(, "copy_rate": "1 GB/s")", 8);  // each element with its rank
}

TEST_CASE("protocols: of groups of several sizes, those of one rank launch none") {
  OneOp one;
  one.op = R"("op": "psum", "algorithm": "ring", "axis_index_groups": [[0, 1, 2], [3]])";
  one.topology = R"("fully_connected")";
  one.protocols = R"("p": {"launch": "7 us"})";
  const Report report = one.run();
  // Four steps of a third of 4,000 B; the largest is 334 elements.
  CHECK(took(report) == Duration((2 + 7) * kUs + 4 * (kUs + 334 * 4 * kUs / 1000)));
  CHECK(report.devices[3].times.exposed == Duration(2 * kUs));
}

TEST_CASE("protocols: each message takes the sender's overhead and the receiver's latency") {
  CHECK(gather(R"({"overhead": "0.5 us"})") == Duration(2 * kUs + 3 * (5 * kUs + kUs / 2)));
  CHECK(gather(R"({"latency": "0.5 us"})") == Duration(2 * kUs + 3 * (5 * kUs + kUs / 2)));
  // Four pieces of 1,000 B make twelve messages, one after another.
  CHECK(gather(R"({"slot": "1000 B", "overhead": "0.5 us"})") ==
        Duration(2 * kUs + 12 * (2 * kUs + kUs / 2)));
}

TEST_CASE("protocols: flags take their share of links, and a channel has a rate of its own") {
  CHECK(gather(R"({"efficiency": "2/3"})") == Duration(2 * kUs + 3 * (6 + 1) * kUs));
  CHECK(gather(R"({"channel_rate": "0.5 GB/s"})") == Duration(2 * kUs + 3 * (8 + 1) * kUs));
  // Flags count in the channel's rate.
  CHECK(gather(R"({"channel_rate": "0.5 GB/s", "efficiency": "2/3"})") ==
        Duration(2 * kUs + 3 * (12 + 1) * kUs));
  // Two channels have half the link's rate and half of the data each.
  CHECK(gather(R"({"channel_rate": "0.5 GB/s", "channels": 2})") ==
        Duration(2 * kUs + 3 * (4 + 1) * kUs));
}

TEST_CASE("protocols: messages between nodes have the figures of the network") {
  // Ranks 0 and 1 lie on one node, ranks 2 and 3 on the other; a message crosses two links.
  const auto permute = [](const char* pairs, const std::string& network) {
    OneOp one;
    one.op = fmt::format(R"("op": "ppermute", "perm": {})", pairs);
    one.topology = kTwoNodes;
    one.protocols = R"("p": {"overhead": "3 us", "latency": "5 us", "channel_rate": "0.5 GB/s")" +
                    network + "}";
    return took(one.run());
  };
  const char* const inside = "[[0, 1], [1, 0]]";
  const char* const between = "[[0, 2], [2, 0]]";
  // Launch, overhead, 4,000 B at 0.5 GB/s, two links, latency.
  const Duration by_protocol((2 + 3 + 8 + 2 + 5) * kUs);
  CHECK(permute(inside, "") == by_protocol);
  CHECK(permute(between, "") == by_protocol);
  const std::string all =
      R"(, "network": {"overhead": "7 us", "latency": "11 us", "channel_rate": "0.25 GB/s"})";
  CHECK(permute(inside, all) == by_protocol);
  CHECK(permute(between, all) == Duration((2 + 7 + 16 + 2 + 11) * kUs));
  // A figure that the network does not give is the protocol's.
  CHECK(permute(between, R"(, "network": {"latency": "11 us"})") ==
        Duration((2 + 3 + 8 + 2 + 11) * kUs));
  CHECK(permute(between, R"(, "network": {"overhead": "0 us"})") ==
        Duration((2 + 0 + 8 + 2 + 5) * kUs));
}

TEST_CASE("protocols: a protocol may serve only groups on one node, or only others") {
  const auto gather = [](const char* groups, const std::string& protocols) {
    OneOp one;
    one.op = fmt::format(R"("op": "all_gather", "axis_index_groups": {})", groups);
    one.topology = kTwoNodes;
    one.protocols = protocols;
    return took(one.run());
  };
  const std::string both = R"("p": {"nodes": "one", "launch": "3 us"},
"q": {"nodes": "several", "launch": "7 us"})";
  // Launch, and one message of 4,000 B over two links.
  CHECK(gather("[[0, 1], [2, 3]]", both) == Duration((2 + 3 + 4 + 2) * kUs));
  CHECK(gather("[[0, 2], [1, 3]]", both) == Duration((2 + 7 + 4 + 2) * kUs));
  // Without a protocol for its groups, an op passes its messages whole.
  const std::string only = R"("q": {"nodes": "several", "launch": "7 us"})";
  CHECK(gather("[[0, 1], [2, 3]]", only) == Duration((2 + 4 + 2) * kUs));
}

TEST_CASE("protocols: if no protocol has an algorithm that fits, messages are passed whole") {
  OneOp one;
  one.op = R"("op": "psum", "axis_index_groups": [[0, 1], [2, 3]])";
  one.topology = kTwoNodes;
  one.protocols = R"("p": {"algorithms": ["ring+ring"], "launch": "3 us"})";
  // Launch, and one message of 4,000 B each way over two links: recursive_doubling.
  CHECK(took(one.run()) == Duration((2 + 4 + 2) * kUs));
}

TEST_CASE("protocols: only the last step of a ring copies what it receives out of its slot") {
  CHECK(gather(R"({"store_rate": "2 GB/s"})") == Duration((2 + 15 + 2) * kUs));
  // The two steps before the last copy the data that they send on only where that has a rate.
  CHECK(gather(R"({"store_rate": "2 GB/s", "forward_rate": "4 GB/s"})") ==
        Duration((2 + 15 + 2 * 1 + 2) * kUs));
  OneOp scatter;
  scatter.op = R"("op": "psum_scatter", "tiled": true, "algorithm": "ring")";
  scatter.protocols = R"("p": {"store_rate": "2 GB/s"})";
  // The last step reduces. Each of three steps has 1,000 B.
  CHECK(took(scatter.run()) == Duration((2 + 3 * 2) * kUs));
  scatter.protocols = R"("p": {"reduce_rate": "2 GB/s"})";
  CHECK(took(scatter.run()) == Duration(2 * kUs + 3 * (2 * kUs + kUs / 2)));
  // The results of the first two reductions are only sent on.
  scatter.protocols = R"("p": {"reduce_rate": "2 GB/s", "forward_reduce_rate": "4 GB/s"})";
  CHECK(took(scatter.run()) == Duration(2 * kUs + 3 * 2 * kUs + kUs / 2 + 2 * kUs / 4));
}

TEST_CASE("protocols: a channel copies a rank's own part, before it sends it in a ring") {
  CHECK(gather(R"({"copy_rate": "2 GB/s"})") == Duration((2 + 2 + 15) * kUs));
  // Each of two channels copies its half, at the same time.
  CHECK(gather(R"({"copy_rate": "2 GB/s", "channels": 2})") == Duration((2 + 1 + 15) * kUs));
  // Unpacking after the last step takes the device's rate, which is not given.
  OneOp columns;
  columns.op = R"("op": "all_gather", "axis": 1, "tiled": true, "algorithm": "ring")";
  columns.shape = "4000, 1";
  columns.protocols = R"("p": {"copy_rate": "2 GB/s"})";
  const Report report = columns.run();
  CHECK(took(report) == Duration((2 + 2 + 15) * kUs));
  CHECK(std::count(report.lowered->labels.begin(), report.lowered->labels.end(),
                   "copy_rate: infinite (not given)") == 1);
  OneOp rows;
  rows.protocols = columns.protocols;
  const Report plain = rows.run();
  CHECK(std::count(plain.lowered->labels.begin(), plain.lowered->labels.end(),
                   "copy_rate: infinite (not given)") == 0);
}

TEST_CASE("protocols: a further channel is used only for messages of channel_bytes") {
  const auto channels = [](int64_t elements) {
    OneOp one;
    one.elements = elements;
    one.protocols = R"("p": {"channels": 3, "channel_bytes": "400 B"})";
    const Report report = one.run();
    return report.lowered->collectives[0].schedule->extent().channels;
  };
  // An all-gather's largest message is a device's whole part.
  CHECK(channels(1) == 1);
  CHECK(channels(199) == 1);
  CHECK(channels(200) == 2);
  CHECK(channels(299) == 2);
  CHECK(channels(300) == 3);
  CHECK(channels(3000) == 3);
}

TEST_CASE("protocols: a further channel of a chain has channel_bytes for each rank") {
  const auto channels = [](int64_t elements) {
    OneOp one;
    one.op = R"("op": "pbroadcast", "source": 0, "algorithm": "ring")";
    one.elements = elements;
    one.protocols = R"("p": {"channels": 3, "channel_bytes": "400 B"})";
    const Report report = one.run();
    return report.lowered->collectives[0].schedule->extent().channels;
  };
  // Four ranks have two channels from 2 x 4 x 400 B on.
  CHECK(channels(1) == 1);
  CHECK(channels(799) == 1);
  CHECK(channels(800) == 2);
  CHECK(channels(1199) == 2);
  CHECK(channels(1200) == 3);
}

TEST_CASE("protocols: channels of an exchange take whole parts, until all are used") {
  // Each of three ranks has a link of its own. A channel sends at 0.25 GB/s, 1,000 B in 4 us.
  const auto exchange = [](int64_t bytes) {
    OneOp one;
    one.op = R"("op": "ppermute", "perm": [[0, 1], [1, 2], [2, 3], [3, 0]])";
    one.elements = bytes / 4;
    one.topology = R"("fully_connected")";
    one.protocols =
        R"("p": {"channels": 3, "channel_bytes": "400 B", "channel_rate": "0.25 GB/s"})";
    return took(one.run());
  };
  const auto sends = [](int64_t bytes) { return Duration((2 + 1) * kUs + bytes * kUs / 250); };
  CHECK(exchange(400) == sends(400));
  CHECK(exchange(404) == sends(400));   // 400 and 4
  CHECK(exchange(1200) == sends(400));  // three times 400
  CHECK(exchange(1500) == sends(500));  // three times 500
  // A larger message never takes less time.
  Duration before;
  for (int64_t bytes = 4; bytes <= 2000; bytes += 4) {
    const Duration takes = exchange(bytes);
    CHECK(takes >= before);
    before = takes;
  }
}

TEST_CASE("protocols: channels that do the same take no more room in later collectives") {
  const auto runs = [&](int count, Bytes state) {
    std::string program;
    for (int i = 0; i < count; ++i)
      program += fmt::format(
          R"({}{{"id": "s{}", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring",
               "channels": 16, "protocol": "p"}})",
          i == 0 ? "" : ", ", i);
    RunOptions options;
    options.wanted = Wanted::Checks;  // so no half is logged
    options.data = Data::Off;
    options.limits.state = state.count();
    try {
      const Report report = run(read_scenario("f", R"({"orrery": 1, "check_types": false,
        "mesh": {"x": 4, "y": 2},
        "cluster": {"devices": 8, "topology": "ring", "bandwidth": "10 GB/s", "latency": "1 us",
          "transport": {"protocols": {"p": {"channels": 16, "channel_bytes": "64 B", "slots": 64,
                                            "channel_rate": "5 GB/s"}}}},
        "arrays": {"a": {"shape": [65536], "dtype": "f32"}},
        "program": [)" + program + "]}"),
                                options);
      return report.completion->by == TimedBy::Engine;
    } catch (const InputError&) {
      return false;
    }
  };
  Bytes least(1024);
  while (!runs(1, least))
    least = least + Bytes(1024);
  CHECK(runs(20, least));
}

TEST_CASE("protocols: a broadcast along a chain sends on one piece while the next arrives") {
  const auto broadcast = [](const std::string& figures) {
    OneOp one;
    one.op = R"("op": "pbroadcast", "source": 3, "algorithm": "ring")";
    one.protocols = "\"p\": " + figures;
    return took(one.run());
  };
  CHECK(broadcast("{}") == Duration(2 * kUs + 3 * (4 + 1) * kUs));
  // Four pieces take 4 + 2 times 1 us, and three latencies.
  CHECK(broadcast(R"({"slot": "1000 B"})") == Duration((2 + 6 + 3) * kUs));
  // The last rank copies the last piece out of its slot.
  CHECK(broadcast(R"({"slot": "1000 B", "slots": 4, "store_rate": "2 GB/s"})") ==
        Duration((2 + 6 + 3) * kUs + kUs / 2));
  CHECK(broadcast(R"({"slot": "1000 B", "overhead": "0.5 us"})") == Duration((2 + 9 + 3) * kUs));
  CHECK(broadcast(R"({"slot": "1000 B", "slots": 4, "latency": "0.5 us"})") ==
        Duration((2 + 6) * kUs + 3 * (kUs + kUs / 2)));
}

TEST_CASE("protocols: a message is cut into pieces, of channel_bytes at least and a slot at most") {
  const auto broadcast = [](const std::string& figures) {
    OneOp one;
    one.op = R"("op": "pbroadcast", "source": 0, "algorithm": "ring")";
    one.protocols = R"("p": {"slots": 8, )" + figures + "}";
    return took(one.run());
  };
  // 4,000 B go over three hops of 1 us per link. m pieces of t take (m + 2) t + 3 us, after 2 us of
  // launch.
  CHECK(broadcast(R"("pieces": 1)") == Duration((2 + 3 * 4 + 3) * kUs));
  CHECK(broadcast(R"("pieces": 4)") == Duration((2 + (4 + 2) * 1 + 3) * kUs));
  CHECK(broadcast(R"("pieces": 4, "channel_bytes": "2000 B")") ==
        Duration((2 + (2 + 2) * 2 + 3) * kUs));
  CHECK(broadcast(R"("pieces": 4, "slot": "500 B")") ==
        Duration((2 + 3) * kUs + (8 + 2) * kUs / 2));
}

TEST_CASE("protocols: a protocol serves the ops that it names") {
  OneOp one;
  one.protocols = R"("mine": {"ops": ["pbroadcast"], "launch": "3 us"}, "all": {"launch": "9 us"})";
  // An all-gather of 4,000 B takes three steps of 5 us, after 2 us and the protocol's launch.
  CHECK(took(one.run()) == Duration((2 + 9 + 15) * kUs));
  one.op = R"("op": "pbroadcast", "source": 0, "algorithm": "ring")";
  CHECK(took(one.run()) == Duration((2 + 3 + 15) * kUs));
  one.op = R"("op": "all_gather", "protocol": "mine")";
  CHECK(one.error().find("expected one that serves all_gather, got \"mine\"") != std::string::npos);
}

TEST_CASE("protocols: the fastest is chosen by size, with the reason, unless the op says") {
  OneOp one;
  one.protocols = R"("quick": {"efficiency": "1/2"}, "big": {"launch": "5 us"})";
  // 400 B take 3 (0.8 + 1) us by quick, after the device's launch of 2 us. By big they would take 5
  // us more before they begin. A rank sends 3 x 400 B, which take 1.2 us over its link to the next.
  one.elements = 100;
  CHECK(one.run().lowered->choices[0].because ==
        "ring (quick) 7.4 us < ring (big) at least 8.2 us (model)");
  // By quick, the 3 x 4000 B would take 24 us over that link.
  one.elements = 1000;
  const Report large = one.run();
  CHECK(large.lowered->choices[0].because ==
        "ring (big) 22 us < ring (quick) at least 26 us (model)");
  CHECK(large.lowered->choices[0].protocol == "big");
  one.op = R"("op": "all_gather", "algorithm": "ring", "protocol": "quick")";
  CHECK(took(one.run()) == Duration(29 * kUs));
  one.op = R"("op": "all_gather", "protocol": "quik")";
  CHECK(one.error().find("/program/0/protocol: all_gather \"r\": expected one of quick, big, got "
                         "\"quik\"; did you mean \"quick\"?") != std::string::npos);
}

TEST_CASE("protocols: a protocol serves the algorithms that it names") {
  OneOp one;
  one.op = R"("op": "psum")";
  one.elements = 4;
  one.protocols = R"("slow": {"algorithms": "ring", "launch": "1 ms"})";
  CHECK(one.run().lowered->choices[0].algorithm == "ring");
  one.op = R"("op": "psum", "algorithm": "recursive_doubling", "protocol": "slow")";
  CHECK(one.error().find(
            "/program/0/protocol: psum \"r\": expected one that serves recursive_doubling, "
            "got \"slow\"") != std::string::npos);
  // No protocol serves this op, so its messages are passed whole.
  one.op = R"("op": "psum", "algorithm": "recursive_doubling")";
  const Report whole = one.run();
  CHECK(whole.lowered->choices[0].protocol.empty());
  const std::vector<std::string>& labels = whole.labels;
  CHECK(std::find(labels.begin(), labels.end(),
                  "transport: some collectives are served by no protocol: their messages take "
                  "their links alone") != labels.end());
  one.protocols = R"("p": {"algorithms": ["ring", "rings"]})";
  CHECK(one.error().find("/cluster/transport/protocols/p/algorithms: expected names of algorithms, "
                         "got \"rings\"; did you mean \"ring\"?") != std::string::npos);
}

TEST_CASE("protocols: what a protocol lacks is named") {
  OneOp one;
  one.protocols = R"("p": {"latency": "1 us"})";
  const std::vector<std::string> labels = one.run().labels;
  const auto has = [&](const std::string& label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  };
  CHECK(has("transport: p: messages are not cut to slots (no slot given)"));
  CHECK(
      has("transport: p: no launch, overhead, channel_rate, store_rate given: these take no time"));
}

TEST_CASE("protocols: memory counts the slots of each protocol that a communicator uses") {
  OneOp one;
  one.protocols = R"("p": {"slot": "1000 B", "slots": 3, "channels": 2})";
  const Bytes without = one.run().memory.largest_peak();
  one.memory = R"({"transport": true})";
  // In a ring, one neighbour sends, on two channels.
  CHECK(one.run().memory.largest_peak() == without + Bytes(3 * 2 * 1000));
  // The result is the same as with a policy that gives the slots itself, and an op that gives its
  // slots and channels.
  OneOp given;
  given.op = R"("op": "all_gather", "algorithm": "ring", "slots": 3, "channels": 2)";
  given.protocols = R"("q": {})";
  given.memory = R"({"transport": {"protocol": "simple", "slot": "1000 B"}})";
  CHECK(given.run().memory.largest_peak() == without + Bytes(3 * 2 * 1000));
  // Two sites with different protocols have buffers of both.
  OneOp two;
  two.protocols = R"("p": {"slot": "1000 B", "slots": 3}, "q": {"slot": "100 B", "slots": 5})";
  two.op =
      R"("op": "psum", "algorithm": "ring", "protocol": "p"}, {"id": "s", "of": "r", "op": "psum",
"axis_name": "x", "algorithm": "ring", "protocol": "q")";
  two.memory = "{}";
  const Bytes bare = two.run().memory.largest_peak();
  two.memory = R"({"transport": true})";
  CHECK(two.run().memory.largest_peak() == bare + Bytes(3 * 1000 + 5 * 100));
}

/// Returns figures of the network as the end of a protocol; often none.
std::string random_network(Random& random) {
  if (random.below(2) == 0)
    return "";
  return fmt::format(
      R"(, "network": {{"overhead": "{} ns", "latency": "{} ns", "channel_rate": "{} MB/s"}})",
      random.between(0, 900), random.between(0, 2000), random.between(50, 2000));
}

OneOp random_op(Random& random) {
  const char* const ops[] = {
      R"("op": "psum", "algorithm": "ring")",
      R"("op": "psum", "algorithm": "recursive_doubling")",
      R"("op": "all_gather")",
      R"("op": "psum_scatter", "tiled": true)",
      R"("op": "all_to_all", "split_axis": 0, "concat_axis": 0, "tiled": true)",
      R"("op": "ppermute", "perm": [[0, 1], [1, 2], [3, 0]])",
      R"("op": "pbroadcast", "source": 2, "algorithm": "ring")",
      R"("op": "pbroadcast", "source": 1)"};
  OneOp one;
  one.op = ops[random.below(std::size(ops))];
  one.elements = 4 * random.between(1, 500);
  const char* const topologies[] = {R"("ring")", R"("switch")", kTwoNodes};
  one.topology = topologies[random.below(std::size(topologies))];
  const int64_t wire = random.between(1, 20);
  const int64_t data = random.between(1, wire);
  const int64_t slot = random.between(64 * 20, 3000);
  const int64_t slots = random.between(2, 5);
  const int64_t channels = random.between(1, 4);
  const int64_t overhead = random.between(0, 900);
  const int64_t latency = random.between(0, 2000);
  const int64_t rate = random.between(50, 2000);
  const int64_t store = random.between(50, 5000);
  const int64_t reduce = random.between(50, 5000);
  const int64_t copy = random.between(50, 5000);
  const int64_t pieces = random.between(1, 5);
  const int64_t least = random.between(1, 600);
  const int64_t forward = random.between(50, 5000);
  const int64_t forward_reduce = random.between(50, 5000);
  one.protocols = fmt::format(
      R"("p": {{"efficiency": "{}/{}", "slot": "{} B", "slots": {}, "channels": {},
"channel_bytes": "{} B", "pieces": {}, "overhead": "{} ns", "latency": "{} ns", "channel_rate": "{} MB/s",
"store_rate": "{} MB/s", "reduce_rate": "{} MB/s", "copy_rate": "{} MB/s", "forward_rate": "{} MB/s",
"forward_reduce_rate": "{} MB/s"{}}})",
      data, wire, slot, slots, channels, least, pieces, overhead, latency, rate, store, reduce,
      copy, forward, forward_reduce, random_network(random));
  return one;
}

TEST_CASE("protocols: sweep and engine agree on programs with any figures") {
  size_t swept_count = 0;
  for (uint64_t seed = 0; seed < tries(150); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Scenario scenario = read_scenario("f", random_op(random).text());
    Diagnostics diagnostics("f");
    Paths paths(scenario.cluster.fabric);
    const Lowered lowered = lower(scenario.program, scenario.cluster, paths, diagnostics);
    diagnostics.throw_if_any();
    const Completion run = simulate(scenario.program, lowered, scenario.cluster.fabric, {});
    EngineOptions all_shared;
    all_shared.share_all_links = true;
    CHECK(simulate(scenario.program, lowered, scenario.cluster.fabric, all_shared).spans ==
          run.spans);
    const Demands demanded = demands(lowered, paths);
    SweepOptions options;
    options.check_capacity = &demanded;
    const auto swept = sweep(scenario.program, lowered, paths, options);
    if (const auto* completion = std::get_if<Completion>(&swept)) {
      CHECK(completion->spans == run.spans);
      CHECK(completion->digest == run.digest);
      ++swept_count;
    }
  }
  CHECK(swept_count > 0);
}

}  // namespace
}  // namespace orrery::test
