#include "models/base/check.h"
#include "models/base/hash.h"
#include "models/fabric/topology.h"

namespace orrery {

Torus::Torus(std::vector<TorusDimension> dimensions) : dimensions_(std::move(dimensions)) {
  for (const TorusDimension& each : dimensions_) {
    ORRERY_CHECK(each.size > 0, "a dimension has devices");
    devices_ *= each.size;
  }
  uint32_t stride = devices_;
  for (const TorusDimension& each : dimensions_) {
    stride /= each.size;
    along_.push_back({stride, each.links_on(), each.links_back(), links_});
    links_ += devices_ / each.size * each.links_in_line();
  }
}

LinkId Torus::link_on(uint32_t device, size_t d) const {
  const Along& along = along_[d];
  const uint32_t line =
      device / (along.stride * dimensions_[d].size) * along.stride + device % along.stride;
  return LinkId(along.first_link + line * along.on + coordinate(device, d));
}

LinkId Torus::link_back(uint32_t device, size_t d) const {
  const Along& along = along_[d];
  const uint32_t size = dimensions_[d].size;
  if (along.back == 0)  // two devices in a ring
    return link_on(device, d);
  const uint32_t line = device / (along.stride * size) * along.stride + device % along.stride;
  const uint32_t lines = devices_ / size;
  return LinkId(along.first_link + lines * along.on + line * along.back +
                (coordinate(device, d) + size - 1) % size);
}

size_t Torus::dimension_of(LinkId id) const {
  size_t d = 0;
  while (d + 1 < along_.size() && id.index() >= along_[d + 1].first_link)
    ++d;
  return d;
}

LinkFigures Torus::figures(LinkId id) const {
  return dimensions_[dimension_of(id)].figures;
}

Link Torus::link(LinkId id) const {
  const size_t d = dimension_of(id);
  const Along& along = along_[d];
  const uint32_t size = dimensions_[d].size;
  const uint32_t lines = devices_ / size;
  uint32_t number = id.index() - along.first_link;
  const bool back = number >= lines * along.on;
  if (back)
    number -= lines * along.on;
  const uint32_t in_line = back ? along.back : along.on;
  const uint32_t line = number / in_line;
  const uint32_t at = number % in_line;
  const uint32_t first = line / along.stride * along.stride * size + line % along.stride;
  const VertexId lower(first + at * along.stride);
  const VertexId upper(first + (at + 1) % size * along.stride);
  const LinkFigures& figures = dimensions_[d].figures;
  return back ? Link{upper, lower, figures.bandwidth, figures.latency}
              : Link{lower, upper, figures.bandwidth, figures.latency};
}

void Torus::for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const {
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    const auto& [size, wraps, figures] = dimensions_[d];
    const uint32_t at = coordinate(from.index(), d);
    if (size > 1 && (wraps || at + 1 < size))
      visit(link_on(from.index(), d));
    if (along_[d].back > 0 && (wraps || at > 0))
      visit(link_back(from.index(), d));
  }
}

bool Torus::append_route(VertexId from, VertexId to, std::optional<uint64_t> /*number*/,
                         Route& route) const {
  uint32_t at = from.index();
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    const auto& [size, wraps, figures] = dimensions_[d];
    const uint32_t source = coordinate(at, d);
    const uint32_t target = coordinate(to.index(), d);
    const uint32_t on = (target + size - source) % size;
    const uint32_t back = size - on;
    const bool goes_on = wraps ? on < back || (on == back && source % 2 == 0) : target > source;
    if (source == target)
      continue;
    // Along a line the numbers of the links follow each other.
    const uint32_t stride = along_[d].stride;
    const uint32_t start = at - source * stride;
    const uint32_t step = goes_on ? 1 : size - 1;
    const uint32_t first_on = link_on(start, d).index();
    const uint32_t first_back = link_back(start + stride, d).index();
    for (uint32_t c = source; c != target; c = c + step < size ? c + step : c + step - size)
      route.emplace_back(goes_on ? first_on + c : first_back + (c == 0 ? size - 1 : c - 1));
    at = start + target * stride;
  }
  return true;
}

uint64_t Torus::placed(VertexId first, VertexId device) const {
  uint64_t placed = 0;
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    const uint32_t size = dimensions_[d].size;
    const uint32_t apart =
        (coordinate(device.index(), d) + size - coordinate(first.index(), d)) % size;
    placed = mix(placed + apart);
  }
  return placed;
}

FullMesh::FullMesh(uint32_t devices, LinkFigures figures) : devices_(devices), figures_(figures) {
  ORRERY_CHECK(devices > 0, "a fabric has devices");
}

Link FullMesh::link(LinkId id) const {
  const uint32_t from = id.index() / (devices_ - 1);
  const uint32_t other = id.index() % (devices_ - 1);
  return {VertexId(from), VertexId(other < from ? other : other + 1), figures_.bandwidth,
          figures_.latency};
}

void FullMesh::for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const {
  for (uint32_t other = 0; other + 1 < devices_; ++other)
    visit(LinkId(from.index() * (devices_ - 1) + other));
}

bool FullMesh::append_route(VertexId from, VertexId to, std::optional<uint64_t> /*number*/,
                            Route& route) const {
  if (from != to)
    route.push_back(
        LinkId(from.index() * (devices_ - 1) + to.index() - (to.index() > from.index() ? 1 : 0)));
  return true;
}

}  // namespace orrery
