#include "simulator/lower/method.h"

#include <algorithm>
#include <utility>

#include "models/program/rules.h"

namespace orrery {

Choice choice_of(const Method& method, std::string because) {
  return {std::string(method.algorithm->name), std::move(because),
          method.protocol == nullptr ? std::string() : method.protocol->name};
}

Hints asked_by(const Op& op) {
  Hints asked = op.hints;
  asked.stream = 0;
  return asked;
}

std::vector<const ProtocolFigures*> protocols_for(
    const Algorithm& algorithm, OpKind kind, const std::optional<TransportFigures>& transport) {
  const auto among = [](const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<const ProtocolFigures*> serving;
  if (transport)
    for (const ProtocolFigures& protocol : transport->protocols)
      if (among(protocol.algorithms, algorithm.name) &&
          among(protocol.ops, rules(timed_as(kind)).name))
        serving.push_back(&protocol);
  return serving;
}

}  // namespace orrery
