#pragma once

// How a collective is carried out: an algorithm, and the protocol by which its messages are passed.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/fabric/transport.h"
#include "models/program/op.h"
#include "simulator/algorithm/algorithms.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

/// Without a protocol, messages are passed whole.
struct Method {
  const Algorithm* algorithm = nullptr;
  const ProtocolFigures* protocol = nullptr;
};
Choice choice_of(const Method& method, std::string because = {});

/// What an op asks for: its hints, but for the stream, on which no method depends. The rest is
/// chosen.
Hints asked_by(const Op& op);

/// The protocols that serve the algorithm for this op, in the order of the transport.
std::vector<const ProtocolFigures*> protocols_for(const Algorithm& algorithm, OpKind kind,
                                                  const std::optional<TransportFigures>& transport);

}  // namespace orrery
