#include "models/fabric/protocol.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/base/int128.h"

namespace orrery {
namespace {

struct Form {
  std::string_view name;
  DataShare share;
};
constexpr std::array<Form, 3> kProtocols = {
    {{"simple", {1, 1}}, {"ll", {1, 2}}, {"ll128", {15, 16}}}};

}  // namespace

std::string_view name(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].name;
}

std::optional<Protocol> transport_protocol(std::string_view text) {
  for (size_t i = 0; i < kProtocols.size(); ++i)
    if (kProtocols[i].name == text)
      return static_cast<Protocol>(i);
  return std::nullopt;
}

DataShare data_share(Protocol protocol) {
  return kProtocols[static_cast<size_t>(protocol)].share;
}

std::optional<Fabric> carrying_data(const Fabric& fabric, DataShare share) {
  if (share.data == share.wire)
    return std::nullopt;
  std::vector<Link> links(fabric.links().begin(), fabric.links().end());
  for (Link& link : links) {
    const Int128 rate = Int128{link.bandwidth.count()} * share.data / share.wire;
    link.bandwidth = BytesPerSecond(std::max<int64_t>(1, static_cast<int64_t>(rate)));
  }
  return Fabric(fabric.devices(), {fabric.switches().begin(), fabric.switches().end()},
                std::move(links), fabric.rate_parts());
}

}  // namespace orrery
