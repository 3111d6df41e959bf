#pragma once

// How many ops a corpus has of each kind, dtype and form, and of which it must have some.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/program/program.h"
#include "tests/oracle/corpus.h"

namespace orrery::test {

/// An op of a program counts in several forms: "started", "equal groups", "several axes". Most
/// local ops have one form.
struct Row {
  OpKind op;
  std::string form;
  auto operator<=>(const Row&) const = default;
};
using Cell = std::pair<Row, Dtype>;

class Coverage {
 public:
  void add(const Program& program);

  /// The least count of any required cell.
  uint64_t least() const;
  size_t cells() const { return cells_.size(); }

  /// A row for each op and form, a column for each dtype; "-" where there are none, and none are
  /// required. After them, the least count.
  std::string table() const;

  /// The required cells that occur fewer than `count` times, as "psum started f32: 12".
  std::vector<std::string> below(uint64_t count) const;

 private:
  uint64_t count(const Cell& cell) const;
  std::map<Cell, uint64_t> cells_;
};

/// Each op, dtype and form that JAX runs on the CPU as we do. They are all of the table of ops but
/// those that coverage.cc names, with the reason.
std::vector<Cell> required_cells();

/// How many ops of real and of complex numbers go through a transform.
class TransformCoverage {
 public:
  void add(const std::vector<ForwardOp>& ops);

  enum class Transform : uint8_t { Vjp, Batch };
  /// The ops that must have a gradient or a batch and occur fewer than `count` times: "psum
  /// complex: 3". Batches of real and complex numbers count together.
  std::vector<std::string> below(Transform transform, uint64_t count) const;

 private:
  std::map<std::pair<OpKind, bool>, uint64_t> counts_;
};

}  // namespace orrery::test
