// Tests which states of an operand each op refuses. The message has the op's id, its type, the
// axis, and the cast that repairs it, if there is one. tests/models/program/states_test.cc tests
// that each other state is accepted.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/scenario/state_arrays.h"

namespace orrery {
namespace {

using test::of_states;
using test::said_of;

/// Returns the parameters of an op over x alone that moves or sums f32[2].
std::string over_x(const std::string& op) {
  const std::string more = op == "all_to_all"  ? R"(, "split_axis": 0, "concat_axis": 0)"
                           : op == "pswapaxes" ? R"(, "axis": 0)"
                           : op == "ppermute" || op == "psend" ? R"(, "perm": [[0, 1]])"
                           : op == "pshuffle"                  ? R"(, "perm": [1, 0])"
                           : op == "pbroadcast"                ? R"(, "source": 0)"
                                                               : "";
  return fmt::format(R"("op": "{}", "axis_name": "x"{})", op, more);
}

/// Returns the error of an op over x whose operand is f32[2] with these states along x and y.
std::string said_over_x(const std::string& op, const std::string& states) {
  return said_of(over_x(op), of_states({states}));
}

/// Returns the beginning of an error in an operand.
std::string wrong_operand(const std::string& op) {
  return fmt::format("/program/0/of: {} \"t\": expected an operand that is ", op);
}

struct RefusedStates {
  std::string op;
  std::string states;
  std::string error;  // after "expected an operand that is "
};

TEST_CASE("state errors: a cast is of one state alone") {
  const RefusedStates all[] = {
      {"pvary", "VI", "invarying over x, got f32[2]{V:x}"},
      {"pvary", "UI", "invarying over x, got f32[2]{U:x}; psum over x makes it invarying"},
      {"pvary", "RI", "invarying over x, got f32[2]{R:x}"},
      {"preduced", "VI", "invarying over x, got f32[2]{V:x}"},
      {"preduced", "UI", "invarying over x, got f32[2]{U:x}; psum over x makes it invarying"},
      {"preduced", "RI", "invarying over x, got f32[2]{R:x}"},
      {"vary_unreduced_cast", "II", "varying over x, got f32[2]; pvary over x makes it varying"},
      {"vary_unreduced_cast", "UI", "varying over x, got f32[2]{U:x}"},
      {"vary_unreduced_cast", "RI",
       "varying over x, got f32[2]{R:x}; reduced_vary_cast over x makes it varying"},
      {"reduced_vary_cast", "II", "reduced over x, got f32[2]; preduced over x makes it reduced"},
      {"reduced_vary_cast", "VI", "reduced over x, got f32[2]{V:x}"},
      {"reduced_vary_cast", "UI", "reduced over x, got f32[2]{U:x}"},
  };
  for (const RefusedStates& refused : all)
    CHECK(said_over_x(refused.op, refused.states) == wrong_operand(refused.op) + refused.error);
}

TEST_CASE("state errors: a sum is of what varies, is invarying or is unreduced") {
  for (const char* const op : {"psum", "pmean", "psum_scatter"})
    CHECK(said_over_x(op, "RI") == wrong_operand(op) +
                                       "varying or invarying or unreduced over x, got "
                                       "f32[2]{R:x}; reduced_vary_cast over x makes it varying");
}

TEST_CASE("state errors: an extremum and an exchange are of what varies or is invarying") {
  for (const char* const op :
       {"pmax", "pmin", "pargmax", "pargmin", "all_gather", "all_gather_invariant", "all_to_all",
        "pswapaxes", "ppermute", "pshuffle", "psend"}) {
    CHECK(said_over_x(op, "UI") == wrong_operand(op) +
                                       "varying or invarying over x, got f32[2]{U:x}; psum over x "
                                       "makes it invarying");
    CHECK(said_over_x(op, "RI") == wrong_operand(op) +
                                       "varying or invarying over x, got f32[2]{R:x}; "
                                       "reduced_vary_cast over x makes it varying");
  }
}

TEST_CASE("state errors: ragged_all_to_all is of arrays that vary or are invarying") {
  const auto ragged = [](const std::string& states) {
    return said_of(R"("op": "ragged_all_to_all", "axis_name": "x")",
                   fmt::format(R"(["{0}", "{0}", "table", "table", "table", "table"])", states));
  };
  CHECK(ragged("UI") == wrong_operand("ragged_all_to_all") +
                            "varying or invarying over x, got f32[2]{U:x}; psum over x makes it "
                            "invarying");
  CHECK(ragged("RI") == wrong_operand("ragged_all_to_all") +
                            "varying or invarying over x, got f32[2]{R:x}; reduced_vary_cast over "
                            "x makes it varying");
}

TEST_CASE("state errors: pbroadcast and all_gather_reduced are of what varies, and cast nothing") {
  for (const char* const op : {"pbroadcast", "all_gather_reduced"}) {
    const std::string varying = wrong_operand(op) + "varying over x, got ";
    CHECK(said_over_x(op, "II") == varying + "f32[2]; pvary over x makes it varying");
    CHECK(said_over_x(op, "UI") == varying + "f32[2]{U:x}; psum and pvary over x make it varying");
    CHECK(said_over_x(op, "RI") ==
          varying + "f32[2]{R:x}; reduced_vary_cast over x makes it varying");
  }
}

TEST_CASE("state errors: all_gather to another state refuses what the op of that name does") {
  const auto to = [](const std::string& state, const std::string& letters) {
    return said_of(fmt::format(R"("op": "all_gather", "axis_name": "x", "to": "{}")", state),
                   of_states({letters}));
  };
  CHECK(to("reduced", "II") ==
        wrong_operand("all_gather") + "varying over x, got f32[2]; pvary over x makes it varying");
  CHECK(to("invarying", "UI") == wrong_operand("all_gather") +
                                     "varying or invarying over x, got f32[2]{U:x}; psum over x "
                                     "makes it invarying");
  CHECK(to("unreduced", "VI") ==
        "/program/0/to: all_gather \"t\": expected one of varying, invarying, reduced, got "
        "\"unreduced\"; did you mean \"reduced\"?");
}

TEST_CASE("state errors: unreduced_psum and unreduced_psum_scatter are of what is unreduced") {
  for (const char* const op : {"unreduced_psum", "unreduced_psum_scatter"}) {
    const std::string unreduced = wrong_operand(op) + "unreduced over x, got ";
    CHECK(said_over_x(op, "II") ==
          unreduced + "f32[2]; pvary and vary_unreduced_cast over x make it unreduced");
    CHECK(said_over_x(op, "VI") ==
          unreduced + "f32[2]{V:x}; vary_unreduced_cast over x makes it unreduced");
    CHECK(said_over_x(op, "RI") ==
          unreduced +
              "f32[2]{R:x}; reduced_vary_cast and vary_unreduced_cast over x make it unreduced");
  }
}

TEST_CASE("state errors: each of several axes has the state that the op needs") {
  const auto both = [](const std::string& op, const std::string& states) {
    return said_of(fmt::format(R"("op": "{}", "axis_name": ["x", "y"])", op), of_states({states}));
  };
  CHECK(both("pvary", "IV") == wrong_operand("pvary") + "invarying over y, got f32[2]{V:y}");
  CHECK(both("vary_unreduced_cast", "VI") ==
        wrong_operand("vary_unreduced_cast") +
            "varying over y, got f32[2]{V:x}; pvary over y makes it varying");
  CHECK(both("all_gather_reduced", "VI") ==
        wrong_operand("all_gather_reduced") +
            "varying over y, got f32[2]{V:x}; pvary over y makes it varying");
  CHECK(both("unreduced_psum", "UI") ==
        wrong_operand("unreduced_psum") +
            "unreduced over y, got f32[2]{U:x}; pvary and vary_unreduced_cast over y make it "
            "unreduced");
}

TEST_CASE("state errors: the axes of a sum have one state, to which a cast leads") {
  const auto mixed = [](const std::string& op, const std::string& states) {
    return said_of(fmt::format(R"("op": "{}", "axis_name": ["x", "y"])", op), of_states({states}));
  };
  const auto one_state = [](const std::string& op) {
    return fmt::format("/program/0/of: {} \"t\": expected an operand of one state over its axes, ",
                       op);
  };
  for (const char* const op : {"psum", "pmean"}) {
    CHECK(mixed(op, "VI") == one_state(op) +
                                 "got f32[2]{V:x}, varying over x and invarying over y; pvary over "
                                 "y makes it varying");
    CHECK(mixed(op, "IV") == one_state(op) +
                                 "got f32[2]{V:y}, invarying over x and varying over y; pvary over "
                                 "x makes it varying");
    CHECK(mixed(op, "VU") == one_state(op) +
                                 "got f32[2]{V:x, U:y}, varying over x and unreduced over y; "
                                 "vary_unreduced_cast over x makes it unreduced");
    CHECK(mixed(op, "UI") == one_state(op) +
                                 "got f32[2]{U:x}, unreduced over x and invarying over y; pvary "
                                 "and vary_unreduced_cast over y make it unreduced");
  }
  // The operand has 4 elements, one for each of the four devices of both axes.
  CHECK(said_of(R"("op": "psum_scatter", "axis_name": ["x", "y"])", R"("four")") ==
        one_state("psum_scatter") +
            "got f32[4]{V:x}, varying over x and invarying over y; pvary over y makes it varying");
}

TEST_CASE("state errors: what rounds or compares is not of the addends of another axis") {
  for (const char* const op : {"pmean", "pmax", "pmin", "pargmax", "pargmin"})
    CHECK(said_over_x(op, "VU") == wrong_operand(op) +
                                       "unreduced over no other axis, got f32[2]{V:x, U:y}; psum "
                                       "over y makes it invarying");
}

TEST_CASE("state errors: a result of one state along whole axes has no axis_index_groups") {
  const std::string groups = R"(, "axis_name": "x", "axis_index_groups": [[0], [1]])";
  const auto refused = [&](const std::string& op, const std::string& more,
                           const std::string& states) {
    return said_of(fmt::format(R"("op": "{}"{}{})", op, groups, more), of_states({states}));
  };
  const auto whole = [](const std::string& op) {
    return fmt::format(
        "/program/0/axis_index_groups: {} \"t\": expected no axis_index_groups: its result has one "
        "state along whole axes",
        op);
  };
  CHECK(refused("unreduced_psum", "", "UI") == whole("unreduced_psum"));
  CHECK(refused("unreduced_psum_scatter", R"(, "tiled": true)", "UI") ==
        whole("unreduced_psum_scatter"));
  CHECK(refused("all_gather_invariant", "", "VI") == whole("all_gather_invariant"));
  CHECK(refused("all_gather_reduced", "", "VI") == whole("all_gather_reduced"));
  CHECK(refused("all_gather", R"(, "to": "invarying")", "VI") == whole("all_gather"));
  CHECK(refused("all_gather", R"(, "to": "reduced")", "VI") == whole("all_gather"));
  for (const char* const op : {"psum", "pmean", "psum_scatter"})
    CHECK(refused(op, std::string(op) == "psum_scatter" ? R"(, "tiled": true)" : "", "UI") ==
          fmt::format("/program/0/axis_index_groups: {} \"t\": expected no axis_index_groups for "
                      "an operand that is unreduced over x, got f32[2]{{U:x}}",
                      op));
}

TEST_CASE("state errors: pcast has a row for the state and the one asked for") {
  const auto to = [](const std::string& state, const std::string& letters) {
    return said_of(fmt::format(R"("op": "pcast", "axis_name": "x", "to": "{}")", state),
                   of_states({letters}));
  };
  const std::string is = wrong_operand("pcast");
  CHECK(to("varying", "VI") == is + "invarying or reduced over x, got f32[2]{V:x}");
  CHECK(to("varying", "UI") ==
        is + "invarying or reduced over x, got f32[2]{U:x}; psum over x makes it invarying");
  CHECK(to("reduced", "VI") == is + "invarying over x, got f32[2]{V:x}");
  CHECK(to("reduced", "UI") ==
        is + "invarying over x, got f32[2]{U:x}; psum over x makes it invarying");
  CHECK(to("reduced", "RI") == is + "invarying over x, got f32[2]{R:x}");
  CHECK(to("unreduced", "II") == is + "varying over x, got f32[2]; pvary over x makes it varying");
  CHECK(to("unreduced", "UI") == is + "varying over x, got f32[2]{U:x}");
  CHECK(to("unreduced", "RI") ==
        is + "varying over x, got f32[2]{R:x}; reduced_vary_cast over x makes it varying");
  CHECK(to("invarying", "VI") ==
        "/program/0/to: pcast \"t\": expected one of varying, unreduced, reduced, got "
        "\"invarying\"; did you mean \"varying\"?");
  CHECK(said_of(R"("op": "pcast", "axis_name": ["x", "y"], "to": "varying")", of_states({"IR"})) ==
        "/program/0/of: pcast \"t\": expected an operand of one state over its axes, got "
        "f32[2]{R:y}, invarying over x and reduced over y; preduced over x makes it reduced");
}

TEST_CASE("state errors: pcast leaves out the axes that have the state asked for") {
  const auto to = [](const std::string& state, const std::string& letters) {
    return said_of(fmt::format(R"("op": "pcast", "axis_name": ["x", "y"], "to": "{}")", state),
                   of_states({letters}));
  };
  const std::string is = wrong_operand("pcast");
  CHECK(to("varying", "IV") ==
        is + "invarying or reduced over y, got f32[2]{V:y}; it is varying there already: pcast "
             "over x alone");
  CHECK(to("varying", "VI") ==
        is + "invarying or reduced over x, got f32[2]{V:x}; it is varying there already: pcast "
             "over y alone");
  CHECK(to("unreduced", "VU") ==
        is + "varying over y, got f32[2]{V:x, U:y}; it is unreduced there already: pcast over x "
             "alone");
  CHECK(to("reduced", "IR") ==
        is + "invarying over y, got f32[2]{R:y}; it is reduced there already: pcast over x alone");
  // The casts that the messages name are accepted.
  CHECK(said_of(R"("op": "pcast", "axis_name": "x", "to": "varying")", of_states({"IV"})) == "");
  CHECK(said_of(R"("op": "pcast", "axis_name": "x", "to": "unreduced")", of_states({"VU"})) == "");
  CHECK(said_of(R"("op": "pcast", "axis_name": "x", "to": "reduced")", of_states({"IR"})) == "");
}

TEST_CASE("state errors: without checked types nothing is unreduced, and no state is known") {
  const auto said = [](const std::string& op) {
    return said_of(op, of_states({"VI"}), R"("check_types": false)");
  };
  CHECK(said(R"("op": "pvary", "axis_name": "x")") == "");
  CHECK(said(R"("op": "vary_unreduced_cast", "axis_name": "x")") ==
        "/program/0: vary_unreduced_cast \"t\": expected \"check_types\": true, without which no "
        "value is unreduced");
  CHECK(said(R"("op": "pcast", "axis_name": "x", "to": "unreduced")") ==
        "/program/0/to: pcast \"t\": expected \"check_types\": true, without which no value is "
        "unreduced");
  for (const char* const op : {"unreduced_psum", "unreduced_psum_scatter", "all_gather_reduced"})
    CHECK(said(over_x(op)) ==
          fmt::format("/program/0: {} \"t\": expected \"check_types\": true, without which no "
                      "state is known",
                      op));
  CHECK(said(R"("op": "all_gather", "axis_name": "x", "to": "reduced")") ==
        "/program/0: all_gather \"t\": expected \"check_types\": true, without which no state is "
        "known");
}

}  // namespace
}  // namespace orrery
