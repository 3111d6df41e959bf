#include "models/scenario/writer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/base/random.h"
#include "models/program/builder.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/json_text.h"
#include "models/scenario/placement.h"
#include "models/scenario/plan.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::Small;

/// Checks that the text reads back as the same scenario, and is the same when written once more.
Scenario round_trip(const Scenario& scenario) {
  const std::string text = write_scenario(scenario);
  Scenario again = read_scenario(scenario.file, text);
  CHECK(test::difference(scenario, again) == "");
  CHECK(write_scenario(again) == text);
  return again;
}

TEST_CASE("writer: every scenario of the repository reads back as it was written") {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ORRERY_SCENARIOS)) {
    if (entry.path().extension() == ".json" && entry.path().filename() != "schema.json")
      files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 7);
  for (const std::string& file : files) {
    CAPTURE(file);
    std::ifstream in(file);
    std::string first;
    std::getline(in, first);
    // A file that fails cannot be read, and a law is no scenario.
    if (!first.starts_with("// Fails on purpose, exit 2: ") &&
        !is_template(load_text(file, {}), {}))
      round_trip(load_scenario(file));
  }
}

TEST_CASE("writer: the text is laid out as a person would write it") {
  Small s;
  s.arrays = R"({"a": {"shape": [8, 2], "dtype": "float32", "spec": [["x"], null], "init": 0}})";
  s.program = R"([{"id": "r", "op": "psum", "of": ["a"], "axis_name": ["x"], "channels": 1},
{"id": "d", "op": "dot_general", "of": ["r", "r"], "dimension_numbers": [[[0], [0]], [[], []]]}])";
  s.more = R"("outputs": ["r"], "expect": [{"makespan": {"at_most_us": 1500}}])";
  CHECK(write_scenario(read_scenario("f", s.text())) == R"({
  "orrery": 1,
  "cluster": {"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us"},
  "mesh": {"x": 4},
  "check_types": true,
  "arrays": {"a": {"shape": [8, 2], "dtype": "f32", "spec": ["x"], "init": 0}},
  "program": [
    {"id": "r", "op": "psum", "of": "a", "axis_name": "x", "channels": 1},
    {"id": "d", "op": "dot_general", "of": ["r", "r"], "dimension_numbers": [[[0], [0]], [[], []]]}
  ],
  "outputs": ["r"],
  "expect": [{"makespan": {"at_most": "1.5 ms"}}]
}
)");
}

TEST_CASE("writer: complex numbers, as pairs where they were given so") {
  Small s;
  s.arrays = R"({"a": {"shape": [2], "dtype": "c64", "init": [0.5, "NaN"]}})";
  s.program = R"([{"id": "f", "op": "full", "shape": [2], "fill_value": [1, -0.0], "dtype": "c64"},
{"id": "g", "op": "full", "shape": [2], "fill_value": 1, "dtype": "c64"}])";
  const std::string text = write_scenario(read_scenario("f", s.text()));
  CHECK(text.find(R"("init": [0.5, "NaN"])") != std::string::npos);
  CHECK(text.find(R"("fill_value": [1, -0])") != std::string::npos);
  CHECK(text.find(R"("fill_value": 1,)") != std::string::npos);
}

TEST_CASE("writer: clusters of every form") {
  for (
      const std::string cluster :
      {R"("a100-sxm-8")", R"({"devices": 1, "topology": "ring"})",
       R"({"devices": 2, "topology": "fully_connected", "bandwidth": "1 B/s", "latency": "0 s"})",
       R"({"devices": 5, "topology": "fully_connected", "bandwidth": "1 B/s", "latency": "0 s"})",
       R"({"devices": 1, "topology": "switch", "bandwidth": "1 B/s", "latency": "0 s"})",
       R"({"devices": 3, "name": "mine", "topology": "switch", "bandwidth": "1 B/s", "latency": "0 s"})",
       R"({"devices": 3, "links": []})",
       R"({"devices": 3, "switches": ["b", "a"], "links": [
          {"from": 0, "to": "a", "bandwidth": "7 B/s", "latency": "3 ps"}]})",
       R"({"devices": 3, "topology": "switch", "bandwidth": "1 B/s", "latency": "0 s", "in_switch_reduction": true})",
       R"({"devices": 3, "topology": "switch", "bandwidth": "1 B/s", "latency": "0 s",
          "in_switch_reduction": {"value": false, "label": "l", "source": "s", "date": "d"}})",
       R"({"devices": 3, "switches": ["b", "a"], "in_switch_reduction": ["a"], "links": [
          {"from": 0, "to": "a", "bandwidth": "7 B/s", "latency": "3 ps"}]})",
       R"({"devices": 3, "bandwidth": {"value": "7 B/s", "label": "l", "source": "s", "date": "d"}, "links": [
          {"from": 0, "to": 1, "latency": "3 ps"}],
          "flops": {"f32": "1 FLOP/s", "f64": {"value": "2 FLOP/s", "label": "l", "source": "s", "date": "d"}}})"}) {
    CAPTURE(cluster);
    Small s;
    s.cluster = cluster;
    s.mesh = R"({"x": 1})";
    round_trip(read_scenario("f", s.text()));
  }
}

TEST_CASE("writer: a catalog cluster changed by hand is written inline with its sources") {
  Scenario s = read_scenario("f", Small{}.text());
  s.cluster = *catalog_cluster("h100-sxm-8");
  s.cluster.name = "ours";
  s.cluster.device.memory = Bytes(1 << 20);
  const Scenario again = round_trip(s);
  CHECK(again.cluster.sources == s.cluster.sources);
  CHECK(again.cluster.transport == s.cluster.transport);
}

TEST_CASE("writer: names with quotes, slashes and letters beyond ASCII") {
  Small s;
  s.more = R"("name": "a \"b\" \\ / \u00e9 \ud83d\ude00")";
  CHECK(round_trip(read_scenario("f", s.text())).name == "a \"b\" \\ / \xC3\xA9 \xF0\x9F\x98\x80");
}

TEST_CASE("writer: several programs, shared sites and devices that form no box") {
  const Scenario s = read_scenario("f", R"({"orrery": 1,
"cluster": {"devices": 8, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"},
"mesh": {"stage": 2, "x": 4}, "arrays": {"a": {"shape": [8], "dtype": "s32", "spec": [["stage", "x"]]}},
"programs": [
  {"on": {"stage": 0}, "name": "front", "do": [
    {"id": "f", "op": "psum", "of": "a", "axis_name": ["stage", "x"], "site": "all"}]},
  {"on": {"stage": 1}, "do": [
    {"id": "g", "op": "psum", "of": "a", "axis_name": ["stage", "x"], "site": "all"},
    {"id": "h", "op": "psum", "of": "g", "axis_name": "x", "site": "own"}]}],
"check_types": false, "numerics": "xla-cpu", "memory": {"reuse": "xla", "alignment": "1 B", "reserved": "3 B",
"transport": {"protocol": "ll128", "slot": "600 KiB"}},
"expect": [{"values": {"f": [[1], [2], [3], [4]]}}, {"equal": ["f", "g"]},
  {"peak_memory": {"at_least": "1 B"}}, {"buffered_messages": {"at_most": 2}}, {"holds": ["no_leak"]},
  {"close": ["a", "f"], "devices": "common"}]})");
  const Scenario again = round_trip(s);
  CHECK(again.program.sites.size() == 2);
  CHECK(again.program.numerics == Numerics::XlaCpu);
  Scenario corners = s;
  corners.program.threads.pop_back();
  CHECK(write_scenario(corners).find("\"on\": {\"stage\": 0}") != std::string::npos);
  corners.program.threads[0].devices = {LogicalId(0), LogicalId(5)};
  CHECK(write_scenario(corners).find("\"on\": [0, 5]") != std::string::npos);
}

TEST_CASE("writer: a loop is written as a loop, with its body once") {
  Small s;
  s.program = R"([{"id": "l", "op": "fori_loop", "lower": 2, "upper": 1000, "index": "i",
"carry": {"h": "a", "g": "a"}, "yield": {"h": "y", "g": "h"}, "body": [
  {"id": "m", "op": "fori_loop", "lower": 0, "upper": 7, "carry": {"h": "g"}, "yield": {"h": "u"},
   "body": [{"id": "u", "op": "psum", "of": "h", "axis_name": "x", "site": "here"}]},
  {"id": "e", "op": "fori_loop", "lower": 1, "upper": 1, "body": [], "carry": {"n": "m"},
   "yield": {"n": "m"}},
  {"id": ["p", "q"], "op": "split", "of": "h", "sizes": [1, 1]},
  {"id": "y", "op": "add", "of": ["e", "m.h"]}]},
{"id": "z", "op": "add", "of": ["l.h", "l[30].m[3].u"]}])";
  s.more =
      R"("check_types": false, "outputs": ["l.g", "l[40].m"], "expect": [{"equal": ["l.h", "l[40].m.h"]}])";
  const Scenario scenario = round_trip(read_scenario("f", s.text()));
  CHECK(scenario.program.loops.size() == 3);
  CHECK(write_scenario(scenario).find(R"(  "program": [
    {
      "id": "l",
      "op": "fori_loop",
      "lower": 2,
      "upper": 1000,
      "index": "i",
      "carry": {"h": "a", "g": "a"},
      "body": [
        {
          "id": "m",
          "op": "fori_loop",
          "lower": 0,
          "upper": 7,
          "carry": {"h": "g"},
          "body": [{"id": "u", "op": "psum", "of": "h", "site": "here", "axis_name": "x"}],
          "yield": {"h": "u"}
        },
)") != std::string::npos);
}

TEST_CASE("writer: loops of several programs, and after a transform") {
  const std::string loop = R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 3,
"carry": {"h": "w"}, "body": [{"id": "y", "op": "psum", "of": "h", "axis_name": "x"SITE}],
"yield": {"h": "y"}})";
  const auto with = [&](std::string text, const std::string& site, const std::string& id) {
    text.replace(text.find("SITE"), 4, site);
    return text.replace(text.find("\"l\""), 3, "\"" + id + "\"");
  };
  const std::string site = R"(, "site": "all")";
  std::string threads = test::with_programs(
      R"([{"on": {"x": [0, 2]}, "do": [)" + with(loop, site, "l") +
          R"(]}, {"on": {"x": [2, 4]}, "do": [)" + with(loop, site, "m") + "]}]",
      R"({"w": {"shape": [8], "dtype": "f32", "spec": ["x"]}})");
  threads.insert(threads.find("\"name\""), "\"check_types\": false, ");
  CHECK(round_trip(read_scenario("f", threads)).program.loops.size() == 2);
  Small s;
  s.arrays = R"({"w": {"shape": [8, 3], "dtype": "f32", "spec": ["x"]}})";
  s.program = "[" + with(loop, "", "l") + "]";
  s.more =
      R"("check_types": false, "outputs": ["l"], "transform": {"batch": {"in_axes": {"w": 1}}})";
  CHECK(round_trip(read_scenario("f", s.text())).program.loops.size() == 1);
}

TEST_CASE("writer: elements of every dtype, also those that JSON has no number for") {
  for (const Dtype dtype : all_dtypes()) {
    CAPTURE(name(dtype));
    Small s;
    const std::string init = dtype == Dtype::Pred ? "1" : "0";
    s.arrays = "{\"a\": {\"local_shape\": [64], \"dtype\": \"" + std::string(name(dtype)) +
               "\", \"encoding\": \"bits\", \"per_device\": [";
    Random random(static_cast<uint64_t>(dtype));
    const auto width = static_cast<unsigned>(8 * itemsize(part_dtype(dtype)).count());
    const auto bits = [&] {
      return std::to_string(dtype == Dtype::Pred ? random.below(2) : random.next() >> (64 - width));
    };
    for (int device = 0; device < 4; ++device) {
      s.arrays += device > 0 ? ", [" : "[";
      for (int i = 0; i < 64; ++i) {
        s.arrays += i > 0 ? ", " : "";
        s.arrays += is_complex(dtype) ? "[" + bits() + ", " + bits() + "]" : bits();
      }
      s.arrays += "]";
    }
    s.arrays += "]}}";
    s.program = "[]";
    round_trip(read_scenario("f", s.text()));
  }
}

TEST_CASE("writer: a NaN keeps its bits, in arrays and in expectations") {
  Small s;
  s.arrays = R"({"a": {"local_shape": [2], "dtype": "bf16", "encoding": "bits",
"per_device": [[65535, 16256], [0, 0], [0, 0], [0, 0]]}})";
  s.program = "[]";
  s.more = R"("expect": [{"values": {"a": [[32705, 0], [0, 0], [0, 0], [0, 0]]},
"encoding": "bits"}])";
  const Scenario again = round_trip(read_scenario("f", s.text()));
  const auto& init = std::get<PerDeviceInit>(again.arrays[0].init);
  CHECK(element_bits(init.tensors[0], 0) == 65'535);
  CHECK(element_bits(init.tensors[0], 1) == 16'256);
  const auto& expected = std::get<ExpectValues>(again.expectations[0].what);
  CHECK(element_bits(expected.per_device[0], 0) == 32'705);
}

TEST_CASE("writer: what JSON has no number for is written by its name") {
  Small s;
  s.arrays = R"({"a": {"local_shape": [4], "dtype": "f16",
"per_device": [["NaN", "Infinity", "-Infinity", -0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]}})";
  s.program = "[]";
  const Scenario scenario = round_trip(read_scenario("f", s.text()));
  CHECK(write_scenario(scenario).find(R"([["NaN", "Infinity", "-Infinity", -0])") !=
        std::string::npos);
}

/// Returns a random scenario, built without a file.
Scenario random_scenario(Random& random) {
  const auto devices = static_cast<uint32_t>(random.between(1, 6));
  const LinkFigures link{BytesPerSecond(random.between(1, 1'000'000'000'000)),
                         Duration(random.between(0, 2'000'000))};
  Fabric fabric = random.below(2) == 0 ? ring_fabric(devices, link) : switch_fabric(devices, link);
  const Mesh mesh({{"x", static_cast<int64_t>(devices)}, {"y", 1}});
  Diagnostics diagnostics("f");
  const Checks checks = Checks::Shapes;
  ProgramBuilder builder(mesh, checks, diagnostics);
  std::vector<Array> arrays;
  std::vector<std::string> values;
  const int64_t count = random.between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    Array array;
    array.name = "a" + std::to_string(i);
    array.dtype = Dtype::F32;
    array.global = Shape{4 * int64_t{devices}};
    if (random.below(2) == 0)
      array.spec.dims = {{"x"}};
    const uint64_t kind = random.below(4);
    // The mesh has no axis "q", so the entry with it is left out.
    if (kind < 3 && random.below(2) == 0) {
      array.uncorrected = array.spec;
      array.uncorrected->dims.push_back({"q"});
    }
    if (kind == 0) {
      RandomInit init{random.below(3), random.below(2) == 0 ? RandomInit::Values::Integers
                                                            : RandomInit::Values::Fractions};
      if (std::string other = "a" + std::to_string(random.between(0, 3)); other != array.name)
        init.named = std::move(other);
      array.init = std::move(init);
    } else if (kind == 1) {
      array.init = FillInit{static_cast<double>(random.between(-1000, 1000)) / 7};
    } else if (kind == 2) {
      array.init = IotaInit{};
    } else {
      array.global = Shape{2};
      array.per_device = true;
      array.joined = true;
      PerDeviceInit init;
      for (uint32_t device = 0; device < devices; ++device)
        init.tensors.push_back(
            full(Dtype::F32, array.global, static_cast<double>(random.below(9))));
      array.init = std::move(init);
    }
    std::vector<std::string> varying;
    if (!array.spec.dims.empty())
      varying = {"x"};
    builder.argument(array.name, array.dtype, local_shape(mesh, array), varying);
    values.push_back(array.name);
    arrays.push_back(std::move(array));
  }
  builder.thread("main", all_devices(mesh));
  const int64_t ops = random.between(0, 6);
  for (int64_t i = 0; i < ops; ++i) {
    OpRequest request;
    request.name = "r" + std::to_string(i);
    request.kind = random.below(2) == 0 ? OpKind::Psum : OpKind::Pmax;
    request.operands = {values[random.below(values.size())]};
    request.attributes.set("axis_name", std::vector<std::string>{"x"});
    if (random.below(2) == 0)
      request.attributes.set("channels", random.between(1, 3));
    if (random.below(3) == 0) {
      request.kind = OpKind::OptimizationBarrier;
      request.attributes = {};
      request.operands.push_back(values[random.below(values.size())]);
      request.other_results = {request.name + "'"};
      values.push_back(request.other_results[0]);
    }
    values.push_back(request.name);
    builder.op(std::move(request));
  }
  builder.output(values.back());
  Program program = builder.finish();
  REQUIRE(diagnostics.empty());
  std::string cluster_name = "by chance";
  return {.file = "f",
          .name = "case",
          .cluster = {cluster_name, std::move(fabric), {}},
          .catalog_cluster = false,
          .checks = checks,
          .memory = {MemoryPolicy::Reuse::Never, Bytes(random.between(1, 512)), Bytes(0)},
          .program = std::move(program),
          .arrays = std::move(arrays),
          .expectations = {}};
}

TEST_CASE("writer: a scenario that is written, read and written again is the same") {
  test::holds_for_all("read(write(s)) is s", [](uint64_t seed) {
    Random random(seed);
    const Scenario scenario = random_scenario(random);
    const std::string text = write_scenario(scenario);
    const Scenario again = read_scenario("f", text);
    RC_ASSERT(test::difference(scenario, again) == "");
    RC_ASSERT(write_scenario(again) == text);
  });
}

TEST_CASE("layout: what fits on a line stands on one") {
  const JsonText numbers = JsonText::list({JsonText::raw("1"), JsonText::raw("22")});
  const JsonText both = JsonText::object({{"a", numbers}, {"b", JsonText::list({})}});
  CHECK(both.lines() == "{\n  \"a\": [1, 22],\n  \"b\": []\n}\n");
  // The line "  "a": [1, 22]," has 15 columns with its comma.
  CHECK(both.lines(15) == "{\n  \"a\": [1, 22],\n  \"b\": []\n}\n");
  CHECK(both.lines(14) == "{\n  \"a\": [\n    1,\n    22\n  ],\n  \"b\": []\n}\n");
}

TEST_CASE("writer: efficiencies are written and read back, with the sources of their figures") {
  Small s;
  s.cluster = R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "1 us",
"memory_bandwidth": "1 TB/s", "flops": {"bf16": "9 TFLOP/s", "f32": "1 TFLOP/s"},
"efficiency": {"memory": "3/4", "f32": {"share": "1/2"}, "bf16": {"share": "2/3", "half_depth": 5,
"half_side": {"value": 6, "label": "calibrated", "source": "a table", "date": "2026-01-01"},
"launch": "7 us", "calibrated": {"m": {"least": 2, "most": 3}, "k": {"least": 4, "most": 5}},
"attention": {"share": "5/9", "launch": "8 us", "calibrated": {"sequence": {"least": 6, "most": 7}},
"half_keys": {"value": 9, "label": "calibrated", "source": "a table", "date": "2026-01-01"}}}}})";
  const Cluster read = read_scenario("f", s.text()).cluster;
  FlopsEfficiency bf16{{2, 3}, 5, 6, Duration(7'000'000)};
  bf16.calibrated = {{"m", {2, 3}}, {"k", {4, 5}}};
  bf16.attention = {{5, 9}, 9, Duration(8'000'000), {{"sequence", {6, 7}}}};
  CHECK(read.device.efficiency.at(Dtype::BF16) == bf16);
  CHECK(read.device.efficiency.at(Dtype::F32) == FlopsEfficiency{{1, 2}, 0, 0, {}});
  CHECK(read.device.memory_share == Share{3, 4});
  const std::string text = write_scenario(read_scenario("f", s.text()));
  const Cluster again = read_scenario("f", text).cluster;
  CHECK(again.device == read.device);
  CHECK(again.sources == read.sources);
  REQUIRE(again.sources.size() == 2);
  CHECK(again.sources[0].figure == "efficiency/bf16/attention/half_keys");
}

}  // namespace
}  // namespace orrery
