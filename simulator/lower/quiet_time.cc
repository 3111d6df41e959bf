#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "models/base/compiler.h"
#include "models/program/op.h"
#include "models/program/program.h"
#include "simulator/lower/choice.h"
#include "simulator/lower/lower.h"
#include "simulator/network/demand.h"
#include "simulator/schedule/causes.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/step_table.h"
#include "simulator/schedule/walk.h"
#include "simulator/time/apart.h"
#include "simulator/time/completion.h"
#include "simulator/time/engine.h"
#include "simulator/time/state_budget.h"
#include "simulator/time/sweep.h"

namespace orrery {
namespace {

/// A schedule with more channels over all nodes gets no bound, since that would take long. An
/// all-to-all at once has a channel for each message.
constexpr uint64_t kMostBounded = uint64_t{1} << 20U;

/// A schedule of so many steps has a bound by the latencies of a chain of messages, if its first
/// channel has few.
constexpr uint64_t kLeastChained = uint64_t{1} << 18U;
constexpr uint64_t kMostChained = uint64_t{1} << 20U;

/// A group is timed in smaller sizes if it has at least so many nodes: two of them are left in the
/// smallest.
constexpr uint32_t kLeastBlocks = 4;

constexpr const char* kTooMuch = "may take more memory than the limit allows (--limit state=SIZE)";

/// Returns whether a program may run the schedule within the limit. The sweep has one collective in
/// memory at a time. The engine has all that are under way: the groups of an op, and ops of other
/// streams. So one of them may take a sixteenth there.
bool runs_in_memory(const Schedule& schedule, const Limits& limits) {
  constexpr int64_t kAtOnce = 16;
  return swept_state(schedule.extent()) <= limits.state ||
         simulated_state(schedule) <= limits.state / kAtOnce;
}

uint64_t steps_of_a_rank(const Schedule& schedule) {
  uint64_t steps = 0;
  for (uint32_t c = 0; c < schedule.extent().channels; ++c)
    steps += schedule.steps(Node(0), Channel(c));
  return steps;
}

/// Returns how long the messages of the longest chain are on their way, each caused by the one
/// before, if each takes the time that `latency(StepRef, Node to)` says.
template <class Latency>
Duration longest_chain(const Schedule& schedule, Latency&& latency) {
  struct Chains {
    const Schedule& schedule;
    Latency& latency;
    AllSteps<StepInstants> instants;
    Instant longest = {};

    Instant last_cause(StepRef ref, Half half, const Step& step) {
      Instant last;
      for_each_cause(schedule, schedule.extent(), ref, half, step, [&](const Cause& cause) {
        if (cause.kind != CauseKind::Enter)
          last = std::max(last, met_at(instants.at(cause.step), cause));
        return true;
      });
      return last;
    }
    void receive(StepRef ref, const Step& step) {
      instants.at(ref).received = last_cause(ref, Half::Receive, step);
    }
    void send(StepRef ref, const Step& step) {
      StepInstants& at = instants.at(ref);
      at.sent = last_cause(ref, Half::Send, step);
      at.arrived = step.to ? at.sent + latency(ref, *step.to) : at.sent;
      longest = std::max(longest, at.arrived);
    }
  };
  Chains chains{schedule, latency, {schedule, {}}};
  walk(schedule, chains);
  return chains.longest - Instant();
}

/// Returns the most messages that follow each other, each caused by the one before.
int64_t most_in_a_row(const Schedule& schedule) {
  return longest_chain(schedule, [](StepRef, Node) { return Duration(1); }).count();
}

/// It has only the first channel of a schedule. Its steps wait for nothing in other channels.
class FirstChannel final : public Schedule {
 public:
  explicit FirstChannel(const Schedule& schedule)
      : schedule_(schedule), extent_(schedule.extent()) {
    extent_.channels = 1;
  }

  const Extent& extent() const override { return extent_; }
  uint32_t steps(Node node, Channel channel) const override {
    return schedule_.steps(node, channel);
  }
  Step step(StepRef ref) const override {
    Step step = schedule_.step(ref);
    if (step.after && step.after->channel != Channel(0))
      step.after.reset();
    return step;
  }
  StepRef peer(StepRef ref, Half half) const override { return schedule_.peer(ref, half); }
  std::optional<StepRef> takes_slot_of(StepRef) const override { return std::nullopt; }

 private:
  const Schedule& schedule_;
  Extent extent_;
};

/// Returns the request for fewer nodes. If the source is not among them, the last node replaces it.
ScheduleRequest with(ScheduleRequest request, uint32_t nodes, int64_t elements, Layout layout) {
  request.nodes = nodes;
  request.layout = std::move(layout);
  request.elements = elements;
  request.source = std::min(request.source, Node(nodes - 1));
  return request;
}

/// The quantity by which the time of a group is extrapolated, for the three group sizes.
struct Measure {
  Int128 half;
  Int128 size;
  Int128 whole;
};

/// Extrapolates linearly: the times at two measures give the time at a third, rounded up. Requires
/// that the measures grow.
Duration extend(Duration half, Duration size, const Measure& by) {
  if (size <= half)
    return size;
  const Int128 more = Int128{(size - half).count()} * (by.whole - by.size);
  return size + Duration(checked_narrow(ceil_divide(more, by.size - by.half)));
}

/// Returns how many ranks of the group stay together in a smaller one: those of a node.
uint32_t block_of(const ScheduleRequest& request) {
  const uint32_t together = request.layout.together;
  return request.nodes % together == 0 ? together : 1;
}

/// Returns the vertices of a smaller group of so many ranks, which is timed in place of the whole.
/// They are those of the first ranks. They are evenly spaced blocks of ranks if these lie in nodes
/// or in a tree, so that the smaller group meets the same levels; and if the algorithm is
/// considered only on groups like this one. The first ranks of a ring of links are no such ring:
/// there the last rank would send to the first over the links that go back.
std::vector<VertexId> smaller_group(const Algorithm& algorithm, const Hints& asked,
                                    const Fabric& fabric, std::span<const VertexId> vertices,
                                    const Layout& layout, uint32_t size, uint32_t block) {
  const bool has_levels = dynamic_cast<const Nodes*>(&fabric.topology()) != nullptr ||
                          dynamic_cast<const Tree*>(&fabric.topology()) != nullptr;
  const bool spaced = has_levels || (algorithm.set_aside != nullptr &&
                                     !algorithm.set_aside({fabric, vertices, 1, layout}, asked));
  std::vector<VertexId> smaller;
  for (size_t rank = 0; rank < size; ++rank) {
    const size_t first = rank / block * vertices.size() / size * block;
    smaller.push_back(vertices[spaced ? first + rank % block : rank]);
  }
  return smaller;
}

/// Returns smaller tori that stand for a group that fills several axes of a torus: the ranks are
/// all their devices, and links are as on the fabric. Both have as many axes, of three devices or
/// more where the group has them, since two devices have one link each way. The first one has the
/// fewer ranks. The result is empty for other groups, and where links have changed.
std::optional<std::array<Fabric, 2>> smaller_tori(const Fabric& fabric,
                                                  std::span<const VertexId> ranks,
                                                  const Layout& layout) {
  const auto* const torus = dynamic_cast<const Torus*>(&fabric.topology());
  if (torus == nullptr || layout.axes.size() < 2 || fabric.has_changes())
    return std::nullopt;
  std::map<size_t, TorusDimension, std::greater<>> axes;  // by the first rank that is further along
  uint32_t stride = torus->devices();
  for (TorusDimension dimension : torus->dimensions()) {
    stride /= dimension.size;
    const auto at = [&](VertexId device) { return device.index() / stride % dimension.size; };
    const uint32_t size = at(ranks.back()) - at(ranks.front()) + 1;
    dimension.wraps = dimension.wraps && size == dimension.size;
    dimension.size = size;
    const auto further = std::ranges::find_if(
        ranks, [&](VertexId device) { return at(device) != at(ranks.front()); });
    if (size > 1)
      axes.emplace(further - ranks.begin(), dimension);
  }
  std::vector<TorusDimension> box;  // in the order of `layout.axes`
  for (const auto& [further, dimension] : axes)
    box.push_back(dimension);
  const auto halve = [](uint32_t& size) { size = size <= 3 ? size : std::max(3U, (size + 1) / 2); };
  const auto devices = [&] {
    uint64_t all = 1;
    for (const TorusDimension& dimension : box)
      all *= dimension.size;
    return all;
  };
  const auto largest = [&]() -> uint32_t& {
    return std::ranges::max_element(box, {}, &TorusDimension::size)->size;
  };
  while (devices() > kMostTimedRanks && largest() > 3)
    halve(largest());
  const Fabric second(std::make_shared<const Torus>(box));
  for (TorusDimension& dimension : box)
    halve(dimension.size);
  if (devices() == second.devices() || second.devices() == ranks.size())
    return std::nullopt;
  return std::array{Fabric(std::make_shared<const Torus>(box)), second};
}

}  // namespace

bool QuietTimer::times_whole(const Method& method, const Hints& asked,
                             const ScheduleRequest& request, WorkType work) const {
  if (request.nodes <= kMostTimedRanks || request.names_ranks() ||
      request.nodes / block_of(request) < kLeastBlocks)
    return true;
  return has_at_most(most_steps_, method, asked, request, work);
}

bool QuietTimer::has_at_most(uint64_t steps, const Method& method, const Hints& asked,
                             const ScheduleRequest& request, WorkType work) const {
  const auto whole = method.algorithm->make(maker_.with_connections(method, asked, request, work));
  return UInt128{count_steps(*whole)} *
             static_cast<uint64_t>(ScheduleMaker::iterations(method, *whole, work)) <=
         steps;
}

QuietTimer::Outcome QuietTimer::known_or(const Method& method, const Hints& asked,
                                         const ScheduleRequest& request, WorkType work,
                                         std::span<const VertexId> vertices, bool all,
                                         FunctionRef<Outcome()> find) {
  if (known_ == nullptr)
    return find();
  const QuietTimes::Key key{method.algorithm,
                            method.protocol == nullptr ? "" : method.protocol->name,
                            asked,
                            request,
                            work.dtype,
                            work.ranked,
                            {vertices.begin(), vertices.end()},
                            all};
  return known_->by_method.get(key, find);
}

QuietTimer::Outcome QuietTimer::of(const Method& method, const Hints& asked,
                                   const ScheduleRequest& request, WorkType work,
                                   std::span<const VertexId> vertices) {
  return known_or(method, asked, request, work, vertices, false,
                  [&] { return found(method, asked, request, work, vertices); });
}

std::optional<QuietTime> QuietTimer::of_all(const Method& method, const Hints& asked,
                                            const ScheduleRequest& request, WorkType work,
                                            std::span<const VertexId> vertices) {
  if (!has_at_most(most_checked_, method, asked, request, work))
    return std::nullopt;
  const Outcome outcome = known_or(method, asked, request, work, vertices, true, [&]() -> Outcome {
    const auto takes =
        timed(method, maker_.with_connections(method, asked, request, work), work, vertices);
    if (const auto* why_not = std::get_if<std::string>(&takes))
      return *why_not;
    return QuietTime{std::get<Duration>(takes), std::nullopt};
  });
  const auto* const time = std::get_if<QuietTime>(&outcome);
  return time == nullptr ? std::nullopt : std::optional(*time);
}

QuietTimer::Outcome QuietTimer::found(const Method& method, const Hints& asked,
                                      const ScheduleRequest& request, WorkType work,
                                      std::span<const VertexId> vertices) {
  if (!times_whole(method, asked, request, work))
    return extended(method, asked, request, work, vertices);
  const auto outcome =
      timed(method, maker_.with_connections(method, asked, request, work), work, vertices);
  if (const auto* takes = std::get_if<Duration>(&outcome))
    return QuietTime{*takes, std::nullopt};
  return std::get<std::string>(outcome);
}

Duration QuietTimer::at_least(const Method& method, const Hints& asked,
                              const ScheduleRequest& request, WorkType work,
                              std::span<const VertexId> vertices) const {
  const Duration whole =
      bound(method, maker_.with_connections(method, asked, request, work), work, vertices);
  if (times_whole(method, asked, request, work))
    return whole;
  const Fewer fewer = this->fewer(method, asked, request, work, vertices)[1];
  if (!fewer.torus)
    return std::max(whole, bound(method, fewer.request, work, fewer.vertices));
  Paths on_torus(*fewer.torus);
  return std::max(
      whole,
      QuietTimer(on_torus, maker_, limits_).bound(method, fewer.request, work, fewer.vertices));
}

std::optional<Duration> QuietTimer::busiest(const Method& method, const ScheduleRequest& connected,
                                            WorkType work,
                                            std::span<const VertexId> vertices) const {
  const std::unique_ptr<const Schedule> whole = method.algorithm->make(connected);
  const CollectiveFigures figures = maker_.figures(method, connected.kind, *whole);
  const Extent& extent = whole->extent();
  if (uint64_t{extent.nodes} * extent.channels > kMostBounded)
    return std::nullopt;
  const SharedList<VertexId> places =
      vertices_of_nodes(*method.algorithm, *whole,
                        {fabric(), vertices, connected.transport.channels, connected.layout});
  std::vector<Int128> carried(fabric().count_links());  // bytes
  std::vector<LinkId> carriers;
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();
  const int64_t parts = paths_.fabric().rate_parts();
  const auto time = [](Int128 bytes, Int128 rate) {
    const Int128 exact = rate == 0 ? 0 : bytes * kPicosecondsPerSecond / rate;
    return Duration(static_cast<int64_t>(std::min<Int128>(exact, kLongest)));
  };
  Duration longest;
  for (uint32_t node = 0; node < extent.nodes; ++node)
    for (uint32_t c = 0; c < extent.channels; ++c) {
      std::array<Int128, 2> of_channel = {};  // inside nodes, and over the network
      whole->for_each_receiver(Node(node), Channel(c), [&](const Sent& each) {
        const Path* path = paths_.find(places[node], places[each.to.index()], c);
        if (path == nullptr || path->links.empty())
          return;  // what a switch hands to its own ports takes no time
        const Int128 bytes =
            on_wire(itemsize(work) * each.elements, path->figures(figures).share).count();
        of_channel[path->over_network ? 1 : 0] += bytes;
        for (const LinkId link : path->links) {
          if (bytes > 0 && carried[link.index()] == 0)
            carriers.push_back(link);
          carried[link.index()] += bytes;
        }
      });
      Duration sends;
      for (const bool over_network : {false, true})
        if (const auto rate = figures.of_message(over_network).channel_rate)
          sends += time(of_channel[over_network ? 1 : 0], rate->count());
      longest = std::max(longest, sends);
    }
  for (const LinkId link : carriers)
    longest = std::max(
        longest, time(carried[link.index()] * parts, fabric().figures(link).bandwidth.count()));
  return Duration(std::min(longest.count(), kLongest - figures.launch.count())) + figures.launch;
}

Duration QuietTimer::bound(const Method& method, const ScheduleRequest& connected, WorkType work,
                           std::span<const VertexId> vertices) const {
  const std::optional<Duration> sent = busiest(method, connected, work, vertices);
  if (!sent)
    return {};
  // To time a schedule of few steps takes less than to find its chain.
  const std::unique_ptr<const Schedule> whole = method.algorithm->make(connected);
  const Extent& extent = whole->extent();
  if (extent.switch_nodes > 0 || count_steps(*whole) < kLeastChained ||
      uint64_t{extent.nodes} * whole->steps(Node(0), Channel(0)) > kMostChained)
    return *sent;
  const CollectiveFigures figures = maker_.figures(method, connected.kind, *whole);
  const SharedList<VertexId> places =
      vertices_of_nodes(*method.algorithm, *whole,
                        {fabric(), vertices, connected.transport.channels, connected.layout});
  return std::max(
      *sent,
      figures.launch + longest_chain(FirstChannel(*whole), [&](StepRef ref, Node to) {
        const Path* const path = paths_.find(places[ref.node.index()], places[to.index()], 0);
        return path == nullptr ? Duration() : latency_of(path->latency, path->figures(figures));
      }));
}

std::variant<Duration, std::string> QuietTimer::timed(const Method& method,
                                                      const ScheduleRequest& request, WorkType work,
                                                      std::span<const VertexId> vertices) {
  const MadeSchedule made = made_ == nullptr ? maker_.make(method, request, work)
                                             : maker_.make(method, request, work, *made_);
  if (made.too_long || made.steps > static_cast<uint64_t>(limits_.steps))
    return "has more steps than the limit allows (--limit steps=N)";
  const Schedule& schedule = *made.schedule;
  if (!runs_in_memory(schedule, limits_))
    return kTooMuch;
  const SharedList<VertexId> nodes =
      vertices_of_nodes(*method.algorithm, schedule,
                        {paths_.fabric(), vertices, request.transport.channels, request.layout});
  if (first_unrouted(schedule, nodes, paths_))
    return "has no route for some message";
  Collective collective;
  collective.work = work;
  collective.schedule = &schedule;
  collective.vertices = nodes;
  collective.figures = maker_.figures(method, request.kind, schedule);
  const Duration launch = collective.figures.launch;
  try {
    TimeOptions options;
    options.most_state = limits_.state;
    options.only_times = true;
    options.alone = known_ == nullptr ? nullptr : known_->alone.get();
    const std::vector<Duration> entries(schedule.extent().ranks());
    const std::optional<CollectiveTimes> times =
        time_alone(std::move(collective), made.schedule, entries, paths_, options);
    if (!times)
      return "would hang";
    return std::ranges::max_element(times->exits, {}, &Happened::at)->at - Instant() + launch;
  } catch (const TooMuchState&) {
    return kTooMuch;
  } catch (const OpOverflow& overflow) {
    throw Overflow(overflow.what());  // the op is not one of the caller's program
  }
}

std::array<QuietTimer::Fewer, 2> QuietTimer::fewer(const Method& method, const Hints& asked,
                                                   const ScheduleRequest& request, WorkType work,
                                                   std::span<const VertexId> vertices) const {
  const auto tori = smaller_tori(fabric(), vertices, request.layout);
  const uint32_t block = block_of(request);
  uint32_t blocks = request.nodes / block;
  while (blocks * block > kMostTimedRanks && blocks / 2 >= kLeastBlocks)
    blocks /= 2;
  const Algorithm& algorithm = *method.algorithm;
  std::array<Fewer, 2> result;
  std::array<int64_t, 2> largest;
  for (size_t i = 0; i < 2; ++i) {
    Fewer& fewer = result[i];
    const uint32_t size = tori ? (*tori)[i].devices() : blocks / (i == 0 ? 2 : 1) * block;
    if (tori) {
      fewer.torus = (*tori)[i];
      for (uint32_t device = 0; device < size; ++device)
        fewer.vertices.emplace_back(device);
    } else {
      fewer.vertices =
          smaller_group(algorithm, asked, fabric(), vertices, request.layout, size, block);
    }
    fewer.request = with(request, size, request.elements,
                         layout_of(tori ? *fewer.torus : fabric(), fewer.vertices));
    largest[i] = algorithm.make(fewer.request)->largest_message();
  }
  for (Fewer& fewer : result) {
    // Data that is split into one part per rank shrinks with the number of ranks.
    if (largest[0] > largest[1])
      fewer.request.elements = checked_narrow(
          ceil_divide(Int128{request.elements} * fewer.request.nodes, Int128{request.nodes}));
    fewer.request = maker_.with_connections(method, asked, fewer.request, work);
  }
  return result;
}

QuietTimer::Outcome QuietTimer::extended(const Method& method, const Hints& asked,
                                         const ScheduleRequest& request, WorkType work,
                                         std::span<const VertexId> vertices) {
  const ScheduleRequest of_all = maker_.with_connections(method, asked, request, work);
  const std::unique_ptr<const Schedule> whole_of_all = method.algorithm->make(of_all);
  const SharedList<VertexId> places =
      vertices_of_nodes(*method.algorithm, *whole_of_all,
                        {fabric(), vertices, of_all.transport.channels, of_all.layout});
  if (first_unrouted(*whole_of_all, places, paths_))
    return "has no route for some message";
  if (!runs_in_memory(*whole_of_all, limits_))
    return kTooMuch;
  // Steps of stages wait for other channels, so their window grows with the iterations.
  if (method.algorithm->is_for_topology != nullptr) {
    const MadeSchedule made = maker_.make(method, of_all, work);
    if (made.steps <= static_cast<uint64_t>(limits_.steps) &&
        !runs_in_memory(*made.schedule, limits_))
      return kTooMuch;
  }
  const std::array<Fewer, 2> fewer = this->fewer(method, asked, request, work, vertices);
  // The time of a group beyond that of its busiest link grows with the latencies. The time of
  // that link does not grow with the ranks alone: a NIC sends (n - 1) / n of the data.
  const std::optional<Duration> sent = busiest(method, of_all, work, vertices);
  std::array<Duration, 2> beyond;
  for (size_t i = 0; i < 2; ++i) {
    std::optional<Paths> on_torus;
    if (fewer[i].torus)
      on_torus.emplace(*fewer[i].torus);
    QuietTimer timer(on_torus ? *on_torus : paths_, maker_, limits_);
    const auto outcome = timer.timed(method, fewer[i].request, work, fewer[i].vertices);
    if (const auto* why_not = std::get_if<std::string>(&outcome))
      return *why_not;
    beyond[i] = std::get<Duration>(outcome);
    if (sent)
      beyond[i] -= timer.busiest(method, fewer[i].request, work, fewer[i].vertices).value();
  }
  const auto measured = [&](auto&& measure) {
    const auto of = [&](const ScheduleRequest& each) {
      return Int128{measure(*method.algorithm->make(each))};
    };
    return Measure{of(fewer[0].request), of(fewer[1].request), of(of_all)};
  };
  Measure by = measured([&](const Schedule& whole) {
    return Int128{steps_of_a_rank(whole)} * ScheduleMaker::iterations(method, whole, work);
  });
  if (by.size <= by.half)  // each rank has as many steps in any group, as in a chain or a tree
    by = measured(most_in_a_row);
  const std::pair sizes(fewer[0].request.nodes, fewer[1].request.nodes);
  const Duration more = by.size <= by.half ? beyond[1] : extend(beyond[0], beyond[1], by);
  return QuietTime{
      std::max(sent.value_or(Duration()) + more, bound(method, of_all, work, vertices)), sizes};
}

}  // namespace orrery
