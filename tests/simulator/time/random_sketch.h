#pragma once

// Makes random small programs over random small fabrics: several collectives over groups, sync and
// started, on two streams, of one or two threads, with local ops between them.

#include <cstdint>
#include <vector>

#include "models/base/random.h"
#include "models/fabric/fabric.h"
#include "tests/simulator/time/sketch.h"

namespace orrery::test {

struct RandomSketch {
  Fabric fabric;
  Sketch sketch;
  std::vector<Instant> device_start;
};

/// With `capped`, collectives declare small caps more often, so that several chains fit on one
/// link.
struct RandomKind {
  bool capped = false;
  uint32_t least_devices = 2;
  uint32_t most_devices = 8;
};
RandomSketch random_sketch(Random& random, RandomKind kind);

/// Returns whether the program ends, by the walk without time.
bool ends(const Sketch& sketch);

}  // namespace orrery::test
