#pragma once

// This folder times a program: it finds out when every op starts and ends on every device. The
// result is a Completion. time_program() chooses one of two executors, which give the same answer,
// to the picosecond, wherever both are exact:
//   sweep.h    runs one collective after another, if no link is ever asked for more than it has;
//   engine.h   runs any program event by event, and shares links between messages.
//
// Both use the clocks of the devices (device_clocks.h), which run the lists of instructions and say
// when a device enters a collective. collective_sweep.h and collective_engine.h run the steps of a
// collective. origins.h finds whose entry held a collective up. If the iterations of a loop repeat,
// period_finder.h notices it, and loop_skips.h adds many iterations at once.

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
struct AloneTimes;
struct Demands;
struct History;
struct Lowered;
struct Moment;
struct Program;
using ListId = Id<struct ListTag>;

enum class TimedBy : uint8_t { Sweep, Engine };

/// AddedIterations counts the iterations of a loop that were not run one by one. Each repeats the
/// one `every` iterations earlier, and all its times are `later` than there.
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
  uint64_t events = 0;  // of the event engine, without those of iterations that it added up
  std::vector<AddedIterations> added;  // per loop of the program
  /// Per op and device: the time of runs that are not kept (WantedSpans); empty if all are.
  std::vector<std::vector<OpTime>> not_kept;
  TimedBy by = TimedBy::Engine;
  std::string because;  // why this executor: for the engine, the link or the order that forced it
};

/// Returns when a moment of a list happened, given the span of its run.
Instant instant_of(const OpSpan& span, const ProgramLists& lists, ListId list, Moment moment);

struct TimeOptions {
  /// The devices begin at these instants, by logical id; if it is empty, all begin at 0.
  std::vector<Instant> device_start;
  History* history = nullptr;           // where given, gets all that happened
  int64_t most_state = Limits().state;  // as Limits has it
  WantedSpans wanted = {};  // if runs are kept, iterations without any of them may be skipped
  /// Whether only times are asked for. Then the sweep adds up iterations of cut schedules that
  /// repeat. They are missing in the number of messages, in the digest and in OpSpan::held_up_by.
  bool only_times = false;
  /// If it is given, with `only_times`, the times of collectives that are timed alone are looked up
  /// there, and added (apart.h).
  AloneTimes* alone = nullptr;
};

/// Times a program by the sweep if it is exact (contract of sweep.h) and has the memory, else by
/// the event engine. Returns nothing for a program that does not end; a program walk says why.
/// Throws TooMuchState and TooManySteps (state_budget.h), and TooManyRuns (device_clocks.h).
std::optional<Completion> time_program(const Program& program, const Lowered& lowered, Paths& paths,
                                       const Demands& demands, const TimeOptions& options = {});

/// Times a program that ends.
Completion run_time(const Program& program, const Lowered& lowered, Paths& paths,
                    const Demands& demands, const std::vector<Instant>& device_start = {});

/// Repeats the run of `completion` with the same executor, and adds each half of each step to
/// `log`. Checks that spans and digest are the same. Requires that no runs were skipped.
void record(const Program& program, const Lowered& lowered, Paths& paths, const Demands& demands,
            const Completion& completion, EventLog& log);

// These overloads make their own paths and demands.
Completion run_time(const Program& program, const Lowered& lowered, const Fabric& fabric,
                    const std::vector<Instant>& device_start = {});
void record(const Program& program, const Lowered& lowered, const Fabric& fabric,
            const Completion& completion, EventLog& log);

}  // namespace orrery
