// Tests the programs that ProgramBuilder makes, and the messages of its errors.

#include "models/program/builder.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/program/op_rules.h"
#include "tests/models/program/build.h"
#include "tests/models/program/looping.h"

namespace orrery {
namespace {

using test::Building;
using test::devices;
using test::donating;
using test::Integers;
using test::kX;
using test::Looping;
using test::Names;
using test::op;
using test::Spmd;

using Errors = test::Lines;

const Value& value_of(const Program& program, std::string_view name) {
  for (const Value& value : program.values)
    if (value.name == name)
      return value;
  FAIL("no such value");
  return program.values.front();
}

TEST_CASE("builder: ops stand in issue order, with their values and types") {
  Spmd building;
  building.add(op("s", "psum", {"a"}, {{"axis_name", kX}}))
      .add(op("t", "add", {"s", "s"}))
      .output("t");
  const Program program = building.finish();
  CHECK(program.threads.size() == 1);
  CHECK(program.threads[0].issue_order == std::vector<OpId>{OpId(0), OpId(1)});
  CHECK(text(value_of(program, "a").type, program.mesh) == "f32[4]{V:x}");
  CHECK(text(value_of(program, "t").type, program.mesh) == "f32[4]");
  CHECK(program.arguments.size() == 1);
  CHECK(program.value(program.outputs.at(0)).name == "t");
}

TEST_CASE("builder: parameters that are not given are filled in") {
  Spmd building;
  building.add(op("g", "all_gather", {"a"}, {{"axis_name", kX}}));
  const Op made = building.finish().ops[0];
  const Attributes& attributes = made.attributes;
  CHECK(attributes.integer("axis") == 0);
  CHECK_FALSE(attributes.boolean("tiled"));
  CHECK(made.hints == Hints());
  CHECK_FALSE(attributes.has("stream"));
}

TEST_CASE(
    "builder: how a collective is to be carried out becomes its hints, and is written again") {
  const Hints all = {"ring", "simple", 2, 4, Entry::Rendezvous, 3};
  Spmd building;
  building.add(op("g", "psum", {"a"},
                  {{"axis_name", kX},
                   {"algorithm", std::string("ring")},
                   {"protocol", std::string("simple")},
                   {"channels", int64_t{2}},
                   {"slots", int64_t{4}},
                   {"entry", std::string("rendezvous")},
                   {"stream", int64_t{3}}}));
  const Op made = building.finish().ops[0];
  CHECK(made.hints == all);
  CHECK(made.attributes.all().size() == 1);
  Attributes again = written_attributes(made);
  CHECK(again.all().size() == 7);
  CHECK(take_hints(again) == all);
}

TEST_CASE("builder: a backward op has the op that it goes back through") {
  Spmd building;
  OpRequest back = op("n.bwd", "neg", {"n"});
  back.pass = Pass::Backward;
  back.forward = "n";
  OpRequest of_argument = op("a.bwd", "neg", {"n"});
  of_argument.pass = Pass::Backward;
  of_argument.forward = "a";
  building.add(op("n", "neg", {"a"})).add(back).add(of_argument);
  const Program program = building.finish();
  CHECK(program.ops[1].forward == OpId(0));
  CHECK_FALSE(program.ops[0].forward);
  CHECK_FALSE(program.ops[2].forward);
}

TEST_CASE("builder: a start gives a future, and done the value in the future's storage") {
  Spmd building;
  building.add(op("s", "all_gather_start", {"a"}, {{"axis_name", kX}})).add(op("d", "done", {"s"}));
  const Program program = building.finish();
  const Value& future = value_of(program, "s");
  const Value& value = value_of(program, "d");
  CHECK(text(future.type, program.mesh) == "future f32[4,4]{V:x}");
  CHECK(text(value.type, program.mesh) == "f32[4,4]{V:x}");
  CHECK(future.buffer == value.buffer);
  CHECK(program.buffer(future.buffer).size == Bytes(4 * 4 * 4));
}

TEST_CASE("builder: reshape shares its operand's storage, other results have their own") {
  Spmd building;
  building.add(op("r", "reshape", {"a"}, {{"new_sizes", Integers{2, 2}}}))
      .add(op("t", "transpose", {"r"}, {{"permutation", Integers{1, 0}}}));
  const Program program = building.finish();
  CHECK(value_of(program, "r").buffer == value_of(program, "a").buffer);
  CHECK(value_of(program, "t").buffer != value_of(program, "a").buffer);
}

/// Returns a split of `a`, f32[4], into equal parts.
OpRequest split(std::vector<std::string> ids, size_t parts) {
  OpRequest request = op(ids.front(), "split", {"a"},
                         {{"sizes", Integers(parts, static_cast<int64_t>(4 / parts))}});
  request.other_results.assign(ids.begin() + 1, ids.end());
  return request;
}

TEST_CASE("builder: each of several results has its id, and its own storage where it is fresh") {
  Spmd building;
  building.add(split({"p", "q"}, 2)).add(op("s", "add", {"q", "q"}));
  const Program program = building.finish();
  const Op& made = program.ops[0];
  CHECK(made.name == "p");
  REQUIRE(made.results.size() == 2);
  CHECK(program.value(made.results[0]).name == "p");
  CHECK(program.value(made.results[1]).name == "q");
  CHECK(program.ops[1].operands == std::vector<ValueId>(2, made.results[1]));
  CHECK(value_of(program, "p").buffer != value_of(program, "q").buffer);
  CHECK(program.buffer(value_of(program, "q").buffer).size == Bytes(2 * 4));
}

TEST_CASE("builder: a result may lie in any operand's storage") {
  Spmd building;
  OpRequest barrier = op("p", "optimization_barrier", {"a", "n"});
  barrier.other_results = {"q"};
  building.add(op("n", "neg", {"a"})).add(barrier);
  const Program program = building.finish();
  CHECK(value_of(program, "p").buffer == value_of(program, "a").buffer);
  CHECK(value_of(program, "q").buffer == value_of(program, "n").buffer);
  CHECK(program.buffers.size() == 2);
}

TEST_CASE("builder: what a result is written over is donated") {
  const auto update = [](std::vector<std::string> donated) {
    OpRequest request = op("u", "compute", {"a", "n"},
                           {{"flops", Flops(1)},
                            {"bytes", Bytes(1)},
                            {"dtype", Dtype::F32},
                            {"shape", Integers{4}},
                            {"in_place_of", int64_t{1}}});
    return donating(request, std::move(donated));
  };
  Spmd building;
  building.add(op("n", "neg", {"a"})).add(update({"n"}));
  const Program program = building.finish();
  CHECK(value_of(program, "u").buffer == value_of(program, "n").buffer);
  Spmd wrong;
  wrong.add(op("n", "neg", {"a"})).add(update({"a"}));
  CHECK(wrong.errors() == Errors{"/u/donate: compute \"u\": expected \"n\", over which a result is "
                                 "written, to be donated"});
}

TEST_CASE("builder: as many ids as results") {
  const auto errors = [](OpRequest request) {
    Spmd building;
    building.add(std::move(request));
    return building.errors();
  };
  CHECK(errors(split({"p"}, 1)) == Errors{});
  CHECK(errors(split({"p"}, 2)) ==
        Errors{"/p/id: split \"p\": expected 2 ids, got 1: it has 2 results"});
  CHECK(errors(split({"p", "q"}, 1)) ==
        Errors{"/p/id: split \"p\": expected 1 id, got 2: it has 1 result"});
  OpRequest sum = op("s", "psum", {"a"}, {{"axis_name", kX}});
  sum.other_results = {"t"};
  CHECK(errors(sum) == Errors{"/s/id: psum \"s\": expected 1 id, got 2: it has 1 result"});
  OpRequest nothing =
      op("c", "compute", {}, {{"flops", Flops(1)}, {"bytes", Bytes(1)}, {"dtype", Dtype::F32}});
  nothing.other_results = {"d"};
  CHECK(errors(nothing) == Errors{"/c/id: compute \"c\": expected 1 id, got 2: it has no results"});
}

TEST_CASE("builder: ids of several results are used once, also within the op") {
  Spmd building;
  building.add(split({"p", "p"}, 2)).add(split({"q", "a"}, 2));
  CHECK(building.errors() == Errors{"/p/id: expected an unused id, got \"p\", which is taken",
                                    "/q/id: expected an unused id, got \"a\", which is taken"});
}

TEST_CASE("builder: none of an invalid op's results is reported again") {
  Spmd building;
  building.add(split({"p", "q", "r"}, 2))
      .add(op("s", "add", {"p", "p"}))
      .add(op("t", "add", {"r", "q"}));
  CHECK(building.errors() == Errors{"/p/id: split \"p\": expected 2 ids, got 3: it has 2 results"});
}

TEST_CASE("locations: a part of an operand begins at its offset in the operand's own") {
  Program program;
  program.buffers.push_back({Bytes(100), MemorySpace::Device});
  const ValueType bytes{Dtype::U8, Shape{40}, {}, false};
  program.values = {{"x", bytes, BufferId(0), Bytes(0)}, {"y", bytes, BufferId(0), Bytes(60)}};
  const std::vector<ValueId> operands = {ValueId(0), ValueId(1)};
  const Location part = locate_result(program, {Alias::Operand, 1, Bytes(30)}, Bytes(10), operands);
  CHECK(part.buffer == BufferId(0));
  CHECK(part.offset == Bytes(90));
  CHECK(program.buffers.size() == 1);
  const Location fresh = locate_result(program, {Alias::DyingOperand}, Bytes(7), operands);
  CHECK(fresh.buffer == BufferId(1));
  CHECK(fresh.offset == Bytes());
  CHECK(program.buffer(fresh.buffer).size == Bytes(7));
}

TEST_CASE("builder: without state checks, unreduced and mixed states count as varying") {
  Building building(Mesh({{"x", 2}, {"y", 2}}), Checks::Shapes);
  building.thread("main", devices(0, 4))
      .add(op("s", "psum", {"a"}, {{"axis_name", Names{"x", "y"}}}));
  CHECK(building.errors() == Errors{});
}

TEST_CASE("builder: without state checks, what is the same on all devices stays so") {
  Building building(Mesh({{"x", 4}}), Checks::Shapes);
  building.thread("main", devices(0, 4))
      .add(op("s", "psum", {"a"}, {{"axis_name", kX}}))
      .add(op("t", "neg", {"s"}));
  const Program program = building.finish();
  CHECK(text(value_of(program, "t").type, program.mesh) == "f32[4]");
}

TEST_CASE("builder: without state checks, what an outer loop carries varies in inner ones too") {
  Looping l(Checks::Shapes);
  l.with(op("c", "psum", {"a"}, {{"axis_name", kX}})).begin("l", 0, 3, {{"h", "c"}});
  l.begin("l[].m", 0, 3, {{"g", "l[].h"}}).with(op("l[].m[].u", "neg", {"l[].m[].g"}));
  l.end({{"g", "l[].m[].u"}}).with(op("l[].y", "add", {"l[].h", "a"})).end({{"h", "l[].y"}});
  const Program program = l.finish();
  for (const char* name : {"l[].h", "l[].m[].g", "l[].m[].u", "l[].m.g", "l.h"}) {
    CAPTURE(name);
    CHECK(text(value_of(program, name).type, program.mesh) == "f32[4]{V:x}");
  }
}

TEST_CASE("builder: after a loop without iterations, devices have what it carries at first") {
  Looping l;
  l.builder.argument("w", Dtype::F32, {4}, {"x"}, std::nullopt, devices(0, 2));
  l.begin("l", 3, 3, {{"h", "a"}}).end({{"h", "w"}}).with(op("z", "neg", {"l.h"}));
  CHECK(l.errors() == Errors{});
}

TEST_CASE("builder: a result has at most 64 dimensions") {
  Spmd building;
  const Integers most(64, 1);
  const Integers more(65, 1);
  building.add(op("r", "full", {}, {{"shape", most}, {"fill_value", 0.0}, {"dtype", Dtype::F32}}))
      .add(op("q", "full", {}, {{"shape", more}, {"fill_value", 0.0}, {"dtype", Dtype::F32}}));
  CHECK(building.errors() ==
        Errors{"/q: full \"q\": expected a result of at most 64 dimensions, got 65"});
}

TEST_CASE("builder: an op with an unknown parameter is judged no further") {
  Spmd building;
  building.builder.argument("b", Dtype::F32, {2}, {"x"});  // no shape for an add with a
  building.add(op("s", "add", {"a", "b"}, {{"colour", int64_t{1}}}));
  CHECK(building.errors() ==
        Errors{"/s/colour: add \"s\": expected no parameters, got \"colour\""});
}

TEST_CASE("builder: an id is used once") {
  Spmd building;
  building.add(op("a", "add", {"a", "a"}));
  CHECK(building.errors() == Errors{"/a/id: expected an unused id, got \"a\", which is taken"});
}

TEST_CASE("builder: the message for a taken id names its first use") {
  Diagnostics diagnostics("test.json");
  ProgramBuilder builder(Mesh(), Checks::States, diagnostics);
  builder.argument("a", Dtype::F32, {2}, {}, Origin{"/arrays/a", TextPosition{3, 5}});
  builder.thread("main", devices(0, 1));
  OpRequest request = op("a", "add", {"a", "a"});
  request.origin = Origin{"/program/0", TextPosition{7, 5}};
  request.key_origins.emplace("id", Origin{"/program/0/id", TextPosition{7, 12}});
  builder.op(request);
  builder.finish();
  CHECK_THROWS_WITH(diagnostics.throw_if_any(),
                    "test.json:7:12: /program/0/id: expected an unused id, got \"a\", which "
                    "/arrays/a (line 3) already names");
}

TEST_CASE("builder: an operand must be defined, and earlier") {
  Spmd building;
  building.add(op("p", "add", {"a", "aa"}))
      .add(op("q", "add", {"r", "r"}))
      .add(op("r", "add", {"r", "a"}))
      .output("zz");
  CHECK(building.errors() ==
        Errors{"/p/of: expected the id of an array or of an earlier op, got \"aa\"",
               "/q/of: expected the id of an array or of an earlier op, got \"r\", which is "
               "defined later",  // reported once, though named twice
               "/r/of: expected the id of an array or of an earlier op, got \"r\", which is "
               "defined later",
               "/zz: expected the id of an array or of an earlier op, got \"zz\""});
}

TEST_CASE("builder: a misspelt operand is answered with the nearest name") {
  Building building;
  building.builder.argument("weights", Dtype::F32, {4}, {"x"});
  building.thread("main", devices(0, 4)).add(op("p", "add", {"a", "wieghts"}));
  CHECK(building.errors() ==
        Errors{"/p/of: expected the id of an array or of an earlier op, got \"wieghts\"; did you "
               "mean \"weights\"?"});
}

TEST_CASE("builder: what follows from an error is not reported again") {
  Spmd building;
  building.add(op("p", "add", {"a"})).add(op("q", "add", {"p", "a"})).output("q");
  CHECK(building.errors() == Errors{"/p/of: add \"p\": expected 2 operands, got 1"});
}

TEST_CASE("builder: operands are counted") {
  Spmd building;
  building.add(op("p", "concatenate", {}, {{"dimension", 0}}))
      .add(op("q", "axis_index", {"a"}, {{"axis_name", kX}}))
      .add(op("r", "psum", {"a", "a"}, {{"axis_name", kX}}));
  CHECK(building.errors() == Errors{"/p/of: concatenate \"p\": expected at least 1 operand, got 0",
                                    "/q/of: axis_index \"q\": expected no operands, got 1",
                                    "/r/of: psum \"r\": expected 1 operand, got 2"});
}

TEST_CASE("builder: a future is for done only") {
  Spmd building;
  building.add(op("s", "psum_start", {"a"}, {{"axis_name", kX}}))
      .add(op("p", "add", {"s", "a"}))
      .add(op("q", "done", {"a"}))
      .output("s");
  CHECK(building.errors() ==
        Errors{"/p/of: add \"p\": expected a value, got \"s\", a future that only done may read",
               "/q/of: done \"q\": expected a future, the result of a start, got f32[4]{V:x}",
               "/s: expected a value, got \"s\", a future that only done may read"});
}

TEST_CASE("builder: a future that is done twice, or never, is left to the verifier") {
  Spmd building;
  building.add(op("s", "psum_start", {"a"}, {{"axis_name", kX}}))
      .add(op("p", "done", {"s"}))
      .add(op("q", "done", {"s"}))
      .add(op("t", "psum_start", {"a"}, {{"axis_name", kX}}));
  CHECK(building.errors() == Errors{});
}

TEST_CASE("builder: an op without a result cannot be read") {
  Spmd building;
  building
      .add(
          op("c", "compute", {}, {{"flops", Flops(1)}, {"bytes", Bytes(1)}, {"dtype", Dtype::F32}}))
      .add(op("p", "add", {"a", "c"}));
  CHECK(building.errors() ==
        Errors{"/p/of: expected the id of a value, got \"c\", an op without a result"});
}

TEST_CASE("builder: only collectives are started, and only they meet") {
  Spmd building;
  OpRequest started = op("p", "add", {"a", "a"});
  started.issue = Issue::Start;
  building.add(started).add(test::at_site(op("q", "add", {"a", "a"}), "here"));
  CHECK(building.errors() == Errors{"/p/op: add_start \"p\": expected a collective to start",
                                    "/q/site: add \"q\": expected no site: only collectives meet"});
}

TEST_CASE("builder: parameters must be there, known, and of their kind") {
  Spmd building;
  building.add(op("p", "psum", {"a"}))
      .add(op("q", "add", {"a", "a"}, {{"axis", 0}}))
      .add(op("r", "reshape", {"a"}, {{"new_size", Integers{4}}, {"new_sizes", Integers{4}}}))
      .add(op("s", "all_gather", {"a"}, {{"axis_name", kX}, {"axis", true}}));
  CHECK(
      building.errors() ==
      Errors{"/p: psum \"p\": expected the parameter \"axis_name\", an axis name or a list of them",
             "/q/axis: add \"q\": expected no parameters, got \"axis\"",
             "/r/new_size: reshape \"r\": expected one of its parameters (new_sizes), got "
             "\"new_size\"; did you mean \"new_sizes\"?",
             "/s/axis: all_gather \"s\": expected an integer"});
}

TEST_CASE("builder: parameters stay within their limits") {
  Spmd building;
  building.add(op("p", "psum", {"a"}, {{"axis_name", kX}, {"slots", 0}}))
      .add(op("q", "psum", {"a"}, {{"axis_name", kX}, {"channels", 1025}}))
      .add(op("r", "psum", {"a"}, {{"axis_name", kX}, {"entry", std::string("eagre")}}))
      .add(op("s", "reshape", {"a"}, {{"new_sizes", Integers{-4}}}));
  CHECK(
      building.errors() ==
      Errors{"/p/slots: psum \"p\": expected at least 1, got 0",
             "/q/channels: psum \"q\": expected at most 1024, got 1025",
             "/r/entry: psum \"r\": expected one of eager, rendezvous, got \"eagre\"; did you mean "
             "\"eager\"?",
             "/s/new_sizes: reshape \"s\": expected at least 0, got -4"});
}

TEST_CASE("builder: axes are those of the mesh, each at most once") {
  Building building(Mesh({{"stage", 2}, {"x", 2}}));
  building.thread("main", devices(0, 4))
      .add(op("p", "psum", {"a"}, {{"axis_name", Names{"stgae"}}}))
      .add(op("q", "axis_index", {}, {{"axis_name", Names{"z"}}}))
      .add(op("r", "psum", {"a"}, {{"axis_name", Names{"x", "stage", "x"}}}));
  CHECK(building.errors() ==
        Errors{"/p/axis_name: psum \"p\": expected an axis of the mesh (stage, x), got \"stgae\"; "
               "did you "
               "mean \"stage\"?",
               "/q/axis_name: axis_index \"q\": expected an axis of the mesh (stage, x), got \"z\"",
               "/r/axis_name: psum \"r\": expected each axis once, got \"x\" twice"});
}

TEST_CASE("builder: type errors are reported at their parameter") {
  Spmd building;
  building.add(op("p", "psum_scatter", {"a"}, {{"axis_name", kX}, {"scatter_dimension", 3}}));
  CHECK(
      building.errors() ==
      Errors{"/p/scatter_dimension: psum_scatter \"p\": expected a dimension from 0 to 0, got 3"});
}

TEST_CASE("builder: sizes that leave 64 bits are refused") {
  Building building;
  building.builder.argument("b", Dtype::F32, {int64_t{1} << 31, int64_t{1} << 31}, {});
  building.builder.argument("c", Dtype::F32, {int64_t{1} << 60}, {"x"});
  building.thread("main", devices(0, 4))
      .add(op("g", "all_gather", {"c"}, {{"axis_name", kX}}))
      .add(op("h", "add", {"b", "b"}));
  // "b" has 2^62 elements of 4 bytes, and "g" again 2^62 elements. "h" has no further error for b.
  CHECK(building.errors() ==
        Errors{"/b: expected an array of fewer than 2^63 bytes, got f32[2147483648,2147483648]",
               "/g: all_gather \"g\": expected fewer than 2^63 bytes and operations, got more for "
               "operands (f32[1152921504606846976]{V:x})"});
}

TEST_CASE("builder: only operands are donated") {
  Spmd building;
  building.add(op("p", "add", {"a", "a"}))
      .add(donating(op("q", "add", {"a", "p"}), {"p"}))
      .add(donating(op("r", "add", {"a", "a"}), {"p"}));
  CHECK(building.errors() ==
        Errors{"/r/donate: add \"r\": expected one of its operands (a, a), got \"p\""});
  CHECK(building.program.ops[1].donated ==
        std::vector<ValueId>{building.program.ops[0].results[0]});
}

TEST_CASE("builder: an argument's axes are the mesh's") {
  Building building;
  building.builder.argument("b", Dtype::F32, {4}, {"z"});
  CHECK(building.errors() == Errors{"/b: expected an axis of the mesh (x), got \"z\""});
}

TEST_CASE("threads: each has a device") {
  Building building;
  building.thread("none", {});
  CHECK(building.errors() == Errors{"/none: expected a device for program \"none\", got none"});
}

TEST_CASE("threads: an op reads values of its own thread only") {
  Building building;
  building.thread("front", devices(0, 2))
      .add(op("p", "add", {"a", "a"}))
      .thread("back", devices(2, 4))
      .add(op("q", "add", {"a", "p"}));
  CHECK(building.errors() ==
        Errors{"/q/of: expected the id of an array or of an earlier op of the same program, got "
               "\"p\", which is of program \"front\""});
}

TEST_CASE("threads: an op reads only arguments that all devices of its thread have") {
  Building building;
  building.builder.argument("b", Dtype::F32, {4}, {}, std::nullopt, devices(1, 3));
  building.thread("inner", devices(1, 3))
      .add(op("p", "add", {"b", "b"}))
      .thread("last", devices(3, 4))
      .add(op("q", "add", {"a", "b"}))
      .add(op("r", "reshape", {"b"}, {{"new_sizes", Integers{2, 2}}}))
      .thread("first", devices(0, 1))
      .add(op("s", "neg", {"b"}));
  CHECK(
      building.errors() ==
      Errors{
          "/q/of: add \"q\": expected an array that every device of program \"last\" has, got "
          "\"b\", "
          "which device 3 lacks",
          "/r/of: reshape \"r\": expected an array that every device of program \"last\" has, got "
          "\"b\", which device 3 lacks",
          "/s/of: neg \"s\": expected an array that every device of program \"first\" has, got "
          "\"b\", "
          "which device 0 lacks"});
}

TEST_CASE("threads: each device knows its threads: one, several or none") {
  Building building;
  building.thread("front", devices(0, 1))
      .thread("back", devices(2, 4))
      .thread("more", devices(3, 4));
  const auto threads = threads_by_device(building.finish());
  CHECK(threads == std::vector<std::vector<ThreadId>>{
                       {ThreadId(0)}, {}, {ThreadId(1)}, {ThreadId(1), ThreadId(2)}});
}

}  // namespace
}  // namespace orrery
