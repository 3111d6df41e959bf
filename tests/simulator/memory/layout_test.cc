// Tests where the buffers of programs worked out by hand lie, to the byte.

#include "simulator/memory/layout.h"

#include <doctest/doctest.h>

#include "tests/simulator/memory/hand_program.h"

namespace orrery::test {

namespace {

ArenaLayout layout_of(HandProgram& p) {
  const MemoryProfile memory = p.profile();
  return {p.program, p.lowered, p.policy, memory};
}

int64_t begin(const HandProgram& p, const ArenaLayout& layout, size_t device, size_t thread,
              ValueId value) {
  return layout.buffer(LogicalId(device), ThreadId(thread), p.program.value(value).buffer)
      .begin.count();
}

TEST_CASE("layout: a result takes the place of what has ended before it") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  const ValueId x = p.op(OpKind::Slice, "x", {a}, 50);
  const ValueId y = p.op(OpKind::Slice, "y", {x}, 30);
  const ValueId z = p.op(OpKind::Slice, "z", {y}, 50);
  p.output(z);
  const ArenaLayout layout = layout_of(p);
  CHECK(begin(p, layout, 0, 0, a) == 0);
  CHECK(begin(p, layout, 0, 0, x) == 100);
  CHECK(begin(p, layout, 0, 0, y) == 150);
  CHECK(begin(p, layout, 0, 0, z) == 100);  // x ended with y
  CHECK(layout.arena(LogicalId(0)) == Bytes(180));
}

TEST_CASE("layout: the scratch of an op lies beside its operands and its result") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  p.op(OpKind::Compute, "c", {a}, 20);
  p.declare_scratch(40);
  p.op(OpKind::Slice, "x", {a}, 10);
  const ArenaLayout layout = layout_of(p);
  const std::optional<ArenaRange> scratch = layout.scratch(LogicalId(0), ThreadId(0), OpId(0));
  REQUIRE(scratch);
  CHECK(scratch->begin == Bytes(120));
  CHECK(scratch->size == Bytes(40));
  CHECK(!layout.scratch(LogicalId(0), ThreadId(0), OpId(1)));
}

TEST_CASE(
    "layout: of two lists, an argument that both hold to the end is in the first one's arena") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  const ValueId b = p.argument("b", 7);
  const ValueId x = p.op(OpKind::Slice, "x", {a}, 50);
  p.output(x);
  p.thread({LogicalId(0)});
  const ValueId y = p.op(OpKind::Slice, "y", {b}, 30);
  p.output(y);
  const ArenaLayout layout = layout_of(p);
  // The first list places a, b and x. The second list adds only y, since a and b are placed.
  CHECK(begin(p, layout, 0, 0, a) == 0);
  CHECK(begin(p, layout, 0, 0, b) == 100);
  CHECK(begin(p, layout, 0, 0, x) == 107);
  CHECK(begin(p, layout, 0, 1, a) == 0);
  CHECK(begin(p, layout, 0, 1, b) == 100);
  CHECK(begin(p, layout, 0, 1, y) == 157);
  CHECK(layout.arena(LogicalId(0)) == Bytes(187));
  CHECK(layout.argument(LogicalId(0), p.program.value(b).buffer).size() == 1);
}

TEST_CASE("layout: a view in one list lies where another list holds the argument") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  p.op(OpKind::Slice, "x", {a}, 20);
  p.thread({LogicalId(0)});
  p.op(OpKind::Full, "q", {}, 100);
  const ValueId view = p.alias(OpKind::Reshape, "v", a);
  p.op(OpKind::Slice, "y", {view}, 5);
  const ArenaLayout layout = layout_of(p);
  CHECK(begin(p, layout, 0, 1, view) == begin(p, layout, 0, 0, a));
  CHECK(layout.argument(LogicalId(0), p.program.value(a).buffer).size() == 1);
}

TEST_CASE("layout: an argument that only some devices of a list have lies among the others") {
  HandProgram p(2);
  const ValueId a = p.argument("a", 100);
  const ValueId b = p.argument("b", 8);
  p.program.arguments.back().on = std::vector{LogicalId(1)};
  const ValueId x = p.op(OpKind::Slice, "x", {a}, 50);
  p.output(x);
  const ArenaLayout layout = layout_of(p);
  CHECK(begin(p, layout, 0, 0, x) == 100);
  CHECK(begin(p, layout, 1, 0, x) == 108);
  CHECK(layout.argument(LogicalId(0), p.program.value(b).buffer).empty());
  const std::vector<ArenaRange> places = layout.argument(LogicalId(1), p.program.value(b).buffer);
  REQUIRE(places.size() == 1);
  CHECK(places[0].begin == Bytes(100));
  CHECK(layout.arena(LogicalId(1)) == Bytes(158));
}

}  // namespace

}  // namespace orrery::test
