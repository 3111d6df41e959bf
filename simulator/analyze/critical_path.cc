#include "simulator/analyze/critical_path.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/base/check.h"
#include "simulator/analyze/device_runs.h"

namespace orrery {

namespace {

/// A place on the path, looked at from its end: all that a device's compute stream did before an
/// instruction of its tape, or a collective that ended on the device.
struct Place {
  LogicalId device;
  size_t before = 0;               // an instruction of the tape
  std::optional<OpId> collective;  // instead of `before`
};

class Backtrack {
 public:
  Backtrack(const Program& program, const Lowered& lowered, const Completion& completion)
      : program_(program),
        lowered_(lowered),
        completion_(completion),
        runs_(program, lowered, completion) {}

  std::vector<PathEntry> to_the_end() {
    std::vector<PathEntry> path = back_from(last());
    path.erase(std::remove_if(path.begin(), path.end(),
                              [](const PathEntry& entry) { return entry.start == entry.end; }),
               path.end());
    return path;
  }

  std::vector<PathEntry> to(OpId op, LogicalId device) {
    if (program_.op(op).site)
      return back_from(Place{device, 0, op});
    const Tape& tape = runs_.tape(device);
    size_t after = 0;
    while (tape[after++].op != op) {
    }
    return back_from(Place{device, after, std::nullopt});
  }

 private:
  std::vector<PathEntry> back_from(std::optional<Place> place) {
    while (place)
      place = place->collective ? through_collective(place->device, *place->collective)
                                : through_tape(place->device, place->before);
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

  /// What ends at the makespan: a compute stream, or else a collective that nothing waits for.
  std::optional<Place> last() const {
    for (uint32_t d = 0; d < runs_.devices(); ++d) {
      const Tape& tape = runs_.tape(LogicalId(d));
      if (!tape.empty() && runs_.passed(tape.back(), LogicalId(d)) == completion_.makespan)
        return Place{LogicalId(d), tape.size(), std::nullopt};
    }
    for (uint32_t d = 0; d < runs_.devices(); ++d)
      for (const Instruction& instruction : runs_.tape(LogicalId(d)))
        if (runs_.span(instruction.op, LogicalId(d)).end == completion_.makespan)
          return Place{LogicalId(d), 0, instruction.op};
    return std::nullopt;
  }

  std::optional<Place> through_tape(LogicalId device, size_t before) {
    while (before-- > 0) {
      const Instruction& instruction = runs_.tape(device)[before];
      const OpSpan& at = runs_.span(instruction.op, device);
      if (instruction.kind == Instruction::Kind::Local) {
        path_.push_back({instruction.op, device, at.start, at.end});
      } else if (instruction.kind == Instruction::Kind::Wait &&
                 at.reached < runs_.span(instruction.collective, device).end) {
        return Place{device, 0, instruction.collective};
      }
    }
    return std::nullopt;
  }

  /// To the entry of the member that held the collective up, and to what held up that entry.
  std::optional<Place> through_collective(LogicalId ended_on, OpId ended) {
    const Member member = lowered_.member(program_, ended, ended_on);
    const Collective& collective = lowered_.collective(member.collective);
    const Node origin = completion_.held_up_by[member.collective.index()][member.node.index()];
    const LogicalId device = collective.members[origin.index()];
    const size_t enters = enters_at(device, collective.site);
    const OpId op = runs_.tape(device)[enters].op;
    const OpSpan& at = runs_.span(op, device);

    std::optional<OpId> before;  // on the communication stream
    for (size_t i = 0; i < enters; ++i)
      if (const Instruction& instruction = runs_.tape(device)[i];
          instruction.kind == Instruction::Kind::Enter && instruction.stream == collective.stream)
        before = instruction.op;
    const Instant freed = before ? runs_.span(*before, device).end : at.reached;
    path_.push_back({op, device, std::max(at.reached, freed), runs_.span(ended, ended_on).end});
    if (before && freed > at.reached)
      return Place{device, 0, before};
    return Place{device, enters, std::nullopt};
  }

  size_t enters_at(LogicalId device, SiteId site) const {
    const Tape& instructions = runs_.tape(device);
    for (size_t i = 0; i < instructions.size(); ++i)
      if (instructions[i].kind == Instruction::Kind::Enter &&
          program_.op(instructions[i].op).site == site)
        return i;
    fail_check("found", "a member's thread enters its collective", __FILE__, __LINE__);
  }

  const Program& program_;
  const Lowered& lowered_;
  const Completion& completion_;
  const DeviceRuns runs_;
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
