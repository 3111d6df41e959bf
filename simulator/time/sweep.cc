#include "simulator/time/sweep.h"

#include <utility>

#include <fmt/format.h>

#include "models/program/op_overflow.h"
#include "simulator/algorithm/concrete.h"
#include "simulator/time/collective_sweep.h"
#include "simulator/time/tapes.h"

namespace orrery {
namespace {

class ProgramSweep {
 public:
  ProgramSweep(const Program& program, const Lowered& lowered, Paths& paths,
               const SweepOptions& options)
      : program_(program),
        lowered_(lowered),
        paths_(paths),
        tapes_(program, lowered, options.device_start, options.log),
        log_(options.log),
        gathering_(lowered.collectives.size()) {
    completion_.device_start = options.device_start;
    for (const Collective& collective : lowered.collectives)
      completion_.held_up_by.emplace_back(collective.members.size());
  }

  std::variant<Completion, std::string> run() {
    tapes_.begin([&](Entrance entrance) { enter(entrance); });
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
                                  lowered_.reduce_rate, paths_, log_);
    on_behalf_of(program_.site(lowered_.collective(id).site).ops.front(),
                 [&] { collective.run(); });
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
  Paths& paths_;
  Tapes tapes_;
  EventLog* log_;
  std::vector<Gathering> gathering_;    // per collective
  std::vector<CollectiveId> complete_;  // in the order in which their last member entered
  Completion completion_;
};

}  // namespace

std::optional<std::string> sweep_refusal(const Demands& demands, const Fabric& fabric) {
  const std::vector<Demand>& asked = demands.links;
  for (size_t l = 0; l < asked.size(); ++l) {
    const LinkId id(static_cast<uint32_t>(l));
    const Link& link = fabric.link(id);
    if (asked[l].exceeds(link))
      return fmt::format("link {} has {} B/s, and {} chains of messages may ask it for {} B/s",
                         fabric.link_text(id), link.bandwidth.count(), asked[l].chains,
                         checked_narrow(asked[l].peak));
  }
  return std::nullopt;
}

std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            Paths& paths, const SweepOptions& options) {
  return ProgramSweep(program, lowered, paths, options).run();
}

std::optional<std::string> sweep_refusal(const Lowered& lowered, const Fabric& fabric) {
  Paths paths(fabric);
  return sweep_refusal(demands(lowered, paths), fabric);
}

std::variant<Completion, std::string> sweep(const Program& program, const Lowered& lowered,
                                            const Fabric& fabric, const SweepOptions& options) {
  Paths paths(fabric);
  return sweep(program, lowered, paths, options);
}

}  // namespace orrery
