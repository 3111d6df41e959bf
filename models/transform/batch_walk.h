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
  /// A value that is not batched is repeated.
  enum class Of : uint8_t { Any, Batched } of = Of::Any;
};

class BatchWalk {
 public:
  /// Ops go to `builder`, whose mesh is the one after the batch.
  BatchWalk(const BatchOf& batch, ProgramBuilder& builder);

  /// The dimension of the batch in a value; empty: it is not batched.
  std::optional<size_t>& dimension(ValueId value) { return dimensions_[value.index()]; }

  /// Adds what does the op for the batch. `places` are those of its results; empty where that is
  /// free. The error of an op that cannot be batched.
  std::optional<std::string> add(const Op& op,
                                 const std::vector<std::optional<BatchPlace>>& places);

  /// The value with the batch at `place`; under its own name if it has it there. `maker` made it.
  std::string placed(const Op& maker, ValueId value, const BatchPlace& place);

 private:
  Batched batched(ValueId value) const;
  void add_all(std::vector<OpRequest> ops);
  void finish(BatchedOp& call, const Op& op, std::vector<Batched> results,
              const std::vector<std::optional<BatchPlace>>& places);
  std::optional<std::string> add_op(const Op& op,
                                    const std::vector<std::optional<BatchPlace>>& places);
  void add_done(const Op& op, const std::vector<std::optional<BatchPlace>>& places);

  /// A started collective whose result is arranged after its done.
  struct Awaited {
    std::vector<OpRequest> after;
    std::string made;    // the result of the done in these
    std::string result;  // of these
  };

  const BatchOf batch_;
  ProgramBuilder& builder_;
  UnusedNames names_;
  const Futures futures_;
  std::vector<std::optional<size_t>> dimensions_;  // by value
  std::map<ValueId, Awaited> awaited_;             // by future
};

}  // namespace orrery
