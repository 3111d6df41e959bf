#pragma once

// Makes a small program over two devices, with the error bounds of its values.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/simulator/values/host_rig.h"
#include "verifier/definition/bounds.h"

namespace orrery::test {

inline constexpr double kU = 0x1p-24;  // unit roundoff of f32

/// A `Bounded` has two devices along x. of() returns the bounds of a value's elements on device 0.
struct Bounded {
  /// The values of "s" are 4, -2.
  Bounded() : Bounded({tensor(Dtype::F32, {2}, {1, 2}), tensor(Dtype::F32, {2}, {3, -4})}) {}
  /// "s" is the sum of "a" over the devices.
  explicit Bounded(std::vector<Tensor> a) : rig({{"x", 2}}) {
    rig.argument("a", std::move(a));
    rig.op("psum", "s", {"a"}, {{"axis_name", Names{"x"}}});
  }

  std::vector<double> of(const std::string& name, RoundedBy rounded_by = RoundedBy::Orrery) {
    const HostRun run = rig.run();
    return numbers(*error_bounds(rig.program, rig.lowered, run.values, rounded_by)
                        .at(rig.value(name), LogicalId(0)));
  }

  HostRig rig;
};

inline void check_close_to(const std::vector<double>& bounds, const std::vector<double>& expected) {
  REQUIRE(bounds.size() == expected.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    CHECK(bounds[i] >= expected[i]);                  // never too small,
    CHECK(bounds[i] <= expected[i] * (1 + 0x1p-18));  // and larger by its own roundings only
  }
}

/// Checks which elements have no bound (true in `expected`). The other elements must be exact.
inline void check_unknown(Bounded& bounded, const std::string& name,
                          const std::vector<bool>& expected) {
  CAPTURE(name);
  std::vector<bool> unknown;
  for (const double bound : bounded.of(name)) {
    CHECK((bound == 0 || std::isinf(bound)));
    unknown.push_back(bound != 0);
  }
  CHECK(unknown == expected);
}

}  // namespace orrery::test
