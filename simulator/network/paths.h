#pragma once

// Routes with their figures, for a whole run: one object serves lowering, demand, the executors of
// time and the trace.
//
// What a route is, Fabric::route says. Here most are found without a search:
//  - a link that leads there directly is the route;
//  - a vertex with exactly one link out (a device under a switch) goes the way of its neighbour;
//  - a vertex with exactly one link in is reached the way its neighbour is.
// Between other vertices a breadth-first search from the source goes on where it last stopped, only
// as far as the target asked for; what lately was searched for is kept. So a star needs no search,
// and a tree of switches one for each pair of switches' common source.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "models/fabric/fabric.h"
#include "simulator/schedule/durations.h"

namespace orrery {

/// The way of a message.
struct Path {
  boost::container::small_vector<LinkId, 4> links;  // in order
  std::optional<BytesPerSecond> bottleneck;         // the least bandwidth; empty: no links
  Duration latency;                                 // the sum over the links

  /// The most that one message gets here, when it declares `cap`. Requires links.
  BytesPerSecond peak(std::optional<BytesPerSecond> cap) const { return most(*bottleneck, cap); }
  /// How long a message takes that gets the most, latency apart; nothing where there are no links.
  Duration transfer(Bytes size, std::optional<BytesPerSecond> cap) const {
    return links.empty() ? Duration() : message_duration(size, peak(cap));
  }
};

/// A breadth-first search from one vertex that stops and goes on. It remembers the vertices that it
/// has met, each with the link of its route that enters it.
class RouteSearch {
 public:
  using Links = boost::container::small_vector<LinkId, 4>;

  /// What it searches: the links out of each vertex that are not cut, in id order.
  struct Graph {
    const Fabric& fabric;
    std::vector<uint32_t> first;  // per vertex, where its links begin in `links`; and the end
    std::vector<uint32_t> links;  // ids, by vertex
    std::vector<bool> dead_end;   // per vertex: no way leads on from here, or none but back
    uint32_t vertices() const { return static_cast<uint32_t>(first.size()) - 1; }
  };

  explicit RouteSearch(VertexId from) : from_(from), frontier_({from.index()}) {}

  /// Appends the links of the route, the last one first. False where none leads there.
  bool backwards(const Graph& graph, VertexId to, Links& links);

  /// Numbers of 32 bits that it holds.
  size_t held() const { return entered_over_.size() + frontier_.capacity(); }

 private:
  size_t place(const Graph& graph, VertexId vertex) const;
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
  /// Searches are dropped, and made again when they are needed, where together they hold more than
  /// this many numbers of 32 bits: 256 MiB. No more routes are kept either.
  static constexpr size_t kMostHeld = size_t{1} << 26U;

  /// `fabric` must outlive this.
  explicit Paths(const Fabric& fabric, size_t most_held = kMostHeld);

  const Fabric& fabric() const { return graph_.fabric; }

  /// Null where no route leads there. Valid until the next call.
  const Path* find(VertexId from, VertexId to);

  /// The same. Requires a route (lower() refuses programs without).
  const Path& between(VertexId from, VertexId to);

  /// 32-bit numbers that searches hold now.
  size_t held() const { return held_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kSeveral = UINT32_MAX - 1;

  /// What was found for one pair. Pairs whose numbers fall together take each other's place.
  struct Kept {
    VertexId from;
    VertexId to;
    bool asked = false;
    bool found = false;
    RouteSearch::Links links;  // the last one first
  };
  static constexpr size_t kMostKept = size_t{1} << 12U;
  static constexpr size_t kMostLinksKept = 32;

  void append(LinkId link);
  bool route(VertexId from, VertexId to);
  bool append_searched(VertexId from, VertexId to);
  bool search(VertexId from, VertexId to, RouteSearch::Links& backwards);

  RouteSearch::Graph graph_;
  std::vector<uint32_t> only_out_;  // per vertex: its only link out, or kNone, or kSeveral
  std::vector<uint32_t> only_in_;   // likewise: the only link that enters it
  std::vector<std::unique_ptr<RouteSearch>> searches_;  // per vertex that one began at
  size_t held_ = 0;
  size_t most_held_;
  std::vector<Kept> kept_;    // a power of two, from the first search on
  Path path_;                 // what was asked for last
  RouteSearch::Links ahead_;  // its end, the last link first, while the middle is looked for
};

}  // namespace orrery
