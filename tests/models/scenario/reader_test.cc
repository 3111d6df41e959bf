#include "models/scenario/reader.h"

#include <limits>

#include <doctest/doctest.h>

#include "models/scenario/scenario.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

Scenario read(const std::string& text) {
  return read_scenario("f", text);
}

/// Returns the devices' ids as numbers.
std::vector<uint32_t> ids(const std::vector<LogicalId>& devices) {
  std::vector<uint32_t> result;
  for (const LogicalId id : devices)
    result.push_back(id.index());
  return result;
}

TEST_CASE("reader: a scenario with every part") {
  const Scenario s = read(R"({
  "orrery": 1,
  "name": "psum_scatter then all_gather is psum",
  "cluster": "h100-sxm-8",       // a catalog name
  "mesh": {"x": 4, "y": 2},
  "check_types": false,
  "memory": {"reuse": "xla", "alignment": "512 B", "reserved_MiB": 300},
  "arrays": {
    "a": {"shape": [64, 32], "dtype": "float32", "spec": ["x", null], "init": "iota"},
    "b": {"shape": [8], "dtype": "s8", "init": -2},
    "c": {"shape": [], "dtype": "pred", "init": {"random": 7}}
  },
  "program": [
    {"id": "s", "op": "psum_scatter_start", "of": "a", "axis_name": "x", "scatter_dimension": 0, "tiled": true},
    {"id": "c0", "op": "compute", "flops": "2 TFLOP", "bytes": 4096, "dtype": "bf16"},
    {"id": "p", "op": "done", "of": "s"},
    {"id": "g", "op": "all_gather", "of": "p", "axis_name": "x", "axis": 0, "tiled": true, "axis_index_groups": null},
    {"id": "r", "op": "psum", "of": ["a"], "donate": "a", "axis_name": ["x"], "algorithm": "ring"}
  ],
  "outputs": ["g", "r"],
  "expect": [
    {"close": ["g", "r"]},
    {"peak_memory": {"at_most": "40 KiB"}},
    {"makespan": {"at_most": "2 ms", "at_least_us": 3}},
    {"holds": ["deadlock_free", "race_free", "no_leak", "proved"]}
  ]
})");
  CHECK(s.name == "psum_scatter then all_gather is psum");
  CHECK(s.catalog_cluster);
  CHECK(s.cluster.name == "h100-sxm-8");
  CHECK(s.checks == Checks::Shapes);
  CHECK(s.memory == MemoryPolicy{MemoryPolicy::Reuse::Xla, Bytes(512), Bytes(300 << 20)});
  REQUIRE(s.program.mesh.axes().size() == 2);
  CHECK(s.program.mesh.axes()[1] == Axis{"y", 2});
  REQUIRE(s.arrays.size() == 3);
  CHECK(s.arrays[0].dtype == Dtype::F32);
  CHECK(s.arrays[0].spec.dims == std::vector<std::vector<std::string>>{{"x"}});
  CHECK(std::get<FillInit>(s.arrays[1].init).value == -2);
  CHECK(std::get<RandomInit>(s.arrays[2].init).seed == 7);
  REQUIRE(s.program.ops.size() == 5);
  // 64 rows are divided over the 4 devices of axis x.
  const Value& a = s.program.value(s.program.arguments[0].value);
  CHECK(a.type.shape == Shape{16, 32});
  CHECK(a.type.axes == AxisStates{AxisState::Varying, AxisState::Invarying});
  CHECK(s.program.ops[0].issue == Issue::Start);
  CHECK(s.program.ops[1].attributes.flops("flops") == Flops(2'000'000'000'000));
  CHECK(s.program.ops[1].attributes.bytes("bytes") == Bytes(4096));
  CHECK_FALSE(s.program.ops[3].attributes.has("axis_index_groups"));
  CHECK(s.program.ops[4].donated.size() == 1);
  CHECK(s.program.ops[4].hints.algorithm == "ring");
  CHECK(s.program.ops[4].origin->pointer == "/program/4");
  CHECK(s.program.outputs.size() == 2);
  REQUIRE(s.program.threads.size() == 1);
  CHECK(s.program.threads[0].devices.size() == 8);
  REQUIRE(s.expectations.size() == 4);
  CHECK(test::names_of(std::get<ExpectClose>(s.expectations[0].what)) ==
        std::vector<std::string>{"g", "r"});
  CHECK(std::get<ExpectPeakMemory>(s.expectations[1].what).at_most == Bytes(40 << 10));
  CHECK(std::get<ExpectMakespan>(s.expectations[2].what).at_most == Duration(2'000'000'000));
  CHECK(std::get<ExpectMakespan>(s.expectations[2].what).at_least == Duration(3'000'000));
  CHECK(std::get<ExpectHolds>(s.expectations[3].what).properties.size() == 4);
  CHECK(s.expectations[3].origin.pointer == "/expect/3");
}

TEST_CASE("reader: type states are checked unless every array is given per device") {
  Small s;
  CHECK(read(s.text()).checks == Checks::States);
  s.arrays = R"({"a": {"local_shape": [1], "dtype": "s8", "per_device": [[1], [2], [3], [4]]}})";
  CHECK(read(s.text()).checks == Checks::Shapes);
  s.more = R"("check_types": true)";
  CHECK(read(s.text()).checks == Checks::States);
}

TEST_CASE("reader: an array given per device varies over every axis") {
  Small s;
  s.arrays = R"({"a": {"local_shape": [2], "dtype": "s8",
"per_device": [[1, -1], [2, 0], [3, 127], [4, -128]]}})";
  const Scenario scenario = read(s.text());
  CHECK(scenario.program.values[0].type.axes == AxisStates{AxisState::Varying});
  const auto& tensors = std::get<PerDeviceInit>(scenario.arrays[0].init).tensors;
  REQUIRE(tensors.size() == 4);
  CHECK(tensors[3].as<int8_t>()[0] == 4);
  CHECK(tensors[3].as<int8_t>()[1] == -128);
}

TEST_CASE("reader: elements by their bits, and the names of numbers that JSON lacks") {
  Small s;
  s.arrays = R"({"a": {"local_shape": [2], "dtype": "f32", "encoding": "bits",
"per_device": [[2143289344, 1065353216], [0, 2147483648], [0, 0], [4294967295, 1]]},
"b": {"local_shape": [2], "dtype": "f32",
"per_device": [["NaN", 1], [0, -0.0], [0, 0], ["Infinity", "-Infinity"]]}})";
  const Scenario scenario = read(s.text());
  const auto& a = std::get<PerDeviceInit>(scenario.arrays[0].init).tensors;
  const auto& b = std::get<PerDeviceInit>(scenario.arrays[1].init).tensors;
  // 0x7fc00000 is NaN, 0x3f800000 is 1, 0x80000000 is -0.
  CHECK(a[0] == b[0]);
  CHECK(a[1] == b[1]);
  CHECK(b[3].as<uint32_t>()[0] == 0x7f800000U);
  CHECK(b[3].as<uint32_t>()[1] == 0xff800000U);
}

TEST_CASE("reader: integers of 64 bits, beyond what a double holds") {
  Small s;
  s.arrays = R"({"a": {"local_shape": [1], "dtype": "s64", "per_device":
[[9007199254740993], [-9223372036854775808], [9223372036854775807], [-9007199254740993]]},
"b": {"local_shape": [1], "dtype": "uint64", "per_device":
[[9007199254740993], [18446744073709551615], [0], [1]]},
"c": {"shape": [4], "dtype": "u64", "spec": ["x"], "init": 18446744073709551615}})";
  const Scenario scenario = read(s.text());
  const auto& a = std::get<PerDeviceInit>(scenario.arrays[0].init).tensors;
  const auto& b = std::get<PerDeviceInit>(scenario.arrays[1].init).tensors;
  CHECK(a[0].as<int64_t>()[0] == 9007199254740993);
  CHECK(a[1].as<int64_t>()[0] == std::numeric_limits<int64_t>::min());
  CHECK(a[2].as<int64_t>()[0] == std::numeric_limits<int64_t>::max());
  CHECK(a[3].as<int64_t>()[0] == -9007199254740993);
  CHECK(b[0].as<uint64_t>()[0] == 9007199254740993U);
  CHECK(b[1].as<uint64_t>()[0] == ~uint64_t{0});
  // A fill is read as a double, which saturates to the largest u64, as the scenario asks.
  CHECK(initial_value(scenario, scenario.arrays[2], LogicalId(0), 0).as<uint64_t>()[0] ==
        ~uint64_t{0});
}

TEST_CASE("reader: links between named places, with the cluster's figures where they have none") {
  Small s;
  s.cluster = R"({"devices": 4, "topology": "links", "latency_ns": 5, "links": [
{"from": 0, "to": "leaf", "bandwidth": "1 GB/s"},
{"from": "leaf", "to": 3, "bandwidth_Gbps": 16, "latency": "7 ns"}]})";
  const Cluster cluster = read(s.text()).cluster;
  CHECK(cluster.name == "links of 4");
  REQUIRE(cluster.fabric.links().size() == 2);
  CHECK(cluster.fabric.links()[0] ==
        Link{VertexId(0), VertexId(4), BytesPerSecond(1'000'000'000), Duration(5'000)});
  CHECK(cluster.fabric.links()[1] ==
        Link{VertexId(4), VertexId(3), BytesPerSecond(2'000'000'000), Duration(7'000)});
  REQUIRE(cluster.fabric.switches() == 1);
  CHECK(cluster.fabric.switch_names()[0] == "leaf");
}

TEST_CASE("reader: the switches that reduce: none, all, or those that are named") {
  const auto reducing = [](const std::string& key) {
    Small s;
    s.cluster = R"({"devices": 4, "bandwidth_GBps": 1, "latency_ns": 5, "links": [
{"from": 0, "to": "leaf"}, {"from": "leaf", "to": "spine"}, {"from": "spine", "to": 3}])" +
                key + "}";
    const Cluster cluster = read(s.text()).cluster;
    const std::span<const VertexId> found = cluster.fabric.reducing_switches();
    return std::vector<VertexId>(found.begin(), found.end());
  };
  const std::vector<VertexId> both = {VertexId(4), VertexId(5)};
  CHECK(reducing("").empty());
  CHECK(reducing(R"(, "in_switch_reduction": false)").empty());
  CHECK(reducing(R"(, "in_switch_reduction": [])").empty());
  CHECK(reducing(R"(, "in_switch_reduction": true)") == both);
  CHECK(reducing(R"(, "in_switch_reduction": ["spine", "leaf"])") == both);
  CHECK(reducing(R"(, "in_switch_reduction": ["spine"])") == std::vector{VertexId(5)});
}

TEST_CASE(
    "reader: the topology \"switch\" has a switch that may reduce, and says from where that is "
    "known") {
  Small s;
  s.cluster = R"({"devices": 4, "topology": "switch", "bandwidth_GBps": 1, "latency_ns": 5,
"in_switch_reduction": {"value": ["switch"], "label": "data sheet", "source": "here", "date": "2026-01-31"}})";
  const Cluster cluster = read(s.text()).cluster;
  REQUIRE(cluster.fabric.reducing_switches().size() == 1);
  CHECK(cluster.fabric.reducing_switches()[0] == VertexId(4));
  CHECK(cluster.sources ==
        std::vector{FigureSource{"in_switch_reduction", "data sheet", "here", "2026-01-31"}});
}

TEST_CASE("reader: the three ways to write a list of links") {
  const std::string links = R"([{"from": 0, "to": 1, "bandwidth": "1 B/s", "latency": "0 s"}])";
  for (const std::string& form :
       {"\"links\": " + links, "\"topology\": \"links\", \"links\": " + links,
        "\"topology\": {\"links\": " + links + "}"}) {
    Small s;
    s.cluster = "{\"devices\": 4, " + form + "}";
    CHECK(read(s.text()).cluster.fabric.links().size() == 1);
  }
}

TEST_CASE("reader: figures of a device, and the sources that come with them") {
  Small s;
  s.cluster = R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us",
"memory": "80 GiB", "memory_bandwidth": "2 TB/s", "launch_us": 3, "reduce_rate": "1 TB/s", "copy_rate": "3 TB/s",
"flops": {"bfloat16": {"value": "312 TFLOP/s", "label": "data sheet", "source": "here", "date": "2026-01-31"}}})";
  const Cluster cluster = read(s.text()).cluster;
  CHECK(cluster.name == "ring of 4");
  CHECK(cluster.device.memory == Bytes(80LL << 30));
  CHECK(cluster.device.memory_bandwidth == BytesPerSecond(2'000'000'000'000));
  CHECK(cluster.device.launch == Duration(3'000'000));
  CHECK(cluster.device.reduce_rate == BytesPerSecond(1'000'000'000'000));
  CHECK(cluster.device.copy_rate == BytesPerSecond(3'000'000'000'000));
  CHECK(cluster.device.flops.at(Dtype::BF16) == FlopsPerSecond(312'000'000'000'000));
  CHECK(cluster.sources ==
        std::vector{FigureSource{"flops/bf16", "data sheet", "here", "2026-01-31"}});
}

TEST_CASE("reader: device figures that the cluster does not give are absent") {
  const DeviceFigures device = read(Small{}.text()).cluster.device;
  CHECK(device == DeviceFigures{});
}

TEST_CASE("reader: a single device needs no links and no link figures") {
  Small s;
  s.cluster = R"({"devices": 1, "topology": "ring"})";
  s.mesh = R"({"x": 1})";
  CHECK(read(s.text()).cluster.fabric.links().empty());
}

TEST_CASE("reader: a mesh may have fewer devices than the cluster") {
  Small s;
  s.mesh = R"({"x": 2})";
  CHECK(read(s.text()).program.mesh.devices() == 2);
}

TEST_CASE("reader: several programs over positions, intervals and lists of devices") {
  const Scenario s = read(R"({"orrery": 1,
"cluster": {"devices": 8, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
"mesh": {"stage": 2, "x": 4}, "arrays": {"a": {"shape": [8], "dtype": "s32", "spec": ["x"]}},
"programs": [
  {"on": {"stage": 0, "x": [1, 3]}, "name": "front", "do": [{"id": "f", "op": "add", "of": ["a", "a"]}]},
  {"on": {"stage": 1}, "do": []},
  {"on": [3, 0], "do": []}]})");
  REQUIRE(s.program.threads.size() == 3);
  CHECK(s.program.threads[0].name == "front");
  CHECK(ids(s.program.threads[0].devices) == std::vector<uint32_t>{1, 2});
  CHECK(s.program.threads[1].name == "program 1");
  CHECK(ids(s.program.threads[1].devices) == std::vector<uint32_t>{4, 5, 6, 7});
  CHECK(ids(s.program.threads[2].devices) == std::vector<uint32_t>{0, 3});
}

constexpr std::string_view kOnTwoOfThree = R"({"orrery": 1,
"cluster": {"devices": 3, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
"mesh": {"x": 3}, "arrays": {"a": {"shape": [3], "dtype": "s32", "spec": ["x"]}},
"programs": [
  {"on": {"x": [1, 3]}, "do": [{"id": "f", "op": "add", "of": ["a", "a"]}]},
  {"on": {"x": 0}, "do": []}],
"expect": [{"values": {"f": VALUE}}]})";

std::string expecting(const std::string& value) {
  std::string text(kOnTwoOfThree);
  return text.replace(text.find("VALUE"), 5, value);
}

TEST_CASE("reader: expected values as a report prints them, with null for who has none") {
  const auto expected = [](const std::string& value) {
    const Scenario s = read(expecting(value));
    return std::get<ExpectValues>(s.expectations.at(0).what).per_device;
  };
  const std::vector<Tensor> plain = expected("[[2], [4]]");
  CHECK(expected("[null, [2], [4]]") == plain);
  CHECK(expected(R"({"dtype": "s32", "shape": [1], "per_device": [null, [2], [4]]})") == plain);
  CHECK(expected(R"({"encoding": "bits", "per_device": [[2], [4]]})") == plain);
  CHECK(
      refusal(expecting("[[1], [2], [4]]")) ==
      "f:7:30: /expect/0/values/f/0: expected null, since device 0 does not have the value, got a "
      "list");
  CHECK(
      refusal(expecting("[null]")) ==
      "f:7:29: /expect/0/values/f: expected 2 lists, one per device that has the value, or 3 with "
      "null for the others, got 1");
}

TEST_CASE("reader: every amount may be a number under its key with a unit") {
  Small with_text;
  Small with_suffix;
  with_text.cluster = R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s",
"latency": "1 us", "memory": {"value": "2 GiB", "label": "l", "source": "s", "date": "d"},
"flops": {"bf16": "3 TFLOP/s", "f32": {"value": "1 TFLOP/s", "label": "l", "source": "s", "date": "d"}}})";
  with_suffix.cluster = R"({"devices": 4, "topology": "ring", "bandwidth_GBps": 50,
"latency_us": 1, "memory": {"value_GiB": 2, "label": "l", "source": "s", "date": "d"},
"flops": {"bf16_TFLOPps": 3, "f32": {"value_TFLOPps": 1, "label": "l", "source": "s", "date": "d"}}})";
  with_text.program = R"([{"id": "c", "op": "compute", "flops": "2 GFLOP", "bytes": "1 MiB",
"dtype": "f32", "shape": [2], "scratch": "3 KiB"}])";
  with_suffix.program = R"([{"id": "c", "op": "compute", "flops_GFLOP": 2, "bytes_MiB": 1,
"dtype": "f32", "shape": [2], "scratch_KiB": 3}])";
  with_text.more = R"("memory": {"alignment": "1 KiB", "reserved": "1 MiB",
"transport": {"protocol": "ll", "slot": "64 KiB"}},
"faults": [{"slow_link": {"from": 0, "to": 1}, "bandwidth": "20 GB/s", "latency": "2 us"},
{"late_start": 1, "by": "3 us"}, {"jitter": {"ops": "5 ns", "links": "6 ns"}}],
"expect": [{"makespan": {"at_least": "1 ns", "at_most": "1 s"}}, {"peak_memory": {"at_most": "1 MB"}}])";
  with_suffix.more = R"("memory": {"alignment_KiB": 1, "reserved_MiB": 1,
"transport": {"protocol": "ll", "slot_KiB": 64}},
"faults": [{"slow_link": {"from": 0, "to": 1}, "bandwidth_GBps": 20, "latency_us": 2},
{"late_start": 1, "by_us": 3}, {"jitter": {"ops_ns": 5, "links_ns": 6}}],
"expect": [{"makespan": {"at_least_ns": 1, "at_most_s": 1}}, {"peak_memory": {"at_most_MB": 1}}])";
  CHECK(test::difference(read(with_text.text()), read(with_suffix.text())) == "");
  const Scenario s = read(with_suffix.text());
  CHECK(s.program.ops[0].attributes.bytes("scratch") == Bytes(3072));
  REQUIRE(s.memory.transport.has_value());
  CHECK(s.memory.transport->name == "ll");
  CHECK(s.memory.transport->slot == Bytes(65536));
  CHECK(s.cluster.device.flops.at(Dtype::BF16) == FlopsPerSecond(3'000'000'000'000));
}

TEST_CASE("reader: an amount is given once, and without a unit only where the key names it") {
  Small s;
  s.program =
      R"([{"id": "c", "op": "compute", "flops": 1, "flops_GFLOP": 2, "bytes": "1 s", "dtype": "f32"}])";
  CHECK(refusal(s.text()) ==
        "f:5:54: /program/0/flops_GFLOP: \"flops\" is already given by \"flops\"\n"
        "f:5:81: /program/0/bytes: expected a size such as \"80 GiB\", got \"1 s\"");
  Small twice;
  twice.cluster = R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": 1,
"flops": {"bf16": "1 TFLOP/s", "bf16_TFLOPps": 3}})";
  CHECK(refusal(twice.text()) ==
        "f:2:82: /cluster/latency: expected a time such as \"1 us\", got 1\n"
        "f:3:32: /cluster/flops/bf16_TFLOPps: \"bf16\" is already given by \"bf16\"");
}

TEST_CASE("reader: literal values have a list for each device of the value's thread") {
  const Scenario s = read(R"({"orrery": 1,
"cluster": {"devices": 3, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
"mesh": {"x": 3}, "arrays": {"a": {"shape": [3], "dtype": "s32", "spec": ["x"]}},
"programs": [
  {"on": {"x": [1, 3]}, "do": [{"id": "f", "op": "add", "of": ["a", "a"]}]},
  {"on": {"x": 0}, "do": []}],
"expect": [{"values": {"f": [[2], [4]], "a": [[0], [1], [2]]}}, {"values": {"f": [[2], [4]]}, "encoding": "bits"}]})");
  REQUIRE(s.expectations.size() == 3);
  const auto& f = std::get<ExpectValues>(s.expectations[0].what);
  CHECK(f.value.name == "f");
  REQUIRE(f.per_device.size() == 2);
  CHECK(f.per_device[1].as<int32_t>()[0] == 4);
  CHECK(std::get<ExpectValues>(s.expectations[1].what).per_device.size() == 3);
  CHECK(s.expectations[1].origin.pointer == "/expect/0");
  CHECK(s.expectations[2].origin.pointer == "/expect/1");
}

}  // namespace
}  // namespace orrery
