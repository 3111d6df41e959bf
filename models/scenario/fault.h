#pragma once

// Faults are the faulty hardware of a run: "faults" in a scenario. Only times depend on faults;
// values, messages and memory do not.

#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/mesh/mesh.h"
#include "models/scenario/document.h"
#include "models/scenario/json_text.h"

namespace orrery {

/// A `Factor` says how many times as much something is, in millionths.
using Factor = Quantity<struct MillionthUnit>;
inline constexpr Factor kOnce(1'000'000);
inline constexpr Factor kMostFactor(int64_t{1'000'000} * 1'000'000);

/// Returns a time that is `factor` times as long, rounded up to a whole picosecond.
constexpr Duration stretched(Duration time, Factor factor) {
  return Duration(
      checked_narrow(ceil_divide(Int128{time.count()} * factor.count(), Int128{kOnce.count()})));
}

/// Returns the number of parts into which a byte per second must be cut, so that `bandwidth`
/// divided by `factor` is a whole number of parts. Requires bandwidth > 0 and factor >= 1.
constexpr int64_t parts_of_slowed(BytesPerSecond bandwidth, Factor factor) {
  const Int128 slow = Int128{bandwidth.count()} * kOnce.count();
  return factor.count() / std::gcd(factor.count(), static_cast<int64_t>(slow % factor.count()));
}

/// Returns a rate that is `factor` times as slow, in the same unit, rounded down, and at least 1.
/// Requires bandwidth > 0 and factor >= 1.
constexpr BytesPerSecond slowed(BytesPerSecond bandwidth, Factor factor) {
  const Int128 slow = Int128{bandwidth.count()} * kOnce.count() / factor.count();
  return BytesPerSecond(slow > 0 ? checked_narrow(slow) : 1);
}

/// The device's local ops take `factor` (>= 1) times as long, launch included.
struct SlowDevice {
  LogicalId device;
  Factor factor;
  friend bool operator==(const SlowDevice&, const SlowDevice&) = default;
};

/// Each link from `from` straight to `to` is slower. Its bandwidth is divided by `factor` (>= 1) or
/// is at most `bandwidth`; only one of the two may be given. Its latency is at least `latency`.
struct SlowLink {
  VertexId from, to;
  std::optional<Factor> factor;
  std::optional<BytesPerSecond> bandwidth;
  std::optional<Duration> latency;
  friend bool operator==(const SlowLink&, const SlowLink&) = default;
};

/// No message uses a link from `from` straight to `to`; it takes another route, if there is one.
struct CutLink {
  VertexId from, to;
  friend bool operator==(const CutLink&, const CutLink&) = default;
};

/// The device begins its list of ops at `by`.
struct LateStart {
  LogicalId device;
  Duration by;
  friend bool operator==(const LateStart&, const LateStart&) = default;
};

/// Each local op that takes time takes longer on each device, and each link has a longer latency
/// throughout the run. The additions are drawn uniformly from 0 to `ops` or to `links`, ends
/// included, by the run's seed.
struct Jitter {
  Duration ops;
  Duration links;
  friend bool operator==(const Jitter&, const Jitter&) = default;
};

using Fault = std::variant<SlowDevice, SlowLink, CutLink, LateStart, Jitter>;

/// Returns the factor as the shortest decimal: "1.5".
std::string factor_text(Factor factor);

/// Returns a sentence: "Device 3 is slow: its local ops take 1.5 times as long." Vertices are those
/// of `fabric`; `seed` is the run's.
std::string fault_text(const Fault& fault, const Fabric& fabric, uint64_t seed);

/// Reads "faults", in the order of the file. Two faults that change the same thing are an error.
std::vector<Fault> read_faults(DocumentNode node, const Fabric& fabric, const Mesh& mesh,
                               Diagnostics& diagnostics);

/// Writes "faults".
JsonText faults_json(std::span<const Fault> faults, const Fabric& fabric);

}  // namespace orrery
