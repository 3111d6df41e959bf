// One bad input of each kind, as a user meets it: the whole message on stderr, nothing on stdout,
// exit code 2. (tests/models/scenario/faults_test.cc has more errors of the reader.)

#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/scenario/support.h"
#include "tests/tools/cli/files.h"
#include "tests/tools/cli/ran.h"
#include "tests/tools/import/xml.h"

namespace orrery::test {
namespace {

/// A file and what is said of it.
struct Wrong {
  const char* kind;
  std::string text;
  std::string message;
};

struct WrongCommand {
  const char* kind;
  std::vector<std::string> arguments;
  std::string message;
};

/// In the folder's files, by their names alone.
class Place {
 public:
  Place() {
    folder_.file("small.json", Small{}.text());
    folder_.file("small.xml", two_gather().text());
    folder_.file("empty/readme.txt", "");
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_.path());
  }
  ~Place() { std::filesystem::current_path(before_); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void refuse(const char* kind, const std::vector<std::string>& arguments,
              const std::string& message) const {
    CAPTURE(kind);
    const Ran wrong = ran(arguments);
    CHECK(wrong.outcome == Outcome::WrongInput);
    CHECK(wrong.out == "");
    CHECK(wrong.err == message + "\n");
  }
  void file(const std::string& name, const std::string& text) const { folder_.file(name, text); }

 private:
  TemporaryFolder folder_;
  std::filesystem::path before_;
};

void refuse_all(std::span<const Wrong> all, const std::string& command, const std::string& file) {
  const Place place;
  for (const Wrong& wrong : all) {
    place.file(file, wrong.text);
    place.refuse(wrong.kind, {command, file}, wrong.message);
  }
}

void refuse_all(std::span<const WrongCommand> all) {
  const Place place;
  for (const WrongCommand& wrong : all)
    place.refuse(wrong.kind, wrong.arguments, wrong.message);
}

/// The small scenario with "programs".
std::string with_programs(const std::string& programs, const std::string& arrays = Small{}.arrays) {
  std::string text = Small{.arrays = arrays}.text();
  const size_t begin = text.find("\"program\"");
  return text.replace(begin, text.find("\"name\"") - begin - 2, "\"programs\": " + programs);
}

/// The small algorithm with the first `from` replaced.
std::string gather_with(const std::string& from, const std::string& to) {
  std::string text = two_gather().text();
  return text.replace(text.find(from), from.size(), to);
}

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

TEST_CASE("bad input: ops and their operands") {
  const Wrong wrong[] = {
      {"an op with a slip",
       Small{.program = R"([{"id": "r", "op": "psun", "of": "a", "axis_name": "x"}])"}.text(),
       "bad.json:5:31: /program/0/op: unknown op \"psun\"; did you mean \"psum\"?"},
      {"a parameter with a slip",
       Small{.program =
                 R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "algoritm": "ring"}])"}
           .text(),
       "bad.json:5:68: /program/0/algoritm: unknown key \"algoritm\"; did you mean "
       "\"algorithm\"?"},
      {"a parameter left out", Small{.program = R"([{"id": "r", "op": "psum", "of": "a"}])"}.text(),
       "bad.json:5:13: /program/0: psum \"r\": expected the parameter \"axis_name\", an axis name "
       "or a list of them"},
      {"a parameter of another kind",
       Small{.program =
                 R"([{"id": "r", "op": "all_gather", "of": "a", "axis_name": "x", "tiled": 1}])"}
           .text(),
       "bad.json:5:83: /program/0/tiled: expected true or false, got 1"},
      {"a parameter beyond its range",
       Small{.program =
                 R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "channels": 1025}])"}
           .text(),
       "bad.json:5:80: /program/0/channels: psum \"r\": expected at most 1024, got 1025"},
      {"an id twice",
       Small{.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "r", "op": "psum", "of": "a", "axis_name": "x"}])"}
           .text(),
       "bad.json:6:8: /program/1/id: expected an unused id, got \"r\", which /program/0 "
       "(line 5) already names"},
      {"an operand with a slip",
       Small{.program = R"([{"id": "rs", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "q", "op": "neg", "of": "rr"}])"}
           .text(),
       "bad.json:6:32: /program/1/of: expected the id of an array or of an earlier op, got "
       "\"rr\""},
      {"an operand that comes later",
       Small{.program = R"([{"id": "r", "op": "psum", "of": "q", "axis_name": "x"},
{"id": "q", "op": "psum", "of": "r", "axis_name": "x"}])"}
           .text(),
       "bad.json:5:45: /program/0/of: expected the id of an array or of an earlier op, got "
       "\"q\", which only /program/1 (line 6) defines"},
      {"an operand too many",
       Small{.program = R"([{"id": "r", "op": "neg", "of": ["a", "a"]}])"}.text(),
       "bad.json:5:44: /program/0/of: neg \"r\": expected 1 operand, got 2"},
      {"operands of two shapes",
       Small{.program = R"([{"id": "g", "op": "all_gather", "of": "a", "axis_name": "x"},
{"id": "s", "op": "add", "of": ["a", "g"]}])"}
           .text(),
       "bad.json:6:32: /program/1/of: add \"s\": expected operands of one shape, got f32[2] and "
       "f32[4,2]; only scalars (shape []) are broadcast"},
      {"operands of two dtypes",
       Small{.program =
                 R"([{"id": "i", "op": "convert_element_type", "of": "a", "new_dtype": "s32"},
{"id": "s", "op": "add", "of": ["a", "i"]}])"}
           .text(),
       "bad.json:6:32: /program/1/of: add \"s\": expected operands of one dtype, got f32[2] and "
       "s32[2]; nothing is converted unasked"},
      {"an op that the dtype has not",
       Small{.program =
                 R"([{"id": "i", "op": "convert_element_type", "of": "a", "new_dtype": "s32"},
{"id": "s", "op": "exp", "of": "i"}])"}
           .text(),
       "bad.json:6:32: /program/1/of: exp \"s\": expected floats or complex numbers, got s32"},
      {"an axis that the mesh has not",
       Small{.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "z"}])"}.text(),
       "bad.json:5:63: /program/0/axis_name: psum \"r\": expected an axis of the mesh (x), got "
       "\"z\""},
      {"a dimension that the operand has not",
       Small{
           .program =
               R"([{"id": "r", "op": "psum_scatter", "of": "a", "axis_name": "x", "scatter_dimension": 1}])"}
           .text(),
       "bad.json:5:97: /program/0/scatter_dimension: psum_scatter \"r\": expected a dimension "
       "from 0 to 0, got 1"},
      {"an extent that the group does not divide",
       Small{
           .program =
               R"([{"id": "r", "op": "psum_scatter", "of": "a", "axis_name": "x", "tiled": true}])"}
           .text(),
       "bad.json:5:13: /program/0/scatter_dimension: psum_scatter \"r\": expected dimension 0 to "
       "be divisible by the group size 4, got 2"},
      {"another number of elements",
       Small{.program = R"([{"id": "r", "op": "reshape", "of": "a", "new_sizes": [3]}])"}.text(),
       "bad.json:5:66: /program/0/new_sizes: reshape \"r\": expected sizes of 2 elements, as [2] "
       "has, got [3]"},
      {"an order that leaves a dimension out",
       Small{.program = R"([{"id": "r", "op": "transpose", "of": "a", "permutation": [1]}])"}
           .text(),
       "bad.json:5:70: /program/0/permutation: transpose \"r\": expected each dimension of [2] "
       "once, got [1]"},
      {"groups of two sizes",
       Small{
           .program =
               R"([{"id": "r", "op": "all_gather", "of": "a", "axis_name": "x", "axis_index_groups": [[0], [1, 2, 3]]}])"}
           .text(),
       "bad.json:5:95: /program/0/axis_index_groups: all_gather \"r\": expected groups of one "
       "size, got 1 and 3"},
      {"groups that leave a device out",
       Small{
           .program =
               R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x", "axis_index_groups": [[0, 1], [2]]}])"}
           .text(),
       "bad.json:5:89: /program/0/axis_index_groups: psum \"r\": expected each of the 4 ranks in "
       "a group, got none with rank 3"},
      {"two devices that send to one",
       Small{
           .program =
               R"([{"id": "r", "op": "ppermute", "of": "a", "axis_name": "x", "perm": [[0, 1], [2, 1]]}])"}
           .text(),
       "bad.json:5:80: /program/0/perm: ppermute \"r\": expected each destination once, got rank "
       "1 twice"},
      {"a future read before its done",
       Small{.program = R"([{"id": "f", "op": "psum_start", "of": "a", "axis_name": "x"},
{"id": "q", "op": "neg", "of": "f"}])"}
           .text(),
       "bad.json:6:32: /program/1/of: neg \"q\": expected a value, got \"f\", a future that only "
       "done may read"},
      {"a done of no start", Small{.program = R"([{"id": "q", "op": "done", "of": "a"}])"}.text(),
       "bad.json:5:45: /program/0/of: done \"q\": expected a future, the result of a start, got "
       "f32[2]{V:x}"},
      {"an op that cannot be started",
       Small{.program = R"([{"id": "f", "op": "neg_start", "of": "a"}])"}.text(),
       "bad.json:5:31: /program/0/op: unknown op \"neg_start\""},
      {"storage donated that is not read",
       Small{.program = R"([{"id": "r", "op": "psum", "of": "a", "axis_name": "x"},
{"id": "q", "op": "neg", "of": "a", "donate": ["r"]}])"}
           .text(),
       "bad.json:6:47: /program/1/donate: neg \"q\": expected one of its operands (a), got \"r\""},
  };
  refuse_all(wrong, "run", "bad.json");
}

TEST_CASE("bad input: loops and several programs") {
  const Wrong wrong[] = {
      {"a name carried and not yielded",
       Small{
           .program =
               R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "a"}, "body": []}])"}
           .text(),
       "bad.json:5:78: /program/0/carry/h: expected \"yield\" to say what \"h\" is in the "
       "next iteration"},
      {"a loop that ends before it begins",
       Small{.program = R"([{"id": "l", "op": "fori_loop", "lower": 2, "upper": 1, "body": []}])"}
           .text(),
       "bad.json:5:13: /program/0: fori_loop: expected \"upper\" to be at least \"lower\" "
       "2, got 1"},
      {"what is carried changes its shape",
       Small{.program =
                 R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "a"},
"body": [{"id": "y", "op": "all_gather", "of": "h", "axis_name": "x"}], "yield": {"h": "y"}}])"}
           .text(),
       "bad.json:6:88: /program/0/yield/h: fori_loop: expected \"h\" to stay f32[2], got "
       "f32[4,2] from \"y\" (in l[0])"},
      {"a loop of more ops than the limit, whose carries change places",
       Small{.program = R"([{"id": "b", "op": "neg", "of": "a"},
{"id": "l", "op": "fori_loop", "lower": 0, "upper": 2147483647, "carry": {"p": "a", "q": "b"},
"body": [{"id": "y", "op": "add", "of": ["p", "q"]}], "yield": {"p": "q", "q": "p"}}])"}
           .text(),
       "bad.json:6:1: /program/1: expected at most 262144 ops, got 262145 (--limit ops=N "
       "allows more)\n"
       "bad.json:6:1: /program/1: fori_loop: every iteration is written out, since \"p\", \"q\" "
       "differ from one to the next (where carries alternate, write two iterations in the body)"},
      {"a wrong id after a loop too long to be read whole",
       Small{
           .program =
               R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000000, "carry": {"h": "a"},
"body": [{"id": "y", "op": "neg", "of": "h"}], "yield": {"h": "y"}},
{"id": "q", "op": "neg", "of": "ll"}])"}
           .text(),
       "bad.json:7:32: /program/1/of: expected the id of an array or of an earlier op, got \"ll\""},
      {"a wrong id in one iteration of such a loop",
       Small{
           .program =
               R"([{"id": "l", "op": "fori_loop", "lower": 0, "upper": 1000000, "carry": {"h": "a"},
"body": [{"id": "y", "op": "neg", "of": "h"}], "yield": {"h": "y"}},
{"id": "q", "op": "neg", "of": "l[500000].yy"}])"}
           .text(),
       "bad.json:7:32: /program/1/of: expected the id of an array or of an earlier op, got "
       "\"l[500000].yy\"; did you mean \"l[500000].y\"?"},
      {"a device that meets itself",
       with_programs(
           R"([{"on": [0, 1], "do": [{"id": "p", "op": "psum", "of": "a", "axis_name": [], "site": "s"}]},
{"on": [1, 2, 3], "do": [{"id": "q", "op": "psum", "of": "a", "axis_name": [], "site": "s"}]}])"),
       "bad.json:5:98: /programs/0/do/0/site: expected each device to issue site \"s\" in one of "
       "its threads, got device 1 in \"program 0\" and \"program 1\""},
      {"an array that a device of the program lacks",
       with_programs(R"([{"on": [0, 1], "do": [{"id": "p", "op": "neg", "of": "b"}]}])",
                     R"({"b": {"shape": [8], "dtype": "f32", "on": [1, 2]}})"),
       "bad.json:5:67: /programs/0/do/0/of: neg \"p\": expected an array that every device of "
       "program "
       "\"program 0\" has, got \"b\", which device 0 lacks"},
      {"an array cut over an axis that its devices do not span",
       with_programs(R"([{"on": [0, 1], "do": []}])",
                     R"({"b": {"shape": [8], "dtype": "f32", "on": [1, 2], "spec": ["x"]}})"),
       "bad.json:4:71: /arrays/b/spec/0: expected an axis that the array's devices span whole, got "
       "\"x\": device 1 has the array, device 0 does not"},
      {"a device that the mesh has not", with_programs(R"([{"on": [4], "do": []}])"),
       "bad.json:5:22: /programs/0/on/0: expected a device from 0 to 3, got 4"},
      {"a value of another program",
       with_programs(R"([{"on": [0, 1], "do": [{"id": "p", "op": "neg", "of": "a"}]},
{"on": [2, 3], "do": [{"id": "q", "op": "neg", "of": "p"}]}])"),
       "bad.json:6:54: /programs/1/do/0/of: expected the id of an array or of an earlier op "
       "of the same thread, got \"p\", which is of thread \"program 0\""},
      {"ops of two kinds at one site",
       with_programs(
           R"([{"on": [0, 1], "do": [{"id": "p", "op": "psum", "of": "a", "axis_name": "x", "site": "s"}]},
{"on": [2, 3], "do": [{"id": "q", "op": "pmax", "of": "a", "axis_name": "x", "site": "s"}]}])"),
       "bad.json:6:23: /programs/1/do/0/op: expected psum at site \"s\", as \"p\" is, got "
       "pmax"},
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
       "\"makespan\", \"peak_memory\", \"holds\", got none"},
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

TEST_CASE("bad input: MSCCL algorithms") {
  const Wrong wrong[] = {
      {"text that is no XML", "<algo", "bad.xml:1:5: the file ends within this element"},
      {"an element that is not closed", "<algo><gpu></algo>",
       "bad.xml:1:14: this is no XML: Start-end tags mismatch"},
      {"another document", "<xml/>", "bad.xml:1:1: expected an MSCCL algorithm, <algo>, got <xml>"},
      {"bytes that are not UTF-8", "<algo name=\"\xff\"/>",
       "bad.xml:1:13: expected UTF-8, got a byte that is not"},
      {"a collective that there is not", gather_with("coll=\"allgather\"", "coll=\"gossip\""),
       "bad.xml:1:1: /algo/coll: expected allreduce, allgather, alltoall, reduce_scatter, "
       "broadcast, reduce, gather, scatter or custom, got \"gossip\""},
      {"a custom collective without a definition",
       gather_with("coll=\"allgather\"", "coll=\"custom\""),
       "bad.xml: /algo/coll: a custom collective needs a definition: --definition FILE with "
       "{\"outputs\": [[gpu, chunk, [[gpu, chunk], ..]], ..]}"},
      {"two algorithms", gather_with("</algo>", "</algo><algo/>"),
       "bad.xml:14:8: expected one <algo> in a file, got a second one"},
      {"text after the end", gather_with("</algo>", "</algo> end"),
       "bad.xml:14:9: expected an MSCCL algorithm, <algo>, and nothing else, got text"},
      {"an attribute twice", gather_with("inplace=\"1\"", "inplace=\"1\" inplace=\"0\""),
       "bad.xml:1:1: /algo/inplace: expected the attribute once, got it again"},
      {"a protocol that there is not", gather_with("proto=\"LL\"", "proto=\"LL256\""),
       "bad.xml:1:1: /algo/proto: expected Simple, LL or LL128, got \"LL256\""},
      {"a channel that there is not", gather_with("chan=\"0\"", "chan=\"3\""),
       "bad.xml:3:1: /algo/gpu/0/tb/0/chan: expected a channel below nchannels (1), got 3"},
      {"an attribute with a slip", gather_with("inplace", "inplce"),
       "bad.xml:1:1: /algo/inplce: unknown attribute; did you mean \"inplace\"?\n"
       "bad.xml:1:1: /algo: attribute \"inplace\" is missing"},
      {"a number that is none", gather_with("nchunksperloop=\"2\"", "nchunksperloop=\"two\""),
       "bad.xml:1:1: /algo/nchunksperloop: expected a whole number from 1 to 2147483647, "
       "got \"two\""},
      {"another number of gpus", gather_with("ngpus=\"2\"", "ngpus=\"3\""),
       "bad.xml:1:1: /algo/ngpus: expected 2, as the file has 2 gpus, got 3"},
      {"a peer that there is not", gather_with("send=\"1\"", "send=\"5\""),
       "bad.xml:3:1: /algo/gpu/0/tb/0/send: expected a whole number from -1 to 1, got "
       "\"5\""},
      {"a type of step that there is not", gather_with("type=\"r\"", "type=\"rx\""),
       "bad.xml:5:1: /algo/gpu/0/tb/0/step/1/type: expected s, r, rcs, rrs, rrc, rrcs, cpy, "
       "re or nop, got \"rx\""},
      {"a chunk outside its buffer", gather_with("dstoff=\"1\"", "dstoff=\"2\""),
       "bad.xml:5:1: /algo/gpu/0/tb/0/step/1/dstoff: expected chunks of buffer o, which has "
       "chunks 0 to 1, got chunk 2"},
      {"a step that waits for no step", gather_with("depid=\"-1\"", "depid=\"4\""),
       "bad.xml:4:1: /algo/gpu/0/tb/0/step/0/depid: gpu 0 has no thread block 4"},
      {"an element that there is not", gather_with("<tb id=\"0\"", "<bt/><tb id=\"0\""),
       "bad.xml:3:1: /algo/gpu/0/bt/0: expected <tb>, got <bt>"},
  };
  refuse_all(wrong, "prove", "bad.xml");
}

TEST_CASE("bad input: the command line") {
  // small.json and small.xml are right; empty is a folder.
  const WrongCommand wrong[] = {
      {"no command",
       {},
       "A subcommand is required\n"
       "Run with --help for more information."},
      {"a command that there is not",
       {"fly"},
       "A subcommand is required\n"
       "Run with --help for more information."},
      {"an option that there is not",
       {"run", "small.json", "--sped"},
       "The following argument was not expected: --sped\n"
       "Run with --help for more information."},
      {"a file left out",
       {"run"},
       "FILE is required\n"
       "Run with --help for more information."},
      {"a word that the option has not",
       {"run", "small.json", "--format", "xml"},
       "--format: expected text|json, got xml\n"
       "Run with --help for more information."},
      {"a file that is not there",
       {"run", "none.json"},
       "none.json: cannot be read: No such file or directory"},
      {"a folder without scenarios",
       {"run", "empty"},
       "empty: no scenario (*.json) lies below this folder"},
      {"values without the report that has them",
       {"run", "small.json", "--values", "r"},
       "--values: values go into the JSON report: add --format json"},
      {"an op that the program has not",
       {"run", "small.json", "--explain", "rr"},
       "--explain: small.json has no op or value \"rr\""},
      {"a report written over its scenario",
       {"run", "small.json", "-o", "small.json"},
       "--output: would overwrite the input small.json"},
      {"a report where there is no folder",
       {"run", "small.json", "-o", "none/report.txt"},
       "none/report.txt: cannot be written: No such file or directory"},
      {"a trace of two runs",
       {"run", "small.json", "small.json", "--trace", "t.json"},
       "--trace: expected one scenario, got 2"},
      {"a limit that there is not",
       {"run", "small.json", "--limit", "device=3"},
       "--limit: expected one of file, nesting, values, text, devices, links, ops, device_ops, "
       "steps, state, runs, data, blocks, clocks, got \"device\"; did you mean \"devices\"?"},
      {"a limit without a value",
       {"run", "small.json", "--limit", "devices"},
       "--limit: expected devices=VALUE, got \"devices\""},
      {"a limit that is no number",
       {"run", "small.json", "--limit", "devices=many"},
       "--limit: expected devices from 1 to 1073741824, got \"many\""},
      {"a limit that is no size",
       {"run", "small.json", "--limit", "file=3 m"},
       "--limit file: expected a size such as \"80 GiB\", got \"3 m\""},
      {"a limit of nothing",
       {"run", "small.json", "--limit", "steps=0"},
       "--limit: expected steps from 1 to 1152921504606846976, got \"0\""},
      {"a file larger than its limit",
       {"run", "small.json", "--limit", "file=16 B"},
       "small.json: expected at most 16 B in a file, got more (--limit file=SIZE allows "
       "more)"},
      {"nesting deeper than its limit",
       {"run", "small.json", "--limit", "nesting=2"},
       "small.json:4:17: /arrays: expected at most 2 levels of nesting, got more (--limit "
       "nesting=N allows more)"},
      {"more steps than their limit",
       {"run", "small.json", "--limit", "steps=4"},
       "small.json:5:13: /program/0: psum \"r\": expected at most 4 steps of collectives, got "
       "more (--limit steps=N allows more)"},
      {"more values than their limit",
       {"run", "small.json", "--data", "on", "--limit", "data=63"},
       "small.json: expected at most 63 B of values in all when data is moved, got 64 B "
       "(--limit data=SIZE allows more)"},
      {"an algorithm larger than its limit",
       {"prove", "small.xml", "--limit", "values=4"},
       "small.xml: expected at most 4 values in a file, got more (--limit values=N allows "
       "more)"},
      {"a cluster that the catalog has not",
       {"prove", "small.xml", "--cluster", "h100"},
       "--cluster: the catalog has no \"h100\"; `orrery show catalog` lists what it has"},
      {"a size of another unit",
       {"prove", "small.xml", "--size", "4 ms"},
       "--size: expected a size such as \"80 GiB\", got \"4 ms\""},
      {"a scenario that is diffed and is none",
       {"diff", "small.json", "small.xml"},
       "small.xml:1:1: expected a value, got \"<algo\""},
      {"a schedule of no collective",
       {"show", "schedule", "small.json", "a"},
       "small.json: no collective is called \"a\""},
      {"a schedule of no rank",
       {"show", "schedule", "small.json", "r", "--node", "4"},
       "--node: expected 0 to 3, got 4"},
      {"a cluster to show that there is not",
       {"show", "catalog", "h100"},
       "NAME: the catalog has no \"h100\"; `orrery show catalog` lists what it has"},
  };
  refuse_all(wrong);
}

}  // namespace
}  // namespace orrery::test
