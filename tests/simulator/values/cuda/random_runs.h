#pragma once

// Random programs with their data: of one thread with any op, or of one or two with started ones.

#include <cstdint>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/values.h"

namespace orrery::test {

/// A program with its arguments on every device.
struct RandomRun {
  Program program;
  Lowered lowered;
  DeviceValues arguments;
};

/// Half of them are of random_threads.h, half of random_program.h.
RandomRun random_run(uint64_t seed);

}  // namespace orrery::test
