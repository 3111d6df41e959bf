#pragma once

// What ops that are shown together take, where they do not all take the same.

#include <cstddef>
#include <optional>
#include <string>

#include "models/base/quantity.h"

namespace orrery {

/// The least and the most of several times.
class Spread {
 public:
  /// Times are numbered from 0, in the order in which they are added.
  void add(Duration time);

  /// Whether they differ as time_text() shows them.
  bool differs() const;
  /// "3 us", or "3 us to 5 us" where they differ. Requires a time.
  std::string text(bool ascii) const;
  /// The first that is longest.
  size_t longest() const { return longest_; }

 private:
  std::optional<Duration> least_;
  Duration most_;
  size_t longest_ = 0;
  size_t count_ = 0;
};

}  // namespace orrery
