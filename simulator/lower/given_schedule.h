#pragma once

// A program of one collective with a given schedule instead of one that lower() chooses.

#include <memory>
#include <string>

#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// The rest of the lowered form of a program whose only op is a sync collective, issued by one
/// thread and run by one group. The choices have no algorithm.
Lowered lowered_alone(const Program& program, Collective collective);

/// The lowered form of a program whose only op is a sync collective of all devices of its mesh, in
/// one group. Node r of the schedule is rank r; logical id d runs on device d. Requires a
/// collective that works on its operand's elements as they are.
Lowered lower_with(std::unique_ptr<const Schedule> schedule, std::string algorithm,
                   const Program& program, const DeviceFigures& device,
                   const MessageFigures& messages = {});

}  // namespace orrery
