#pragma once

// Makes random programs with their data: with one thread and any ops, or with one or two threads
// and started collectives.

#include <cstdint>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/values/values.h"

namespace orrery::test {

/// A `RandomRun` is a program with its arguments on every device.
struct RandomRun {
  Program program;
  Lowered lowered;
  DeviceValues arguments;
};

/// Returns a program from random_threads.h or from random_program.h, with equal odds.
RandomRun random_run(uint64_t seed);

}  // namespace orrery::test
