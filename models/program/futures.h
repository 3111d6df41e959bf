#pragma once

// Which dones end which started collective, stated only here.

#include <map>
#include <span>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// The futures of a program. Keeps a reference to it.
class Futures {
 public:
  explicit Futures(const Program& program);

  /// The dones of a future, in issue order. A correct program has exactly one.
  std::span<const OpId> dones(ValueId future) const;

  /// The values that hold the result of a collective: that of a sync op, or those of a start's
  /// dones.
  std::vector<ValueId> results(const Op& op) const;

 private:
  const Program& program_;
  std::map<ValueId, std::vector<OpId>> dones_;
};

}  // namespace orrery
