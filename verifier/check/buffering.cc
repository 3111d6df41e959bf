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

class Need {
 public:
  Need(const Program& program, const Lowered& lowered)
      : lowered_(lowered),
        schedules_(unbuffered(lowered)),
        walk_(program, lowered, visitor_, [this](const Collective& collective) -> const Schedule& {
          const auto known = schedules_.find(collective.schedule);
          return known == schedules_.end() ? *collective.schedule : known->second;
        }) {}

  BufferNeed run() {
    BufferNeed need;
    uint32_t allowed = 0;
    walk_.begin();
    while (!walk_.progress().finished()) {
      const std::vector<CollectiveRun> waiting = waiting_sends();
      if (waiting.empty())
        return need;
      if (keep(waiting, allowed, need.kept))
        continue;
      ++allowed;
      need.least = need.least && !chose_;
    }
    need.messages = allowed;
    return need;
  }

 private:
  static constexpr uint32_t kSender = 0;
  static constexpr uint32_t kReceiver = 1;

  EnterRef end_of(CollectiveRun run, uint32_t end) const {
    return walk_.lists().enter_of(run.collective, Node(end), run.iteration);
  }

  /// Returns the transfers whose senders wait only for the receiver, whether or not it ever comes,
  /// or for others that begin together with them.
  std::vector<CollectiveRun> waiting_sends() const {
    std::vector<CollectiveRun> waiting;
    for (const Stop::StuckCollective& stuck : walk_.stuck()) {
      const bool waits =
          std::any_of(stuck.parked.begin(), stuck.parked.end(), [&](const Parked& at) {
            return at.cause.kind == CauseKind::Enter && at.cause.step.node != at.half.step.node;
          });
      const Collective& collective = lowered_.collective(stuck.run.collective);
      if (waits && collective.transfer == TransferGroup::Pair && collective.absent.empty())
        waiting.push_back(stuck.run);
    }
    if (walk_.groups())
      for (const EnterRef& held : walk_.groups()->waiting())
        if (const Collective& collective = walk_.lists().collective(held);
            collective.transfer == TransferGroup::Pair && collective.absent.empty() &&
            walk_.lists().member(held).node == Node(kSender))
          waiting.push_back(walk_.lists().run(held));
    return waiting;
  }

  /// Lets one of the sends go on: the first whose device has fewer messages kept than are allowed.
  /// Returns whether there was one.
  bool keep(const std::vector<CollectiveRun>& waiting, uint32_t allowed,
            std::vector<Buffered>& kept) {
    for (const CollectiveRun& run : waiting) {
      const CollectiveId id = run.collective;
      const Collective& collective = lowered_.collective(id);
      std::vector<CollectiveRun>& of_device = kept_of_[collective.members[kSender]];
      std::erase_if(of_device, [&](const CollectiveRun& earlier) {
        const EnterRef receiver = end_of(earlier, kReceiver);
        return walk_.progress().happened(receiver.list, {MomentKind::Entered, receiver.enter});
      });
      if (of_device.size() >= allowed)
        continue;
      const auto others =
          std::count_if(waiting.begin(), waiting.end(), [&](const CollectiveRun& other) {
            return lowered_.collective(other.collective).members[kSender] ==
                   collective.members[kSender];
          });
      chose_ = chose_ || of_device.size() + static_cast<size_t>(others) > allowed;
      of_device.push_back(run);
      kept.push_back({walk_.lists().op(id, Node(kSender)), collective.members[kSender],
                      collective.members[kReceiver]});
      walk_.let_send_to(run, Node(kReceiver));
      return true;
    }
    return false;
  }

  const Lowered& lowered_;
  const UnbufferedSchedules schedules_;
  NoVisitor visitor_;
  std::map<LogicalId, std::vector<CollectiveRun>> kept_of_;
  bool chose_ = false;  // only some of a device's waiting messages were kept
  ProgramWalk<NoVisitor> walk_;
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
  const std::string text =
      fmt::format("{} Expected are at most {}.", text_of(program, need, ends), most);
  const bool is_enough = *need.messages <= most;
  if (is_enough && !leaves_out_iterations(program))
    return passed(kKind, of, text);
  if (is_enough || !need.least)
    return undecided(kKind, of, text, witness_of(program, need));
  return failed(kKind, of, text, witness_of(program, need));
}

}  // namespace orrery
