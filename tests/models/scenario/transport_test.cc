// Tests the transport of a cluster: how it is read and written, and the errors.

#include <functional>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/support.h"

namespace orrery::test {
namespace {

/// Returns a small scenario whose cluster has this transport, in line 2, column 86.
Small with_transport(const std::string& transport) {
  Small s;
  s.cluster = R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us",
"transport": )" +
              transport + "}";
  return s;
}
Small with_protocol(const std::string& figures) {
  return with_transport(R"({"protocols": {"mine": )" + figures + "}}");
}

TEST_CASE("transport: every figure of a protocol is read") {
  const Small s = with_transport(R"({"protocols": {
"mine": {"algorithms": "ring", "ops": "psum", "nodes": "several", "efficiency": "2/3", "slot": "96 B", "slots": 5,
"channels": 7, "channel_bytes": "11 B", "pieces": 9, "launch": "1 us", "channel_launch": "2 us", "peer_launch": "3 us",
"overhead": "4 us", "latency": "5 us", "channel_rate": "6 B/s", "reduce_rate": "7 B/s",
"store_rate": "8 B/s", "forward_rate": "12 B/s", "forward_reduce_rate": "13 B/s", "copy_rate": "10 B/s",
"network": {"overhead": "14 us", "latency": "15 us", "channel_rate": "16 B/s"}},
"ll128": {}, "ll": {"efficiency": "1"}}})");
  const Scenario scenario = read_scenario("f", s.text());
  REQUIRE(scenario.cluster.transport.has_value());
  const std::vector<ProtocolFigures>& protocols = scenario.cluster.transport->protocols;
  REQUIRE(protocols.size() == 3);
  ProtocolFigures mine;
  mine.name = "mine";
  mine.algorithms = {"ring"};
  mine.ops = {"psum"};
  mine.spans_nodes = true;
  mine.share = {2, 3};
  mine.slot = Bytes(96);
  mine.slots = 5;
  mine.channels = 7;
  mine.channel_bytes = Bytes(11);
  mine.pieces = 9;
  mine.launch = Duration(1'000'000);
  mine.channel_launch = Duration(2'000'000);
  mine.peer_launch = Duration(3'000'000);
  mine.overhead = Duration(4'000'000);
  mine.latency = Duration(5'000'000);
  mine.channel_rate = BytesPerSecond(6);
  mine.reduce_rate = BytesPerSecond(7);
  mine.store_rate = BytesPerSecond(8);
  mine.forward_rate = BytesPerSecond(12);
  mine.forward_reduce_rate = BytesPerSecond(13);
  mine.copy_rate = BytesPerSecond(10);
  mine.network = {Duration(14'000'000), Duration(15'000'000), BytesPerSecond(16)};
  CHECK(protocols[0] == mine);
  CHECK(mine.largest_message() == Bytes(64));
  // A protocol with the name of one of NCCL's has the flags of that, unless it says otherwise.
  CHECK(protocols[1].share == DataShare{15, 16});
  CHECK(protocols[2].share == DataShare{1, 1});
}

TEST_CASE("transport: it is written and read back, with the sources of its figures") {
  const Small s = with_transport(R"({"protocols": {
"ll": {"algorithms": ["ring", "direct"], "ops": ["psum", "all_gather"], "nodes": "one", "pieces": 3, "efficiency": "1", "slot": "96 B",
"slots": {"value": 5, "label": "calibrated", "source": "a table", "date": "2026-01-01"},
"channel_rate": {"value": "6 GB/s", "label": "data sheet", "source": "a sheet", "date": "2026"}},
"simple": {"launch": "1 us", "channel_launch": "2 us", "peer_launch": "3 us", "overhead": "4 us",
"latency": "5 us", "reduce_rate": "7 B/s", "store_rate": "8 B/s", "channels": 3,
"channel_bytes": "9 B", "copy_rate": "10 B/s", "forward_rate": "12 B/s", "forward_reduce_rate": "13 B/s",
"network": {"latency": {"value": "14 us", "label": "library default", "source": "n", "date": "d"},
"channel_rate": "16 B/s"},
"efficiency": {"value": "7/8", "label": "l", "source": "s", "date": "d"}}}})");
  const Scenario scenario = read_scenario("f", s.text());
  const std::string text = write_scenario(scenario);
  const Scenario again = read_scenario("f", text);
  CHECK(again.cluster.transport == scenario.cluster.transport);
  CHECK(again.cluster.sources == scenario.cluster.sources);
  CHECK(again.cluster.sources.size() == 4);
  CHECK(write_scenario(again) == text);
}

TEST_CASE(
    "transport: an efficiency that the protocol has anyway is written where it has a source") {
  const Small s = with_transport(R"({"protocols": {"ll": {
"efficiency": {"value": "1/2", "label": "calibrated", "source": "s", "date": "d"}}}})");
  const Scenario scenario = read_scenario("f", s.text());
  REQUIRE(scenario.cluster.sources.size() == 1);
  CHECK(read_scenario("f", write_scenario(scenario)).cluster.sources == scenario.cluster.sources);
}

const char* const kLaunches = R"({"protocols": {"ll": {}},
"host_launch": {"psum": "3 us", "ppermute":
{"value": "4 us", "label": "calibrated", "source": "a table", "date": "2026-01-01"}},
"calibrated": {"psum": {"least_ranks": 2, "most_ranks": 8, "least": "96 B", "most": "384 MiB"},
"all_gather": {"least_ranks": 3, "most_ranks": 3, "least": "5 B", "most": "5 B"}}})";

TEST_CASE("transport: launches of the host and calibrated ranges are read") {
  const Scenario scenario = read_scenario("f", with_transport(kLaunches).text());
  REQUIRE(scenario.cluster.transport.has_value());
  const TransportFigures& transport = *scenario.cluster.transport;
  const std::map<std::string, Duration, std::less<>> launches = {{"ppermute", Duration(4'000'000)},
                                                                 {"psum", Duration(3'000'000)}};
  CHECK(transport.host_launch == launches);
  const std::map<std::string, CalibratedRange, std::less<>> calibrated = {
      {"all_gather", {3, 3, Bytes(5), Bytes(5)}},
      {"psum", {2, 8, Bytes(96), Bytes(int64_t{384} << 20U)}}};
  CHECK(transport.calibrated == calibrated);
  REQUIRE(scenario.cluster.sources.size() == 1);
  CHECK(scenario.cluster.sources[0].figure == "transport/host_launch/ppermute");
}

TEST_CASE("transport: launches of the host and calibrated ranges are written and read back") {
  const Scenario scenario = read_scenario("f", with_transport(kLaunches).text());
  const std::string text = write_scenario(scenario);
  const Scenario again = read_scenario("f", text);
  CHECK(again.cluster.transport == scenario.cluster.transport);
  CHECK(again.cluster.sources == scenario.cluster.sources);
  CHECK(write_scenario(again) == text);
}

TEST_CASE("transport: without launches of the host and ranges their keys are not written") {
  const Scenario scenario = read_scenario("f", with_protocol("{}").text());
  const std::string text = write_scenario(scenario);
  CHECK(text.find("host_launch") == std::string::npos);
  CHECK(text.find("calibrated") == std::string::npos);
}

TEST_CASE("transport: memory counts that of the cluster, or one that it gives") {
  Small s = with_protocol(R"({"slot": "1 KiB"})");
  s.more = R"("memory": {"transport": true})";
  const Scenario counted = read_scenario("f", s.text());
  CHECK(counted.memory.counts_transport);
  CHECK_FALSE(counted.memory.transport.has_value());
  CHECK(read_scenario("f", write_scenario(counted)).memory == counted.memory);
  s.more = R"("memory": {"transport": false})";
  CHECK_FALSE(read_scenario("f", s.text()).memory.counts_transport);
  s.more = R"("memory": {"transport": {"protocol": "ll", "slot": "1 KiB"}})";
  const Scenario given = read_scenario("f", s.text());
  CHECK(given.memory.counts_transport);
  REQUIRE(given.memory.transport.has_value());
  CHECK(given.memory.transport->largest_message() == Bytes(512));
}

TEST_CASE("transport: what is refused") {
  const auto refused = [](const std::string& transport) {
    return refusal(with_transport(transport).text());
  };
  CHECK(refused("1") == "f:3:14: /cluster/transport: expected an object with \"protocols\", got 1");
  CHECK(refused("{}") == "f:3:14: /cluster/transport: missing key \"protocols\"");
  CHECK(refused(R"({"protocols": {}})") ==
        "f:3:28: /cluster/transport/protocols: expected at least one protocol, got an object");
  CHECK(refused(R"({"protocols": {"a": 1}})") ==
        "f:3:34: /cluster/transport/protocols/a: expected an object with the figures of a "
        "protocol, got 1");
  CHECK(refused(R"({"protocols": {"a": {}}, "protocol": {}})")
            .find("/cluster/transport/protocol: unknown key") != std::string::npos);
}

TEST_CASE("transport: names of protocols that figures could not be told by") {
  for (const std::string name : {"", "host_launch", "connections", "a/b"}) {
    const std::string got =
        refusal(with_transport("{\"protocols\": {\"" + name + "\": {}}}").text());
    CAPTURE(got);
    CHECK(got.find("expected a name of one or more characters, without \"/\", other than "
                   "\"host_launch\" and \"connections\", got \"" +
                   name + "\"") != std::string::npos);
  }
}

TEST_CASE("transport: figures of a protocol that are refused") {
  struct Row {
    const char* figures;
    const char* expected;
  };
  const Row rows[] = {
      {R"({"efficiency": "3/2"})",
       "efficiency: expected a share such as \"15/16\", at most 1, with "
       "terms up to 1000000, got \"3/2\""},
      {R"({"efficiency": "0/2"})", "got \"0/2\""},
      {R"({"efficiency": "1/0"})", "got \"1/0\""},
      {R"({"efficiency": "1/"})", "got \"1/\""},
      {R"({"efficiency": "-1/2"})", "got \"-1/2\""},
      {R"({"efficiency": "1/1000001"})", "got \"1/1000001\""},
      {R"({"efficiency": 0.5})", "got 0.5"},
      {R"({"slot": "63 B"})", "slot: expected at least 64 B, got \"63 B\""},
      {R"({"slots": 0})", "slots: expected a number of slots from 1 to 65536, got 0"},
      {R"({"slots": 65537})", "got 65537"},
      {R"({"channels": 0})", "channels: expected a number of channels from 1 to 1024, got 0"},
      {R"({"channels": 1025})", "got 1025"},
      {R"({"channel_bytes": "0 B"})", "channel_bytes: expected at least 1 B, got \"0 B\""},
      {R"({"channel_rate": "0 B/s"})", "channel_rate: expected at least 1 B/s, got \"0 B/s\""},
      {R"({"store_rate": "0 B/s"})", "store_rate: expected at least 1 B/s, got \"0 B/s\""},
      {R"({"latency": "1 GB"})", "latency: expected a time such as"},
      {R"({"ops": "pmax"})",
       "expected one of psum, all_gather, psum_scatter, all_to_all, ppermute, "
       "pbroadcast, got \"pmax\""},
      {R"({"ops": []})", "ops: expected an op or several, or no such key, got an empty list"},
      {R"({"algorithms": []})",
       "algorithms: expected an algorithm or several, or no such key, got an empty list"},
      {R"({"copy_rate": "0 B/s"})", "copy_rate: expected at least 1 B/s, got \"0 B/s\""},
      {R"({"pieces": 0})", "pieces: expected a number of pieces from 1 to 65536, got 0"},
      {R"({"algorithms": 3})", "algorithms: expected an algorithm or a list of them, got 3"},
      {R"({"slots": {"value": 2}})", "missing key \"label\""},
      {R"({"nodes": 2})", "nodes: expected \"one\" or \"several\", got 2"},
      {R"({"network": 3})",
       "network: expected an object with \"overhead\", \"latency\" and \"channel_rate\", got 3"},
      {R"({"network": {"slots": 3}})", "network/slots: unknown key \"slots\""},
      {R"({"network": {"channel_rate": "0 B/s"}})",
       "network/channel_rate: expected at least 1 B/s, got \"0 B/s\""},
      {R"({"slotz": 2})", "unknown key \"slotz\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.figures);
    const std::string got = refusal(with_protocol(row.figures).text());
    CAPTURE(got);
    CHECK(got.find("/cluster/transport/protocols/mine") != std::string::npos);
    CHECK(got.find(row.expected) != std::string::npos);
  }
}

/// Returns the refusal of a value under a key of a transport, which begins in line 3, column 14.
/// The pointer of that key is left out.
std::string refusal_under(const std::string& key, const std::string& value) {
  const std::string got =
      refusal(with_transport(R"({"protocols": {"a": {}}, ")" + key + "\": " + value + "}").text());
  const std::string begin = "f:3:";
  const std::string pointer = ": /cluster/transport/" + key;
  const size_t at = got.find(pointer);
  CHECK(got.starts_with(begin));
  REQUIRE(at != std::string::npos);
  return got.substr(begin.size(), at - begin.size()) + " " + got.substr(at + pointer.size());
}

TEST_CASE("transport: launches of the host that are refused") {
  // The key begins in column 39, its value in 54, the first key of that in 55, and its value in 63.
  const std::string ops =
      "expected one of psum, all_gather, psum_scatter, all_to_all, ppermute, pbroadcast as key, ";
  struct Row {
    const char* value;
    std::string expected;
  };
  const Row rows[] = {
      {"1", "54 : expected an object with a time per op, got 1"},
      {R"({"pmax": "1 us"})", "55 /pmax: " + ops + "got \"pmax\""},
      {R"({"psums": "1 us"})", "55 /psums: " + ops + "got \"psums\"; did you mean \"psum\"?"},
      {R"({"add": "1 us"})", "55 /add: " + ops + "got \"add\""},
      {R"({"psum": 1})", R"(63 /psum: expected a time such as "1 us", got 1)"},
      {R"({"psum": "1 GB"})", R"(63 /psum: expected a time such as "1 us", got "1 GB")"},
      {R"({"psum": "-1 us"})", R"(63 /psum: expected a time such as "1 us", got "-1 us")"},
      {R"({"psum": {"value": "1 us", "label": "l", "source": "s"}})",
       R"(63 /psum: missing key "date")"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.value);
    CHECK(refusal_under("host_launch", row.value) == row.expected);
  }
}

TEST_CASE("transport: calibrated ranges that are refused") {
  // The key's value begins in column 53, the first key of that in 54, and its value in 62.
  CHECK(refusal_under("calibrated", "1") == "53 : expected an object with a range per op, got 1");
  CHECK(refusal_under("calibrated", R"({"pmean": {}})") ==
        "54 /pmean: expected one of psum, all_gather, psum_scatter, all_to_all, ppermute, "
        "pbroadcast as key, got \"pmean\"");
  CHECK(
      refusal_under("calibrated", R"({"psum": 1})") ==
      R"(62 /psum: expected an object with "least_ranks", "most_ranks", "least" and "most", got 1)");
  struct Row {
    const char* range;
    const char* expected;
  };
  const Row rows[] = {
      {R"("most_ranks": 1, "least": "1 B", "most": "1 B")",
       R"(62 /psum: missing key "least_ranks")"},
      {R"("least_ranks": 1, "least": "1 B", "most": "1 B")",
       R"(62 /psum: missing key "most_ranks")"},
      {R"("least_ranks": 1, "most_ranks": 1, "most": "1 B")", R"(62 /psum: missing key "least")"},
      {R"("least_ranks": 1, "most_ranks": 1, "least": "1 B")", R"(62 /psum: missing key "most")"},
      {R"("least_ranks": 0, "most_ranks": 1, "least": "1 B", "most": "1 B")",
       "78 /psum/least_ranks: expected a number of ranks from 1 to 4294967295, got 0"},
      {R"("least_ranks": 1, "most_ranks": 4294967296, "least": "1 B", "most": "1 B")",
       "95 /psum/most_ranks: expected a number of ranks from 1 to 4294967295, got 4294967296"},
      {R"("least_ranks": 1, "most_ranks": 1.5, "least": "1 B", "most": "1 B")",
       "95 /psum/most_ranks: expected a number of ranks from 1 to 4294967295, got 1.5"},
      {R"("least_ranks": 3, "most_ranks": 2, "least": "1 B", "most": "1 B")",
       "62 /psum: expected the least to be at most the most"},
      {R"("least_ranks": 1, "most_ranks": 1, "least": "2 B", "most": "1 B")",
       "62 /psum: expected the least to be at most the most"},
      {R"("least_ranks": 1, "most_ranks": 1, "least": "1 us", "most": "1 B")",
       R"(107 /psum/least: expected a size such as "80 GiB", got "1 us")"},
      {R"("least_ranks": 1, "most_ranks": 1, "least": "1 B", "most": 1)",
       R"(122 /psum/most: expected a size such as "80 GiB", got 1)"},
      {R"("least_ranks": 1, "most_ranks": 1, "least": "1 B", "most": "1 B", "mean": "1 B")",
       R"(129 /psum/mean: unknown key "mean"; expected one of "least_ranks", "most_ranks", "least", )"
       R"("most")"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.range);
    CHECK(refusal_under("calibrated", std::string("{\"psum\": {") + row.range + "}}") ==
          row.expected);
  }
}

TEST_CASE("transport: connections that are refused") {
  // The key's value begins in column 54, that of its first key in 63.
  struct Row {
    const char* value;
    const char* expected;
  };
  const Row rows[] = {
      {"1", "54 : expected an object with \"collectives\", \"sends\", \"in_switch\", got 1"},
      {R"({"rings": {}})",
       "55 /rings: unknown key \"rings\"; expected one of \"collectives\", \"sends\", "
       "\"in_switch\""},
      {R"({"sends": 1})",
       "64 /sends: expected an object with \"channels\", \"receiver\", \"sender\", got 1"},
      {R"({"sends": {"channels": 0}})",
       "77 /sends/channels: expected a number of channels from 1 to 1024, got 0"},
      {R"({"sends": {"receiver": "1152921504606846977 B"}})",
       "77 /sends/receiver: expected at most 1048576 TiB, got \"1152921504606846977 B\""},
      {R"({"sends": {"slot": "1 B"}})",
       "65 /sends/slot: unknown key \"slot\"; expected one of \"channels\", \"receiver\", "
       "\"sender\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.value);
    CHECK(refusal_under("connections", row.value) == row.expected);
  }
}

TEST_CASE("transport: connections are read, written and read back") {
  const Scenario scenario = read_scenario("f", with_transport(R"({"protocols": {"ll": {}},
"connections": {"sends": {"channels": 5, "receiver": "10 MiB", "sender": "0 B"}, "collectives": {
"receiver": {"value": "3 B", "label": "library default", "source": "code", "date": "2026-01-01"}},
"in_switch": {}}})")
                                                   .text());
  const std::map<ConnectionKind, ConnectionFigures> expected = {
      {ConnectionKind::Collectives, {{}, Bytes(3), {}}},
      {ConnectionKind::Sends, {5, Bytes(10 << 20), Bytes(0)}},
      {ConnectionKind::InSwitch, {}}};
  CHECK(scenario.cluster.transport->connections == expected);
  REQUIRE(scenario.cluster.sources.size() == 1);
  CHECK(scenario.cluster.sources[0].figure == "transport/connections/collectives/receiver");
  const std::string text = write_scenario(scenario);
  const Scenario again = read_scenario("f", text);
  CHECK(again.cluster.transport == scenario.cluster.transport);
  CHECK(again.cluster.sources == scenario.cluster.sources);
  CHECK(write_scenario(again) == text);
}

TEST_CASE("transport: memory may give channels, alone or with a protocol and its slot") {
  Small s = with_protocol(R"({"slot": "1 KiB"})");
  s.more = R"("memory": {"transport": {"channels": 16}})";
  const Scenario alone = read_scenario("f", s.text());
  CHECK(alone.memory.counts_transport);
  CHECK(alone.memory.channels == 16);
  CHECK_FALSE(alone.memory.transport.has_value());
  CHECK(read_scenario("f", write_scenario(alone)).memory == alone.memory);
  s.more = R"("memory": {"transport": {"channels": 3, "protocol": "ll", "slot": "1 KiB"}})";
  const Scenario both = read_scenario("f", s.text());
  CHECK(both.memory.channels == 3);
  REQUIRE(both.memory.transport.has_value());
  CHECK(read_scenario("f", write_scenario(both)).memory == both.memory);
}

TEST_CASE("transport: memory counts connections where protocols have no slots") {
  const std::string begin = R"({"protocols": {"a": {}}, "connections": {)";
  Small given = with_transport(begin + R"("collectives": {"receiver": "1 B"},
"sends": {"receiver": "1 B"}}})");
  given.more = R"("memory": {"transport": true})";
  CHECK(read_scenario("f", given.text()).memory.counts_transport);
  Small without_sends = with_transport(begin + R"("collectives": {"receiver": "1 B"}}})");
  without_sends.more = given.more;
  CHECK(refusal(without_sends.text()).find("/memory/transport: expected a cluster") !=
        std::string::npos);
}

TEST_CASE("transport: memory cannot count a transport that has no slots") {
  const char* const kExpected =
      "/memory/transport: expected a cluster with a \"transport\" that has \"connections\" or "
      "whose protocols have slots, or \"protocol\" and \"slot\" here, got true";
  Small without;
  without.more = R"("memory": {"transport": true})";
  CHECK(refusal(without.text()) == std::string("f:6:25: ") + kExpected);
  Small one = with_transport(R"({"protocols": {"a": {"slot": "1 KiB"}, "b": {}}})");
  one.more = R"("memory": {"transport": true})";
  CHECK(refusal(one.text()) == std::string("f:7:25: ") + kExpected);
}

}  // namespace
}  // namespace orrery::test
