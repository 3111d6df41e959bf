#include "tools/import/msccl_steps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"

namespace orrery {
namespace {

constexpr size_t kMostFused = 16;  // MSCCL_MAX_REDUCE_FUSION

/// Returns whether two re steps are into the same place, from the same buffer.
bool same_place(const ParsedStep& a, const ParsedStep& b) {
  return a.source && a.target && b.source && b.target && a.target->area == b.target->area &&
         a.target->first == b.target->first && a.source->area == b.source->area;
}

/// Sets the transfers' flags. The interpreter counts every step, each re of a chain too, and nops
/// that wait. Such nops are counted at the step that makes their waits.
void number(std::vector<Transfer>& transfers, const std::vector<ParsedStep>& steps) {
  uint32_t count = 0;
  for (Transfer& transfer : transfers) {
    for (const uint32_t nop : transfer.nops)
      count += steps[nop].waits ? 1 : 0;
    count += static_cast<uint32_t>(transfer.steps.size());
    transfer.flag = count - 1;
  }
}

using PeersOnChannel = std::tuple<uint32_t, uint32_t, int64_t>;  // from, to, chan

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

  void add(const PeersOnChannel& connection, const Ends& ends) {
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
  /// Returns one side of a connection: "gpu 1 tb 0", or "gpu 1" if none of its thread blocks has
  /// that peer.
  std::string side_text(uint32_t gpu, int64_t MscclBlock::*direction, uint32_t peer,
                        int64_t channel) const {
    for (const MscclBlock& block : algorithm_.blocks[gpu])
      if (block.*direction == int64_t{peer} && block.channel == channel)
        return fmt::format("gpu {} tb {}", gpu, block.id);
    return fmt::format("gpu {}", gpu);
  }

  /// Returns the number of connections with this many messages at both ends.
  size_t likes(size_t messages) const {
    const auto found = usual_.find(messages);
    return found == usual_.end() ? 0 : found->second;
  }

  MscclAlgorithm& algorithm_;
  std::map<size_t, size_t> usual_;
};

class Waits {
 public:
  Waits(MscclAlgorithm& algorithm, const std::vector<ThreadBlock>& blocks, uint32_t gpu)
      : algorithm_(algorithm), blocks_(blocks), texts_(algorithm.blocks[gpu]), gpu_(gpu) {
    for (uint32_t b = 0; b < texts_.size(); ++b) {
      by_id_.emplace(texts_[b].id, b);
      std::vector<Flag>& flags = flags_.emplace_back();
      for (uint32_t s = 0; s < texts_[b].steps.size(); ++s)
        if (const auto number = texts_[b].steps[s].flag)
          flags.push_back({*number, s});
    }
  }

  void resolve() {
    for (uint32_t b = 0; b < texts_.size(); ++b) {
      check_nops(b);
      for (uint32_t s = 0; s < texts_[b].steps.size(); ++s)
        if (texts_[b].steps[s].waits_for)
          resolve(b, s);
    }
  }

 private:
  struct Flag {
    uint32_t number;
    uint32_t step;
  };

  /// Refuses a transfer that makes the waits of nops and has no wait itself, as parsers do.
  void check_nops(uint32_t b) {
    const std::vector<MscclStepText>& steps = texts_[b].steps;
    for (const Transfer& transfer : blocks_[b].transfers.transfers) {
      const auto waiting =
          std::find_if(transfer.nops.begin(), transfer.nops.end(),
                       [&](uint32_t nop) { return steps[nop].waits_for.has_value(); });
      const MscclStepText& step = steps[transfer.steps.front()];
      if (waiting != transfer.nops.end() && !step.waits_for)
        algorithm_.refuse(
            "depid", fmt::format("gpu {} tb {} step {} (line {}) has no wait, and "
                                 "the nop on line {} before it waits",
                                 gpu_, texts_[b].id, step.number, step.line, steps[*waiting].line));
    }
  }

  void resolve(uint32_t b, uint32_t s) {
    const XmlElement& element = blocks_[b].elements[s];
    const auto [id, step] = *texts_[b].steps[s].waits_for;
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) {
      element.add_error("depid", fmt::format("gpu {} has no thread block {}", gpu_, id));
      return;
    }
    const uint32_t on = found->second;
    const size_t steps = texts_[on].steps.size();
    if (step < 0 || step >= static_cast<int64_t>(steps)) {
      element.add_error("deps", fmt::format("thread block {} has {}, so none is step {}", id,
                                            counted(static_cast<int64_t>(steps), "step"), step));
      return;
    }
    const std::optional<uint32_t> ends = first_with_flag(on, step);
    if (!ends || (on == b && *ends >= s))
      add_hang(b, s, on, step);
    else if (on != b)  // a step of its own thread block has ended by then
      algorithm_.steps[gpu_][b][s].after = StepRef{Node(gpu_), Channel(on), *ends};
  }

  /// Returns the first step of a thread block that sets the flag to `least` or more.
  std::optional<uint32_t> first_with_flag(uint32_t b, int64_t least) const {
    const auto found = std::lower_bound(flags_[b].begin(), flags_[b].end(), least,
                                        [](const Flag& f, int64_t n) { return f.number < n; });
    return found == flags_[b].end() ? std::nullopt : std::optional(found->step);
  }

  void add_hang(uint32_t b, uint32_t s, uint32_t on, int64_t named) {
    const MscclStepText& waiting = texts_[b].steps[s];
    const auto whom = std::find_if(texts_[on].steps.begin(), texts_[on].steps.end(),
                                   [&](const MscclStepText& step) { return step.number == named; });
    const auto& last_nops = blocks_[b].transfers.last_nops;
    const bool of_last_nop = std::find(last_nops.begin(), last_nops.end(), s) != last_nops.end();
    (of_last_nop ? algorithm_.hangs_of_last_nops : algorithm_.hangs)
        .add({fmt::format(
                  "gpu {} tb {} step {} (line {}) waits for tb {} step {} (line {}) for ever: {}.",
                  gpu_, texts_[b].id, waiting.number, waiting.line, texts_[on].id, named,
                  whom->line, why_never(b, s, on, named)),
              {}});
  }

  /// Returns why no step of a thread block sets its flag to `named`, or none before the waiting
  /// step.
  std::string why_never(uint32_t b, uint32_t s, uint32_t on, int64_t named) const {
    if (on == b && named >= texts_[b].steps[s].number)
      return "it is in the same thread block, and no earlier";
    const size_t end = on == b ? s : texts_[on].steps.size();
    bool nop_says_so = false;
    for (uint32_t i = 0; i < end; ++i) {
      const MscclStepText& step = texts_[on].steps[i];
      if (step.number < named)
        continue;
      if (step.flag)
        return fmt::format(
            "step {} (line {}) sets the flag {}: nops are counted where their waits "
            "are made, so not without one",
            step.number, step.line, *step.flag);
      nop_says_so |= step.type == "nop" && blocks_[on].elements[i].whole("hasdep", {0, 1}) == 1;
    }
    return fmt::format("{} a flag (hasdep=\"1\"{})",
                       on == b ? "no step between the two sets"
                               : "neither that step nor a later one of its thread block sets",
                       nop_says_so ? "; a nop sets none" : "");
  }

  MscclAlgorithm& algorithm_;
  const std::vector<ThreadBlock>& blocks_;
  const std::vector<MscclBlock>& texts_;
  uint32_t gpu_;
  std::map<int64_t, uint32_t> by_id_;
  std::vector<std::vector<Flag>> flags_;  // per thread block, ascending
};

}  // namespace

std::vector<uint32_t> Transfers::order() const {
  std::vector<uint32_t> order;
  for (const Transfer& transfer : transfers) {
    order.insert(order.end(), transfer.nops.begin(), transfer.nops.end());
    order.insert(order.end(), transfer.steps.begin(), transfer.steps.end());
  }
  order.insert(order.end(), last_nops.begin(), last_nops.end());
  return order;
}

Transfers transfers_of(const std::vector<ParsedStep>& steps) {
  Transfers result;
  std::vector<uint32_t> nops;  // those whose waits the next transfer makes
  bool chain_is_open = false;
  size_t reductions = 0;  // those of the thread block so far
  for (uint32_t s = 0; s < steps.size(); ++s) {
    const ParsedStep& step = steps[s];
    if (step.is_nop()) {
      nops.push_back(s);
      continue;
    }
    const bool continues = step.type == "re" && chain_is_open && !step.waits &&
                           same_place(steps[result.transfers.back().steps.front()], step);
    if (!continues) {
      result.transfers.emplace_back().nops = std::move(nops);
      nops.clear();
    }
    Transfer& transfer = result.transfers.back();
    transfer.steps.push_back(s);
    transfer.sets_flag = step.sets_flag;
    if (step.type == "re")
      ++reductions;
    chain_is_open = step.type == "re" && !step.sets_flag && reductions != kMostFused;
  }
  result.last_nops = std::move(nops);
  number(result.transfers, steps);
  return result;
}

void make_transfers(ThreadBlock& block, MscclBlock& read, std::vector<Step>& steps,
                    std::vector<ParsedStep> parsed) {
  const std::vector<uint32_t> order = transfers_of(parsed).order();
  const auto reorder = [&](auto& all) {
    std::decay_t<decltype(all)> ordered;
    for (const uint32_t s : order)
      ordered.push_back(std::move(all[s]));
    all = std::move(ordered);
  };
  reorder(block.elements);
  reorder(read.steps);
  reorder(steps);
  reorder(parsed);
  block.transfers = transfers_of(parsed);
  for (const Transfer& transfer : block.transfers.transfers) {
    for (size_t s = 1; s < transfer.steps.size(); ++s)
      read.steps[transfer.steps[s]].chained = true;
    if (transfer.sets_flag)
      read.steps[transfer.steps.back()].flag = transfer.flag;
  }
}

std::vector<StoredSchedule::Message> join_messages(
    MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks) {
  std::map<PeersOnChannel, Ends> connections;
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

std::optional<std::string> order_note(const MscclAlgorithm& algorithm) {
  std::string first;
  int64_t count = 0;
  for (uint32_t gpu = 0; gpu < algorithm.blocks.size(); ++gpu) {
    for (const MscclBlock& block : algorithm.blocks[gpu]) {
      for (const MscclStepText& text : block.steps) {
        if (text.stated == text.number)
          continue;
        if (count++ == 0)
          first = fmt::format("gpu {} tb {} step {} (line {}) has s=\"{}\"", gpu, block.id,
                              text.number, text.line, text.stated);
      }
    }
  }
  if (count == 0)
    return std::nullopt;
  return fmt::format(
      "{}: runtimes run the steps of a thread block in the order of the file and number them so, "
      "and deps names that number ({} with another s)",
      first, counted(count, "step"));
}

void resolve_waits(MscclAlgorithm& algorithm, const std::vector<std::vector<ThreadBlock>>& blocks) {
  for (uint32_t gpu = 0; gpu < blocks.size(); ++gpu)
    Waits(algorithm, blocks[gpu], gpu).resolve();
}

}  // namespace orrery
