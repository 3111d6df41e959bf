#include "simulator/lower/method.h"

#include <algorithm>
#include <utility>

#include "models/program/rules.h"

namespace orrery {

Choice choice_of(const Method& method, std::string because) {
  return {std::string(method.algorithm->name), std::move(because),
          method.protocol == nullptr ? std::string() : method.protocol->name};
}

Asked asked_by(const Op& op) {
  const Attributes& given = op.attributes;
  Asked asked;
  if (given.has("algorithm"))
    asked.algorithm = given.text("algorithm");
  if (given.has("protocol"))
    asked.protocol = given.text("protocol");
  if (given.has("channels"))
    asked.channels = static_cast<uint32_t>(given.integer("channels"));
  if (given.has("slots"))
    asked.slots = static_cast<uint32_t>(given.integer("slots"));
  if (given.has("entry") && given.text("entry") == "rendezvous")
    asked.entry = Entry::Rendezvous;
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
