#pragma once

// Times one collective on a fabric, beside its bound.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/fabric/topology.h"
#include "models/program/builder.h"
#include "simulator/analyze/fabric_bounds.h"
#include "tests/support/units.h"

namespace orrery::test {

inline constexpr LinkFigures kFifty{BytesPerSecond(50 * kGBps), Duration()};

/// An op over the axis x of a mesh, whose last axis it is.
struct Call {
  std::string op;
  std::vector<std::pair<std::string, Attribute>> parameters = {};
  Shape operand;
  std::string algorithm = {};  // empty: the quickest
  Dtype dtype = Dtype::F32;
};

struct TimedCall {
  Duration takes;
  std::optional<FabricBound> bound;
  std::optional<BusiestLink> busiest;
};

/// Lowers the call on the fabric, and times it. The bound is that of the first group. The result is
/// empty if the algorithm does not fit.
std::optional<TimedCall> try_timed(const Fabric& fabric, const Call& call, std::vector<Axis> axes);

/// Does the same over all devices. Requires that the algorithm fits, and that there is a bound.
TimedCall timed(const Fabric& fabric, const Call& call);

/// Returns the busiest link of each call in a program of all of them, over all devices. Requires
/// that the algorithms fit.
std::vector<std::optional<BusiestLink>> busiest_links(const Fabric& fabric,
                                                      std::span<const Call> calls);

/// Returns how long so many bytes take on a link of 50 GB/s.
Duration at_50(int64_t bytes);

/// Returns a psum of so many bytes.
Call psum(int64_t bytes, std::string algorithm = {});

}  // namespace orrery::test
