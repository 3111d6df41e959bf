// Tests the errors in a collective's axes, groups, dimensions, permutations, dtypes and tables:
// each rule with its whole message. state_errors_test.cc tests the errors of states.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/program/rules.h"
#include "tests/models/scenario/support.h"

namespace orrery {
namespace {

using test::error_of;
using test::Small;

/// Returns the error of op "t" with these members on {x: 2, y: 2}, after its place in the file; ""
/// if it is accepted. "a" is f32[4,6] on each device, "s" a scalar, "p" pred[4], "c" c64[4] and "n"
/// s32[4]; all vary over both axes.
std::string said_of_collective(const std::string& op, const std::string& of = R"("a")") {
  Small small;
  small.mesh = R"({"x": 2, "y": 2})";
  const auto array = [](const char* name, const char* dtype, const char* shape) {
    return fmt::format(R"("{}": {{"shape": {}, "dtype": "{}", "spec": [["x", "y"]]}})", name, shape,
                       dtype);
  };
  small.arrays =
      fmt::format("{{{}, {}, {}, {}, {}}}", array("a", "f32", "[16, 6]"),
                  array("p", "pred", "[16]"), array("c", "c64", "[16]"), array("n", "s32", "[16]"),
                  R"("s": {"local_shape": [], "dtype": "f32",
                                      "per_device": [[1], [2], [3], [4]]})");
  small.program = fmt::format(R"([{{"id": "t", {}{}}}])",
                              of.empty() ? "" : fmt::format(R"("of": {}, )", of), op);
  return error_of(small.text());
}

const std::string kBoth = R"("axis_name": ["x", "y"])";

struct RefusedOp {
  std::string given;
  std::string error;
};

/// Returns the parameters that an op requires beside its axes.
std::string required_by(std::string_view op) {
  if (op == "all_to_all")
    return R"(, "split_axis": 0, "concat_axis": 0)";
  if (op == "pswapaxes")
    return R"(, "axis": 0)";
  if (op == "ppermute" || op == "psend")
    return R"(, "perm": [])";
  if (op == "precv")
    return R"(, "perm": [], "shape": [], "dtype": "f32", "site": "s")";
  if (op == "pshuffle")
    return R"(, "perm": [0, 1, 2, 3])";
  if (op == "pbroadcast")
    return R"(, "source": 0)";
  return op == "pcast" ? R"(, "to": "varying")" : "";
}

/// Returns the operands of an op, of which the first is given.
std::string operands_of(const OpRules& op, const std::string& first) {
  std::string of = fmt::format(R"(["{}")", first);
  for (size_t k = 1; k < op.least_operands; ++k)
    of += R"(, "n")";
  return op.least_operands == 0 ? "" : of + "]";
}

bool has_parameter(const OpRules& op, std::string_view name) {
  for (const Parameter& parameter : op.parameters)
    if (parameter.name == name)
      return true;
  return false;
}

TEST_CASE("collective errors: an axis is one of the mesh, in every op that names axes") {
  size_t ops = 0;
  for (const OpRules& op : all_rules()) {
    if (!has_parameter(op, "axis_name"))
      continue;
    ++ops;
    const auto over = [&](const std::string& axes) {
      return said_of_collective(
          fmt::format(R"("op": "{}", "axis_name": {}{})", op.name, axes, required_by(op.name)),
          operands_of(op, "a"));
    };
    CHECK(over(R"("z")") ==
          fmt::format("/program/0/axis_name: {} \"t\": expected an axis of the mesh (x, y), got "
                      "\"z\"",
                      op.name));
    CHECK(over(R"(["y", "x", "y"])") ==
          fmt::format("/program/0/axis_name: {} \"t\": expected each axis once, got \"y\" twice",
                      op.name));
    if (op.kind == OpKind::Psum || op.kind == OpKind::Pmax || op.kind == OpKind::Pmin)
      continue;  // may be over dimensions too
    CHECK(over(R"(["x", 0])") ==
          (op.family == Family::Collective
               ? fmt::format("/program/0/axis_name/1: {} \"t\": expected an axis name, got 0; only "
                             "psum, pmax and pmin also reduce over dimensions of the operand",
                             op.name)
               : "/program/0/axis_name/1: expected an axis name, got 0"));
  }
  CHECK(ops == 27);  // 20 collectives, 5 casts, axis_index and axis_size
}

TEST_CASE("collective errors: axis_index_groups have each rank of the axes once, and none empty") {
  const RefusedOp rows[] = {
      {"[[0, 1], [2, 4]]", "expected ranks from 0 to 3, got 4"},
      {"[[0, -1], [2, 3]]", "expected ranks from 0 to 3, got -1"},
      {"[[0, 1], [2, 1]]", "expected each rank in one group, got rank 1 twice"},
      {"[[0], [3]]", "expected each of the 4 ranks in a group, got none with rank 1"},
      {"[]", "expected each of the 4 ranks in a group, got none with rank 0"},
      {"[[], [0, 1, 2, 3]]", "expected groups of at least one rank, got an empty one"},
  };
  const std::string uneven = "expected groups of one size, got 1 and 3";
  for (const OpRules& op : all_rules()) {
    if (!has_parameter(op, "axis_index_groups"))
      continue;
    const auto with = [&](const std::string& groups) {
      return said_of_collective(
          fmt::format(R"("op": "{}", "axis_name": {}, "axis_index_groups": {}{})", op.name,
                      op.name.starts_with("parg") ? R"("x")" : R"(["x", "y"])", groups,
                      required_by(op.name)),
          operands_of(op, "a"));
    };
    const std::string begin = fmt::format("/program/0/axis_index_groups: {} \"t\": ", op.name);
    if (op.name.starts_with("parg")) {
      CHECK(with("[[0, 2]]") == begin + "expected ranks from 0 to 1, got 2");
      continue;
    }
    for (const RefusedOp& row : rows)
      CHECK(with(row.given) == begin + row.error);
    if (op.group_sizes == GroupSizes::Equal)
      CHECK(with("[[0], [1, 2, 3]]") == begin + uneven);
  }
}

TEST_CASE("collective errors: dimensions, and the sizes that a group needs") {
  const RefusedOp rows[] = {
      {R"("op": "all_gather", "axis": 3)",
       "axis: all_gather \"t\": expected a dimension of the result, from -3 to 2, got 3"},
      {R"("op": "all_gather", "axis": -4)",
       "axis: all_gather \"t\": expected a dimension of the result, from -3 to 2, got -4"},
      {R"("op": "all_gather", "axis": 2, "tiled": true)",
       "axis: all_gather \"t\": expected a dimension of the result, from -2 to 1, got 2"},
      {R"("op": "psum_scatter", "scatter_dimension": 1)",
       "scatter_dimension: psum_scatter \"t\": expected dimension 1 to be the group size 4, got 6; "
       "a tiled one need only be divisible by it"},
      {R"("op": "psum_scatter", "scatter_dimension": 1, "tiled": true)",
       "scatter_dimension: psum_scatter \"t\": expected dimension 1 to be divisible by the group "
       "size 4, got 6"},
      {R"("op": "psum_scatter", "scatter_dimension": 2)",
       "scatter_dimension: psum_scatter \"t\": expected a dimension from 0 to 1, got 2"},
      {R"("op": "psum_scatter", "scatter_dimension": -1)",
       "scatter_dimension: psum_scatter \"t\": expected a dimension from 0 to 1, got -1"},
      {R"("op": "unreduced_psum_scatter", "scatter_dimension": 1)",
       "scatter_dimension: unreduced_psum_scatter \"t\": expected dimension 1 to be the group size "
       "4, got 6; a tiled one need only be divisible by it"},
      {R"("op": "all_to_all", "split_axis": 1, "concat_axis": 0)",
       "split_axis: all_to_all \"t\": expected dimension 1 to be the group size 4, got 6; a tiled "
       "one need only be divisible by it"},
      {R"("op": "all_to_all", "split_axis": 1, "concat_axis": 0, "tiled": true)",
       "split_axis: all_to_all \"t\": expected dimension 1 to be divisible by the group size 4, "
       "got 6"},
      {R"("op": "all_to_all", "split_axis": -1, "concat_axis": 0)",
       "split_axis: all_to_all \"t\": expected a dimension from 0 to 1, got -1"},
      {R"("op": "all_to_all", "split_axis": 2, "concat_axis": 0)",
       "split_axis: all_to_all \"t\": expected a dimension from 0 to 1, got 2"},
      {R"("op": "all_to_all", "split_axis": 0, "concat_axis": 2)",
       "concat_axis: all_to_all \"t\": expected a dimension from 0 to 1, got 2"},
      {R"("op": "all_to_all", "split_axis": 0, "concat_axis": -1)",
       "concat_axis: all_to_all \"t\": expected a dimension from 0 to 1, got -1"},
      {R"("op": "pswapaxes", "axis": 1)",
       "axis: pswapaxes \"t\": expected dimension 1 to be the group size 4, got 6"},
      {R"("op": "pswapaxes", "axis": -1)",
       "axis: pswapaxes \"t\": expected a dimension from 0 to 1, got -1"},
  };
  for (const RefusedOp& row : rows) {
    CAPTURE(row.given);
    CHECK(said_of_collective(row.given + ", " + kBoth) == "/program/0/" + row.error);
  }
}

TEST_CASE("collective errors: a scalar has no dimension to tile or to cut") {
  const std::string scalar = "expected an operand with dimensions, got a scalar";
  const RefusedOp rows[] = {
      {R"("op": "all_gather", "tiled": true)", "axis: all_gather \"t\": "},
      {R"("op": "psum_scatter")", "scatter_dimension: psum_scatter \"t\": "},
      {R"("op": "psum_scatter", "tiled": true)", "scatter_dimension: psum_scatter \"t\": "},
      {R"("op": "all_to_all", "split_axis": 0, "concat_axis": 0)",
       "split_axis: all_to_all \"t\": "},
      {R"("op": "pswapaxes", "axis": 0)", "axis: pswapaxes \"t\": "},
  };
  for (const RefusedOp& row : rows)
    CHECK(said_of_collective(row.given + ", " + kBoth, R"("s")") ==
          "/program/0/" + row.error + scalar);
}

TEST_CASE("collective errors: pairs of ranks, each source and each destination once") {
  const RefusedOp rows[] = {
      {"[[0, 1, 2]]", "expected pairs [source, destination], got [0,1,2]"},
      {"[[0, 4]]", "expected ranks from 0 to 3, got 4"},
      {"[[-1, 0]]", "expected ranks from 0 to 3, got -1"},
      {"[[0, 1], [0, 2]]", "expected each source once, got rank 0 twice"},
      {"[[0, 1], [2, 1]]", "expected each destination once, got rank 1 twice"},
  };
  for (const RefusedOp& row : rows) {
    const auto with = [&](const std::string& op, const std::string& of, const std::string& more) {
      return said_of_collective(
          fmt::format(R"("op": "{}", {}, "perm": {}{})", op, kBoth, row.given, more), of);
    };
    CHECK(with("ppermute", R"("a")", "") == "/program/0/perm: ppermute \"t\": " + row.error);
    CHECK(with("psend", R"("a")", "") == "/program/0/perm: psend \"t\": " + row.error);
    CHECK(with("precv", "", R"(, "shape": [4, 6], "dtype": "f32", "site": "s")") ==
          "/program/0/perm: precv \"t\": " + row.error);
  }
  CHECK(said_of_collective(R"("op": "psend", "perm": [[0, 1], [2, 3], [1, 0]], )" + kBoth) ==
        "/program/0/perm: psend \"t\": expected pairs without a cycle, got 0 -> 1 -> 0");
  CHECK(
      said_of_collective(
          R"("op": "precv", "perm": [[3, 3]], "shape": [], "dtype": "f32", "site": "s", )" + kBoth,
          "") == "/program/0/perm: precv \"t\": expected pairs without a cycle, got 3 -> 3");
}

TEST_CASE("collective errors: pshuffle has the source of each rank, each rank once") {
  for (const char* const perm : {"[1,0]", "[1,0,2,3,4]", "[0,1,1,3]", "[-1,0,1,2]"})
    CHECK(said_of_collective(fmt::format(R"("op": "pshuffle", "perm": {}, )", perm) + kBoth) ==
          fmt::format("/program/0/perm: pshuffle \"t\": expected each of the ranks 0 to 3 once, "
                      "got {}",
                      perm));
}

TEST_CASE("collective errors: permutations are over axes in the order of the mesh") {
  for (const char* const op : {"ppermute", "pshuffle", "psend", "precv"})
    CHECK(said_of_collective(
              fmt::format(R"("op": "{}", "axis_name": ["y", "x"]{})", op, required_by(op)),
              std::string(op) == "precv" ? "" : R"("a")") ==
          fmt::format("/program/0/axis_name: {} \"t\": expected axes in the order of the mesh, got "
                      "(y, x)",
                      op));
}

TEST_CASE("collective errors: pbroadcast is from a rank of the group") {
  for (const int source : {-1, 4})
    CHECK(
        said_of_collective(fmt::format(R"("op": "pbroadcast", "source": {}, )", source) + kBoth) ==
        fmt::format("/program/0/source: pbroadcast \"t\": expected a rank from 0 to 3, got {}",
                    source));
}

TEST_CASE("collective errors: pargmax and pargmin are over one axis") {
  for (const char* const op : {"pargmax", "pargmin"}) {
    CHECK(said_of_collective(fmt::format(R"("op": "{}", )", op) + kBoth) ==
          fmt::format("/program/0/axis_name: {} \"t\": expected one axis, got 2", op));
    CHECK(said_of_collective(fmt::format(R"("op": "{}", "axis_name": [])", op)) ==
          fmt::format("/program/0/axis_name: {} \"t\": expected one axis, got 0", op));
  }
}

TEST_CASE("collective errors: pred has no sum to scatter, complex numbers no order") {
  for (const char* const op : {"psum_scatter", "unreduced_psum_scatter"})
    CHECK(said_of_collective(fmt::format(R"("op": "{}", )", op) + kBoth, R"("p")") ==
          fmt::format("/program/0/of: {} \"t\": expected an operand of numbers, got pred", op));
  for (const char* const op : {"pmax", "pmin", "pargmax", "pargmin"})
    CHECK(said_of_collective(fmt::format(R"("op": "{}", "axis_name": "x")", op), R"("c")") ==
          fmt::format("/program/0/of: {} \"t\": expected elements that have an order, got c64; "
                      "complex numbers have none",
                      op));
}

TEST_CASE(
    "collective errors: the arrays of a ragged exchange have one dtype, and rows of one shape") {
  const auto of = [](const char* operand, const char* output) {
    return said_of_collective(R"("op": "ragged_all_to_all", )" + kBoth,
                              fmt::format(R"(["{}", "{}", "n", "n", "n", "n"])", operand, output));
  };
  const std::string one =
      "/program/0/of: ragged_all_to_all \"t\": expected an operand and an output that have one "
      "dtype and differ at most in their first dimension, got ";
  CHECK(of("n", "n") == "");
  CHECK(of("a", "n") == one + "f32[4,6] and s32[4]");
  CHECK(of("p", "n") == one + "pred[4] and s32[4]");
  CHECK(of("s", "s") == one + "f32[] and f32[]");
  CHECK(said_of_collective(R"("op": "ragged_all_to_all", "axis_name": [])",
                           R"(["n", "n", "n", "n", "n", "n"])") ==
        "/program/0/axis_name: ragged_all_to_all \"t\": expected an axis or more, got none");
}

TEST_CASE("collective errors: each table of a ragged exchange is a list of integers") {
  constexpr std::string_view kTables[] = {"input_offsets", "send_sizes", "output_offsets",
                                          "recv_sizes"};
  for (size_t t = 0; t < 4; ++t) {
    const auto with = [&](const char* table) {
      std::string of = R"(["a", "a")";
      for (size_t k = 0; k < 4; ++k)
        of += fmt::format(R"(, "{}")", k == t ? table : "n");
      return said_of_collective(R"("op": "ragged_all_to_all", )" + kBoth, of + "]");
    };
    const std::string list = fmt::format(
        "/program/0/of: ragged_all_to_all \"t\": expected {} to be a list of integers (s32[4]), "
        "got ",
        kTables[t]);
    CHECK(with("p") == list + "pred[4]");
    CHECK(with("a") == list + "f32[4,6]");
    CHECK(with("s") == list + "f32[]");
  }
}

}  // namespace
}  // namespace orrery
