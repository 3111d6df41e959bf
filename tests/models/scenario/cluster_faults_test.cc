// Tests the errors in clusters and meshes.

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::Case;
using test::refusal;
using test::Small;

TEST_CASE("errors: clusters") {
  const Case cases[] = {
      {R"("h100-smx-8")",
       "f:2:12: /cluster: expected a cluster of the catalog (one of \"a100-40gb-sxm-8\", "
       "\"a100-sxm-8\", \"b200-sxm-8\", \"gb200-nvl72\", \"gh200-4\", \"h100-sxm-8\", "
       "\"h200-sxm-8\", \"mi300x-8\", \"tpu-v4\", \"tpu-v5e\", \"tpu-v5p\", \"tpu-v6e\") or an "
       "object, got \"h100-smx-8\"; did you mean \"h100-sxm-8\"?"},
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
       "f:2:39: /cluster/topology: expected \"ring\", \"line\", \"fully_connected\", \"switch\", "
       "\"links\" or an object, got 4"},
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
       "f:2:39: /cluster/topology: expected one of \"links\", \"ring\", \"line\", \"torus\", "
       "\"mesh\", \"fully_connected\", \"switch\", \"fat_tree\", \"nodes\" as key, got none\n"
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
      {R"({"devices": 4, "links": [], "efficiency": 1})",
       "f:2:54: /cluster/efficiency: expected an object with what is reached per dtype, and of "
       "\"memory\", got 1"},
      {R"({"devices": 4, "links": [], "flops": {"f32": "1 TFLOP/s"},
"efficiency": {"f32": 1, "bf16": {}, "memory": "3/2"}})",
       "f:3:23: /cluster/efficiency/f32: expected an object with \"share\", \"half_depth\", "
       "\"half_side\", \"launch\", \"attention\" and \"calibrated\", got 1\n"
       "f:3:26: /cluster/efficiency/bf16: expected \"memory\" or a dtype of \"flops\" as key, got "
       "\"bf16\"\n"
       "f:3:48: /cluster/efficiency/memory: expected a share such as \"15/16\", at most 1, with "
       "terms up to 1000000, got \"3/2\""},
      {R"({"devices": 4, "links": [], "flops": {"f32": "1 TFLOP/s"},
"efficiency": {"f32": {"half_side": 0, "depth": 1}, "float32": {}}})",
       "f:3:37: /cluster/efficiency/f32/half_side: expected a whole number from 1 to 1000000000, "
       "got 0\n"
       "f:3:40: /cluster/efficiency/f32/depth: unknown key \"depth\"; expected one of \"share\", "
       "\"half_depth\", \"half_side\", \"launch\", \"attention\", \"calibrated\"\n"
       "f:3:53: /cluster/efficiency/float32: the efficiency of f32 is given twice"},
      {R"({"devices": 4, "links": [], "flops": {"f32": "1 TFLOP/s", "bf16": "1 TFLOP/s"},
"efficiency": {"f32": {"attention": 1}, "bf16": {"attention": {"share": "1/2", "half_keys": 0, "keys": 1}}}})",
       "f:3:37: /cluster/efficiency/f32/attention: expected an object with \"share\", "
       "\"half_keys\", \"launch\" and \"calibrated\", got 1\n"
       "f:3:93: /cluster/efficiency/bf16/attention/half_keys: expected a whole number from 1 to "
       "1000000000, got 0\n"
       "f:3:96: /cluster/efficiency/bf16/attention/keys: unknown key \"keys\"; expected one of "
       "\"share\", \"half_keys\", \"launch\", \"calibrated\""},
      {R"({"devices": 4, "links": [], "flops": {"f32": "1 TFLOP/s"},
"efficiency": {"f32": {"calibrated": 1, "attention": {"share": 1, "calibrated": {"keys": 1, "head": 2}}}}})",
       "f:3:38: /cluster/efficiency/f32/calibrated: expected an object with a range per size, got "
       "1\n"
       "f:3:64: /cluster/efficiency/f32/attention/share: expected a share such as \"15/16\", at "
       "most 1, with terms up to 1000000, got 1\n"
       "f:3:82: /cluster/efficiency/f32/attention/calibrated/keys: unknown key \"keys\"; expected "
       "one of \"batch\", \"sequence\", \"heads\", \"kv_heads\", \"head\"\n"
       "f:3:101: /cluster/efficiency/f32/attention/calibrated/head: expected an object with "
       "\"least\" and \"most\", got 2"},
      {R"({"devices": 4, "links": [], "flops": {"f32": "1 TFLOP/s"},
"efficiency": {"f32": {"calibrated": {"m": {"least": 2, "most": 1}, "n": {"least": 0}}}}})",
       "f:3:44: /cluster/efficiency/f32/calibrated/m: expected the least to be at most the most\n"
       "f:3:74: /cluster/efficiency/f32/calibrated/n: missing key \"most\"\n"
       "f:3:84: /cluster/efficiency/f32/calibrated/n/least: expected a size from 1 to "
       "1099511627776, got 0"},
      {R"({"devices": 4, "links": [], "flops": {"f32": "1 TFLOP/s"},
"efficiency": {"f32": {"attention": {}}}})",
       "f:3:37: /cluster/efficiency/f32/attention: missing key \"share\""},
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
       "f:3:24: /cluster/in_switch_reduction: expected true, false, \"inside\" or a list of switch "
       "names, got "
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
}  // namespace
}  // namespace orrery
