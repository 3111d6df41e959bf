#include "models/base/check.h"
#include "models/fabric/fabric.h"

namespace orrery {

Fabric ring_fabric(uint32_t devices, LinkFigures link) {
  ORRERY_CHECK(devices > 0, "a fabric has devices");
  std::vector<Link> links;
  const auto join = [&](uint32_t from, uint32_t to) {
    links.push_back({VertexId(from), VertexId(to), link.bandwidth, link.latency});
  };
  for (uint32_t i = 0; devices > 1 && i < devices; ++i)
    join(i, (i + 1) % devices);
  // With two devices the forward links already lead both ways.
  for (uint32_t i = 0; devices > 2 && i < devices; ++i)
    join((i + 1) % devices, i);
  return {devices, {}, std::move(links)};
}

Fabric fully_connected_fabric(uint32_t devices, LinkFigures link) {
  ORRERY_CHECK(devices > 0, "a fabric has devices");
  std::vector<Link> links;
  for (uint32_t from = 0; from < devices; ++from) {
    for (uint32_t to = 0; to < devices; ++to) {
      if (from != to)
        links.push_back({VertexId(from), VertexId(to), link.bandwidth, link.latency});
    }
  }
  return {devices, {}, std::move(links)};
}

Fabric switch_fabric(uint32_t devices, LinkFigures link) {
  ORRERY_CHECK(devices > 0, "a fabric has devices");
  const VertexId hub(devices);
  std::vector<Link> links;
  for (uint32_t i = 0; i < devices; ++i) {
    links.push_back({VertexId(i), hub, link.bandwidth, link.latency});
    links.push_back({hub, VertexId(i), link.bandwidth, link.latency});
  }
  return {devices, {"switch"}, std::move(links)};
}

}  // namespace orrery
