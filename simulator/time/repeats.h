#pragma once

// Loops that leave out iterations (models/program/loop.h), in the clocks of the devices. All lists
// of a group of loops run the written iterations, and stop at the end of the last one. Then the
// iteration just run counts as the one before, and they run the last one again, until every
// iteration has been run. So nothing is copied. At the end the window holds the times of the last
// iterations.
//
// If the window equals that of some iterations before, shifted by the same time everywhere, so does
// every later one, since all causes of an iteration lie in the window. The rest is then added at
// once. Lists that do not meet in the loop cause nothing for each other. So the time is the same
// among those that meet, a component of the group, and may differ between components.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/program/loops.h"
#include "models/program/op_overflow.h"
#include "models/scenario/size_limits.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/time/completion.h"

namespace orrery {

/// Where the load of links is checked: per thread its set of threads_by_shared_links(). Iterations
/// that are added are not checked. So they are added only where their messages share links with
/// those of no other thread, and enough are run before and after them.
using LinkSets = std::optional<std::vector<uint32_t>>;

struct RepeatOptions {
  LinkSets link_sets = std::nullopt;
  int64_t most_runs = Limits().runs;
};

/// Iterations that cannot be added make the devices run more ops than Limits::runs. The op is the
/// first of the iteration.
class TooManyRuns : public BeyondLimit {
 public:
  using BeyondLimit::BeyondLimit;
};

class Repeats {
 public:
  /// Holds the lists. All arguments must outlive this object.
  Repeats(const Program& program, const ProgramLists& lists, RepeatOptions options,
          ListProgress& progress, std::vector<std::vector<OpSpan>>& spans);

  /// A collective has ended on the device of the list.
  void ended(ListId list, Instant at) {
    if (!groups_.empty())
      last_end_[list.index()] = std::max(last_end_[list.index()], at);
  }

  /// When nothing more can happen: sends the lists of each group that is at the end of its
  /// iteration back, or lets them pass. Returns these lists; none if there is no such group. Throws
  /// TooManyRuns.
  std::vector<ListId> at_rest();

  /// The iterations that were added and not run, per loop of the program.
  std::vector<AddedIterations> added() && { return std::move(added_); }
  std::vector<std::vector<OpTime>> left_out() && { return std::move(left_out_); }

 private:
  /// The part of a group in one thread.
  struct ThreadPart {
    size_t loop = 0;
    ThreadId thread;
    uint32_t begin = 0;  // the instructions of the last iteration
    uint32_t end = 0;
    size_t stop = 0;         // of the thread
    size_t first_inner = 0;  // the first stop in the last iteration; `stop` if there is none
    std::vector<uint32_t> component;  // of the list, per device of the thread
  };
  /// Where the lists of a thread are held if the group has iterations left.
  struct Stop {
    size_t group = 0;
    size_t part = 0;
  };
  /// In the order in which a list comes to them: of loops in each other the inner one first.
  struct Stops {
    std::vector<Stop> all;
    size_t next = 0;
  };
  /// An iteration as a hash of its times, relative to its component's start.
  struct TimesHash {
    uint64_t hash = 0;
    Instant at;  // of the first component
  };
  /// A candidate cycle: a copy of the window, to be compared with the one `every` iterations later.
  struct Cycle {
    uint64_t every = 1;
    std::vector<Duration> later = {};  // per component, once it has repeated
    uint64_t age = 0;                  // iterations since the copies
    uint64_t seen = 0;                 // how often in a row it has repeated
    std::vector<OpSpan> window = {};
    std::vector<OpTime> left_out = {};  // of the ops of the last iteration

    /// The time of all components, if it is the same.
    std::optional<Duration> common_later() const;
  };
  /// How far a group that repeats its last iteration is in finding its cycle.
  struct Search {
    std::vector<TimesHash> hashes;  // of the last iterations, the newest last
    std::optional<Cycle> cycle;
    /// When all that its lists entered before the first repetition has ended.
    Instant others_end;
    bool over = false;  // nothing more can be added
  };
  struct Group {
    std::vector<ThreadPart> parts;
    uint32_t components = 0;
    uint32_t window = 0;
    uint64_t trips = 0;              // the number of iterations left out
    uint64_t left = 0;               // of these, still to run; 0: the lists may pass
    uint64_t runs = 0;               // of ops, in one iteration on all lists
    bool alone = true;               // only its own threads use the links that they use
    std::unique_ptr<Search> search;  // while it repeats
  };

  void find_groups();
  void find_components(Group& group) const;
  void find_stops();
  bool is_alone(const Group& group) const;
  std::span<const ListId> lists_of(const ThreadPart& part) const {
    return lists_.lists_of(part.thread);
  }
  std::optional<size_t> stopped_group(size_t thread) const;
  bool rests(size_t group) const;
  void go_on(Group& group);
  void hold(ThreadId thread);
  OpId first_op(const Group& group) const;

  template <class Visit>
  void for_each_op_of_window(const Group& group, Visit&& visit) const;
  template <class Visit>
  void for_each_op_of_last(const Group& group, Visit&& visit) const;
  TimesHash hash_of_times(const Group& group) const;
  std::vector<OpSpan> window(const Group& group) const;
  std::vector<OpTime> left_out_so_far(const Group& group) const;
  std::optional<Cycle> find_cycle(const Group& group) const;
  std::optional<std::vector<Duration>> shift_of_window(const Group& group) const;
  uint64_t needed(const Group& group) const;
  bool may_add(const Group& group) const;
  void look_for_cycle(Group& group);
  void add(Group& group, uint64_t cycles);
  void shift_window(const Group& group);
  void send_back(Group& group);

  const Program& program_;
  const ProgramLists& lists_;
  const RepeatOptions options_;
  ListProgress& progress_;
  std::vector<std::vector<OpSpan>>& spans_;
  std::vector<Group> groups_;
  std::vector<Stops> stops_;       // per thread
  std::vector<Instant> last_end_;  // per list, of its collectives
  int64_t runs_ = 0;               // of ops in iterations that were repeated
  std::vector<AddedIterations> added_;
  std::vector<std::vector<OpTime>> left_out_;
};

}  // namespace orrery
