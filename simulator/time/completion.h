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
#include "simulator/time/op_spans.h"

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

enum class TimedBy : uint8_t { Sweep, Engine };

/// Iterations of a loop that were not run one by one: each is the one `every` before, `later`.
struct AddedIterations {
  uint64_t count = 0;
  uint64_t every = 1;
  std::optional<Duration> later = {};  // empty: another time on each device
};

struct Completion {
  OpSpans spans;
  std::vector<Instant> device_start;  // as given to run_time
  Instant makespan;
  uint64_t messages = 0;
  Digest digest;
  std::vector<AddedIterations> added;  // per loop of the program
  /// Per op and device: the runs that have no span. Empty where all have one.
  std::vector<std::vector<OpTime>> without_spans;
  TimedBy by = TimedBy::Engine;
  std::string because;  // why this executor: for the engine, the link or the order that forced it
};

/// When a moment of a list happened. Requires that its run has spans.
Instant instant_of(const OpSpans& spans, const ProgramLists& lists, ListId list, Moment moment);

struct TimeOptions {
  /// When each device begins, by logical id; empty: all at 0.
  std::vector<Instant> device_start;
  History* history = nullptr;           // where given, gets all that happened
  int64_t most_state = Limits().state;  // as Limits has it
  /// The runs of ops that get spans, ascending; null: all. Iterations without any may be skipped.
  const std::vector<OpRun>* kept = nullptr;
  int64_t most_runs = Limits().runs;  // with `kept`: of ops that are run one by one
};

/// Decides per program: the sweep where it is exact (contract of sweep.h), else the event engine.
/// Empty for a program that does not end; a program walk says why. Throws TooMuchState
/// (state_budget.h).
std::optional<Completion> time_program(const Program& program, const Lowered& lowered, Paths& paths,
                                       const Demands& demands, const TimeOptions& options = {});

/// The same for a program that ends.
Completion run_time(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const std::vector<Instant>& device_start = {});

/// The run that `completion` is of, once more by the same executor, with each half of each step
/// into `log`. That nothing differs is checked. Requires that all runs have spans.
void record(const Program& program, const Lowered& lowered, Paths& paths, const Demands& demands,
            const Completion& completion, EventLog& log);

// The same, with paths and demands of their own.
Completion run_time(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const std::vector<Instant>& device_start = {});
void record(const Program& program, const Lowered& lowered, const Fabric& fabric,
            const Completion& completion, EventLog& log);

}  // namespace orrery
