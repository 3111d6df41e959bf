#pragma once

// Returns a protocol that cuts messages and takes no time.

#include <string>

#include "models/fabric/transport.h"

namespace orrery::test {

inline ProtocolFigures slot_protocol(Bytes slot, const std::string& name = "simple") {
  ProtocolFigures protocol;
  protocol.name = name;
  protocol.slot = slot;
  return protocol;
}

}  // namespace orrery::test
