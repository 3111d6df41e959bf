#include "simulator/analyze/critical_path.h"

#include <algorithm>
#include <cstdint>
#include <limits>
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

/// It says how often what was looked at since a place repeats itself before.
class Repeats {
 public:
  void add(const RunSpan& run) {
    times_ = std::min(times_, run.repeats);
    if (!later_)
      later_ = run.later;
    else if (*later_ != run.later)
      times_ = 0;
  }
  /// Returns how often all of it came before, each time `later` earlier.
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
        go_back_periods(*at, steps);
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

  /// Goes back over all periods at once through which the path repeats itself. It does if the walk
  /// comes from a place to the same place in an earlier period, and all that it looked at in
  /// between repeats itself.
  void go_back_periods(At& at, uint64_t steps) {
    const RunSpan run = runs_.run_at(at.list, at.moment.position);
    if (run.repeats == 0) {
      place_.reset();
      return;
    }
    const Instant now = runs_.at(at.list, at.moment);
    if (place_ && place_->at.list == at.list && place_->at.moment.kind == at.moment.kind &&
        (place_->at.moment.position - at.moment.position) % run.length == 0) {
      const uint64_t periods = (place_->at.moment.position - at.moment.position) / run.length;
      const Duration every = run.later * static_cast<int64_t>(periods);
      const uint64_t times = place_->now - now == every ? looked_at_.times(run.later) / periods : 0;
      for (size_t e = place_->entries; times > 0 && e < path_.size(); ++e)
        path_[e].repeat(times * periods, times, every);
      at.moment.position -= times * periods * run.length;
      place_.reset();
    }
    if (place_ && steps < place_->until)
      return;
    // A longer cycle is found from a place that is kept for longer.
    const uint64_t kept_for = place_ ? 2 * (place_->until - place_->begin) : 2;
    place_ = {at, runs_.at(at.list, at.moment), path_.size(), steps, steps + kept_for};
    looked_at_ = {};
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
    looked_at_.add(run);
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
                     run.length});
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
    uint64_t length = 0;  // of a period of the list, in positions

    /// Adds `times` stretches before the first one.
    void repeat(uint64_t periods, uint64_t times, Duration every) {
      position -= periods * length;
      const Duration earlier = every * -static_cast<int64_t>(times);
      entry.start = entry.start + earlier;
      entry.end = entry.end + earlier;
      entry.times += times;
      entry.every = every;
    }
  };
  /// A Place is one to which the walk may come again, some periods earlier.
  struct Place {
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
  std::optional<Place> place_;
  Repeats looked_at_;  // since the walk was at place_
};

}  // namespace

std::optional<std::vector<PathEntry>> critical_path(const Program& program, const Lowered& lowered,
                                                    const Completion& completion) {
  return Backtrack(program, lowered, completion).to_the_end();
}

std::vector<PathEntry> path_to(const Program& program, const Lowered& lowered,
                               const Completion& completion, OpId op, LogicalId device) {
  return Backtrack(program, lowered, completion).to(op, device).value();
}

}  // namespace orrery
