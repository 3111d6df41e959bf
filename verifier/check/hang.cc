#include "verifier/check/hang.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

/// Follows who waits for whom, starting at a device that cannot continue.
class WaitFor {
 public:
  WaitFor(const Program& program, const Stop& stop)
      : program_(program), stop_(stop), lists_(*stop.lists) {
    for (const Stop::StuckCollective& stuck : stop.collectives)
      stuck_.emplace(stuck.id, &stuck);
  }

  Check explain() {
    std::vector<Visit> path;
    EnterRef at = blocked_in(first_stuck());
    for (;;) {
      const Visit visit = look(at);
      if (!visit.needs)
        return schedule_stuck(visit);
      const auto again = std::find_if(path.begin(), path.end(), [&](const Visit& earlier) {
        return earlier.entry.list == visit.entry.list && earlier.collective == visit.collective;
      });
      if (again != path.end()) {
        path.erase(path.begin(), again);
        std::rotate(path.begin(),
                    std::min_element(
                        path.begin(), path.end(),
                        [](const Visit& a, const Visit& b) { return a.entry.list < b.entry.list; }),
                    path.end());
        return cycle(path);
      }
      path.push_back(visit);
      at = blocked_in({visit.needs->list, {MomentKind::Entered, visit.needs->enter}});
    }
  }

 private:
  /// A moment that has not happened.
  struct Missing {
    ListId list;
    Moment moment;
  };

  /// A device that has entered a collective, and cannot continue until another device enters it.
  struct Visit {
    EnterRef entry;
    CollectiveId collective;
    std::optional<EnterRef> needs;  // who has not entered it; empty: all have
  };

  /// The first device that is stuck. If all came to the end of their lists: the first with a
  /// collective in flight that cannot continue.
  Missing first_stuck() const {
    if (const std::vector<ListId> waiting = stop_.waiting(); !waiting.empty())
      return {waiting.front(), {MomentKind::Passed, stop_.progress.next(waiting.front())}};
    for (const Stop::StuckCollective& stuck : stop_.collectives) {
      if (stuck.parked.empty())
        continue;
      const EnterRef entry = lists_.enter_of(stuck.id, stuck.parked.front().half.step.node);
      return {entry.list, {MomentKind::Ended, entry.enter}};
    }
    fail_check("found", "a program that stopped has a channel that cannot go on", __FILE__,
               __LINE__);
  }

  /// The collective that the device has entered and whose end it needs first. Found by following
  /// missing causes, the first one each time.
  EnterRef blocked_in(Missing missing) const {
    while (const std::optional<Moment> cause =
               stop_.progress.first_unmet(missing.list, missing.moment))
      missing.moment = *cause;
    ORRERY_CHECK(missing.moment.kind == MomentKind::Ended,
                 "only the end of a collective can be missing alone");
    return {missing.list, missing.moment.instruction};
  }

  bool has_entered(CollectiveId id, Node node) const {
    const EnterRef entry = lists_.enter_of(id, node);
    return stop_.progress.happened(entry.list, {MomentKind::Entered, entry.enter});
  }

  const Parked* parked(CollectiveId id, Node node, std::optional<Channel> channel) const {
    for (const Parked& candidate : stuck_.at(id)->parked)
      if (candidate.half.step.node == node && (!channel || candidate.half.step.channel == *channel))
        return &candidate;
    return nullptr;
  }

  /// Why the device's steps in its blocking collective do not continue.
  Visit look(EnterRef entry) const {
    const auto [id, node] = lists_.member(entry);
    const Parked* at = parked(id, node, std::nullopt);
    std::vector<StepRef> seen;
    for (;;) {
      const Cause& cause = at->cause;
      if (!has_entered(id, cause.step.node))
        return {entry, id, lists_.enter_of(id, cause.step.node)};
      if (std::find(seen.begin(), seen.end(), at->half.step) != seen.end())
        return {entry, id, std::nullopt};
      seen.push_back(at->half.step);
      at = parked(id, cause.step.node, cause.step.channel);
    }
  }

  const Op& op_of(EnterRef entry) const { return program_.op(lists_.op(entry)); }
  const List& list_of(EnterRef entry) const { return lists_[entry.list]; }

  Check cycle(const std::vector<Visit>& path) const {
    std::string text = "The program cannot end: ";
    std::string orders;
    Witness witness;
    for (size_t i = 0; i < path.size(); ++i) {
      const Visit& visit = path[i];
      const Op& held = op_of(visit.entry);
      const Op& missing = op_of(*visit.needs);
      const List& list = list_of(visit.entry);
      const std::string edge = fmt::format(
          "device {} waits in {} for device {} to enter {}", list.device.index(), quoted(held.name),
          list_of(*visit.needs).device.index(), quoted(missing.name));
      text += (i == 0 ? "" : "; ") + edge;
      witness.emplace_back("waits", edge);

      const Visit& before = path[(i + path.size() - 1) % path.size()];
      const Op& later = op_of(*before.needs);  // by the device of this visit
      orders += fmt::format("{} thread {} issues {} before {}", orders.empty() ? "" : ";",
                            quoted(program_.thread(list.thread).name), quoted(held.name),
                            quoted(later.name));
      witness.emplace_back("order", fmt::format("{} before {}", held.name, later.name));
    }
    const Op& first = op_of(path.front().entry);
    return failed(CheckKind::DeadlockFree, pointer_of(first),
                  text + ". The orders conflict:" + orders + ".", std::move(witness));
  }

  Check schedule_stuck(const Visit& visit) const {
    const Op& op = op_of(visit.entry);
    const std::string steps = stuck_text(stuck_.at(visit.collective)->parked);
    return failed(CheckKind::DeadlockFree, pointer_of(op),
                  fmt::format("The schedule of {} cannot end: {}.", quoted(op.name), steps),
                  {{"op", op.name},
                   {"device", std::to_string(list_of(visit.entry).device.index())},
                   {"steps", steps}});
  }

  const Program& program_;
  const Stop& stop_;
  const ProgramLists& lists_;
  std::map<CollectiveId, const Stop::StuckCollective*> stuck_;
};

std::string edge_text(const Parked& parked) {
  const std::string who = step_text(parked.half.step);
  const std::string whom = step_text(parked.cause.step);
  switch (parked.cause.kind) {
    case CauseKind::Enter:
      return fmt::format("{} waits for node {} to enter", who, parked.cause.step.node.index());
    case CauseKind::Order:
      return fmt::format("{} comes after {}", who, whom);
    case CauseKind::After:
      return fmt::format("{} waits for the end of {}", who, whom);
    case CauseKind::Message:
      return fmt::format("{} waits for the message of {}", who, whom);
    case CauseKind::Credit:
      return fmt::format("{} waits to send until {} frees a slot", who, whom);
  }
  fail_check("a cause kind", "a cause is one of the enumeration", __FILE__, __LINE__);
}

}  // namespace

Check deadlock_free() {
  return passed(CheckKind::DeadlockFree, "/program");
}

Check deadlock_free(const Program& program, const Stop& stop) {
  if (stop.finished())
    return deadlock_free();
  return WaitFor(program, stop).explain();
}

std::vector<Parked> waiting_cycle(const std::vector<Parked>& parked) {
  const auto place = [](const StepRef& step) { return std::pair(step.node, step.channel); };
  constexpr size_t kUnseen = std::numeric_limits<size_t>::max();
  std::vector<size_t> position(parked.size(), kUnseen);  // in the path
  std::vector<Parked> path;
  for (size_t at = 0; position[at] == kUnseen;) {
    position[at] = path.size();
    path.push_back(parked[at]);
    // They are in the order of their channels.
    const auto next = std::lower_bound(parked.begin(), parked.end(), place(parked[at].cause.step),
                                       [&](const Parked& candidate, const auto& wanted) {
                                         return place(candidate.half.step) < wanted;
                                       });
    if (next == parked.end() || place(next->half.step) != place(parked[at].cause.step))
      return path;  // it waits for a channel that has ended
    at = static_cast<size_t>(next - parked.begin());
    if (position[at] != kUnseen)
      return {path.begin() + static_cast<std::ptrdiff_t>(position[at]), path.end()};
  }
  return path;
}

std::string stuck_text(const std::vector<Parked>& parked) {
  std::string text;
  for (const Parked& each : waiting_cycle(parked))
    text += (text.empty() ? "" : "; ") + edge_text(each);
  return text;
}

}  // namespace orrery
