// Programs on the mock driver, in random orders of what is ready.

#include "simulator/values/cuda/executor.h"

#include <doctest/doctest.h>

#include "models/base/random.h"
#include "tests/models/array/random_tensors.h"
#include "tests/simulator/values/cuda/mock_rig.h"
#include "tests/simulator/values/host_rig.h"

namespace orrery::test {

namespace {

std::vector<Tensor> random_operands(Random& random, Dtype dtype, const Shape& shape, size_t count) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < count; ++i)
    tensors.push_back(random_normalish(dtype, shape, random));
  return tensors;
}

std::string wrong(HostRig& rig, uint64_t orders) {
  rig.lower();
  return wrong_on_mock({rig.program, rig.lowered, rig.arguments}, orders);
}

TEST_CASE("GPUs: an all-reduce over a ring has the host's sums, in any order") {
  Random random(1);
  HostRig rig({{"x", 5}});
  rig.argument("a", random_operands(random, Dtype::F32, Shape{13}, 5));
  rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}, {"algorithm", std::string("ring")}});
  CHECK(wrong(rig, 20) == "");
}

}  // namespace

}  // namespace orrery::test
