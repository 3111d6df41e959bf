// Tests mpmd_maps that are refused, and the messages.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/core_map.h"
#include "models/scenario/reader.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::Case;
using test::error_of;

/// A right mpmd_map, to vary.
struct MapText {
  std::string of = R"("a")";
  std::string id = R"("m")";
  std::string out = R"("out": [{"shape": [4, 8], "dtype": "f32"}])";
  std::string t = R"({"shape": [8], "dtype": "f32", "space": "vmem", "core": "v"})";
  std::string go = R"({"semaphore": true})";
  std::string scratch = "";  // in place of all
  std::string scalar = R"({"type": "scalar", "name": "z", "core_axis": "c", "cores": 2})";
  std::string scalar_op = "";
  std::string vector =
      R"({"type": "vector", "name": "v", "core_axis": "c", "cores": 2, "subcore_axis": "s", "subcores": 1})";
  std::string vector_op = "";
  std::string functions = "";  // in place of all
  std::string more = "";

  std::string text() const {
    const std::string all_scratch =
        scratch.empty()
            ? fmt::format(
                  R"({{"t": {}, "h": {{"shape": [4, 8], "dtype": "f32", "space": "hbm"}}, "go": {},
                       "gos": {{"semaphore": true, "shape": [2]}},
                       "n": {{"shape": [], "dtype": "s32", "space": "smem", "core": "z"}}}})",
                  t, go)
            : scratch;
    const std::string all_functions =
        functions.empty()
            ? fmt::format(
                  R"("functions": [{{"mesh": {}, "body": [{{"op": "signal", "sem": "go"}}{}{}]}},
                     {{"mesh": {}, "body": [{{"op": "copy", "from": ["in0", {{"row": "c"}}], "to": "t"}}{}{}]}}],)",
                  scalar, scalar_op.empty() ? "" : ", ", scalar_op, vector,
                  vector_op.empty() ? "" : ", ", vector_op)
            : functions;
    return fmt::format(
        R"({{"orrery": 1, "mesh": {{"x": 1}}, "cluster": {{"devices": 1, "topology": "ring"}},
 "arrays": {{"a": {{"shape": [4, 8], "dtype": "f32"}}, "b": {{"shape": [4, 8], "dtype": "s32"}}}},
 "program": [{{"id": {}, "op": "mpmd_map", "of": {}, {} "scratch": {}{}, {}}}], "outputs": ["m"]}})",
        id, of, all_functions, all_scratch, more, out);
  }
};

/// Checks the error of a right map with `part` of it changed.
void check(std::string MapText::*part, const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    MapText map;
    map.*part = each.part;
    CAPTURE(each.part);
    CHECK(error_of(map.text()) == each.error);
  }
}

const std::string kMap = "mpmd_map \"m\": ";
const std::string kOp = "/program/0: ";

std::string in_scalar(const std::string& key, const std::string& message) {
  return "/program/0/functions/0/body/1" + key + ": " + message;
}
std::string in_vector(const std::string& key, const std::string& message) {
  return "/program/0/functions/1/body/1" + key + ": " + message;
}

TEST_CASE("mpmd_map: meshes that are wrong, or do not go together") {
  CHECK(error_of(MapText().text()) == "");
  const std::string mesh = "/program/0/functions/1/mesh: " + kMap;
  check(
      &MapText::vector,
      {{R"({"type": "scalar", "name": "y", "core_axis": "c", "cores": 2})",
        mesh + "expected a scalar and a vector mesh together, got two scalar meshes, \"z\" and "
               "\"y\""},
       {R"({"type": "tensor", "name": "v", "core_axis": "c", "cores": 2})",
        mesh + "expected a scalar and a vector mesh together, got \"z\" and \"v\": a tensor mesh "
               "runs alone"},
       {R"({"type": "vector", "name": "v", "core_axis": "d", "cores": 2, "subcore_axis": "s", "subcores": 1})",
        mesh + "expected a scalar and a vector mesh of one core axis and as many cores, got \"c\" "
               "of 2 and \"d\" of 2"},
       {R"({"type": "vector", "name": "v", "core_axis": "c", "cores": 4, "subcore_axis": "s", "subcores": 1})",
        mesh + "expected a scalar and a vector mesh of one core axis and as many cores, got \"c\" "
               "of 2 and \"c\" of 4"},
       {R"({"type": "vector", "name": "z", "core_axis": "c", "cores": 2, "subcore_axis": "s", "subcores": 1})",
        mesh + "expected meshes of different names, got \"z\" twice"},
       {R"({"type": "vector", "name": "v", "core_axis": "c", "cores": 2, "subcore_axis": "c", "subcores": 1})",
        "/program/0/functions/1/mesh/subcore_axis: " + kMap +
            "expected a subcore axis of another name than the core axis, got \"c\""},
       {R"({"type": "vectro", "name": "v", "core_axis": "c", "cores": 2, "subcore_axis": "s", "subcores": 1})",
        "/program/0/functions/1/mesh/type: expected \"tensor\", \"scalar\" or \"vector\", got "
        "\"vectro\"; did you mean \"vector\"?"},
       {R"({"type": "vector", "name": "v", "core_axis": "c", "cores": 2, "subcore_axis": "s"})",
        "/program/0/functions/1/mesh: missing key \"subcores\""},
       {R"({"type": "vector", "name": "v", "core_axis": "c", "cores": 0, "subcore_axis": "s", "subcores": 1})",
        "/program/0/functions/1/mesh/cores: expected a whole number of at least 1, got 0"},
       {"3",
        "/program/0/functions/1/mesh: expected an object with \"type\", \"name\", \"core_axis\" "
        "and \"cores\", got 3"},
       {R"({"type": "vector", "name": "v", "core_axis": "c", "cores": 2, "subcore_axis": "s", "subcores": 4611686018427387904})",
        "/program/0/functions/1: " + kMap +
            "expected at most 100000 body ops of all instances together, got more"}});
  check(
      &MapText::scalar,
      {{R"({"type": "scalar", "name": "z", "core_axis": "c", "cores": 2, "subcores": 2})",
        "/program/0/functions/0/mesh/subcores: unknown key \"subcores\"; expected one of \"type\", "
        "\"name\", \"core_axis\", \"cores\""}});
}

TEST_CASE("mpmd_map: the most body ops are taken, and one more is not") {
  const auto tensor = [](int64_t cores) {
    MapText map;
    map.scratch = "{}";
    map.functions = fmt::format(
        R"("functions": [{{"mesh": {{"type": "tensor", "name": "w", "core_axis": "c", "cores": {}}}}}],)",
        cores);
    return error_of(map.text());
  };
  CHECK(tensor(kMostCoreSteps) == "");
  CHECK(tensor(kMostCoreSteps + 1) ==
        "/program/0/functions/0: " + kMap +
            "expected at most 100000 body ops of all instances together, got more");
}

TEST_CASE("mpmd_map: so many semaphores and arrays are refused") {
  const auto tensor = [](int64_t cores, const std::string& scratch) {
    MapText map;
    map.scratch = scratch;
    map.functions = fmt::format(
        R"("functions": [{{"mesh": {{"type": "tensor", "name": "w", "core_axis": "c", "cores": {}}}}}],)",
        cores);
    return error_of(map.text());
  };
  CHECK(tensor(1, R"({"s": {"semaphore": true, "shape": [100000]}})") == "");
  CHECK(tensor(1, R"({"s": {"semaphore": true, "shape": [1000000000000]}})") ==
        "/program/0/scratch/s: " + kMap + "expected at most 100000 semaphores together, got more");
  std::string arrays = "{";
  for (int i = 0; i < 11; ++i)
    arrays += fmt::format(R"({}"v{}": {{"shape": [], "dtype": "f32", "space": "vmem"}})",
                          i == 0 ? "" : ", ", i + 10);
  CHECK(tensor(100'000, arrays + "}") ==
        "/program/0/scratch/v19: " + kMap +
            "expected at most 1000000 arrays of all instances together, got more");
}

TEST_CASE("mpmd_map: functions of the wrong form") {
  check(&MapText::functions,
        {{R"("functions": [],)",
          "/program/0/functions: " + kMap + "expected at least one mesh and function, got []"},
         {" ", kOp + kMap +
                   "expected the parameter \"functions\", a list of functions such as {\"mesh\": "
                   "{...}, \"body\": [...]}"},
         {R"("functions": 3,)", "/program/0/functions: expected a list of functions, got 3"},
         {R"("functions": [3],)",
          "/program/0/functions/0: expected a function such as {\"mesh\": {...}, \"body\": [...]}, "
          "got 3"},
         {R"("functions": [{}],)", "/program/0/functions/0: missing key \"mesh\""}});
}

TEST_CASE("mpmd_map: results and names that are wrong") {
  check(&MapText::out,
        {{R"("outs": [])",
          kOp + "missing key \"out\"\n"
                "f:6:91: /program/0/outs: unknown key \"outs\"; did you mean \"out\"?"},
         {R"("out": {"shape": [1]})",
          "/program/0/out: expected a list of the types of the results, got an object"},
         {R"("out": [3])",
          "/program/0/out/0: expected an object with \"shape\" and \"dtype\", got 3"},
         {R"("out": [{"shape": [-1], "dtype": "f32"}])",
          "/program/0/out/0/shape/0: expected a whole number of at least 0, got -1"}});
  check(&MapText::id,
        {{R"(["m", "k"])", "/program/0/id: " + kMap + "expected 1 id, got 2: it has 1 result"}});
}

TEST_CASE("mpmd_map: scratch that is wrong") {
  check(&MapText::t,
        {{R"({"shape": [8], "dtype": "f32", "space": "vmem"})",
          "/program/0/scratch/t: " + kMap +
              "expected \"core\", the mesh that has it, or the space hbm or vmem_shared: there are "
              "several functions, and the space is vmem"},
         {R"({"shape": [8], "dtype": "f32", "space": "vmem", "core": "w"})",
          "/program/0/scratch/t/core: " + kMap + "expected the name of a mesh (z, v), got \"w\""},
         {R"({"shape": [8], "dtype": "f32", "space": "vmen", "core": "v"})",
          "/program/0/scratch/t/space: expected \"hbm\", \"vmem_shared\", \"vmem\", \"smem\" or "
          "\"any\", got \"vmen\"; did you mean \"vmem\"?"},
         {R"({"shape": [8]})", "/program/0/scratch/t: missing key \"dtype\""},
         {"3",
          "/program/0/scratch/t: expected an object with \"shape\" and \"dtype\", or "
          "{\"semaphore\": true}, got 3"}});
  check(
      &MapText::go,
      {{R"({"semaphore": true, "dtype": "f32"})",
        "/program/0/scratch/go/dtype: unknown key \"dtype\"; expected one of \"semaphore\", "
        "\"shape\""},
       {R"({"semaphore": true, "shape": [2, 2]})",
        "/program/0/scratch/go/shape: expected a shape of one dimension for semaphores, got [2,2]"},
       {R"({"semaphore": 1})", "/program/0/scratch/go/semaphore: expected true or false, got 1"}});
  check(&MapText::scratch,
        {{"3",
          "/program/0/scratch: expected an object with a name for each scratch, or a list, got 3"},
         {R"({"in0": {"semaphore": true}})",
          "/program/0/scratch/in0: " + kMap +
              "expected another name than those of in- and outputs, got \"in0\""}});
}

TEST_CASE("mpmd_map: aliases that are wrong") {
  const std::string aliases = R"(, "aliases": )";
  check(
      &MapText::more,
      {{aliases + R"({"1": 0})",
        "/program/0/aliases/1: " + kMap + "expected one of 1 operands, counted from 0, got 1"},
       {aliases + R"({"0": 1})",
        "/program/0/aliases/0: " + kMap + "expected one of 1 outputs, counted from 0, got 1"},
       {aliases + R"({"x": 0})",
        "/program/0/aliases/x: expected the number of an operand as key, got \"x\""},
       {aliases + R"({"0": 0.5})",
        "/program/0/aliases/0: expected an output number of at least 0, got 0.5"},
       {aliases + "[0]",
        "/program/0/aliases: expected an object with the output of each input such as {\"0\": 0}, "
        "got a list"}});
  MapText map;
  map.of = R"("b")";
  map.more = aliases + R"({"0": 0})";
  CHECK(error_of(map.text()) ==
        "/program/0/aliases/0: " + kMap +
            "expected operand and output of one dtype and shape, got s32[4,8] and f32[4,8]");
  map.of = R"(["a", "a"])";
  map.more = aliases + R"({"1": 0})";
  CHECK(error_of(map.text()) ==
        "/program/0/of: " + kMap +
            "expected \"a\", over which a result is written, to be no other operand too, nor to "
            "share memory with one");
  map.more = aliases + R"({"0": 0, "1": 0})";
  CHECK(error_of(map.text()) ==
        "/program/0/aliases/1: " + kMap + "expected each output once, got 0 twice");
  map.more = aliases + R"({"00": 0})";
  CHECK(error_of(map.text()) ==
        "/program/0/aliases/00: expected the number of an operand as key, got \"00\"");
}

TEST_CASE(
    "mpmd_map: an index that the dtype of its ref lacks is refused, and the last one is not") {
  MapText map;
  map.scratch = R"({"n": {"shape": [], "dtype": "s8"}})";
  const auto error = [&](int64_t cores, const std::string& op) {
    map.functions = fmt::format(
        R"("functions": [{{"mesh": {{"type": "tensor", "name": "w", "core_axis": "c", "cores": {}}},
            "body": [{{"op": "{}", "axis_name": "c", "to": "n"}}]}}],)",
        cores, op);
    return error_of(map.text());
  };
  const std::string begin = "/program/0/functions/0/body/0/to: " + kMap;
  CHECK(error(128, "axis_index") == "");
  CHECK(error(129, "axis_index") ==
        begin + "expected integers up to 128, which axis_index can give, got s8[]");
  CHECK(error(127, "axis_size") == "");
  CHECK(error(128, "axis_size") ==
        begin + "expected integers up to 128, which axis_size can give, got s8[]");
}

TEST_CASE("mpmd_map: an axis that is named twice, names that are empty, and too many bytes") {
  check(&MapText::scalar_op,
        {{R"({"op": "axis_size", "axis_name": ["c", "c"], "to": "n"})",
          in_scalar("/axis_name", kMap + "expected each axis once, got \"c\" twice")}});
  check(&MapText::scalar, {{R"({"type": "scalar", "name": "", "core_axis": "c", "cores": 2})",
                            "/program/0/functions/0/mesh/name: expected a name, got \"\""}});
  check(
      &MapText::scratch,
      {{R"({"": {"shape": [], "dtype": "s32"}})", "/program/0/scratch/: expected a name, got \"\""},
       {R"({"t": {"shape": [1152921504606846976], "dtype": "f32", "space": "hbm"},
                                 "u": {"shape": [1152921504606846976], "dtype": "f32", "space": "hbm"}})",
        "/program/0/scratch/u: " + kMap +
            "expected arrays whose bytes together fit 64 bits, got more"}});
}

TEST_CASE("mpmd_map: cost estimates that are wrong") {
  const std::string estimate = R"(, "cost_estimate": )";
  const std::string flops =
      "/program/0/cost_estimate/flops: expected a whole number of at least 0, got ";
  check(
      &MapText::more,
      {{estimate + "true",
        "/program/0/cost_estimate: expected an object with \"flops\", \"transcendentals\" and "
        "\"bytes_accessed\", got true"},
       {estimate + R"({"flops": true, "transcendentals": 0, "bytes_accessed": 0})", flops + "true"},
       {estimate + R"({"flops": -1, "transcendentals": 0, "bytes_accessed": 0})", flops + "-1"},
       {estimate + R"({"flops": 1.5, "transcendentals": 0, "bytes_accessed": 0})", flops + "1.5"},
       {estimate + R"({"flops": 1, "transcendentals": 0})",
        "/program/0/cost_estimate: missing key \"bytes_accessed\""},
       {estimate + R"({"flops": 1, "transcendentals": 0, "bytes_accessed": 0})", ""}});
}

TEST_CASE("mpmd_map: refs that are wrong") {
  const std::string form = "expected a ref such as \"in0\" or [\"in0\", {\"row\": 3}], got ";
  const auto copy = [](const std::string& from, const std::string& to = R"("t")") {
    return fmt::format(R"({{"op": "copy", "from": {}, "to": {}}})", from, to);
  };
  const auto row = [](const std::string& number) {
    return fmt::format(R"(["in0", {{"row": {}}}])", number);
  };
  check(
      &MapText::vector_op,
      {{copy(R"("in1")"),
        in_vector("/from", kMap + "expected a ref (go, gos, h, in0, n, out0, t), got \"in1\"; did "
                                  "you mean \"in0\"?")},
       {copy("3"), in_vector("/from", form + "3")},
       {copy(R"(["in0", 3])"), in_vector("/from", form + "a list")},
       {copy(row("null")),
        in_vector("/from/1/row", "expected the number of a row, or the name of an axis, got null")},
       {copy(row("-1")), in_vector("/from/1/row", "expected a row number of at least 0, got -1")},
       {copy(row("4")), in_vector("/from", kMap + "expected a row from 0 to 3 of \"in0\", got 4")},
       {copy(row("\"q\"")),
        in_vector("/from", kMap + "expected an axis of the mesh \"v\" (c, s), got \"q\"")},
       {copy("\"t\"", row("0")),
        in_vector("/to", kMap + "expected a ref that may be written, got \"in0\", an input without "
                                "an output as alias")},
       {copy("\"go\""), in_vector("/from", kMap + "expected an array, got \"go\", a semaphore")},
       {copy("\"in0\""),
        in_vector("", kMap + "expected a copy between refs of one dtype and as many elements, got "
                             "f32[4,8] to f32[8]")}});
  check(&MapText::scalar_op,
        {{copy(R"(["n", {"row": 0}])", "\"n\""),
          in_scalar("/from", kMap + "expected \"n\" without a row: it has no dimension")},
         {copy("\"t\""),
          in_scalar("/from",
                    kMap + "expected a ref that \"z\" may use, got \"t\", which is of the core "
                           "\"v\"")}});
  MapText map;
  map.scratch = R"({"t": {"shape": [0, 8], "dtype": "f32", "space": "hbm"}})";
  map.functions =
      R"("functions": [{"mesh": {"type": "tensor", "name": "w", "core_axis": "c", "cores": 1},
      "body": [{"op": "copy", "from": ["t", {"row": 0}], "to": "t"}]}],)";
  CHECK(error_of(map.text()) == "/program/0/functions/0/body/0/from: " + kMap +
                                    "expected a ref that has rows, got \"t\", which has none");
  map = MapText();
  map.scalar = R"({"type": "scalar", "name": "z", "core_axis": "c", "cores": 8})";
  map.vector =
      R"({"type": "vector", "name": "v", "core_axis": "c", "cores": 8, "subcore_axis": "s", "subcores": 1})";
  CHECK(error_of(map.text()) ==
        "/program/0/functions/1/body/0/from: " + kMap +
            "expected a row from 0 to 3 of \"in0\", got the index over \"c\", up to 7");
}

TEST_CASE("mpmd_map: semaphores that are wrong") {
  const auto wait = [](const std::string& sem, const std::string& more = "") {
    return fmt::format(R"({{"op": "wait", "sem": {}{}}})", sem, more);
  };
  check(&MapText::vector_op,
        {{wait("\"t\""), in_vector("/sem", kMap + "expected a semaphore, got \"t\", an array")},
         {wait("\"gos\""),
          in_vector("/sem", kMap + "expected a row of \"gos\", which has 2 semaphores")},
         {wait(R"(["go", {"row": 0}])"),
          in_vector("/sem", kMap + "expected \"go\" without a row: it has no dimension")},
         {wait(R"(["gos", {"row": 2}])"),
          in_vector("/sem", kMap + "expected a row from 0 to 1 of \"gos\", got 2")},
         {wait("\"go\"", R"(, "for": 0)"),
          in_vector("/for", "expected a whole number from 1 to 1000000000, got 0")},
         {wait("\"go\"", R"(, "by": 1)"),
          in_vector("/by", "unknown key \"by\"; expected one of \"op\", \"sem\", \"for\"")}});
}

TEST_CASE("mpmd_map: body ops that are wrong") {
  const auto none = [](const std::string& op) {
    return fmt::format(
        "expected an op of a body, got \"{}\", which is none; a body has copies, signals, waits "
        "and "
        "a few local ops",
        op);
  };
  check(&MapText::vector_op,
        {{R"({"op": "add", "of": ["t", "t"], "to": "h"})",
          in_vector("/to", kMap + "expected a ref of f32[8], the result of add, got f32[4,8]")},
         {R"({"op": "add", "of": ["t", "h"], "to": "t"})",
          in_vector("/of", kMap + "add: expected operands of one shape, got f32[8] and f32[4,8]; "
                                  "only scalars (shape []) are broadcast")},
         {R"({"op": "add", "of": "t", "to": "t"})",
          in_vector("/of", kMap + "add: expected 2 operands, got 1")},
         {R"({"op": "neg", "of": "t"})", in_vector("", "missing key \"to\"")},
         {R"({"op": "reduce_sum", "of": "t", "to": "t"})",
          in_vector("", kMap + "reduce_sum: expected the parameter \"axes\", a list of integers")},
         {R"({"op": "reduce_sum", "of": "t", "axes": [3], "to": "t"})",
          in_vector("/axes", kMap + "reduce_sum: expected a dimension from 0 to 0, got 3")},
         {R"({"op": "psum", "of": "t", "to": "t"})", in_vector("/op", none("psum"))},
         {R"({"op": "fori_loop"})", in_vector("/op", none("fori_loop"))},
         {R"({"op": "slice", "of": "t", "to": "t"})", in_vector("/op", none("slice"))},
         {R"({"op": "cpoy", "from": "t", "to": "t"})",
          in_vector("/op", "unknown op \"cpoy\"; did you mean \"copy\"?")},
         {R"({"sem": "go"})", in_vector("", "missing key \"op\"")},
         {"3", in_vector("",
                         "expected an op such as {\"op\": \"copy\", \"from\": \"in0\", \"to\": "
                         "\"out0\"}, got 3")},
         {R"({"op": "axis_index", "axis_name": "s", "to": "t"})",
          in_vector("/to", kMap + "expected a ref of integers for axis_index, got f32[8]")}});
  check(&MapText::scalar_op,
        {{R"({"op": "axis_index", "axis_name": "s", "to": "n"})",
          in_scalar("/axis_name", kMap + "expected an axis of the mesh \"z\" (c), got \"s\"")},
         {R"({"op": "axis_size", "axis_name": "q", "to": "n"})",
          in_scalar("/axis_name", kMap + "expected an axis of the meshes (c, s), got \"q\"")},
         {R"({"op": "axis_index", "to": "n"})", in_scalar("", "missing key \"axis_name\"")},
         {R"({"op": "axis_size", "axis_name": "s", "to": "n"})", ""}});
}

TEST_CASE("cores of a cluster: what is wrong") {
  const auto of = [](const std::string& cores) {
    std::string text = MapText().text();
    const std::string ring = R"("topology": "ring")";
    return error_of(text.replace(text.find(ring), ring.size(), ring + R"(, "cores": )" + cores));
  };
  CHECK(of(R"({"vector": {}, "scalar": {}})") == "");
  CHECK(of("{}") ==
        "/cluster/cores: expected at least one of \"tensor\", \"scalar\" and \"vector\", got {}");
  CHECK(of("3") ==
        "/cluster/cores: expected an object with \"tensor\", \"scalar\" and \"vector\", got 3");
  CHECK(of(R"({"vectr": {}})") ==
        "/cluster/cores/vectr: unknown key \"vectr\"; did you mean \"vector\"?");
  CHECK(of(R"({"scalar": 3})") ==
        "/cluster/cores/scalar: expected an object with \"cores\", \"flops\", \"launch\" and "
        "\"spaces\", got 3");
  CHECK(of(R"({"scalar": {"subcores": 2}})") ==
        "/cluster/cores/scalar/subcores: unknown key \"subcores\"; expected one of \"cores\", "
        "\"flops\", \"launch\", \"spaces\"");
  CHECK(of(R"({"scalar": {"cores": 0}})") ==
        "/cluster/cores/scalar/cores: expected a number of cores from 1 to 1000000, got 0");
  CHECK(of(R"({"vector": {"subcores": 0}})") ==
        "/cluster/cores/vector/subcores: expected a number of subcores from 1 to 1000000, got 0");
  CHECK(of(R"({"scalar": {"spaces": 3}})") ==
        "/cluster/cores/scalar/spaces: expected an object with \"vmem_shared\", \"vmem\" and "
        "\"smem\", got 3");
  CHECK(
      of(R"({"scalar": {"spaces": {"smem": 3}}})") ==
      "/cluster/cores/scalar/spaces/smem: expected an object with \"size\" and \"bandwidth\", got "
      "3");
  CHECK(of(R"({"vector": {"spaces": {"hbm": {}}}})") ==
        "/cluster/cores/vector/spaces/hbm: unknown key \"hbm\"; expected one of \"vmem_shared\", "
        "\"vmem\", \"smem\"");
}

}  // namespace
}  // namespace orrery
