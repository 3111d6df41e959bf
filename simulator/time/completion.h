#pragma once

// When everything happened. The sweep and the event engine give the same answer, to the picosecond.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/digest.h"

namespace orrery {

class EventLog;
class Fabric;
class Paths;
class ProgramLists;
struct Demands;
struct History;
struct Lowered;
struct Moment;
struct Program;
using ListId = Id<struct ListTag>;

/// One op on one device. The compute stream reaches the op at `start`. A local op runs from there
/// to `end`. A collective waits for those before it on its stream; at `entered` its launch is over.
/// It packs its operand, takes part, and has ended on this device at `end`, when its result is
/// copied out. A done ends when the compute stream goes on.
struct OpSpan {
  Instant start;
  Instant entered;  // of a collective; of other ops: start
  Instant end;
  friend bool operator==(const OpSpan&, const OpSpan&) = default;
};

enum class TimedBy : uint8_t { Sweep, Engine };

/// Iterations of a loop that were not run one by one: each is the one `every` before, `later`.
struct AddedIterations {
  uint64_t count = 0;
  uint64_t every = 1;
  std::optional<Duration> later = {};  // empty: another time on each device
};

/// How long an op took on one device, over several of its runs.
struct OpTime {
  Duration from_start;    // to its end
  Duration from_entered;  // to its end

  OpTime& operator+=(const OpTime& other) {
    from_start += other.from_start;
    from_entered += other.from_entered;
    return *this;
  }
  friend bool operator==(const OpTime&, const OpTime&) = default;
};

/// How long one run took.
inline OpTime time_of(const OpSpan& span) {
  return {span.end - span.start, span.end - span.entered};
}

/// If a loop leaves out iterations, its window has the times of the last iterations, and the
/// written iterations before it those of the first.
struct Completion {
  /// Per op, per device of its thread (in the order of Thread::devices).
  std::vector<std::vector<OpSpan>> spans;
  std::vector<Instant> device_start;  // as given to run_time
  /// Per collective and node: the node whose entry began the chain of last-met causes that ended
  /// here.
  std::vector<std::vector<Node>> held_up_by;
  Instant makespan;
  uint64_t messages = 0;
  Digest digest;
  std::vector<AddedIterations> added;  // per loop of the program
  /// Per op and device: the runs that have no span. Empty where nothing is left out.
  std::vector<std::vector<OpTime>> left_out;
  TimedBy by = TimedBy::Engine;
  std::string because;  // why this executor: for the engine, the link or the order that forced it
};

/// When a moment of a list happened, as in `spans`: per op, per device of its thread.
Instant instant_of(const std::vector<std::vector<OpSpan>>& spans, const ProgramLists& lists,
                   ListId list, Moment moment);

struct TimeOptions {
  /// When each device begins, by logical id; empty: all at 0.
  std::vector<Instant> device_start;
  History* history = nullptr;           // where given, gets all that happened
  int64_t most_state = Limits().state;  // as Limits has it
  int64_t most_runs = Limits().runs;
};

/// By the sweep where it is exact, which here may also show in its timeline; else the reason why
/// not. Takes programs that leave out iterations of loops.
std::variant<Completion, std::string> time_by_sweep(const Program& program, const Lowered& lowered,
                                                    Paths& paths, const Demands& demands,
                                                    const TimeOptions& options = {});

/// Decides per program: the sweep where it is exact (contract of sweep.h), else the event engine.
/// Empty for a program that does not end; a program walk says why. Throws TooMuchState
/// (state_budget.h). Requires a program with all iterations of its loops.
std::optional<Completion> time_program(const Program& program, const Lowered& lowered, Paths& paths,
                                       const Demands& demands, const TimeOptions& options = {});

/// The same for a program that ends.
Completion run_time(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const std::vector<Instant>& device_start = {});

/// The run that `completion` is of, once more by the same executor, with each half of each step
/// into `log`. That nothing differs is checked. Requires a program with all iterations of its
/// loops.
void record(const Program& program, const Lowered& lowered, Paths& paths, const Demands& demands,
            const Completion& completion, EventLog& log);

// The same, with paths and demands of their own.
Completion run_time(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const std::vector<Instant>& device_start = {});
void record(const Program& program, const Lowered& lowered, const Fabric& fabric,
            const Completion& completion, EventLog& log);

}  // namespace orrery
