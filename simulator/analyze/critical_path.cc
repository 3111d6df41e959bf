#include "simulator/analyze/critical_path.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "simulator/analyze/list_runs.h"

namespace orrery {

namespace {

/// A moment of one device.
struct At {
  ListId list;
  Moment moment;
};

/// It follows the last cause of each moment, back to the beginning.
class Backtrack {
 public:
  Backtrack(const Program& program, const Lowered& lowered, const Completion& completion)
      : completion_(completion), runs_(program, lowered, completion) {}

  std::vector<PathEntry> to_the_end() {
    names_ = Names::Ended;
    std::vector<PathEntry> path = back_from(last());
    path.erase(std::remove_if(path.begin(), path.end(),
                              [](const PathEntry& entry) { return entry.start == entry.end; }),
               path.end());
    return path;
  }

  std::vector<PathEntry> to(OpId op, LogicalId device) {
    const ListId list = runs_.lists().list_of(op, device);
    return back_from(At{list, end_of_op(runs_.tape(list), runs_.lists().position({op}))});
  }

 private:
  std::vector<PathEntry> back_from(std::optional<At> at) {
    while (at)
      at = at->moment.kind == MomentKind::Ended ? through_collective(*at) : through_list(*at);
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

  /// Returns the stream that ends at the makespan: a compute stream, or else a collective that
  /// nothing waits for.
  std::optional<At> last() const {
    for (uint32_t l = 0; l < runs_.size(); ++l) {
      const uint64_t length = runs_.tape(ListId(l)).size();
      const Moment passed{MomentKind::Passed, length - 1};
      if (length > 0 && runs_.at(ListId(l), passed) == completion_.makespan)
        return At{ListId(l), passed};
    }
    for (uint32_t l = 0; l < runs_.size(); ++l) {
      const Tape& tape = runs_.tape(ListId(l));
      for (uint64_t i = 0; i < tape.size(); ++i)
        if (const Moment ended{MomentKind::Ended, i};
            tape[i].kind == Instruction::Kind::Enter &&
            runs_.at(ListId(l), ended) == completion_.makespan)
          return At{ListId(l), ended};
    }
    return std::nullopt;
  }

  std::optional<At> before(ListId list, Moment moment) const {
    const std::optional<Moment> cause = runs_.last_met(list, moment);
    return cause ? std::optional(At{list, *cause}) : std::nullopt;
  }

  /// Adds the instruction that the compute stream has passed, and returns its last cause.
  std::optional<At> through_list(const At& at) {
    const Instruction& instruction = runs_.tape(at.list)[at.moment.position];
    if (instruction.kind == Instruction::Kind::Local) {
      const OpSpan& span = runs_.span(instruction.op, at.list);
      path_.push_back({instruction.op, runs_.device(at.list), span.entered, span.end});
    }
    return before(at.list, at.moment);
  }

  /// Adds the collective to the path, back to the entry of the member that held it up, and returns
  /// the cause of that entry.
  std::optional<At> through_collective(const At& ended) {
    const EnterRef end{ended.list, ended.moment.position};
    const CollectiveId id = runs_.lists().member(end).collective;
    const EnterRef entry = runs_.lists().enter_of(id, runs_.span(end).held_up_by);
    const std::optional<At> held_up = before(entry.list, {MomentKind::Entered, entry.enter});
    const bool by_entry =
        names_ == Names::Entered || runs_.lists().op(entry) == runs_.lists().op(end);
    const EnterRef named = by_entry ? entry : end;
    path_.push_back({runs_.lists().op(named), runs_.device(named.list),
                     runs_.at(held_up->list, held_up->moment), runs_.at(ended.list, ended.moment)});
    return held_up;
  }

  /// Says which op names a collective's entry where its members enter by different ops.
  enum class Names : uint8_t { Entered, Ended };

  const Completion& completion_;
  const ListRuns runs_;
  Names names_ = Names::Entered;
  std::vector<PathEntry> path_;  // last to first
};

}  // namespace

std::vector<PathEntry> critical_path(const Program& program, const Lowered& lowered,
                                     const Completion& completion) {
  return Backtrack(program, lowered, completion).to_the_end();
}

std::vector<PathEntry> path_to(const Program& program, const Lowered& lowered,
                               const Completion& completion, OpId op, LogicalId device) {
  return Backtrack(program, lowered, completion).to(op, device);
}

}  // namespace orrery
