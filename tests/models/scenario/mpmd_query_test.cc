// Tests the answers to queries about MPMD meshes and arrays, and the errors of lines that are none.
// The orders, groups and arrays themselves are tested in tests/models/mesh.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "models/scenario/queries.h"
#include "tests/support/tries.h"

namespace orrery {
namespace {

std::string mpmd_answer(const std::string& line, const Limits& limits = {}) {
  const QueryAnswer made = answer_mpmd_query(line, limits);
  CHECK(made.is_query);
  return made.line;
}

/// Returns the message to a line that is no query.
std::string mpmd_refused(const std::string& line) {
  const QueryAnswer made = answer_mpmd_query(line, {});
  CHECK_FALSE(made.is_query);
  const std::string begin = R"({"error": ")";
  REQUIRE(made.line.starts_with(begin));
  return made.line.substr(begin.size(), made.line.size() - begin.size() - 2);
}

std::string mpmd_error(const std::string& message) {
  return R"({"error": ")" + message + "\"}";
}

/// A query's keys of the mesh s = 2, m = 2, whose groups are {0, 1} and {2, 3}.
const std::string kMesh = R"("mesh": [["s", 2], ["m", 2]], "mpmd_axis": "s")";

TEST_CASE("MPMD query: a mesh has its groups, and the group of each physical device") {
  CHECK(
      mpmd_answer(R"({"kind": "mesh", "mesh": [["s", 2], ["m", 2]], "mpmd_axis": "s",
                        "device_order": [7, 5, 3, -1], "axis_types": ["auto", "explicit"]})") ==
      R"({"mpmd_dim": 2, "unstack": [{"shape": [1, 2], "devices": [7, 5]}, )"
      R"({"shape": [1, 2], "devices": [3, -1]}], "group_of": {"7": 0, "5": 0, "3": 1, "-1": 1}})");
  // Device 2 x + s.
  CHECK(mpmd_answer(R"({"kind": "mesh", "mesh": [["x", 2], ["s", 2]], "mpmd_axis": "s"})") ==
        R"({"mpmd_dim": 2, "unstack": [{"shape": [2, 1], "devices": [0, 2]}, )"
        R"({"shape": [2, 1], "devices": [1, 3]}], "group_of": {"0": 0, "1": 1, "2": 0, "3": 1}})");
}

TEST_CASE("MPMD query: a submesh has groups as numpy.take has them") {
  const auto submesh = [](const std::string& ids, const Limits& limits = {}) {
    const std::string keys = R"({"kind": "mesh", "mesh": [["x", 2], ["s", 3]], "mpmd_axis": "s", )";
    const std::string answer = mpmd_answer(keys + R"("submesh_of": )" + ids + "}", limits);
    return answer.substr(answer.find("\"submesh\""));
  };
  CHECK(submesh("[1]") == R"("submesh": {"shape": [2, 1], "devices": [1, 4]}})");
  CHECK(submesh("[2, 0]") == R"("submesh": {"shape": [2, 2], "devices": [2, 0, 5, 3]}})");
  CHECK(submesh("[-1, 1, 1]") == R"("submesh": {"shape": [2, 3], "devices": [2, 1, 1, 5, 4, 4]}})");
  CHECK(submesh("[]") == R"("submesh": {"shape": [2, 0], "devices": []}})");
  CHECK(submesh("[0, 3]") == R"("submesh": {"error": "expected groups from -3 to 2, got 3"}})");
  CHECK(submesh("[-4]") == R"("submesh": {"error": "expected groups from -3 to 2, got -4"}})");
  Limits limits;
  limits.devices = 6;
  CHECK(submesh("[0, 0, 0, 0]", limits) ==
        R"("submesh": {"error": "expected at most 6 devices, got 8 )"
        R"~((--limit devices=N allows more)"}})~");
}

TEST_CASE("MPMD query: what is wrong with the mesh is the answer") {
  const auto with = [](const std::string& keys) {
    return mpmd_answer(R"({"kind": "mesh", )" + keys + "}");
  };
  CHECK(with(R"("mesh": [["s", 2]], "mpmd_axis": "t")") ==
        mpmd_error(R"(the mesh has no axis \"t\"; it has \"s\")"));
  CHECK(with(R"("mesh": [[null, 2]], "mpmd_axis": "s")") ==
        mpmd_error("expected a name for axis 0, got null"));
  CHECK(with(R"("mesh": [["s", 0]], "mpmd_axis": "s")") ==
        mpmd_error(R"(expected an axis of at least 1 device, got \"s\" of 0)"));
}

TEST_CASE("MPMD query: a sharding is filtered, and on the devices of its groups") {
  const auto with = [](const std::string& keys) {
    return mpmd_answer(R"({"kind": "sharding", )" + kMesh + ", " + keys + "}");
  };
  CHECK(with(R"("mesh_ids": [1, 0, 1], "spec": [["s", "m"], "s", null])") ==
        R"({"filtered": ["m", null, null], "devices": [0, 1, 2, 3]})");
  CHECK(with(R"("mesh_ids": [1], "spec": [], "unreduced": ["s"], "reduced": ["q"])") ==
        R"({"filtered": [], "devices": [2, 3]})");
  CHECK(mpmd_answer(R"({"kind": "sharding", "mesh": [["x", 2], ["s", 3]], "mpmd_axis": "s",
                        "mesh_ids": [2, 0], "spec": ["x"]})") ==
        R"({"filtered": ["x"], "devices": [0, 2, 3, 5]})");
}

TEST_CASE("MPMD query: a sharding that is none has its filtered spec, if there is one") {
  const auto with = [](const std::string& keys) {
    return mpmd_answer(R"({"kind": "sharding", )" + kMesh + ", " + keys + "}");
  };
  CHECK(with(R"("mesh_ids": [], "spec": ["s"])") ==
        R"({"filtered": [null], "error": "expected at least one group, got none"})");
  CHECK(with(R"("mesh_ids": [0, 2], "spec": ["m"])") ==
        R"({"filtered": ["m"], "error": "expected a group from 0 to 1, got 2"})");
  CHECK(with(R"("mesh_ids": [-1], "spec": ["m"])") ==
        R"({"filtered": ["m"], "error": "expected a group from 0 to 1, got -1"})");
  CHECK(with(R"("mesh_ids": [0], "spec": ["m", "m"])") ==
        R"({"filtered": ["m", "m"], "error": )"
        R"("P('m', 'm'): dimension 1: axis \"m\" already cuts this array"})");
  CHECK(with(R"("mesh_ids": [0], "spec": ["s", ["s", "m"]])") ==
        R"({"filtered": [null, "m"], "devices": [0, 1]})");
  CHECK(with(R"("mesh_ids": [0], "spec": ["m", "UNCONSTRAINED"])") ==
        mpmd_error("P('m', UNCONSTRAINED): dimension 1: expected null or axes for an MPMD array, "
                   "got UNCONSTRAINED"));
  CHECK(with(R"("mesh_ids": [0], "spec": [["m", ["s"]]])") ==
        mpmd_error("dimension 0: expected axis names in the list, got a list"));
  CHECK(with(R"("mesh_ids": [0], "spec": ["m"], "unreduced": ["m"])") ==
        mpmd_error("P('m', unreduced={'m'}): expected each axis in one place of the array's spec "
                   R"(and states, got \"m\" again)"));
}

std::string array_query(const std::string& keys) {
  return R"({"kind": "array", )" + kMesh + ", " + keys + "}";
}

TEST_CASE("MPMD query: an array of two groups, of which both, one or none are held") {
  const std::string keys = R"("mesh_ids": [1, 0], "spec": [["s", "m"]], "arrays": )";
  const std::string zero = R"({"group": 0, "spec": ["m"], "shape": [4], "dtype": "f32"})";
  const std::string one = R"({"group": 1, "spec": [["m", "s"]], "shape": [4], "dtype": "f32"})";
  const std::string known = R"({"mpmd_idxs": [0, 1], "spec": ["m"], "shape": [4], "dtype": "f32", )"
                            R"("ndim": 1, "is_mpmd_replicated": true, )";
  const std::string devices =
      R"("sharding_devices": [0, 1, 2, 3], "local_sharding_devices": [0, 1], )";
  CHECK(mpmd_answer(array_query(keys + "[" + one + ", " + zero + "]")) ==
        known + R"("is_partially_addressable": true, "held_groups": [0, 1], )" + devices +
            R"("first_mpmd_replica": [0, 1], "to_mpmd_local_array": "list of 2"})");
  CHECK(mpmd_answer(array_query(keys + "[" + one + "]")) ==
        known + R"("is_partially_addressable": true, "held_groups": [1], )" + devices +
            R"("first_mpmd_replica": null, "to_mpmd_local_array": "array"})");
  CHECK(mpmd_answer(array_query(keys + R"([], "given": {"shape": [4], "dtype": "f32"})")) ==
        known + R"("is_partially_addressable": false, "held_groups": [], )" + devices +
            R"("first_mpmd_replica": null, "to_mpmd_local_array": "none"})");
}

TEST_CASE("MPMD query: an array of one group") {
  CHECK(mpmd_answer(array_query(R"("mesh_ids": [1], "spec": [], "arrays": [
            {"group": 1, "spec": [], "shape": [], "dtype": "bf16"}], "given": {"dtype": "bf16"})")) ==
        R"({"mpmd_idxs": [1], "spec": [], "shape": [], "dtype": "bf16", "ndim": 0, )"
        R"("is_mpmd_replicated": false, "is_partially_addressable": true, "held_groups": [1], )"
        R"("sharding_devices": [2, 3], "local_sharding_devices": [0, 1], )"
        R"("first_mpmd_replica": [2, 3], "to_mpmd_local_array": "array"})");
}

TEST_CASE("MPMD query: an array that cannot be made is an error") {
  const auto with = [](const std::string& arrays) {
    return mpmd_answer(
        array_query(R"("mesh_ids": [0], "spec": ["m"], "arrays": [)" + arrays + "]"));
  };
  const std::string rest = R"(, "shape": [4], "dtype": "f32"})";
  CHECK(with(R"({"group": "whole", "spec": ["m"])" + rest) ==
        mpmd_error("array 0: expected an array on a group, got one on the whole mesh"));
  CHECK(with(R"({"group": "single", "spec": [])" + rest) ==
        mpmd_error("array 0: expected an array on a group, got one on a single device"));
  CHECK(with(R"({"group": 1, "spec": ["m"])" + rest) ==
        mpmd_error("array 0: expected an array on one of groups 0, got one on group 1"));
  CHECK(with(R"({"group": 0, "spec": ["m"])" + rest + R"(, {"group": 0, "spec": [["m", ["s"]]])" +
             rest) ==
        mpmd_error("array 1: dimension 0: expected axis names in the list, got a list"));
  CHECK(with("") == mpmd_error("expected a shape to be given where no array is held, got none"));
}

std::string ops_query(const std::string& mesh_ids, const std::string& held,
                      const std::string& ops) {
  return R"({"kind": "ops", )" + kMesh + R"(, "mesh_ids": )" + mesh_ids + R"(, "held": )" + held +
         R"(, "ops": [)" + ops + "]}";
}

TEST_CASE("MPMD query: ops on an array of one replica") {
  CHECK(mpmd_answer(ops_query("[1, 0]", "[1]", R"("int", "format", "to_mpmd_local_array",
            "first_mpmd_replica", "block_until_ready", "is_deleted", "delete", "is_deleted")")) ==
        R"({"answers": [7, "7", "array", null, null, false, null, true]})");
}

TEST_CASE("MPMD query: an array is printed, deleted or not") {
  const std::string printed =
      R"~("MpmdArray(shape=(), dtype=int32, mpmd_idxs=(0, 1), sharding=NamedSharding()~"
      R"~(mesh=Mesh('s': 2, 'm': 2, axis_types=(Auto, Auto)), spec=P(), memory_kind=device))")~";
  CHECK(mpmd_answer(ops_query("[0, 1]", "[0, 1]", R"("repr", "delete_one", "repr")")) ==
        R"({"answers": [)" + printed + ", null, " + printed + "]}");
  CHECK(mpmd_answer(ops_query("[1]", "[]", R"("repr")")) ==
        R"~({"answers": ["MpmdArray(shape=(), dtype=int32, mpmd_idxs=(1,), )~"
        R"~(sharding=NamedSharding(mesh=Mesh('s': 1, 'm': 2, axis_types=(Auto, Auto)), spec=P(), )~"
        R"~(memory_kind=device))"]})~");
}

TEST_CASE("MPMD query: an array of which a group is held that it is not in") {
  CHECK(mpmd_answer(ops_query("[0]", "[1]", "")) ==
        mpmd_error("array 0: expected an array on one of groups 0, got one on group 1"));
  CHECK(mpmd_answer(ops_query("[]", "[]", "")) ==
        mpmd_error("expected at least one group, got none"));
}

TEST_CASE("MPMD query: the answers to ops are no longer than a file may be") {
  Limits limits;
  limits.file = 256;  // the query has 127 bytes, and each answer 156
  CHECK(mpmd_answer(ops_query("[0]", "[0]", R"("repr", "repr")"), limits) ==
        mpmd_error("expected at most 256 B in a file, got 314 B (--limit file=SIZE allows more)"));
}

/// A small model of an MPMD array on a mesh s, m (17.3 of the semantics): a scalar of 7 with a
/// replica on each group that is held. It is independent of MpmdArray.
struct ModelArray {
  std::vector<int64_t> groups;   // sorted
  std::map<int64_t, bool> held;  // whether the replica is deleted

  std::string answer(const std::string& op) {
    const int64_t deleted =
        std::count_if(held.begin(), held.end(), [](const auto& replica) { return replica.second; });
    const bool is_local = op == "to_mpmd_local_array";
    const bool is_first = op == "first_mpmd_replica";
    if (op == "repr")
      return printed();
    if (held.empty()) {
      if (is_local)
        return "\"none\"";
      return is_first || op == "block_until_ready"
                 ? "null"
                 : mpmd_error("expected a replica in this process, got none");
    }
    if (op == "delete_one") {
      held.begin()->second = true;
      return "null";
    }
    if (deleted != 0 && deleted != std::ssize(held))
      return mpmd_error("expected all replicas or none to be deleted, got " +
                        std::to_string(deleted) + " of " + std::to_string(held.size()));
    if (op == "is_deleted")
      return deleted == 0 ? "false" : "true";
    if (deleted != 0)
      return mpmd_error("expected an array that is there, got one that is deleted");
    if (op == "delete") {
      for (auto& [group, is_deleted] : held)
        is_deleted = true;
      return "null";
    }
    if (is_local)
      return held.size() == 1 ? "\"array\"" : "\"list of " + std::to_string(held.size()) + "\"";
    if (is_first)
      return held.begin()->first == groups[0] ? devices(groups[0]) : "null";
    if (op == "block_until_ready")
      return "null";
    if (held.size() > 1)
      return mpmd_error("expected one replica to be read as a number, got " +
                        std::to_string(held.size()));
    return op == "int" ? "7" : "\"7\"";
  }

  std::string printed() const {
    std::string ids;
    for (const int64_t group : groups)
      ids += (ids.empty() ? "" : ", ") + std::to_string(group);
    return "\"MpmdArray(shape=(), dtype=int32, mpmd_idxs=(" + ids +
           (groups.size() == 1 ? "," : "") +
           "), sharding=NamedSharding(mesh=Mesh('m': 2, 's': " + std::to_string(groups.size()) +
           ", axis_types=(Auto, Auto)), spec=P(), memory_kind=device))\"";
  }

  /// The mesh is m = 2, s = 4, whose devices are 100 and on, so a group is two of them.
  static std::string devices(int64_t group) {
    return "[" + std::to_string(100 + group) + ", " + std::to_string(104 + group) + "]";
  }
};

TEST_CASE("MPMD query: 300 random sequences of ops are answered as a small model answers them") {
  const std::vector<std::string> all = {"delete",
                                        "is_deleted",
                                        "to_mpmd_local_array",
                                        "int",
                                        "first_mpmd_replica",
                                        "block_until_ready",
                                        "delete_one",
                                        "format",
                                        "repr"};
  std::set<std::string> came;  // answers, those of groups and numbers of them aside
  for (uint64_t seed = 0; seed < test::tries(300); ++seed) {
    CAPTURE(seed);
    Random random(seed);
    ModelArray model;
    std::string ids;
    std::string held;
    for (int64_t group = 0; group < 4; ++group) {
      if (random.below(2) == 0 && !(group == 3 && model.groups.empty()))
        continue;
      model.groups.push_back(group);
      // Ids are a set: their order is none.
      ids = std::to_string(group) + (ids.empty() ? "" : ", " + ids);
      if (random.below(4) == 0)
        continue;
      model.held[group] = false;
      held = std::to_string(group) + (held.empty() ? "" : ", " + held);
    }
    std::string ops;
    std::string answers;
    for (uint64_t count = 1 + random.below(8); count > 0; --count) {
      // Deletions are rarer, so that there is something to delete.
      const std::string& op = all[random.below(2) == 0 ? 1 + random.below(5) : random.below(9)];
      ops += (ops.empty() ? "\"" : ", \"") + op + "\"";
      const std::string answer = model.answer(op);
      came.insert(answer.substr(0, 30));
      answers += (answers.empty() ? "" : ", ") + answer;
    }
    CHECK(mpmd_answer(R"({"kind": "ops", "mesh": [["m", 2], ["s", 4]], "mpmd_axis": "s",
              "device_order": [100, 101, 102, 103, 104, 105, 106, 107], "mesh_ids": [)" +
                      ids + R"(], "held": [)" + held + R"(], "ops": [)" + ops + "]}") ==
          R"({"answers": [)" + answers + "]}");
  }
  if (!test::is_all_tried())
    return;
  for (const std::string& answer : std::vector<std::string>{
           "7", "\"7\"", "true", "false", "null", "\"none\"", "\"array\"", "\"list of 4\"",
           "[101, 105]", mpmd_error("expected a replica in this process, got none"),
           mpmd_error("expected all replicas or none to be deleted"),
           mpmd_error("expected an array that is there, got one that is deleted"),
           mpmd_error("expected one replica to be read as a number"),
           "\"MpmdArray(shape=(), dtype=int32"}) {
    CAPTURE(answer);
    CHECK(came.contains(answer.substr(0, 30)));
  }
}

TEST_CASE("MPMD query: orders, groups and thresholds") {
  CHECK(mpmd_answer(R"({"kind": "interleaved_order", "sizes": [4, 8, 2, 1],
                        "mesh_ids": [[0], [], [1, 0], [1]]})") == R"({"order": [1, 3, 0, 2]})");
  CHECK(mpmd_answer(R"({"kind": "interleaved_order", "sizes": [], "mesh_ids": []})") ==
        R"({"order": []})");
  CHECK(mpmd_answer(R"({"kind": "group_by_size", "sizes": [8, 1, 4, 2], "threshold": 9})") ==
        R"({"groups": [[0, 1], [2, 3]]})");
  CHECK(mpmd_answer(R"({"kind": "group_by_size", "sizes": [8, 1], "threshold": -1})") ==
        R"({"groups": [[0], [1]]})");
  CHECK(mpmd_answer(R"({"kind": "threshold", "limit_and_peak": [[80, 20], [80, 30]]})") ==
        R"({"threshold": 16})");
  CHECK(mpmd_answer(R"({"kind": "threshold", "limit_and_peak": [[16777221, 0]]})") ==
        R"({"threshold": 5592407})");
  CHECK(mpmd_answer(R"({"kind": "threshold",
                        "limit_and_peak": [[[16777221, 0]], [[30000000, 0], [33554432, 1]]]})") ==
        R"({"threshold": 5592406})");
}

TEST_CASE("MPMD query: lists that do not fit each other, and processes without devices") {
  CHECK(mpmd_answer(R"({"kind": "interleaved_order", "sizes": [1, 2], "mesh_ids": [[0]]})") ==
        mpmd_error("expected the groups of each of 2 sizes, got those of 1"));
  for (const std::string none : {"[]", "[[]]", "[[[1, 0]], []]"})
    CHECK(mpmd_answer(R"({"kind": "threshold", "limit_and_peak": )" + none + "}") ==
          mpmd_error("expected at least one device, got none"));
}

TEST_CASE("MPMD query: a line that is no query is refused with its place") {
  CHECK(mpmd_refused("") == "column 1: expected a value, got the end of the line");
  CHECK(mpmd_refused("7") == "column 1: expected a query, an object, got 7");
  CHECK(mpmd_refused("{}") == R"(column 1: missing key \"kind\")");
  CHECK(mpmd_refused(R"({"kind": "order"})") ==
        R"(column 10: /kind: expected \"mesh\", \"sharding\", \"array\", \"ops\", )"
        R"(\"interleaved_order\", \"group_by_size\" or \"threshold\", got \"order\")");
  CHECK(mpmd_refused(R"({"kind": "mesh", "mesh": []})") ==
        R"(column 1: missing key \"mpmd_axis\")");
  CHECK(mpmd_refused(R"({"kind": "mesh", "mesh": [], "mpmd_axis": "s", "abstract": true})") ==
        R"(column 48: /abstract: unknown key \"abstract\"; expected one of \"kind\", \"mesh\", )"
        R"(\"device_order\", \"axis_types\", \"mpmd_axis\", \"submesh_of\")");
  CHECK(mpmd_refused(R"({"kind": "mesh", "mesh": [], "mpmd_axis": 1})") ==
        "column 43: /mpmd_axis: expected an axis name, got 1");
  CHECK(mpmd_refused(R"({"kind": "mesh", "mesh": [], "mpmd_axis": "s", "submesh_of": ["a"]})") ==
        R"(column 63: /submesh_of/0: expected a group, got \"a\")");
}

TEST_CASE("MPMD query: the values of shardings and arrays") {
  const auto with = [](const std::string& keys) {
    return mpmd_refused(R"({"kind": "array", "mesh": [], "mpmd_axis": "s", )" + keys + "}");
  };
  const std::string sharding = R"("mesh_ids": [], "spec": [], )";
  CHECK(with(R"("mesh_ids": 0, "spec": [], "arrays": [])") ==
        "column 61: /mesh_ids: expected a list of whole numbers, got 0");
  CHECK(with(R"("mesh_ids": [], "spec": "AUTO", "arrays": [])") ==
        "column 73: /spec: expected a list with null, an axis name or a list of them per "
        R"(dimension, got \"AUTO\")");
  CHECK(with(sharding + R"("arrays": {})") ==
        "column 87: /arrays: expected a list of arrays, got an object");
  CHECK(
      with(sharding + R"("arrays": [1])") ==
      "column 88: /arrays/0: expected an object with a group, a spec, a shape and a dtype, got 1");
  CHECK(with(sharding + R"("arrays": [{"group": "half", "spec": [], "shape": [], )"
                        R"("dtype": "f32"}])") ==
        R"(column 98: /arrays/0/group: expected a group, \"whole\" or \"single\", got \"half\")");
  CHECK(with(sharding + R"("arrays": [{"group": 0, "spec": [], "dtype": "f32"}])") ==
        R"(column 88: /arrays/0: missing key \"shape\")");
  CHECK(with(sharding + R"("arrays": [], "given": [])") ==
        "column 100: /given: expected an object with a shape and a dtype, got a list");
  CHECK(with(sharding + R"("arrays": [], "given": {"dtype": "f9"})") ==
        R"(column 110: /given/dtype: expected a dtype (one of pred, s8, s16, s32, s64, u8, )"
        R"(u16, u32, u64, f16, bf16, f32, f64, f8e4m3fn, f8e5m2, c64, c128), got \"f9\")");
}

TEST_CASE("MPMD query: the values of ops, sizes and devices") {
  const std::string ops = R"({"kind": "ops", "mesh": [], "mpmd_axis": "s", "mesh_ids": [], )";
  CHECK(mpmd_refused(ops + R"("held": [], "ops": ["destroy"]})") ==
        R"(column 83: /ops/0: expected \"delete\", \"is_deleted\", \"to_mpmd_local_array\", )"
        R"(\"first_mpmd_replica\", \"block_until_ready\", \"int\", \"format\", \"repr\" or )"
        R"(\"delete_one\", got \"destroy\")");
  CHECK(mpmd_refused(ops + R"("held": [], "ops": "repr"})") ==
        R"(column 82: /ops: expected a list of ops, got \"repr\")");
  CHECK(mpmd_refused(R"({"kind": "interleaved_order", "sizes": [-1], "mesh_ids": [[0]]})") ==
        "column 41: /sizes/0: expected a size in bytes of at least 0, got -1");
  CHECK(mpmd_refused(R"({"kind": "interleaved_order", "sizes": [1], "mesh_ids": 0})") ==
        "column 57: /mesh_ids: expected a list with the groups of each array, got 0");
  CHECK(mpmd_refused(R"({"kind": "interleaved_order", "sizes": [1], "mesh_ids": [[-1]]})") ==
        "column 59: /mesh_ids/0/0: expected a group of at least 0, got -1");
  CHECK(mpmd_refused(R"({"kind": "group_by_size", "sizes": [1]})") ==
        R"(column 1: missing key \"threshold\")");
  CHECK(mpmd_refused(R"({"kind": "group_by_size", "sizes": [1], "threshold": "1 MiB"})") ==
        R"(column 54: /threshold: expected a threshold in bytes, got \"1 MiB\")");
  CHECK(mpmd_refused(R"({"kind": "threshold", "limit_and_peak": {"a": []}})") ==
        "column 41: /limit_and_peak: expected a list of devices, got an object");
  CHECK(mpmd_refused(R"({"kind": "threshold", "limit_and_peak": [[1]]})") ==
        "column 42: /limit_and_peak/0: expected the limit and the peak of a device such as "
        "[80, 20], got a list");
  CHECK(mpmd_refused(R"({"kind": "threshold", "limit_and_peak": [[1, -1]]})") ==
        "column 46: /limit_and_peak/0/1: expected bytes of at least 0, got -1");
}

}  // namespace
}  // namespace orrery
