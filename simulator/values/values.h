#pragma once

// This folder computes the values of a program. host_executor.h moves the data on the CPU as the
// devices would. cuda/ runs the program on GPUs (cuda/README.md), and gpu_facts.h describes such a
// run. provenance.h walks one schedule with folds instead of numbers (fold_table.h, piece_map.h),
// and fold_values.h computes the values of the folds.
//
// This header has what several of these share. DeviceValues has the values: one tensor per value
// and device that has it. HostKernels compute elements on the host. live_values.h has the values
// that a run still needs, and member_memory.h the memory of a member of a collective.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/array/combine.h"
#include "models/array/tensor.h"
#include "models/array/work.h"
#include "models/base/id.h"
#include "models/program/holders.h"
#include "models/program/program.h"

namespace orrery {

/// DeviceValues has the tensors on each device; none at first.
class DeviceValues {
 public:
  DeviceValues() = default;  // of a program without values
  explicit DeviceValues(const Program& program);

  /// Returns whether the device has the value, at some time.
  bool has(LogicalId device, ValueId value) const { return holders_.has(device, value); }

  /// Returns the tensor, if it is there. Requires that the device has the value.
  std::optional<Tensor>& at(ValueId value, LogicalId device);

  /// Returns the tensor; nothing for a device that never has the value.
  const std::optional<Tensor>& at(ValueId value, LogicalId device) const;

  /// Moves the tensor out. Returns nothing if at() has none.
  std::optional<Tensor> take(ValueId value, LogicalId device);

 private:
  std::optional<size_t> index(ValueId value, LogicalId device) const;

  Holders holders_;
  std::vector<size_t> first_;  // per value: the index of its first tensor
  std::vector<std::optional<Tensor>> tensors_;
  std::optional<Tensor> none_;
};

/// Returns the results of one local op on one device, by the op's rules. The host executor and the
/// definitions share it, since a local op is its own definition. `operands` are in the op's order.
std::vector<Tensor> evaluate_local(const Program& program, const Op& op,
                                   std::span<const Tensor* const> operands, LogicalId device);

/// An EvaluateLocal computes the results of a local op on a device.
using EvaluateLocal = std::vector<Tensor> (*)(const Program& program, const Op& op,
                                              std::span<const Tensor* const> operands,
                                              LogicalId device);

/// HostKernels compute the elements. Definitions are computed by ours, so they judge other folds.
/// Other local ops are judged only where expectations compare their results, as those of laws do:
/// a local op is its own definition.
struct HostKernels {
  /// Computes the results of a local op on a device.
  EvaluateLocal local = evaluate_local;
  /// Folds the elements of two slices, in a step of a collective.
  void (*fold)(const Folding& folding, Combine combine, std::byte* target, const std::byte* left,
               const std::byte* right, int64_t count) = combine_into;
};

}  // namespace orrery
