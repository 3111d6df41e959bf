#pragma once

// A LoopedOrder numbers items, some of them in loops, as if all iterations were written one after
// another. It does not write them: a list of 10^12 instructions costs as much as the instructions
// that it repeats. An item is known by its number among the items and its iteration
// (models/program/iterations.h). Its index is the number of items before it in this order.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/callable.h"
#include "models/base/compiler.h"
#include "models/program/iterations.h"

namespace orrery {

class LoopedOrder {
 public:
  struct Item {
    uint32_t item = 0;
    uint64_t iteration = 0;
    friend bool operator==(const Item&, const Item&) = default;
  };

  LoopedOrder() = default;
  /// `loops` has the innermost loop around each item. Requires that each loop runs, and that its
  /// items and those of inner loops follow each other. Throws Overflow for 2^63 items or more.
  LoopedOrder(const Iterations& iterations, std::span<const LoopAround> loops);

  uint64_t size() const { return bodies_.front().length; }
  Item at(uint64_t index) const {
    return places_.empty() ? Item{static_cast<uint32_t>(index), 0} : item_at(index);
  }
  uint64_t index(Item item) const;

  /// A LoopRun is one run of a loop, in one iteration of the loops around it: `trips` iterations of
  /// `length` indices each, from index `begin` on.
  struct LoopRun {
    uint32_t loop = 0;  // of the program
    uint64_t begin = 0;
    uint64_t length = 0;  // of an iteration
    uint64_t trips = 0;

    uint64_t end() const { return begin + length * trips; }
    bool has(uint64_t index) const { return begin <= index && index < end(); }
    uint64_t iteration(uint64_t index) const { return (index - begin) / length; }
  };
  /// Returns the loops in which an index is, outer ones first.
  std::vector<LoopRun> loops_at(uint64_t index) const;
  /// Returns the first index after this one at which a loop begins an iteration other than its
  /// first; size() if there is none. Only loops of the program that `counts` accepts are looked at.
  using Counts = FunctionRef<bool(uint32_t loop)>;
  uint64_t next_iteration(uint64_t index, Counts counts) const;

 private:
  /// An InBody is a row of items, or a loop, in one iteration of a body.
  struct InBody {
    uint64_t begin = 0;  // counted from the beginning of the iteration
    uint32_t item = 0;
    std::optional<uint32_t> body = {};
  };
  /// A Body is the body of a loop, or the whole order, which runs once.
  struct Body {
    uint32_t loop = 0;  // of the program
    uint64_t trips = 1;
    uint32_t around = 0;
    uint64_t begin = 0;   // in an iteration of the body around
    uint64_t length = 0;  // of one iteration
    /// 2^64 / length, rounded up, if a product with it divides every index exactly; else 0.
    uint64_t reciprocal = 0;
    std::vector<InBody> parts = {};

    uint64_t iteration(uint64_t index) const {
      return reciprocal == 0 ? index / length
                             : static_cast<uint64_t>((UInt128{index} * reciprocal) >> 64U);
    }
  };
  struct PartInIteration {
    uint32_t body = 0;
    uint64_t begin = 0;  // counted from the beginning of the iteration
  };

  Item item_at(uint64_t index) const;
  /// Returns the part that has this index of an iteration of the body.
  const InBody& part_at(uint32_t body, uint64_t index) const;
  std::optional<uint64_t> next_iteration(uint32_t body, uint64_t begin, uint64_t index,
                                         Counts counts) const;
  uint32_t body_of(const Iterations& iterations, LoopAround loop);

  std::vector<Body> bodies_ = {Body{}};           // those around before those in them
  std::vector<std::optional<uint32_t>> body_of_;  // per loop of the program
  std::vector<PartInIteration> places_;           // per item; empty: there are no loops
};

}  // namespace orrery
