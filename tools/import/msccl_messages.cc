#include "tools/import/msccl_messages.h"

#include <map>
#include <tuple>

#include <fmt/format.h>

#include "models/base/amount_text.h"

namespace orrery {
namespace {

using Connection = std::tuple<uint32_t, uint32_t, int64_t>;  // from, to, chan

/// The steps at the two ends of a connection, in order.
struct Ends {
  std::vector<StepRef> sends;
  std::vector<StepRef> receives;
};

std::string messages_text(size_t count) {
  return counted(static_cast<int64_t>(count), "message");
}

/// Says what is wrong with connections of unequal ends. `usual` counts, for each number of
/// messages, the connections that have it at both ends.
class UnequalEnds {
 public:
  UnequalEnds(MscclAlgorithm& algorithm, std::map<size_t, size_t> usual)
      : algorithm_(algorithm), usual_(std::move(usual)) {}

  void add(const Connection& connection, const Ends& ends) {
    const auto& [from, to, channel] = connection;
    const size_t sent = ends.sends.size();
    const size_t received = ends.receives.size();
    const bool more_sent = sent > received;
    const StepRef first = more_sent ? ends.sends[received] : ends.receives[sent];
    const std::string unmatched = fmt::format(
        "gpu {} tb {} step {} ({}, line {})", first.node.index(), algorithm_.block(first).id,
        algorithm_.text(first).number, algorithm_.text(first).type, algorithm_.text(first).line);
    const std::string sender = side_text(from, &MscclBlock::send, to, channel);
    const std::string receiver = side_text(to, &MscclBlock::receive, from, channel);
    const std::string message = fmt::format(
        "On channel {}, {} sends {} to gpu {}, and {} receives {}: {}.", channel, sender,
        messages_text(sent), to, receiver, received,
        more_sent
            ? fmt::format("what {} sends is never taken, and a later collective would take it "
                          "for its own",
                          unmatched)
            : fmt::format("{} waits for ever", unmatched));
    CertainHang hang{
        message,
        {{"connection", fmt::format("gpu {} to gpu {} on channel {}", from, to, channel)},
         {"sends", fmt::format("{} by {}", sent, sender)},
         {"receives", fmt::format("{} by {}", received, receiver)},
         {"first without its other end", unmatched}}};
    if (const size_t like_sent = likes(sent), like_received = likes(received);
        like_sent != like_received) {
      const bool receiver_differs = like_sent > like_received;
      hang.witness.emplace_back(
          "probably edited",
          fmt::format("{}: {} of the other connections have {} at both ends",
                      receiver_differs ? receiver : sender, std::max(like_sent, like_received),
                      messages_text(receiver_differs ? sent : received)));
    }
    algorithm_.hangs.add(std::move(hang));
  }

 private:
  /// "gpu 1 tb 0", or "gpu 1" where none of its thread blocks has that peer.
  std::string side_text(uint32_t gpu, int64_t MscclBlock::*direction, uint32_t peer,
                        int64_t channel) const {
    for (const MscclBlock& block : algorithm_.blocks[gpu])
      if (block.*direction == int64_t{peer} && block.channel == channel)
        return fmt::format("gpu {} tb {}", gpu, block.id);
    return fmt::format("gpu {}", gpu);
  }

  /// Connections with this many messages at both ends.
  size_t likes(size_t messages) const {
    const auto found = usual_.find(messages);
    return found == usual_.end() ? 0 : found->second;
  }

  MscclAlgorithm& algorithm_;
  std::map<size_t, size_t> usual_;
};

}  // namespace

std::vector<StoredSchedule::Message> join_messages(
    MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks) {
  std::map<Connection, Ends> connections;
  for (uint32_t gpu = 0; gpu < blocks.size(); ++gpu) {
    for (size_t b = 0; b < blocks[gpu].size(); ++b) {
      const int64_t channel = algorithm.blocks[gpu][b].channel;
      for (uint32_t s = 0; s < blocks[gpu][b].elements.size(); ++s) {
        const StepRef ref{Node(gpu), Channel(b), s};
        const Step& step = algorithm.step(ref);
        if (step.to)
          connections[{gpu, step.to->index(), channel}].sends.push_back(ref);
        if (step.from)
          connections[{step.from->index(), gpu, channel}].receives.push_back(ref);
      }
    }
  }
  std::map<size_t, size_t> usual;
  for (const auto& [connection, ends] : connections)
    if (ends.sends.size() == ends.receives.size())
      ++usual[ends.sends.size()];
  UnequalEnds unequal(algorithm, std::move(usual));
  std::vector<StoredSchedule::Message> messages;
  for (const auto& [connection, ends] : connections) {
    if (ends.sends.size() != ends.receives.size()) {
      unequal.add(connection, ends);
      continue;
    }
    for (size_t m = 0; m < ends.sends.size(); ++m) {
      const StepRef send = ends.sends[m];
      const StepRef receive = ends.receives[m];
      const int64_t sent = algorithm.step(send).count();
      const int64_t received = algorithm.step(receive).count();
      if (sent != received)
        blocks[receive.node.index()][receive.channel.index()].elements[receive.index].add_error(
            "cnt",
            fmt::format("receives {} where gpu {} sends {} (line {})", counted(received, "chunk"),
                        send.node.index(), sent, algorithm.text(send).line));
      messages.push_back({send, receive});
    }
  }
  return messages;
}

}  // namespace orrery
