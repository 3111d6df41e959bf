// Tests error bounds by Numerics::XlaCpu, where values are near those that are flushed.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/array/kernels.h"
#include "models/base/random.h"
#include "tests/simulator/values/host_rig.h"
#include "tests/support/tries.h"
#include "verifier/definition/bounds.h"

namespace orrery::test {
namespace {

constexpr uint32_t kRanks = 3;
const std::vector<std::string> kValues = {"total",   "mean", "least", "sum", "apart",
                                          "product", "row",  "moved", "rows"};

/// Adds ops, some of which flush, of arguments "a" and "b".
void add_ops(HostRig& rig) {
  const std::vector<std::pair<std::string, Attribute>> over_all = {{"axis_name", Names{"x"}}};
  rig.op("psum", "total", {"a"}, over_all);
  rig.op("pmean", "mean", {"a"}, over_all);
  rig.op("pmin", "least", {"a"}, over_all);
  rig.op("add", "sum", {"total", "b"});
  rig.op("sub", "apart", {"a", "b"});
  rig.op("mul", "product", {"a", "b"});
  rig.op("reduce_sum", "row", {"a"}, {{"axes", Integers{0}}});
  rig.op("neg", "moved", {"a"});
  rig.op("full", "first", {}, {{"shape", Integers{8}}, {"fill_value", 0.0}, {"dtype", Dtype::S32}});
  rig.op("scatter_add", "rows", {"a", "b", "first"}, {{"axis", int64_t{0}}});
}

/// Returns a number of any kind near the smallest normal number of f32, or rarely one far from it.
double near_smallest(Random& random) {
  const double sign = random.below(2) == 0 ? -1 : 1;
  const auto digits = static_cast<double>(random.between(1, 1 << 20));
  switch (random.below(6)) {
    case 0:
      return 0;
    case 1:
      return sign * digits;
    default:
      return sign * digits * std::ldexp(1.0, -static_cast<int>(random.between(136, 149)));
  }
}

TEST_CASE("bounds: by xla-cpu no value is further from the exact one, also where it is flushed") {
  Random random(7);
  size_t flushed = 0;
  for (uint64_t round = 0; round < tries(50); ++round) {
    HostRig rig({{"x", kRanks}});
    HostRig exact({{"x", kRanks}});
    for (const char* const name : {"a", "b"}) {
      std::vector<Tensor> narrow;
      std::vector<Tensor> wide;
      for (uint32_t r = 0; r < kRanks; ++r) {
        Numbers data;
        for (int i = 0; i < 8; ++i)
          data.push_back(near_smallest(random));
        narrow.push_back(tensor(Dtype::F32, {8}, data));
        wide.push_back(convert(narrow.back(), Dtype::F64));
      }
      rig.argument(name, narrow);
      exact.argument(name, wide);
    }
    add_ops(rig);
    add_ops(exact);
    rig.lower();
    rig.program.numerics = Numerics::XlaCpu;
    const HostRun run = rig.run();
    const HostRun by_doubles = exact.run();
    const DeviceValues bounds = error_bounds(rig.program, rig.lowered, run.values);
    for (const std::string& name : kValues)
      for (uint32_t d = 0; d < kRanks; ++d) {
        CAPTURE(name);
        const Numbers got = numbers(*run.values.at(rig.value(name), LogicalId(d)));
        const Numbers want = numbers(*by_doubles.values.at(exact.value(name), LogicalId(d)));
        const Numbers bound = numbers(*bounds.at(rig.value(name), LogicalId(d)));
        for (size_t i = 0; i < got.size(); ++i) {
          CHECK(std::fabs(got[i] - want[i]) <= bound[i]);
          flushed += got[i] == 0 && want[i] != 0 ? 1 : 0;
        }
      }
  }
  CHECK(flushed > tries(1000));  // bounds of roundings alone would not do
}

}  // namespace
}  // namespace orrery::test
