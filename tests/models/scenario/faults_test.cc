// The other errors that the readers report, by the part of the scenario. bad_inputs_test.cc has one
// of each kind.

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

struct Case {
  std::string part;
  std::string error;
};

TEST_CASE("errors: the scenario as a whole") {
  CHECK(refusal("[]") == "f:1:1: expected a scenario, an object, got a list");
  CHECK(refusal("{}") ==
        "f:1:1: missing key \"orrery\"\nf:1:1: missing key \"cluster\"\n"
        "f:1:1: missing key \"mesh\"\nf:1:1: missing key \"program\" (or \"programs\")");
  const Case cases[] = {
      {R"("name": 5)", "f:6:9: /name: expected a name, got 5"},
      {R"("check_types": "yes")", "f:6:16: /check_types: expected true or false, got \"yes\""},
      {R"("numerics": "xla")", "f:6:13: /numerics: expected \"ieee\" or \"xla-cpu\", got \"xla\""},
      {R"("programs": [])", "f:6:1: /programs: expected \"program\" or \"programs\", got both"},
      {R"("memory": "xla")",
       "f:6:11: /memory: expected an object with \"reuse\", \"alignment\", "
       "\"reserved\", \"transport\", got \"xla\""},
      {R"("memory": {"transport": "simple"})",
       "f:6:25: /memory/transport: expected true, or an object with \"protocol\", \"slot\", got "
       "\"simple\""},
      {R"("memory": {"transport": {"protocol": "Simple", "slot": "1 MiB"}})",
       "f:6:38: /memory/transport/protocol: expected \"simple\", \"ll\" or \"ll128\", got "
       "\"Simple\"; did you mean \"simple\"?"},
      {R"("memory": {"transport": {"protocol": "LL 128", "slot": "1 MiB"}})",
       "f:6:38: /memory/transport/protocol: expected \"simple\", \"ll\" or \"ll128\", got "
       "\"LL 128\"; did you mean \"ll128\"?"},
      {R"("memory": {"transport": {"protocol": 128, "slot": "1 MiB"}})",
       "f:6:38: /memory/transport/protocol: expected \"simple\", \"ll\" or \"ll128\", got 128"},
      {R"("memory": {"transport": {"slot": "63 B"}})",
       "f:6:25: /memory/transport: missing key \"protocol\"\n"
       "f:6:34: /memory/transport/slot: expected at least 64 B, got \"63 B\""},
      {R"("memory": {"reuse": "yes"})",
       "f:6:21: /memory/reuse: expected \"none\" or \"xla\", got \"yes\""},
      {R"("memory": {"reuse": "XLA"})",
       "f:6:21: /memory/reuse: expected \"none\" or \"xla\", got \"XLA\"; did you mean \"xla\"?"},
      {R"("memory": {"reserved": "1048577 TiB"})",
       "f:6:24: /memory/reserved: expected at most 1048576 TiB, got \"1048577 TiB\""},
      {R"("memory": {"alignment": "0 B"})",
       "f:6:25: /memory/alignment: expected at least 1 B, got \"0 B\""},
      {R"("memory": {"alignment": "2 TiB"})",
       "f:6:25: /memory/alignment: expected at most 1 TiB, got \"2 TiB\""},
      {R"("memory": {"reserved_MiB": 1.5})",
       "f:6:28: /memory/reserved_MiB: expected a whole number of MiB, got 1.5"},
      {R"("memory": {"reserved_MiB": "1"})",
       "f:6:28: /memory/reserved_MiB: expected a whole number of MiB, got \"1\""},
      {R"("memory": {"reserved": "1 MiB", "reserved_MiB": 1})",
       "f:6:33: /memory/reserved_MiB: \"reserved\" is already given by \"reserved\""},
      {R"("outputs": "r")", "f:6:12: /outputs: expected a list of ids, got \"r\""},
      {R"("outputs": [1])",
       "f:6:13: /outputs/0: expected an id, or an object with \"id\" and \"spec\", got 1"},
      {R"("outputs": ["rr"])",
       "f:6:13: /outputs/0: expected the id of an array or of an earlier "
       "op, got \"rr\""},
  };
  for (const Case& c : cases) {
    Small s;
    s.more = c.part;
    CHECK(refusal(s.text()) == c.error);
  }
}

TEST_CASE("errors: clusters") {
  const Case cases[] = {
      {R"("h100-smx-8")",
       "f:2:12: /cluster: expected a cluster of the catalog (one of \"a100-sxm-8\", "
       "\"h100-sxm-8\") or an object, got \"h100-smx-8\"; did you mean \"h100-sxm-8\"?"},
      {"8", "f:2:12: /cluster: expected the name of a cluster in the catalog, or an object, got 8"},
      {"{}",
       "f:2:12: /cluster: missing key \"devices\"\nf:2:12: /cluster: missing key \"topology\""},
      {R"({"devices": 4, "topology": "ring"})",
       "f:2:12: /cluster: missing key \"bandwidth\"\nf:2:12: /cluster: missing key \"latency\""},
      {R"({"devices": 0, "topology": "ring"})",
       "f:2:12: /cluster: missing key \"bandwidth\"\nf:2:12: /cluster: missing key \"latency\"\n"
       "f:2:24: /cluster/devices: expected a number of devices of at least 1, got 0"},
      {R"({"devices": 99999999999999999999, "links": []})",
       "f:2:24: /cluster/devices: expected a number of devices of at most 9223372036854775807, got "
       "99999999999999999999"},
      {R"({"devices": 4, "topology": 4})",
       "f:2:39: /cluster/topology: expected \"ring\", \"fully_connected\", \"switch\" or "
       "\"links\", got 4"},
      {R"({"devices": 4, "topology": "ring", "bandwidth": 50, "latency_us": 1})",
       "f:2:60: /cluster/bandwidth: expected a rate such as \"50 GB/s\", got 50"},
      {R"({"devices": 4, "topology": "ring", "bandwidth": "0 B/s", "latency_us": 1})",
       "f:2:60: /cluster/bandwidth: expected at least 1 B/s, got \"0 B/s\""},
      {R"({"devices": 4, "topology": "ring", "bandwidth": "400 TB/s", "latency_us": 1})",
       "f:2:60: /cluster/bandwidth: expected at most 332733478963015 B/s, got \"400 TB/s\""},
      {R"({"devices": 4, "topology": "ring", "bandwidth_GBps": -1, "latency": "0 s"})",
       "f:2:65: /cluster/bandwidth_GBps: expected a whole number of GB/s, got -1"},
      {R"({"devices": 5000, "topology": "fully_connected", "bandwidth_GBps": 1, "latency": "0 s"})",
       "f:2:12: /cluster: expected at most 4194304 links, got 24995000 between 5000 devices "
       "fully connected (--limit links=N allows more)"},
      {R"({"devices": 4, "links": 1})", "f:2:36: /cluster/links: expected a list of links, got 1"},
      {R"({"devices": 4, "topology": "links"})", "f:2:12: /cluster: missing key \"links\""},
      {R"({"devices": 4, "topology": {"link": []}})",
       "f:2:39: /cluster/topology: missing key \"links\"\n"
       "f:2:40: /cluster/topology/link: unknown key \"link\"; did you mean \"links\"?"},
      {R"({"devices": 4, "topology": "ring", "bandwidth_GBps": 1, "latency": "0 s", "links": []})",
       "f:2:86: /cluster/links: \"links\" belongs to the topology \"links\""},
      {R"({"devices": 4, "topology": "ring", "bandwidth_GBps": 1, "latency": "0 s",
"switches": []})",
       "f:3:1: /cluster/switches: \"switches\" belongs to the topology \"links\""},
      {R"({"devices": 4, "links": [{"from": 0, "to": 4, "bandwidth": "1 B/s", "latency": "0 s"}]})",
       "f:2:55: /cluster/links/0/to: expected a switch's name or a device from 0 to 3, got 4"},
      {R"({"devices": 4, "links": [{"from": 1, "to": 1, "bandwidth": "1 B/s", "latency": "0 s"}]})",
       "f:2:37: /cluster/links/0: expected a link between two different places"},
      {R"({"devices": 4, "links": [{"from": 1, "to": "s"}]})",
       "f:2:37: /cluster/links/0: missing key \"bandwidth\"\n"
       "f:2:37: /cluster/links/0: missing key \"latency\""},
      {R"({"devices": 4, "links": [7]})",
       "f:2:37: /cluster/links/0: expected a link such as {\"from\": 0, \"to\": \"s0\"}, got 7"},
      {R"({"devices": 4, "switches": ["leaf", "leaf"], "links": []})",
       "f:2:48: /cluster/switches/1: switch \"leaf\" is named twice"},
      {R"({"devices": 4, "switches": ["leaf0"], "bandwidth_GBps": 1, "latency_ns": 1,
"links": [{"from": 0, "to": "lef0"}]})",
       "f:3:29: /cluster/links/0/to: expected one of \"switches\", got \"lef0\"; did you mean "
       "\"leaf0\"?"},
      {R"({"devices": 4, "links": [], "flops": {"bf61": "1 TFLOP/s", "f32": "1 TFLOP"}})",
       "f:2:50: /cluster/flops/bf61: expected a dtype such as \"bf16\" as key, got \"bf61\"; did "
       "you mean \"bf16\"?\n"
       "f:2:78: /cluster/flops/f32: expected a compute rate such as \"989 TFLOP/s\", got \"1 "
       "TFLOP\""},
      {R"({"devices": 4, "links": [], "flops": {"f32": "1 TFLOP/s", "float32": "2 TFLOP/s"}})",
       "f:2:70: /cluster/flops/float32: the rate of f32 is given twice"},
      {R"({"devices": 4, "links": [{"from": 0, "to": "leaf", "bandwidth": "1 B/s",
"latency": "0 s"}], "in_switch_reduction": ["leef", "leaf", "leaf", 3]})",
       "f:3:45: /cluster/in_switch_reduction/0: expected a switch of the cluster, got \"leef\"; "
       "did "
       "you mean \"leaf\"?\n"
       "f:3:61: /cluster/in_switch_reduction/2: switch \"leaf\" is named twice\n"
       "f:3:69: /cluster/in_switch_reduction/3: expected a switch's name, got 3"},
      {R"({"devices": 4, "topology": "ring", "bandwidth_GBps": 1, "latency": "0 s",
"in_switch_reduction": true})",
       "f:3:1: /cluster/in_switch_reduction: \"in_switch_reduction\" belongs to a cluster that has "
       "switches"},
      {R"({"devices": 4, "topology": "switch", "bandwidth_GBps": 1, "latency": "0 s",
"in_switch_reduction": "switch"})",
       "f:3:24: /cluster/in_switch_reduction: expected true, false or a list of switch names, got "
       "\"switch\""},
      {R"({"devices": 4, "topology": "switch", "bandwidth_GBps": 1, "latency": "0 s",
"in_switch_reduction": {"label": "data sheet", "source": "s", "date": "d", "by": 1}})",
       "f:3:24: /cluster/in_switch_reduction: missing key \"value\"\n"
       "f:3:76: /cluster/in_switch_reduction/by: unknown key \"by\"; expected one of "
       "\"value\", \"label\", \"source\", \"date\""},
      {R"({"devices": 4, "links": [], "launch": {"value": "1 us", "source": "a table"}})",
       "f:2:50: /cluster/launch: missing key \"label\"\n"
       "f:2:50: /cluster/launch: missing key \"date\""},
  };
  for (const Case& c : cases) {
    Small s;
    s.cluster = c.part;
    CAPTURE(c.part);
    CHECK(refusal(s.text()) == c.error);
  }
}

TEST_CASE("errors: whole numbers of ops that 64 bits cannot hold name the end that is passed") {
  const auto with_axis = [](const char* axis) {
    Small s;
    s.program = std::string(R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "axis": )") +
                axis + "}]";
    s.program.replace(s.program.find("psum"), 4, "all_gather");
    return refusal(s.text());
  };
  const std::string begin = "f:5:82: /program/0/axis: expected a whole number";
  CHECK(with_axis("9223372036854775808") ==
        begin + " of at most 9223372036854775807, got 9223372036854775808");
  CHECK(with_axis("-9223372036854775809") ==
        begin + " of at least -9223372036854775808, got -9223372036854775809");
  CHECK(with_axis("\"x\"") == begin + ", got \"x\"");
}

TEST_CASE("errors: meshes") {
  const Case cases[] = {
      {"4", "f:3:9: /mesh: expected an object with the size of each axis, got 4"},
      {R"({"x": 0})", "f:3:15: /mesh/x: expected an axis size of at least 1, got 0"},
      {R"({"x": 9223372036854775808})",
       "f:3:15: /mesh/x: expected an axis size of at most 9223372036854775807, got "
       "9223372036854775808"},
      {R"({"x": -9223372036854775809})",
       "f:3:15: /mesh/x: expected an axis size of at least 1, got -9223372036854775809"},
      {R"({"x": 1e1})",
       "f:3:15: /mesh/x: expected an axis size of at least 1, got 1e1; write it without an "
       "exponent"},
      {R"({"x": 4, "y": 2})",
       "f:3:9: /mesh: expected a mesh of at most 4 devices, the cluster's, got 8"},
      {R"({"x": 1048576, "y": 1048576, "z": 1048576, "w": 1048576})",
       "f:3:9: /mesh: expected a mesh of at most 4 devices, the cluster's, got 2^63 or more"},
      {R"({"x": 4, "": 1})", "f:3:18: /mesh/: expected an axis name that is not empty"},
      {R"({"x": 4, "x": 1})", "f:3:18: /mesh/x: duplicate key \"x\"; the first is at 3:10"},
  };
  for (const Case& c : cases) {
    Small s;
    s.mesh = c.part;
    CHECK(refusal(s.text()) == c.error);
  }
}

TEST_CASE("errors: arrays") {
  const Case cases[] = {
      {"[]", "f:4:11: /arrays: expected an object with an array per name, got a list"},
      {R"({"a": 1})",
       "f:4:17: /arrays/a: expected an array such as {\"shape\": [8], \"dtype\": \"f32\"}, got 1"},
      {R"({"a": {"dtype": "f32"}})",
       "f:4:17: /arrays/a: missing key \"shape\" (or \"local_shape\" with \"per_device\")"},
      {R"({"a": {"shape": [8]}})", "f:4:17: /arrays/a: missing key \"dtype\""},
      {R"({"a": {"shape": 8, "dtype": "f32"}})",
       "f:4:27: /arrays/a/shape: expected a list of whole numbers, got 8"},
      {R"({"a": {"shape": [8, -1], "dtype": "f32"}})",
       "f:4:31: /arrays/a/shape/1: expected an extent of at least 0, got -1"},
      {R"({"a": {"shape": [1.5], "dtype": "f32"}})",
       "f:4:28: /arrays/a/shape/0: expected an extent of at least 0, got 1.5"},
      {R"({"a": {"shape": [8], "dtype": 32}})",
       "f:4:41: /arrays/a/dtype: expected a dtype such as \"f32\", got 32"},
      {R"({"a": {"shape": [8], "dtype": "f32", "spec": "x"}})",
       "f:4:56: /arrays/a/spec: expected a list with null, an axis name or a list of them per "
       "dimension, got \"x\""},
      {R"({"a": {"shape": [8], "dtype": "f32", "spec": [null, "x"]}})",
       "f:4:56: /arrays/a/spec: expected at most one entry per dimension of [8], got 2"},
      {R"({"a": {"shape": [8], "dtype": "f32", "spec": ["y"]}})",
       "f:4:57: /arrays/a/spec/0: the mesh has no axis \"y\"; it has \"x\""},
      {R"({"a": {"shape": [8], "dtype": "f32", "spec": [["x", "x"]]}})",
       "f:4:63: /arrays/a/spec/0/1: axis \"x\" already cuts this array"},
      {R"({"a": {"shape": [8], "dtype": "f32", "spec": [3]}})",
       "f:4:57: /arrays/a/spec/0: expected null, an axis name or a list of them, got 3"},
      {R"({"a": {"shape": [8], "dtype": "f32", "init": "itoa"}})",
       "f:4:56: /arrays/a/init: expected \"iota\", \"zeros\", \"ones\", \"random\", {\"random\": "
       "seed} or a number, got \"itoa\"; did you mean \"iota\"?"},
      {R"({"a": {"shape": [8], "dtype": "f32", "init": {"random": -1}}})",
       "f:4:67: /arrays/a/init/random: expected a seed of at least 0, got -1"},
      {R"({"a": {"shape": [8], "dtype": "f32", "init": {"random": 99999999999999999999}}})",
       "f:4:67: /arrays/a/init/random: expected a seed of at most 9223372036854775807, got "
       "99999999999999999999"},
      {R"({"a": {"shape": [99999999999999999999], "dtype": "f32"}})",
       "f:4:28: /arrays/a/shape/0: expected an extent of at most 9223372036854775807, got "
       "99999999999999999999"},
      {R"({"a": {"shape": [8], "dtype": "f32", "init": {"random": 1, "values": "whole"}}})",
       "f:4:80: /arrays/a/init/values: expected \"fractions\" or \"integers\", got \"whole\""},
      {R"({"a": {"shape": [8], "dtype": "f32", "init": null}})",
       "f:4:56: /arrays/a/init: expected a number, \"Infinity\", \"-Infinity\" or \"NaN\", got "
       "null"},
      {R"({"a": {"local_shape": [1], "dtype": "s8"}})",
       "f:4:17: /arrays/a: missing key \"per_device\""},
      {R"({"a": {"local_shape": [1], "dtype": "s8", "per_device": [[1], [2], [3]]}})",
       "f:4:67: /arrays/a/per_device: expected 4 lists, one per device, got 3"},
      {R"({"a": {"local_shape": [1], "dtype": "s8", "per_device": [[1], [2, 3], 4, [128]]}})",
       "f:4:73: /arrays/a/per_device/1: expected 1 element of s8[1], got 2\n"
       "f:4:81: /arrays/a/per_device/2: expected a list of 1 element, got 4\n"
       "f:4:85: /arrays/a/per_device/3/0: expected a value of s8, got 128"},
      {R"({"a": {"local_shape": [1], "dtype": "f16", "per_device": [[1], [true], ["1"], ["nan"]]}})",
       "f:4:75: /arrays/a/per_device/1/0: expected a value of f16, got true\n"
       "f:4:83: /arrays/a/per_device/2/0: expected a value of f16, got \"1\"\n"
       "f:4:90: /arrays/a/per_device/3/0: expected a value of f16, got \"nan\"; did you "
       "mean \"NaN\"?"},
      {R"({"a": {"local_shape": [1], "dtype": "s8", "encoding": "bits",
"per_device": [[1], [256], [-1], [255]]}})",
       "f:5:22: /arrays/a/per_device/1/0: expected the bits of s8, got 256\n"
       "f:5:29: /arrays/a/per_device/2/0: expected the bits of s8, got -1"},
      {R"({"a": {"local_shape": [1], "dtype": "s8", "encoding": "hex", "per_device": []}})",
       "f:4:65: /arrays/a/encoding: expected \"values\" or \"bits\", got \"hex\""},
      {R"({"a": {"local_shape": [1], "dtype": "s8", "shape": [1],
"per_device": [[1], [1], [1], [1]]}})",
       "f:4:53: /arrays/a/shape: unknown key \"shape\"; expected one of \"local_shape\", "
       "\"dtype\", \"on\", \"encoding\", \"per_device\", \"varying\", \"unreduced\", \"reduced\""},
  };
  for (const Case& c : cases) {
    Small s;
    s.arrays = c.part;
    CAPTURE(c.part);
    CHECK(refusal(s.text()) == c.error);
  }
}

TEST_CASE("errors: ops") {
  const Case cases[] = {
      {"{}", "f:5:12: /program: expected a list of ops, got an object"},
      {R"([{"op": "psum"}])", "f:5:13: /program/0: missing key \"id\""},
      {R"([{"id": 5, "op": "psum"}])", "f:5:20: /program/0/id: expected an id, got 5"},
      {R"([{"id": "", "op": "psum"}])", "f:5:20: /program/0/id: expected an id that is not empty"},
      {R"([{"id": [], "op": "psum", "of": "a", "axis_name": "x"}])",
       "f:5:20: /program/0/id: expected an id, or an id for each result, got []"},
      {R"([{"id": ["p", 5, ""], "op": "split", "of": "a", "sizes": [1, 1]}])",
       "f:5:26: /program/0/id/1: expected an id, got 5\n"
       "f:5:29: /program/0/id/2: expected an id that is not empty"},
      {R"([{"id": ["p", "q"], "op": "split", "of": "a", "sizes": [1, 0, 1]}])",
       "f:5:20: /program/0/id: split \"p\": expected 3 ids, got 2: it has 3 results"},
      {R"([{"id": "p", "op": "split", "of": "a", "sizes": [1, 1]}])",
       "f:5:20: /program/0/id: split \"p\": expected 2 ids, got 1: it has 2 results"},
      {R"([{"id": ["r", "s"], "op": "psum", "of": "a", "axis_name": "x"}])",
       "f:5:20: /program/0/id: psum \"r\": expected 1 id, got 2: it has 1 result"},
      {R"([{"id": ["p", "q", "p"], "op": "split", "of": "a", "sizes": [1, 0, 1]}])",
       "f:5:31: /program/0/id/2: expected an unused id, got \"p\", which /program/0 (line 5) "
       "already "
       "names"},
      {R"([{"id": ["p", "q"], "op": "split", "of": "b", "sizes": [1, 1]},
           {"id": "r", "op": "add", "of": ["p", "q"]}])",
       "f:5:53: /program/0/of: expected the id of an array or of an earlier op, got \"b\""},
      {R"([{"id": "r"}])", "f:5:13: /program/0: missing key \"op\""},
      {R"([{"id": "r", "op": 1}])",
       "f:5:31: /program/0/op: expected an op such as \"psum\", got 1"},
      {R"([{"id": "r", "op": "done_start"}])", "f:5:31: /program/0/op: unknown op \"done_start\""},
      {R"([{"id": "r", "op": "psum", "of": 1, "axis_name": "x"}])",
       "f:5:45: /program/0/of: expected an id or a list of them, got 1"},
      {R"([{"id": "r", "op": "psum", "of": [1], "axis_name": "x"}])",
       "f:5:46: /program/0/of/0: expected an id, got 1"},
      {R"([{"id": "r", "op": "full", "of": "a", "shape": [1], "fill_value": 0, "dtype": "f32"}])",
       "f:5:39: /program/0/of: unknown key \"of\"; expected one of \"id\", \"op\", \"shape\", "
       "\"fill_value\", \"dtype\""},
      {R"([{"id": "r", "op": "full", "shape": [1], "fill_value": "0", "dtype": "f32"}])",
       "f:5:67: /program/0/fill_value: expected a number, \"Infinity\", \"-Infinity\" or \"NaN\", "
       "got \"0\""},
      {R"([{"id": "r", "op": "psum", "of": "a", "axis_name": ["x", 1]}])",
       "f:5:69: /program/0/axis_name/1: expected an axis name, got 1"},
      {R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "channels": "2"}])",
       "f:5:80: /program/0/channels: expected a whole number, got \"2\""},
      {R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "axis_index_groups": [0, 1]}])",
       "f:5:90: /program/0/axis_index_groups/0: expected a list of whole numbers, got 0"},
      {R"([{"id": "r", "op": "all_gather", "of": "a", "axis_name": "x", "tiled": 1}])",
       "f:5:83: /program/0/tiled: expected true or false, got 1"},
      {R"([{"id": "r", "op": "compute", "flops": "1 GB", "bytes": -1, "dtype": "f32"}])",
       "f:5:51: /program/0/flops: expected a count of operations such as \"2 TFLOP\", got \"1 "
       "GB\"\n"
       "f:5:68: /program/0/bytes: expected a whole number of B, got -1"},
      {R"([{"id": "r", "op": "dot_general", "of": ["a", "a"], "dimension_numbers": [[0], [0]]}])",
       "f:5:85: /program/0/dimension_numbers: expected dimension numbers such as [[[1], [0]], [[], "
       "[]]], got a list"},
      // The use of an invalid op is not reported as well.
      {R"([{"id": "r", "op": "psum", "of": 1}, {"id": "q", "op": "psum", "of": "r", "axis_name": "x"}])",
       "f:5:45: /program/0/of: expected an id or a list of them, got 1"},
  };
  for (const Case& c : cases) {
    Small s;
    s.program = c.part;
    CAPTURE(c.part);
    CHECK(refusal(s.text()) == c.error);
  }
}

TEST_CASE("errors: ops that use an invalid array are not reported as well") {
  Small s;
  s.arrays = R"({"a": {"shape": [6], "dtype": "f32", "spec": ["x"]}})";
  s.more = R"("outputs": ["r"])";
  CHECK(refusal(s.text()) ==
        "f:4:57: /arrays/a/spec/0: expected dimension 0 of extent 6 to be divisible by 4, the size "
        "of \"x\"");
}

TEST_CASE("errors: more ops on more devices than a program may have") {
  Small s;
  s.cluster = R"({"devices": 1048576, "topology": "ring", "bandwidth": "1 B/s", "latency": "0 s"})";
  s.mesh = R"({"x": 1048576})";
  s.arrays = "{}";
  s.program = "[0";
  for (int i = 0; i < 128; ++i)
    s.program += ",0";
  s.program += "]";
  CHECK(refusal(s.text()) ==
        "f:5:12: /program: expected at most 33554432 ops over all devices, got 135266304 on "
        "1048576 devices (--limit device_ops=N allows more)");
}

/// The small scenario with "programs".
std::string with_programs(const std::string& programs) {
  std::string text = Small{}.text();
  const size_t begin = text.find("\"program\"");
  return text.replace(begin, text.find("\"name\"") - begin - 2, "\"programs\": " + programs);
}

TEST_CASE("errors: several programs") {
  const Case cases[] = {
      {"{}", "f:5:13: /programs: expected a list of programs, got an object"},
      {"[1]",
       "f:5:14: /programs/0: expected a program such as {\"on\": {\"stage\": 0}, \"do\": [...]}, "
       "got 1"},
      {"[{}]", "f:5:14: /programs/0: missing key \"on\"\nf:5:14: /programs/0: missing key \"do\""},
      {R"([{"on": 0, "do": []}])",
       "f:5:21: /programs/0/on: expected an object with a place or an interval per axis, or a list "
       "of devices, got 0"},
      {R"([{"on": {"y": 0}, "do": []}])",
       "f:5:22: /programs/0/on/y: unknown key \"y\"; expected one of \"x\""},
      {R"([{"on": {"x": 4}, "do": []}])",
       "f:5:27: /programs/0/on/x: expected a place from 0 to 3, got 4"},
      {R"([{"on": {"x": [2, 2]}, "do": []}])",
       "f:5:27: /programs/0/on/x: expected an interval such as [0, 2], without its end"},
      {R"([{"on": {"x": [2, 5]}, "do": []}])",
       "f:5:31: /programs/0/on/x/1: expected a place from 0 to 4, got 5"},
      {R"([{"on": [1, 1], "do": []}])", "f:5:25: /programs/0/on/1: device 1 is named twice"},
      {R"([{"on": [4], "do": []}])",
       "f:5:22: /programs/0/on/0: expected a device from 0 to 3, got 4"},
      {R"([{"on": {"x": [0, 2]}, "do": []}, {"on": {"x": 1}, "do": []}])", ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.part);
    CHECK(refusal(with_programs(c.part)) == c.error);
  }
}

TEST_CASE("errors: expectations") {
  const Case cases[] = {
      {"{}", "f:6:11: /expect: expected a list of expectations, got an object"},
      {"[1]",
       "f:6:12: /expect/0: expected an expectation such as {\"close\": [\"x\", \"y\"]}, "
       "got 1"},
      {"[{}]",
       "f:6:12: /expect/0: expected one of \"equal\", \"close\", \"values\", "
       "\"makespan\", \"peak_memory\", \"holds\", got none"},
      {R"([{"equals": ["a", "r"]}])",
       "f:6:13: /expect/0/equals: unknown key \"equals\"; did you mean \"equal\"?"},
      {R"([{"equal": ["r", "r"], "close": ["r", "r"]}])",
       "f:6:12: /expect/0: expected one of \"equal\", \"close\", \"values\", \"makespan\", "
       "\"peak_memory\", \"holds\", got several"},
      {R"([{"equal": ["a", "r"], "devices": "all"}])",
       "f:6:45: /expect/0/devices: expected \"same\" or \"common\", got \"all\""},
      {R"([{"holds": ["no_leak"], "devices": "common"}])",
       "f:6:35: /expect/0/devices: unknown key \"devices\"; expected one of \"equal\", \"close\", "
       "\"values\", \"makespan\", \"peak_memory\", \"holds\""},
      {R"([{"equal": "r"}])", "f:6:22: /expect/0/equal: expected a list of ids, got \"r\""},
      {R"([{"equal": ["r"]}])", "f:6:22: /expect/0/equal: expected at least 2 ids, got 1"},
      {R"([{"close": ["r", "q"]}])",
       "f:6:28: /expect/0/close/1: expected the id of a value, got \"q\""},
      {R"([{"makespan": "2 ms"}])",
       "f:6:25: /expect/0/makespan: expected an object with "
       "\"at_most\", \"at_least\" or both, got \"2 ms\""},
      {R"([{"makespan": {}}])",
       "f:6:25: /expect/0/makespan: expected \"at_most\", \"at_least\" or "
       "both, got neither"},
      {R"([{"makespan": {"at_least": "2 us", "at_most": "1999 ns"}}])",
       "f:6:25: /expect/0/makespan: expected \"at_least\" to be no more than \"at_most\", "
       "1999 ns, got 2 us"},
      {R"([{"makespan": {"at_least": "2 us", "at_most_ns": 2000}}])", ""},
      {R"([{"makespan": {"at_most": "2 MB"}}])",
       "f:6:37: /expect/0/makespan/at_most: expected a time such as \"1 us\", got \"2 MB\""},
      {R"([{"peak_memory": {"at_least": "2 ms"}}])",
       "f:6:41: /expect/0/peak_memory/at_least: expected a size such as \"80 GiB\", got \"2 ms\""},
      {R"([{"holds": ["deadlock_fre", 1]}])",
       "f:6:23: /expect/0/holds/0: expected a property (one of \"deadlock_free\", \"race_free\", "
       "\"no_leak\", \"proved\"), got \"deadlock_fre\"; did you mean \"deadlock_free\"?\n"
       "f:6:39: /expect/0/holds/1: expected a property (one of \"deadlock_free\", \"race_free\", "
       "\"no_leak\", \"proved\"), got 1"},
      {R"([{"holds": "proved"}])",
       "f:6:22: /expect/0/holds: expected a list of properties, got \"proved\""},
      {R"([{"equal": ["r", "q\u001b[2J"]}])",
       "f:6:28: /expect/0/equal/1: expected printable characters, got a control character"},
      {R"([{"holds": []}])",
       "f:6:22: /expect/0/holds: expected at least one property (of \"deadlock_free\", "
       "\"race_free\", \"no_leak\", \"proved\"), got none"},
      {R"([{"equal": ["r", "r"]}])",
       "f:6:28: /expect/0/equal/1: expected another id: \"r\" is compared already"},
      {R"([{"values": {}}])",
       "f:6:23: /expect/0/values: expected the id of a value as key, got none"},
      {R"([{"values": {"q": []}}])",
       "f:6:24: /expect/0/values/q: expected the id of a value, got \"q\""},
      {R"([{"values": {"r": [[1, 2]]}}])",
       "f:6:29: /expect/0/values/r: expected 4 lists, one per device, got 1"},
      {R"([{"values": {"r": [[1, 2], [1, 2], [1, 2], null]}}])",
       "f:6:54: /expect/0/values/r/3: expected a list of elements, since device 3 has the value, "
       "got "
       "null"},
      {R"([{"values": {"r": {"dtype": "s32", "shape": [3], "per_device": []}}}])",
       "f:6:39: /expect/0/values/r/dtype: expected f32, the dtype of the value, got \"s32\"\n"
       "f:6:55: /expect/0/values/r/shape: expected [2], the shape of the value on a device, got "
       "[3]"},
      {R"([{"values": {"r": {"dtype": "f32"}}}])",
       "f:6:29: /expect/0/values/r: missing key \"per_device\""},
      {R"([{"values": []}])",
       "f:6:23: /expect/0/values: expected an object with one list of elements per device for each "
       "id, got a list"},
  };
  for (const Case& c : cases) {
    Small s;
    s.more = "\"expect\": " + c.part;
    CAPTURE(c.part);
    CHECK(refusal(s.text()) == c.error);
  }
}

TEST_CASE("errors: expectations of values that cannot be compared") {
  Small s;
  s.program = R"([{"id": "f", "op": "psum_start", "of": "a", "axis_name": "x"},
{"id": "r", "op": "done", "of": "f"}, {"id": "i", "op": "axis_index", "axis_name": "x"}])";
  s.more = R"("expect": [{"equal": ["r", "f"]}, {"equal": ["r", "i"]}])";
  CHECK(refusal(s.text()) ==
        "f:7:28: /expect/0/equal/1: \"f\" is a future: expect what its done gives\n"
        "f:7:51: /expect/1/equal/1: expected a value like \"r\", f32[2], got \"i\", s32[]");
}

TEST_CASE("errors: a number that the dtype has not, with what to write instead") {
  const auto of = [](const std::string& dtype, const std::string& element) {
    Small s;
    s.arrays = R"({"a": {"local_shape": [1], "dtype": ")" + dtype +
               R"(", "per_device": [[0], [0], [0], [)" + element + "]]}}";
    const std::string message = refusal(s.text());
    return message.substr(message.find("expected"));
  };
  CHECK(of("f32", "1e39") ==
        "expected a value of f32, got 1e39; it is beyond the range of f32 (infinity is written "
        "\"Infinity\")");
  CHECK(of("f8e4m3fn", "1e9") ==
        "expected a value of f8e4m3fn, got 1e9; it is beyond the range of f8e4m3fn");
  CHECK(of("f32", "\"inf\"") == "expected a value of f32, got \"inf\"; did you mean \"Infinity\"?");
  CHECK(of("f8e4m3fn", "\"Infinity\"") ==
        "expected a value of f8e4m3fn, got \"Infinity\"; f8e4m3fn has no infinity");
  CHECK(of("f32", "\"nan\"") == "expected a value of f32, got \"nan\"; did you mean \"NaN\"?");
  CHECK(of("s32", "\"NaN\"") == "expected a value of s32, got \"NaN\"");
  CHECK(of("f32", "\"1\"") == "expected a value of f32, got \"1\"");
}

TEST_CASE("errors: keys with a unit that the quantity does not have") {
  const auto refused = [](const std::string& cluster, const std::string& more = "\"name\": \"t\"") {
    Small s;
    s.cluster = R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", )" + cluster + "}";
    s.more = more;
    const std::string message = refusal(s.text());
    return message.substr(message.find(": /") + 2);
  };
  const std::string times =
      "; the suffix of a time is \"_ps\", \"_ns\", \"_us\", \"_ms\" or \"_s\"";
  CHECK(refused(R"("latency": "1 us", "launch_GB": 1)") ==
        "/cluster/launch_GB: unknown key \"launch_GB\"" + times);
  CHECK(refused(R"("latency": "1 us", "launch_uS": 1)") ==
        "/cluster/launch_uS: unknown key \"launch_uS\"; did you mean \"launch_us\"?");
  CHECK(refused(R"("latency": "1 us")", R"("memory": {"alignment_B": 512})") ==
        "/memory/alignment_B: unknown key \"alignment_B\"; did you mean \"alignment_bytes\"?");
  CHECK(refused(R"("latency": "1 us", "flops": {"bf16_TFLOPs": 989})") ==
        "/cluster/flops/bf16_TFLOPs: expected a dtype such as \"bf16\" as key, got "
        "\"bf16_TFLOPs\"; did you mean \"bf16_TFLOPps\"?");
  CHECK(refused(R"("latency": "1 us", "flops": {"bf16_GB": 989})") ==
        "/cluster/flops/bf16_GB: expected a dtype such as \"bf16\" as key, got \"bf16_GB\"; the "
        "suffix of a compute rate is \"_FLOPps\", \"_kFLOPps\", \"_MFLOPps\", \"_GFLOPps\", "
        "\"_TFLOPps\", \"_PFLOPps\" or \"_EFLOPps\"");
}

TEST_CASE("errors: a number as an operand") {
  Small s;
  s.program = R"([{"id": "r", "op": "max", "of": ["a", 0]}])";
  CHECK(refusal(s.text()) ==
        "f:5:50: /program/0/of/1: expected an id, got 0; make a scalar of it with \"full\" (of "
        "shape [])");
  s.program = R"([{"id": "r", "op": "neg", "of": 1.5}])";
  CHECK(
      refusal(s.text()) ==
      "f:5:44: /program/0/of: expected an id or a list of them, got 1.5; make a scalar of it with "
      "\"full\" (of shape [])");
}

TEST_CASE("errors: ops by the names that other libraries give them") {
  const auto unknown = [](const std::string& op) {
    Small s;
    s.program = R"([{"id": "r", "op": ")" + op + R"(", "of": "a"}])";
    const std::string message = refusal(s.text());
    return message.substr(message.find("unknown"));
  };
  CHECK(unknown("relu") ==
        "unknown op \"relu\"; did you mean \"max\"? relu is the \"max\" of x and a scalar 0 "
        "(\"full\" of shape [])");
  CHECK(unknown("relu6") ==
        "unknown op \"relu6\"; did you mean \"max\"? relu6 is the \"min\" of a scalar 6 and the "
        "\"max\" of x and a scalar 0 (\"full\" of shape [])");
  CHECK(unknown("All-Reduce") == "unknown op \"All-Reduce\"; did you mean \"psum\"?");
  CHECK(unknown("reduce_scatter_start") ==
        "unknown op \"reduce_scatter_start\"; did you mean \"psum_scatter_start\"?");
  CHECK(unknown("send") ==
        "unknown op \"send\"; did you mean \"ppermute\"? its \"perm\" lists who sends to whom");
  CHECK(unknown("gelu") ==
        "unknown op \"gelu\"; write it out in other ops, or give its flops and bytes with "
        "\"compute\"");
  // No collective: there is nothing to start.
  CHECK(unknown("matmul_start") == "unknown op \"matmul_start\"");
}

TEST_CASE("errors: at most twenty unknown keys are reported one by one") {
  Small s;
  s.more = R"("k0": 0)";
  for (int i = 1; i < 25; ++i)
    s.more += ", \"k" + std::to_string(i) + "\": 0";
  const std::string message = refusal(s.text());
  CHECK(std::count(message.begin(), message.end(), '\n') == 20);
  CHECK(message.substr(0, message.find('\n')) == "f:1:1: 5 more unknown keys");
}

TEST_CASE("errors: a file that cannot be read") {
  CHECK_THROWS_WITH_AS((void)load_scenario("no/such/file.json"),
                       "no/such/file.json: cannot be read: No such file or directory", InputError);
  CHECK_THROWS_WITH_AS((void)load_scenario("/"), "/: cannot be read: Is a directory", InputError);
}

}  // namespace
}  // namespace orrery
