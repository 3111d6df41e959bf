#pragma once

#include <optional>
#include <string>

#include "models/base/quantity.h"

namespace orrery {

/// A Choice names the algorithm of a site and the reason for it.
struct Choice {
  std::string algorithm;
  std::string because = {};
  std::string protocol = {};  // by which messages are passed; empty: without one
  /// The time of the slowest group, alone on the fabric, from the launch to the end of the last
  /// step. It is known if methods were compared by it.
  std::optional<Duration> alone = {};

  /// Returns "ring", or with a protocol "ring (ll)".
  std::string method() const {
    return protocol.empty() ? algorithm : algorithm + " (" + protocol + ")";
  }
};

}  // namespace orrery
