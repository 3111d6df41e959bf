#include "simulator/time/sweep.h"

#include <algorithm>
#include <compare>
#include <utility>

#include <fmt/format.h>

#include "models/base/int128.h"
#include "simulator/algorithm/concrete.h"
#include "simulator/network/paths.h"
#include "simulator/time/collective_sweep.h"
#include "simulator/time/tapes.h"

namespace orrery {
namespace {

class ProgramSweep {
 public:
  ProgramSweep(const Program& program, const Lowered& lowered, const Fabric& fabric,
               const SweepOptions& options)
      : program_(program),
        lowered_(lowered),
        paths_(fabric),
        tapes_(program, lowered, options.device_start),
        gathering_(lowered.collectives.size()) {
    for (const Collective& collective : lowered.collectives)
      completion_.held_up_by.emplace_back(collective.members.size());
  }

  std::variant<Completion, std::string> run() {
    for (uint32_t d = 0; d < program_.mesh.devices(); ++d)
      tapes_.begin(LogicalId(d), [&](Entrance entrance) { enter(entrance); });
    for (size_t next = 0; next < complete_.size(); ++next)
      sweep_collective(complete_[next]);
    if (!tapes_.finished())
      return tapes_.waiting_text() + ", whose members' entries depend on each other's ends";
    completion_.makespan = tapes_.makespan();
    completion_.spans = std::move(tapes_).spans();
    completion_.by = TimedBy::Sweep;
    return std::move(completion_);
  }

 private:
  /// A collective whose members have not all entered.
  struct Gathering {
    std::vector<Instant> entries;  // per node
    size_t known = 0;
  };

  void enter(const Entrance& entrance) {
    Gathering& gathering = gathering_[entrance.collective.index()];
    gathering.entries.resize(lowered_.collective(entrance.collective).members.size());
    gathering.entries[entrance.node.index()] = entrance.at;
    if (++gathering.known == gathering.entries.size())
      complete_.push_back(entrance.collective);
  }

  void sweep_collective(CollectiveId id) {
    with_concrete(*lowered_.collective(id).schedule,
                  [&](const auto& schedule) { sweep_with(schedule, id); });
  }

  template <class S>
  void sweep_with(const S& schedule, CollectiveId id) {
    const std::vector<Instant> entries = std::move(gathering_[id.index()].entries);
    CollectiveSweep<S> collective(schedule, lowered_.collective(id), id, entries,
                                  lowered_.reduce_rate, paths_);
    collective.run();
    completion_.messages += collective.messages();
    completion_.digest.add(collective.digest());
    for (uint32_t n = 0; n < entries.size(); ++n) {
      const Happened exit = collective.exit(Node(n));
      completion_.held_up_by[id.index()][n] = exit.origin;
      tapes_.end(id, Node(n), exit.at, [&](Entrance entrance) { enter(entrance); });
    }
  }

  const Program& program_;
  const Lowered& lowered_;
  Paths paths_;
  Tapes tapes_;
  std::vector<Gathering> gathering_;    // per collective
  std::vector<CollectiveId> complete_;  // in the order in which their last member entered
  Completion completion_;
};

/// The most that a chain may ask of a link.
struct Peak {
  LinkId link;
  VertexId device;
  StreamId stream;
  Channel channel;
  BytesPerSecond rate;
  friend constexpr auto operator<=>(const Peak&, const Peak&) = default;

  bool same_chain(const Peak& other) const {
    return link == other.link && device == other.device && stream == other.stream &&
           channel == other.channel;
  }
};

void add_peaks(const Collective& collective, Paths& paths, std::vector<Peak>& peaks) {
  const Extent& extent = collective.schedule->extent();
  for (uint32_t n = 0; n < extent.nodes; ++n) {
    for (uint32_t c = 0; c < extent.channels; ++c) {
      for (const Node to : collective.schedule->receivers(Node(n), Channel(c))) {
        const VertexId from = collective.places[n];
        const Path& path = paths.between(from, collective.places[to.index()]);
        for (const LinkId link : path.links)
          peaks.push_back(
              {link, from, collective.stream, Channel(c), *path.peak(extent.peak_rate)});
      }
    }
  }
}

}  // namespace

std::optional<std::string> sweep_refusal(const Lowered& lowered, const Fabric& fabric) {
  Paths paths(fabric);
  std::vector<Peak> peaks;
  for (const Collective& collective : lowered.collectives)
    add_peaks(collective, paths, peaks);
  std::sort(peaks.begin(), peaks.end());
  for (size_t i = 0; i < peaks.size();) {
    const LinkId link = peaks[i].link;
    Int128 sum = 0;
    int64_t chains = 0;
    for (; i < peaks.size() && peaks[i].link == link; ++i) {
      // A chain's greatest peak is its last.
      if (i + 1 < peaks.size() && peaks[i + 1].same_chain(peaks[i]))
        continue;
      sum += peaks[i].rate.count();
      ++chains;
    }
    if (sum > fabric.link(link).bandwidth.count())
      return fmt::format("link {} has {} B/s, and {} chains of messages may ask it for {} B/s",
                         fabric.link_text(link), fabric.link(link).bandwidth.count(), chains,
                         checked_narrow(sum));
  }
  return std::nullopt;
}

std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            const Fabric& fabric, const SweepOptions& options) {
  return ProgramSweep(program, lowered, fabric, options).run();
}

}  // namespace orrery
