#include "tools/import/msccl_messages.h"

#include <map>
#include <tuple>

#include <fmt/format.h>

namespace orrery {
namespace {

/// One end of a message: its step, and the element to report errors at.
struct End {
  StepRef step;
  const XmlElement* element = nullptr;
  int64_t chunks = 0;
};

using Connection = std::tuple<uint32_t, uint32_t, int64_t>;  // from, to, chan

/// The ends of each connection's messages, in the order of their steps.
using Connections = std::map<Connection, std::vector<End>>;

void join(const Connection& connection, const std::vector<End>& sends,
          const std::vector<End>& receives, std::vector<StoredSchedule::Message>& messages) {
  const auto& [from, to, channel] = connection;
  if (sends.size() != receives.size()) {
    const End& lonely =
        sends.size() > receives.size() ? sends[receives.size()] : receives[sends.size()];
    lonely.element->add_error(
        fmt::format("on channel {}, gpu {} sends {} messages to gpu {}, which receives {}", channel,
                    from, sends.size(), to, receives.size()));
    return;
  }
  for (size_t m = 0; m < sends.size(); ++m) {
    if (sends[m].chunks != receives[m].chunks)
      receives[m].element->add_error("cnt", fmt::format("receives {} chunks where gpu {} sends {}",
                                                        receives[m].chunks, from, sends[m].chunks));
    messages.push_back({sends[m].step, receives[m].step});
  }
}

}  // namespace

std::vector<StoredSchedule::Message> join_messages(
    const StoredSteps& steps, const std::vector<std::vector<ThreadBlock>>& blocks) {
  Connections sends;
  Connections receives;
  for (uint32_t gpu = 0; gpu < blocks.size(); ++gpu) {
    for (size_t b = 0; b < blocks[gpu].size(); ++b) {
      const ThreadBlock& block = blocks[gpu][b];
      for (uint32_t s = 0; s < block.elements.size(); ++s) {
        const Step& step = steps[gpu][b][s];
        const End end{{Node(gpu), Channel(b), s}, &block.elements[s], step.count()};
        if (step.to)
          sends[{gpu, step.to->index(), block.channel}].push_back(end);
        if (step.from)
          receives[{step.from->index(), gpu, block.channel}].push_back(end);
      }
    }
  }
  std::vector<StoredSchedule::Message> messages;
  for (const auto& [connection, ends] : sends)
    join(connection, ends, receives[connection], messages);
  for (const auto& [connection, ends] : receives)
    if (sends.find(connection) == sends.end())
      join(connection, {}, ends, messages);
  return messages;
}

}  // namespace orrery
