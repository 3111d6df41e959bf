// Tests whether the tables of ragged_all_to_all are computed or assumed before the schedule is
// made.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/program/lists.h"
#include "tests/verifier/ragged_example.h"

namespace orrery::test {
namespace {

bool has_label(const Report& report, const std::string& label) {
  return std::find(report.labels.begin(), report.labels.end(), label) != report.labels.end();
}

TEST_CASE("ragged: with data off the tables are computed where they can be, or assumed") {
  RunOptions off;
  off.data = Data::Off;
  const Ran computed = run_parts(example(), off);
  CHECK(computed.check("TABLES.AGREED").holds());
  CHECK(computed.report.completion->makespan - Instant() == Duration(1'008'000));
  const Ran assumed = run_parts(example({}, R"(, "assume_sizes": [[1]])"), off);
  CHECK(has_label(assumed.report,
                  "\"r\": the sizes of its slices are assumed (assume_sizes), since data is off"));
  // One row each is 4 B.
  CHECK(assumed.report.completion->makespan - Instant() == Duration(1'004'000));
  // With data, the values count.
  const Ran with_data = run_parts(example({}, R"(, "assume_sizes": [[1]])"));
  CHECK(with_data.report.completion->makespan - Instant() == Duration(1'008'000));
}

TEST_CASE("ragged: tables beyond the data budget are assumed, or the scenario is refused") {
  RunOptions small;
  small.data_budget = Bytes(32);
  // Arguments alone need no memory to be computed; a sum of one table does.
  ScenarioParts parts = example();
  const auto with = [&](const std::string& more) {
    parts.program = fmt::format(
        R"([{{"id": "s", "op": "max", "of": ["send_sizes", "send_sizes"]}},
            {{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
              "of": ["operand", "output", "input_offsets", "s", "output_offsets", "recv_sizes"]}}])",
        more);
    return parts;
  };
  CHECK(run_parts(with(""), small).check("TABLES.AGREED").holds());
  small.data_budget = Bytes(31);
  CHECK(refusal(with(""), small) ==
        "ragged_all_to_all \"r\": expected \"assume_sizes\", since its tables cannot be computed: "
        "the "
        "values on which they depend take 32 B and the budget is 31 B");
  CHECK(has_label(run_parts(with(R"(, "assume_sizes": [[1]])"), small).report,
                  "\"r\": the sizes of its slices are assumed (assume_sizes), since the values on "
                  "which they depend take 32 B and the budget is 31 B"));
}

TEST_CASE("ragged: tables of an opaque computation are assumed, or refused with its name") {
  ScenarioParts parts = example();
  const auto with = [&](const std::string& more) {
    parts.program = fmt::format(
        R"([{{"id": "router", "op": "compute", "of": "operand", "flops": 0, "bytes": 10,
              "shape": [2], "dtype": "s32"}},
            {{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
              "of": ["operand", "output", "input_offsets", "router", "output_offsets",
                     "recv_sizes"]}}])",
        more);
    return parts;
  };
  CHECK(refusal(with("")) ==
        "ragged_all_to_all \"r\": expected \"assume_sizes\", since its tables cannot be computed: "
        "they "
        "depend on \"router\", an opaque computation");
  const Ran ran = run_parts(with(R"(, "assume_sizes": [[1, 0], [2, 1]])"));
  CHECK(ran.broken() == Names{});
  CHECK(has_label(ran.report,
                  "\"r\": the sizes of its slices are assumed (assume_sizes), since they depend on "
                  "\"router\", an opaque computation"));
}

TEST_CASE("ragged: in a loop each iteration has its own sizes; of one left out they are assumed") {
  // Iteration i sends i rows: its sizes are those of the last iteration plus one.
  ScenarioParts parts = example();
  const auto loop = [&](int trips, const std::string& more) {
    parts.arrays =
        R"({"x": {"local_shape": [4], "dtype": "s32", "per_device": [[1, 2, 3, 4], [5, 6, 7, 8]]},
      "zeros": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 0], [0, 0]]},
      "other": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 1], [1, 0]]}})";
    parts.program = fmt::format(
        R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": {}, "carry": {{"h": "x", "n": "zeros"}},
              "body": [
                {{"id": "y", "op": "ragged_all_to_all", "axis_name": "x"{},
                  "of": ["x", "h", "zeros", "n", "zeros", "n"]}},
                {{"id": "more", "op": "add", "of": ["n", "other"]}}],
              "yield": {{"h": "y", "n": "more"}}}}])",
        trips, more);
    return parts;
  };
  ScenarioParts three = loop(3, "");
  // The iterations bring no row, one, and two rows of the other device.
  three.expect = R"([{"values": {"l.h": [[5, 6, 3, 4], [1, 2, 7, 8]]}}])";
  const Ran ran = run_parts(three);
  CHECK(ran.broken() == Names{});
  std::vector<uint64_t> messages;
  for (const OpReport& op : ran.report.ops)
    if (op.choice)
      messages.push_back(op.messages);
  CHECK(messages == std::vector<uint64_t>{0, 2, 2});

  // Where not all iterations are shown, they are written if they are within the limits.
  RunOptions folded;
  folded.most_ops_shown = 0;
  CHECK(run_parts(loop(10, ""), folded).report.fingerprint ==
        run_parts(loop(10, "")).report.fingerprint);
  RunOptions few = folded;
  few.limits.ops = 150;
  CHECK(
      refusal(loop(100, ""), few) ==
      "ragged_all_to_all \"l.y\": expected \"assume_sizes\", since its tables cannot be computed: "
      "they depend on a loop of which iterations are left out, since all are too many: expected at "
      "most 150 ops, got 200 (--limit ops=N allows more) (in l[0]), and 4 times more");
  const Ran assumed = run_parts(loop(10, R"(, "assume_sizes": [[1]])"), folded);
  CHECK(assumed.report.completion.has_value());
  const Ran written = [&] {
    RunOptions off;
    off.data = Data::Off;
    return run_parts(loop(10, R"(, "assume_sizes": [[1]])"), off);
  }();
  CHECK(assumed.report.completion->makespan == written.report.completion->makespan);
}

TEST_CASE(
    "ragged: where iterations are left out, tables that carries bring are assumed if they differ") {
  ScenarioParts parts = example();
  const auto loop = [&](const std::string& next, const std::string& more) {
    parts.arrays =
        R"({"x": {"local_shape": [4], "dtype": "s32", "per_device": [[1, 2, 3, 4], [5, 6, 7, 8]]},
      "zeros": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 0], [0, 0]]},
      "other": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 1], [1, 0]]}})";
    parts.program = fmt::format(
        R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 200,
              "carry": {{"h": "x", "n": "zeros", "m": "other"}},
              "body": [
                {{"id": "y", "op": "ragged_all_to_all", "axis_name": "x"{},
                  "of": ["x", "h", "zeros", "n", "zeros", "n"]}}],
              "yield": {{"h": "y", {}}}}}])",
        more, next);
    return parts;
  };
  RunOptions folded;
  folded.most_ops_shown = 0;
  CHECK(refusal(loop(R"("n": "n", "m": "m")", ""), folded) == "accepted");
  RunOptions few = folded;
  few.limits.ops = 150;
  for (const std::string next : {R"("n": "m", "m": "n")", R"("n": "m", "m": "m")"}) {
    CHECK(refusal(loop(next, "")) == "accepted");
    CHECK(refusal(loop(next, ""), few)
              .find("they depend on a loop of which iterations are left out") != std::string::npos);
    RunOptions off;
    off.data = Data::Off;
    const std::string assumed = R"(, "assume_sizes": [[1]])";
    CHECK(run_parts(loop(next, assumed), folded).report.completion->makespan ==
          run_parts(loop(next, assumed), off).report.completion->makespan);
  }
}

TEST_CASE(
    "ragged: tables that each iteration makes of the same values are those of all iterations") {
  ScenarioParts parts = example();
  const auto loop = [&](const std::string& sizes, const std::string& next) {
    parts.arrays =
        R"({"x": {"local_shape": [4], "dtype": "s32", "per_device": [[1, 2, 3, 4], [5, 6, 7, 8]]},
      "zeros": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 0], [0, 0]]},
      "ones": {"local_shape": [2], "dtype": "s32", "per_device": [[1, 1], [1, 1]]},
      "other": {"local_shape": [2], "dtype": "s32", "per_device": [[0, 1], [1, 0]]}})";
    parts.program = fmt::format(
        R"([{{"id": "l", "op": "fori_loop", "lower": 0, "upper": 100000, "index": "i",
              "carry": {{"h": "x", "n": "ones", "m": "other"}},
              "body": [
                {{"id": "number", "op": "broadcast_in_dim", "of": "i", "shape": [2], "broadcast_dimensions": []}},
                {{"id": "some", "op": "mul", "of": {}}},
                {{"id": "sizes", "op": "mul", "of": ["some", "ones"]}},
                {{"id": "y", "op": "ragged_all_to_all", "axis_name": "x",
                  "of": ["x", "h", "zeros", "sizes", "zeros", "sizes"]}}],
              "yield": {{"h": "y", {}}}}}])",
        sizes, next);
    return parts;
  };
  const std::string stay = R"("n": "n", "m": "m")";
  RunOptions few;
  few.limits.ops = 1000;
  for (const std::string sizes : {R"(["other", "ones"])", R"(["other", "n"])", R"(["m", "m"])"}) {
    const Ran ran = run_parts(loop(sizes, stay), few);
    CHECK(ran.broken() == Names{});
    CHECK(ran.report.completion->messages == 200'000);
  }
  const std::string why = "they depend on a loop of which iterations are left out";
  const std::string of_two = R"(["n", "m"])";
  for (const std::string next :
       {R"("n": "m", "m": "n")", R"("n": "m", "m": "m")", R"("n": "some", "m": "m")"})
    CHECK(refusal(loop(of_two, next), few).find(why) != std::string::npos);
  CHECK(refusal(loop(R"(["other", "number"])", stay), few).find(why) != std::string::npos);
}

TEST_CASE("ragged: tables may come from other ragged exchanges, and from other programs") {
  ScenarioParts parts = example();
  // Here the exchange's own table is exchanged by the tables.
  parts.program =
      R"([{"id": "t", "op": "ragged_all_to_all", "axis_name": "x",
           "of": ["send_sizes", "recv_sizes", "zeros", "ones", "ranks", "ones"]},
          {"id": "r", "op": "ragged_all_to_all", "axis_name": "x",
           "of": ["operand", "output", "input_offsets", "send_sizes", "output_offsets", "t"]}])";
  // On both devices, t has the first entries of device 0 and of device 1: [1, 1].
  Tables tables;
  tables.send_sizes = "[[1, 1], [1, 1]]";
  tables.recv_sizes = "[[7, 7], [7, 7]]";
  parts.arrays = example(tables).arrays;
  parts.arrays.pop_back();
  parts.arrays += R"(, "zeros": {"local_shape": [2], "dtype": "u8", "per_device": [[0, 0], [0, 0]]},
    "ones": {"local_shape": [2], "dtype": "s64", "per_device": [[1, 1], [1, 1]]},
    "ranks": {"local_shape": [2], "dtype": "s16", "per_device": [[0, 0], [1, 1]]}})";
  parts.expect = R"([{"values": {"t": [[1, 1], [1, 1]], "r": [[1, 3, 0, 0], [2, 0, 4, 0]]}}])";
  CHECK(run_parts(parts).broken() == Names{});
}

TEST_CASE("ragged: tables that depend on assumed sizes are not computed") {
  // Every rank keeps row 0 of the result of t, whose sizes are assumed.
  ScenarioParts parts = example();
  const auto with = [&](const std::string& more) {
    parts.program = fmt::format(
        R"([{{"id": "t", "op": "ragged_all_to_all", "axis_name": "x", "assume_sizes": [[0]],
              "of": ["send_sizes", "recv_sizes", "input_offsets", "send_sizes", "output_offsets",
                     "recv_sizes"]}},
            {{"id": "r", "op": "ragged_all_to_all", "axis_name": "x"{},
              "of": ["operand", "output", "input_offsets", "send_sizes", "output_offsets", "t"]}}])",
        more);
    return parts;
  };
  RunOptions off;
  off.data = Data::Off;
  CHECK(refusal(with(""), off) ==
        "ragged_all_to_all \"r\": expected \"assume_sizes\", since its tables cannot be computed: "
        "they "
        "depend on \"t\", the sizes of whose slices are assumed");
  CHECK(run_parts(with(R"(, "assume_sizes": [[1]])"), off).broken() == Names{});
}

TEST_CASE("ragged: tables may come over a psend of the same program") {
  ScenarioParts parts = example();
  // v is zero on device 0, and device 0's table on device 1. On both, v - v adds nothing.
  parts.program =
      R"([{"id": "u", "op": "psend", "of": "send_sizes", "axis_name": "x", "perm": [[0, 1]]},
          {"id": "v", "op": "precv", "of": "u", "axis_name": "x", "perm": [[0, 1]], "shape": [2],
           "dtype": "s32"},
          {"id": "none", "op": "sub", "of": ["v", "v"]},
          {"id": "s", "op": "add", "of": ["send_sizes", "none"]},
          {"id": "r", "op": "ragged_all_to_all", "axis_name": "x",
           "of": ["operand", "output", "input_offsets", "s", "output_offsets", "recv_sizes"]}])";
  const Ran ran = run_parts(parts);
  CHECK(ran.broken() == Names{});
  CHECK(ran.check("TABLES.AGREED").holds());
}
}  // namespace
}  // namespace orrery::test
