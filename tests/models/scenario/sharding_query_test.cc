// Tests the answers to queries about shardings, and the errors of lines that are none. The
// shardings themselves are tested in tests/models/mesh, and against JAX in tests/oracle.

#include <string>

#include <doctest/doctest.h>

#include "models/scenario/queries.h"

namespace orrery {
namespace {

std::string query_answer(const std::string& line, const Limits& limits = {}) {
  const QueryAnswer made = answer_sharding_query(line, limits);
  CHECK(made.is_query);
  return made.line;
}

std::string error_line(const std::string& stage, const std::string& message) {
  return R"({"error": {"stage": ")" + stage + R"(", "message": ")" + message + R"("}})";
}

/// Returns the message to a line that is no query.
std::string query_refused(const std::string& line, const Limits& limits = {}) {
  const QueryAnswer made = answer_sharding_query(line, limits);
  CHECK_FALSE(made.is_query);
  const std::string begin = R"({"error": {"stage": "query", "message": ")";
  REQUIRE(made.line.starts_with(begin));
  REQUIRE(made.line.ends_with("\"}}"));
  return made.line.substr(begin.size(), made.line.size() - begin.size() - 3);
}

TEST_CASE("sharding query: which device holds what, and the texts") {
  CHECK(query_answer(
            R"({"mesh": [["x", 2], ["y", 2]], "shape": [4, 3], "spec": ["y"], "repr": true})") ==
        R"({"shard_shape": [2, 3], )"
        R"("index": {"0": [[0, 2], [0, 3]], "1": [[2, 4], [0, 3]], "2": [[0, 2], [0, 3]], )"
        R"("3": [[2, 4], [0, 3]]}, "replica_ids": {"0": 0, "1": 0, "2": 1, "3": 1}, )"
        R"("hlo": "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", )"
        R"("hlo_v1": "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", )"
        R"~("sdy": "SdyArray([{'y'}, {}])", "sdy_modified": "SdyArray([{'y', ?}, {?}])", )~"
        R"("fully_replicated": false, "repr": "NamedSharding(mesh=Mesh('x': 2, 'y': 2, )"
        R"~(axis_types=(Auto, Auto)), spec=P('y',), memory_kind=device)"})~");
}

TEST_CASE("sharding query: all keys of a mesh and a sharding are read") {
  CHECK(query_answer(R"({"mesh": [["x", 2], ["y", 2]], "axis_types": ["explicit", "auto"],
                   "device_order": [7, 5, 3, -1], "shape": [2], "spec": [["y"]],
                   "unreduced": ["x"], "memory_kind": "pinned_host",
                   "logical_device_ids": [1, 0, 2, 3], "repr": true})") ==
        R"({"shard_shape": [1], )"
        R"("index": {"7": [[1, 2]], "5": [[0, 1]], "3": [[0, 1]], "-1": [[1, 2]]}, )"
        R"("replica_ids": {"7": 0, "5": 0, "3": 0, "-1": 0}, )"
        R"("hlo": "{devices=[2,2]1,2,0,3 last_tile_dims={unreduced}}", )"
        R"("hlo_v1": "{devices=[2,2]1,2,0,3 last_tile_dims={unreduced}}", )"
        R"~("sdy": "SdyArray([{'y'}], device_ids=(1, 0, 2, 3))", )~"
        R"~("sdy_modified": "SdyArray([{'y', ?}], device_ids=(1, 0, 2, 3))", )~"
        R"("fully_replicated": false, "repr": "NamedSharding(mesh=Mesh('x': 2, 'y': 2, )"
        R"(axis_types=(Explicit, Auto)), spec=P('y', unreduced={'x'}), memory_kind=pinned_host, )"
        R"~(logical_device_ids=(1, 0, 2, 3))"})~");
}

TEST_CASE("sharding query: an abstract mesh lacks the map alone") {
  CHECK(query_answer(R"({"mesh": [["x", 2]], "abstract": true, "shape": [2], "spec": ["x"]})") ==
        R"({"shard_shape": [1], "hlo": "{devices=[2]<=[2]}", "hlo_v1": "{devices=[2]0,1}", )"
        R"~("sdy": "SdyArray([{'x'}])", "sdy_modified": "SdyArray([{'x', ?}])", )~"
        R"("fully_replicated": false, "error": {"stage": "map", "message": )"
        R"("P('x',): expected a mesh of devices, got an abstract one"}})");
}

TEST_CASE("sharding query: where a shape does not fit, the rest is answered") {
  CHECK(query_answer(R"({"mesh": [["x", 2]], "shape": [3], "spec": ["x"]})") ==
        R"({"hlo": "{devices=[2]<=[2]}", "hlo_v1": "{devices=[2]0,1}", )"
        R"~("sdy": "SdyArray([{'x'}])", "sdy_modified": "SdyArray([{'x', ?}])", )~"
        R"("fully_replicated": false, "error": {"stage": "shape", "message": "P('x',): expected )"
        R"(dimension 0 of extent 3 to be divisible by 2, the size of \"x\""}})");
  CHECK(query_answer(R"({"mesh": [["x", 2]], "shape": [], "spec": [null]})") ==
        R"({"fully_replicated": true, "error": {"stage": "shape", "message": "P(None,): expected )"
        R"(at most one entry per dimension of [], got 1"}})");
  CHECK(query_answer(
            R"({"mesh": [["x", 2]], "axis_types": ["manual"], "shape": [2], "spec": ["x"]})") ==
        R"~({"sdy": "SdyArray([{'x'}])", "sdy_modified": "SdyArray([{'x'}])", )~"
        R"("fully_replicated": false, "error": {"stage": "shape", "message": "P('x',): expected )"
        R"(no Manual axis of several devices for a whole array, got \"x\" of 2"}})");
}

TEST_CASE("sharding query: AUTO is answered by the sdy form") {
  CHECK(query_answer(R"({"mesh": [["x", 2]], "shape": [2, 3], "spec": "AUTO"})") ==
        R"~({"sdy": "SdyArray([{?}, {?}])"})~");
}

TEST_CASE("sharding query: AUTO has no key that only other forms would answer") {
  const auto with = [](const std::string& key, const std::string& value) {
    return R"({"mesh": [], "shape": [], "spec": "AUTO", ")" + key + "\": " + value + "}";
  };
  const auto refused = [](const std::string& key) {
    return "column 43: /" + key + R"(: expected no \")" + key +
           R"(\" beside the spec AUTO, which only sdy answers)";
  };
  CHECK(query_refused(with("repr", "true")) ==
        R"(column 43: /repr: expected no \"repr\" beside the spec AUTO, which only sdy answers)");
  for (const std::string key : {"unreduced", "reduced"}) {
    CHECK(query_refused(with(key, R"(["x"])")) == refused(key));
    CHECK(query_refused(with(key, "[null]")) == refused(key));
    CHECK(query_answer(with(key, "[]")) == R"~({"sdy": "SdyArray([])"})~");
  }
  CHECK(query_refused(with("logical_device_ids", "[0]")) == refused("logical_device_ids"));
  for (const std::string key : {"repr", "corrected"}) {
    CHECK(query_refused(with(key, "true")) == refused(key));
    CHECK(query_answer(with(key, "false")) == R"~({"sdy": "SdyArray([])"})~");
  }
}

TEST_CASE("sharding query: AUTO is of a mesh that is checked") {
  const auto with = [](const std::string& keys) {
    return query_answer(R"({"mesh": [["x", 2]], "shape": [], "spec": "AUTO", )" + keys + "}");
  };
  CHECK(with(R"("axis_types": [])") ==
        error_line("mesh", "expected a type per axis, of which there are 1, got 0"));
  CHECK(with(R"("device_order": [1])") ==
        error_line("mesh", "expected a device for each of the 2 places in the mesh, got 1"));
}

TEST_CASE("sharding query: what corrected drops is checked") {
  const auto with = [](const std::string& keys) {
    return query_answer(R"({"mesh": [["x", 2], ["y", 2]], "axis_types": ["auto", "explicit"],
                            "shape": [2], "spec": ["x"], "corrected": true, )" +
                        keys + "}");
  };
  CHECK(with(R"("unreduced": ["y"], "logical_device_ids": [1, 0, 3, 2])") == R"({"spec": ["x"]})");
  CHECK(with(R"("unreduced": ["z"])") ==
        error_line("sharding", R"(P('x', unreduced={'z'}): unreduced: the mesh has no axis \"z\"; )"
                               R"(it has \"x\", \"y\")"));
  CHECK(with(R"("reduced": ["z"])") ==
        error_line("sharding", R"(P('x', reduced={'z'}): reduced: the mesh has no axis \"z\"; )"
                               R"(it has \"x\", \"y\")"));
  CHECK(with(R"("logical_device_ids": [0, 0, 1, 2])") ==
        error_line("sharding", "P('x',): expected each logical id once, got 0 twice"));
  CHECK(with(R"("unreduced": ["x"])") ==
        error_line("spec",
                   "P('x', unreduced={'x'}): expected each axis in one place of the array's "
                   R"(spec and states, got \"x\" again)"));
}

TEST_CASE("sharding query: corrected gives a spec alone") {
  CHECK(
      query_answer(R"({"mesh": [["x", 2], ["y", 2]], "shape": [4, 3, 2], "spec": [["x", "y"], "x"],
                   "corrected": true})") == R"({"spec": [["x", "y"], null, null]})");
  CHECK(query_answer(
            R"({"mesh": [["x", 2]], "shape": [4], "spec": ["x", null], "corrected": true})") ==
        R"({"spec": ["x"]})");
  CHECK(query_answer(
            R"({"mesh": [["x", 2]], "shape": [2, 2], "spec": ["x", "x"], "corrected": true})") ==
        error_line("sharding", R"(P('x', 'x'): dimension 1: axis \"x\" already cuts this array)"));
}

TEST_CASE("sharding query: a list of UNCONSTRAINED alone is an open dimension") {
  const auto with = [](const std::string& spec) {
    return query_answer(R"({"mesh": [["x", 1]], "shape": [1], "repr": true, "spec": )" + spec +
                        "}");
  };
  CHECK(with(R"([["UNCONSTRAINED"]])") == with(R"(["UNCONSTRAINED"])"));
  CHECK(with(R"([["UNCONSTRAINED"]])").find("spec=P(UNCONSTRAINED,),") != std::string::npos);
  CHECK(with(R"([["UNCONSTRAINED", "x"]])") ==
        error_line("sharding",
                   "P(('UNCONSTRAINED', 'x'),): dimension 0: the mesh has no axis "
                   R"(\"UNCONSTRAINED\"; it has \"x\")"));
}

TEST_CASE("sharding query: an empty name or list is None, and a list of one its name") {
  CHECK(query_answer(R"({"mesh": [["x", 1]], "shape": [1, 1, 1], "spec": ["", [], ["x"]],
                   "repr": true})")
            .find("spec=P(None, None, 'x'),") != std::string::npos);
}

TEST_CASE("sharding query: two shardings are compared") {
  CHECK(query_answer(R"({"equivalent": [{"mesh": [["x", 2]], "spec": ["x"]},
                                  {"mesh": [["x", 2]], "spec": ["x", null]}], "ndim": 2})") ==
        R"({"equivalent": true, "equal": false})");
  CHECK(query_answer(R"({"equivalent": [{"mesh": [["x", 2]], "spec": ["x"], "shape": [3]},
                                  {"mesh": [["x", 2]], "spec": ["x"]}], "ndim": 1})") ==
        R"({"equivalent": true, "equal": true})");
  CHECK(query_answer(R"({"equivalent": [{"mesh": [["x", 2]], "spec": ["x"]},
                                  {"mesh": [["x", 2]], "spec": ["y"]}], "ndim": 1})") ==
        error_line("sharding",
                   R"(/equivalent/1: P('y',): dimension 0: the mesh has no axis \"y\"; )"
                   R"(it has \"x\")"));
  CHECK(query_answer(R"({"equivalent": [{"mesh": [["x", 2]], "spec": ["x"]},
                                  {"mesh": [["x", 2]], "spec": []}], "ndim": 0})") ==
        error_line("shape",
                   "/equivalent/0: P('x',): expected at most one entry per dimension of an "
                   "array of rank 0, got 1"));
}

TEST_CASE("sharding query: an HLO text becomes a spec") {
  const std::string mesh = R"("mesh": [["x", 2], ["y", 3]], "ndim": 2})";
  CHECK(query_answer(R"({"hlo": "{devices=[1,6]<=[6]}", )" + mesh) ==
        R"({"spec": [null, ["x", "y"]], "unreduced": []})");
  CHECK(query_answer(R"({"hlo": "{devices=[2,1,3]<=[6] last_tile_dims={unreduced}}", )" + mesh) ==
        R"({"spec": ["x"], "unreduced": ["y"]})");
  CHECK(query_answer(R"({"hlo": "{devices=[6]<=[6]}", )" + mesh) ==
        error_line("hlo", "expected a sharding of arrays of rank 2, got one of rank 1"));
  CHECK(query_answer(R"({"hlo": "{devices=[1,1,4]<=[4] last_tile_dim_replicate}", )" + mesh) ==
        error_line("hlo", R"(expected a sharding of 6 devices, got \"{devices=[1,1,4]<=[4] )"
                          R"(last_tile_dim_replicate}\" of 4)"));
}

TEST_CASE("sharding query: types of axes are checked with the spec of an HLO text") {
  const auto with = [](const std::string& hlo, const std::string& types) {
    return query_answer(R"({"hlo": ")" + hlo + R"(", "mesh": [["x", 2], ["y", 3]], "ndim": 2,
                            "axis_types": [)" +
                        types + "]}");
  };
  const std::string unreduced = "{devices=[2,1,3]<=[6] last_tile_dims={unreduced}}";
  CHECK(with(unreduced, R"("auto", "explicit")") == R"({"spec": ["x"], "unreduced": ["y"]})");
  CHECK(with(unreduced, R"("auto", "auto")") ==
        error_line("hlo",
                   "P('x', unreduced={'y'}): unreduced: expected axes of type Explicit, got "
                   R"(\"y\" of Auto)"));
  CHECK(with("{devices=[2,3]<=[6]}", R"("auto", "manual")") ==
        error_line("hlo",
                   "P('x', 'y'): dimension 1: expected no Manual axis of several devices, got "
                   R"(\"y\" of 3)"));
  CHECK(with("{replicated}", R"("manual", "manual")") ==
        error_line("hlo", R"(expected \"{manual}\" for P() on Mesh('x': 2, 'y': 3, )"
                          R"(axis_types=(Manual, Manual)), got \"{replicated}\")"));
  CHECK(with("{replicated}", R"("auto", "explicit")") == R"({"spec": [], "unreduced": []})");
  CHECK(with("{replicated}", R"("auto")") ==
        error_line("mesh", "expected a type per axis, of which there are 2, got 1"));
}

TEST_CASE("sharding query: a text may be as long as its line") {
  std::string text = "{devices=[1024]0";
  for (int d = 1; d < 1024; ++d)
    text += "," + std::to_string(d);
  CHECK(query_answer(R"({"hlo": ")" + text + R"(}", "mesh": [["x", 1024]], "ndim": 1})") ==
        R"({"spec": ["x"], "unreduced": []})");
}

TEST_CASE("sharding query: errors of the mesh come first") {
  const std::string rest = R"(, "shape": [], "spec": [["x", ["q"]]]})";
  const auto with = [&](const std::string& keys) { return query_answer("{" + keys + rest); };
  CHECK(with(R"("mesh": [["x", 2], [null, 2]])") ==
        error_line("mesh", "expected a name for axis 1, got null"));
  CHECK(with(R"("mesh": [["x", 2], ["x", 2]])") ==
        error_line("mesh", R"(expected axes of different names, got \"x\" twice)"));
  CHECK(
      with(R"("mesh": [["x", 2]], "axis_types": ["Auto"])") ==
      error_line("mesh", R"(expected the type auto, explicit or manual for axis 0, got \"Auto\")"));
  CHECK(with(R"("mesh": [["x", 2]], "axis_types": [])") ==
        error_line("mesh", "expected a type per axis, of which there are 1, got 0"));
  CHECK(with(R"("mesh": [["x", 2]], "device_order": [])") ==
        error_line("mesh", "expected a device for each of the 2 places in the mesh, got 0"));
  CHECK(with(R"("mesh": [["x", 2]])") ==
        error_line("spec", "dimension 0: expected axis names in the list, got a list"));
}

TEST_CASE("sharding query: a mesh has no more devices than the limit") {
  Limits limits;
  limits.devices = 4;
  CHECK(query_answer(R"({"mesh": [["x", 5]], "shape": [], "spec": []})", limits) ==
        error_line("mesh", "expected at most 4 devices, got 5 (--limit devices=N allows more)"));
}

TEST_CASE("sharding query: errors of the spec alone") {
  const auto with = [&](const std::string& spec) {
    return query_answer(R"({"mesh": [["x", 2]], "shape": [], "spec": )" + spec + "}");
  };
  CHECK(with(R"([null, ["x", ["y"]]])") ==
        error_line("spec", "dimension 1: expected axis names in the list, got a list"));
  CHECK(with(R"([], "unreduced": [null])") ==
        error_line("spec", "unreduced: expected axis names, got null"));
  CHECK(with(R"([], "unreduced": ["x"], "reduced": ["x", null])") ==
        error_line("spec", "reduced: expected axis names, got null"));
  CHECK(with(R"(["q"], "reduced": ["q"])") ==
        error_line("spec",
                   "P('q', reduced={'q'}): expected each axis in one place of the array's "
                   R"(spec and states, got \"q\" again)"));
}

TEST_CASE("sharding query: null in a list is no axis of the mesh, unless it is alone") {
  CHECK(query_answer(R"({"mesh": [["x", 2]], "shape": [], "spec": [["x", null]]})") ==
        error_line("sharding", "dimension 0: expected axes of the mesh in the list, got null"));
  CHECK(query_answer(R"({"mesh": [["x", 2]], "shape": [2], "spec": [[null]], "repr": true})")
            .find("spec=P(None,)") != std::string::npos);
}

TEST_CASE("sharding query: a line that is no JSON, or no query, is refused with its place") {
  CHECK(query_refused("") == "column 1: expected a value, got the end of the line");
  CHECK(query_refused(R"({} {})") == R"(column 4: expected the end of the line, got \"{\")");
  CHECK(query_refused(R"( {"mesh": [)") ==
        R"(column 12: /mesh: expected a value or \"]\", got the end of the line (the list begun )"
        "at column 11 is not closed)");
  CHECK(query_refused(R"({"hlo": "{replicated}", "mesh": [], "ndim": 1, "ndim": 1})") ==
        R"(column 48: /ndim: duplicate key \"ndim\"; the first is at column 37)");
  CHECK(query_refused("[1]") == "column 1: expected a query, an object, got a list");
  CHECK(query_refused("{}") == R"(column 1: missing key \"mesh\")");
  CHECK(query_refused(R"({"mesh": [], "shape": [], "spec": [], "sharp": 1})") ==
        R"(column 39: /sharp: unknown key \"sharp\"; did you mean \"shape\"?)");
}

TEST_CASE("sharding query: the values of a mesh") {
  const auto with = [&](const std::string& keys) {
    return query_refused("{" + keys + R"(, "shape": [], "spec": []})");
  };
  CHECK(with(R"("mesh": 4)") ==
        R"(column 10: /mesh: expected a list of axes such as [\"x\", 4], got 4)");
  CHECK(with(R"("mesh": [["x"]])") ==
        R"(column 11: /mesh/0: expected an axis such as [\"x\", 4], got a list)");
  CHECK(with(R"("mesh": [["x", 1.5]])") == "column 17: /mesh/0/1: expected an axis size, got 1.5");
  CHECK(with(R"("mesh": [[7, 1]])") == "column 12: /mesh/0/0: expected an axis name, got 7");
  CHECK(with(R"("mesh": [], "device_order": ["a"])") ==
        R"(column 31: /device_order/0: expected a device, got \"a\")");
  CHECK(with(R"("mesh": [], "axis_types": "auto")") ==
        R"(column 28: /axis_types: expected a list of axis types, got \"auto\")");
  CHECK(with(R"("mesh": [], "axis_types": [1])") ==
        "column 29: /axis_types/0: expected an axis type, got 1");
  std::string axes;
  for (int a = 0; a < 65; ++a)
    axes += (a > 0 ? ", " : "") + std::string("[\"a") + std::to_string(a) + "\", 1]";
  CHECK(with("\"mesh\": [" + axes + "]") == "column 10: /mesh: expected at most 64 axes, got 65");
}

TEST_CASE("sharding query: the values of a sharding") {
  const auto with = [&](const std::string& keys) {
    return query_refused(R"({"mesh": [], )" + keys + "}");
  };
  CHECK(with(R"("spec": [])") == R"(column 1: missing key \"shape\")");
  CHECK(with(R"("shape": [-1], "spec": [])") ==
        "column 24: /shape/0: expected an extent of at least 0, got -1");
  CHECK(with(R"("shape": [], "spec": {})") ==
        "column 35: /spec: expected a list with null, an axis name or a list of them per "
        R"(dimension, or \"AUTO\", got an object)");
  CHECK(with(R"("shape": [], "spec": [1])") ==
        "column 36: /spec/0: expected null, an axis name or a list of them, got 1");
  CHECK(with(R"("shape": [], "spec": [[1]])") ==
        "column 37: /spec/0/0: expected an axis name, got 1");
  CHECK(with(R"("shape": [], "spec": [], "unreduced": "x")") ==
        R"(column 52: /unreduced: expected a list of axis names, got \"x\")");
  CHECK(with(R"("shape": [], "spec": [], "memory_kind": 1)") ==
        "column 54: /memory_kind: expected a kind of memory, got 1");
  CHECK(with(R"("shape": [], "spec": [], "logical_device_ids": [-1])") ==
        "column 62: /logical_device_ids/0: expected a device's place in the mesh from 0 to "
        "4294967295, got -1");
  std::string ones = "1";
  for (int d = 1; d < 65; ++d)
    ones += ", 1";
  CHECK(with("\"shape\": [" + ones + R"(], "spec": [])") ==
        "column 23: /shape: expected at most 64 dimensions, got 65");
}

TEST_CASE("sharding query: the values of a pair and of an HLO text") {
  CHECK(query_refused(R"({"equivalent": [{}], "ndim": 2})") ==
        "column 16: /equivalent: expected a list of two queries, got a list");
  CHECK(query_refused(R"({"equivalent": [1, 2], "ndim": 2})") ==
        "column 17: /equivalent/0: expected an object with a mesh and a spec, got 1");
  CHECK(query_refused(R"({"equivalent": [{"mesh": [], "spec": "AUTO"}, {}], "ndim": 2})") ==
        R"(column 38: /equivalent/0/spec: expected a list with null, an axis name or a list of )"
        R"(them per dimension, got \"AUTO\")");
  CHECK(query_refused(R"({"hlo": 1, "mesh": [], "ndim": 2})") ==
        "column 9: /hlo: expected an HLO sharding, got 1");
  CHECK(query_refused(R"({"hlo": "", "mesh": [], "ndim": 65})") ==
        "column 33: /ndim: expected a rank from 0 to 64, got 65");
}

}  // namespace
}  // namespace orrery
