#pragma once

// A site whose method is chosen or timed, and times worked out by hand from the figures of links.

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/base/amount_text.h"
#include "models/scenario/quantity_text.h"
#include "simulator/lower/choice.h"
#include "simulator/lower/groupings.h"

namespace orrery::test {

inline constexpr LinkFigures kLink = {BytesPerSecond(50'000'000'000), Duration(1'000'000)};

/// A `ChoiceSite` is a site of f32 over a fabric, with one group of all devices unless the test
/// changes that.
struct ChoiceSite {
  ChoiceSite(OpKind kind, Fabric on, int64_t elements) : fabric(std::move(on)) {
    request.kind = kind;
    request.elements = elements;
    groups.emplace_back();
    for (uint32_t d = 0; d < fabric.devices(); ++d)
      groups[0].emplace_back(d);
  }
  /// Here every two ranks have a link of their own.
  ChoiceSite(OpKind kind, uint32_t ranks, int64_t elements)
      : ChoiceSite(kind, fully_connected_fabric(ranks, kLink), elements) {}

  std::variant<Pick, TypeError> picked() const {
    Paths paths(fabric);
    const ScheduleMaker maker(device, Limits());
    QuietTimer timer(paths, maker, Limits(), most_steps, nullptr, nullptr, most_checked);
    Groupings groupings(fabric);
    return pick_method({asked, request, {Dtype::F32}, groupings.of(groups)}, transport, maker,
                       timer);
  }

  std::string pick() const {
    const auto picked = this->picked();
    if (const auto* error = std::get_if<TypeError>(&picked))
      return error->parameter + ": " + error->message;
    return choice_of(std::get<Pick>(picked).method).method() + ": " +
           std::get<Pick>(picked).because;
  }

  /// Returns the time of the first group by an algorithm, with a lower bound of it.
  struct Timed {
    QuietTime time;
    Duration at_least;
  };
  Timed time(const Method& method) const {
    Paths paths(fabric);
    const ScheduleMaker maker(device, Limits());
    QuietTimer timer(paths, maker, Limits(), most_steps);
    const SharedList<VertexId> ranks = vertices_of(groups[0]);
    ScheduleRequest of_group = request;
    of_group.nodes = static_cast<uint32_t>(ranks.size());
    of_group.layout = layout_of(fabric, ranks);
    return {std::get<QuietTime>(timer.of(method, asked, of_group, {Dtype::F32}, ranks)),
            timer.at_least(method, asked, of_group, {Dtype::F32}, ranks)};
  }

  Fabric fabric;
  std::vector<Group> groups;
  ScheduleRequest request;
  Hints asked;
  std::optional<TransportFigures> transport;
  DeviceFigures device;
  uint64_t most_steps = 0;    // groups of more than 64 ranks are timed in smaller sizes
  uint64_t most_checked = 0;  // and also if their method would be chosen
};

inline std::string pick(OpKind kind, uint32_t ranks, int64_t elements) {
  return ChoiceSite(kind, ranks, elements).pick();
}

inline Group group(std::initializer_list<uint32_t> devices) {
  Group group;
  for (const uint32_t device : devices)
    group.emplace_back(device);
  return group;
}

/// Returns the time of a message of `elements` f32 over one link with this latency.
inline Duration hop(int64_t elements, Duration latency) {
  return latency + transfer_time(Bytes(4) * elements, kLink.bandwidth);
}

/// Returns the time of 2(n-1) hops to the next rank, each with the largest chunk (Patarasuk and
/// Yuan, 2009), or with the largest part of it if several rings share the chunk.
inline Duration ring_time(int64_t ranks, int64_t elements, Duration latency, int64_t rings = 1) {
  return hop(ceil_divide(ceil_divide(elements, ranks), rings), latency) * (2 * (ranks - 1));
}

/// Returns the same with the larger half of the largest chunk.
inline Duration both_ways_time(int64_t ranks, int64_t elements, Duration latency,
                               int64_t rings = 1) {
  return hop(ceil_divide(ceil_divide(ceil_divide(elements, ranks), 2), rings), latency) *
         (2 * (ranks - 1));
}

/// Returns the time of log2 n hops with all the data (Thakur, Rabenseifner and Gropp, 2005).
/// Requires a power of two.
inline Duration doubling_time(uint32_t ranks, int64_t elements, Duration latency) {
  return hop(elements, latency) * (std::bit_width(ranks) - 1);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Returns whether a reason says "recursive_doubling 3 us". It rounds the times if the two exact
/// ones have different units.
inline bool says(const std::string& text, const std::string& algorithm, Duration takes) {
  return contains(text, algorithm + " " + quantity_text(takes)) ||
         contains(text, algorithm + " " + time_text(takes, true));
}

/// Returns the algorithm of the kind that has this name. Requires that there is one.
inline const Algorithm* algorithm_called(OpKind kind, std::string_view name) {
  for (const Algorithm* const each : algorithms_for(kind))
    if (each->name == name)
      return each;
  return nullptr;
}

}  // namespace orrery::test
