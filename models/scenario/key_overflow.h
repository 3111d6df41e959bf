#pragma once

// An amount that a scenario gives, and that its program makes too large.

#include <string>
#include <utility>

#include "models/base/diagnostics.h"
#include "models/base/quantity.h"

namespace orrery {

/// what() is the whole message: what was expected of the key, and what it has.
class KeyOverflow : public Overflow {
 public:
  KeyOverflow(Origin key, const std::string& what) : Overflow(what), key_(std::move(key)) {}
  const Origin& key() const { return key_; }

 private:
  Origin key_;
};

}  // namespace orrery
