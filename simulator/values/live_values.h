#pragma once

// LiveValues has the values that a run still needs, while it runs: one tensor for each device and
// each iteration that a later run may read. Reaches (models/program/iterations.h) says which
// iterations these are, so the memory does not grow with the trip counts. Values outside loops
// stay, and so does the latest iteration of every value.
//
// Carries, exits and what loops give back have no tensors of their own: they are read as the values
// for which they stand (Iterations::source).

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/array/tensor.h"
#include "models/program/iterations.h"
#include "models/program/program.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/values/values.h"

namespace orrery {

/// A SharedTensor is held by a value, its copies, and the collectives that it is an operand of.
using SharedTensor = std::shared_ptr<const Tensor>;

class LiveValues {
 public:
  /// Takes the arguments out of `given`. The program must outlive this object.
  LiveValues(const Program& program, std::shared_ptr<const Iterations> iterations,
             DeviceValues given);

  /// Returns the tensor of an operand in this run of an op; null if it has not been made. It is
  /// valid until the next put() or share().
  const Tensor* read(ValueId operand, OpRun reader, LogicalId device) const {
    return find(iterations_->source(operand, reader), device).get();
  }
  SharedTensor hold(ValueId operand, OpRun reader, LogicalId device) const {
    return find(iterations_->source(operand, reader), device);
  }

  bool has(LogicalId device, ValueId value) const { return holders_.has(device, value); }

  /// Adds a tensor of a value. Requires a later iteration than the value had before.
  void put(ValueRun value, LogicalId device, std::shared_ptr<Tensor> tensor);
  /// Makes the result of this run the same tensor as the operand of the op.
  void share(ValueId result, ValueId operand, OpRun run, LogicalId device) {
    put({result, run.iteration}, device, find(iterations_->source(operand, run), device));
  }

  /// Returns how many tensors are held; a copy counts as another one.
  size_t tensors() const { return tensors_; }

  /// Returns every value that is not a future; for a value in loops, that of the last iteration
  /// run.
  DeviceValues finish() &&;

 private:
  struct Made {
    uint64_t iteration = 0;
    std::shared_ptr<Tensor> tensor;
  };
  /// A Kept is a value on a device.
  struct Kept {
    Made latest;
    std::vector<Made> earlier;  // ascending
  };

  const std::shared_ptr<Tensor>& find(ValueRun value, LogicalId device) const;

  const Program& program_;
  const std::shared_ptr<const Iterations> iterations_;
  const Reaches reaches_;
  DeviceValues given_;
  const Holders holders_;
  std::vector<size_t> first_;  // per value: the index of its first in kept_
  std::vector<Kept> kept_;
  size_t tensors_ = 0;
  const std::shared_ptr<Tensor> none_;
};

/// EndedMember says what a member of a run of a collective gave and got.
struct EndedMember {
  OpId op;  // by which it entered
  LogicalId device;
  std::vector<SharedTensor> operands;  // in the op's order; null where the device has none
  SharedTensor result;                 // null of a member that takes none
};

/// An EndedRun is a run whose last member has ended, for checks (execute() of host_executor.h). It
/// may be the only holder of these tensors.
struct EndedRun {
  CollectiveRun run;
  std::span<const EndedMember> members;  // by rank
};

using VisitEndedRun = std::function<void(const EndedRun&)>;

}  // namespace orrery
