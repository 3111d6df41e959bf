#pragma once

// Long loops of local ops alone. Nothing disturbs their iterations: each takes a device as long as
// the last one. So where the engine times a program, the left-out iterations of such a loop are not
// run. Their time is added to the op before the window, and taken out of the result afterwards.

#include <map>
#include <span>
#include <vector>

#include "models/program/program.h"
#include "models/scenario/fault.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

class LocalLoops {
 public:
  /// With jitter of ops each iteration takes a time of its own, and there are none of these loops.
  /// Throws OpOverflow.
  LocalLoops(const Program& program, const Lowered& lowered, std::span<const Fault> faults);

  /// The program without left-out iterations of these loops. Its ops are those of the program.
  const Program& shortened() const { return shortened_; }

  /// How much longer ops of the shortened program take, per device of their threads.
  const std::map<OpId, std::vector<Duration>>& longer() const { return longer_; }

  /// The times of the program, from those of the shortened one with its longer ops.
  void correct(Completion& completion) const;

 private:
  void shorten(size_t loop, const Lowered& lowered);

  const Program& program_;
  Program shortened_;
  std::map<OpId, std::vector<Duration>> longer_;
  /// Of the ops of these loops: one run, per device.
  std::map<OpId, std::vector<Duration>> took_;
  std::vector<AddedIterations> added_;  // per loop
};

}  // namespace orrery
