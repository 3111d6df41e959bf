#include "simulator/algorithm/direct.h"

namespace orrery {

std::unique_ptr<DirectSchedule> direct_all_to_all(uint32_t nodes, int64_t part,
                                                  Transport transport) {
  std::vector<std::vector<Turn>> rounds(nodes);
  for (uint32_t distance = 0; distance < nodes; ++distance) {
    for (uint32_t r = 0; r < nodes; ++r) {
      const uint32_t to = (r + distance) % nodes;
      const uint32_t from = (r + nodes - distance) % nodes;
      rounds[distance].push_back({Node(to), Slice{Area::Input, to * part, part}, Node(from),
                                  Slice{Area::Output, from * part, part}});
    }
  }
  Extent areas;
  areas.input = nodes * part;
  areas.output = nodes * part;
  return std::make_unique<DirectSchedule>(areas, std::move(rounds), transport);
}

std::unique_ptr<DirectSchedule> direct_permute(uint32_t nodes, int64_t count,
                                               const std::vector<SourceDestination>& pairs,
                                               Transport transport) {
  std::vector<std::vector<Turn>> rounds(1, std::vector<Turn>(nodes));
  std::vector<Turn>& round = rounds.front();
  for (const auto& [from, to] : pairs) {
    round[from.index()].to = to;
    round[from.index()].source = Slice{Area::Input, 0, count};
    round[to.index()].from = from;
    round[to.index()].target = Slice{Area::Output, 0, count};
  }
  Extent areas;
  areas.input = count;
  areas.output = count;
  areas.zero_output = pairs.size() < nodes;
  return std::make_unique<DirectSchedule>(areas, std::move(rounds), transport);
}

}  // namespace orrery
