#pragma once

// This alone says which links a message crosses, with their figures, and which messages have no
// route. Lowering, demand, the timing executors and the trace share one object.
//
// Where the topology has a rule (models/fabric/topology.h), the rule gives the route. If a link of
// it is cut, another of the equal ways is taken, or, if devices forward, a route is searched.
//
// In a list of links a route has the fewest links that are not cut. Every vertex forwards, devices
// included. Where there are several such routes, a number decides: that of the destination, or a
// hash of the ends and the channel (Ways of fabric.h). The choice is made as in a fat tree:
//  - The vertices are chosen from the destination backwards. If k vertices may come before, in the
//    order of their lowest links, number ⌊number / P⌋ mod k of them is taken. P is the product of
//    the numbers k of the choices before.
//  - Then a link is chosen for each hop. If p links are parallel on the i-th hop from either end,
//    number ⌊number / P_i⌋ mod p of them is taken. P_i is the product of k up to the i-th hop.
//
// Most routes in lists are found without a search:
//  - a direct link is the route;
//  - a vertex with exactly one link out (a device under a switch) has its neighbour's route;
//  - a vertex with exactly one link in is reached through its neighbour.
// Between other vertices there is a breadth-first search per source. It continues where it last
// stopped, only as far as the target. Routes found lately are kept. So a star needs no search, and
// a tree of switches needs one for each source among the switches.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/base/id.h"
#include "models/fabric/fabric.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// A Path is the route of a message, with its figures.
struct Path : RouteFigures {
  Route links;             // in order
  int64_t rate_parts = 1;  // of the fabric: the unit of bandwidths

  /// Returns what a message of the collective costs here, besides the links.
  const MessageFigures& figures(const CollectiveFigures& of) const {
    return of.of_message(over_network);
  }
  /// Returns the highest rate of one message here, if it declares `cap`. Requires links.
  BytesPerSecond peak(std::optional<BytesPerSecond> cap) const {
    return most(*bottleneck, cap, rate_parts);
  }
  /// Returns how long a message of `size` bytes of data takes its sender at the highest rate.
  Duration transfer(Bytes size, const MessageFigures& figures) const {
    return message_duration(
        size, links.empty() ? std::nullopt : std::optional(peak(figures.channel_rate)), rate_parts,
        figures);
  }
};

/// A breadth-first search from one vertex that can stop and continue. It stores the vertices
/// reached, each with its distance.
class RouteSearch {
 public:
  /// The graph that is searched: links that are not cut, by vertex.
  struct Graph {
    explicit Graph(const Fabric& fabric);

    std::vector<VertexId> from, to;   // per link
    std::vector<uint32_t> first_out;  // per vertex, where its links begin in `out`; and the end
    std::vector<uint32_t> out;        // links, in the order of (from, to, id)
    std::vector<uint32_t> first_in;   // per vertex, where its links begin in `in`; and the end
    std::vector<uint32_t> in;         // links, in the order of (to, id)
    std::vector<bool> dead_end;       // per vertex: no link leads on from here, except back
    bool has_parallel = false;        // links between some two devices, in the same direction
    uint32_t vertices() const { return static_cast<uint32_t>(first_out.size()) - 1; }
    /// Returns the only link out of or into the vertex, if there is exactly one.
    std::optional<LinkId> only_out(VertexId vertex) const;
    std::optional<LinkId> only_in(VertexId vertex) const;
    /// Returns the links between two vertices, in id order.
    std::span<const uint32_t> between(VertexId source, VertexId target) const;
  };

  explicit RouteSearch(VertexId from) : from_(from), frontier_({from.index()}) {}

  /// The hops of a route that need no search: before the search's source, and after its target.
  struct Around {
    uint32_t before = 0;
    uint32_t after = 0;
    friend bool operator==(const Around&, const Around&) = default;
  };

  /// A search finds one of these; its answer serves any number, or only the one given.
  enum class Outcome : uint8_t { NoRoute, OnlyRoute, OneOfSeveral };

  /// Appends the links of the route, the last one first.
  Outcome backwards(const Graph& graph, VertexId to, uint64_t number, Around around, Route& links);

  /// Returns the number of 32-bit numbers that it holds.
  size_t held() const { return 2 * met_.size() + frontier_.capacity(); }

 private:
  struct Met {
    uint32_t vertex;
    uint32_t distance;
  };

  size_t slot(uint32_t vertex) const;
  /// Returns the distance of a vertex that was met.
  std::optional<uint32_t> distance(VertexId vertex) const;
  void meet(const Graph& graph, VertexId vertex, uint32_t distance);
  void grow();
  void go_on(const Graph& graph);

  VertexId from_;
  std::vector<Met> met_;  // an open hash table
  size_t count_met_ = 0;
  std::vector<uint32_t> frontier_;  // vertices met, in order; those before next_ are done with
  size_t next_ = 0;
};

class Paths {
 public:
  /// If searches together hold more than this many 32-bit numbers (256 MiB), they are dropped, and
  /// repeated when needed.
  static constexpr size_t kMostHeld = size_t{1} << 26U;

  /// `fabric` must outlive this object.
  explicit Paths(const Fabric& fabric, size_t most_held = kMostHeld);

  const Fabric& fabric() const { return fabric_; }

  /// Returns whether the route of a message may depend on its channel.
  bool may_differ_by_channel() const;

  /// Returns the route of a message in one channel, or null if there is none. It is valid until the
  /// next call.
  const Path* find(VertexId from, VertexId to, uint32_t channel);

  /// Returns the route. Requires that there is one (lower() refuses programs without).
  const Path& between(VertexId from, VertexId to, uint32_t channel);

  /// Returns the number of 32-bit numbers that searches hold now.
  size_t held() const { return held_; }

 private:
  /// A message, as far as its route depends on it. The channel is 0 where it does not matter.
  struct Asked {
    VertexId from;
    VertexId to;
    uint32_t channel = 0;
    friend bool operator==(const Asked&, const Asked&) = default;
  };
  /// The route of one message, by rule or from a source with several links. The tables are caches:
  /// messages with the same slot replace each other.
  struct Found {
    std::optional<Asked> asked;
    bool is_route = false;
    Path path;
  };
  /// The last search for one pair, in a cache of the same kind.
  struct Kept {
    std::optional<Asked> asked;
    uint64_t number = 0;  // of one route of several, as `around`
    RouteSearch::Around around;
    RouteSearch::Outcome outcome = RouteSearch::Outcome::NoRoute;
    Route links;
  };
  static constexpr size_t kMostKept = size_t{1} << 12U;
  static constexpr size_t kMostFound = size_t{1} << 9U;
  static constexpr size_t kMostLinksKept = 32;

  const Path* find_by_rule(VertexId from, VertexId to, uint32_t channel);
  const Path* find_in_list(VertexId from, VertexId to, uint32_t channel);
  bool route_by_rule(const Asked& asked);
  /// Returns the slot in a table of `size`, a power of two. Pairs share slots only if there are
  /// more pairs than slots.
  size_t slot_of(const Asked& asked, size_t size) const;
  void begin_path(Path& path);
  void end_path();
  bool crosses_a_cut(const Route& route) const;
  bool route(const Asked& asked);
  bool append_searched(const Asked& asked, uint64_t number, RouteSearch::Around around);
  RouteSearch::Outcome search(VertexId from, VertexId to, uint64_t number,
                              RouteSearch::Around around, Route& backwards);

  const Fabric& fabric_;
  const bool is_searched_;  // whether the topology has no rule
  const uint64_t vertices_;
  std::optional<RouteSearch::Graph> graph_;             // from the first search on
  std::vector<std::unique_ptr<RouteSearch>> searches_;  // per vertex: the search that began at it
  size_t held_ = 0;
  size_t most_held_;
  size_t count_kept_;         // a power of two
  std::vector<Kept> kept_;    // from the first search on; count_kept_ or none
  std::vector<Found> found_;  // from the first source with several links on; at most kMostFound
  /// The last routes by rule. Those of up to 8 vertices all have a place of their own. The table is
  /// small, since looking into a larger one takes about as long as the rule.
  static constexpr size_t kMostByRule = 64;
  std::array<Found, kMostByRule> by_rule_;
  Path next_;              // the last route that is kept in no table
  Found* long_ = nullptr;  // the last route, if it is too long to be kept
  Path* path_ = nullptr;   // the route that is being found
  Route ahead_;            // the route's end, last link first, while its middle is looked for
};

/// This is a member, and a device to which it sends without a route, in a channel.
struct Unrouted {
  VertexId sender, receiver;
  uint32_t channel = 0;
};
/// Returns the first such member, by node and channel. The result is empty if every message has a
/// route.
std::optional<Unrouted> first_unrouted(const Schedule& schedule, std::span<const VertexId> vertices,
                                       Paths& paths);

/// This is a collective with such a member.
struct LostRoute {
  CollectiveId collective;
  Unrouted ends;
};
/// Returns the first such collective of a program. The result is empty if every message has a
/// route.
std::optional<LostRoute> first_unrouted(const Lowered& lowered, Paths& paths);

}  // namespace orrery
