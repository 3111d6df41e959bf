// Tests that a program in two parts computes the values of the whole program.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/array/text.h"
#include "models/transform/gradients.h"
#include "tests/support/tries.h"
#include "tests/verifier/random_program.h"

namespace orrery {
namespace {

using test::ArgumentData;
using test::random_data;
using test::RandomProgram;
using test::run;

std::vector<std::string> names_of(const Program& program, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId value : values)
    names.push_back(program.value(value).name);
  return names;
}

std::set<std::string> op_names(const Program& program) {
  std::set<std::string> names;
  for (const Op& op : program.ops)
    names.insert(op.name);
  return names;
}

/// Runs `part`, whose arguments are among `known`, and adds the values of its outputs to `known`.
void run_part(const Program& part, ArgumentData& known) {
  ArgumentData data;
  for (const Argument& argument : part.arguments)
    data[part.value(argument.value).name] = known.at(part.value(argument.value).name);
  const std::vector<std::string> names = names_of(part, part.outputs);
  const auto values = run(part, data, names);
  for (size_t n = 0; n < names.size(); ++n)
    known[names[n]] = values[n];
}

TEST_CASE("cut: random programs, cut at random ops, compute what they compute whole") {
  for (uint64_t seed = 0; seed < test::tries(300); ++seed) {
    CAPTURE(seed);
    RandomProgram generated(seed, {.linear = seed % 2 == 0});
    Program program = generated.program();
    for (const std::string& name : generated.values())
      if (name != "x")
        program.outputs.push_back(values_by_name(program).at(name));
    Random random(seed + 1'000'000);
    std::set<OpId> first;
    for (size_t i = 0; i < program.ops.size(); ++i)
      if (random.below(4) == 0)
        first.emplace(i);
    const ProgramParts parts = cut(program, Checks::Shapes, first);
    CHECK(parts.first.ops.size() + parts.second.ops.size() == program.ops.size());

    const std::vector<Tensor> x = random_data(program, "x", random);
    const std::vector<std::string> names = names_of(program, program.outputs);
    const auto whole = run(program, x, names);
    ArgumentData known = {{"x", x}};
    run_part(parts.first, known);
    run_part(parts.second, known);
    for (size_t n = 0; n < names.size(); ++n)
      for (size_t d = 0; d < whole[n].size(); ++d)
        CHECK(same_bits(known.at(names[n])[d], whole[n][d]));
  }
}

/// Returns a program on {x: 2}: h = sin(a w), r = psum(h).
Program small_layer() {
  Diagnostics diagnostics("f");
  ProgramBuilder builder(Mesh({{"x", 2}}), Checks::States, diagnostics);
  builder.argument("a", Dtype::F32, {2}, {"x"});
  builder.argument("w", Dtype::F32, {2}, {"x"});
  builder.thread("all", {LogicalId(0), LogicalId(1)});
  const auto add = [&](std::string name, OpKind kind, std::vector<std::string> operands,
                       Attributes attributes = {}) {
    OpRequest request;
    request.name = std::move(name);
    request.kind = kind;
    request.operands = std::move(operands);
    request.attributes = std::move(attributes);
    builder.op(std::move(request));
  };
  add("p", OpKind::Mul, {"a", "w"});
  add("h", OpKind::Sin, {"p"});
  Attributes over_x;
  over_x.set("axis_name", std::vector<std::string>{"x"});
  add("r", OpKind::Psum, {"h"}, over_x);
  Program program = builder.finish();
  diagnostics.throw_if_any();
  return program;
}

VjpRequest of_layer(bool overlap) {
  VjpRequest request;
  request.of = {{"r", Origin{}}};
  request.with_respect_to = {{"a", Origin{}}, {"w", Origin{}}};
  request.overlap = overlap;
  return request;
}

TEST_CASE("vjp_parts: the forward program gives its results and what the backward one reads") {
  Diagnostics diagnostics("f");
  const auto parts = vjp_parts(small_layer(), Checks::States, of_layer(false), diagnostics);
  REQUIRE(parts);
  CHECK(op_names(parts->first) == std::set<std::string>{"p", "h", "r"});
  CHECK(names_of(parts->first, parts->first.outputs) == std::vector<std::string>{"r", "p"});
  std::vector<std::string> arguments;
  for (const Argument& argument : parts->second.arguments)
    arguments.push_back(parts->second.value(argument.value).name);
  CHECK(arguments == std::vector<std::string>{"a", "w", "ct_r", "p"});
  CHECK(parts->second.outputs == std::vector<ValueId>{values_by_name(parts->second).at("ct_a"),
                                                      values_by_name(parts->second).at("ct_w")});
}

TEST_CASE("vjp_parts: together they compute what vjp computes") {
  Diagnostics diagnostics("f");
  const Program layer = small_layer();
  for (const bool overlap : {false, true}) {
    const Program whole = vjp(layer, Checks::States, of_layer(overlap), diagnostics);
    const auto parts = vjp_parts(layer, Checks::States, of_layer(overlap), diagnostics);
    REQUIRE(parts);
    ArgumentData known;
    for (const std::string name : {"a", "w", "ct_r"})
      known[name] = std::vector<Tensor>(2, full(Dtype::F32, {2}, 0.5));
    const auto wanted = run(whole, known, {"r", "ct_a", "ct_w"});
    const auto gotten = run(parts->first, {{"a", known["a"]}, {"w", known["w"]}}, {"r", "p"});
    CHECK(same_bits(gotten[0][0], wanted[0][0]));
    known["p"] = gotten[1];
    const auto back = run(parts->second, known, {"ct_a", "ct_w"});
    for (size_t n = 0; n < 2; ++n)
      for (size_t d = 0; d < 2; ++d)
        CHECK(same_bits(back[n][d], wanted[n + 1][d]));
  }
}

TEST_CASE("backward_parts: first what the cotangents of inputs need, then those of weights") {
  Diagnostics diagnostics("f");
  const auto parts = vjp_parts(small_layer(), Checks::States, of_layer(false), diagnostics);
  REQUIRE(parts);
  const ProgramParts backward = backward_parts(parts->second, Checks::States, {"ct_a"});
  // r goes back as a pvary, h as cos(p) and a product, and p as a product for each operand.
  CHECK(op_names(backward.first) == std::set<std::string>{"r.bwd", "h.bwd", "h.bwd.1", "p.bwd"});
  CHECK(op_names(backward.second) == std::set<std::string>{"p.bwd.1"});
  CHECK(names_of(backward.second, backward.second.outputs) == std::vector<std::string>{"p.bwd.1"});
}

}  // namespace
}  // namespace orrery
