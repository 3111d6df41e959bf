#pragma once

// What each device ran and when, by device: tapes are per thread, and spans per op and place in its
// thread.

#include <algorithm>
#include <optional>
#include <vector>

#include "models/base/check.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Refers to what it is made of.
class DeviceRuns {
 public:
  DeviceRuns(const Program& program, const Lowered& lowered, const Completion& completion)
      : program_(program),
        lowered_(lowered),
        completion_(completion),
        thread_of_(threads_by_device(program)),
        place_(thread_of_.size(), 0),
        issued_by_(program.ops.size()) {
    for (size_t t = 0; t < program.threads.size(); ++t) {
      const Thread& thread = program.threads[t];
      for (size_t i = 0; i < thread.devices.size(); ++i)
        place_[thread.devices[i].index()] = i;
      for (const OpId op : thread.issue_order)
        issued_by_[op.index()] = ThreadId(t);
    }
  }

  uint32_t devices() const { return static_cast<uint32_t>(thread_of_.size()); }

  /// Empty for a device that runs nothing.
  const Tape& tape(LogicalId device) const {
    const std::optional<ThreadId> thread = thread_of_[device.index()];
    return thread ? lowered_.tapes[thread->index()] : nothing_;
  }

  /// Requires that the device runs the op; so does passed().
  const OpSpan& span(OpId op, LogicalId device) const {
    return completion_.spans[op.index()][place_[device.index()]];
  }

  /// When the device's compute stream has run the instruction; it takes no time to issue an Enter.
  Instant passed(const Instruction& instruction, LogicalId device) const {
    const OpSpan& at = span(instruction.op, device);
    return instruction.kind == Instruction::Kind::Enter ? at.reached : at.end;
  }

  /// The op by which the device, a member, takes part in the collective.
  OpId own_op(const Collective& collective, LogicalId device) const {
    const std::vector<OpId>& meeting = program_.site(collective.site).ops;
    const auto own = std::find_if(meeting.begin(), meeting.end(), [&](OpId op) {
      return issued_by_[op.index()] == thread_of_[device.index()];
    });
    ORRERY_CHECK(own != meeting.end(), "a member's thread issues its collective");
    return *own;
  }

 private:
  const Program& program_;
  const Lowered& lowered_;
  const Completion& completion_;
  std::vector<std::optional<ThreadId>> thread_of_;
  std::vector<size_t> place_;                       // among the devices of its thread
  std::vector<std::optional<ThreadId>> issued_by_;  // per op
  Tape nothing_;
};

}  // namespace orrery
