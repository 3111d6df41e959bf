// Tests bad scenarios as a user meets them: their parts, and programs that their cluster cannot
// run. Errors that the reader's tests (tests/models/scenario) have with the whole message and place
// are not repeated here. bad_ops_test.cc tests ops, and bad_commands_test.cc other files and the
// command line.

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
      {"a comma left out", R"({"orrery": 1 "name": "n"})",
       "bad.json:1:14: expected \",\" or \"}\", got \"name\""},
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
      {"a control character", Small{.more = R"("name": "\u001b[2J")"}.text(),
       "bad.json:6:9: /name: expected printable characters, got a control character"},
      {"a control character in a key", Small{.more = R"("na\u001bme": "n")"}.text(),
       "bad.json:6:1: expected a key of printable characters, got a control character\n"
       "bad.json:6:1: /na\\u001bme: unknown key \"na\\u001bme\"; did you mean \"name\"?"},
      {"a key twice", Small{.more = R"("name": "n", "name": "m")"}.text(),
       "bad.json:6:14: /name: duplicate key \"name\"; the first is at 6:1"},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: a scenario and its keys") {
  const Wrong wrong[] = {
      {"keys that are missing", R"({"orrery": 1})",
       "bad.json:1:1: missing key \"cluster\"\n"
       "bad.json:1:1: missing key \"mesh\"\n"
       "bad.json:1:1: missing key \"program\" (or \"programs\")"},
      {"a key with a slip", Small{.more = R"("nmae": "n")"}.text(),
       "bad.json:6:1: /nmae: unknown key \"nmae\"; did you mean \"name\"?"},
      {"a key of something else", Small{.more = R"("colour": "red")"}.text(),
       "bad.json:6:1: /colour: unknown key \"colour\"; expected one of \"orrery\", "
       "\"$schema\", \"name\", \"cluster\", \"mesh\", \"memory\", \"check_types\", \"arrays\", "
       "\"program\", \"programs\", \"outputs\", \"then\", \"transform\", "
       "\"numerics\", "
       "\"expect\", \"faults\", \"concurrent_streams\", \"fusion\""},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: clusters and meshes") {
  const Wrong wrong[] = {
      {"a name that the catalog has not", Small{.cluster = R"("h100-sxm8")"}.text(),
       "bad.json:2:12: /cluster: expected a cluster of the catalog (one of \"a100-40gb-sxm-8\", "
       "\"a100-sxm-8\", \"b200-sxm-8\", \"gb200-nvl72\", \"gh200-4\", \"h100-sxm-8\", "
       "\"h200-sxm-8\", \"mi300x-8\", \"tpu-v4\", \"tpu-v5e\", \"tpu-v5p\", \"tpu-v6e\") or an "
       "object, got \"h100-sxm8\"; did you mean \"h100-sxm-8\"?"},
      {"a unit that there is not",
       Small{.cluster =
                 R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/h", "latency": "1 us"})"}
           .text(),
       "bad.json:2:60: /cluster/bandwidth: expected a rate such as \"50 GB/s\", got \"50 "
       "GB/h\""},
      {"an amount that 64 bits cannot hold",
       Small{
           .cluster =
               R"({"devices": 4, "topology": "ring", "bandwidth": "50 GB/s", "latency": "200 days"})"}
           .text(),
       "bad.json:2:82: /cluster/latency: expected a time such as \"1 us\", got \"200 days\""},
      {"an axis of nothing", Small{.mesh = R"({"x": 4, "y": 0})"}.text(),
       "bad.json:3:23: /mesh/y: expected an axis size of at least 1, got 0"},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: arrays") {
  const Wrong wrong[] = {
      {"an extent that is negative",
       Small{.arrays = R"({"a": {"shape": [-8], "dtype": "f32", "spec": ["x"]}})"}.text(),
       "bad.json:4:28: /arrays/a/shape/0: expected an extent of at least 0, got -8"},
      {"an axis that cuts twice",
       Small{.arrays = R"({"a": {"shape": [8, 8], "dtype": "f32", "spec": ["x", "x"]}})"}.text(),
       "bad.json:4:65: /arrays/a/spec/1: axis \"x\" already cuts this array"},
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
      {"a property twice", Small{.more = R"("expect": [{"holds": ["proved", "proved"]}])"}.text(),
       "bad.json:6:33: /expect/0/holds/1: expected each property once, got \"proved\" again"},
      {"a time where a size is",
       Small{.more = R"("expect": [{"peak_memory": {"at_most": "1 ms"}}])"}.text(),
       "bad.json:6:40: /expect/0/peak_memory/at_most: expected a size such as \"80 GiB\", "
       "got \"1 ms\""},
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
       "recursive_doubling, bidirectional, halving_doubling, tree, one_shot, got \"rign\"; did you "
       "mean "
       "\"ring\"?"},
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
