#pragma once

#include <string>

namespace orrery {

/// The algorithm of a site, and the reason for it.
struct Choice {
  std::string algorithm;
  std::string because = {};
  std::string protocol = {};  // by which messages are passed; empty: whole, without one

  /// "ring", or with a protocol "ring (ll)".
  std::string method() const {
    return protocol.empty() ? algorithm : algorithm + " (" + protocol + ")";
  }
};

}  // namespace orrery
