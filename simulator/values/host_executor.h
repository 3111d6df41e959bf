#pragma once

// Moves the data: local ops by the kernels of models/array, collectives by walking their schedules.
// It has no algorithm of its own.

#include "models/program/program.h"
#include "simulator/schedule/digest.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/values/values.h"

namespace orrery {

struct HostRun {
  DeviceValues values;  // every value of the program, on every device that has it
  Digest digest;
  Stop stop;  // not finished: the program hangs, and later values are missing
};

/// `arguments` holds the program's arguments on every device.
HostRun execute(const Program& program, const Lowered& lowered, DeviceValues arguments);

/// Evaluates one local op for one device. Host executor and oracle share it: a local op is its own
/// definition. `operands` in the op's order; `device` matters to axis_index only.
Tensor evaluate_local(const Program& program, const Op& op, std::span<const Tensor* const> operands,
                      LogicalId device);

}  // namespace orrery
