#pragma once

// Adds the ops of a batched program, one after another.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/program/builder.h"
#include "models/program/futures.h"
#include "models/program/program.h"
#include "models/transform/batched_op.h"

namespace orrery {

/// Where a value is to have the batch.
struct BatchPlace {
  size_t dimension = 0;
  /// Any: a value that is not batched is repeated. Batched: it stays as it is.
  enum class Of : uint8_t { Any, Batched } of = Of::Any;
};

class BatchWalk {
 public:
  /// Ops go to `builder`, whose mesh is the one after the batch.
  BatchWalk(const BatchOf& batch, ProgramBuilder& builder);

  /// The dimension of the batch in a value; empty: it is not batched.
  std::optional<size_t>& dimension(ValueId value) { return dimensions_[value.index()]; }

  /// Adds the ops that do `op` for the batch. `places` says where each result is to have it; empty
  /// where that is free. Returns why the op cannot be batched, or nothing.
  std::optional<std::string> add(const Op& op,
                                 const std::vector<std::optional<BatchPlace>>& places);

  /// The value with the batch at `place`: under its own name if it is there already. `maker` is the
  /// op that made the value.
  std::string placed(const Op& maker, ValueId value, const BatchPlace& place);

 private:
  Batched batched(ValueId value) const;
  void add_all(std::vector<OpRequest> ops);
  void finish(BatchedOp& call, const Op& op, std::vector<Batched> results,
              const std::vector<std::optional<BatchPlace>>& places);
  std::optional<std::string> add_op(const Op& op,
                                    const std::vector<std::optional<BatchPlace>>& places);
  void add_done(const Op& op, const std::vector<std::optional<BatchPlace>>& places);

  /// The ops that arrange the result of a started collective. They come after its done.
  struct Awaited {
    std::vector<OpRequest> after;
    std::string made;    // what they call the done's result
    std::string result;  // what they make of it
  };

  const BatchOf batch_;
  ProgramBuilder& builder_;
  UnusedNames names_;
  const Futures futures_;
  std::vector<std::optional<size_t>> dimensions_;  // by value
  std::map<ValueId, Awaited> awaited_;             // by future
};

}  // namespace orrery
