#include "simulator/algorithm/direct.h"

namespace orrery {

std::unique_ptr<DirectSchedule> direct_permute(uint32_t nodes, int64_t count,
                                               const std::vector<SourceDestination>& pairs,
                                               Transport transport) {
  std::vector<std::vector<DirectExchange>> rounds(1, std::vector<DirectExchange>(nodes));
  std::vector<DirectExchange>& round = rounds.front();
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
