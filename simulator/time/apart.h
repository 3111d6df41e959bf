#pragma once

// While no other messages are on its links, a collective takes a time that depends only on its
// schedule, its routes, and when its ranks enter. This file says which collectives are alike in
// this, remembers their times, and checks that collectives do not share links with each other.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/base/callable.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/base/shared_list.h"
#include "models/base/shared_map.h"
#include "models/program/program.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/capacity.h"
#include "simulator/time/completion.h"
#include "simulator/time/loop_skips.h"
#include "simulator/time/origins.h"

namespace orrery {

/// A program of one sync collective that all its devices enter; rank r is device r.
struct CollectiveAlone {
  /// Takes the schedule, the vertices, the figures and the work of `collective`. The other members
  /// are set.
  explicit CollectiveAlone(Collective collective);
  CollectiveAlone(const CollectiveAlone&) = delete;
  CollectiveAlone& operator=(const CollectiveAlone&) = delete;

  Program program;
  Lowered lowered;
};

/// A LinkUse is a time in which a collective uses a link.
struct LinkUse {
  LinkId link;
  Instant begin;
  Instant end;
};

/// AloneTimes has the times of collectives with nothing else on the fabric, on equal fabrics.
struct AloneTimes {
  /// The schedule, the itemsize, the figures without the launch, where the nodes are, and when each
  /// rank enters, counted from the first one that does.
  using Key = std::tuple<std::shared_ptr<const Schedule>, Bytes, CollectiveFigures,
                         SharedList<VertexId>, std::vector<Duration>>;
  static constexpr size_t kMostRanks = 1024;  // of a collective that is remembered
  SharedMap<Key, std::optional<CollectiveTimes>> times{size_t{1} << 11U};  // nothing: no end
};

/// Times a collective by time_program(), with nothing else on the fabric. The times count from the
/// first entry, and contain no launch. `schedule` is that of the collective, and `entries` says
/// when each rank enters. `options` has no device_start and no history. Returns nothing if the
/// collective does not end.
std::optional<CollectiveTimes> time_alone(Collective collective,
                                          std::shared_ptr<const Schedule> schedule,
                                          std::span<const Duration> entries, Paths& paths,
                                          const TimeOptions& options);

class CollectivesApart {
 public:
  /// A link is watched if the program may ask it for more than it has. Without demands none is.
  CollectivesApart(const Lowered& lowered, Paths& paths, const Demands* demands);

  /// Returns whether the collective's own messages may ask a watched link for more than it has.
  bool shares_links(CollectiveId id) { return routes(id).shares_links; }

  /// Returns the times of an earlier run of a collective like this one whose ranks entered at the
  /// same distances from each other. Null if there was none, or it is not remembered any more.
  const CollectiveTimes* find(CollectiveId id, std::span<const Instant> entries);
  /// Returns the times for these entries, from those that find() returned.
  static CollectiveTimes at(const CollectiveTimes& known, std::span<const Instant> entries);
  /// Remembers the times of a run. Does nothing if the collective runs once and no other is like
  /// it.
  void remember(CollectiveId id, std::span<const Instant> entries, const CollectiveTimes& times);

  /// Adds the run of a collective. Each rank uses its watched links from its entry to its end, and
  /// a switch uses its own from the first entry to the last end. Returns whether no two collectives
  /// added so far use a link at the same time. Then each takes the time that it takes alone. `told`
  /// gets each use.
  bool take_turns(CollectiveId id, std::span<const Instant> entries,
                  std::span<const Happened> exits, FunctionRef<void(const LinkUse&)> told);

  /// Adds the uses of a period again, as often as the period is repeated. Each link then counts as
  /// used from its first use in the first repetition to its last use in the last one, and `told`
  /// gets this use. Returns as take_turns(). The result is false if the uses of a link in one
  /// period reach beyond its first use in the next one.
  bool repeat(std::vector<LinkUse> period, const RepeatedPeriods& by,
              FunctionRef<void(const LinkUse&)> told);

  /// Times a collective by orrery::time_alone(). Returns nothing if it does not end, or if this
  /// takes too long: each time looks at all links of the fabric. So it pays if few runs differ from
  /// those before. Throws OpOverflow and TooMuchState, for the op.
  std::optional<CollectiveTimes> time_alone(CollectiveId id, OpId op,
                                            std::span<const Instant> entries,
                                            const TimeOptions& options);

 private:
  struct Use {
    LinkId link;
    Node sender;
  };
  /// The rates that the messages of a collective ask of a watched link.
  struct Asked {
    uint64_t number = 0;        // of the link, by its first message, from 1 on; 0: no message yet
    Int128 all = 0;             // bytes per second, by all chains (demand.h)
    uint32_t sender = 0;        // the number of the last node that sent over it, from 1 on
    uint64_t channel = 0;       // the last channel that sent over it, over all nodes, from 1 on
    BytesPerSecond of_channel;  // the most that this one asked
  };
  struct Routes {
    size_t shape = 0;           // a number that all have that are alike
    bool shares_links = false;  // see shares_links()
    std::vector<Use> uses;      // of watched links, each sender once
  };
  /// Returns when each rank enters, counted from the first entry.
  static std::vector<Duration> distances(std::span<const Instant> entries);

  void use(const LinkUse& use, FunctionRef<void(const LinkUse&)> told);
  const Routes& routes(CollectiveId id);
  Routes routes_of(const Collective& collective, std::vector<uint64_t> words);
  size_t figures_of(const Collective& collective);

  /// Collectives that are timed alone may look at so many links, and at two more for each of their
  /// messages. Beyond that, it is quicker to run the whole program in the engine.
  static constexpr uint64_t kMostLinks = uint64_t{1} << 19U;
  /// So many ranks' ends are remembered: 24 MiB.
  static constexpr size_t kMostRemembered = size_t{1} << 20U;

  const Lowered& lowered_;
  Paths& paths_;
  std::optional<CapacityCheck> turns_;  // where links are watched
  std::vector<Asked> asked_;            // per link, where any are watched: while routes are found
  std::vector<CollectiveFigures> figures_;
  /// By schedule, devices, itemsize and figures.
  std::map<std::tuple<const Schedule*, const VertexId*, Bytes, size_t>, Routes> routes_;
  std::vector<const Routes*> of_;  // per collective; null: not worked out
  /// By all that the time of a collective depends on besides the entries.
  std::map<std::vector<uint64_t>, size_t> shapes_;
  std::map<const Schedule*, uint64_t> runs_;  // of all collectives with the schedule
  std::map<std::pair<size_t, std::vector<Duration>>, CollectiveTimes> known_;  // by shape
  size_t remembered_ = 0;         // ranks whose ends are in known_
  uint64_t links_looked_at_ = 0;  // by collectives that were timed alone
  uint64_t messages_alone_ = 0;   // of these collectives
};

}  // namespace orrery
