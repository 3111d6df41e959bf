#include "simulator/analyze/critical_path.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/base/check.h"

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
        thread_of_(threads_by_device(program)),
        place_in_thread_(program.mesh.devices(), 0) {
    for (const Thread& thread : program.threads)
      for (size_t i = 0; i < thread.devices.size(); ++i)
        place_in_thread_[thread.devices[i].index()] = i;
  }

  std::vector<PathEntry> run() {
    std::optional<Place> place = last();
    while (place)
      place = place->collective ? through_collective(place->device, *place->collective)
                                : through_tape(place->device, place->before);
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  const Tape& tape(LogicalId device) const {
    return lowered_.tapes[thread_of_[device.index()]->index()];
  }
  const OpSpan& span(OpId op, LogicalId device) const {
    return completion_.spans[op.index()][place_in_thread_[device.index()]];
  }

  /// When the device's compute stream has run the instruction; it takes no time to issue an Enter.
  Instant passed(const Instruction& instruction, LogicalId device) const {
    const OpSpan& at = span(instruction.op, device);
    return instruction.kind == Instruction::Kind::Enter ? at.reached : at.end;
  }

  /// What ends at the makespan: a compute stream, or else a collective that nothing waits for.
  std::optional<Place> last() const {
    for (uint32_t d = 0; d < thread_of_.size(); ++d)
      if (thread_of_[d] && !tape(LogicalId(d)).empty() &&
          passed(tape(LogicalId(d)).back(), LogicalId(d)) == completion_.makespan)
        return Place{LogicalId(d), tape(LogicalId(d)).size(), std::nullopt};
    for (uint32_t d = 0; d < thread_of_.size(); ++d)
      if (thread_of_[d])
        for (const Instruction& instruction : tape(LogicalId(d)))
          if (span(instruction.op, LogicalId(d)).end == completion_.makespan)
            return Place{LogicalId(d), 0, instruction.op};
    return std::nullopt;
  }

  void add(OpId op, LogicalId device, Instant start, Instant end) {
    if (start < end)
      path_.push_back({op, device, start, end});
  }

  std::optional<Place> through_tape(LogicalId device, size_t before) {
    while (before-- > 0) {
      const Instruction& instruction = tape(device)[before];
      const OpSpan& at = span(instruction.op, device);
      if (instruction.kind == Instruction::Kind::Local) {
        add(instruction.op, device, at.start, at.end);
      } else if (instruction.kind == Instruction::Kind::Wait &&
                 at.reached < span(instruction.collective, device).end) {
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
    const OpId op = tape(device)[enters].op;
    const OpSpan& at = span(op, device);

    std::optional<OpId> before;  // on the communication stream
    for (size_t i = 0; i < enters; ++i)
      if (const Instruction& instruction = tape(device)[i];
          instruction.kind == Instruction::Kind::Enter && instruction.stream == collective.stream)
        before = instruction.op;
    const Instant freed = before ? span(*before, device).end : at.reached;
    add(op, device, std::max(at.reached, freed), span(ended, ended_on).end);
    if (before && freed > at.reached)
      return Place{device, 0, before};
    return Place{device, enters, std::nullopt};
  }

  size_t enters_at(LogicalId device, SiteId site) const {
    const Tape& instructions = tape(device);
    for (size_t i = 0; i < instructions.size(); ++i)
      if (instructions[i].kind == Instruction::Kind::Enter &&
          program_.op(instructions[i].op).site == site)
        return i;
    fail_check("found", "a member's thread enters its collective", __FILE__, __LINE__);
  }

  const Program& program_;
  const Lowered& lowered_;
  const Completion& completion_;
  std::vector<std::optional<ThreadId>> thread_of_;
  std::vector<size_t> place_in_thread_;
  std::vector<PathEntry> path_;  // last to first
};

}  // namespace

std::vector<PathEntry> critical_path(const Program& program, const Lowered& lowered,
                                     const Completion& completion) {
  return Backtrack(program, lowered, completion).run();
}

}  // namespace orrery
