#pragma once

// What crosses the fabric: a function of the schedules and the routes alone, so it holds for every
// timing.

#include <cstdint>
#include <vector>

#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

struct Traffic {
  std::vector<uint64_t> messages;  // per collective
  std::vector<Bytes> links;        // per link: the payloads of the messages that cross it
};

Traffic traffic(const Lowered& lowered, const Fabric& fabric);

}  // namespace orrery
