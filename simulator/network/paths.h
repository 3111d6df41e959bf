#pragma once

// This alone says which links a message crosses, with their figures, and which messages have no
// route. Lowering, demand, the timing executors and the trace share one object.
//
// A route has the fewest links that are not cut; among equals, the lowest ids, compared in order.
// Every vertex forwards, devices included: a message on a ring passes through the devices between.
// Most routes are found without a search:
//  - a direct link is the route;
//  - a vertex with exactly one link out (a device under a switch) has its neighbour's route;
//  - a vertex with exactly one link in is reached through its neighbour.
// Between other vertices there is a breadth-first search per source. It continues where it last
// stopped, only as far as the target. Routes found lately are kept. So a star needs no search, and
// a tree of switches needs one for each source among the switches.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "models/base/id.h"
#include "models/fabric/fabric.h"
#include "simulator/schedule/durations.h"
#include "simulator/schedule/lowered.h"
#include "simulator/schedule/schedule.h"

namespace orrery {

/// The route of a message, with its figures.
struct Path {
  boost::container::small_vector<LinkId, 4> links;  // in order
  std::optional<BytesPerSecond> bottleneck;         // the least bandwidth; empty: no links
  int64_t rate_parts = 1;                           // of the fabric: the unit of bandwidths
  Duration latency;                                 // the sum over the links

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
/// reached, each with the link of its route that enters it.
class RouteSearch {
 public:
  using Links = boost::container::small_vector<LinkId, 4>;

  /// The graph that is searched: the links out of each vertex that are not cut, in id order.
  struct Graph {
    const Fabric& fabric;
    std::vector<uint32_t> first;  // per vertex, where its links begin in `links`; and the end
    std::vector<uint32_t> links;  // ids, by vertex
    std::vector<bool> dead_end;   // per vertex: no link leads on from here, except back
    uint32_t vertices() const { return static_cast<uint32_t>(first.size()) - 1; }
  };

  explicit RouteSearch(VertexId from) : from_(from), frontier_({from.index()}) {}

  /// Appends the links of the route, the last one first. Returns false if there is no route.
  bool backwards(const Graph& graph, VertexId to, Links& links);

  /// Returns the number of 32-bit numbers that it holds.
  size_t held() const { return entered_over_.size() + frontier_.capacity(); }

 private:
  size_t slot(const Graph& graph, VertexId vertex) const;
  bool met(const Graph& graph, VertexId vertex) const;
  void meet(const Graph& graph, uint32_t link);
  void grow(const Graph& graph);
  void go_on(const Graph& graph);

  VertexId from_;
  std::vector<uint32_t> entered_over_;  // links, by the vertex they enter: an open hash table
  size_t met_ = 0;
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

  const Fabric& fabric() const { return graph_.fabric; }

  /// Returns the route, or null if there is none. It is valid until the next call.
  const Path* find(VertexId from, VertexId to);

  /// Returns the route. Requires that there is one (lower() refuses programs without).
  const Path& between(VertexId from, VertexId to);

  /// Returns the number of 32-bit numbers that searches hold now.
  size_t held() const { return held_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kSeveral = UINT32_MAX - 1;

  /// The route of one pair from a source with several links. The table is a cache: pairs with the
  /// same slot replace each other.
  struct Found {
    VertexId from;
    VertexId to;
    bool asked = false;
    bool is_route = false;
    Path path;
  };
  /// The last search for one pair, in a cache of the same kind.
  struct Kept {
    VertexId from;
    VertexId to;
    bool asked = false;
    bool found = false;
    RouteSearch::Links links;  // the last one first
  };
  static constexpr size_t kMostKept = size_t{1} << 12U;
  static constexpr size_t kMostFound = size_t{1} << 9U;
  static constexpr size_t kMostLinksKept = 32;

  /// Returns the slot of a pair in a table of `size`, a power of two. Pairs share slots only if
  /// there are more pairs than slots.
  size_t slot_of(VertexId from, VertexId to, size_t size) const;
  void append(LinkId link);
  bool route(VertexId from, VertexId to);
  bool append_searched(VertexId from, VertexId to);
  bool search(VertexId from, VertexId to, RouteSearch::Links& backwards);

  RouteSearch::Graph graph_;
  std::vector<uint32_t> only_out_;  // per vertex: its only link out, or kNone, or kSeveral
  std::vector<uint32_t> only_in_;   // per vertex: the only link that enters it, in the same way
  std::vector<std::unique_ptr<RouteSearch>> searches_;  // per vertex: the search that began at it
  size_t held_ = 0;
  size_t most_held_;
  size_t count_kept_;         // a power of two
  std::vector<Kept> kept_;    // from the first search on; count_kept_ or none
  std::vector<Found> found_;  // from the first source with several links on; at most kMostFound
  Path next_;                 // the last route from a source with at most one link
  Found* long_ = nullptr;     // the last route, if it is too long to be kept
  Path* path_ = nullptr;      // the route that is being found
  RouteSearch::Links ahead_;  // the route's end, last link first, while its middle is looked for
};

/// A member, and a device to which it sends without a route.
struct Unrouted {
  VertexId sender, receiver;
};
/// Returns the first such member, by node and channel. The result is empty if every message has a
/// route.
std::optional<Unrouted> first_unrouted(const Schedule& schedule, std::span<const VertexId> vertices,
                                       Paths& paths);

/// A collective with such a member.
struct LostRoute {
  CollectiveId collective;
  Unrouted ends;
};
/// Returns the first such collective of a program. The result is empty if every message has a
/// route.
std::optional<LostRoute> first_unrouted(const Lowered& lowered, Paths& paths);

}  // namespace orrery
