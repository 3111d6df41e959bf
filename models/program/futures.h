#pragma once

// The dones that end each started collective; the rule is stated only here. If several end one, the
// first counts: first_waits (simulator/schedule/tape.h).

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// The futures of a program, or of one of its threads. Keeps a reference to the program.
class Futures {
 public:
  explicit Futures(const Program& program);
  Futures(const Program& program, const Thread& thread);

  /// The op that started what the done ends.
  OpId start_of(OpId done) const;

  /// The dones of a future, in issue order. A correct program has exactly one.
  std::span<const OpId> dones(ValueId future) const;

  /// The values that hold the result of a collective: the result of a sync op, or those of a
  /// start's dones.
  std::vector<ValueId> results(const Op& op) const;

  /// The one of them that stands for all: for a start the result of its last done. Empty for a
  /// start that is never done.
  std::optional<ValueId> result(const Op& op) const;

 private:
  struct Future {
    OpId start;
    std::vector<OpId> dones;
  };

  void add(const Thread& thread);

  const Program& program_;
  std::map<ValueId, Future> futures_;
};

}  // namespace orrery
