// Tests --cluster-figure: its effect, its labels in reports, and its errors.

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/diagnostics.h"
#include "models/scenario/cluster_json.h"
#include "tests/support/units.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tools/cli/overrides.h"

namespace orrery::test {
namespace {

const char* const kRing =
    R"({"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"})";

/// Returns a scenario in which device 0 sends device 1 a message of 2,000 B.
std::string scenario_on(const std::string& cluster, const std::string& more = "") {
  return R"({"orrery": 1, "name": "one message", "cluster": )" + cluster + R"(, "mesh": {"x": 2},
"arrays": {"a": {"shape": [4000], "dtype": "s8", "spec": ["x"], "init": "iota"}},
"program": [{"id": "r", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1]]}])" +
         more + "}\n";
}

std::vector<std::string> with_settings(std::vector<std::string> arguments,
                                       const std::vector<std::string>& settings) {
  for (const std::string& setting : settings)
    arguments.insert(arguments.end(), {"--cluster-figure", setting});
  return arguments;
}

struct Timed {
  int64_t makespan = 0;             // in picoseconds
  std::vector<std::string> labels;  // those with "(--cluster-figure, this run)"
};

/// Runs a scenario with these figures set, and returns its report. The run must hold.
Timed timed(const std::string& scenario, const std::vector<std::string>& settings) {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", scenario);
  const Ran run = ran(with_settings({"run", file, "--format", "json"}, settings));
  CHECK(run.err == "");
  REQUIRE(run.outcome == Outcome::Holds);
  const nlohmann::json report = nlohmann::json::parse(run.out);
  Timed result{report["time"]["makespan_ps"], {}};
  for (const std::string label : report["labels"])
    if (label.find("(--cluster-figure, this run)") != std::string::npos)
      result.labels.push_back(label);
  return result;
}

/// Returns the message, without "--cluster-figure: ", of a run that ends with wrong input.
std::string refused(const std::string& setting, const std::string& cluster = kRing) {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", scenario_on(cluster));
  const Ran run = ran(with_settings({"run", file}, {setting}));
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out == "");
  const std::string begin = "--cluster-figure: ";
  CHECK(run.err.starts_with(begin));
  CHECK(run.err.ends_with("\n"));
  return run.err.substr(begin.size(), run.err.size() - begin.size() - 1);
}

TEST_CASE("cluster figure: the time with it is that of a cluster which has it") {
  const std::string scenario = scenario_on(kRing);
  const auto time = [&](const std::vector<std::string>& settings) {
    return timed(scenario, settings).makespan;
  };
  // 2,000 B take 2 us, and the latency is 1 us more.
  CHECK(time({}) == 3 * kUs);
  CHECK(time({"latency=2 us"}) == 4 * kUs);
  CHECK(time({"latency=0 us"}) == 2 * kUs);
  CHECK(time({"bandwidth=0.5 GB/s"}) == 5 * kUs);
  CHECK(time({"launch=5 us"}) == 8 * kUs);
  CHECK(time({"bandwidth=0.5 GB/s", "launch=5 us"}) == 10 * kUs);
  // The last setting of a figure counts.
  CHECK(time({"latency=2 us", "latency=5 us"}) == 7 * kUs);
}

TEST_CASE("cluster figure: reports label those that are set as overridden, and no others") {
  const std::string scenario = scenario_on(kRing);
  CHECK(timed(scenario, {}).labels == std::vector<std::string>{});
  CHECK(timed(scenario, {"latency=2 us"}).labels ==
        std::vector<std::string>{"latency: overridden (--cluster-figure, this run)"});
  // Figures are listed by name, each once.
  CHECK(timed(scenario, {"latency=2 us", "bandwidth=2 GB/s", "latency=3 us"}).labels ==
        std::vector<std::string>{"bandwidth, latency: overridden (--cluster-figure, this run)"});
}

TEST_CASE("cluster figure: in place of a figure with a source, whose label goes") {
  const std::string cluster = R"({"devices": 2, "topology": "ring", "bandwidth": "1 GB/s",
"latency": {"value": "1 us", "label": "calibrated", "source": "a table", "date": "2026"},
"launch": {"value": "1 us", "label": "calibrated", "source": "a table", "date": "2026"}})";
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", scenario_on(cluster));
  const Ran run = ran(with_settings({"run", file}, {"latency=2 us"}));
  CHECK(run.out.find("· launch: calibrated (a table, 2026)") != std::string::npos);
  CHECK(run.out.find("· latency: overridden (--cluster-figure, this run)") != std::string::npos);
}

/// On this cluster, a protocol adds 4 us to the launch of the message. It is the only protocol.
const char* const kTransport =
    R"({"devices": 2, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
"transport": {"protocols": {"mine": {"launch": "4 us", "slot": "4 KiB"}}}})";

TEST_CASE("cluster figure: of a protocol") {
  const std::string scenario = scenario_on(kTransport);
  CHECK(timed(scenario, {}).makespan == (4 + 3) * kUs);
  const Timed launch = timed(scenario, {"transport/mine/launch=6 us"});
  CHECK(launch.makespan == (6 + 3) * kUs);
  CHECK(launch.labels ==
        std::vector<std::string>{"transport/mine/launch: overridden (--cluster-figure, this run)"});
  CHECK(timed(scenario, {"transport/mine/latency=9 us"}).makespan == (4 + 3 + 9) * kUs);
  // Half of the bytes that the link carries are flags.
  CHECK(timed(scenario, {"transport/mine/efficiency=1/2"}).makespan == (4 + 1 + 4) * kUs);
  CHECK(timed(scenario, {"transport/mine/efficiency=1"}).makespan == (4 + 3) * kUs);
}

TEST_CASE("cluster figure: a protocol's slot is that of the messages and of memory") {
  const std::string scenario = scenario_on(kTransport, R"(, "memory": {"transport": true})");
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", scenario);
  const auto output = [&](const std::string& setting) {
    return ran(with_settings({"run", file}, {setting})).out;
  };
  // A connection has two slots by default.
  CHECK(output("transport/mine/launch=1 us").find("reserved 8 KiB (transport buffers)") !=
        std::string::npos);
  CHECK(output("transport/mine/slot=2 KiB").find("reserved 4 KiB (transport buffers)") !=
        std::string::npos);
  CHECK(output("transport/mine/slots=5").find("reserved 20 KiB (transport buffers)") !=
        std::string::npos);
}

TEST_CASE("cluster figure: what a scenario itself has wrong is told where it is in its file") {
  const std::string cluster = R"({"devices": 2, "topology": "ring", "bandwidth": "1 GB/s",
"latency": "1 us", "transport": {"protocols": {
"mine": {"slot": "1152921504606846977 B"}}}})";
  const TemporaryFolder folder;
  const std::string file =
      folder.file("s.json", scenario_on(cluster, R"(, "memory": {"transport": true})"));
  // This is the place of the value of "slot".
  const std::string place = ":3:18: /cluster/transport/protocols/mine/slot: expected at most ";
  CHECK(ran({"run", file}).err.starts_with(file + place));
  CHECK(ran(with_settings({"run", file}, {"latency=2 us"})).err.starts_with(file + place));
  // A figure that is set has no place in the file.
  CHECK(ran(with_settings({"run", file}, {"transport/mine/slot=1152921504606846976 B"}))
            .err.starts_with(file + ": expected at most "));
}

TEST_CASE("cluster figure: a cluster of the catalog") {
  const std::string scenario = scenario_on("\"a100-sxm-8\"");
  const int64_t before = timed(scenario, {}).makespan;
  // The cluster's launch comes before that of its protocols, so it adds to the time.
  CHECK(timed(scenario, {"launch=1 us"}).makespan == before + kUs);
}

TEST_CASE("cluster figure: all else of a cluster stays, its name too") {
  for (const CatalogFile& entry : catalog()) {
    CAPTURE(entry.name);
    Cluster expected = *catalog_cluster(entry.name);
    const Cluster made = with_figures(expected, {"memory=5 B"}, {});
    expected.device.memory = Bytes(5);
    CHECK(made.name == expected.name);
    CHECK(made.device == expected.device);
    CHECK(made.transport == expected.transport);
    CHECK(made.fabric.devices() == expected.fabric.devices());
    CHECK(made.fabric.links() == expected.fabric.links());
    CHECK(made.fabric.switch_names() == expected.fabric.switch_names());
    CHECK(std::equal(made.fabric.reducing_switches().begin(), made.fabric.reducing_switches().end(),
                     expected.fabric.reducing_switches().begin(),
                     expected.fabric.reducing_switches().end()));
  }
}

Cluster ring_with(const std::vector<std::string>& settings) {
  const DeviceFigures none;
  return with_figures(
      {"ring of 2", ring_fabric(2, {BytesPerSecond(1'000'000'000), Duration(kUs)}), none}, settings,
      {});
}

TEST_CASE("cluster figure: every figure of a cluster") {
  const Cluster made =
      ring_with({"bandwidth=2 B/s", "latency=3 us", "memory=4 B", "memory_bandwidth=5 B/s",
                 "launch=6 us", "reduce_rate=7 B/s", "copy_rate=8 B/s", "flops/bf16=9 FLOP/s"});
  CHECK(made.fabric.links()[0].bandwidth == BytesPerSecond(2));
  CHECK(made.fabric.links()[0].latency == Duration(3 * kUs));
  CHECK(made.device.memory == Bytes(4));
  CHECK(made.device.memory_bandwidth == BytesPerSecond(5));
  CHECK(made.device.launch == Duration(6 * kUs));
  CHECK(made.device.reduce_rate == BytesPerSecond(7));
  CHECK(made.device.copy_rate == BytesPerSecond(8));
  const std::map<Dtype, FlopsPerSecond> flops = {{Dtype::BF16, FlopsPerSecond(9)}};
  CHECK(made.device.flops == flops);
  CHECK(made.sources.size() == 8);
}

TEST_CASE("cluster figure: a dtype by any of its names is one figure") {
  const Cluster made = ring_with({"flops/bf16=9 FLOP/s", "flops/bfloat16=10 FLOP/s"});
  const std::map<Dtype, FlopsPerSecond> flops = {{Dtype::BF16, FlopsPerSecond(10)}};
  CHECK(made.device.flops == flops);
  REQUIRE(made.sources.size() == 1);
  CHECK(made.sources[0].figure == "flops/bf16");
}

TEST_CASE("cluster figure: every figure of a transport") {
  Cluster cluster = ring_with({});
  cluster.transport.emplace().protocols.emplace_back().name = "mine";
  const Cluster made = with_figures(cluster,
                                    {"transport/mine/efficiency=2/3",
                                     "transport/mine/slot=96 B",
                                     "transport/mine/slots=5",
                                     "transport/mine/channels=7",
                                     "transport/mine/channel_bytes=11 B",
                                     "transport/mine/launch=1 us",
                                     "transport/mine/channel_launch=2 us",
                                     "transport/mine/peer_launch=3 us",
                                     "transport/mine/overhead=4 us",
                                     "transport/mine/latency=5 us",
                                     "transport/mine/channel_rate=6 B/s",
                                     "transport/mine/reduce_rate=7 B/s",
                                     "transport/mine/store_rate=8 B/s",
                                     "transport/mine/copy_rate=10 B/s",
                                     "transport/mine/forward_rate=12 B/s",
                                     "transport/mine/forward_reduce_rate=13 B/s",
                                     "transport/mine/network/overhead=14 us",
                                     "transport/mine/network/latency=15 us",
                                     "transport/mine/network/channel_rate=16 B/s",
                                     "transport/host_launch/psum=9 us"},
                                    {});
  TransportFigures expected;
  ProtocolFigures& mine = expected.protocols.emplace_back();
  mine.name = "mine";
  mine.share = {2, 3};
  mine.slot = Bytes(96);
  mine.slots = 5;
  mine.channels = 7;
  mine.channel_bytes = Bytes(11);
  mine.launch = Duration(1 * kUs);
  mine.channel_launch = Duration(2 * kUs);
  mine.peer_launch = Duration(3 * kUs);
  mine.overhead = Duration(4 * kUs);
  mine.latency = Duration(5 * kUs);
  mine.channel_rate = BytesPerSecond(6);
  mine.reduce_rate = BytesPerSecond(7);
  mine.store_rate = BytesPerSecond(8);
  mine.copy_rate = BytesPerSecond(10);
  mine.forward_rate = BytesPerSecond(12);
  mine.forward_reduce_rate = BytesPerSecond(13);
  mine.network = {Duration(14 * kUs), Duration(15 * kUs), BytesPerSecond(16)};
  expected.host_launch = {{"psum", Duration(9 * kUs)}};
  CHECK(made.transport == expected);
}

TEST_CASE("cluster figure: what connections of a kind take") {
  Cluster cluster = ring_with({});
  cluster.transport.emplace();
  cluster.transport->protocols.emplace_back().name = "mine";
  const Cluster made = with_figures(
      cluster,
      {"transport/connections/sends/channels=14", "transport/connections/sends/receiver=15 B",
       "transport/connections/sends/sender=16 B"},
      {});
  cluster.transport->connections = {{ConnectionKind::Sends, {14, Bytes(15), Bytes(16)}}};
  CHECK(made.transport == cluster.transport);
}

TEST_CASE("cluster figure: links that are equal are one, others have their own figures") {
  const std::string begin =
      R"({"devices": 2, "bandwidth": "1 GB/s", "latency": "1 us", "links": [)";
  // These are the two links of a ring of two devices.
  CHECK(timed(scenario_on(begin + R"({"from": 0, "to": 1}, {"from": 1, "to": 0}]})"),
              {"latency=2 us"})
            .makespan == 4 * kUs);
  const std::string own =
      begin + R"({"from": 0, "to": 1}, {"from": 1, "to": 0, "latency": "9 us"}]})";
  CHECK(refused("latency=2 us", own) == "latency: each link of the cluster has its own");
  CHECK(refused("bandwidth=2 GB/s", own) == "bandwidth: each link of the cluster has its own");
  const std::string by_rule =
      R"({"topology": {"torus": [2, 1]}, "bandwidth": "1 GB/s", "latency": "1 us"})";
  CHECK(refused("latency=2 us", by_rule) ==
        "latency: the topology states the figures of its links");
  CHECK(timed(scenario_on(own), {"launch=5 us"}).makespan == (5 + 3) * kUs);
}

const std::string kNames =
    "expected bandwidth, latency, memory, memory_bandwidth, launch, reduce_rate, copy_rate, "
    "flops/DTYPE, efficiency/.., cores/.., transport/PROTOCOL/FIGURE, "
    "transport/PROTOCOL/network/FIGURE, "
    "transport/host_launch/OP or "
    "transport/connections/KIND/FIGURE, got ";

TEST_CASE("cluster figure: of cores") {
  const std::string scenario = R"({"orrery": 1, "mesh": {"x": 1},
 "cluster": {"devices": 1, "topology": "ring", "memory_bandwidth": "1 GB/s"},
 "arrays": {"a": {"shape": [1000], "dtype": "f32"}},
 "program": [{"id": "m", "op": "mpmd_map", "of": "a", "out": [],
  "scratch": {"t": {"shape": [1000], "dtype": "f32", "space": "vmem"}},
  "functions": [{"mesh": {"type": "scalar", "name": "z", "core_axis": "c", "cores": 1},
   "body": [{"op": "add", "of": ["t", "t"], "to": "t"}]}]}]})";
  // 12,000 bytes of vmem are read and written.
  CHECK(timed(scenario, {}).makespan == 12 * kUs);
  CHECK(timed(scenario, {"cores/scalar/spaces/vmem/bandwidth=2 GB/s"}).makespan == 6 * kUs);
  CHECK(timed(scenario, {"cores/scalar/launch=5 us"}).makespan == (5 + 12) * kUs);
  CHECK(timed(scenario, {"cores/scalar/flops/float32=50 MFLOP/s"}).makespan == 20 * kUs);
  // The op runs on one core. On a cluster of one a mesh of two is refused.
  CHECK(timed(scenario, {"cores/scalar/cores=1"}).makespan == 12 * kUs);
  std::string two = scenario;
  two.replace(two.find(R"("cores": 1)"), 10, R"("cores": 2)");
  const TemporaryFolder folder;
  const Ran refusal =
      ran({"run", folder.file("two.json", two), "--cluster-figure", "cores/scalar/cores=1"});
  CHECK(refusal.outcome == Outcome::WrongInput);
  CHECK(
      refusal.err.find("expected at most 1 scalar cores, which the cluster has, got 2 of \"z\"") !=
      std::string::npos);
  CHECK(timed(scenario, {"cores/scalar/cores=1", "cores/vector/subcores=2"}).makespan == 12 * kUs);
  CHECK(refused("cores/vector/subcores=none") ==
        "cores/vector/subcores: expected a number of subcores from 1 to 1000000, got \"none\"");
  CHECK(refused("cores=1") ==
        "expected cores/TYPE/FIGURE, cores/TYPE/flops/DTYPE or cores/TYPE/spaces/SPACE/FIGURE, got "
        "\"cores\"");
  CHECK(refused("cores/sclar/launch=1 us") ==
        "cores/sclar/launch: expected one of tensor, scalar, vector, got \"sclar\"; did you mean "
        "\"scalar\"?");
}

TEST_CASE("cluster figure: names that are none") {
  CHECK(refused("latencyy=2 us") == kNames + "\"latencyy\"; did you mean \"latency\"?");
  for (const char* const name :
       {"", "a", "name", "devices", "transport", "flops", "/", "//", "///", "transport/",
        "transport/mine", "flops/bf16/x", "transport/mine/latency/x", "links/mine/latency"})
    CHECK(refused(std::string(name) + "=1 us") == kNames + "\"" + name + "\"");
}

TEST_CASE("cluster figure: what is no setting") {
  for (const char* const setting : {"", "latency", "2 us", "transport/mine/latency"})
    CHECK(refused(setting) == "expected NAME=VALUE, got \"" + std::string(setting) + "\"");
  // The settings have a byte that is not UTF-8, an escape, a line feed, and DEL.
  for (const char* const setting : {"latency=\xff", "\xff=1 us", "flops/\xff=1", "\x1b[31m=1 us",
                                    "latency=2\nus", "latency=\x7f"})
    CHECK(refused(setting) == "expected NAME=VALUE in printable UTF-8");
}

TEST_CASE("cluster figure: values that are refused") {
  CHECK(refused("latency=") == "latency: expected a time such as \"1 us\", got \"\"");
  CHECK(refused("latency=1 GB") == "latency: expected a time such as \"1 us\", got \"1 GB\"");
  CHECK(refused("latency=2000") == "latency: expected a time such as \"1 us\", got \"2000\"");
  CHECK(refused("latency==2 us") == "latency: expected a time such as \"1 us\", got \"=2 us\"");
  CHECK(refused("latency=-1 us") == "latency: expected a time such as \"1 us\", got \"-1 us\"");
  CHECK(refused("bandwidth=2 us") ==
        "bandwidth: expected a rate such as \"50 GB/s\", got \"2 us\"");
  CHECK(refused("bandwidth=0 B/s") == "bandwidth: expected at least 1 B/s, got \"0 B/s\"");
  CHECK(refused("reduce_rate=0 B/s") == "reduce_rate: expected at least 1 B/s, got \"0 B/s\"");
  CHECK(refused("memory=0 B") == "memory: expected at least 1 B, got \"0 B\"");
  CHECK(refused("flops/bf16=0 FLOP/s") ==
        "flops/bf16: expected at least 1 FLOP/s, got \"0 FLOP/s\"");
}

TEST_CASE("cluster figure: dtypes that are none") {
  CHECK(refused("flops/NOTADTYPE=1 FLOP/s") ==
        "flops/NOTADTYPE: expected a dtype such as \"bf16\", got \"NOTADTYPE\"");
  CHECK(refused("flops/=1 FLOP/s") == "flops/: expected a dtype such as \"bf16\", got \"\"");
  CHECK(refused("flops/bf61=1 FLOP/s") ==
        "flops/bf61: expected a dtype such as \"bf16\", got \"bf61\"; did you mean \"bf16\"?");
}

TEST_CASE("cluster figure: of an efficiency") {
  // 2 * 64 * 64 * 64 flops at 1 TFLOP/s take 524.288 ns; at half of that, with a launch, 1.048576
  // us more than the launch.
  const std::string scenario = R"({"orrery": 1, "mesh": {"x": 1}, "check_types": false,
"cluster": {"devices": 1, "topology": "ring", "bandwidth": "1 GB/s", "latency": "0 s", "flops": {"f32": "1 TFLOP/s"}},
"arrays": {"a": {"shape": [64, 64], "dtype": "f32", "init": "zeros"}},
"program": [{"id": "c", "op": "dot_general", "of": ["a", "a"], "dimension_numbers": [[[1], [0]], [[], []]]}]})";
  CHECK(timed(scenario, {}).makespan == 524'288);
  CHECK(timed(scenario, {"efficiency/f32/share=1/2"}).makespan == 2 * 524'288);
  CHECK(timed(scenario, {"efficiency/float32/half_depth=64"}).makespan == 2 * 524'288);
  CHECK(timed(scenario, {"efficiency/f32/launch=5 us"}).makespan == 5 * kUs + 524'288);
  CHECK(refused("efficiency=1") ==
        "expected efficiency/memory, efficiency/DTYPE/FIGURE or efficiency/DTYPE/attention/FIGURE, "
        "got \"efficiency\"");
  CHECK(refused("efficiency/f61/share=1/2") ==
        "efficiency/f61/share: expected a dtype such as \"bf16\", got \"f61\"; did you mean "
        "\"f16\"?");
  CHECK(refused("efficiency/f32/half_keys=1") ==
        "efficiency/f32/half_keys: expected one of share, half_depth, half_side, launch, got "
        "\"half_keys\"");
  CHECK(refused("efficiency/f32/attention/half_side=1") ==
        "efficiency/f32/attention/half_side: expected one of share, half_keys, launch, got "
        "\"half_side\"");
}

TEST_CASE("cluster figure: of a transport, what is refused") {
  CHECK(refused("transport/mine/latency=1 us") ==
        "transport/mine/latency: the cluster has no transport");
  CHECK(refused("transport/host_launch/psum=1 us") ==
        "transport/host_launch/psum: the cluster has no transport");
  CHECK(refused("transport/miner/latency=1 us", kTransport) ==
        "transport/miner/latency: expected one of mine, got \"miner\"; did you mean \"mine\"?");
  CHECK(refused("transport//x=1", kTransport) == "transport//x: expected one of mine, got \"\"");
  const std::string figures =
      "expected one of slot, slots, channels, channel_bytes, pieces, launch, channel_launch, "
      "peer_launch, overhead, latency, channel_rate, reduce_rate, store_rate, copy_rate, "
      "efficiency, forward_rate, forward_reduce_rate, got ";
  CHECK(refused("transport/mine/latencyy=1 us", kTransport) ==
        "transport/mine/latencyy: " + figures + "\"latencyy\"; did you mean \"latency\"?");
  CHECK(refused("transport/mine/algorithms=ring", kTransport) ==
        "transport/mine/algorithms: " + figures + "\"algorithms\"");
  CHECK(refused("transport/mine/network/slots=1", kTransport) ==
        "transport/mine/network/slots: expected one of overhead, latency, channel_rate, got "
        "\"slots\"");
  CHECK(refused("transport/host_launch/psums=1 us", kTransport) ==
        "transport/host_launch/psums: expected one of psum, all_gather, psum_scatter, all_to_all, "
        "ppermute, pbroadcast, got \"psums\"; did you mean \"psum\"?");
  CHECK(refused("transport/connections/send/sender=1 B", kTransport) ==
        "transport/connections/send/sender: expected one of collectives, sends, in_switch, got "
        "\"send\"; did you mean \"sends\"?");
  CHECK(refused("transport/connections/sends/slots=1", kTransport) ==
        "transport/connections/sends/slots: expected one of channels, receiver, sender, got "
        "\"slots\"");
}

TEST_CASE("cluster figure: values of a protocol that are refused") {
  const std::string slots =
      "transport/mine/slots: expected a number of slots from 1 to 65536, got ";
  CHECK(refused("transport/mine/slots=0", kTransport) == slots + "0");
  CHECK(refused("transport/mine/slots=65537", kTransport) == slots + "65537");
  CHECK(refused("transport/mine/slots=-1", kTransport) == slots + "\"-1\"");
  CHECK(refused("transport/mine/slots=x", kTransport) == slots + "\"x\"");
  CHECK(refused("transport/mine/slots=99999999999999999999", kTransport) ==
        slots + "\"99999999999999999999\"");
  CHECK(refused("transport/mine/efficiency=3/2", kTransport) ==
        "transport/mine/efficiency: expected a share such as \"15/16\", at most 1, with terms up "
        "to 1000000, got \"3/2\"");
  CHECK(refused("transport/mine/slot=63 B", kTransport) ==
        "transport/mine/slot: expected at least 64 B, got \"63 B\"");
}

TEST_CASE("cluster figure: very long texts are refused") {
  const std::string many(100'000, 'a');
  CHECK(refused(many) == "expected NAME=VALUE, got \"" + many + "\"");
  CHECK(refused(many + "=1") == kNames + "\"" + many + "\"");
  const std::string ones(100'000, '1');
  CHECK(refused("latency=" + ones) ==
        "latency: expected at most 1024 B in a text, got 100000 B (--limit text=SIZE allows more)");
  const std::string slashes(100'000, '/');
  CHECK(refused(slashes + "=1") == kNames + "\"" + slashes + "\"");
}

TEST_CASE("cluster figure: in a JSON report an error has no place in a file") {
  const TemporaryFolder folder;
  const std::string file = folder.file("s.json", scenario_on(kRing));
  const Ran run = ran({"run", file, "--format", "json", "--cluster-figure", "latency=x"});
  CHECK(run.outcome == Outcome::WrongInput);
  CHECK(run.out.find(R"({"pointer":"","line":null,"column":null,)"
                     R"("message":"latency: expected a time such as \"1 us\", got \"x\""})") !=
        std::string::npos);
}

TEST_CASE("perf: a figure of the cluster, which the table names") {
  const TemporaryFolder folder;
  const std::string file = folder.file("ring.json", kRing);
  const std::vector<std::string> perf = {"perf", "sendrecv", "-g", "2",    "-b",        "2000",
                                         "-e",   "2000",     "-d", "int8", "--cluster", file};
  // The row has the size, the count, the type and so on, and the time in us: 2,000 B take 2 us, and
  // the latency is 3 us.
  const Ran run = ran(with_settings(perf, {"latency=3 us"}));
  CHECK(run.outcome == Outcome::Holds);
  CHECK(run.out.find("\n        2000          2000      int8     sum      -1     5.00 ") !=
        std::string::npos);
  CHECK(run.out.find("latency: overridden (--cluster-figure, this run)") != std::string::npos);
  const Ran wrong = ran(with_settings(perf, {"latency=3 GB"}));
  CHECK(wrong.outcome == Outcome::WrongInput);
  CHECK(wrong.err == "--cluster-figure: latency: expected a time such as \"1 us\", got \"3 GB\"\n");
}

TEST_CASE("perf: a host's launch that is set") {
  const TemporaryFolder folder;
  const std::string file = folder.file("ring.json", kTransport);
  const Ran run = ran(with_settings(
      {"perf", "sendrecv", "-g", "2", "-b", "2000", "-e", "2000", "-d", "int8", "--cluster", file},
      {"transport/host_launch/ppermute=5 us"}));
  // The devices take 7 us, and the host takes 5 us for each of two devices.
  CHECK(run.out.find("\n        2000          2000      int8     sum      -1    10.00 ") !=
        std::string::npos);
}

}  // namespace
}  // namespace orrery::test
