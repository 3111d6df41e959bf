#include "simulator/time/sweep.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/base/callable.h"
#include "models/program/loops.h"
#include "models/program/op_overflow.h"
#include "simulator/algorithm/concrete.h"
#include "simulator/schedule/list_progress.h"
#include "simulator/time/collective_sweep.h"
#include "simulator/time/state_budget.h"
#include "simulator/time/tapes.h"

namespace orrery {
namespace {

/// Which threads may ask for the same link at the same time. Requires routes.
class SharedLinks {
 public:
  /// Only links that `counts` accepts are looked at.
  SharedLinks(const Program& program, const Lowered& lowered, Paths& paths,
              FunctionRef<bool(LinkId)> counts)
      : lowered_(lowered),
        lists_(program, lowered),
        paths_(paths),
        counts_(counts),
        set_(program.threads.size()),
        first_(paths.fabric().links().size()) {
    std::iota(set_.begin(), set_.end(), 0U);
  }

  /// Per thread: the least thread of its set. Threads of different sets never send over the same
  /// link.
  std::vector<uint32_t> run() {
    for (uint32_t c = 0; set_.size() > 1 && c < lowered_.collectives.size(); ++c)
      look_at(CollectiveId(c));
    for (uint32_t t = 0; t < set_.size(); ++t)
      set_[t] = least(t);
    return std::move(set_);
  }

 private:
  void look_at(CollectiveId id) {
    const Collective& collective = lowered_.collective(id);
    std::vector<ThreadId> threads;  // per member
    for (uint32_t n = 0; n < collective.members.size(); ++n)
      threads.push_back(lists_.thread_of(id, Node(n)));
    if (!seen_.emplace(collective.schedule, &*collective.vertices.begin(), threads).second)
      return;
    const Extent& extent = collective.schedule->extent();
    for (uint32_t n = 0; n < extent.nodes; ++n) {
      // A switch sends for all members.
      const std::span<const ThreadId> senders =
          n < threads.size() ? std::span(threads).subspan(n, 1) : std::span(threads);
      for (uint32_t c = 0; c < extent.channels; ++c)
        collective.schedule->for_each_receiver(Node(n), Channel(c), [&](const Sent& sent) {
          const VertexId from = collective.vertices[n];
          for (const LinkId link : paths_.between(from, collective.vertices[sent.to.index()]).links)
            if (counts_(link))
              for (const ThreadId sender : senders)
                asks(sender, link);
        });
    }
  }

  void asks(ThreadId thread, LinkId link) {
    std::optional<ThreadId>& first = first_[link.index()];
    if (!first)
      first = thread;
    const uint32_t one = least(static_cast<uint32_t>(first->index()));
    const uint32_t other = least(static_cast<uint32_t>(thread.index()));
    set_[std::max(one, other)] = std::min(one, other);
  }

  /// The least of the thread's set.
  uint32_t least(uint32_t thread) {
    while (set_[thread] != thread)
      thread = set_[thread] = set_[set_[thread]];
    return thread;
  }

  const Lowered& lowered_;
  const ProgramLists lists_;
  Paths& paths_;
  FunctionRef<bool(LinkId)> counts_;
  std::vector<uint32_t> set_;                   // per thread: one of its set that is not greater
  std::vector<std::optional<ThreadId>> first_;  // per link: the first thread that asks for it
  /// Those already looked at; layer by layer, most programs do the same again.
  std::set<std::tuple<const Schedule*, const VertexId*, std::vector<ThreadId>>> seen_;
};

class ProgramSweep {
 public:
  ProgramSweep(const Program& program, const Lowered& lowered, Paths& paths,
               const SweepOptions& options)
      : program_(program),
        lowered_(lowered),
        paths_(paths),
        capacity_(capacity_check(paths, options.check_capacity)),
        tapes_(program, lowered, options.device_start, options.log,
               {link_sets(), options.most_runs}),
        log_(options.log),
        state_(options.most_state),
        gathering_(lowered.collectives.size()),
        once_(lowered.collectives.size()) {
    completion_.device_start = options.device_start;
    for (const Collective& collective : lowered.collectives)
      completion_.held_up_by.emplace_back(collective.members.size());
  }

  std::variant<Completion, std::string> run() {
    const auto entered = [&](Entrance entrance) { enter(entrance); };
    tapes_.begin(entered);
    do {
      for (size_t next = 0; next < complete_.size(); ++next)
        if (!sweep_collective(complete_[next]))
          return stopped_in(complete_[next]);
      complete_.clear();
    } while (tapes_.at_rest(entered));
    if (!tapes_.finished())
      return tapes_.waiting_text() + ", whose members' entries depend on each other's ends";
    completion_.makespan = tapes_.makespan();
    completion_.spans = std::move(tapes_).spans();
    completion_.added = std::move(tapes_).added();
    completion_.left_out = std::move(tapes_).left_out();
    for (size_t c = 0; c < lowered_.collectives.size(); ++c) {
      const uint64_t times = lowered_.collectives[c].times;
      completion_.messages += once_[c].messages * times;
      completion_.digest.add(once_[c].digest.repeated(times));
    }
    completion_.by = TimedBy::Sweep;
    return std::move(completion_);
  }

 private:
  /// A collective whose members have not all entered.
  struct Gathering {
    std::vector<Instant> entries;  // per node
    size_t known = 0;
  };

  /// What a collective does each time it runs.
  struct Once {
    uint64_t messages = 0;
    Digest digest;
  };

  static std::optional<CapacityCheck> capacity_check(const Paths& paths, const Demands* demands) {
    if (demands == nullptr)
      return std::nullopt;
    CapacityCheck check(paths.fabric(), *demands);
    return check.needed() ? std::optional(std::move(check)) : std::nullopt;
  }

  LinkSets link_sets() {
    if (!capacity_ || !leaves_out_iterations(program_))
      return std::nullopt;
    return SharedLinks(program_, lowered_, paths_,
                       [&](LinkId link) { return capacity_->looks_at(link); })
        .run();
  }

  std::string stopped_in(CollectiveId id) const {
    const OpId op = program_.site(lowered_.collective(id).site).ops.front();
    return fmt::format(
        "'{}' {}", program_.op(op).name,
        capacity_ && !capacity_->holds() ? "asks a link for more than it has" : "cannot end");
  }

  void enter(const Entrance& entrance) {
    Gathering& gathering = gathering_[entrance.collective.index()];
    gathering.entries.resize(lowered_.collective(entrance.collective).members.size());
    gathering.entries[entrance.node.index()] = entrance.at;
    if (++gathering.known == gathering.entries.size())
      complete_.push_back(entrance.collective);
  }

  /// Whether it came to its end.
  bool sweep_collective(CollectiveId id) {
    return with_concrete(*lowered_.collective(id).schedule,
                         [&](const auto& schedule) { return sweep_with(schedule, id); });
  }

  template <class S>
  bool sweep_with(const S& schedule, CollectiveId id) {
    const std::vector<Instant> entries = std::exchange(gathering_[id.index()], {}).entries;
    CollectiveSweep<S> collective(schedule, lowered_.collective(id), id, entries, paths_, log_,
                                  capacity_ ? &*capacity_ : nullptr);
    const OpId op = program_.site(lowered_.collective(id).site).ops.front();
    state_.take(op, collective.bytes());
    if (!on_behalf_of(op, [&] { return collective.run(); }))
      return false;
    state_.give(collective.bytes());
    once_[id.index()] = {collective.messages(), collective.digest()};
    for (uint32_t n = 0; n < entries.size(); ++n) {
      const Happened exit = collective.exit(Node(n));
      completion_.held_up_by[id.index()][n] = exit.origin;
      tapes_.end(id, Node(n), exit.at, [&](Entrance entrance) { enter(entrance); });
    }
    return true;
  }

  const Program& program_;
  const Lowered& lowered_;
  Paths& paths_;
  std::optional<CapacityCheck> capacity_;
  Tapes tapes_;
  EventLog* log_;
  StateBudget state_;
  std::vector<Gathering> gathering_;    // per collective
  std::vector<Once> once_;              // per collective
  std::vector<CollectiveId> complete_;  // in the order in which their last member entered
  Completion completion_;
};

/// A number of parts of 1: "333 1/3".
std::string mixed_number(Int128 count, int64_t parts) {
  const auto rest = static_cast<int64_t>(count % parts);
  const int64_t common = std::gcd(rest, parts);
  return fmt::format("{}{}", checked_narrow(count / parts),
                     rest > 0 ? fmt::format(" {}/{}", rest / common, parts / common) : "");
}

}  // namespace

std::optional<std::string> sweep_refusal(const Demands& demands, const Fabric& fabric) {
  const std::vector<Demand>& asked = demands.links;
  for (size_t l = 0; l < asked.size(); ++l) {
    const LinkId id(static_cast<uint32_t>(l));
    const Link& link = fabric.link(id);
    if (asked[l].exceeds(link))
      return fmt::format("link {} has {} B/s, and {} chains of messages may ask it for {} B/s",
                         fabric.link_text(id),
                         mixed_number(link.bandwidth.count(), fabric.rate_parts()), asked[l].chains,
                         mixed_number(asked[l].peak, fabric.rate_parts()));
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
