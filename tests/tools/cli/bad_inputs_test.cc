// One bad scenario of each kind, as a user meets it: its parts, and what its cluster cannot run.
// (bad_ops_test.cc has its ops, bad_commands_test.cc other files and the command line,
// tests/models/scenario/faults_test.cc more errors of the reader.)

#include "tests/tools/cli/bad_inputs.h"

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

TEST_CASE("bad input: the unchanged inputs are accepted") {
  const Place place;
  CHECK(ran({"run", "small.json"}).outcome == Outcome::Holds);
  CHECK(ran({"prove", "small.xml"}).outcome == Outcome::Holds);
}

TEST_CASE("bad input: text that is not JSON") {
  const Wrong wrong[] = {
      {"an empty file", "", "bad.json:1:1: expected a value, got the end of the file"},
      {"a comma left out", R"({"orrery": 1 "name": "n"})",
       "bad.json:1:14: expected \",\" or \"}\", got \"name\""},
      {"a file that ends too early", R"({"orrery": 1, "mesh": {"x": 4})",
       "bad.json:1:31: expected \",\" or \"}\", got the end of the file (the object begun "
       "at 1:1 is not closed)"},
      {"something after the end", "{} {}", "bad.json:1:4: expected the end of the file, got \"{\""},
      {"a comment without an end", "{ /* no end",
       "bad.json:1:3: expected a key in quotes or \"}\", got a comment that is not closed"},
      {"a number that 64 bits cannot hold", R"({"orrery": 1e400})",
       "bad.json:1:12: /orrery: expected a number that 64 bits can hold, got 1e400"},
      {"a word that JSON has not", R"({"orrery": yes})",
       "bad.json:1:12: expected a value, got \"yes\""},
      {"a string without an end", R"({"name": "small})",
       "bad.json:1:10: expected a value, got a string that is not closed"},
      {"bytes that are not UTF-8", "{\"name\": \"\xff\"}",
       "bad.json:1:10: expected a value, got a string with a faulty escape or bytes that "
       "are not UTF-8"},
      {"a byte of 0", std::string("{\"name\": \0}", 11),
       "bad.json:1:10: expected text, got a byte of 0"},
      {"a control character", Small{.more = R"("name": "\u001b[2J")"}.text(),
       "bad.json:6:9: /name: expected printable characters, got a control character"},
      {"a key twice", Small{.more = R"("name": "n", "name": "m")"}.text(),
       "bad.json:6:14: /name: duplicate key \"name\"; the first is at 6:1"},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: a scenario and its keys") {
  const Wrong wrong[] = {
      {"no object", "[1]", "bad.json:1:1: expected a scenario, an object, got a list"},
      {"keys that are missing", R"({"orrery": 1})",
       "bad.json:1:1: missing key \"cluster\"\n"
       "bad.json:1:1: missing key \"mesh\"\n"
       "bad.json:1:1: missing key \"program\" (or \"programs\")"},
      {"a version that is not there yet", Small{.version = "2"}.text(),
       "bad.json:1:12: /orrery: expected version 1 of the format, got 2"},
      {"a key with a slip", Small{.more = R"("nmae": "n")"}.text(),
       "bad.json:6:1: /nmae: unknown key \"nmae\"; did you mean \"name\"?"},
      {"a key of something else", Small{.more = R"("colour": "red")"}.text(),
       "bad.json:6:1: /colour: unknown key \"colour\"; expected one of \"orrery\", "
       "\"$schema\", \"name\", \"cluster\", \"mesh\", \"memory\", \"arrays\", "
       "\"check_types\", \"program\", \"programs\", \"outputs\", \"then\", \"transform\", "
       "\"numerics\", "
       "\"expect\", \"faults\""},
      {"two ways to give one thing", Small{.more = R"("programs": [])"}.text(),
       "bad.json:6:1: /programs: expected \"program\" or \"programs\", got both"},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: clusters and meshes") {
  const Wrong wrong[] = {
      {"a name that the catalog has not", Small{.cluster = R"("h100-sxm8")"}.text(),
       "bad.json:2:12: /cluster: expected a cluster of the catalog (one of \"a100-sxm-8\", "
       "\"h100-sxm-8\") or an object, got \"h100-sxm8\"; did you mean \"h100-sxm-8\"?"},
      {"a topology with a slip",
       Small{.cluster =
                 R"({"devices": 4, "topology": "rign", "bandwidth": "1 GB/s", "latency": "0 s"})"}
           .text(),
       "bad.json:2:39: /cluster/topology: expected \"ring\", \"fully_connected\", "
       "\"switch\" or \"links\", got \"rign\"; did you mean \"ring\"?"},
      {"a unit of something else",
       Small{.cluster =
                 R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB", "latency": "1 us"})"}
           .text(),
       "bad.json:2:60: /cluster/bandwidth: expected a rate such as \"50 GB/s\", got \"50 "
       "GB\""},
      {"a unit that there is not",
       Small{.cluster =
                 R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/h", "latency": "1 us"})"}
           .text(),
       "bad.json:2:60: /cluster/bandwidth: expected a rate such as \"50 GB/s\", got \"50 "
       "GB/h\""},
      {"an amount without a unit",
       Small{.cluster =
                 R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": 1})"}
           .text(),
       "bad.json:2:82: /cluster/latency: expected a time such as \"1 us\", got 1"},
      {"an amount that 64 bits cannot hold",
       Small{
           .cluster =
               R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "200 days"})"}
           .text(),
       "bad.json:2:82: /cluster/latency: expected a time such as \"1 us\", got \"200 days\""},
      {"a bandwidth of nothing",
       Small{.cluster =
                 R"({"devices": 4, "topology": "ring", "bandwidth": "0 B/s", "latency": "1 us"})"}
           .text(),
       "bad.json:2:60: /cluster/bandwidth: expected at least 1 B/s, got \"0 B/s\""},
      {"no devices",
       Small{.cluster =
                 R"({"devices": 0, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"})"}
           .text(),
       "bad.json:2:24: /cluster/devices: expected a number of devices of at least 1, got 0"},
      {"more devices than the limit",
       Small{
           .cluster =
               R"({"devices": 1000000000000, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us"})"}
           .text(),
       "bad.json:2:24: /cluster/devices: expected at most 1048576 devices, got "
       "1000000000000 (--limit devices=N allows more)"},
      {"a link to where it comes from",
       Small{
           .cluster =
               R"({"devices": 4, "bandwidth": "1 GB/s", "latency": "1 us", "links": [{"from": 1, "to": 1}]})"}
           .text(),
       "bad.json:2:79: /cluster/links/0: expected a link between two different places"},
      {"a link to no device",
       Small{
           .cluster =
               R"({"devices": 4, "bandwidth": "1 GB/s", "latency": "1 us", "links": [{"from": 1, "to": 4}]})"}
           .text(),
       "bad.json:2:97: /cluster/links/0/to: expected a switch's name or a device from 0 to "
       "3, got 4"},
      {"a mesh larger than the cluster", Small{.mesh = R"({"x": 8})"}.text(),
       "bad.json:3:9: /mesh: expected a mesh of at most 4 devices, the cluster's, got 8"},
      {"an axis of nothing", Small{.mesh = R"({"x": 4, "y": 0})"}.text(),
       "bad.json:3:23: /mesh/y: expected an axis size of at least 1, got 0"},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: arrays") {
  const Wrong wrong[] = {
      {"a dtype with a slip",
       Small{.arrays = R"({"a": {"shape": [8], "dtype": "f31", "spec": ["x"]}})"}.text(),
       "bad.json:4:41: /arrays/a/dtype: expected a dtype (one of pred, s8, s16, s32, s64, "
       "u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3fn, f8e5m2, c64, c128), got \"f31\"; "
       "did you mean \"f32\"?"},
      {"an extent that is negative",
       Small{.arrays = R"({"a": {"shape": [-8], "dtype": "f32", "spec": ["x"]}})"}.text(),
       "bad.json:4:28: /arrays/a/shape/0: expected an extent of at least 0, got -8"},
      {"an extent that the axis does not divide",
       Small{.arrays = R"({"a": {"shape": [6], "dtype": "f32", "spec": ["x"]}})"}.text(),
       "bad.json:4:57: /arrays/a/spec/0: expected dimension 0 of extent 6 to be divisible "
       "by 4, the size of \"x\""},
      {"an axis that the mesh has not",
       Small{.arrays = R"({"a": {"shape": [8], "dtype": "f32", "spec": ["y"]}})"}.text(),
       "bad.json:4:57: /arrays/a/spec/0: the mesh has no axis \"y\"; it has \"x\""},
      {"an axis that cuts twice",
       Small{.arrays = R"({"a": {"shape": [8, 8], "dtype": "f32", "spec": ["x", "x"]}})"}.text(),
       "bad.json:4:65: /arrays/a/spec/1: axis \"x\" already cuts this array"},
      {"more entries than dimensions",
       Small{.arrays = R"({"a": {"shape": [8], "dtype": "f32", "spec": ["x", null]}})"}.text(),
       "bad.json:4:56: /arrays/a/spec: expected at most one entry per dimension of [8], got "
       "2"},
      {"more elements than 64 bits can count",
       Small{.arrays = R"({"a": {"shape": [4294967296, 4294967296], "dtype": "f32"}})"}.text(),
       "bad.json:4:27: /arrays/a/shape: expected an array of less than 2^63 bytes, got "
       "f32[4294967296,4294967296]"},
      {"a start that there is not",
       Small{.arrays = R"({"a": {"shape": [8], "dtype": "f32", "spec": ["x"], "init": "itoa"}})"}
           .text(),
       "bad.json:4:71: /arrays/a/init: expected \"iota\", \"zeros\", \"ones\", \"random\", "
       "{\"random\": seed} or a number, got \"itoa\"; did you mean \"iota\"?"},
      {"a whole number that becomes another",
       Small{
           .arrays =
               R"({"a": {"shape": [8], "dtype": "s64", "spec": ["x"], "init": 9007199254740993}})"}
           .text(),
       "bad.json:4:71: /arrays/a/init: expected a whole number that a 64-bit float holds "
       "exactly, such as those up to 2^53, got 9007199254740993"},
      {"too few elements",
       Small{
           .arrays =
               R"({"a": {"local_shape": [2], "dtype": "f32", "per_device": [[1, 2], [3], [4, 5], [6, 7]]}})"}
           .text(),
       "bad.json:4:77: /arrays/a/per_device/1: expected 2 elements of f32[2], got 1"},
      {"too few devices",
       Small{.arrays = R"({"a": {"local_shape": [2], "dtype": "f32", "per_device": [[1, 2]]}})"}
           .text(),
       "bad.json:4:68: /arrays/a/per_device: expected 4 lists, one per device, got 1"},
      {"an element that the dtype has not",
       Small{
           .arrays =
               R"({"a": {"local_shape": [1], "dtype": "s8", "per_device": [[1], [2], [128], [4]]}})"}
           .text(),
       "bad.json:4:79: /arrays/a/per_device/2/0: expected a value of s8, got 128"},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: errors and expectations") {
  const Wrong wrong[] = {
      {"a fault that there is not", Small{.more = R"("faults": [{"slow_devise": 0}])"}.text(),
       "bad.json:6:13: /faults/0/slow_devise: unknown key \"slow_devise\"; did you mean "
       "\"slow_device\"?"},
      {"a factor that speeds up",
       Small{.more = R"("faults": [{"slow_device": 0, "factor": 0.5}])"}.text(),
       "bad.json:6:41: /faults/0/factor: expected a factor from 1 to 1000000 with at most 6 "
       "decimals, such as 1.5, got 0.5"},
      {"a link that the cluster has not",
       Small{.more = R"("faults": [{"cut_link": {"from": 0, "to": 2}}])"}.text(),
       "bad.json:6:25: /faults/0/cut_link: expected a link of the cluster, got device 0 -> "
       "device 2; from device 0, links lead to device 1, device 3"},
      {"an expectation of nothing", Small{.more = R"("expect": [{}])"}.text(),
       "bad.json:6:12: /expect/0: expected one of \"equal\", \"close\", \"values\", "
       "\"makespan\", \"peak_memory\", \"buffered_messages\", \"holds\", got none"},
      {"a property with a slip", Small{.more = R"("expect": [{"holds": ["deadlock_fre"]}])"}.text(),
       "bad.json:6:23: /expect/0/holds/0: expected a property (one of \"deadlock_free\", "
       "\"race_free\", \"no_leak\", \"proved\"), got \"deadlock_fre\"; did you mean "
       "\"deadlock_free\"?"},
      {"a property twice", Small{.more = R"("expect": [{"holds": ["proved", "proved"]}])"}.text(),
       "bad.json:6:33: /expect/0/holds/1: expected each property once, got \"proved\" again"},
      {"a value that the program has not",
       Small{.more = R"("expect": [{"close": ["r", "q"]}])"}.text(),
       "bad.json:6:28: /expect/0/close/1: expected the id of a value, got \"q\""},
      {"values of two shapes",
       Small{
           .program =
               R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}, {"id": "i", "op": "axis_index", "axis_name": "x"}])",
           .more = R"("expect": [{"equal": ["r", "i"]}])"}
           .text(),
       "bad.json:6:28: /expect/0/equal/1: expected a value like \"r\", f32[2], got \"i\", "
       "s32[]"},
      {"a time where a size is",
       Small{.more = R"("expect": [{"peak_memory": {"at_most": "1 ms"}}])"}.text(),
       "bad.json:6:40: /expect/0/peak_memory/at_most: expected a size such as \"80 GiB\", "
       "got \"1 ms\""},
      {"an output that the program has not", Small{.more = R"("outputs": ["rr"])"}.text(),
       "bad.json:6:13: /outputs/0: expected the id of an array or of an earlier op, got "
       "\"rr\""},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: what the cluster cannot run") {
  const Wrong wrong[] = {
      {"an algorithm that there is not",
       Small{.program =
                 R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "rign"}])"}
           .text(),
       "bad.json:5:13: /program/0/algorithm: psum \"r\": expected one of ring, "
       "recursive_doubling, one_shot, got \"rign\"; did you mean \"ring\"?"},
      {"no route between two members",
       Small{
           .cluster =
               R"({"devices": 4, "bandwidth": "1 GB/s", "latency": "1 us", "links": [{"from": 0, "to": 1}]})"}
           .text(),
       "bad.json:5:13: /program/0: psum \"r\": expected a route from device 1 to device 2, where "
       "ring sends, got none over the cluster's links"},
      {"operations of a dtype without a rate",
       Small{
           .cluster =
               R"({"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "flops": {"f32": "1 TFLOP/s"}})",
           .program =
               R"([{"id": "c", "op": "compute", "flops": "1 TFLOP", "bytes": "1 GB", "dtype": "bf16"}])"}
           .text(),
       "bad.json:5:13: /program/0: compute \"c\": expected a peak rate for bf16 under the "
       "cluster's \"flops\", got only f32"},
      {"a local op of more than 106 days",
       Small{
           .cluster =
               R"({"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "flops": {"f32": "1 FLOP/s"}})",
           .program =
               R"([{"id": "c", "op": "compute", "flops": "1000000 TFLOP", "bytes": "1 B", "dtype": "f32"}])"}
           .text(),
       "bad.json:5:13: /program/0: compute \"c\": expected less than 2^63 B and 2^63 ps (106 "
       "days), but a quantity leaves the 64-bit range"},
      {"ops that last more than 106 days together",
       Small{
           .cluster =
               R"({"devices": 4, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us", "flops": {"f32": "1 FLOP/s"}})",
           .program =
               R"([{"id": "c", "op": "compute", "flops": "9000000 FLOP", "bytes": "1 B", "dtype": "f32"},
{"id": "d", "op": "compute", "flops": "9000000 FLOP", "bytes": "1 B", "dtype": "f32"}])"}
           .text(),
       "bad.json:6:1: /program/1: compute \"d\": expected less than 2^63 B and 2^63 ps (106 "
       "days), but a sum leaves the 64-bit range"},
      {"a collective that lasts more than 106 days",
       Small{.cluster =
                 R"({"devices": 4, "topology": "ring", "bandwidth": "1 B/s", "latency": "1 us"})",
             .arrays = R"({"a": {"shape": [40000000], "dtype": "f32", "spec": ["x"]}})"}
           .text(),
       "bad.json:5:13: /program/0: psum \"r\": expected less than 2^63 B and 2^63 ps (106 days), "
       "but a quantity leaves the 64-bit range"},
      {"a collective that lasts more than 106 days on a shared link",
       Small{
           .cluster = R"({"devices": 4, "bandwidth": "1 B/s", "latency": "1 us", "links": [
{"from": 0, "to": "s"}, {"from": "s", "to": 0}, {"from": 1, "to": "s"}, {"from": "s", "to": 1},
{"from": 2, "to": "t"}, {"from": "t", "to": 2}, {"from": 3, "to": "t"}, {"from": "t", "to": 3},
{"from": "s", "to": "t"}, {"from": "t", "to": "s"}]})",
           .arrays = R"({"a": {"shape": [40000000], "dtype": "f32", "spec": ["x"]}})",
           .program =
               R"([{"id": "r", "op": "all_to_all", "of": "a", "axis_name": "x", "split_axis": 0, "concat_axis": 0, "tiled": true}])"}
           .text(),
       "bad.json:8:13: /program/0: all_to_all \"r\": expected less than 2^63 B and 2^63 ps (106 "
       "days), but a quantity leaves the 64-bit range"},
      {"two lists of a device that run for more than 106 days together",
       R"({"orrery": 1, "mesh": {"x": 1}, "check_types": false,
"cluster": {"devices": 1, "topology": "ring", "bandwidth": "1 GB/s", "latency": "1 us",
"memory_bandwidth": "1000 B/s"}, "arrays": {"a": {"shape": [3000000000], "dtype": "s8"}}, "programs": [
{"on": {}, "do": [{"id": "p", "op": "neg", "of": "a"}]},
{"on": {}, "do": [{"id": "q", "op": "neg", "of": "a"}]}]})",
       "bad.json:5:19: /programs/1/do/0: neg \"q\": expected less than 2^63 B and 2^63 ps (106 "
       "days), but a sum leaves the 64-bit range"},
      {"two lists of a device that hold more than 2^63 bytes together",
       with_programs(R"([{"on": {}, "do": [{"id": "p", "op": "neg", "of": "b"}]},
{"on": {}, "do": [{"id": "q", "op": "neg", "of": "b"}]}])",
                     R"({"b": {"shape": [4000000000000000000], "dtype": "s8"}})"),
       "bad.json:6:19: /programs/1/do/0: neg \"q\": expected less than 2^63 B and 2^63 ps (106 "
       "days), but a sum leaves the 64-bit range"},
      {"messages of more than 2^63 bytes over one link",
       Small{
           .cluster =
               R"({"devices": 2, "topology": "ring", "bandwidth": "300 TB/s", "latency": "1 us"})",
           .mesh = R"({"x": 2})",
           .arrays = R"({"a": {"shape": [2000000000000000000], "dtype": "s8"}})",
           .program =
               R"([{"id": "p", "op": "psum", "of": "a", "axis_name": "x", "algorithm": "ring"},
{"id": "q", "op": "psum", "of": "p", "axis_name": "x", "algorithm": "ring"},
{"id": "r", "op": "psum", "of": "q", "axis_name": "x", "algorithm": "ring"},
{"id": "s", "op": "psum", "of": "r", "axis_name": "x", "algorithm": "ring"},
{"id": "t", "op": "psum", "of": "s", "axis_name": "x", "algorithm": "ring"}])",
           .more = R"("check_types": false)"}
           .text(),
       "bad.json: expected less than 2^63 B and 2^63 ps (106 days), but the bytes over link "
       "device 0 -> device 1 leave the 64-bit range"},
      {"an op of more than 2^63 bytes",
       Small{
           .arrays =
               R"({"a": {"shape": [2000000000000000000], "dtype": "f32"}, "b": {"shape": [2000000000000000000], "dtype": "f32"}})",
           .program = R"([{"id": "r", "op": "add", "of": ["a", "b"]}])"}
           .text(),
       "bad.json:5:13: /program/0: add \"r\": expected fewer than 2^63 bytes and operations, got "
       "more for operands (f32[2000000000000000000], f32[2000000000000000000])"},
  };
  refuse_all(wrong, "run", "bad.json");
}
}  // namespace
}  // namespace orrery::test
