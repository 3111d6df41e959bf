#pragma once

// An OpOverflow is a quantity that leaves 64 bits, with its op, so that the user is told where.

#include <string>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/op.h"

namespace orrery {

class OpOverflow : public Overflow {
 public:
  OpOverflow(OpId op, const std::string& what) : Overflow(what), op_(op) {}
  OpId op() const { return op_; }

 private:
  OpId op_;
};

/// A BeyondLimit is an op that goes beyond a limit. The message names the limit.
class BeyondLimit : public OpOverflow {
 public:
  using OpOverflow::OpOverflow;
};

/// Does `work`. An Overflow that it throws becomes an OpOverflow, unless it is one already.
template <class Work>
decltype(auto) on_behalf_of(OpId op, Work&& work) {
  try {
    return work();
  } catch (const OpOverflow&) {
    throw;
  } catch (const Overflow& overflow) {
    throw OpOverflow(op, overflow.what());
  }
}

}  // namespace orrery
