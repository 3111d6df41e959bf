#pragma once

// Moves the data: local ops by the kernels of models/array, collectives by walking their schedules.
// host_visitor.h runs the halves of steps.

#include <span>

#include "models/program/program.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/values/values.h"

namespace orrery {

struct HostRun {
  /// Every value of the program that is not a future, on every device that has it; nothing is
  /// freed. The result of a started collective is the value of its `done`.
  DeviceValues values;
  WalkDigest digest;
  Stop stop;  // if not finished, the program hangs and later values are missing
};

/// `arguments` holds the program's arguments on every device.
HostRun execute(const Program& program, const Lowered& lowered, DeviceValues arguments);

/// The results of one local op on one device, by the op's rules. Host executor and oracle share it:
/// a local op is its own definition. `operands` in the op's order.
std::vector<Tensor> evaluate_local(const Program& program, const Op& op,
                                   std::span<const Tensor* const> operands, LogicalId device);

}  // namespace orrery
