#include "simulator/schedule/looped_order.h"

#include <algorithm>
#include <limits>

#include "models/base/check.h"
#include "models/base/quantity.h"

namespace orrery {

namespace {

constexpr Int128 kMostIndices = std::numeric_limits<uint64_t>::max();

}  // namespace

LoopedOrder::LoopedOrder(const Iterations& iterations, std::span<const LoopAround> loops)
    : body_of_(iterations.loops()) {
  if (std::none_of(loops.begin(), loops.end(), [](LoopAround loop) { return loop.has_value(); })) {
    bodies_.front().length = loops.size();
    return;
  }
  places_.resize(loops.size());
  for (uint32_t item = 0; item < loops.size(); ++item)
    places_[item].body = body_of(iterations, loops[item]);
  // Inner bodies come first, since a body's length counts all iterations of the bodies in it.
  std::vector<std::vector<uint32_t>> inner(bodies_.size());
  for (uint32_t b = 1; b < bodies_.size(); ++b)
    inner[bodies_[b].around].push_back(b);
  std::vector<uint32_t> own(bodies_.size());  // items
  for (const PartInIteration& place : places_)
    ++own[place.body];
  for (size_t b = bodies_.size(); b-- > 0;) {
    Int128 length = own[b];
    for (const uint32_t in : inner[b])
      length += Int128{bodies_[in].length} * bodies_[in].trips;
    bodies_[b].length = static_cast<uint64_t>(checked_narrow(length));
    // The reciprocal is exact for each index whose product with the length is below 2^64.
    if (const Int128 all = length * bodies_[b].trips; length > 1 && all <= kMostIndices / length)
      bodies_[b].reciprocal = std::numeric_limits<uint64_t>::max() / bodies_[b].length + 1;
  }
  // Now each item and each body gets its place in the body around it.
  std::vector<uint64_t> filled(bodies_.size());
  std::vector<bool> placed(bodies_.size(), false);
  placed.front() = true;
  const auto place_body = [&](uint32_t body, uint32_t item, const auto& self) -> void {
    if (placed[body])
      return;
    const uint32_t around = bodies_[body].around;
    self(around, item, self);
    placed[body] = true;
    bodies_[body].begin = filled[around];
    bodies_[around].parts.push_back({filled[around], item, body});
    filled[around] += bodies_[body].length * bodies_[body].trips;
  };
  for (uint32_t item = 0; item < places_.size(); ++item) {
    const uint32_t body = places_[item].body;
    place_body(body, item, place_body);
    std::vector<InBody>& parts = bodies_[body].parts;
    if (parts.empty() || parts.back().body)
      parts.push_back({filled[body], item, {}});
    places_[item].begin = filled[body]++;
  }
}

uint32_t LoopedOrder::body_of(const Iterations& iterations, LoopAround loop) {
  if (!loop)
    return 0;
  if (const auto known = body_of_[*loop])
    return *known;
  ORRERY_CHECK(iterations.trips(*loop) > 0, "only what runs is in an order");
  const uint32_t around = body_of(iterations, iterations.around(*loop));
  bodies_.push_back({*loop, iterations.trips(*loop), around});
  body_of_[*loop] = static_cast<uint32_t>(bodies_.size() - 1);
  return *body_of_[*loop];
}

const LoopedOrder::InBody& LoopedOrder::part_at(uint32_t body, uint64_t index) const {
  const std::vector<InBody>& parts = bodies_[body].parts;
  if (parts.size() <= 2)
    return parts.back().begin <= index ? parts.back() : parts.front();
  return *(std::upper_bound(parts.begin(), parts.end(), index,
                            [](uint64_t at, const InBody& part) { return at < part.begin; }) -
           1);
}

std::vector<LoopedOrder::LoopRun> LoopedOrder::loops_at(uint64_t index) const {
  std::vector<LoopRun> found;
  uint64_t begin = 0;  // of the iteration of `body`
  for (uint32_t body = 0; !places_.empty() && index < size();) {
    const InBody& part = part_at(body, index - begin);
    if (!part.body)
      break;
    const Body& in = bodies_[*part.body];
    found.push_back({in.loop, begin + part.begin, in.length, in.trips});
    begin += part.begin + (index - begin - part.begin) / in.length * in.length;
    body = *part.body;
  }
  return found;
}

uint64_t LoopedOrder::next_iteration(uint64_t index, Counts counts) const {
  return next_iteration(0, 0, index, counts).value_or(size());
}

/// Looks in the iteration of the body that begins at `begin`.
std::optional<uint64_t> LoopedOrder::next_iteration(uint32_t body, uint64_t begin, uint64_t index,
                                                    Counts counts) const {
  for (const InBody& part : bodies_[body].parts) {
    if (!part.body)
      continue;
    const Body& in = bodies_[*part.body];
    const uint64_t first = begin + part.begin;
    if (index >= first + in.length * in.trips)
      continue;
    const uint64_t iteration = index < first ? 0 : (index - first) / in.length;
    const uint64_t now = first + iteration * in.length;
    if (const auto inside = next_iteration(*part.body, now, index, counts))
      return inside;
    if (iteration + 1 < in.trips && counts(in.loop))
      return now + in.length;
    // The iterations of a loop that does not count may have loops in them that count.
    if (iteration + 1 < in.trips)
      if (const auto inside = next_iteration(*part.body, now + in.length, now + in.length, counts))
        return inside;
  }
  return std::nullopt;
}

LoopedOrder::Item LoopedOrder::item_at(uint64_t index) const {
  uint32_t body = 0;
  uint64_t iteration = 0;
  for (;;) {
    const InBody& part = part_at(body, index);
    index -= part.begin;
    if (!part.body)
      return {part.item + static_cast<uint32_t>(index), iteration};
    body = *part.body;
    const uint64_t in_body = bodies_[body].iteration(index);
    iteration = iteration * bodies_[body].trips + in_body;
    index -= in_body * bodies_[body].length;
  }
}

uint64_t LoopedOrder::index(Item item) const {
  if (places_.empty())
    return item.item;
  uint64_t index = places_[item.item].begin;
  for (uint32_t b = places_[item.item].body; b != 0; b = bodies_[b].around) {
    uint64_t in_body = item.iteration;
    if (bodies_[b].around != 0) {
      in_body %= bodies_[b].trips;
      item.iteration /= bodies_[b].trips;
    }
    index += bodies_[b].begin + in_body * bodies_[b].length;
  }
  return index;
}

}  // namespace orrery
