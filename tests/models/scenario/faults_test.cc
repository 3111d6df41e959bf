// Tests the other errors of the readers, by the part of the scenario. bad_inputs_test.cc has one
// error of each kind, cluster_faults_test.cc those of clusters, and expectation_faults_test.cc
// those of expectations.

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::Case;
using test::refusal;
using test::Small;
using test::with_programs;

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
       "f:6:25: /memory/transport: expected true, or an object with \"channels\", or with "
       "\"protocol\", \"slot\", got \"simple\""},
      {R"("memory": {"transport": {"channels": 0}})",
       "f:6:25: /memory/transport: expected a cluster with a \"transport\" that has "
       "\"connections\" or whose protocols have slots, or \"protocol\" and \"slot\" here, got an "
       "object\n"
       "f:6:38: /memory/transport/channels: expected a number of channels from 1 to 1024, got 0"},
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
       "seed}, {\"same_as\": array} or a number, got \"itoa\"; did you mean \"iota\"?"},
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
       "\"dtype\", \"on\", \"spec\", \"hlo\", \"encoding\", \"per_device\", \"varying\", "
       "\"unreduced\", \"reduced\""},
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
       "f:5:63: /program/0/axis_name: psum \"r\": expected a dimension from 0 to 0, "
       "got 1"},
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

TEST_CASE("errors: groups of psends and precvs") {
  const auto refused = [](const std::string& group) {
    Small s;
    s.program = "[" + group + "]";
    const std::string message = refusal(s.text());
    return message.substr(std::min(message.find("/program"), message.size()));
  };
  const std::string send =
      R"({"id": "t", "op": "psend", "of": "a", "axis_name": "x", "perm": [[0, 1]])";
  const auto group = [](const std::string& parts) {
    return R"({"id": "g", "op": "group", "do": [)" + parts + "]}";
  };
  CHECK(refused(group("")) == "/program/0/do: expected at least one psend or precv, got []");
  CHECK(refused(group(R"({"id": "r", "op": "psum", "of": "a", "axis_name": "x"})")) ==
        "/program/0/do/0/op: expected \"psend\" or \"precv\" in a group, got \"psum\"");
  CHECK(refused(group(R"({"id": "r"})")) ==
        "/program/0/do/0: expected \"psend\" or \"precv\" in a group, got no \"op\"");
  CHECK(refused(group("1")) == "/program/0/do/0: expected a psend or a precv, got 1");
  CHECK(refused(group(send + R"(, "stream": 1})")) ==
        "/program/0/do/0/stream: expected no stream in a group, where each message has one of its "
        "own");
  CHECK(refused(group(send + "}") + ", " + R"({"id": "g", "op": "group", "do": [)" +
                std::string(send).replace(8, 1, "u") + "}]}") ==
        "/program/1/id: expected an unused id, got \"g\", which /program/0/id (line 5) already "
        "names");
  CHECK(
      refused(R"({"id": "t", "op": "group", "do": [)" + send + "}]}") ==
      "/program/0/do/0/id: expected an unused id, got \"t\", which /program/0/id (line 5) already "
      "names");
  CHECK(refused(R"({"id": "g", "op": "group"})") == "/program/0: missing key \"do\"");
  CHECK(refused(R"({"id": "r", "op": "batch_isend_irecv"})") ==
        "/program/0/op: unknown op \"batch_isend_irecv\"; did you mean \"group\"?");
  CHECK(refused(group(send + "}")).empty());
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
  // A local op has no start.
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
