#pragma once

// Futures finds the dones that end each started collective. The rule is stated only here. If
// several dones end one collective, the first counts (first_waits in simulator/schedule/tape.h).

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "models/program/program.h"

namespace orrery {

/// Futures has the futures of a program, or of one of its threads. It keeps a reference to the
/// program.
class Futures {
 public:
  explicit Futures(const Program& program);
  Futures(const Program& program, const Thread& thread);

  /// Returns the op that started the collective which the done ends.
  OpId start_of(OpId done) const;

  /// Returns the dones of a future, in issue order. A correct program has exactly one.
  std::span<const OpId> dones(ValueId future) const;

  /// Returns the values that hold the result of a collective: the result of a sync op, or the
  /// results of a start's dones.
  std::vector<ValueId> results(const Op& op) const;

  /// Returns the last of results(), which stands for all, or nothing for a start that is never
  /// done.
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
