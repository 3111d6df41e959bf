#include "simulator/time/apart.h"

#include <algorithm>
#include <utility>

#include "models/program/op.h"
#include "simulator/time/state_budget.h"

namespace orrery {

CollectiveAlone::CollectiveAlone(Collective collective) {
  Group all;
  for (size_t rank = 0; rank < collective.schedule->extent().ranks(); ++rank)
    all.emplace_back(rank);
  program.mesh = Mesh({{"rank", static_cast<int64_t>(all.size())}});
  Op& op = program.ops.emplace_back();
  op.name = "collective";
  op.kind = OpKind::Psum;
  op.site = SiteId(0);
  program.threads = {{"all", all, {OpId(0)}}};
  program.sites = {{"site", {OpId(0)}, {all}}};

  Collective alone;
  alone.work = collective.work;
  alone.schedule = collective.schedule;
  alone.members = std::move(all);
  alone.vertices = std::move(collective.vertices);
  alone.figures = collective.figures;
  lowered = lowered_alone(program, std::move(alone));
}

namespace {

/// Times a collective whose figures have no launch.
std::optional<CollectiveTimes> times_of(Collective collective, std::span<const Duration> entries,
                                        Paths& paths, const TimeOptions& options) {
  TimeOptions from_first = options;
  for (const Duration entry : entries)
    from_first.device_start.push_back(Instant() + entry);
  const CollectiveAlone alone(std::move(collective));
  const std::optional<Completion> completion =
      time_program(alone.program, alone.lowered, paths, demands(alone.lowered, paths), from_first);
  if (!completion)
    return std::nullopt;
  CollectiveTimes times{completion->messages, completion->digest, {}};
  for (const OpSpan& span : completion->spans[0])
    times.exits.push_back({span.end, span.held_up_by});
  return times;
}

}  // namespace

std::optional<CollectiveTimes> time_alone(Collective collective,
                                          std::shared_ptr<const Schedule> schedule,
                                          std::span<const Duration> entries, Paths& paths,
                                          const TimeOptions& options) {
  collective.figures.launch = {};  // it comes before the entry
  if (options.alone == nullptr || !options.only_times || entries.size() > AloneTimes::kMostRanks)
    return times_of(std::move(collective), entries, paths, options);
  const AloneTimes::Key key{std::move(schedule),
                            itemsize(collective.work),
                            collective.figures,
                            collective.vertices,
                            {entries.begin(), entries.end()}};
  return options.alone->times.get(key,
                                  [&] { return times_of(collective, entries, paths, options); });
}

CollectivesApart::CollectivesApart(const Lowered& lowered, Paths& paths, const Demands* demands)
    : lowered_(lowered), paths_(paths), of_(lowered.collectives.size()) {
  if (demands != nullptr) {
    turns_.emplace(paths.fabric(), *demands);
    asked_.resize(demands->links.size());
  }
  for (const Collective& collective : lowered.collectives)
    runs_[collective.schedule] += collective.times;
}

std::vector<Duration> CollectivesApart::distances(std::span<const Instant> entries) {
  const Instant first = *std::ranges::min_element(entries);
  std::vector<Duration> distances;
  distances.reserve(entries.size());
  for (const Instant entry : entries)
    distances.push_back(entry - first);
  return distances;
}

const CollectiveTimes* CollectivesApart::find(CollectiveId id, std::span<const Instant> entries) {
  if (runs_.at(lowered_.collective(id).schedule) == 1)
    return nullptr;
  const auto known = known_.find({routes(id).shape, distances(entries)});
  return known == known_.end() ? nullptr : &known->second;
}

CollectiveTimes CollectivesApart::at(const CollectiveTimes& known,
                                     std::span<const Instant> entries) {
  const Duration later = *std::ranges::min_element(entries) - Instant();
  CollectiveTimes times = known;
  for (Happened& exit : times.exits)
    exit.at = exit.at + later;
  return times;
}

void CollectivesApart::remember(CollectiveId id, std::span<const Instant> entries,
                                const CollectiveTimes& times) {
  if (runs_.at(lowered_.collective(id).schedule) == 1 || entries.size() > kMostRemembered)
    return;
  remembered_ += entries.size();
  if (remembered_ > kMostRemembered) {
    known_.clear();
    remembered_ = entries.size();
  }
  const Instant first = *std::ranges::min_element(entries);
  CollectiveTimes known = times;
  for (Happened& exit : known.exits)
    exit.at = Instant() + (exit.at - first);
  known_.insert_or_assign({routes(id).shape, distances(entries)}, std::move(known));
}

bool CollectivesApart::take_turns(CollectiveId id, std::span<const Instant> entries,
                                  std::span<const Happened> exits,
                                  FunctionRef<void(const LinkUse&)> told) {
  const std::vector<Use>& uses = routes(id).uses;
  if (uses.empty())
    return turns_->holds();
  const Instant first = *std::ranges::min_element(entries);
  const Instant last = std::ranges::max_element(exits, {}, &Happened::at)->at;
  for (size_t use = 0; use < uses.size() && turns_->holds();) {
    const LinkId link = uses[use].link;
    Instant begin = last;
    Instant end = first;
    for (; use < uses.size() && uses[use].link == link; ++use) {
      const size_t sender = uses[use].sender.index();
      begin = std::min(begin, sender < entries.size() ? entries[sender] : first);
      end = std::max(end, sender < exits.size() ? exits[sender].at : last);
    }
    this->use({link, begin, end}, told);
  }
  return turns_->holds();
}

bool CollectivesApart::repeat(std::vector<LinkUse> period, const RepeatedPeriods& by,
                              FunctionRef<void(const LinkUse&)> told) {
  std::ranges::sort(period, {}, &LinkUse::link);
  for (size_t i = 0; i < period.size() && turns_->holds();) {
    LinkUse all = period[i];
    for (; i < period.size() && period[i].link == all.link; ++i) {
      all.begin = std::min(all.begin, period[i].begin);
      all.end = std::max(all.end, period[i].end);
    }
    use({all.link, all.begin + by.later, all.end + by.later * static_cast<int64_t>(by.times)},
        told);
  }
  return turns_->holds();
}

void CollectivesApart::use(const LinkUse& use, FunctionRef<void(const LinkUse&)> told) {
  turns_->add(use.link, use.begin, use.end, paths_.fabric().link(use.link).bandwidth);
  told(use);
}

std::optional<CollectiveTimes> CollectivesApart::time_alone(CollectiveId id, OpId op,
                                                            std::span<const Instant> entries,
                                                            const TimeOptions& options) {
  if (links_looked_at_ > kMostLinks + 2 * messages_alone_)
    return std::nullopt;
  const Collective& collective = lowered_.collective(id);
  const auto schedule = std::ranges::find(lowered_.schedules, collective.schedule,
                                          &std::shared_ptr<const Schedule>::get);
  std::optional<CollectiveTimes> times;
  try {
    times = orrery::time_alone(collective, *schedule, distances(entries), paths_, options);
  } catch (const TooMuchState& error) {
    throw TooMuchState(op, error.what());
  } catch (const OpOverflow& overflow) {
    throw OpOverflow(op, overflow.what());
  }
  if (!times)
    return std::nullopt;
  links_looked_at_ += paths_.fabric().count_links();
  messages_alone_ += times->messages;
  return on_behalf_of(op, [&] { return at(*times, entries); });
}

const CollectivesApart::Routes& CollectivesApart::routes(CollectiveId id) {
  if (of_[id.index()] != nullptr)
    return *of_[id.index()];
  const Collective& collective = lowered_.collective(id);
  const size_t figures = figures_of(collective);
  const Bytes item = itemsize(collective.work);
  const auto [known, is_new] = routes_.try_emplace(
      {collective.schedule, collective.vertices.begin(), item, figures}, Routes());
  if (is_new)
    known->second = routes_of(collective, {reinterpret_cast<uintptr_t>(collective.schedule),
                                           static_cast<uint64_t>(item.count()), uint64_t{figures}});
  of_[id.index()] = &known->second;
  return known->second;
}

/// Two collectives are alike if their messages have the same figures, and meet each other on the
/// same watched links. These are numbered in the order in which the messages cross them.
CollectivesApart::Routes CollectivesApart::routes_of(const Collective& collective,
                                                     std::vector<uint64_t> words) {
  Routes routes;
  std::vector<LinkId> links;  // watched ones
  const Extent& extent = collective.schedule->extent();
  uint64_t channel = 0;
  for (uint32_t n = 0; n < extent.nodes; ++n)
    for (uint32_t c = 0; c < extent.channels; ++c) {
      ++channel;
      collective.schedule->for_each_receiver(Node(n), Channel(c), [&](const Sent& sent) {
        const Path& path =
            paths_.between(collective.vertices[n], collective.vertices[sent.to.index()], c);
        words.push_back(path.links.size());
        if (path.links.empty())
          return;
        const BytesPerSecond peak = path.peak(path.figures(collective.figures).channel_rate);
        words.push_back(static_cast<uint64_t>(path.bottleneck->count()));
        words.push_back(static_cast<uint64_t>(path.latency.count()) << 1U |
                        (path.over_network ? 1U : 0U));
        for (const LinkId link : path.links) {
          if (!turns_ || !turns_->looks_at(link)) {
            words.push_back(0);
            continue;
          }
          Asked& of_link = asked_[link.index()];
          if (of_link.number == 0) {
            links.push_back(link);
            of_link.number = links.size();
            words.push_back(of_link.number);
            words.push_back(static_cast<uint64_t>(paths_.fabric().link(link).bandwidth.count()));
          } else {
            words.push_back(of_link.number);
          }
          if (std::exchange(of_link.sender, n + 1) != n + 1)
            routes.uses.push_back({link, Node(n)});
          if (std::exchange(of_link.channel, channel) != channel)
            of_link.of_channel = {};
          if (peak > of_link.of_channel)
            of_link.all += (peak - std::exchange(of_link.of_channel, peak)).count();
        }
      });
    }
  for (const LinkId link : links)
    routes.shares_links |=
        std::exchange(asked_[link.index()], {}).all > paths_.fabric().link(link).bandwidth.count();
  std::ranges::sort(routes.uses, {},
                    [](const Use& use) { return std::pair(use.link, use.sender); });
  routes.shape = shapes_.try_emplace(std::move(words), shapes_.size()).first->second;
  return routes;
}

size_t CollectivesApart::figures_of(const Collective& collective) {
  CollectiveFigures figures = collective.figures;
  figures.launch = {};  // it comes before the entry
  const auto known = std::ranges::find(figures_, figures);
  const auto index = static_cast<size_t>(known - figures_.begin());
  if (known == figures_.end())
    figures_.push_back(figures);
  return index;
}

}  // namespace orrery
