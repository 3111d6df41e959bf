// Tests the rules of states: which states results have, and which operands are refused.

#include "models/program/states.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/models/program/type_table.h"

namespace orrery {
namespace {

using test::Given;
using test::Integers;
using test::Lists;
using test::Names;
using test::outcome;
using test::type;

const Mesh& mesh() {
  static const Mesh kXY({{"x", 2}, {"y", 2}});
  return kXY;
}

/// Returns the result of a collective over x, for an f32[2] operand of these states along x and y.
std::string over_x(OpKind kind, std::string_view states, Checks checks = Checks::States) {
  const Names x = {"x"};
  const ValueType operand = type(Dtype::F32, {2}, states);
  if (kind == OpKind::AllToAll)
    return outcome(mesh(), kind, {operand},
                   {{"axis_name", x}, {"split_axis", 0}, {"concat_axis", 0}}, checks);
  if (kind == OpKind::Ppermute)
    return outcome(mesh(), kind, {operand}, {{"axis_name", x}, {"perm", Lists{{0, 1}}}}, checks);
  return outcome(mesh(), kind, {operand}, {{"axis_name", x}}, checks);
}

/// Returns the result of a local op for f32[2] operands of these states.
std::string local(OpKind kind, const std::vector<std::string>& states, Given given = {}) {
  std::vector<ValueType> operands;
  for (const std::string& letters : states)
    operands.push_back(type(Dtype::F32, {2}, letters));
  return outcome(mesh(), kind, operands, given);
}

TEST_CASE("text of a type: axes by state, in mesh order") {
  const Mesh three({{"a", 2}, {"x", 2}, {"b", 2}});
  CHECK(text(type(Dtype::F32, {2, 3}, "III"), three) == "f32[2,3]");
  CHECK(text(type(Dtype::F32, {2, 3}, "RVR"), three) == "f32[2,3]{V:x, R:(a,b)}");
  CHECK(text(type(Dtype::S8, {}, "VUR"), three) == "s8[]{V:a, U:x, R:b}");
  ValueType future = type(Dtype::F32, {2, 3}, "III");
  future.future = true;
  CHECK(text(future, three) == "future f32[2,3]");
}

TEST_CASE("psum: varying and unreduced become invarying along its axis only") {
  CHECK(over_x(OpKind::Psum, "VV") == "f32[2]{V:y}");
  CHECK(over_x(OpKind::Psum, "II") == "f32[2]");
  CHECK(over_x(OpKind::Psum, "UU") == "f32[2]{U:y}");
  CHECK(
      over_x(OpKind::Psum, "RI") ==
      "of: expected an operand that is varying or invarying or unreduced over x, got f32[2]{R:x}; "
      "reduced_vary_cast over x makes it varying");
}

TEST_CASE("pmax: varying becomes invarying; an unreduced operand has no maximum") {
  CHECK(over_x(OpKind::Pmax, "VV") == "f32[2]{V:y}");
  CHECK(over_x(OpKind::Pmax, "IR") == "f32[2]{R:y}");
  CHECK(over_x(OpKind::Pmax, "VU") ==
        "of: expected an operand that is unreduced over no other axis, got f32[2]{V:x, U:y}; psum "
        "over y makes it invarying");
}

TEST_CASE("psum_scatter: varying and unreduced become varying") {
  CHECK(over_x(OpKind::PsumScatter, "VI") == "f32[]{V:x}");
  CHECK(over_x(OpKind::PsumScatter, "UI") == "f32[]{V:x}");
  CHECK(over_x(OpKind::PsumScatter, "II") == "f32[]{V:x}");
}

TEST_CASE(
    "movement over an axis: its result varies, and its operand is neither unreduced nor reduced") {
  for (const OpKind kind : {OpKind::AllGather, OpKind::AllToAll, OpKind::Ppermute}) {
    CAPTURE(rules(kind).name);
    const std::string shape = kind == OpKind::AllGather ? "f32[2,2]" : "f32[2]";
    CHECK(over_x(kind, "VI") == shape + "{V:x}");
    CHECK(over_x(kind, "IU") == shape + "{V:x, U:y}");
    CHECK(over_x(kind, "UI") ==
          "of: expected an operand that is varying or invarying over x, got f32[2]{U:x}; psum "
          "over x makes it invarying");
    CHECK(over_x(kind, "RI") ==
          "of: expected an operand that is varying or invarying over x, got f32[2]{R:x}; "
          "reduced_vary_cast over x makes it varying");
  }
}

TEST_CASE("sums over several axes: one state before it, if states are checked") {
  const Given both = {{"axis_name", Names{"x", "y"}}};
  const ValueType mixed = type(Dtype::F32, {4}, "VI");
  CHECK(outcome(mesh(), OpKind::Psum, {mixed}, both, Checks::Shapes) == "f32[4]");
  const auto error = [&](OpKind kind, std::string_view letters) {
    return outcome(mesh(), kind, {type(Dtype::F32, {4}, letters)}, both, Checks::States);
  };
  const std::string one = "of: expected an operand of one state over its axes, got f32[4]";
  CHECK(error(OpKind::Psum, "VI") ==
        one + "{V:x}, varying over x and invarying over y; pvary over y makes it varying");
  CHECK(error(OpKind::PsumScatter, "IV") ==
        one + "{V:y}, invarying over x and varying over y; pvary over x makes it varying");
  // The addends of an unreduced value remain addends.
  CHECK(error(OpKind::Psum, "UV") == one +
                                         "{V:y, U:x}, unreduced over x and varying over y; "
                                         "vary_unreduced_cast over y makes it unreduced");
  CHECK(error(OpKind::Pmean, "VU") == one +
                                          "{V:x, U:y}, varying over x and unreduced over y; "
                                          "vary_unreduced_cast over x makes it unreduced");
  CHECK(error(OpKind::PsumScatter, "UI") ==
        one +
            "{U:x}, unreduced over x and invarying over y; pvary and vary_unreduced_cast over y "
            "make it unreduced");
}

TEST_CASE("sums over several axes: the cast is over all axes of the other state") {
  const Mesh cube({{"x", 2}, {"y", 2}, {"z", 2}});
  const Given all = {{"axis_name", Names{"x", "y", "z"}}};
  CHECK(outcome(cube, OpKind::Psum, {type(Dtype::F32, {4}, "UVV")}, all) ==
        "of: expected an operand of one state over its axes, got f32[4]{V:(y,z), U:x}, unreduced "
        "over x and varying over y; vary_unreduced_cast over (y, z) makes it unreduced");
}

TEST_CASE("reductions of parts of an axis: the result still varies along it") {
  const Given parts = {{"axis_name", Names{"x"}}, {"axis_index_groups", Lists{{0}, {1}}}};
  for (const OpKind kind : {OpKind::Psum, OpKind::Pmean, OpKind::Pmax, OpKind::Pmin}) {
    CHECK(outcome(mesh(), kind, {type(Dtype::F32, {2}, "VI")}, parts) == "f32[2]{V:x}");
    CHECK(outcome(mesh(), kind, {type(Dtype::F32, {2}, "II")}, parts) == "f32[2]{V:x}");
  }
  CHECK(outcome(mesh(), OpKind::Psum, {type(Dtype::F32, {2}, "UI")}, parts) ==
        "axis_index_groups: expected no axis_index_groups for an operand that is unreduced over x, "
        "got f32[2]{U:x}");
}

TEST_CASE("pmean: reduces like psum, but rounds, so an unreduced operand is refused") {
  const Given over_x = {{"axis_name", Names{"x"}}};
  CHECK(outcome(mesh(), OpKind::Pmean, {type(Dtype::F32, {2}, "VR")}, over_x) == "f32[2]{R:y}");
  CHECK(outcome(mesh(), OpKind::Pmean, {type(Dtype::F32, {2}, "UI")}, over_x) == "f32[2]");
  CHECK(outcome(mesh(), OpKind::Pmean, {type(Dtype::F32, {2}, "VU")}, over_x) ==
        "of: expected an operand that is unreduced over no other axis, got f32[2]{V:x, U:y}; psum "
        "over y makes it invarying");
}

TEST_CASE("pargmax: refuses an unreduced operand, as pmax does") {
  const Given over_x = {{"axis_name", Names{"x"}}};
  CHECK(outcome(mesh(), OpKind::Pmean, {type(Dtype::F32, {2}, "VR")},
                {{"axis_name", Names{"x"}}}) == "f32[2]{R:y}");
  CHECK(outcome(mesh(), OpKind::Pargmax, {type(Dtype::F32, {2}, "VV")}, over_x) == "s32[2]{V:y}");
  CHECK(outcome(mesh(), OpKind::Pargmax, {type(Dtype::F32, {2}, "IV")}, over_x) == "s32[2]{V:y}");
  CHECK(outcome(mesh(), OpKind::Pargmax, {type(Dtype::F32, {2}, "VU")}, over_x) ==
        "of: expected an operand that is unreduced over no other axis, got f32[2]{V:x, U:y}; psum "
        "over y makes it invarying");
}

TEST_CASE("unreduced_psum and unreduced_psum_scatter: of an unreduced operand alone") {
  CHECK(over_x(OpKind::UnreducedPsum, "UV") == "f32[2]{V:y}");
  CHECK(over_x(OpKind::UnreducedPsumScatter, "UU") == "f32[]{V:x, U:y}");
  for (const OpKind kind : {OpKind::UnreducedPsum, OpKind::UnreducedPsumScatter}) {
    CHECK(over_x(kind, "VI") ==
          "of: expected an operand that is unreduced over x, got f32[2]{V:x}; vary_unreduced_cast "
          "over x makes it unreduced");
    CHECK(over_x(kind, "II") ==
          "of: expected an operand that is unreduced over x, got f32[2]; pvary and "
          "vary_unreduced_cast over x make it unreduced");
    CHECK(
        over_x(kind, "RI") ==
        "of: expected an operand that is unreduced over x, got f32[2]{R:x}; reduced_vary_cast and "
        "vary_unreduced_cast over x make it unreduced");
    CHECK(over_x(kind, "VI", Checks::Shapes) ==
          ": expected \"check_types\": true, without which no state is known");
    const Given parts = {{"axis_name", Names{"x"}}, {"axis_index_groups", Lists{{0}, {1}}}};
    CHECK(outcome(mesh(), kind, {type(Dtype::F32, {1}, "UI")}, parts) ==
          "axis_index_groups: expected no axis_index_groups: its result has one state along whole "
          "axes");
  }
  // Over no axes, no state is required.
  CHECK(outcome(mesh(), OpKind::UnreducedPsum, {type(Dtype::F32, {2}, "VI")},
                {{"axis_name", Names{}}}) == "f32[2]{V:x}");
}

TEST_CASE("all_gather to another state: invarying of what varies or not, reduced of what varies") {
  const auto to = [](const std::string& state, const std::string& letters) {
    const Given given = {{"axis_name", Names{"x"}}, {"to", state}};
    return outcome(mesh(), OpKind::AllGather, {type(Dtype::F32, {2}, letters)}, given);
  };
  CHECK(to("varying", "II") == "f32[2,2]{V:x}");
  CHECK(to("invarying", "VV") == "f32[2,2]{V:y}");
  CHECK(to("invarying", "II") == "f32[2,2]");
  CHECK(to("reduced", "VU") == "f32[2,2]{U:y, R:x}");
  CHECK(
      to("reduced", "II") ==
      "of: expected an operand that is varying over x, got f32[2]; pvary over x makes it varying");
  CHECK(to("invarying", "RI") ==
        "of: expected an operand that is varying or invarying over x, got f32[2]{R:x}; "
        "reduced_vary_cast over x makes it varying");
  for (const char* const letters : {"VI", "IV", "RI", "UI"}) {
    CHECK(over_x(OpKind::AllGatherInvariant, letters) == to("invarying", letters));
    CHECK(over_x(OpKind::AllGatherReduced, letters) == to("reduced", letters));
  }
  const Given parts = {
      {"axis_name", Names{"x"}}, {"axis_index_groups", Lists{{0}, {1}}}, {"to", "invarying"}};
  CHECK(outcome(mesh(), OpKind::AllGather, {type(Dtype::F32, {2}, "VI")}, parts) ==
        "axis_index_groups: expected no axis_index_groups: its result has one state along whole "
        "axes");
}

TEST_CASE("casts: each from one state to another, along the axes named") {
  constexpr std::string_view kLetters = "IVUR";
  for (const StateCast& cast : kStateCasts) {
    CAPTURE(cast.name);
    const std::string from(1, kLetters[static_cast<size_t>(cast.from)]);
    const std::string to(1, kLetters[static_cast<size_t>(cast.to)]);
    // Along y nothing changes.
    CHECK(over_x(cast.kind, from + "V") == text(type(Dtype::F32, {2}, to + "V"), mesh()));
    for (const char other : kLetters)
      if (other != from[0])
        CHECK(
            over_x(cast.kind, std::string(1, other) + "I").starts_with("of: expected an operand"));
  }
  CHECK(over_x(OpKind::Pvary, "UI") ==
        "of: expected an operand that is invarying over x, got f32[2]{U:x}; psum over x makes it "
        "invarying");
  CHECK(
      over_x(OpKind::VaryUnreducedCast, "II") ==
      "of: expected an operand that is varying over x, got f32[2]; pvary over x makes it varying");
  const Given both = {{"axis_name", Names{"x", "y"}}};
  CHECK(outcome(mesh(), OpKind::Pvary, {type(Dtype::F32, {2}, "II")}, both) == "f32[2]{V:(x,y)}");
  CHECK(outcome(mesh(), OpKind::Pvary, {type(Dtype::F32, {2}, "IV")}, both) ==
        "of: expected an operand that is invarying over y, got f32[2]{V:y}");
}

TEST_CASE("casts without checked types: none but to unreduced, which is refused") {
  CHECK(over_x(OpKind::Pvary, "VI", Checks::Shapes) == "f32[2]{V:x}");
  CHECK(over_x(OpKind::ReducedVaryCast, "II", Checks::Shapes) == "f32[2]");
  CHECK(over_x(OpKind::VaryUnreducedCast, "VI", Checks::Shapes) ==
        ": expected \"check_types\": true, without which no value is unreduced");
}

TEST_CASE("pcast: the cast from the operand's state to the one given") {
  const auto to = [](const std::string& state, const std::string& letters) {
    return outcome(mesh(), OpKind::Pcast, {type(Dtype::F32, {2}, letters)},
                   {{"axis_name", Names{"x", "y"}}, {"to", state}});
  };
  CHECK(to("varying", "II") == "f32[2]{V:(x,y)}");
  CHECK(to("varying", "RR") == "f32[2]{V:(x,y)}");
  CHECK(to("reduced", "II") == "f32[2]{R:(x,y)}");
  CHECK(to("unreduced", "VV") == "f32[2]{U:(x,y)}");
  CHECK(
      to("unreduced", "II") ==
      "of: expected an operand that is varying over x, got f32[2]; pvary over x makes it varying");
  CHECK(
      to("varying", "UU") ==
      "of: expected an operand that is invarying or reduced over x, got f32[2]{U:(x,y)}; psum over "
      "x makes it invarying");
  CHECK(to("varying", "IR") ==
        "of: expected an operand of one state over its axes, got f32[2]{R:y}, invarying over x and "
        "reduced over y; preduced over x makes it reduced");
}

TEST_CASE("axis_index: varies along the axes it names") {
  CHECK(outcome(mesh(), OpKind::AxisIndex, {}, {{"axis_name", Names{"y"}}}) == "s32[]{V:y}");
  CHECK(outcome(mesh(), OpKind::AxisIndex, {}, {{"axis_name", Names{}}}) == "s32[]");
}

TEST_CASE("axis_size: the same everywhere") {
  CHECK(outcome(mesh(), OpKind::AxisSize, {}, {{"axis_name", Names{"y", "x"}}}) == "s32[]");
  CHECK(outcome(mesh(), OpKind::AxisSize, {}, {{"axis_name", Names{}}}) == "s32[]");
}

TEST_CASE("add: varying where an operand is; unreduced or reduced where both are") {
  CHECK(local(OpKind::Add, {"VI", "IV"}) == "f32[2]{V:(x,y)}");
  CHECK(local(OpKind::Add, {"II", "II"}) == "f32[2]");
  CHECK(local(OpKind::Add, {"UV", "UI"}) == "f32[2]{V:y, U:x}");
  CHECK(local(OpKind::Sub, {"RI", "RI"}) == "f32[2]{R:x}");
  CHECK(local(OpKind::Add, {"UI", "II"}) ==
        "of: expected operands that are all unreduced over x, got f32[2]{U:x} and f32[2]; psum "
        "over x makes it invarying");
  CHECK(local(OpKind::Add, {"UI", "VI"}) ==
        "of: expected operands that are all unreduced over x, got f32[2]{U:x} and f32[2]{V:x}; "
        "vary_unreduced_cast over x makes it unreduced");
  CHECK(local(OpKind::Add, {"RI", "II"}) ==
        "of: expected operands that are all reduced over x, got f32[2]{R:x} and f32[2]; preduced "
        "over x makes it reduced");
}

TEST_CASE("add: a reduced operand is cast to varying along exactly the axes it lacks") {
  CHECK(local(OpKind::Add, {"RI", "VI"}) == "f32[2]{V:x}");
  CHECK(local(OpKind::Add, {"RR", "VV"}) == "f32[2]{V:(x,y)}");
  // Operand 0 lacks both axes and is reduced along one.
  CHECK(local(OpKind::Add, {"RI", "VV"}) ==
        "of: expected operand 0 to be reduced over exactly the axes (x, y), over which only "
        "others vary, got f32[2]{R:x} and f32[2]{V:(x,y)}; reduced_vary_cast over x makes it "
        "varying");
  // Operand 0 lacks one axis and is reduced along both.
  CHECK(local(OpKind::Add, {"RR", "VI"}) ==
        "of: expected operand 0 to be reduced over exactly the axes (x), over which only others "
        "vary, got f32[2]{R:(x,y)} and f32[2]{V:x}; reduced_vary_cast over x makes it varying");
}

TEST_CASE("mul: unreduced times reduced is unreduced") {
  CHECK(local(OpKind::Mul, {"UI", "RI"}) == "f32[2]{U:x}");
  CHECK(local(OpKind::Mul, {"RI", "UI"}) == "f32[2]{U:x}");
  CHECK(local(OpKind::Mul, {"UI", "UI"}) ==
        "of: expected the other operand to be reduced over x, along which one is unreduced, got "
        "f32[2]{U:x} and f32[2]{U:x}; psum over x makes it invarying");
  CHECK(local(OpKind::Mul, {"UI", "II"}) ==
        "of: expected the other operand to be reduced over x, along which one is unreduced, got "
        "f32[2]{U:x} and f32[2]; preduced over x makes it reduced");
}

TEST_CASE("ops of one operand: linear ones keep unreduced and reduced") {
  CHECK(local(OpKind::Transpose, {"UR"}, {{"permutation", Integers{0}}}) == "f32[2]{U:x, R:y}");
  CHECK(local(OpKind::Reshape, {"UR"}, {{"new_sizes", Integers{1, 2}}}) == "f32[1,2]{U:x, R:y}");
  CHECK(local(OpKind::ConvertElementType, {"VR"}, {{"new_dtype", Dtype::BF16}}) ==
        "bf16[2]{V:x, R:y}");
  CHECK(local(OpKind::ConvertElementType, {"UI"}, {{"new_dtype", Dtype::BF16}}) == "bf16[2]{U:x}");
}

TEST_CASE("neg: linear; exp, max and lt: not") {
  CHECK(local(OpKind::Neg, {"UR"}) == "f32[2]{U:x, R:y}");
  CHECK(local(OpKind::Exp, {"VR"}) == "f32[2]{V:x, R:y}");
  CHECK(local(OpKind::Exp, {"UI"}) ==
        "of: expected no operand that is unreduced over x, got f32[2]{U:x}; psum over x makes it "
        "invarying");
  for (const OpKind kind : {OpKind::Div, OpKind::Max, OpKind::Min}) {
    CHECK(local(kind, {"VI", "IV"}) == "f32[2]{V:(x,y)}");
    CHECK(local(kind, {"UI", "UI"}) ==
          "of: expected no operand that is unreduced over x, got f32[2]{U:x} and f32[2]{U:x}; psum "
          "over x makes it invarying");
  }
  CHECK(local(OpKind::Lt, {"RI", "VI"}) == "pred[2]{V:x}");
  CHECK(local(OpKind::Lt, {"UI", "RI"}) ==
        "of: expected no operand that is unreduced over x, got f32[2]{U:x} and f32[2]{R:x}; psum "
        "over x makes it invarying");
}

TEST_CASE("select_n: varying where the choice or a case is, and linear in the cases") {
  const auto select = [](const std::string& which, const std::string& left,
                         const std::string& right) {
    return outcome(
        mesh(), OpKind::SelectN,
        {type(Dtype::Pred, {2}, which), type(Dtype::F32, {2}, left), type(Dtype::F32, {2}, right)},
        {});
  };
  CHECK(select("VI", "II", "IV") == "f32[2]{V:(x,y)}");
  CHECK(select("II", "II", "II") == "f32[2]");
  // A choice that is equal on all copies goes with cases of any states.
  CHECK(select("II", "UR", "UR") == "f32[2]{U:x, R:y}");
  CHECK(select("RI", "UI", "UI") == "f32[2]{U:x}");
  CHECK(select("VI", "RI", "RI") == "f32[2]{V:x}");
  CHECK(select("VI", "UI", "UI") ==
        "of: expected operands that are all unreduced over x, got f32[2]{U:x}, f32[2]{U:x} and "
        "pred[2]{V:x}; psum over x makes it invarying");
  CHECK(select("UI", "II", "II") ==
        "of: expected indices that are nowhere unreduced, got pred[2]{U:x}; psum over x makes it "
        "invarying");
  CHECK(select("II", "UI", "II") ==
        "of: expected operands that are all unreduced over x, got f32[2]{U:x} and f32[2]; psum "
        "over x makes it invarying");
}

TEST_CASE("pad: a reduced operand goes with an invarying scalar around it") {
  const auto pad = [](const std::string& operand, const std::string& value) {
    return outcome(mesh(), OpKind::Pad,
                   {type(Dtype::F32, {2}, operand), type(Dtype::F32, {}, value)},
                   {{"padding_config", Lists{{1, 0, 0}}}});
  };
  CHECK(pad("RI", "II") == "f32[3]{R:x}");
  CHECK(pad("RV", "IV") == "f32[3]{V:y, R:x}");
  CHECK(pad("RI", "RI") == "f32[3]{R:x}");
  CHECK(pad("RI", "VI") == "f32[3]{V:x}");
  CHECK(pad("UI", "II") ==
        "of: expected operands that are all unreduced over x, got f32[2]{U:x} and f32[]; psum over "
        "x makes it invarying");
  CHECK(pad("II", "RI") ==
        "of: expected operands that are all reduced over x, got f32[2] and f32[]{R:x}; preduced "
        "over x makes it reduced");
}

TEST_CASE("concatenate: parts are all unreduced along an axis, or none is") {
  CHECK(local(OpKind::Concatenate, {"UI", "UI", "UI"}, {{"dimension", 0}}) == "f32[6]{U:x}");
  CHECK(local(OpKind::Concatenate, {"UI", "UI", "VI"}, {{"dimension", 0}}) ==
        "of: expected operands that are all unreduced over x, got f32[2]{U:x}, f32[2]{U:x} and "
        "f32[2]{V:x}; vary_unreduced_cast over x makes it unreduced");
  CHECK(local(OpKind::Concatenate, {"UI", "RI"}, {{"dimension", 0}}) ==
        "of: expected operands that are all unreduced over x, got f32[2]{U:x} and f32[2]{R:x}");
}

TEST_CASE("what is computed of a reduced value alone is reduced") {
  for (const OpKind kind : {OpKind::Logistic, OpKind::Conj, OpKind::Sin, OpKind::Cos})
    CHECK(outcome(mesh(), kind, {type(Dtype::C64, {2}, "RI")}, {}) == "c64[2]{R:x}");
  CHECK(outcome(mesh(), OpKind::Pargmax, {type(Dtype::F32, {2}, "VR")},
                {{"axis_name", Names{"x"}}}) == "s32[2]{R:y}");
}

TEST_CASE("dot_general: an unreduced operand is refused") {
  const Given inner = {{"dimension_numbers", Lists{{0}, {0}, {}, {}}}};
  CHECK(local(OpKind::DotGeneral, {"VI", "IV"}, inner) == "f32[]{V:(x,y)}");
  CHECK(local(OpKind::DotGeneral, {"UI", "RI"}, inner) ==
        "of: expected no operand that is unreduced over x, got f32[2]{U:x} and f32[2]{R:x}; psum "
        "over x makes it invarying");
}

TEST_CASE("indexed reads: an index whose copies are equal goes with any state") {
  const auto slice = [](const std::string& array, const std::string& index) {
    return outcome(mesh(), OpKind::DynamicSlice,
                   {type(Dtype::F32, {4}, array), type(Dtype::S32, {}, index)},
                   {{"slice_sizes", Integers{2}}});
  };
  CHECK(slice("UR", "II") == "f32[2]{U:x, R:y}");
  CHECK(slice("UR", "RI") == "f32[2]{U:x, R:y}");
  CHECK(slice("II", "RR") == "f32[2]");
  CHECK(slice("II", "VI") == "f32[2]{V:x}");
  CHECK(slice("RI", "VI") == "f32[2]{V:x}");  // reduced over just the axis that it lacks
  CHECK(slice("UI", "VI") ==
        "of: expected operands that are all unreduced over x, got f32[4]{U:x} and s32[]{V:x}; "
        "psum over x makes it invarying");
  CHECK(slice("VI", "UI") ==
        "of: expected indices that are nowhere unreduced, got s32[]{U:x}; psum over x makes it "
        "invarying");
}

TEST_CASE("dynamic_update_slice: the result varies along what any start index varies along") {
  const auto update = [](const std::string& first, const std::string& second) {
    const ValueType array = type(Dtype::F32, {4, 4}, "II");
    return outcome(mesh(), OpKind::DynamicUpdateSlice,
                   {array, array, type(Dtype::S32, {}, first), type(Dtype::S32, {}, second)}, {});
  };
  CHECK(update("VI", "II") == "f32[4,4]{V:x}");
  CHECK(update("II", "IV") == "f32[4,4]{V:y}");
}

TEST_CASE(
    "indexed updates: an index that varies casts what is reduced there, as any operand does") {
  const auto update = [](const std::string& array, const std::string& part,
                         const std::string& start) {
    return outcome(
        mesh(), OpKind::DynamicUpdateSlice,
        {type(Dtype::F32, {4}, array), type(Dtype::F32, {2}, part), type(Dtype::S32, {}, start)},
        {});
  };
  // As in JAX 0.10.2, pvary makes the array varying over x, and reduced_vary_cast the part.
  CHECK(update("IV", "RV", "VI") == "f32[4]{V:(x,y)}");
  CHECK(update("RR", "VI", "IV") == "f32[4]{V:(x,y)}");
  // Where no index varies, nothing casts the two. An index is named only where the two fit.
  const std::string differ =
      "of: expected operands that are all reduced over x, got f32[4] and f32[2]{R:x}; preduced "
      "over x makes it reduced";
  CHECK(update("II", "RI", "IV") == differ);
  CHECK(update("II", "RI", "UI") == differ);
}

TEST_CASE("take: of an unreduced operand only without filling") {
  const auto take = [](const std::string& mode) {
    return outcome(mesh(), OpKind::Take, {type(Dtype::F32, {4}, "UI"), type(Dtype::S32, {3}, "II")},
                   {{"axis", 0}, {"mode", mode}});
  };
  CHECK(take("clip") == "f32[3]{U:x}");
  CHECK(take("fill") ==
        "of: expected no operand that is unreduced over x, got f32[4]{U:x}; psum over x makes it "
        "invarying; with a fill_value of 0 it may stay so");
}

TEST_CASE("reductions: sums are linear, extremes are not") {
  const Given axes = {{"axes", Integers{0}}};
  CHECK(local(OpKind::ReduceSum, {"UR"}, axes) == "f32[]{U:x, R:y}");
  CHECK(local(OpKind::ReduceMax, {"VR"}, axes) == "f32[]{V:x, R:y}");
  CHECK(local(OpKind::ReduceMax, {"UI"}, axes) ==
        "of: expected no operand that is unreduced over x, got f32[2]{U:x}; psum over x makes it "
        "invarying");
}

TEST_CASE("pad: unreduced operand and padding give an unreduced result") {
  const auto pad = [](const std::string& array, const std::string& value) {
    return outcome(mesh(), OpKind::Pad, {type(Dtype::F32, {4}, array), type(Dtype::F32, {}, value)},
                   {{"padding_config", Lists{{1, 0, 0}}}});
  };
  CHECK(pad("UI", "UI") == "f32[5]{U:x}");
  CHECK(pad("UI", "II") ==
        "of: expected operands that are all unreduced over x, got f32[4]{U:x} and f32[]; psum over "
        "x makes it invarying");
}

}  // namespace
}  // namespace orrery
