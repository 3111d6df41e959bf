#pragma once

#include <string>

namespace orrery {

/// A Choice names the algorithm of a site and the reason for it.
struct Choice {
  std::string algorithm;
  std::string because = {};
  std::string protocol = {};  // by which messages are passed; empty: without one

  /// Returns "ring", or with a protocol "ring (ll)".
  std::string method() const {
    return protocol.empty() ? algorithm : algorithm + " (" + protocol + ")";
  }
};

}  // namespace orrery
