#include "verifier/check/hang.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

class DigestOnly {
 public:
  explicit DigestOnly(const Lowered& lowered) : lowered_(lowered) {}

  void local(OpId, LogicalId) {}
  void enter(CollectiveId, Node, OpId) {}
  void exit(CollectiveId, Node, OpId) {}
  void receive(CollectiveId id, StepRef ref, const Step& step) {
    add(id, ref, Half::Receive, step);
  }
  void send(CollectiveId id, StepRef ref, const Step& step) { add(id, ref, Half::Send, step); }

  Digest digest() const { return digest_; }

 private:
  void add(CollectiveId id, StepRef ref, Half half, const Step& step) {
    digest_.add(id, ref, half, bytes_moved(step, half, itemsize(lowered_.collective(id).work)));
  }

  const Lowered& lowered_;
  Digest digest_;
};

/// Follows, from a device that cannot go on, who waits for whom.
class WaitFor {
 public:
  WaitFor(const Program& program, const Lowered& lowered, const Stop& stop)
      : program_(program), lowered_(lowered), stop_(stop), thread_of_(threads_by_device(program)) {
    for (const Stop::StuckCollective& stuck : stop.collectives)
      stuck_.emplace(stuck.id, &stuck);
    for (const StuckDevice& device : stop.devices)
      standing_.emplace(device.device, &device);
  }

  Check explain() {
    std::vector<Visit> path;
    auto [device, waits_for] = first_stuck();
    for (;;) {
      const Visit visit = look(device, waits_for);
      if (!visit.needs)
        return schedule_stuck(visit);
      const auto again = std::find_if(path.begin(), path.end(), [&](const Visit& earlier) {
        return earlier.device == visit.device && earlier.blocked_in == visit.blocked_in;
      });
      if (again != path.end()) {
        path.erase(path.begin(), again);
        std::rotate(
            path.begin(),
            std::min_element(path.begin(), path.end(),
                             [](const Visit& a, const Visit& b) { return a.device < b.device; }),
            path.end());
        return cycle(path);
      }
      path.push_back(visit);
      device = *visit.needs;
      waits_for = blocks(device, visit.blocked_in);
    }
  }

 private:
  /// A device that cannot go on in a collective before another device enters it.
  struct Visit {
    LogicalId device;
    CollectiveId blocked_in;         // entered, and waiting for a member
    std::optional<LogicalId> needs;  // who has not entered it; empty: all have
  };

  /// The first device that stands still; where all came to the end of their lists, the first that
  /// has a collective in flight that cannot go on.
  std::pair<LogicalId, CollectiveId> first_stuck() const {
    if (!stop_.devices.empty())
      return {stop_.devices.front().device, stop_.devices.front().waits_for.collective};
    for (const Stop::StuckCollective& stuck : stop_.collectives)
      if (!stuck.parked.empty())
        return {members(stuck.id)[stuck.parked.front().half.step.node.index()], stuck.id};
    fail_check("found", "a program that stopped has a channel that cannot go on", __FILE__,
               __LINE__);
  }

  const SharedList<LogicalId>& members(CollectiveId id) const {
    return lowered_.collective(id).members;
  }

  Node node_of(CollectiveId id, LogicalId device) const {
    return lowered_.members[lowered_.collective(id).site.index()][device.index()]->node;
  }

  bool has_entered(CollectiveId id, Node node) const {
    const auto stuck = stuck_.find(id);
    if (stuck == stuck_.end())
      return false;
    const std::vector<Node>& missing = stuck->second->not_entered;
    return std::find(missing.begin(), missing.end(), node) == missing.end();
  }

  const Parked* parked(CollectiveId id, Node node, std::optional<Channel> channel) const {
    for (const Parked& candidate : stuck_.at(id)->parked)
      if (candidate.half.step.node == node && (!channel || candidate.half.step.channel == *channel))
        return &candidate;
    return nullptr;
  }

  /// The instruction with which a device enters the collectives of a site.
  size_t enters_at(LogicalId device, CollectiveId id) const {
    const Tape& tape = tape_of(device);
    const SiteId site = lowered_.collective(id).site;
    for (size_t i = 0; i < tape.size(); ++i)
      if (tape[i].kind == Instruction::Kind::Enter && *program_.op(tape[i].collective).site == site)
        return i;
    fail_check("found", "a member's thread enters its collective", __FILE__, __LINE__);
  }

  const Tape& tape_of(LogicalId device) const {
    return lowered_.tapes[thread_of_[device.index()]->index()];
  }

  /// Where the device stands in its tape: at its end where it is not stuck.
  size_t stands_at(LogicalId device) const {
    const auto stuck = standing_.find(device);
    return stuck == standing_.end() ? tape_of(device).size() : stuck->second->instruction;
  }

  /// The collective that keeps `device` from entering `missing`: the one it stands waiting for, or,
  /// where it has come past, the first one in flight on the stream.
  CollectiveId blocks(LogicalId device, CollectiveId missing) const {
    const size_t enters = enters_at(device, missing);
    if (enters >= stands_at(device))
      return standing_.at(device)->waits_for.collective;
    return head_of_stream(device, tape_of(device)[enters].stream);
  }

  CollectiveId head_of_stream(LogicalId device, StreamId stream) const {
    const Tape& tape = tape_of(device);
    for (size_t i = 0; i < stands_at(device); ++i) {
      if (tape[i].kind != Instruction::Kind::Enter || tape[i].stream != stream)
        continue;
      const Member member = lowered_.member(program_, tape[i].collective, device);
      if (has_entered(member.collective, member.node) &&
          parked(member.collective, member.node, std::nullopt) != nullptr)
        return member.collective;
    }
    fail_check("found", "a stream that is held up has a collective in flight", __FILE__, __LINE__);
  }

  /// What the device waits for when it needs the end of `id`: in `id` itself where it has entered
  /// it, otherwise in the head of its stream.
  Visit look(LogicalId device, CollectiveId id) const {
    if (!has_entered(id, node_of(id, device)))
      id = head_of_stream(device, lowered_.collective(id).stream);
    const Parked* at = parked(id, node_of(id, device), std::nullopt);
    std::vector<StepRef> seen;
    for (;;) {
      const Cause& cause = at->cause;
      if (!has_entered(id, cause.step.node))
        return {device, id, members(id)[cause.step.node.index()]};
      if (std::find(seen.begin(), seen.end(), at->half.step) != seen.end())
        return {device, id, std::nullopt};
      seen.push_back(at->half.step);
      at = parked(id, cause.step.node, cause.step.channel);
    }
  }

  const Op& op_of(LogicalId device, CollectiveId id) const {
    return program_.op(tape_of(device)[enters_at(device, id)].collective);
  }

  Check cycle(const std::vector<Visit>& path) const {
    std::string text = "The program cannot end: ";
    std::string orders;
    Witness witness;
    for (size_t i = 0; i < path.size(); ++i) {
      const Visit& visit = path[i];
      const Op& held = op_of(visit.device, visit.blocked_in);
      const Op& missing = op_of(*visit.needs, visit.blocked_in);
      const std::string edge =
          fmt::format("device {} waits in {} for device {} to enter {}", visit.device.index(),
                      quoted(held.name), visit.needs->index(), quoted(missing.name));
      text += (i == 0 ? "" : "; ") + edge;
      witness.emplace_back("waits", edge);

      const Visit& before = path[(i + path.size() - 1) % path.size()];
      const Op& later = op_of(visit.device, before.blocked_in);
      orders += fmt::format("{} thread {} issues {} before {}", orders.empty() ? "" : ";",
                            quoted(program_.thread(*thread_of_[visit.device.index()]).name),
                            quoted(held.name), quoted(later.name));
      witness.emplace_back("order", fmt::format("{} before {}", held.name, later.name));
    }
    const Op& first = op_of(path.front().device, path.front().blocked_in);
    return failed(CheckKind::DeadlockFree, pointer_of(first),
                  text + ". The orders conflict:" + orders + ".", std::move(witness));
  }

  Check schedule_stuck(const Visit& visit) const {
    const Op& op = op_of(visit.device, visit.blocked_in);
    const std::string steps = stuck_text(stuck_.at(visit.blocked_in)->parked);
    return failed(
        CheckKind::DeadlockFree, pointer_of(op),
        fmt::format("The schedule of {} cannot end: {}.", quoted(op.name), steps),
        {{"op", op.name}, {"device", std::to_string(visit.device.index())}, {"steps", steps}});
  }

  const Program& program_;
  const Lowered& lowered_;
  const Stop& stop_;
  std::vector<std::optional<ThreadId>> thread_of_;
  std::map<CollectiveId, const Stop::StuckCollective*> stuck_;
  std::map<LogicalId, const StuckDevice*> standing_;
};

std::string step_text(StepRef ref) {
  return fmt::format("node {} channel {} step {}", ref.node.index(), ref.channel.index(),
                     ref.index);
}

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

/// The sites of a thread per stream, in issue order.
std::map<StreamId, std::vector<std::pair<SiteId, OpId>>> sites_by_stream(const Program& program,
                                                                         const Tape& tape) {
  std::map<StreamId, std::vector<std::pair<SiteId, OpId>>> result;
  for (const Instruction& instruction : tape)
    if (instruction.kind == Instruction::Kind::Enter)
      result[instruction.stream].emplace_back(*program.op(instruction.collective).site,
                                              instruction.collective);
  return result;
}

}  // namespace

StaticWalk static_walk(const Program& program, const Lowered& lowered) {
  DigestOnly visitor(lowered);
  Stop stop = walk(program, lowered, visitor);
  return {std::move(stop), visitor.digest()};
}

Check deadlock_free(const Program& program, const Lowered& lowered, const Stop& stop) {
  if (stop.finished())
    return passed(CheckKind::DeadlockFree, "/program");
  return WaitFor(program, lowered, stop).explain();
}

namespace {

/// Whether a device of each thread is in one collective of site `x` and in one of site `y`: only
/// then do the two wait for each other there.
bool share_both(const Lowered& lowered, const Thread& a, const Thread& b, SiteId x, SiteId y) {
  const auto& in_x = lowered.members[x.index()];
  const auto& in_y = lowered.members[y.index()];
  std::set<std::pair<CollectiveId, CollectiveId>> of_a;
  for (const LogicalId device : a.devices)
    if (in_x[device.index()] && in_y[device.index()])
      of_a.emplace(in_x[device.index()]->collective, in_y[device.index()]->collective);
  return std::any_of(b.devices.begin(), b.devices.end(), [&](LogicalId device) {
    return in_x[device.index()] && in_y[device.index()] &&
           of_a.count({in_x[device.index()]->collective, in_y[device.index()]->collective}) > 0;
  });
}

}  // namespace

Check order_agreed(const Program& program, const Lowered& lowered) {
  for (size_t a = 0; a < lowered.tapes.size(); ++a) {
    const auto left = sites_by_stream(program, lowered.tapes[a]);
    for (size_t b = a + 1; b < lowered.tapes.size(); ++b) {
      for (const auto& [stream, right_sites] : sites_by_stream(program, lowered.tapes[b])) {
        const auto left_sites = left.find(stream);
        if (left_sites == left.end())
          continue;
        std::map<SiteId, size_t> position;
        for (size_t i = 0; i < left_sites->second.size(); ++i)
          position.emplace(left_sites->second[i].first, i);
        std::vector<std::pair<size_t, size_t>> met;  // places in the left list and in the right
        for (size_t i = 0; i < right_sites.size(); ++i)
          if (const auto at = position.find(right_sites[i].first); at != position.end())
            met.emplace_back(at->second, i);
        for (size_t later = 1; later < met.size(); ++later) {
          for (size_t earlier = 0; earlier < later; ++earlier) {
            const auto& [left_second, right_first] = met[earlier];
            const auto& [left_first, right_second] = met[later];
            if (left_first > left_second ||
                !share_both(lowered, program.threads[a], program.threads[b],
                            right_sites[right_first].first, right_sites[right_second].first))
              continue;
            const Op& first = program.op(left_sites->second[left_first].second);
            const Op& second = program.op(left_sites->second[left_second].second);
            const Op& other_first = program.op(right_sites[right_first].second);
            const Op& other_second = program.op(right_sites[right_second].second);
            const std::string& left_name = program.threads[a].name;
            const std::string& right_name = program.threads[b].name;
            return failed(
                CheckKind::OrderAgreed, pointer_of(other_second),
                fmt::format("On stream {}, thread {} issues {} before {}, but thread {} issues {} "
                            "before {}.",
                            stream.index(), quoted(left_name), quoted(first.name),
                            quoted(second.name), quoted(right_name), quoted(other_first.name),
                            quoted(other_second.name)),
                {{left_name, fmt::format("{} before {}", first.name, second.name)},
                 {right_name, fmt::format("{} before {}", other_first.name, other_second.name)}});
          }
        }
      }
    }
  }
  return passed(CheckKind::OrderAgreed, "/program");
}

std::string stuck_text(const std::vector<Parked>& parked) {
  std::vector<const Parked*> path;
  const Parked* at = &parked.front();
  while (at != nullptr && std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    const auto next = std::find_if(parked.begin(), parked.end(), [&](const Parked& candidate) {
      return candidate.half.step.node == at->cause.step.node &&
             candidate.half.step.channel == at->cause.step.channel;
    });
    at = next == parked.end() ? nullptr : &*next;
  }
  std::string text;
  for (auto step = std::find(path.begin(), path.end(), at == nullptr ? path.front() : at);
       step != path.end(); ++step)
    text += (text.empty() ? "" : "; ") + edge_text(**step);
  return text;
}

}  // namespace orrery
