#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "models/base/compiler.h"
#include "models/program/op_overflow.h"
#include "models/program/program.h"
#include "simulator/lower/choice.h"
#include "simulator/lower/lower.h"
#include "simulator/network/demand.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/collective_sweep.h"
#include "simulator/time/completion.h"
#include "simulator/time/state_budget.h"

namespace orrery {
namespace {

/// A program of one collective over all its devices, rank r on device r.
struct OneCollective {
  Program program;
  Lowered lowered;

  OneCollective(OpKind kind, const Schedule& schedule, WorkType work, SharedList<VertexId> vertices,
                const CollectiveFigures& figures) {
    Group all;
    for (size_t rank = 0; rank < schedule.extent().ranks(); ++rank)
      all.emplace_back(rank);
    program.mesh = Mesh({{"rank", static_cast<int64_t>(all.size())}});
    Op& op = program.ops.emplace_back();
    op.name = "collective";
    op.kind = kind;
    op.site = SiteId(0);
    program.threads = {{"all", all, {OpId(0)}}};
    program.sites = {{"site", {OpId(0)}, {all}}};

    Collective collective;
    collective.kind = kind;
    collective.work = work;
    collective.schedule = &schedule;
    collective.members = all;
    collective.vertices = std::move(vertices);
    collective.figures = figures;
    lowered = lowered_alone(program, std::move(collective));
  }
};

/// A group is timed in smaller sizes if it has at least so many nodes: two of them are left in the
/// smallest.
constexpr uint32_t kLeastBlocks = 4;

uint64_t steps_of_a_rank(const Schedule& schedule) {
  uint64_t steps = 0;
  for (uint32_t c = 0; c < schedule.extent().channels; ++c)
    steps += schedule.steps(Node(0), Channel(c));
  return steps;
}

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
  std::vector<TorusDimension> box;
  uint32_t stride = torus->devices();
  for (TorusDimension dimension : torus->dimensions()) {
    stride /= dimension.size;
    const auto at = [&](VertexId device) { return device.index() / stride % dimension.size; };
    const uint32_t size = at(ranks.back()) - at(ranks.front()) + 1;
    dimension.wraps = dimension.wraps && size == dimension.size;
    dimension.size = size;
    if (size > 1)
      box.push_back(dimension);
  }
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

QuietTimer::Outcome QuietTimer::of(const Method& method, const Hints& asked,
                                   const ScheduleRequest& request, WorkType work,
                                   std::span<const VertexId> vertices) {
  if (request.nodes > kMostTimedRanks && !request.names_ranks() &&
      request.nodes / block_of(request) >= kLeastBlocks)
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
  if (request.nodes > kMostTimedRanks)
    return {};
  const ScheduleRequest connected = maker_.with_connections(method, asked, request, work);
  const std::unique_ptr<const Schedule> whole = method.algorithm->make(connected);
  const CollectiveFigures figures = maker_.figures(method, request.kind, *whole);
  const SharedList<VertexId> places =
      vertices_of_nodes(*method.algorithm, *whole,
                        {fabric(), vertices, connected.transport.channels, connected.layout});
  std::map<LinkId, Int128> carried;
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();
  const int64_t parts = paths_.fabric().rate_parts();
  const auto time = [](Int128 bytes, Int128 rate) {
    const Int128 exact = rate == 0 ? 0 : bytes * kPicosecondsPerSecond / rate;
    return Duration(static_cast<int64_t>(std::min<Int128>(exact, kLongest)));
  };
  Duration longest;
  for (uint32_t node = 0; node < whole->extent().nodes; ++node)
    for (uint32_t c = 0; c < whole->extent().channels; ++c) {
      std::array<Int128, 2> of_channel = {};  // inside nodes, and over the network
      whole->for_each_receiver(Node(node), Channel(c), [&](const Sent& each) {
        const Path* path = paths_.find(places[node], places[each.to.index()], c);
        if (path == nullptr || path->links.empty())
          return;  // what a switch hands to its own ports takes no time
        const Int128 bytes =
            on_wire(itemsize(work) * each.elements, path->figures(figures).share).count();
        of_channel[path->over_network ? 1 : 0] += bytes;
        for (const LinkId link : path->links)
          carried[link] += bytes;
      });
      Duration sends;
      for (const bool over_network : {false, true})
        if (const auto rate = figures.of_message(over_network).channel_rate)
          sends += time(of_channel[over_network ? 1 : 0], rate->count());
      longest = std::max(longest, sends);
    }
  for (const auto& [link, bytes] : carried)
    longest = std::max(longest, time(bytes * parts, fabric().figures(link).bandwidth.count()));
  return Duration(std::min(longest.count(), kLongest - figures.launch.count())) + figures.launch;
}

std::variant<Duration, std::string> QuietTimer::timed(const Method& method,
                                                      const ScheduleRequest& request, WorkType work,
                                                      std::span<const VertexId> vertices) {
  const MadeSchedule made = maker_.make(method, request, work);
  if (made.too_long || made.steps > static_cast<uint64_t>(limits_.steps))
    return "has more steps than the limit allows";
  const Schedule& schedule = *made.schedule;
  const SharedList<VertexId> nodes =
      vertices_of_nodes(*method.algorithm, schedule,
                        {paths_.fabric(), vertices, request.transport.channels, request.layout});
  if (first_unrouted(schedule, nodes, paths_))
    return "has no route for some message";
  const OneCollective alone(request.kind, schedule, work, nodes,
                            maker_.figures(method, request.kind, schedule));
  try {
    TimeOptions options;
    options.most_state = limits_.state;
    options.only_times = true;
    const std::optional<Completion> completion =
        time_program(alone.program, alone.lowered, paths_, demands(alone.lowered, paths_), options);
    if (!completion)
      return "would hang";
    return completion->makespan - Instant();
  } catch (const TooMuchState&) {
    return "takes more memory than the limit allows";
  } catch (const OpOverflow& overflow) {
    throw Overflow(overflow.what());  // the op is not one of the caller's program
  }
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
  if (CollectiveSweep<Schedule>::least_bytes(whole_of_all->extent()) > limits_.state)
    return "takes more memory than the limit allows";
  const auto tori = smaller_tori(fabric(), vertices, request.layout);
  const uint32_t block = block_of(request);
  uint32_t blocks = request.nodes / block;
  while (blocks * block > kMostTimedRanks && blocks / 2 >= kLeastBlocks)
    blocks /= 2;
  const uint32_t size = tori ? (*tori)[1].devices() : blocks * block;
  const uint32_t half = tori ? (*tori)[0].devices() : blocks / 2 * block;
  const Algorithm& algorithm = *method.algorithm;
  const uint32_t sizes[2] = {half, size};
  std::vector<VertexId> fewer[2];
  Layout layouts[2];
  int64_t largest[2];
  for (size_t i = 0; i < 2; ++i) {
    if (tori)
      for (uint32_t device = 0; device < sizes[i]; ++device)
        fewer[i].emplace_back(device);
    else
      fewer[i] =
          smaller_group(algorithm, asked, fabric(), vertices, request.layout, sizes[i], block);
    layouts[i] = layout_of(tori ? (*tori)[i] : fabric(), fewer[i]);
    largest[i] =
        algorithm.make(with(request, sizes[i], request.elements, layouts[i]))->largest_message();
  }
  const auto steps_with = [&](const ScheduleRequest& each) {
    const std::unique_ptr<const Schedule> whole = algorithm.make(each);
    return Int128{steps_of_a_rank(*whole)} * ScheduleMaker::iterations(method, *whole, work);
  };
  // Data that is split into one part per rank shrinks with the number of ranks.
  const bool split = largest[0] > largest[1];
  const auto elements_of = [&](uint32_t nodes) {
    const Int128 share = ceil_divide(Int128{request.elements} * nodes, Int128{request.nodes});
    return split ? checked_narrow(share) : request.elements;
  };
  Duration takes[2];
  Int128 steps[2];
  for (size_t i = 0; i < 2; ++i) {
    const ScheduleRequest smaller = maker_.with_connections(
        method, asked, with(request, sizes[i], elements_of(sizes[i]), layouts[i]), work);
    std::optional<Paths> on_torus;
    if (tori)
      on_torus.emplace((*tori)[i]);
    const auto outcome = QuietTimer(tori ? *on_torus : paths_, maker_, limits_)
                             .timed(method, smaller, work, fewer[i]);
    if (const auto* why_not = std::get_if<std::string>(&outcome))
      return *why_not;
    takes[i] = std::get<Duration>(outcome);
    steps[i] = steps_with(smaller);
  }
  Measure by{steps[0], steps[1], steps_with(of_all)};
  if (by.size <= by.half)  // each rank has as many steps in any group, as in a chain
    by = {half, size, request.nodes};
  return QuietTime{extend(takes[0], takes[1], by), std::pair(half, size)};
}

}  // namespace orrery
