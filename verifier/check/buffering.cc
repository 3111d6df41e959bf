#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "models/program/loops.h"
#include "models/program/sides.h"
#include "simulator/schedule/program_walk.h"
#include "simulator/schedule/walk.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

/// This is a transfer's schedule in which a sender waits until its receiver has entered, and for
/// nothing else. A message that is kept for a receiver is kept whole, however many pieces it has.
class Unbuffered final : public Schedule {
 public:
  explicit Unbuffered(const Schedule& schedule) : schedule_(schedule), extent_(schedule.extent()) {
    extent_.entry = Entry::Rendezvous;
  }

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override {
    return schedule_.steps(node, channel);
  }
  Step step(StepRef ref) const override { return schedule_.step(ref); }
  StepRef peer(StepRef ref, Half half) const override { return schedule_.peer(ref, half); }
  std::optional<StepRef> takes_slot_of(StepRef) const override { return std::nullopt; }

 private:
  const Schedule& schedule_;
  Extent extent_;
};

/// A map from the schedule of each transfer to the schedule that waits; only looked up.
using UnbufferedSchedules = std::map<const Schedule*, Unbuffered>;

UnbufferedSchedules unbuffered(const Lowered& lowered) {
  UnbufferedSchedules schedules;
  for (const Collective& collective : lowered.collectives)
    if (collective.transfer)
      schedules.try_emplace(collective.schedule, *collective.schedule);
  return schedules;
}

/// It walks the program. Where nothing can go on, it lets a send go whose receiver has not come.
class Need {
 public:
  Need(const Program& program, const Lowered& lowered)
      : lowered_(lowered),
        schedules_(unbuffered(lowered)),
        visitor_{{}, *this},
        walk_(program, lowered, visitor_, [this](const Collective& collective) -> const Schedule& {
          const auto known = schedules_.find(collective.schedule);
          return known == schedules_.end() ? *collective.schedule : known->second;
        }) {}

  BufferNeed run() {
    BufferNeed need;
    uint32_t allowed = 0;
    walk_.begin();
    while (!walk_.progress().finished()) {
      const std::vector<CollectiveRun> held = held_sends();
      if (held.empty() && std::ranges::all_of(devices_, [](const auto& device) {
            return device.second.waiting.empty();
          }))
        return need;
      if (const auto send = next_to_keep(held, allowed)) {
        keep(*send, held, allowed, need.kept);
        continue;
      }
      ++allowed;
      need.least = need.least && !chose_;
    }
    need.messages = allowed;
    return need;
  }

 private:
  static constexpr Node kSender{0};
  static constexpr Node kReceiver{1};

  /// A Device has the sends of a device whose receivers have not entered.
  struct Device {
    std::set<CollectiveRun> waiting;  // senders that wait for nothing else
    std::set<CollectiveRun> kept;     // messages that are kept
  };

  /// It follows which senders wait.
  struct Waiting : NoVisitor {
    Need& need;

    void enter(CollectiveRun run, Node node, OpRun) {
      if (!need.is_send(run))
        return;
      Device& device = need.device_of(run);
      if (node == kReceiver) {
        device.waiting.erase(run);
        device.kept.erase(run);
      } else if (!need.is_held(run) && !need.has_entered(run, kReceiver)) {
        device.waiting.insert(run);
      }
    }
    /// A send of no elements ends without its receiver.
    void exit(CollectiveRun run, Node node, OpRun) {
      if (node == kSender && need.is_send(run))
        need.device_of(run).waiting.erase(run);
    }
  };

  bool is_send(CollectiveRun run) const {
    const Collective& collective = lowered_.collective(run.collective);
    return collective.transfer == TransferGroup::Pair && collective.absent.empty();
  }
  LogicalId sender_of(CollectiveRun run) const {
    return lowered_.collective(run.collective).members[kSender.index()];
  }
  Device& device_of(CollectiveRun run) { return devices_[sender_of(run)]; }

  EnterRef end_of(CollectiveRun run, Node end) const {
    return walk_.lists().enter_of(run.collective, end, run.iteration);
  }
  bool has_entered(CollectiveRun run, Node end) const {
    const EnterRef entry = end_of(run, end);
    return walk_.progress().happened(entry.list, {MomentKind::Entered, entry.enter});
  }
  /// Returns whether the sender begins together with others.
  bool is_held(CollectiveRun run) const {
    return walk_.groups() && walk_.groups()->holds(end_of(run, kSender));
  }

  /// Returns the sends that wait for others that begin together with them.
  std::vector<CollectiveRun> held_sends() const {
    std::vector<CollectiveRun> held;
    if (walk_.groups())
      for (const EnterRef& entry : walk_.groups()->waiting())
        if (const CollectiveRun run = walk_.lists().run(entry);
            is_send(run) && walk_.lists().member(entry).node == kSender)
          held.push_back(run);
    return held;
  }

  /// Returns the first of the sends whose device has fewer messages kept than are allowed.
  std::optional<CollectiveRun> next_to_keep(const std::vector<CollectiveRun>& held,
                                            uint32_t allowed) {
    std::optional<CollectiveRun> next;
    for (const auto& [id, device] : devices_)
      if (!device.waiting.empty() && device.kept.size() < allowed &&
          (!next || *device.waiting.begin() < *next))
        next = *device.waiting.begin();
    for (auto run = held.begin(); !next && run != held.end(); ++run)
      if (device_of(*run).kept.size() < allowed)
        next = *run;
    return next;
  }

  /// Lets the send go on.
  void keep(CollectiveRun run, const std::vector<CollectiveRun>& held, uint32_t allowed,
            std::vector<Buffered>& kept) {
    Device& device = device_of(run);
    const auto others = std::ranges::count_if(
        held, [&](CollectiveRun other) { return sender_of(other) == sender_of(run); });
    chose_ = chose_ ||
             device.kept.size() + device.waiting.size() + static_cast<size_t>(others) > allowed;
    device.waiting.erase(run);
    if (!has_entered(run, kReceiver))  // a receiver that is held has entered
      device.kept.insert(run);
    const Collective& collective = lowered_.collective(run.collective);
    kept.push_back({walk_.lists().op(run.collective, kSender), sender_of(run),
                    collective.members[kReceiver.index()]});
    walk_.let_send_to(run, kReceiver);
  }

  const Lowered& lowered_;
  const UnbufferedSchedules schedules_;
  Waiting visitor_;
  std::map<LogicalId, Device> devices_;
  bool chose_ = false;  // only some of a device's waiting messages were kept
  ProgramWalk<Waiting> walk_;
};

}  // namespace

BufferNeed buffer_need(const Program& program, const Lowered& lowered) {
  return Need(program, lowered).run();
}

namespace {

/// Returns the program's first psend or precv.
const Op* first_half(const Program& program) {
  const auto first = std::find_if(program.ops.begin(), program.ops.end(), [](const Op& op) {
    return op.site && side_of(op) != Side::Both;
  });
  return first == program.ops.end() ? nullptr : &*first;
}

constexpr const char* kNoEnd = "The program cannot end, however many messages are buffered.";

/// Returns a row for each message that is kept. If there are too many, psends whose names differ in
/// numbers only share one.
Witness witness_of(const Program& program, const BufferNeed& need) {
  Witness witness;
  if (rows_shown(need.kept.size()) == need.kept.size()) {
    for (const auto& kept : need.kept)
      witness.emplace_back(fmt::format("device {}", kept.from.index()),
                           fmt::format("goes on from {} before device {} is at its precv",
                                       quoted_name(program.op(kept.send)), kept.to.index()));
    return witness;
  }
  std::vector<std::string> sends;
  for (const auto& kept : need.kept)
    sends.emplace_back(given_name(program.op(kept.send)));
  const std::vector<std::vector<size_t>> groups = alike_but_for_numbers(sends);
  for (size_t g = 0; g < rows_shown(groups.size()); ++g) {
    std::vector<std::string_view> names;
    std::set<LogicalId> from;
    for (const size_t k : groups[g]) {
      names.push_back(sends[k]);
      from.insert(need.kept[k].from);
    }
    witness.emplace_back(
        devices_text(std::vector<LogicalId>(from.begin(), from.end())),
        fmt::format("{} on from {} before {} at its precv", from.size() == 1 ? "goes" : "go",
                    quoted(common_id(names)),
                    from.size() == 1 ? "a receiver is" : "the receiver of each is"));
  }
  add_row_of_rest(witness, groups.size());
  return witness;
}

/// Returns the sentence on a need. Requires that `need.messages` has a number, and not 0.
/// `ends` says whether the program ends with the buffers that it has.
std::string text_of(const Program& program, const BufferNeed& need, bool ends) {
  const std::string messages = fmt::format("{}{} message{} under way that nobody receives yet",
                                           leaves_out_iterations(program) ? "at least " : "",
                                           *need.messages, *need.messages == 1 ? "" : "s");
  if (!ends)
    return fmt::format("The program would end only if a device could have {}.", messages);
  return need.least ? fmt::format(
                          "The program is safe only by buffering: a device must be able to "
                          "have {}.",
                          messages)
                    : fmt::format(
                          "The program is safe only by buffering: it is enough that a "
                          "device can have {}. Fewer may do where other started sends are "
                          "kept.",
                          messages);
}

}  // namespace

std::optional<Check> sends_unbuffered(const Program& program, const Lowered& lowered, bool ends) {
  const Op* const first = first_half(program);
  if (first == nullptr)
    return std::nullopt;
  const BufferNeed need = buffer_need(program, lowered);
  if (!need.messages)
    return failed(CheckKind::SendsUnbuffered, pointer_of(*first), kNoEnd);
  if (*need.messages == 0)
    return passed(CheckKind::SendsUnbuffered, pointer_of(*first));
  return failed(CheckKind::SendsUnbuffered, pointer_of(program.op(need.kept.front().send)),
                text_of(program, need, ends), witness_of(program, need));
}

Check sends_buffered(const Program& program, const Lowered& lowered, bool ends, int64_t most,
                     const std::string& of) {
  constexpr CheckKind kKind = CheckKind::SendsBuffered;
  if (first_half(program) == nullptr)
    return passed(kKind, of, "The program has no psend.");
  const BufferNeed need = buffer_need(program, lowered);
  if (!need.messages)
    return failed(kKind, of, kNoEnd);
  if (*need.messages == 0)
    return passed(kKind, of, std::string(info(CheckKind::SendsUnbuffered).promises));
  const std::string text = fmt::format(
      "{} Expected are at most {}.{}", text_of(program, need, ends), most,
      leaves_out_iterations(program) ? " Iterations of loops that are left out may need more."
                                     : "");
  const bool is_enough = *need.messages <= most;
  if (is_enough && !leaves_out_iterations(program))
    return passed(kKind, of, text);
  if (is_enough || !need.least)
    return undecided(kKind, of, text, witness_of(program, need));
  return failed(kKind, of, text, witness_of(program, need));
}

}  // namespace orrery
