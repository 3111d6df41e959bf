#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/sides.h"
#include "simulator/schedule/tape.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

/// Says which collectives of a device are compared: those on the same stream, or those on any.
enum class Across : uint8_t { OneStream, AllStreams };

/// An Issued is a collective of a thread at a shared site.
struct Issued {
  OpId op;
  StreamId stream;
  uint32_t enter = 0;            // its Enter, an instruction of the thread's tape
  std::optional<uint32_t> wait;  // the first instruction that waits for its end
};

/// A thread's collectives at shared sites, per stream, in the order in which each device issues
/// them. Across all streams there is one list.
using SharedOps = std::map<StreamId, std::vector<Issued>>;

/// Returns whether the op is at a shared site, where its members wait for each other. Transfers are
/// left out, since the order in which they must be issued depends on the messages that are buffered
/// (sends_unbuffered).
bool is_shared(const Op& op, const Program& program) {
  return program.site(*op.site).ops.size() > 1 && side_of(op) == Side::Both &&
         !is_discarded(program, op);
}

SharedOps shared_ops(const Program& program, const Tape& tape, Across across) {
  SharedOps shared;
  const std::vector<std::optional<uint32_t>> waits = first_waits(tape);
  const std::span<const Instruction> instructions = tape.instructions();
  for (uint32_t i = 0; i < instructions.size(); ++i) {
    const auto& [kind, op, stream] = instructions[i];
    if (kind == Instruction::Kind::Enter && is_shared(program.op(op), program))
      shared[across == Across::OneStream ? stream : StreamId()].push_back(
          {op, stream, i, waits[i]});
  }
  return shared;
}

/// This is the graph of shared collectives. An edge leads from each collective to the next one of a
/// device, on the same stream or on any.
class Precedence {
 public:
  Precedence(const Program& program, const Lowered& lowered, Across across)
      : next_(lowered.collectives.size()), before_(lowered.collectives.size(), 0) {
    for (size_t t = 0; t < lowered.tapes.size(); ++t) {
      const std::vector<LogicalId>& devices = program.threads[t].devices;
      for (const auto& [stream, ops] : shared_ops(program, lowered.tapes[t], across)) {
        std::vector<std::optional<CollectiveId>> last(devices.size());
        for (const Issued& issued : ops) {
          for (size_t index = 0; index < devices.size(); ++index) {
            const CollectiveId id = lowered.member(program, issued.op, devices[index]).collective;
            if (const auto& earlier = last[index]) {
              next_[earlier->index()].push_back(id);
              ++before_[id.index()];
            }
            last[index] = id;
          }
        }
      }
    }
  }

  /// Returns the collectives that are in a cycle of the graph, or behind one. There are none if one
  /// order of all collectives is the order on every device. Then any two threads agree.
  std::vector<CollectiveId> without_order() && {
    std::vector<CollectiveId> ready;
    for (size_t c = 0; c < before_.size(); ++c)
      if (before_[c] == 0)
        ready.emplace_back(c);
    while (!ready.empty()) {
      const CollectiveId id = ready.back();
      ready.pop_back();
      for (const CollectiveId next : next_[id.index()])
        if (--before_[next.index()] == 0)
          ready.push_back(next);
    }
    std::vector<CollectiveId> left;
    for (size_t c = 0; c < before_.size(); ++c)
      if (before_[c] > 0)
        left.emplace_back(c);
    return left;
  }

 private:
  std::vector<std::vector<CollectiveId>> next_;  // per collective, once for each device
  std::vector<size_t> before_;                   // per collective: how many edges lead to it
};

/// Finds the first two threads that disagree. This search is slow, and so is used only for programs
/// without a common order.
class Disagreement {
 public:
  Disagreement(const Program& program, const Lowered& lowered, Across across)
      : program_(program), lowered_(lowered), across_(across) {
    for (const Tape& tape : lowered.tapes)
      shared_.push_back(shared_ops(program, tape, across));
  }

  /// Returns nothing if there is only a cycle of more than two threads.
  std::optional<Check> find() const {
    for (size_t a = 0; a < shared_.size(); ++a)
      for (size_t b = a + 1; b < shared_.size(); ++b)
        for (const auto& [stream, theirs] : shared_[b])
          if (const auto ours = shared_[a].find(stream); ours != shared_[a].end())
            if (auto found = between(a, ours->second, b, theirs))
              return found;
    return std::nullopt;
  }

 private:
  /// The indices at which the two threads enter one site.
  struct Meeting {
    size_t left;
    size_t right;
  };

  std::optional<Check> between(size_t a, const std::vector<Issued>& left, size_t b,
                               const std::vector<Issued>& right) const {
    std::map<SiteId, size_t> index_of;
    for (size_t i = 0; i < left.size(); ++i)
      index_of.emplace(site_of(left[i].op), i);
    std::vector<Meeting> met;
    for (size_t i = 0; i < right.size(); ++i)
      if (const auto at = index_of.find(site_of(right[i].op)); at != index_of.end())
        met.push_back({at->second, i});
    for (size_t later = 1; later < met.size(); ++later) {
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const auto& [left_second, right_first] = met[earlier];
        const auto& [left_first, right_second] = met[later];
        if (left_first > left_second ||
            !matters(left[left_first], left[left_second], right[right_first],
                     right[right_second]) ||
            !share_both(program_.threads[a], program_.threads[b], site_of(right[right_first].op),
                        site_of(right[right_second].op)))
          continue;
        return conflict(a, left[left_first], left[left_second], b, right[right_first],
                        right[right_second]);
      }
    }
    return std::nullopt;
  }

  /// Returns whether opposite orders of these collectives are an error of this check. Across
  /// streams, both must be in flight together on a device.
  bool matters(const Issued& left_first, const Issued& left_second, const Issued& right_first,
               const Issued& right_second) const {
    const auto together = [](const Issued& first, const Issued& second) {
      return !first.wait || second.enter < *first.wait;
    };
    return across_ == Across::OneStream ||
           (left_first.stream != left_second.stream &&
            (together(left_first, left_second) || together(right_first, right_second)));
  }

  SiteId site_of(OpId op) const { return *program_.op(op).site; }

  /// Returns whether each of the two threads has a device in the same collective of site `x`, and
  /// in the same one of site `y`. Only then do the two wait for each other.
  bool share_both(const Thread& a, const Thread& b, SiteId x, SiteId y) const {
    std::set<std::pair<CollectiveId, CollectiveId>> of_a;
    for (const LogicalId device : a.devices)
      if (const auto both = both_of(device, x, y))
        of_a.insert(*both);
    return std::any_of(b.devices.begin(), b.devices.end(), [&](LogicalId device) {
      const auto both = both_of(device, x, y);
      return both && of_a.count(*both) > 0;
    });
  }

  std::optional<std::pair<CollectiveId, CollectiveId>> both_of(LogicalId device, SiteId x,
                                                               SiteId y) const {
    const std::optional<Member> in_x = lowered_.members[x.index()].find(device, Side::Both);
    const std::optional<Member> in_y = lowered_.members[y.index()].find(device, Side::Both);
    if (!in_x || !in_y)
      return std::nullopt;
    return std::pair(in_x->collective, in_y->collective);
  }

  Check conflict(size_t a, const Issued& left_first, const Issued& left_second, size_t b,
                 const Issued& right_first, const Issued& right_second) const {
    const std::string& left_name = program_.threads[a].name;
    const std::string& right_name = program_.threads[b].name;
    const auto order = [&](const Issued& first, const Issued& second) {
      return fmt::format("{} before {}", program_.op(first.op).name, program_.op(second.op).name);
    };
    Witness witness = {{left_name, order(left_first, left_second)},
                       {right_name, order(right_first, right_second)}};
    const std::string where = pointer_of(program_.op(right_second.op));
    if (across_ == Across::OneStream)
      return failed(
          CheckKind::OrderAgreed, where,
          fmt::format("On stream {}, programs {} and {} issue two collectives in opposite orders.",
                      left_first.stream.index(), quoted(left_name), quoted(right_name)),
          std::move(witness));
    return failed(
        CheckKind::StreamsOrdered, where,
        fmt::format("On streams {} and {}, programs {} and {} issue two collectives in opposite "
                    "orders. The program ends only if both make progress at the same time on one "
                    "device, which communication libraries do not promise.",
                    left_first.stream.index(), left_second.stream.index(), quoted(left_name),
                    quoted(right_name)),
        std::move(witness));
  }

  const Program& program_;
  const Lowered& lowered_;
  const Across across_;
  std::vector<SharedOps> shared_;  // per thread
};

}  // namespace

Check order_agreed(const Program& program, const Lowered& lowered) {
  if (!Precedence(program, lowered, Across::OneStream).without_order().empty())
    if (auto found = Disagreement(program, lowered, Across::OneStream).find())
      return *found;
  return passed(CheckKind::OrderAgreed, "/program");
}

std::optional<Check> streams_ordered(const Program& program, const Lowered& lowered) {
  const bool several = std::ranges::any_of(lowered.tapes, [&](const Tape& tape) {
    return shared_ops(program, tape, Across::OneStream).size() > 1;
  });
  if (!several)
    return std::nullopt;
  const std::vector<CollectiveId> left =
      Precedence(program, lowered, Across::AllStreams).without_order();
  if (left.empty())
    return passed(CheckKind::StreamsOrdered, "/program");
  if (auto found = Disagreement(program, lowered, Across::AllStreams).find())
    return found;
  std::set<SiteId> sites;
  for (const CollectiveId id : left)
    sites.insert(lowered.collective(id).site);
  Witness witness;
  for (const SiteId site : sites)
    if (witness.size() < rows_shown(sites.size()))
      witness.emplace_back(program.site(site).name, "is in the cycle, or comes after it");
  add_row_of_rest(witness, sites.size());
  return undecided(CheckKind::StreamsOrdered, "/program",
                   "Three or more devices issue collectives on several streams in orders that form "
                   "a cycle. The program may need collectives of two streams to make progress at "
                   "the same time on one device.",
                   std::move(witness));
}

}  // namespace orrery
