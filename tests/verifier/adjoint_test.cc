// Transposes satisfy the adjoint identity: with y = A x and any cotangent c of y, the sum over the
// devices of <c, A x> is that of <A^T c, x>. Integers wrap, so it holds exactly.

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/text.h"
#include "models/transform/transpose.h"
#include "tests/verifier/random_program.h"

namespace orrery {
namespace {

using test::random_data;
using test::RandomProgram;
using test::run;

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
  const char* const all = std::getenv("ORRERY_ADJOINTS");
  const int programs = all != nullptr ? std::atoi(all) : 1000;
  for (int seed = 0; seed < programs; ++seed) {
    CAPTURE(seed);
    RandomProgram linear(static_cast<uint64_t>(seed), {});
    const Program program = linear.program();
    const std::string y = linear.values().back();
    Diagnostics diagnostics("f");
    const Program back = transpose(program, Checks::Shapes,
                                   {Origin{}, {{y, Origin{}}}, {{"x", Origin{}}}}, diagnostics);
    diagnostics.throw_if_any();
    Random random(static_cast<uint64_t>(seed) + 1'000'000);
    const std::vector<Tensor> x = random_data(program, "x", random);
    const std::vector<Tensor> c = random_data(back, "ct_" + y, random);
    CHECK(product(c, run(program, x, {y}).front()) == product(run(back, c, {"ct_x"}).front(), x));
  }
}

}  // namespace
}  // namespace orrery
