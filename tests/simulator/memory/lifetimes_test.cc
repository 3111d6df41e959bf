// Tests until when each buffer of a list is held, and why, for programs worked out by hand.

#include "simulator/memory/lifetimes.h"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "tests/simulator/memory/hand_program.h"

namespace orrery::test {

namespace {

/// Returns the lifetime of the buffer whose first value has the name.
Lifetime lifetime(HandProgram& p, const std::string& name) {
  const HeldList list = p.memory();  // this makes the tapes
  const std::vector<Lifetime> all = Lifetimes(p.program, p.lowered, p.policy).of(list);
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Lifetime& each) { return each.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

TEST_CASE("lifetimes: to the end of the program, for a reason each") {
  HandProgram p;
  const ValueId a = p.argument("a", 10);
  const ValueId b = p.argument("b", 10);
  const ValueId t = p.op(OpKind::Mul, "t", {a, a}, 10);
  p.start(OpKind::AllGather, "s", {t}, 40);
  p.start(OpKind::AllGather, "u", {b}, 40);
  p.donate(b);
  p.output(p.op(OpKind::Full, "o", {}, 10));
  for (const char* const name : {"a", "b", "t", "s", "u", "o"})
    CHECK(lifetime(p, name).held.to == 4);
  CHECK(lifetime(p, "a").until == HeldUntil::EndAsArgument);
  CHECK(lifetime(p, "o").until == HeldUntil::EndAsOutput);
  // Neither start has a done. The donation of b does not free it.
  for (const char* const name : {"b", "t", "s", "u"})
    CHECK(lifetime(p, name).until == HeldUntil::EndInFlight);
}

TEST_CASE("lifetimes: to the last use, or to the op that makes it") {
  HandProgram p;
  const ValueId a = p.argument("a", 10);
  const ValueId t = p.op(OpKind::Mul, "t", {a, a}, 10);
  p.donate(a);
  const ValueId s = p.start(OpKind::AllGather, "s", {t}, 40);
  p.op(OpKind::Full, "x", {}, 10);
  p.alias(OpKind::Done, "d", s);
  p.op(OpKind::Full, "last", {}, 10);
  CHECK(lifetime(p, "a").until == HeldUntil::Donation);
  CHECK(lifetime(p, "a").held.to == 0);
  CHECK(lifetime(p, "t").until == HeldUntil::LastUse);  // in flight until the done
  CHECK(lifetime(p, "t").held.to == 3);
  CHECK(lifetime(p, "x").until == HeldUntil::NeverUsed);
  CHECK(lifetime(p, "x").held.to == 2);
}

TEST_CASE("lifetimes: until the op that takes the storage over") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId a = p.op(OpKind::Full, "a", {}, 10);
  p.output(p.op(OpKind::Neg, "b", {a}, 10));
  CHECK(lifetime(p, "a").until == HeldUntil::TakenOver);
  CHECK(lifetime(p, "a").held.to == 0);
}

}  // namespace

}  // namespace orrery::test
