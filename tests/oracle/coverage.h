#pragma once

// Counts the ops of a corpus by kind, dtype and form, and knows which of these must occur.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/program.h"
#include "tests/oracle/corpus.h"

namespace orrery::test {

/// A `Row` is an op in one form. An op of a program counts in several forms: "started", "equal
/// groups", "several axes". Most local ops have one form.
struct Row {
  OpKind op;
  std::string form;
  auto operator<=>(const Row&) const = default;
};
using Cell = std::pair<Row, Dtype>;

class Coverage {
 public:
  void add(const Program& program);

  /// Returns the least count of any required cell.
  uint64_t least() const;
  size_t cells() const { return cells_.size(); }

  /// Returns a table with a row for each op and form and a column for each dtype. A cell is "-" if
  /// it has no ops and is not required. The least count follows the table.
  std::string table() const;

  /// Returns the required cells that occur fewer than `count` times: "psum started f32: 12".
  std::vector<std::string> below(uint64_t count) const;

 private:
  uint64_t count(const Cell& cell) const;
  std::map<Cell, uint64_t> cells_;
};

/// Returns each op, dtype and form that JAX runs on the CPU as we do. These are all ops of the
/// table, except those that coverage.cc names with a reason.
std::vector<Cell> required_cells();

/// A `TransformCoverage` counts the ops of real and of complex numbers that go through a transform.
class TransformCoverage {
 public:
  void add(const std::vector<ForwardOp>& ops);

  enum class Transform : uint8_t { Vjp, Batch };
  /// Returns the ops that must have a gradient or a batch and occur fewer than `count` times: "psum
  /// complex: 3". Batches of real and of complex numbers count together.
  std::vector<std::string> below(Transform transform, uint64_t count) const;

 private:
  std::map<std::pair<OpKind, bool>, uint64_t> counts_;
};

}  // namespace orrery::test
