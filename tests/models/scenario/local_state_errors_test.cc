// Tests which states of operands a local op refuses together. The message has the op's id, the
// types, the axis, and the cast that repairs it, if there is one.

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/models/scenario/state_arrays.h"

namespace orrery {
namespace {

using test::of_states;
using test::said_of;

/// Returns the error of a local op whose operands are f32[2] with these states along x and y.
std::string said_of_local(const std::string& op, const std::vector<std::string>& states,
                          const std::string& more = "") {
  return said_of(fmt::format(R"("op": "{}"{})", op, more), of_states(states));
}

std::string wrong(const std::string& op, const std::string& error) {
  return fmt::format("/program/0/of: {} \"t\": expected {}", op, error);
}

TEST_CASE("state errors: what is not linear takes no addends") {
  struct Row {
    std::string op;
    std::vector<std::string> states;
    std::string more;
    std::string got;
  };
  const Row rows[] = {
      {"exp", {"UI"}, "", "f32[2]{U:x}"},
      {"convert_element_type", {"UI"}, R"(, "new_dtype": "s32")", "f32[2]{U:x}"},
      {"max", {"UI", "UI"}, "", "f32[2]{U:x} and f32[2]{U:x}"},
      {"div", {"UI", "UI"}, "", "f32[2]{U:x} and f32[2]{U:x}"},
      {"lt", {"UI", "RI"}, "", "f32[2]{U:x} and f32[2]{R:x}"},
      {"reduce_max", {"UI"}, R"(, "axes": [0])", "f32[2]{U:x}"},
      {"dot_general",
       {"UI", "RI"},
       R"(, "dimension_numbers": [[[0], [0]], [[], []]])",
       "f32[2]{U:x} and f32[2]{R:x}"},
      {"compute",
       {"UI", "II"},
       R"(, "flops": 1, "bytes": 1, "dtype": "f32")",
       "f32[2]{U:x} and f32[2]"},
  };
  for (const Row& row : rows)
    CHECK(said_of_local(row.op, row.states, row.more) ==
          wrong(row.op, "no operand that is unreduced over x, got " + row.got +
                            "; psum over x makes it invarying"));
}

TEST_CASE("state errors: addends are added to addends of the same axes") {
  const auto add = [](const std::string& left, const std::string& right) {
    return said_of_local("add", {left, right});
  };
  const std::string all = "operands that are all unreduced over x, got ";
  CHECK(add("UI", "II") ==
        wrong("add", all + "f32[2]{U:x} and f32[2]; psum over x makes it invarying"));
  CHECK(add("UI", "VI") ==
        wrong("add", all + "f32[2]{U:x} and f32[2]{V:x}; vary_unreduced_cast over x makes it "
                           "unreduced"));
  CHECK(add("IU", "UI") ==
        wrong("add", all + "f32[2]{U:y} and f32[2]{U:x}; psum over x makes it invarying"));
  CHECK(add("UI", "RI") == wrong("add", all + "f32[2]{U:x} and f32[2]{R:x}"));
  CHECK(said_of_local("concatenate", {"UI", "VI"}, R"(, "dimension": 0)") ==
        wrong("concatenate", all + "f32[2]{U:x} and f32[2]{V:x}; vary_unreduced_cast over x makes "
                                   "it unreduced"));
}

TEST_CASE("state errors: addends are multiplied by what is reduced over the same axes") {
  const auto mul = [](const std::string& left, const std::string& right) {
    return said_of_local("mul", {left, right});
  };
  const std::string other =
      "the other operand to be reduced over x, along which one is unreduced, got ";
  CHECK(mul("UI", "UI") ==
        wrong("mul", other + "f32[2]{U:x} and f32[2]{U:x}; psum over x makes it invarying"));
  CHECK(mul("UI", "II") ==
        wrong("mul", other + "f32[2]{U:x} and f32[2]; preduced over x makes it reduced"));
  CHECK(mul("VI", "UI") ==
        wrong("mul", other + "f32[2]{V:x} and f32[2]{U:x}; psum over x makes it invarying"));
  CHECK(mul("UI", "IR") ==
        wrong("mul", other + "f32[2]{U:x} and f32[2]{R:y}; preduced over x makes it reduced"));
}

TEST_CASE("state errors: what is reduced goes with what is reduced over the same axes") {
  const std::string all = "operands that are all reduced over x, got ";
  const std::string cast = "; preduced over x makes it reduced";
  CHECK(said_of_local("mul", {"RI", "II"}) == wrong("mul", all + "f32[2]{R:x} and f32[2]" + cast));
  CHECK(said_of_local("add", {"RI", "IR"}) ==
        wrong("add", all + "f32[2]{R:x} and f32[2]{R:y}" + cast));
}

TEST_CASE("state errors: what is reduced is cast to varying over just the axes that it lacks") {
  CHECK(said_of_local("add", {"RI", "VI"}) == "");
  CHECK(said_of_local("add", {"RI", "VV"}) ==
        wrong("add",
              "operand 0 to be reduced over exactly the axes (x, y), over which only others vary, "
              "got f32[2]{R:x} and f32[2]{V:(x,y)}; reduced_vary_cast over x makes it varying"));
  CHECK(said_of_local("mul", {"VI", "RR"}) ==
        wrong("mul",
              "operand 1 to be reduced over exactly the axes (x), over which only others vary, got "
              "f32[2]{V:x} and f32[2]{R:(x,y)}; reduced_vary_cast over x makes it varying"));
}

TEST_CASE(
    "state errors: an index is nowhere unreduced, and selects from addends where it is equal") {
  const auto slice = [](const std::string& array, const std::string& index) {
    return said_of(R"("op": "dynamic_slice", "slice_sizes": [1])",
                   of_states({array, "index " + index}));
  };
  CHECK(slice("VI", "UI") ==
        wrong("dynamic_slice",
              "indices that are nowhere unreduced, got s32[]{U:x}; psum over x makes it "
              "invarying"));
  CHECK(slice("UI", "VI") ==
        wrong("dynamic_slice",
              "operands that are all unreduced over x, got f32[2]{U:x} and s32[]{V:x}; psum over x "
              "makes it invarying"));
}

}  // namespace
}  // namespace orrery
