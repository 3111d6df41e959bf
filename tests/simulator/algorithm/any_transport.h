#pragma once

// Draws a transport with a few channels and slots, for properties that hold for all of them.

#include "simulator/algorithm/chunks.h"
#include "tests/support/property.h"

namespace orrery::test {

inline Transport any_transport() {
  Transport transport;
  transport.channels = in_range(1U, 4U);
  transport.slots = in_range(1U, 5U);
  return transport;
}

}  // namespace orrery::test
