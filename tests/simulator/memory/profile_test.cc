// Tests the memory profile of programs worked out by hand, to the byte. Sizes are rounded only
// where a test says so. A comment such as "a + t | a + s" lists the buffers held at each op.

#include "simulator/memory/profile.h"

#include <doctest/doctest.h>

#include "tests/simulator/memory/hand_program.h"

namespace orrery::test {

namespace {

using Live = std::vector<int64_t>;

TEST_CASE("memory: an unused result is held only at the op that makes it") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  p.op(OpKind::Full, "x", {}, 50);
  p.op(OpKind::Slice, "y", {a}, 20);
  // x: a + x = 150.  y: x is gone, a + y = 120.
  CHECK(p.live() == Live{150, 120});
  CHECK(p.peak_at() == "x");
}

TEST_CASE("memory: a value is held during its last use, and freed after it") {
  HandProgram p;
  p.op(OpKind::Full, "a", {}, 10);
  const ValueId b = p.op(OpKind::Transpose, "b", {ValueId(0)}, 20);
  const ValueId c = p.op(OpKind::Concatenate, "c", {ValueId(0), b}, 30);
  p.op(OpKind::Slice, "d", {c}, 5);
  // a | a + b | a + b + c | c + d
  CHECK(p.live() == Live{10, 30, 60, 35});
}

TEST_CASE("memory: an async collective holds operand and result from start to done") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  const ValueId t = p.op(OpKind::Mul, "t", {a, a}, 100);
  const ValueId s = p.start(OpKind::AllGather, "s", {t}, 400);
  p.op(OpKind::Compute, "c", {}, 30);
  const ValueId d = p.alias(OpKind::Done, "d", s);
  const ValueId o = p.op(OpKind::Slice, "o", {d}, 10);
  p.output(o);
  // t: a + t = 200.  s: + s = 600.  c: + c = 630, c unused.  d: a + t + s = 600, then t goes.
  // o: a + s + o = 510.
  CHECK(p.live() == Live{200, 600, 630, 600, 510});
  CHECK(p.peak_at() == "c");
  const ListMemory memory = p.memory();
  CHECK(memory.live_at_peak == std::vector<Held>{{"s", Bytes(400), HeldAs::InFlight},
                                                 {"a", Bytes(100), HeldAs::Argument},
                                                 {"t", Bytes(100), HeldAs::InFlight},
                                                 {"c", Bytes(30), HeldAs::Temporary}});
  CHECK(memory.arguments == Bytes(100));
  CHECK(memory.in_flight == Bytes(500));
  CHECK(memory.temporaries == Bytes(30));
  CHECK(memory.outputs == Bytes());
  CHECK(memory.scratch == Bytes());
}

TEST_CASE("memory: a collective that is never done holds its buffers to the end") {
  HandProgram p;
  const ValueId t = p.op(OpKind::Full, "t", {}, 10);
  p.start(OpKind::Psum, "s", {t}, 10);
  p.op(OpKind::Full, "u", {}, 1);
  p.op(OpKind::Full, "v", {}, 2);
  // t | t + s | t + s + u | t + s + v
  CHECK(p.live() == Live{10, 20, 21, 22});
}

TEST_CASE("memory: an argument is held to the end") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  const ValueId x = p.op(OpKind::Mul, "x", {a, a}, 100);
  p.op(OpKind::Mul, "y", {x, x}, 100);
  // a + x | a + x + y
  CHECK(p.live() == Live{200, 300});
}

TEST_CASE("memory: a donated argument is held to its last use") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  const ValueId x = p.op(OpKind::Mul, "x", {a, a}, 100);
  p.donate(a);
  p.op(OpKind::Mul, "y", {x, x}, 100);
  // a + x, then a goes | x + y
  CHECK(p.live() == Live{200, 200});
  CHECK(p.peak_at() == "x");
}

TEST_CASE("memory: an argument donated to a start is held to its done") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  const ValueId s = p.start(OpKind::Psum, "s", {a}, 100);
  p.donate(a);
  p.op(OpKind::Full, "f", {}, 1);
  const ValueId d = p.alias(OpKind::Done, "d", s);
  p.op(OpKind::Slice, "o", {d}, 3);
  // a + s | a + s + f | a + s, then a goes | s + o
  CHECK(p.live() == Live{200, 201, 200, 103});
}

TEST_CASE("memory: an output is held to the end, though nothing reads it") {
  HandProgram p;
  const ValueId o = p.op(OpKind::Full, "o", {}, 100);
  p.output(o);
  p.op(OpKind::Full, "x", {}, 10);
  p.op(OpKind::Full, "y", {}, 20);
  // o | o + x | o + y
  CHECK(p.live() == Live{100, 110, 120});
  CHECK(p.memory().outputs == Bytes(100));
}

TEST_CASE("memory: the scratch of a sync collective is held while it runs") {
  HandProgram p(2);
  const ValueId a = p.argument("a", 100);
  const ValueId s = p.op(OpKind::Psum, "s", {a}, 100);
  p.scratch({{{LogicalId(0), LogicalId(1)}, 64}});
  p.op(OpKind::Slice, "z", {s}, 10);
  // a + s + 64 | a + s + z
  CHECK(p.live() == Live{264, 210});
  const ListMemory memory = p.memory();
  CHECK(memory.scratch == Bytes(64));
  CHECK(memory.live_at_peak.back() == Held{"s", Bytes(64), HeldAs::Scratch});
}

TEST_CASE("memory: the scratch of an async collective is held to its done") {
  HandProgram p(2);
  const ValueId a = p.argument("a", 100);
  const ValueId s = p.start(OpKind::Psum, "s", {a}, 100);
  p.scratch({{{LogicalId(0), LogicalId(1)}, 64}});
  p.op(OpKind::Full, "f", {}, 1);
  const ValueId d = p.alias(OpKind::Done, "d", s);
  p.op(OpKind::Slice, "z", {d}, 10);
  // a + s + 64 | + f | a + s + 64 | a + s + z
  CHECK(p.live() == Live{264, 265, 264, 210});
}

TEST_CASE("memory: of groups that need different scratch the largest counts") {
  HandProgram p(3);
  const ValueId a = p.argument("a", 8);
  p.op(OpKind::Psum, "s", {a}, 8);
  p.scratch({{{LogicalId(0)}, 0}, {{LogicalId(1), LogicalId(2)}, 6}});
  // a + s + 6
  CHECK(p.live() == Live{22});
}

TEST_CASE("memory: each thread has its own values, and every argument") {
  HandProgram p(2);
  p.program.threads[0].devices = {LogicalId(0)};
  const ValueId a = p.argument("a", 10);
  const ValueId t = p.op(OpKind::Concatenate, "t", {a, a}, 20);
  p.op(OpKind::Psum, "s", {t}, 20);
  p.scratch({{{LogicalId(0), LogicalId(1)}, 4}});
  p.thread({LogicalId(1)});
  const ValueId u = p.op(OpKind::Psum, "u", {a}, 20);
  p.join(SiteId(0));
  p.op(OpKind::Concatenate, "v", {u, u, u}, 60);
  // thread 0: a + t | a + t + s + 4.  thread 1: a + u + 4 | a + u + v
  CHECK(p.live(0) == Live{30, 54});
  CHECK(p.live(1) == Live{34, 90});
  CHECK(p.peak_at(0) == "s");
  CHECK(p.peak_at(1) == "v");
}

TEST_CASE("memory: a reshape takes no memory, and its buffer lives while either value is used") {
  HandProgram p;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId r = p.alias(OpKind::Reshape, "r", t);
  p.op(OpKind::Full, "x", {}, 7);
  p.op(OpKind::Slice, "y", {r}, 5);
  p.op(OpKind::Full, "z", {}, 1);
  // t | t | t + x | t + y | z
  CHECK(p.live() == Live{100, 100, 107, 105, 1});
  CHECK(p.memory().live_at_peak.front() == Held{"t", Bytes(100), HeldAs::Temporary});
}

TEST_CASE("memory: a part takes no room, and keeps the whole buffer") {
  HandProgram p;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId q = p.part(OpKind::Reshape, "q", t, 20, 80);
  const ValueId r = p.part(OpKind::Reshape, "r", q, 70, 10);
  p.op(OpKind::Slice, "y", {r}, 5);
  p.op(OpKind::Full, "z", {}, 1);
  CHECK(p.program.value(r).offset == Bytes(90));
  // t | t | t | t + y | z
  CHECK(p.live() == Live{100, 100, 100, 105, 1});
}

TEST_CASE("memory: each result is held from its op to its own last use") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  const ValueId s = p.op(OpKind::Split, "s", {a}, 30);
  const ValueId t = p.and_result("t", 60);
  p.and_result("u", 10);
  p.op(OpKind::Slice, "x", {s}, 1);
  p.op(OpKind::Slice, "y", {t}, 2);
  p.output(t);
  // a + s + t + u | u is not used: a + s + t + x | a + t + y
  CHECK(p.live() == Live{200, 191, 162});
  // After s is freed, y takes its place. The places are a 0-100, s -130, t -190, u -200, x -191.
  CHECK(p.memory().arena == Bytes(200));
}

TEST_CASE("memory: declared scratch is held while the op runs, and only then") {
  HandProgram p;
  p.policy.alignment = Bytes(16);
  const ValueId a = p.argument("a", 100);  // 112
  const ValueId c = p.op(OpKind::Compute, "c", {a}, 32);
  p.declare_scratch(33);  // 48
  p.op(OpKind::Compute, "d", {c}, 16);
  p.declare_scratch(0);
  // a + c + 48 | a + c + d
  CHECK(p.live() == Live{112 + 32 + 48, 112 + 32 + 16});
  const ListMemory memory = p.memory();
  CHECK(memory.peak == Bytes(192));
  CHECK(memory.scratch == Bytes(48));
  CHECK(memory.live_at_peak[1] == Held{"c", Bytes(48), HeldAs::Scratch});
  // d takes the place of the scratch.
  CHECK(memory.arena == Bytes(192));
}

TEST_CASE("memory: reuse gives each of several results a dying operand of its own") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId u = p.op(OpKind::Full, "u", {}, 100);
  p.op(OpKind::Add, "x", {t, u}, 100);
  p.and_result("y", 100);
  p.and_result("z", 100);
  // t | t + u | x in t, y in u, and z
  CHECK(p.live() == Live{100, 200, 300});
  CHECK(p.memory().arena == Bytes(300));
}

TEST_CASE("memory: a value on some devices is held there alone") {
  HandProgram p(2);
  const ValueId a = p.argument("a", 10);
  const ValueId held = p.alias(OpKind::HeldOn, "p", a);
  p.program.ops.back().attributes.set("devices", std::vector<int64_t>{1});
  p.donate(a);
  p.op(OpKind::Full, "t", {}, 100);
  p.output(held);
  const MemoryProfile profile = p.profile();
  CHECK(profile.kinds.size() == 2);
  const auto live_on = [&](size_t device) {
    return profile.of(LogicalId(device), ThreadId(0)).live;
  };
  CHECK(live_on(0) == std::vector<Bytes>{Bytes(10), Bytes(100)});  // it frees a
  CHECK(live_on(1) == std::vector<Bytes>{Bytes(10), Bytes(110)});  // p lies in a
  CHECK(profile.of(LogicalId(0), ThreadId(0)).outputs == Bytes());
}

TEST_CASE("memory: reuse takes no buffer of which the operand is a part") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId half = p.part(OpKind::Reshape, "half", t, 50, 50);
  p.op(OpKind::ConvertElementType, "wide", {half}, 100);
  CHECK(p.live() == Live{100, 100, 200});
}

TEST_CASE("memory: reuse gives a dying operand's storage to an elementwise result") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId u = p.op(OpKind::Add, "u", {t, t}, 100);
  const ValueId v = p.op(OpKind::Mul, "v", {u, u}, 100);
  p.op(OpKind::Transpose, "w", {v}, 100);
  // t | u in t | v in u | v + w, as transpose is not elementwise
  CHECK(p.live() == Live{100, 100, 100, 200});
  CHECK(p.memory().arena == Bytes(200));
}

TEST_CASE("memory: without reuse every result has storage of its own") {
  HandProgram p;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  p.op(OpKind::Add, "u", {t, t}, 100);
  CHECK(p.live() == Live{100, 200});
}

TEST_CASE("memory: reuse takes no operand that is still needed or has another size") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId a = p.argument("a", 100);
  const ValueId u = p.op(OpKind::Add, "u", {a, a}, 100);
  const ValueId v = p.op(OpKind::ConvertElementType, "v", {u}, 50);
  p.op(OpKind::Mul, "w", {v, u}, 100);
  // a + u | a + u + v | w in u, since u is as large and dies here: a + v + w
  CHECK(p.live() == Live{200, 250, 250});
}

TEST_CASE("memory: reuse gives scatter_add the storage of its first operand alone") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId a = p.argument("a", 100);
  const ValueId u = p.op(OpKind::Full, "u", {}, 100);
  const ValueId s = p.op(OpKind::ScatterAdd, "s", {a, u, u}, 100);
  const ValueId v = p.op(OpKind::Full, "v", {}, 100);
  p.op(OpKind::ScatterAdd, "t", {s, v, v}, 100);
  // a + u | a + u + s, as updates are read again after rows are written | a + s + v | t in s
  CHECK(p.live() == Live{200, 300, 300, 300});
}

TEST_CASE("memory: reuse takes a donated argument's storage at its last use") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId a = p.argument("a", 100);
  p.op(OpKind::Add, "u", {a, a}, 100);
  p.donate(a);
  CHECK(p.live() == Live{100});
  CHECK(p.memory().live_at_peak == std::vector<Held>{{"u", Bytes(100), HeldAs::Temporary}});
}

TEST_CASE("memory: reuse gives a dying operand's storage to a collective that works in place") {
  for (const bool works_in_place : {true, false}) {
    HandProgram p;
    p.policy.reuse = MemoryPolicy::Reuse::Xla;
    const ValueId t = p.op(OpKind::Full, "t", {}, 100);
    const ValueId s = p.op(OpKind::Psum, "s", {t}, 100);
    p.scratch({{{LogicalId(0)}, 0, works_in_place}});
    p.op(OpKind::Full, "u", {}, 10);
    p.op(OpKind::Neg, "v", {s}, 100);
    // t | s in t, or beside it | s + u | v in s
    CHECK(p.live() == Live{100, works_in_place ? 100 : 200, 110, 100});
  }
}

TEST_CASE("memory: reuse takes the operand of a started collective that nothing else uses") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId s = p.start(OpKind::Psum, "s", {t}, 100);
  p.scratch({{{LogicalId(0)}, 0, true}});
  p.op(OpKind::Full, "u", {}, 10);
  p.alias(OpKind::Done, "d", s);
  CHECK(p.live() == Live{100, 100, 110, 100});
}

TEST_CASE("memory: reuse takes no operand that is read between a start and its done") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId s = p.start(OpKind::Psum, "s", {t}, 100);
  p.scratch({{{LogicalId(0)}, 0, true}});
  p.op(OpKind::ReduceSum, "u", {t}, 10);
  p.alias(OpKind::Done, "d", s);
  CHECK(p.live() == Live{100, 200, 210, 200});
}

TEST_CASE("memory: reuse takes no operand that another collective in flight reads") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId r = p.start(OpKind::Psum, "r", {t}, 100);
  p.scratch({{{LogicalId(0)}, 0, false}});
  const ValueId s = p.start(OpKind::Psum, "s", {t}, 100);
  p.scratch({{{LogicalId(0)}, 0, true}});
  p.alias(OpKind::Done, "e", r);
  p.alias(OpKind::Done, "d", s);
  // t | t + r | t + r + s, also while r is done
  CHECK(p.live() == Live{100, 200, 300, 300, 200});
}

TEST_CASE("memory: sizes are rounded up to the alignment") {
  HandProgram p(2);
  p.policy.alignment = Bytes(256);
  const ValueId a = p.argument("a", 1);
  p.argument("empty", 0);
  p.op(OpKind::Psum, "s", {a}, 257);
  p.scratch({{{LogicalId(0), LogicalId(1)}, 256}});
  // 256 + 0 + 512 + 256
  CHECK(p.live() == Live{1024});
  CHECK(p.memory().live_at_peak == std::vector<Held>{{"s", Bytes(512), HeldAs::Temporary},
                                                     {"a", Bytes(256), HeldAs::Argument},
                                                     {"s", Bytes(256), HeldAs::Scratch}});
}

TEST_CASE("memory: the reserved size counts towards the peak, not as live") {
  HandProgram p;
  p.policy.reserved = Bytes(1000);
  p.op(OpKind::Full, "t", {}, 24);
  const DeviceMemory memory = p.profile().of(LogicalId(0));
  CHECK(p.live() == Live{24});
  CHECK(memory.peak == Bytes(1024));
  CHECK(memory.reserved == Bytes(1000));
  CHECK(memory.arena == Bytes(24));
}

TEST_CASE("memory: a thread without ops holds its arguments, and peaks at no op") {
  HandProgram p;
  p.argument("a", 10);
  const ListMemory memory = p.memory();
  CHECK(memory.peak == Bytes(10));
  CHECK(!memory.peak_at);
  CHECK(memory.arguments == Bytes(10));
  CHECK(memory.arena == Bytes(10));
}

TEST_CASE("memory: devices that have other arguments are of another kind") {
  HandProgram p(3);
  const ValueId a = p.argument("a", 100);
  p.argument("b", 10);
  p.argument("c", 1);
  p.argument("d", 1000);
  p.program.threads[0].devices = {LogicalId(0), LogicalId(1)};
  p.program.arguments[1].on = {LogicalId(0), LogicalId(1)};
  p.program.arguments[2].on = {LogicalId(1), LogicalId(2)};
  p.program.arguments[3].on = {LogicalId(2)};
  p.op(OpKind::Slice, "x", {a}, 20);
  p.thread({LogicalId(2)});
  p.op(OpKind::Full, "y", {}, 5);
  const MemoryProfile profile = p.profile();
  CHECK(profile.of(LogicalId(0)).peak == Bytes(130));
  CHECK(profile.of(LogicalId(1)).peak == Bytes(131));  // and c, which device 0 does not have
  CHECK(profile.of(LogicalId(1)).arena == Bytes(131));
  CHECK(profile.of(LogicalId(0), ThreadId(0)).live == std::vector<Bytes>{Bytes(130)});
  CHECK(profile.of(LogicalId(1), ThreadId(0)).live == std::vector<Bytes>{Bytes(131)});
  CHECK(profile.of(LogicalId(1)).live_at_peak.back() == Held{"c", Bytes(1), HeldAs::Argument});
  CHECK(profile.of(LogicalId(2)).peak == Bytes(100 + 1 + 1000 + 5));
  CHECK(profile.kinds.size() == 3);
  CHECK(profile.largest_peak() == Bytes(1106));
}

TEST_CASE("memory: a device of several lists adds their peaks, and counts shared arguments once") {
  HandProgram p(2);
  const ValueId a = p.argument("a", 100);
  const ValueId b = p.argument("b", 10);
  p.op(OpKind::Slice, "x", {a}, 20);
  p.op(OpKind::Slice, "y", {b}, 1);
  p.donate(b);
  p.thread({LogicalId(1)});
  p.op(OpKind::Full, "z", {}, 5);
  p.policy.reserved = Bytes(1000);
  const MemoryProfile profile = p.profile();
  CHECK(profile.of(LogicalId(1), ThreadId(0)).peak == Bytes(100 + 10 + 20));
  CHECK(profile.of(LogicalId(1), ThreadId(1)).peak == Bytes(5));
  CHECK(profile.of(LogicalId(0)).peak == Bytes(1130));
  // a counts once. b counts only in the list that donates it, since the other list does not read
  // it.
  const DeviceMemory& both = profile.of(LogicalId(1));
  CHECK(both.lists.size() == 2);
  CHECK(both.peak == Bytes(1000 + 100 + 10 + 20 + 5));
  CHECK(both.arena == Bytes(100 + 10 + 20 + 5));
  CHECK_FALSE(both.peak_at.has_value());
  CHECK(both.live_at_peak.size() == 4);
}

TEST_CASE("memory: an argument that one list donates and another one reads is held by both") {
  HandProgram p;
  const ValueId a = p.argument("a", 100);
  p.op(OpKind::Slice, "x", {a}, 20);
  p.donate(a);
  p.op(OpKind::Slice, "y", {p.program.ops[0].results[0]}, 30);
  p.thread({LogicalId(0)});
  p.op(OpKind::Slice, "z", {a}, 5);
  const MemoryProfile profile = p.profile();
  CHECK(profile.of(LogicalId(0), ThreadId(0)).live ==
        std::vector<Bytes>{Bytes(100 + 20), Bytes(20 + 30)});
  CHECK(profile.of(LogicalId(0), ThreadId(1)).live == std::vector<Bytes>{Bytes(100 + 5)});
  CHECK(profile.of(LogicalId(0)).peak == Bytes(120 + 105));
}

TEST_CASE("memory: a view in one list of an argument that another list holds takes no memory") {
  for (const bool is_output : {false, true}) {
    CAPTURE(is_output);
    HandProgram p;
    p.policy.reuse = MemoryPolicy::Reuse::Xla;
    const ValueId a = p.argument("a", 100);
    p.op(OpKind::Slice, "x", {a}, 20);
    p.thread({LogicalId(0)});
    const ValueId view = p.alias(OpKind::Reshape, "v", a);
    if (is_output)
      p.output(view);
    p.op(OpKind::Slice, "y", {view}, 5);
    const MemoryProfile profile = p.profile();
    CHECK(profile.of(LogicalId(0), ThreadId(0)).live == std::vector<Bytes>{Bytes(120)});
    CHECK(profile.of(LogicalId(0), ThreadId(1)).live == std::vector<Bytes>{Bytes(0), Bytes(5)});
  }
}

TEST_CASE("memory: a device that runs nothing holds the arguments that it alone has") {
  HandProgram p(2);
  p.argument("a", 100);
  p.argument("b", 10);
  p.program.arguments[1].on = {LogicalId(1)};
  p.program.threads[0].devices = {LogicalId(0)};
  p.op(OpKind::Full, "t", {}, 5);
  const MemoryProfile profile = p.profile();
  CHECK(profile.of(LogicalId(0)).peak == Bytes(105));
  const DeviceMemory& idle = profile.of(LogicalId(1));
  CHECK(idle.peak == Bytes(10));
  CHECK(idle.arena == Bytes(10));
  CHECK(idle.live_at_peak == std::vector<Held>{{"b", Bytes(10), HeldAs::Argument}});
  CHECK_FALSE(idle.peak_at.has_value());
}

TEST_CASE("memory: host buffers are not counted") {
  HandProgram p;
  p.argument("a", 10);
  p.program.buffers[0].space = MemorySpace::Host;
  p.op(OpKind::Full, "t", {}, 3);
  CHECK(p.live() == Live{3});
}

TEST_CASE("memory: the peak is at the first op that attains it") {
  HandProgram p;
  p.op(OpKind::Full, "t", {}, 5);
  p.op(OpKind::Full, "u", {}, 5);
  CHECK(p.peak_at() == "t");
}

TEST_CASE("memory: fragmentation can make the arena larger than the peak") {
  HandProgram p;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId u = p.op(OpKind::Slice, "u", {t}, 50);
  const ValueId v = p.op(OpKind::Concatenate, "v", {u, u}, 101);
  p.op(OpKind::Slice, "w", {u, v}, 10);
  // t is at 0 and u at 100. Then t is freed, but v does not fit below u, so v is at 150, up to 251,
  // and w at 0.
  // live: 100 | 150 | 151 | 161
  CHECK(p.live() == Live{100, 150, 151, 161});
  CHECK(p.memory().arena == Bytes(251));
}

TEST_CASE("memory: storage that was taken over is freed after its last user") {
  HandProgram p;
  p.policy.reuse = MemoryPolicy::Reuse::Xla;
  const ValueId t = p.op(OpKind::Full, "t", {}, 100);
  const ValueId u = p.op(OpKind::Add, "u", {t, t}, 100);
  p.op(OpKind::Full, "x", {}, 100);
  p.op(OpKind::Slice, "y", {u}, 1);
  // u takes t's place at 0, so x is at 100. x is freed before y takes its place.
  CHECK(p.memory().arena == Bytes(200));
}

}  // namespace

}  // namespace orrery::test
