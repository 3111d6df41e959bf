#pragma once

// Long loops of local ops alone. Nothing disturbs their iterations: each takes a device as long as
// the last one, whatever other devices do. So neither the sweep nor the engine runs the left-out
// iterations of such a loop. Their time is added to the op before the window, and taken out of the
// result afterwards.

#include <map>
#include <vector>

#include "models/program/program.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"

namespace orrery {

class LocalLoops {
 public:
  /// Those of the program. Throws OpOverflow.
  LocalLoops(const Program& program, const Lowered& lowered);

  /// No loops are shortened: for runs whose iterations differ (jitter of ops).
  explicit LocalLoops(const Program& program);

  /// The program without left-out iterations of these loops. Its ops are those of the program.
  const Program& shortened() const { return shortened_; }

  /// How much longer ops of the shortened program take than lowered, per device of their threads.
  const std::map<OpId, std::vector<Duration>>& longer() const { return longer_; }

  /// The times of the program, from those of the shortened one with its longer ops.
  void correct(Completion& completion) const;

 private:
  void shorten(size_t loop, const Lowered& lowered);

  const Program& program_;
  Program shortened_;
  std::map<OpId, std::vector<Duration>> longer_;
  /// How long one run of each op of these loops takes, per device.
  std::map<OpId, std::vector<Duration>> took_;
  std::vector<AddedIterations> added_;  // per loop
};

}  // namespace orrery
