// Tests what reshards to and from groups refuse, each rule with its whole message, and that a value
// is read only where it is.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/models/scenario/support.h"
#include "tests/support/property.h"

namespace orrery {
namespace {

using test::Case;
using test::error_of;
using test::Small;

constexpr const char* kArrays = R"({
  "a": {"shape": [8, 4], "dtype": "f32", "spec": [["s", "m"]]},
  "b": {"shape": [8], "dtype": "f32"},
  "u": {"shape": [8], "dtype": "f32", "unreduced": ["m"]},
  "d": {"local_shape": [2], "dtype": "f32", "varying": ["s"],
        "per_device": [[1, 2], [1, 2], [3, 4], [3, 4]]},
  "g": {"shape": [8], "dtype": "f32", "spec": ["m"], "on": {"s": 1}},
  "h": {"shape": [8], "dtype": "f32", "on": {"m": 0}}})";

/// Returns the error of a program on {s: 2, m: 2}, from its pointer on; "" if it is accepted.
std::string said(const std::string& program, const std::string& more = R"("name": "small")") {
  Small small;
  small.mesh = R"({"s": 2, "m": 2})";
  small.arrays = kArrays;
  small.program = program;
  small.more = more;
  const std::string error = error_of(small.text());
  return error.substr(std::min(error.find('/'), error.size()));
}

/// Returns a reshard of an array to groups, with other keys if they are given.
std::string to_groups(const std::string& of, const std::string& sharding,
                      const std::string& more = "") {
  return fmt::format(R"({{"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["{}"], "mpmd_axis": "s",
 "shardings": [{}]{}}})",
                     of, sharding, more);
}
std::string to_mesh(const std::string& of, const std::string& spec) {
  return fmt::format(R"({{"id": ["r"], "op": "mpmd_to_spmd_reshard", "of": ["{}"], "mpmd_axis": "s",
 "specs": [{}]}})",
                     of, spec);
}
const std::string kWhole = R"({"mesh_ids": [0], "spec": []})";

/// Checks the first error of each program.
void check(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    CAPTURE(each.part);
    const std::string error = said("[" + each.part + "]");
    CHECK(error.substr(0, error.find('\n')) == each.error);
  }
}

TEST_CASE("reshards to groups: what they refuse") {
  const std::vector<Case> cases = {
      {to_groups("a", R"({"mesh_ids": [0], "spec": ["m"]})"), ""},
      {to_groups("a", R"({"mesh_ids": [], "spec": [["s", "m"]]})"), ""},
      {R"({"id": "p", "op": "spmd_to_mpmd_reshard", "of": ["a"], "mpmd_axis": "s", "shardings": [)" +
           kWhole + "]}",
       R"(/program/0/id: expected a list with an id for each array, got "p")"},
      {R"({"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["a", "b"], "mpmd_axis": "s", "shardings": [)" +
           kWhole + "]}",
       "/program/0/of: expected a list of ids, one for each of 1 ids, got 2"},
      {R"({"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["a"], "mpmd_axis": "s", "shardings": []})",
       "/program/0/shardings: expected shardings such as {\"mesh_ids\": [0], \"spec\": [\"x\"]}, "
       "one for each of 1 ids, got 0"},
      {R"({"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["a"], "mpmd_axis": "t", "shardings": [)" +
           kWhole + "]}",
       R"(/program/0/mpmd_axis: the mesh has no axis "t"; it has "s", "m")"},
      {to_groups("a", "[]"),
       "/program/0/shardings/0: expected a sharding such as {\"mesh_ids\": [0], \"spec\": "
       "[\"x\"]}, got a list"},
      {to_groups("a", R"({"mesh_ids": [2], "spec": []})"),
       "/program/0/shardings/0/mesh_ids/0: expected a group from 0 to 1, got 2"},
      {to_groups("a", R"({"mesh_ids": [-1], "spec": []})"),
       "/program/0/shardings/0/mesh_ids/0: expected a group from 0 to 1, got -1"},
      {to_groups("a", R"({"mesh_ids": [0], "spec": ["UNCONSTRAINED"]})"),
       "/program/0/shardings/0/spec/0: expected an axis of type Auto in the mesh where a dimension "
       "is UNCONSTRAINED; the axes of a scenario's mesh are Manual"},
      {to_groups("a", R"({"mesh_ids": [0], "spec": [null, null, "m"]})"),
       "/program/0/shardings/0/spec: spmd_to_mpmd_reshard \"p\": expected at most one entry per "
       "dimension of [8,4], got 3"},
      {R"({"id": "y", "op": "neg", "of": "b"}, )" +
           to_groups("y", kWhole, R"(, "from": [{"spec": ["m"]}])"),
       "/program/1/of: spmd_to_mpmd_reshard \"p\": expected an array that varies over the axes of "
       "its spec P('m',) alone, got \"y\", f32[8]"},
      {to_groups("d", kWhole),
       "/program/0/of: spmd_to_mpmd_reshard \"p\": expected an array with a spec, the result of an "
       "mpmd_to_spmd_reshard, or \"from\", got \"d\""},
      {to_groups("d", kWhole, R"(, "from": [{"spec": ["s"]}])"), ""},
      {to_groups("d", kWhole, R"(, "from": [])"),
       "/program/0/from: expected a list of shardings such as {\"spec\": [\"x\"]}, one for each of "
       "1 ids, got 0"},
      {to_groups("d", kWhole, R"(, "from": ["s"])"),
       "/program/0/from/0: expected a sharding such as {\"spec\": [\"x\"]}, got \"s\""},
      {to_groups("u", kWhole),
       "/program/0/of: spmd_to_mpmd_reshard \"p\": expected an array that varies over the axes of "
       "its spec P() alone, got \"u\", f32[8]{U:m}"},
      {to_groups("g", kWhole),
       "/program/0/of: spmd_to_mpmd_reshard \"p\": expected an array of the whole mesh, got \"g\", "
       "which device 0 lacks"},
      {to_groups("a", kWhole, R"(, "threshold_counts": "both")"),
       R"(/program/0/threshold_counts: expected "source" or "target", got "both")"},
      {R"({"id": "f", "op": "psum_start", "of": "a", "axis_name": "s"}, )" +
           to_groups("f", kWhole, R"(, "from": [{"spec": []}])"),
       "/program/1/of: spmd_to_mpmd_reshard \"p\": expected an array, got \"f\", a future"},
      {R"({"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "body": [)" +
           to_groups("a", kWhole) + "]}",
       "/program/0/body/0: spmd_to_mpmd_reshard \"p\": expected no loop around it: it donates its "
       "operands (in l)"},
      {R"({"id": [], "op": "spmd_to_mpmd_reshard", "of": ["a"], "mpmd_axis": "s", "shardings": []})",
       "/program/0/id: expected an id for each array, got []"},
      {to_groups("a", kWhole, R"(, "site": "")"),
       "/program/0/site: expected a name that is not empty"},
      {to_groups("a", kWhole, R"(, "from": [{"spec": [["m", "s"]]}])"),
       "/program/0/of: spmd_to_mpmd_reshard \"p\": expected no \"from\" for \"a\", which is cut by "
       "P(('s', 'm'),), got P(('m', 's'),)"},
      {to_groups("b", kWhole, R"(, "from": [{"spec": [null]}])"), ""},
      {R"({"id": "v", "op": "reshape", "of": "b", "new_sizes": [2, 4]},
 {"id": ["p", "q"], "op": "spmd_to_mpmd_reshard", "of": ["b", "v"], "mpmd_axis": "s",
 "from": [{"spec": []}, {"spec": []}], "shardings": [{"mesh_ids": [0], "spec": []}, {"mesh_ids": [1], "spec": []}]})",
       "/program/1/of: spmd_to_mpmd_reshard \"p\": expected arrays with storage of their own, got "
       "\"b\" and \"v\", which share it"},
      {R"({"id": "p.2", "op": "neg", "of": "b"}, )" + to_groups("a", kWhole),
       "/program/1/id: spmd_to_mpmd_reshard \"p\": expected no \"p.2\" beside \"p\", which has the "
       "ops \"p.1\" to \"p.3\""},
      {R"({"id": ["p", "q"], "op": "spmd_to_mpmd_reshard", "of": ["b", "b"], "mpmd_axis": "s",
 "shardings": [{"mesh_ids": [0], "spec": []}, {"mesh_ids": [1], "spec": []}], "threshold": "127 B"})",
       "/program/0/of: spmd_to_mpmd_reshard \"p\": expected \"b\" in one transfer group, got it in "
       "groups 1 and 2: the first frees it"},
      {R"({"id": ["p", "q"], "op": "spmd_to_mpmd_reshard", "of": ["b", "b"], "mpmd_axis": "s",
 "shardings": [{"mesh_ids": [0], "spec": []}, {"mesh_ids": [1], "spec": []}], "threshold": "128 B"})",
       ""},
  };
  check(cases);
}

TEST_CASE("reshards to groups: arrays are of fewer than 2^63 bytes together") {
  // 2^62 bytes on each of two groups.
  CHECK(said(R"([{"id": "y", "op": "full", "shape": [1152921504606846976], "fill_value": 0,
 "dtype": "f32"}, )" +
             to_groups("y", kWhole, R"(, "from": [{"spec": []}])") + "]") ==
        "/program/1/of: spmd_to_mpmd_reshard \"p\": expected fewer than 2^63 bytes in all arrays, "
        "got "
        "more up to \"y\", f32[1152921504606846976] on each device");
}

TEST_CASE("reshards to groups: extents must divide") {
  Small small;
  small.mesh = R"({"s": 2, "m": 2})";
  small.arrays = R"({"c": {"shape": [2, 3], "dtype": "f32", "spec": ["s"]}})";
  small.program = "[" + to_groups("c", R"({"mesh_ids": [0], "spec": [null, "m"]})") + "]";
  CHECK(
      error_of(small.text())
          .find("/program/0/shardings/0/spec: spmd_to_mpmd_reshard \"p\": expected dimension 1 of "
                "extent 3 to be divisible by 2, the size of \"m\"") != std::string::npos);
}

TEST_CASE("reshards to the mesh: what they refuse") {
  const std::string whole =
      "/program/0/of: mpmd_to_spmd_reshard \"r\": expected an array on whole groups of axis \"s\", "
      "with a spec without it, or the result of an spmd_to_mpmd_reshard, got ";
  const std::vector<Case> cases = {
      {to_mesh("g", R"(["m"])"), ""},
      {to_mesh("b", "[]"), ""},  // on all groups
      {to_mesh("h", "[]"), whole + "\"h\""},
      {to_mesh("a", "[]"), whole + "\"a\""},
      {to_mesh("d", "[]"), whole + "\"d\""},
      {to_mesh("g", R"([["s", "m"], "m"])"),
       "/program/0/specs/0/1: axis \"m\" already cuts this array"},
      {R"({"id": ["r"], "op": "mpmd_to_spmd_reshard", "of": ["g"], "mpmd_axis": "s", "specs": []})",
       "/program/0/specs: expected a list of specs, one for each of 1 ids, got 0"},
  };
  check(cases);
}

TEST_CASE("reshards to the mesh: extents must divide") {
  Small small;
  small.mesh = R"({"s": 2, "m": 2})";
  small.arrays = R"({"k": {"shape": [2], "dtype": "f32", "on": {"s": 1}}})";
  small.program = "[" + to_mesh("k", R"([["s", "m"]])") + "]";
  CHECK(error_of(small.text())
            .find("/program/0/specs/0: mpmd_to_spmd_reshard \"r\": expected dimension 0 of extent "
                  "2 to be "
                  "divisible by 4, the size of \"s\", \"m\"") != std::string::npos);
}

TEST_CASE("reshards: programs that meet must move alike") {
  const auto program = [](const std::string& on, const std::string& name,
                          const std::string& threshold) {
    return fmt::format(
        R"({{"name": "{}", "on": {}, "do": [{{"id": ["{}"], "op": "spmd_to_mpmd_reshard",
 "of": ["a"], "mpmd_axis": "s", "shardings": [{}], "threshold": "{} B", "site": "w"}}]}})",
        name, on, name, kWhole, threshold);
  };
  const auto said_of = [&](const std::string& threshold) {
    std::string text = test::with_programs("[" + program(R"({"s": 0})", "one", "9") + ", " +
                                               program(R"({"s": 1})", "two", threshold) + "]",
                                           kArrays);
    text.replace(text.find(R"({"x": 4})"), 8, R"({"s": 2, "m": 2})");
    return error_of(text);
  };
  CHECK(said_of("9") == "");
  std::string twice = R"({"id": ["q"], "op": "spmd_to_mpmd_reshard", "of": ["b"], "mpmd_axis": "s",
 "shardings": [{"mesh_ids": [0], "spec": []}], "site": "w"})";
  CHECK(said("[" + to_groups("a", kWhole, R"(, "site": "w")") + ", " + twice + "]") ==
        "/program/1/site: spmd_to_mpmd_reshard \"q\": expected a site once in a program, got \"w\" "
        "again");
  CHECK(said_of("8").find("/programs/1/do/0/site: spmd_to_mpmd_reshard \"two\": expected the "
                          "arrays, shardings and threshold that site \"w\" has in program \"one\", "
                          "got others") != std::string::npos);
}

TEST_CASE("reshards: programs that meet must move the same arguments") {
  const auto program = [](const std::string& on, const std::string& name, const std::string& of) {
    return fmt::format(
        R"({{"name": "{}", "on": {}, "do": [{{"id": ["{}"], "op": "spmd_to_mpmd_reshard",
 "of": ["{}"], "mpmd_axis": "s", "shardings": [{}], "site": "w"}}]}})",
        name, on, name, of, kWhole);
  };
  const auto said_of = [&](const std::string& other) {
    std::string text = test::with_programs(
        "[" + program(R"({"s": 0})", "one", "a") + ", " + program(R"({"s": 1})", "two", other) +
            "]",
        R"({"a": {"shape": [8], "dtype": "f32", "spec": ["s"]}, "c": {"shape": [8], "dtype": "f32", "spec": ["s"]}})");
    text.replace(text.find(R"({"x": 4})"), 8, R"({"s": 2, "m": 2})");
    return error_of(text);
  };
  CHECK(said_of("a") == "");
  CHECK(said_of("c").find("got others") != std::string::npos);
}

TEST_CASE("reshards: no transform takes a program with one") {
  CHECK(said("[" + to_groups("a", kWhole) +
                 R"(, {"id": "y", "op": "psum", "of": "d", "axis_name": "s"}])",
             R"("transform": {"vjp": {"of": "y", "with_respect_to": "d"}})")
            .find("\"p\": expected no reshard to or from groups in a program that is "
                  "transformed") != std::string::npos);
}

TEST_CASE("logically_stacked: what it refuses") {
  const auto stacked = [](const std::string& of, const std::string& keys) {
    return said(fmt::format(
        R"([{{"id": "t", "op": "logically_stacked", "of": "{}", "mpmd_axis": "s"{}}}])", of, keys));
  };
  CHECK(stacked("b", R"(, "array_axis": 1, "strict": true)") == "");
  CHECK(stacked("b", R"(, "array_axis": 2)") ==
        "/program/0/array_axis: logically_stacked \"t\": expected a dimension from 0 to 1, got 2");
  CHECK(said(R"([{"id": "t", "op": "logically_stacked", "of": "b"}])") ==
        "/program/0: logically_stacked \"t\": expected the parameter \"mpmd_axis\", a string");
  CHECK(said(R"([{"id": "t", "op": "logically_stacked", "of": "b", "mpmd_axis": "t"}])") ==
        "/program/0/mpmd_axis: logically_stacked \"t\": the mesh has no axis \"t\"; it has \"s\", "
        "\"m\"");
  CHECK(stacked("b", R"(, "array_axis": -1)") ==
        "/program/0/array_axis: logically_stacked \"t\": expected a dimension from 0 to 1, got -1");
  CHECK(stacked("a", "") ==
        "/program/0/of: logically_stacked \"t\": expected an array whose spec does not name axis "
        "\"s\", so that its copies can be stacked, got P(('s', 'm'),)");
  CHECK(stacked("d", "") ==
        "/program/0/of: logically_stacked \"t\": expected an array that does not vary over axis "
        "\"s\", so that its copies can be stacked, got f32[2]{V:s}");
}

TEST_CASE("reshards: a loop carries a value that some groups have, but its body does not read it") {
  const auto looped = [](const std::string& body) {
    return said("[" + to_groups("a", R"({"mesh_ids": [1], "spec": ["m"]})") +
                R"(, {"id": "l", "op": "fori_loop", "lower": 0, "upper": 2, "carry": {"h": "p"},
 "body": [)" + body +
                R"(], "yield": {"h": "h"}}])");
  };
  CHECK(looped("") == "");
  CHECK(
      looped(R"({"id": "n", "op": "neg", "of": "h"})")
          .find("/program/1/body/0/of: neg \"l.n\": expected an array that every device of program "
                "\"main\" has, got \"h\", which only group 1 of axis \"s\" has") == 0);
}

/// Programs that read a value on some groups, in ops of one program or several.
TEST_CASE("reshards: a value is read only where it is") {
  test::holds_for_all("a value is read only where it is", [] {
    const int64_t stages = test::in_range<int64_t>(2, 5);
    std::vector<int64_t> groups;
    for (int64_t group = 0; group < stages; ++group)
      if (test::any_bool())
        groups.push_back(group);
    if (groups.empty())
      groups.push_back(test::in_range<int64_t>(0, stages));
    const int64_t first = test::in_range<int64_t>(0, stages);
    const int64_t last = test::in_range<int64_t>(first, stages);
    bool is_there = true;
    for (int64_t stage = first; stage <= last; ++stage)
      is_there = is_there && std::find(groups.begin(), groups.end(), stage) != groups.end();
    const std::string read = test::one_of(0, 1, 2) == 0
                                 ? R"({"id": "y", "op": "psum", "of": "p", "axis_name": "m"})"
                                 : R"({"id": "y", "op": "add", "of": ["p", "p"]})";
    const std::string reshard = fmt::format(
        R"({{"id": ["p"], "op": "spmd_to_mpmd_reshard", "of": ["a"], "mpmd_axis": "s",
 "shardings": [{{"mesh_ids": [{}], "spec": ["m"]}}]}})",
        fmt::join(groups, ", "), stages);
    std::string text = test::with_programs(
        fmt::format(R"([{{"name": "reader", "on": {{"s": [{}, {}]}}, "do": [{}, {}]}}])", first,
                    last + 1, reshard, read),
        R"({"a": {"shape": [8], "dtype": "f32", "spec": ["m"]}})");
    text.replace(text.find(R"({"x": 4})"), 8, fmt::format(R"({{"s": {}, "m": 2}})", stages));
    text.replace(text.find("\"devices\": 4"), 12, "\"devices\": 10");
    const std::string error = error_of(text);
    const std::string where =
        groups.size() == 1
            ? fmt::format("only group {} of axis \"s\" has", groups[0])
            : fmt::format("only groups {} of axis \"s\" have", fmt::join(groups, ", "));
    if (is_there)
      RC_ASSERT(error == "");
    else
      RC_ASSERT(error.find("expected an array that every device of program \"reader\" has, got "
                           "\"p\", which " +
                           where) != std::string::npos);
  });
}

}  // namespace
}  // namespace orrery
