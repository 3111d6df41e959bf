#include "verifier/check/order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/program/sides.h"
#include "simulator/schedule/tape.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

/// A thread's collectives at shared sites, per stream, in the order in which each device runs them.
using SharedOps = std::map<StreamId, std::vector<OpId>>;

/// Returns whether the op is at a shared site. Transfers are left out, since the order in which
/// they must be issued depends on the messages that are buffered (buffering.h).
bool is_shared(const Op& op, const Program& program) {
  return program.site(*op.site).ops.size() > 1 && side_of(op) == Side::Both;
}

SharedOps shared_ops(const Program& program, const Tape& tape) {
  SharedOps shared;
  for (const Instruction& instruction : tape.instructions())
    if (instruction.kind == Instruction::Kind::Enter &&
        is_shared(program.op(instruction.op), program))
      shared[instruction.stream].push_back(instruction.op);
  return shared;
}

/// This is the graph of shared collectives. An edge leads from each collective to the next one on
/// the same stream of a device.
class Precedence {
 public:
  Precedence(const Program& program, const Lowered& lowered)
      : next_(lowered.collectives.size()), before_(lowered.collectives.size(), 0) {
    for (size_t t = 0; t < lowered.tapes.size(); ++t) {
      const std::vector<LogicalId>& devices = program.threads[t].devices;
      for (const auto& [stream, ops] : shared_ops(program, lowered.tapes[t])) {
        std::vector<std::optional<CollectiveId>> last(devices.size());
        for (const OpId op : ops) {
          for (size_t index = 0; index < devices.size(); ++index) {
            const CollectiveId id = lowered.member(program, op, devices[index]).collective;
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

  /// Returns whether one order of all collectives is the order on every device, that is, whether
  /// the graph has no cycle. If so, any two threads agree.
  bool has_order() && {
    std::vector<CollectiveId> ready;
    for (size_t c = 0; c < before_.size(); ++c)
      if (before_[c] == 0)
        ready.emplace_back(c);
    size_t ordered = 0;
    while (!ready.empty()) {
      const CollectiveId id = ready.back();
      ready.pop_back();
      ++ordered;
      for (const CollectiveId next : next_[id.index()])
        if (--before_[next.index()] == 0)
          ready.push_back(next);
    }
    return ordered == before_.size();
  }

 private:
  std::vector<std::vector<CollectiveId>> next_;  // per collective, once for each device
  std::vector<size_t> before_;                   // per collective: how many edges lead to it
};

/// Finds the first two threads that disagree. This search is slow, and so is used only for programs
/// without a common order.
class Disagreement {
 public:
  Disagreement(const Program& program, const Lowered& lowered)
      : program_(program), lowered_(lowered) {
    for (const Tape& tape : lowered.tapes)
      shared_.push_back(shared_ops(program, tape));
  }

  /// Returns nothing if only a cycle of more than two threads keeps the program from ending.
  std::optional<Check> find() const {
    for (size_t a = 0; a < shared_.size(); ++a)
      for (size_t b = a + 1; b < shared_.size(); ++b)
        for (const auto& [stream, theirs] : shared_[b])
          if (const auto ours = shared_[a].find(stream); ours != shared_[a].end())
            if (auto found = between(a, ours->second, b, theirs, stream))
              return found;
    return std::nullopt;
  }

 private:
  /// The indices at which the two threads enter one site.
  struct Meeting {
    size_t left;
    size_t right;
  };

  std::optional<Check> between(size_t a, const std::vector<OpId>& left, size_t b,
                               const std::vector<OpId>& right, StreamId stream) const {
    std::map<SiteId, size_t> index_of;
    for (size_t i = 0; i < left.size(); ++i)
      index_of.emplace(site_of(left[i]), i);
    std::vector<Meeting> met;
    for (size_t i = 0; i < right.size(); ++i)
      if (const auto at = index_of.find(site_of(right[i])); at != index_of.end())
        met.push_back({at->second, i});
    for (size_t later = 1; later < met.size(); ++later) {
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const auto& [left_second, right_first] = met[earlier];
        const auto& [left_first, right_second] = met[later];
        if (left_first > left_second ||
            !share_both(program_.threads[a], program_.threads[b], site_of(right[right_first]),
                        site_of(right[right_second])))
          continue;
        return conflict(a, left[left_first], left[left_second], b, right[right_first],
                        right[right_second], stream);
      }
    }
    return std::nullopt;
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

  Check conflict(size_t a, OpId left_first, OpId left_second, size_t b, OpId right_first,
                 OpId right_second, StreamId stream) const {
    const Op& first = program_.op(left_first);
    const Op& second = program_.op(left_second);
    const Op& other_first = program_.op(right_first);
    const Op& other_second = program_.op(right_second);
    const std::string& left_name = program_.threads[a].name;
    const std::string& right_name = program_.threads[b].name;
    return failed(
        CheckKind::OrderAgreed, pointer_of(other_second),
        fmt::format("On stream {}, threads {} and {} issue two collectives in opposite orders.",
                    stream.index(), quoted(left_name), quoted(right_name)),
        {{left_name, fmt::format("{} before {}", first.name, second.name)},
         {right_name, fmt::format("{} before {}", other_first.name, other_second.name)}});
  }

  const Program& program_;
  const Lowered& lowered_;
  std::vector<SharedOps> shared_;  // per thread
};

}  // namespace

Check order_agreed(const Program& program, const Lowered& lowered) {
  if (!Precedence(program, lowered).has_order())
    if (auto found = Disagreement(program, lowered).find())
      return *found;
  return passed(CheckKind::OrderAgreed, "/program");
}

}  // namespace orrery
