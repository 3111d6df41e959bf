// Tests the adjoint identity of transposes. With y = A x and any cotangent c of y, the sum over the
// devices of <c, A x> equals that of <A^T c, x>. Integers wrap, so the identity is exact. With
// checked types, copies of an invarying value count once. An unreduced value is the sum of its
// copies, and its cotangent is reduced, the same on all of them. So the sum of the products over
// the devices is the product of the value.

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "models/program/rules.h"
#include "models/transform/backward_pass.h"
#include "models/transform/gradients.h"
#include "tests/support/tries.h"
#include "tests/verifier/random_program.h"
#include "tests/verifier/typed_program.h"

namespace orrery {
namespace {

using test::random_data;
using test::RandomProgram;
using test::run;

const uint64_t kAdjoints = test::tries(1000);

uint32_t product(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  uint32_t sum = 0;
  for (size_t d = 0; d < a.size(); ++d) {
    REQUIRE(a[d].shape() == b[d].shape());
    for (int64_t i = 0; i < a[d].elements(); ++i)
      sum += static_cast<uint32_t>(element_bits(a[d], i) * element_bits(b[d], i));
  }
  return sum;
}

TEST_CASE("transpose: of random linear programs, the adjoint identity holds exactly") {
  for (uint64_t seed = 0; seed < kAdjoints; ++seed) {
    CAPTURE(seed);
    RandomProgram linear(seed, {});
    const Program program = linear.program();
    const std::string y = linear.values().back();
    Diagnostics diagnostics("f");
    const Program back = transpose(program, Checks::Shapes,
                                   {Origin{}, {{y, Origin{}}}, {{"x", Origin{}}}}, diagnostics);
    diagnostics.throw_if_any();
    Random random(seed + 1'000'000);
    const std::vector<Tensor> x = random_data(program, "x", random);
    const std::vector<Tensor> c = random_data(back, "ct_" + y, random);
    CHECK(product(c, run(program, x, {y}).front()) == product(run(back, c, {"ct_x"}).front(), x));
  }
}

/// Returns the product over the devices that are first along each axis along which the type is
/// invarying.
uint32_t product_of_types(const Mesh& mesh, const ValueType& type, const std::vector<Tensor>& a,
                          const std::vector<Tensor>& b) {
  std::vector<size_t> once;
  for (size_t axis = 0; axis < type.axes.size(); ++axis)
    if (type.axes[axis] == AxisState::Invarying)
      once.push_back(axis);
  std::vector<Tensor> a_once;
  std::vector<Tensor> b_once;
  for (const LogicalId device : all_devices(mesh))
    if (mesh.with_index(device, once, 0) == device) {
      a_once.push_back(a[device.index()]);
      b_once.push_back(b[device.index()]);
    }
  return product(a_once, b_once);
}

TEST_CASE("transpose: of random linear programs of checked types, the adjoint identity holds too") {
  std::map<OpKind, uint64_t> counts;
  for (uint64_t seed = 0; seed < kAdjoints; ++seed) {
    CAPTURE(seed);
    test::TypedProgram linear(seed);
    const Program program = linear.program();
    for (const Op& op : program.ops)
      ++counts[op.kind];
    const std::string y = linear.values().back();
    Diagnostics diagnostics("f");
    const Program back = transpose(program, Checks::States,
                                   {Origin{}, {{y, Origin{}}}, {{"x", Origin{}}}}, diagnostics);
    diagnostics.throw_if_any();
    Random random(seed + 1'000'000);
    const std::vector<Tensor> x = test::random_copies(program, "x", random);
    const std::vector<Tensor> c = test::random_copies(back, "ct_" + y, random);
    const auto values = run(program, x, linear.values());
    const std::vector<Tensor> ct_x = run(back, c, {"ct_x"}).front();
    const auto type_of = [](const Program& of, const std::string& name) {
      return of.value(values_by_name(of).at(name)).type;
    };
    CHECK(product_of_types(program.mesh, type_of(program, y), c, values.back()) ==
          product_of_types(program.mesh, type_of(program, "x"), ct_x, x));
    CHECK(type_of(back, "ct_x").axes == cotangent_type(type_of(program, "x")).axes);
    // Copies must be equal where the types say so.
    const auto equal = [&](const ValueType& type, const std::vector<Tensor>& copies) {
      for (const LogicalId device : all_devices(program.mesh)) {
        const LogicalId first = program.mesh.with_index(device, test::equal_axes(type), 0);
        CHECK(copies[device.index()] == copies[first.index()]);
      }
    };
    for (size_t v = 0; v < values.size(); ++v)
      equal(type_of(program, linear.values()[v]), values[v]);
    equal(type_of(back, "ct_x"), ct_x);
  }
  using enum OpKind;
  for (const OpKind kind : {Psum,
                            UnreducedPsum,
                            PsumScatter,
                            UnreducedPsumScatter,
                            AllGather,
                            AllGatherInvariant,
                            AllGatherReduced,
                            AllToAll,
                            Ppermute,
                            Pshuffle,
                            Pbroadcast,
                            Pvary,
                            Preduced,
                            VaryUnreducedCast,
                            ReducedVaryCast,
                            Pcast,
                            Pad,
                            DynamicSlice,
                            DynamicUpdateSlice,
                            Take,
                            ScatterAdd,
                            Concatenate,
                            SelectN,
                            DotGeneral,
                            Mul}) {
    CAPTURE(rules(kind).name);
    CHECK((counts[kind] * 100 >= kAdjoints || kAdjoints < 1000));
  }
}

}  // namespace
}  // namespace orrery
