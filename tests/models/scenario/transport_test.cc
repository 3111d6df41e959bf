// The transport of a cluster: how it is read and written, and what is refused.

#include <string>

#include <doctest/doctest.h>

#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/support.h"

namespace orrery::test {
namespace {

/// A small scenario whose cluster has this transport. It stands in line 2, column 86.
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
"mine": {"algorithms": "ring", "ops": "psum", "efficiency": "2/3", "slot": "96 B", "slots": 5,
"channels": 7, "channel_bytes": "11 B", "pieces": 9, "launch": "1 us", "channel_launch": "2 us", "peer_launch": "3 us",
"overhead": "4 us", "latency": "5 us", "channel_rate": "6 B/s", "reduce_rate": "7 B/s",
"store_rate": "8 B/s"},
"ll128": {}, "ll": {"efficiency": "1"}}})");
  const Scenario scenario = read_scenario("f", s.text());
  REQUIRE(scenario.cluster.transport.has_value());
  const std::vector<ProtocolFigures>& protocols = scenario.cluster.transport->protocols;
  REQUIRE(protocols.size() == 3);
  ProtocolFigures mine;
  mine.name = "mine";
  mine.algorithms = {"ring"};
  mine.ops = {"psum"};
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
  CHECK(protocols[0] == mine);
  CHECK(mine.largest_message() == Bytes(64));
  // Those that are named as one of NCCL's have its flags, unless they say otherwise.
  CHECK(protocols[1].share == DataShare{15, 16});
  CHECK(protocols[2].share == DataShare{1, 1});
}

TEST_CASE("transport: it is written and read back, with the sources of its figures") {
  const Small s = with_transport(R"({"protocols": {
"ll": {"algorithms": ["ring", "direct"], "ops": ["psum", "all_gather"], "pieces": 3, "efficiency": "1", "slot": "96 B",
"slots": {"value": 5, "label": "calibrated", "source": "a table", "date": "2026-01-01"},
"channel_rate": {"value": "6 GB/s", "label": "data sheet", "source": "a sheet", "date": "2026"}},
"simple": {"launch": "1 us", "channel_launch": "2 us", "peer_launch": "3 us", "overhead": "4 us",
"latency": "5 us", "reduce_rate": "7 B/s", "store_rate": "8 B/s", "channels": 3,
"channel_bytes": "9 B",
"efficiency": {"value": "7/8", "label": "l", "source": "s", "date": "d"}}}})");
  const Scenario scenario = read_scenario("f", s.text());
  const std::string text = write_scenario(scenario);
  const Scenario again = read_scenario("f", text);
  CHECK(again.cluster.transport == scenario.cluster.transport);
  CHECK(again.cluster.sources == scenario.cluster.sources);
  CHECK(again.cluster.sources.size() == 3);
  CHECK(write_scenario(again) == text);
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
      {R"({"ops": "pmax"})", "expected one of psum, all_gather, psum_scatter, all_to_all, ppermute, "
                             "pbroadcast, got \"pmax\""},
      {R"({"pieces": 0})", "pieces: expected a number of pieces from 1 to 65536, got 0"},
      {R"({"algorithms": 3})", "algorithms: expected an algorithm or a list of them, got 3"},
      {R"({"slots": {"value": 2}})", "missing key \"label\""},
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

TEST_CASE("transport: memory cannot count a transport that has no slots") {
  const char* const kExpected =
      "/memory/transport: expected a cluster with a \"transport\" whose protocols have slots, or "
      "\"protocol\" and \"slot\" here, got true";
  Small without;
  without.more = R"("memory": {"transport": true})";
  CHECK(refusal(without.text()) == std::string("f:6:25: ") + kExpected);
  Small one = with_transport(R"({"protocols": {"a": {"slot": "1 KiB"}, "b": {}}})");
  one.more = R"("memory": {"transport": true})";
  CHECK(refusal(one.text()) == std::string("f:7:25: ") + kExpected);
}

}  // namespace
}  // namespace orrery::test
