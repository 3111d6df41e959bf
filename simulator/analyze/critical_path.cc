#include "simulator/analyze/critical_path.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "simulator/analyze/list_runs.h"

namespace orrery {

namespace {

/// A moment of one device.
struct At {
  ListId list;
  Moment moment;
};

/// It follows the runs that were looked at since a place. It says how often all of them repeat runs
/// before them, in one of the loops around.
class Repeats {
 public:
  void add(const Repeated& run) {
    times_ = std::min(times_, run.times);
    if (!later_)
      later_ = run.later;
    else if (*later_ != run.later)
      times_ = 0;
  }
  /// Returns how often, if each time is `later` than the one before.
  uint64_t times(Duration later) const { return later_ == later ? times_ : 0; }

 private:
  uint64_t times_ = std::numeric_limits<uint64_t>::max();
  std::optional<Duration> later_;
};

/// It follows the last cause of each moment, back to the beginning.
class Backtrack {
 public:
  Backtrack(const Program& program, const Lowered& lowered, const Completion& completion)
      : completion_(completion), runs_(program, lowered, completion) {}

  std::optional<std::vector<PathEntry>> to_the_end() {
    names_ = Names::Ended;
    std::optional<std::vector<PathEntry>> path = back_from(last());
    if (path)
      std::erase_if(*path, [](const PathEntry& entry) { return entry.start == entry.end; });
    return path;
  }

  std::optional<std::vector<PathEntry>> to(OpId op, LogicalId device) {
    const ListId list = runs_.lists().list_of(op, device);
    return back_from(At{list, end_of_op(runs_.tape(list), runs_.lists().position({op}))});
  }

 private:
  std::optional<std::vector<PathEntry>> back_from(std::optional<At> at) {
    for (uint64_t steps = 0; at; ++steps) {
      const Tape& tape = runs_.tape(at->list);
      if (tape.size() > tape.instructions().size()) {  // it has loops
        if (steps > kMostPathSteps)
          return std::nullopt;
        go_back_rounds(*at, steps);
      }
      at = at->moment.kind == MomentKind::Ended ? through_collective(*at) : through_list(*at);
    }
    std::vector<PathEntry> path;
    for (auto each = path_.rbegin(); each != path_.rend(); ++each) {
      path.push_back(each->entry);
      path.back().iteration = runs_.tape(each->list).iteration_at(each->position);
    }
    return path;
  }

  /// Goes back at once over all rounds through which the path repeats itself. It does if the walk
  /// comes from a place to the same place in an earlier period, and all that it looked at in
  /// between repeats itself. Rounds of inner loops come first, so that those around them have them
  /// once.
  void go_back_rounds(At& at, uint64_t steps) {
    for (size_t loop = loops_.size(); loop-- > 0;)
      go_back_rounds(loop, at, steps);
  }

  void go_back_rounds(size_t loop, At& at, uint64_t steps) {
    auto& [place, looked_at] = loops_[loop];
    const Repeated run = runs_.run_at(at.list, at.moment.position).repeats[loop];
    if (run.times == 0) {
      place.reset();
      return;
    }
    const Instant now = runs_.at(at.list, at.moment);
    const uint64_t here = at.moment.position;
    if (place && place->at.list == at.list && place->at.moment.kind == at.moment.kind &&
        place->at.moment.position > here && (place->at.moment.position - here) % run.length == 0) {
      const uint64_t periods = (place->at.moment.position - here) / run.length;
      const uint64_t times = looked_at.times(run.later) / periods;
      if (times > 0 && place->now - now == run.later * static_cast<int64_t>(periods)) {
        for (size_t e = place->entries; e < path_.size(); ++e)
          path_[e].repeat(loop, periods, times, place->now - now);
        at.moment.position -= times * periods * run.length;
        // A place of a loop around that is within this round is within many now. Those of inner
        // loops are left behind.
        for (size_t around = 0; around < loop; ++around)
          if (auto& outer = loops_[around].place; outer && outer->entries > place->entries)
            set_place(around, at, steps, outer->until - outer->begin);
        for (size_t inner = loop + 1; inner < loops_.size(); ++inner)
          loops_[inner].place.reset();
      }
      place.reset();
    }
    if (place && steps < place->until)
      return;
    // A longer round is found from a place that is kept for longer.
    set_place(loop, at, steps, place ? 2 * (place->until - place->begin) : 2);
  }

  void set_place(size_t loop, const At& at, uint64_t steps, uint64_t kept_for) {
    loops_[loop] = {
        Revisit{at, runs_.at(at.list, at.moment), path_.size(), steps, steps + kept_for}, {}};
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
      std::optional<Moment> first;
      for (uint32_t s = 0; s < tape.streams(); ++s)
        for (uint64_t i = tape.enters(s); i-- > 0;) {
          const Moment ended{MomentKind::Ended, tape.enter(s, i)};
          if (runs_.at(ListId(l), ended) != completion_.makespan)
            break;
          if (!first || ended.position < first->position)
            first = ended;
        }
      if (first)
        return At{ListId(l), *first};
    }
    return std::nullopt;
  }

  RunSpan look_at(ListId list, uint64_t position) {
    const RunSpan run = runs_.run_at(list, position);
    for (size_t loop = 0; loop < loops_.size(); ++loop)
      loops_[loop].looked_at.add(run.repeats[loop]);
    return run;
  }
  Instant look_at(const At& at) {
    return instant_of(look_at(at.list, at.moment.position).span, runs_.lists(), at.list, at.moment);
  }

  std::optional<At> before(ListId list, Moment moment) {
    const std::optional<Moment> cause = runs_.last_met(list, moment, [&](ListId of, Moment each) {
      return look_at(At{of, each});
    });
    return cause ? std::optional(At{list, *cause}) : std::nullopt;
  }

  void add(EnterRef first, Instant start, Instant end) {
    const RunSpan run = look_at(first.list, first.enter);
    path_.push_back({{runs_.tape(first.list)[first.enter].op, runs_.device(first.list), start, end},
                     first.list,
                     first.enter,
                     run.repeats});
  }

  /// Adds the instruction that the compute stream has passed, and returns its last cause.
  std::optional<At> through_list(const At& at) {
    const uint64_t position = at.moment.position;
    if (runs_.tape(at.list)[position].kind == Instruction::Kind::Local) {
      const OpSpan span = look_at(at.list, position).span;
      add({at.list, position}, span.entered, span.end);
    }
    return before(at.list, at.moment);
  }

  /// Adds the collective to the path, back to the entry of the member that held it up, and returns
  /// the cause of that entry.
  std::optional<At> through_collective(const At& ended) {
    const EnterRef end{ended.list, ended.moment.position};
    const CollectiveRun run = runs_.lists().run(end);
    const EnterRef entry = runs_.lists().enter_of(
        run.collective, look_at(end.list, end.enter).span.held_up_by, run.iteration);
    const std::optional<At> held_up = before(entry.list, {MomentKind::Entered, entry.enter});
    const bool by_entry =
        names_ == Names::Entered || runs_.lists().op(entry) == runs_.lists().op(end);
    add(by_entry ? entry : end, look_at(*held_up), look_at(ended));
    return held_up;
  }

  /// Says which op names a collective's entry where its members enter by different ops.
  enum class Names : uint8_t { Entered, Ended };

  /// A Stretch is an entry of the path, and the run of its op.
  struct Stretch {
    PathEntry entry;
    ListId list;
    uint64_t position = 0;
    decltype(RunSpan::repeats) repeats;

    /// Adds a round, `times` times before the one that was walked. Each is of so many periods of a
    /// loop.
    void repeat(size_t loop, uint64_t periods, uint64_t times, Duration every) {
      position -= times * periods * repeats[loop].length;
      const Duration earlier = every * -static_cast<int64_t>(times);
      entry.start = entry.start + earlier;
      entry.end = entry.end + earlier;
      entry.rounds.push_back({times + 1, every});
    }
  };
  /// A Revisit is a place to which the walk may come again, some periods earlier.
  struct Revisit {
    At at;
    Instant now;
    size_t entries = 0;  // of the path when the walk was there
    uint64_t begin = 0;  // in steps of the walk
    uint64_t until = 0;
  };

  const Completion& completion_;
  const ListRuns runs_;
  Names names_ = Names::Entered;
  std::vector<Stretch> path_;  // last to first
  struct Around {
    std::optional<Revisit> place;
    Repeats looked_at;  // since the walk was at the place
  };
  /// Outer loops come first, as in RunSpan::repeats.
  std::array<Around, std::tuple_size_v<decltype(RunSpan::repeats)>> loops_;
};

}  // namespace

uint64_t PathEntry::times() const {
  uint64_t times = 1;
  for (const Round& round : rounds)
    times *= round.times;
  return times;
}

Instant PathEntry::last_end(size_t inner) const {
  Instant last = end;
  for (size_t r = 0; r < inner; ++r)
    last = last + rounds[r].every * static_cast<int64_t>(rounds[r].times - 1);
  return last;
}

std::optional<std::vector<PathEntry>> critical_path(const Program& program, const Lowered& lowered,
                                                    const Completion& completion) {
  return Backtrack(program, lowered, completion).to_the_end();
}

std::vector<PathEntry> path_to(const Program& program, const Lowered& lowered,
                               const Completion& completion, OpId op, LogicalId device) {
  return Backtrack(program, lowered, completion).to(op, device).value();
}

}  // namespace orrery
