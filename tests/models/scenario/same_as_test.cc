// Tests arrays that are "same_as" another: their elements, their text, and the errors.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/scenario/reader.h"
#include "models/scenario/scenario.h"
#include "models/scenario/writer.h"
#include "tests/models/scenario/same.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::refusal;
using test::Small;

/// Returns a scenario of no ops on {x: 2, y: 2} with these arrays, as the members of an object.
Small with_arrays(const std::string& arrays) {
  Small small;
  small.mesh = R"({"x": 2, "y": 2})";
  small.arrays = "{" + arrays + "}";
  small.program = "[]";
  return small;
}

Scenario read_arrays_of(const std::string& arrays) {
  return read_scenario("f", with_arrays(arrays).text());
}

const Array& array_named(const Scenario& scenario, std::string_view name) {
  for (const Array& each : scenario.arrays)
    if (each.name == name)
      return each;
  FAIL("no such array");
  return scenario.arrays.front();
}

Tensor part_of(const Scenario& scenario, std::string_view name, uint32_t device) {
  constexpr uint64_t kSeed = 3;
  return initial_value(scenario, array_named(scenario, name), LogicalId(device), kSeed);
}

/// Returns what a tiled all_gather over y along dimension 1, and one over x along dimension 0, make
/// of an array with the spec ["x", "y"].
Tensor gathered(const Scenario& scenario, std::string_view name) {
  const auto row = [&](uint32_t x) {
    const Tensor left = part_of(scenario, name, 2 * x);
    const Tensor right = part_of(scenario, name, 2 * x + 1);
    return concatenate({left, right}, 1);
  };
  const Tensor upper = row(0);
  const Tensor lower = row(1);
  return concatenate({upper, lower}, 0);
}

TEST_CASE("same_as: an array cut over the mesh, gathered, is its replicated twin") {
  for (const Dtype dtype : all_dtypes()) {
    std::vector<std::string> inits = {"",
                                      R"(, "init": "iota")",
                                      R"(, "init": "zeros")",
                                      R"(, "init": "ones")",
                                      R"(, "init": 1)",
                                      R"(, "init": "random")",
                                      R"(, "init": {"random": 7})",
                                      R"(, "init": {"random": 7, "values": "integers"})",
                                      R"(, "init": {"random": 7, "named": "other"})"};
    if (is_complex(dtype))
      inits.emplace_back(R"(, "init": [0.5, -1])");
    for (const std::string& init : inits) {
      CAPTURE(name(dtype));
      CAPTURE(init);
      const std::string type = R"("shape": [6, 4], "dtype": ")" + std::string(name(dtype)) + "\"";
      const Scenario scenario = read_arrays_of(
          R"("cut": {)" + type + R"(, "spec": ["x", "y"], "init": {"same_as": "w"}}, )" +
          R"("w": {)" + type + init + "}");
      for (uint32_t device = 0; device < 4; ++device)
        CHECK(same_bits(gathered(scenario, "cut"), part_of(scenario, "w", device)));
    }
  }
}

TEST_CASE("same_as: the elements are those that the source has alone") {
  const std::string source = R"("w": {"shape": [8], "dtype": "f32"})";
  const Scenario alone = read_arrays_of(source);
  const Scenario beside =
      read_arrays_of(source + R"(, "a": {"shape": [8], "dtype": "f32", "init": {"same_as": "w"}})");
  CHECK(part_of(beside, "w", 0) == part_of(alone, "w", 0));
  CHECK(part_of(beside, "a", 0) == part_of(alone, "w", 0));
}

TEST_CASE("same_as: it is followed to the array with an init of its own, in any order") {
  const std::string a = R"("a": {"shape": [8], "dtype": "f32", "init": {"same_as": "b"}})";
  const std::string b = R"("b": {"shape": [8], "dtype": "f32", "init": {"same_as": "w"}})";
  const std::string w = R"("w": {"shape": [8], "dtype": "f32", "init": {"random": 5}})";
  for (const std::string& arrays : {a + ", " + b + ", " + w, w + ", " + b + ", " + a,
                                    b + ", " + w + ", " + a, a + ", " + w + ", " + b}) {
    CAPTURE(arrays);
    const Scenario scenario = read_arrays_of(arrays);
    CHECK(part_of(scenario, "a", 0) == part_of(scenario, "w", 0));
    CHECK(part_of(scenario, "b", 0) == part_of(scenario, "w", 0));
  }
}

TEST_CASE("same_as: the source may be on other devices") {
  const Scenario scenario = read_arrays_of(
      R"("w": {"shape": [4], "dtype": "f32", "on": {"x": 1}},
"a": {"shape": [4], "dtype": "f32", "on": {"x": 0}, "spec": ["y"], "init": {"same_as": "w"}})");
  const Tensor first = part_of(scenario, "a", 0);
  const Tensor second = part_of(scenario, "a", 1);
  CHECK(concatenate({first, second}, 0) == part_of(scenario, "w", 2));
}

TEST_CASE("same_as: the first addend of an unreduced array has the elements") {
  const Scenario scenario = read_arrays_of(
      R"("w": {"shape": [4], "dtype": "f32", "spec": ["y"]},
"a": {"shape": [4], "dtype": "f32", "spec": ["y"], "unreduced": ["x"], "init": {"same_as": "w"}})");
  for (uint32_t y = 0; y < 2; ++y) {
    CHECK(part_of(scenario, "a", y) == part_of(scenario, "w", y));
    CHECK(part_of(scenario, "a", 2 + y) == full(Dtype::F32, Shape{2}, 0));
  }
}

TEST_CASE("same_as: an unreduced source gives the elements of its first addend") {
  const Scenario scenario = read_arrays_of(
      R"("w": {"shape": [4], "dtype": "f32", "unreduced": ["x", "y"]},
"a": {"shape": [4], "dtype": "f32", "init": {"same_as": "w"}})");
  for (uint32_t device = 0; device < 4; ++device)
    CHECK(part_of(scenario, "a", device) == part_of(scenario, "w", 0));
}

/// Returns the texts of the inits of all arrays, each with a space after it, as the scenario is
/// written. Checks that the text reads back as the same scenario.
std::string written_inits(const Scenario& scenario) {
  const std::string text = write_scenario(scenario);
  CHECK(test::difference(scenario, read_scenario("f", text)) == "");
  std::string inits;
  constexpr std::string_view kKey = "\"init\": ";
  for (size_t at = text.find(kKey); at != text.npos; at = text.find(kKey, at)) {
    at += kKey.size();
    const size_t end = text[at] == '{' ? text.find('}', at) + 1 : text.find_first_of(",}", at);
    inits += text.substr(at, end - at) + " ";
  }
  return inits;
}

TEST_CASE("same_as: it is written, for other than random elements, by the init that it means") {
  const auto inits_with = [](const std::string& init) {
    return written_inits(
        read_arrays_of(R"("w": {"shape": [4], "dtype": "f32", "init": )" + init +
                       R"(}, "a": {"shape": [4], "dtype": "f32", "init": {"same_as": )"
                       R"("b"}}, "b": {"shape": [4], "dtype": "f32", "init": )"
                       R"({"same_as": "w"}})"));
  };
  CHECK(inits_with(R"("random")") == R"("random" {"same_as": "w"} {"same_as": "w"} )");
  CHECK(inits_with(R"({"random": 7})") == R"({"random": 7} {"same_as": "w"} {"same_as": "w"} )");
  CHECK(inits_with(R"("iota")") == R"("iota" "iota" "iota" )");
  CHECK(inits_with("0.5") == "0.5 0.5 0.5 ");
}

TEST_CASE("same_as: where a transform leaves out the source, its name is written") {
  const std::string type = R"({"shape": [4], "dtype": "f32", "init": )";
  Small small =
      with_arrays(R"("w": )" + type + R"({"random": 7, "values": "integers"}}, "ct_r": )" + type +
                  R"({"same_as": "w"}})");
  small.program = R"([{"id": "r", "op": "neg", "of": "w"}])";
  const Scenario forward = read_scenario("f", small.text());
  small.more = R"("transform": {"transpose": {"of": ["r"], "with_respect_to": ["w"]}})";
  const Scenario backward = read_scenario("f", small.text());
  REQUIRE(backward.arrays.size() == 1);
  CHECK(written_inits(backward) == R"({"random": 7, "values": "integers", "named": "w"} )");
  CHECK(part_of(backward, "ct_r", 0) == part_of(forward, "w", 0));
}

TEST_CASE("same_as: a name of an array that has other elements is written as a name") {
  const auto inits_with = [](const std::string& w) {
    return written_inits(read_arrays_of(R"("w": )" + w +
                                        R"(, "a": {"shape": [4], "dtype": "f32", )"
                                        R"("init": {"random": 1, "named": "w"}})"));
  };
  const std::string named = R"({"random": 1, "named": "w"} )";
  CHECK(inits_with(R"({"shape": [4], "dtype": "f32", "init": {"random": 1}})") ==
        R"({"random": 1} {"same_as": "w"} )");
  CHECK(inits_with(R"({"shape": [4], "dtype": "f32", "init": {"random": 2}})") ==
        R"({"random": 2} )" + named);
  CHECK(inits_with(
            R"({"shape": [4], "dtype": "f32", "init": {"random": 1, "values": "integers"}})") ==
        R"({"random": 1, "values": "integers"} )" + named);
  CHECK(inits_with(R"({"shape": [4], "dtype": "f32", "init": {"random": 1, "named": "v"}})") ==
        R"({"random": 1, "named": "v"} )" + named);
  CHECK(inits_with(R"({"shape": [5], "dtype": "f32", "init": {"random": 1}})") ==
        R"({"random": 1} )" + named);
  CHECK(inits_with(R"({"shape": [4], "dtype": "f64", "init": {"random": 1}})") ==
        R"({"random": 1} )" + named);
  CHECK(inits_with(R"({"shape": [4], "dtype": "f32", "init": "iota"})") == R"("iota" )" + named);
  CHECK(inits_with(R"({"local_shape": [0], "dtype": "f32", "per_device": [[], [], [], []]})") ==
        named);
}

TEST_CASE("same_as: the own name as a name says nothing") {
  CHECK(written_inits(read_arrays_of(
            R"("a": {"shape": [4], "dtype": "f32", "init": {"random": 1, "named": "a"}})")) ==
        R"({"random": 1} )");
  CHECK(written_inits(read_arrays_of(
            R"("w": {"shape": [4], "dtype": "f32", "init": {"random": 1, "named": "a"}},
"a": {"shape": [4], "dtype": "f32", "init": {"same_as": "w"}})")) ==
        R"({"same_as": "a"} {"random": 1} )");
}

TEST_CASE("same_as: what is refused") {
  const auto refused = [](const std::string& init, const std::string& others) {
    return refusal(
        with_arrays(R"("a": {"shape": [8], "dtype": "f32", "init": )" + init + "}" + others)
            .text());
  };
  const std::string at = "f:4:68: /arrays/a/init/same_as: ";
  const auto same_as_w = [&](const std::string& w) {
    return refused(R"({"same_as": "w"})", ",\n\"w\": " + w);
  };
  CHECK(same_as_w(R"({"shape": [8], "dtype": "f32"})") == "");
  CHECK(refused(R"({"same_as": "w1"})", R"(, "w": {"shape": [8], "dtype": "f32"})") ==
        at + "expected the name of an array, got \"w1\"");
  CHECK(refused(R"({"same_as": "wiehgt"})", R"(, "weight": {"shape": [8], "dtype": "f32"})") ==
        at + "expected the name of an array, got \"wiehgt\"; did you mean \"weight\"?");
  CHECK(refused(R"({"same_as": 3})", "") == at + "expected the name of an array, got 3");
  CHECK(same_as_w(R"({"local_shape": [8], "dtype": "f32", "per_device": [[1, 1, 1, 1, 1, 1, 1, 1],
[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1]]})") ==
        at + "expected an array with a \"shape\", got \"w\", which is given per device");
  CHECK(same_as_w(R"({"shape": [8], "dtype": "bf16"})") ==
        at + "expected an array of f32[8], got \"w\" of bf16[8]");
  CHECK(same_as_w(R"({"shape": [8, 1], "dtype": "f32"})") ==
        at + "expected an array of f32[8], got \"w\" of f32[8,1]");
  CHECK(refused(R"({"same_as": "a"})", "") ==
        at + "expected another array, whose elements do not come from \"a\", got \"a\"");
  CHECK(same_as_w(R"({"shape": [8], "dtype": "f32", "init": {"same_as": "a"}})") ==
        "f:5:57: /arrays/w/init/same_as: expected another array, whose elements do not come from "
        "\"w\", got \"a\"");
  // The array "a" leads to the cycle of "w" and "v", and is not on it.
  CHECK(same_as_w(R"({"shape": [8], "dtype": "f32", "init": {"same_as": "v"}},
"v": {"shape": [8], "dtype": "f32", "init": {"same_as": "w"}})") ==
        "f:6:57: /arrays/v/init/same_as: expected another array, whose elements do not come from "
        "\"v\", got \"w\"");
  CHECK(refused(R"({"same_as": "w", "random": 1})", R"(, "w": {"shape": [8], "dtype": "f32"})") ==
        "f:4:73: /arrays/a/init/random: unknown key \"random\"; expected one of \"same_as\"");
  CHECK(refused(R"({"values": "integers"})", "") ==
        "f:4:56: /arrays/a/init: missing key \"random\" (or \"same_as\")");
  CHECK(refused(R"({"random": 0, "named": 1})", "") ==
        "f:4:79: /arrays/a/init/named: expected the name of an array, got 1");
}

TEST_CASE("same_as: an error of the source is told once") {
  CHECK(refusal(with_arrays(R"("a": {"shape": [8], "dtype": "f32", "init": {"same_as": "b"}},
"b": {"shape": [8], "dtype": "f32", "init": {"same_as": "w"}},
"w": {"shape": [8], "dtype": "f33"})")
                    .text()) ==
        "f:6:30: /arrays/w/dtype: expected a dtype (one of pred, s8, s16, s32, s64, u8, u16, u32, "
        "u64, f16, bf16, f32, f64, f8e4m3fn, f8e5m2, c64, c128), got \"f33\"; did you mean "
        "\"f32\"?");
}

}  // namespace
}  // namespace orrery
