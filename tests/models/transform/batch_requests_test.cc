// Tests batches that a caller of the library may ask for, but a scenario may not: its reader
// refuses them earlier, or corrects them. tests/models/scenario/batch_test.cc tests the batches
// that the reader passes on.

#include <string>

#include <doctest/doctest.h>

#include "models/program/builder.h"
#include "models/transform/batch.h"

namespace orrery {
namespace {

/// Returns a program on {x: 2}: t = neg(neg(neg(a))), of an array that varies over x, and "o",
/// which only device 0 has.
Program negated() {
  Diagnostics diagnostics("f");
  const Mesh mesh({{"x", 2}});
  ProgramBuilder builder(mesh, Checks::States, diagnostics);
  builder.argument("a", Dtype::F32, Shape{3}, {"x"});
  builder.argument("o", Dtype::F32, Shape{3}, {}, std::nullopt, std::vector{LogicalId(0)});
  builder.thread("all", {LogicalId(0), LogicalId(1)});
  builder.op({.name = "r", .kind = OpKind::Neg, .operands = {"a"}});
  builder.op({.name = "s", .kind = OpKind::Neg, .operands = {"r"}});
  builder.op({.name = "t", .kind = OpKind::Neg, .operands = {"s"}});
  Program program = builder.finish();
  diagnostics.throw_if_any();
  return program;
}

/// Returns the whole message that refuses the batch; "" if it is accepted.
std::string refusal(const BatchRequest& request) {
  Diagnostics diagnostics("f");
  (void)batch(negated(), Checks::States, request, diagnostics);
  try {
    diagnostics.throw_if_any();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

const Origin kAt = {"/batch"};
const NamedAt kX = {"x", {"/batch/axis_name"}};

TEST_CASE("batch: a request has the size of its axis, or a size") {
  CHECK(refusal({.origin = kAt, .axis_name = kX, .size = 3}) ==
        "f: /batch: expected the size of the axis, 2, got 3");
  CHECK(refusal({.origin = kAt}) == "f: /batch: expected a batch of at least one element");
  CHECK(refusal({.origin = kAt, .size = 0}) ==
        "f: /batch: expected a batch of at least one element");
  CHECK(refusal({.origin = kAt, .size = 1}) == "");
}

TEST_CASE("batch: in the place of a mesh axis every device has each array") {
  CHECK(refusal({.origin = kAt, .axis_name = kX}) ==
        "f: /batch: expected arrays on every device, for a batch in the place of a mesh axis, got "
        "\"o\"");
}

TEST_CASE("batch: the program has at most as many ops as the request allows") {
  const std::vector<BatchAxis> first = {{{"a", {"/batch/in_axes/a"}}, 0}};
  CHECK(refusal({.origin = kAt, .size = 3, .in_axes = first, .most_ops = 2}) ==
        "f: /batch: expected at most 2 ops of a batched program, got more");
  CHECK(refusal({.origin = kAt, .size = 3, .in_axes = first, .most_ops = 3}) == "");
}

}  // namespace
}  // namespace orrery
