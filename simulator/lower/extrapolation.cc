#include "simulator/lower/extrapolation.h"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/program/rules.h"

namespace orrery {
namespace {

bool contains(const CalibratedRange& range, uint32_t ranks, Bytes size) {
  return ranks >= range.least_ranks && ranks <= range.most_ranks && size >= range.least &&
         size <= range.most;
}

void extend(CalibratedRange& range, uint32_t ranks, Bytes size) {
  range.least_ranks = std::min(range.least_ranks, ranks);
  range.most_ranks = std::max(range.most_ranks, ranks);
  range.least = std::min(range.least, size);
  range.most = std::max(range.most, size);
}

std::string text(const CalibratedRange& range) {
  const std::string ranks =
      range.least_ranks == range.most_ranks
          ? counted(range.most_ranks, "rank")
          : fmt::format("{} to {} ranks", range.least_ranks, range.most_ranks);
  const std::string sizes =
      range.least == range.most
          ? size_text(range.most)
          : fmt::format("{} to {}", size_text(range.least), size_text(range.most));
  return fmt::format("{}, {}", ranks, sizes);
}

}  // namespace

Bytes largest_tensor(const Collective& collective) {
  return itemsize(collective.work) *
         std::max(collective.input.elements(), collective.output.elements());
}

std::vector<std::string> extrapolated_labels(const TransportFigures& transport,
                                             std::span<const Collective> collectives) {
  if (transport.calibrated.empty())
    return {};
  std::map<std::string_view, CalibratedRange> outside;
  for (const Collective& collective : collectives) {
    const auto ranks = static_cast<uint32_t>(collective.members.size());
    const std::string_view op = rules(timed_as(collective.kind)).name;
    const Bytes size = largest_tensor(collective);
    const auto range = transport.calibrated.find(op);
    if (ranks < 2 || size == Bytes() ||
        (range != transport.calibrated.end() && contains(range->second, ranks, size)))
      continue;
    const auto [found, first] = outside.try_emplace(op, CalibratedRange{ranks, ranks, size, size});
    if (!first)
      extend(found->second, ranks, size);
  }
  std::vector<std::string> labels;
  for (const auto& [op, range] : outside) {
    const auto calibrated = transport.calibrated.find(op);
    labels.push_back(fmt::format("transport: extrapolated to {} of {} ({})", op, text(range),
                                 calibrated == transport.calibrated.end()
                                     ? "not calibrated for this op"
                                     : "calibrated for " + text(calibrated->second)));
  }
  return labels;
}

}  // namespace orrery
