#pragma once

// How many ops a corpus has of each kind, dtype and form.

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "models/program/program.h"

namespace orrery::test {

/// An op of a program counts in several forms: "started", "equal groups", "two axes or more". Local
/// ops have one form.
class Coverage {
 public:
  void add(const Program& program);

  /// The least count of any cell that is not empty. Requires one.
  uint64_t least() const;
  size_t cells() const { return cells_.size(); }

  /// A row for each op and form, a column for each dtype; "-" where there are none. After them, the
  /// least count.
  std::string table() const;

 private:
  struct Row {
    OpKind op;
    std::string form;
    auto operator<=>(const Row&) const = default;
  };
  using Cell = std::pair<Row, Dtype>;
  std::map<Cell, uint64_t> cells_;
};

}  // namespace orrery::test
