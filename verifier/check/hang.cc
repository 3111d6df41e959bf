#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/characters.h"
#include "models/base/check.h"
#include "models/program/sides.h"
#include "simulator/network/paths.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

/// Follows which device waits for which, starting at a device that cannot continue.
class WaitFor {
 public:
  WaitFor(const Program& program, const Lowered& lowered, const Stop& stop)
      : program_(program), lowered_(lowered), stop_(stop), lists_(*stop.lists) {
    for (const Stop::StuckCollective& stuck : stop.collectives)
      stuck_.emplace(stuck.run, &stuck);
  }

  /// Explains a program whose lists all came to their ends, though some member never came to a
  /// collective. Returns nothing if there is no such member.
  std::optional<Check> absent_from_ended() const {
    for (uint32_t c = 0; c < lowered_.collectives.size(); ++c) {
      const Collective& collective = lowered_.collectives[c];
      if (collective.absent.empty())
        continue;
      uint32_t entered = 0;
      while (!lists_.is_entered(CollectiveId(c), Node(entered)))
        ++entered;
      const CollectiveRun run{CollectiveId(c), 0};
      return member_absent({enter_of(run, Node(entered)), run, {}, {}});
    }
    return std::nullopt;
  }

  Check explain() {
    std::vector<Visit> path;
    EnterRef at = blocked_in(first_stuck());
    for (;;) {
      const Visit visit = look(at);
      if (visit.misses)
        return side_of(op_of(visit.entry)) == Side::Both ? member_absent(visit)
                                                         : unmatched(visit, *visit.misses);
      if (!visit.needs)
        return schedule_stuck(visit);
      const auto again = std::find_if(path.begin(), path.end(), [&](const Visit& earlier) {
        return earlier.entry.list == visit.entry.list && earlier.run == visit.run;
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
      at = is_held(*visit.needs)
               ? *visit.needs
               : blocked_in({visit.needs->list, {MomentKind::Entered, visit.needs->enter}});
    }
  }

 private:
  /// This is a moment of a list that has not happened.
  struct Missing {
    ListId list;
    Moment moment;
  };

  /// This is a device that has entered a collective, and cannot continue until another device
  /// enters it.
  struct Visit {
    EnterRef entry;
    CollectiveRun run;
    std::optional<EnterRef> needs;  // who has not entered it; empty if all have
    std::optional<Node> misses;     // the member that it waits for, if no op enters as that one
  };

  /// Returns the first device that is stuck. If all came to the end of their lists, it is the first
  /// with a collective in flight that cannot continue.
  Missing first_stuck() const {
    if (const std::vector<ListId> waiting = stop_.waiting(); !waiting.empty())
      return {waiting.front(), {MomentKind::Passed, stop_.progress.next(waiting.front())}};
    for (const Stop::StuckCollective& stuck : stop_.collectives) {
      if (stuck.parked.empty())
        continue;
      const Node node = stuck.parked.front().half.step.node;
      if (!lists_.is_entered(stuck.run.collective, node))
        continue;  // a switch comes after the members
      const EnterRef entry = enter_of(stuck.run, node);
      return {entry.list, {MomentKind::Ended, entry.enter}};
    }
    if (stop_.groups)
      if (const std::vector<EnterRef> held = stop_.groups->waiting(); !held.empty())
        return {held.front().list, {MomentKind::Ended, held.front().enter}};
    fail_check("found", "a program that stopped has a channel that cannot go on", __FILE__,
               __LINE__);
  }

  /// Returns the collective that the device has entered and whose end it needs first. Follows
  /// missing causes to find it, the first one each time.
  EnterRef blocked_in(Missing missing) const {
    while (const std::optional<Moment> cause =
               stop_.progress.first_unmet(missing.list, missing.moment))
      missing.moment = *cause;
    ORRERY_CHECK(missing.moment.kind == MomentKind::Ended,
                 "only the end of a collective can be missing alone");
    return {missing.list, missing.moment.position};
  }

  /// Returns whether the node has entered. A switch is always ready.
  bool has_entered(CollectiveRun run, Node node) const {
    if (!lists_.is_member(run.collective, node))
      return true;
    if (!lists_.is_entered(run.collective, node))
      return false;
    const EnterRef entry = enter_of(run, node);
    return stop_.progress.happened(entry.list, {MomentKind::Entered, entry.enter});
  }

  EnterRef enter_of(CollectiveRun run, Node node) const {
    return lists_.enter_of(run.collective, node, run.iteration);
  }

  const Parked* parked(CollectiveRun run, Node node, std::optional<Channel> channel) const {
    for (const Parked& candidate : stuck_.at(run)->parked)
      if (candidate.half.step.node == node && (!channel || candidate.half.step.channel == *channel))
        return &candidate;
    return nullptr;
  }

  /// Returns why the device's steps in its blocking collective do not continue.
  Visit look(EnterRef entry) const {
    const CollectiveRun run = lists_.run(entry);
    if (stop_.groups)
      if (const auto hop = stop_.groups->hop(entry))
        return {hop->from, lists_.run(hop->from), hop->to,
                hop->to ? std::nullopt : std::optional(hop->node)};
    const Parked* at = parked(run, lists_.member(entry).node, std::nullopt);
    std::vector<StepRef> seen;
    for (;;) {
      const Cause& cause = at->cause;
      if (!has_entered(run, cause.step.node))
        return lists_.is_entered(run.collective, cause.step.node)
                   ? Visit{entry, run, enter_of(run, cause.step.node), std::nullopt}
                   : Visit{entry, run, std::nullopt, cause.step.node};
      if (std::find(seen.begin(), seen.end(), at->half.step) != seen.end())
        return {entry, run, std::nullopt, std::nullopt};
      seen.push_back(at->half.step);
      at = parked(run, cause.step.node, cause.step.channel);
    }
  }

  /// Returns whether the member has entered, but waits for others that begin together with it.
  bool is_held(EnterRef entry) const { return stop_.groups && stop_.groups->is_waiting(entry); }

  const Op& op_of(EnterRef entry) const { return program_.op(lists_.op(entry)); }
  const List& list_of(EnterRef entry) const { return lists_[entry.list]; }

  /// Describes a collective that some members have entered, while no op enters as others.
  Check member_absent(const Visit& visit) const {
    const Op& op = op_of(visit.entry);
    const Collective& collective = lowered_.collective(visit.run.collective);
    std::vector<LogicalId> entered;
    std::vector<LogicalId> waiting;
    std::vector<LogicalId> absent;
    for (uint32_t rank = 0; rank < collective.members.size(); ++rank) {
      const LogicalId device = collective.members[rank];
      if (!lists_.is_entered(visit.run.collective, Node(rank))) {
        absent.push_back(device);
      } else if (has_entered(visit.run, Node(rank))) {
        entered.push_back(device);
        const EnterRef entry = enter_of(visit.run, Node(rank));
        if (!stop_.progress.happened(entry.list, {MomentKind::Ended, entry.enter}))
          waiting.push_back(device);
      }
    }
    for (std::vector<LogicalId>* const devices : {&entered, &waiting, &absent})
      std::sort(devices->begin(), devices->end());
    Witness witness;
    if (!waiting.empty())
      witness.emplace_back(devices_text(waiting),
                           fmt::format("{} in {} for {}", waiting.size() == 1 ? "waits" : "wait",
                                       quoted_name(op), devices_text(absent)));
    add_places(witness, absent);
    const Site& site = program_.site(*op.site);
    const bool one = absent.size() == 1;
    const std::string missing =
        site.named ? fmt::format("{} at site {}.",
                                 one ? "which issues no op" : "none of which issues an op",
                                 quoted(site.name))
                   : fmt::format("{}. Ops of several programs meet if they name the same \"site\".",
                                 one ? "which does not issue it" : "none of which issues it");
    return failed(
        CheckKind::DeadlockFree, pointer_of(op),
        fmt::format("The program cannot end: {} {} on {} needs {}, {}", rules(op.kind).name,
                    quoted_name(op), devices_text(entered), devices_text(absent), missing),
        std::move(witness));
  }

  /// Adds where these devices are, in one row for all that are at one place. If there are too many
  /// rows, places that differ in numbers only share one.
  void add_places(Witness& witness, const std::vector<LogicalId>& devices) const {
    std::map<std::string, std::vector<LogicalId>> at;
    std::vector<std::string> places;
    for (const LogicalId device : devices) {
      const std::string place = place_text(device);
      if (at[place].empty())
        places.push_back(place);
      at[place].push_back(device);
    }
    if (rows_shown(places.size()) < places.size()) {
      std::vector<std::string> together;
      for (const std::vector<size_t>& group : alike_but_for_numbers(places)) {
        std::vector<std::string_view> names;
        std::vector<LogicalId> there;
        for (const size_t p : group) {
          names.push_back(places[p]);
          there.insert(there.end(), at[places[p]].begin(), at[places[p]].end());
        }
        std::sort(there.begin(), there.end());
        together.push_back(common_id(names));
        at[together.back()] = std::move(there);
      }
      places = std::move(together);
    }
    for (size_t i = 0; i < rows_shown(places.size()); ++i)
      witness.emplace_back(devices_text(at[places[i]]), places[i]);
    add_row_of_rest(witness, places.size());
  }

  /// Says where a device is that does not take part in a collective.
  std::string place_text(LogicalId device) const {
    std::vector<std::string> places;
    for (uint32_t l = 0; l < lists_.size(); ++l) {
      const ListId list(l);
      if (lists_[list].device != device)
        continue;
      const Tape& tape = lists_.tape(list);
      const std::string thread = quoted(program_.thread(lists_[list].thread).name);
      const uint64_t next = stop_.progress.next(list);
      if (next < tape.size())
        places.push_back(fmt::format(
            "waiting in {}", quoted_name(op_of(blocked_in({list, {MomentKind::Passed, next}})))));
      else if (tape.size() == 0)
        places.push_back(fmt::format("in {}, which has no ops", thread));
      else
        places.push_back(fmt::format("at the end of {}, after {}", thread,
                                     quoted_name(program_.op(tape.run_at(next - 1).op))));
    }
    return places.empty() ? "in no program" : fmt::format("{}", fmt::join(places, " and "));
  }

  /// Describes a message that one end waits for, while the other end's op is missing or names other
  /// devices.
  Check unmatched(const Visit& visit, Node other) const {
    const Op& op = op_of(visit.entry);
    const Collective& collective = lowered_.collective(visit.run.collective);
    const bool sends = side_of(op) == Side::Sends;
    const std::string_view missing = rules(sends ? OpKind::Precv : OpKind::Psend).name;
    const size_t device = list_of(visit.entry).device.index();
    const size_t elsewhere = collective.members[other.index()].index();
    Witness witness = {
        {fmt::format("device {}", device),
         fmt::format("waits in {} for a {} on device {}", quoted_name(op), missing, elsewhere)}};
    if (elsewhere != device)
      add_places(witness, {LogicalId(elsewhere)});
    for (const OpId id : program_.site(*op.site).ops)
      if (const Op& at_site = program_.op(id); side_of(at_site) != side_of(op))
        witness.emplace_back(std::string(given_name(at_site)),
                             fmt::format("has the pairs {}, and {} has {}", pairs_text(at_site),
                                         quoted_name(op), pairs_text(op)));
    const Site& site = program_.site(*op.site);
    const std::string at = site.named ? fmt::format(" at site {}", quoted(site.name)) : "";
    return failed(CheckKind::DeadlockFree, pointer_of(op),
                  fmt::format("The program cannot end: {} {} device {} {} device {}, where no {} "
                              "{} it{}.{}",
                              quoted_name(op), sends ? "sends from" : "receives on", device,
                              sends ? "to" : "from", elsewhere, missing, sends ? "takes" : "sends",
                              at, sends ? "" : token_text(op)),
                  std::move(witness));
  }

  /// Says what is wrong with the token of a precv, if it leads to no psend that is free.
  std::string token_text(const Op& receive) const {
    if (receive.operands.empty())
      return "";
    const std::string token = quoted(program_.value(receive.operands.front()).name);
    const std::optional<SiteId> sent = sent_site(program_, receive.operands.front());
    if (!sent && program_.site(*receive.site).named)
      return "";
    if (!sent)
      return fmt::format(
          " Its token {} comes of no psend. A precv that is issued before its psend names a "
          "\"site\", which the psend names too.",
          token);
    for (const OpId id : program_.site(*sent).ops)
      if (const Op& taker = program_.op(id); side_of(taker) == Side::Receives && &taker != &receive)
        return fmt::format(" {} has taken what its token {} leads to.", quoted_name(taker), token);
    return "";
  }

  /// Returns "[[0,1],[1,2]] over x".
  static std::string pairs_text(const Op& op) {
    std::vector<std::string> pairs;
    for (const std::vector<int64_t>& pair : op.attributes.lists("perm"))
      pairs.push_back(fmt::format("[{}]", fmt::join(pair, ",")));
    return fmt::format("[{}] over {}", fmt::join(pairs, ","),
                       fmt::join(op.attributes.names("axis_name"), ", "));
  }

  Check cycle(const std::vector<Visit>& path) const {
    Witness witness;
    for (size_t i = 0; i < rows_shown(path.size()); ++i) {
      const Visit& visit = path[i];
      const Visit& next = path[(i + 1) % path.size()];  // of the device that this one waits for
      const List& other = list_of(next.entry);
      const Op& needed = op_of(*visit.needs);
      const std::string how =
          !is_held(*visit.needs)
              ? fmt::format(" to enter {}, which {} issues after {}", quoted_name(needed),
                            quoted(program_.thread(other.thread).name),
                            quoted_name(op_of(next.entry)))
          : needed.group.empty()
              ? fmt::format(", whose {} has not begun", quoted_name(needed))
              : fmt::format(", whose group {} has not begun", quoted(needed.group));
      witness.emplace_back(fmt::format("device {}", list_of(visit.entry).device.index()),
                           fmt::format("waits in {} for device {}{}",
                                       quoted_name(op_of(visit.entry)), other.device.index(), how));
    }
    add_row_of_rest(witness, path.size());
    const bool together =
        std::ranges::any_of(path, [&](const Visit& visit) { return is_held(*visit.needs); });
    return failed(
        CheckKind::DeadlockFree, pointer_of(op_of(path.front().entry)),
        fmt::format("The program cannot end: devices wait for each other, in a cycle of {}.{}",
                    path.size(), together ? " The messages of a group begin together." : ""),
        std::move(witness));
  }

  Check schedule_stuck(const Visit& visit) const {
    const Op& op = op_of(visit.entry);
    const Node node = lists_.member(visit.entry).node;
    const std::vector<Parked>& parked = stuck_.at(visit.run)->parked;
    const auto from = this->parked(visit.run, node, std::nullopt) - parked.data();
    const std::vector<Parked> cycle = waiting_cycle(parked, static_cast<size_t>(from));
    Witness witness;
    for (size_t i = 0; i < rows_shown(cycle.size()); ++i)
      witness.emplace_back(on_device(visit.run, cycle[i].half.step),
                           wait_text(visit.run, cycle[i].cause));
    add_row_of_rest(witness, cycle.size());
    return failed(
        CheckKind::DeadlockFree, pointer_of(op),
        fmt::format("The schedule of {} cannot end: its steps wait for each other, in a cycle "
                    "of {}.",
                    quoted_name(op), cycle.size()),
        std::move(witness));
  }

  /// Returns "device 2 channel 0 step 1" or "switch (node 9) channel 0 step 1".
  std::string on_device(CollectiveRun run, StepRef step) const {
    const std::string place =
        lists_.is_member(run.collective, step.node)
            ? fmt::format("device {}", list_of(enter_of(run, step.node)).device.index())
            : fmt::format("switch (node {})", step.node.index());
    return fmt::format("{} channel {} step {}", place, step.channel.index(), step.index);
  }

  /// Says what a step of a cycle waits for.
  std::string wait_text(CollectiveRun run, const Cause& cause) const {
    const std::string whom = on_device(run, cause.step);
    switch (cause.kind) {
      case CauseKind::Enter:
        break;  // all nodes of a cycle of steps have entered
      case CauseKind::Order:
        return "comes after " + whom;
      case CauseKind::After:
        return "waits for the end of " + whom;
      case CauseKind::Message:
        return "waits for the message of " + whom;
      case CauseKind::Credit:
        return fmt::format("waits to send until {} frees a slot", whom);
    }
    fail_check("a cause of steps", "steps of a cycle wait for steps", __FILE__, __LINE__);
  }

  const Program& program_;
  const Lowered& lowered_;
  const Stop& stop_;
  const ProgramLists& lists_;
  std::map<CollectiveRun, const Stop::StuckCollective*> stuck_;
};

}  // namespace

Check deadlock_free() {
  return passed(CheckKind::DeadlockFree, "/program");
}

Check deadlock_free(const Program& program, const Lowered& lowered, const Stop& stop) {
  WaitFor wait_for(program, lowered, stop);
  return stop.finished() ? wait_for.absent_from_ended().value_or(deadlock_free())
                         : wait_for.explain();
}

std::vector<Parked> waiting_cycle(const std::vector<Parked>& parked, size_t from) {
  const auto place = [](const StepRef& step) { return std::pair(step.node, step.channel); };
  constexpr size_t kUnseen = std::numeric_limits<size_t>::max();
  std::vector<size_t> position(parked.size(), kUnseen);  // in the path
  std::vector<Parked> path;
  for (size_t at = from; position[at] == kUnseen;) {
    position[at] = path.size();
    path.push_back(parked[at]);
    // The parked channels are in the order of nodes and channels.
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

Check routes_left(const Program& program, const Lowered& lowered, Paths& healthy, Paths& paths) {
  const std::optional<LostRoute> lost = first_unrouted(lowered, paths);
  if (!lost)
    return passed(CheckKind::RouteLeft, "/faults");
  const Fabric& cut = paths.fabric();
  const Op& op = program.op(program.site(lowered.collective(lost->collective).site).ops.front());
  const std::string sender = cut.vertex_text(lost->ends.sender);
  const std::string receiver = cut.vertex_text(lost->ends.receiver);
  Witness witness = {{"collective", op.name}, {"from", sender}, {"to", receiver}};
  std::string links;
  for (const LinkId id :
       healthy.between(lost->ends.sender, lost->ends.receiver, lost->ends.channel).links) {
    if (!cut.link(id).cut)
      continue;
    links += (links.empty() ? "" : ", ") + cut.link_text(id);
    witness.emplace_back("cut_link", cut.link_text(id));
  }
  return failed(CheckKind::RouteLeft, pointer_of(op),
                fmt::format("{} cannot end: {} sends to {}, and no route is left since the link "
                            "{} is cut.",
                            quoted_name(op), sender, receiver, links),
                std::move(witness));
}

}  // namespace orrery
