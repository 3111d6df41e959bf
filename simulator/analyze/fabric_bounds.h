#pragma once

// This finds the least time that a collective takes on a fabric, whatever algorithm carries it out.
// It follows from the definition of the collective and from the links, and has two parts:
//
// Latency: data of one rank must reach another one. So the collective takes at least the sum of the
// latencies on the quickest way between the two. The bound is the largest over such ranks.
//
// Cuts: if k of n ranks are in a set of vertices, some bytes must leave it and some must enter it.
// All of them cross the links between the set and the others, each direction by itself, and these
// have so much bandwidth together. With D bytes of an operand, S of a gathered share, R of a part
// of a result and P of what one rank sends to another:
//
//                    leaves       enters
//   psum             D            D
//   psum_scatter     (n - k) R    k R
//   all_gather       k S          (n - k) S
//   all_to_all       k (n - k) P  k (n - k) P
//   others           the operands of ranks inside that a rank outside gets, and the reverse
//
// If the vertices are divided into m disjoint sets, the links out of all sets together carry the
// sum over the sets. For a psum it is more than m D: 2 (m - 1) D. Before any set has the whole sum,
// the m - 1 others have sent their data. After that, these must still get the sum. (This is gossip
// by letters: Harary and Schwenk 1974.) It does not hold if a switch between the sets reduces and
// multicasts: the switch takes D from each set and gives D to each.
//
// A group counts no links that its messages never cross. For ranks in one node these are the links
// outside of it, and for ranks in several nodes those of NICs that none of them uses. For ranks
// along a line of a torus they are the links that leave the line, and in a full mesh those to other
// devices. Which of the other links they cross is no rule of the fabric but of an algorithm and of
// routes, which may be worse than they need be.
//
// Only data is counted, not the flags of a protocol. Neither are launches, overheads, latencies of
// protocols, rates of channels and of reductions, copies, or other collectives at the same time.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/array/work.h"
#include "models/base/compiler.h"
#include "models/base/id.h"
#include "models/base/quantity.h"
#include "models/base/shared_list.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/network/demand.h"
#include "simulator/network/paths.h"
#include "simulator/schedule/lowered.h"

namespace orrery {

// fabric_cuts.cc proposes cuts of a fabric: sets of vertices whose links to the others may be too
// few for what a collective must send over them. fabric_bounds.cc judges them. A cut that limits
// nothing does no harm, so proposals need not be good ones.
//
// Rules propose whole divisions of the fabric into blocks:
//  - each device by itself, and blocks of consecutive devices: nodes, 2, 4, 8, ... nodes, and the
//    subtrees of a tree; of other fabrics, blocks of 2, 4, 8, ... devices;
//  - for each level of a tree with one way between any two devices, its subtrees;
//  - for each dimension of a torus, its two halves, and its lines and planes.
// A switch joins a block if most of what leads into it comes from there. Each round of this gives a
// division of its own: leaves, say, then the spines of a pod.
//
// A maximum flow proposes the least cut between ranks. It is only asked for in small fabrics, and
// not in a tree with one way between any two devices. There, each message that crosses a cut does
// so over one of its links. So one of these links alone limits at least as tightly as all of them,
// and each link separates a subtree.

/// A Division has disjoint blocks of vertices. Bandwidths are in the fabric's parts.
struct Division {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::vector<uint32_t> block;  // of each vertex; kNone: in no block
  std::vector<int64_t> out;     // per block: the bandwidth of the links that lead out, together
  std::vector<int64_t> in;      // per block: that of the links that lead in
  bool folds_outside = false;   // some switch that reduces is in no block
};

/// Returns the links that messages between these ranks may cross, if the topology's rule leaves
/// some out. Messages of a node's devices stay inside the node. Those between nodes use the NICs
/// that the route's rule names. Those of a line or plane of a torus stay in it, and those of a full
/// mesh go straight. The result is empty if it may be any link, or if switches that join nodes
/// reduce.
std::optional<std::vector<LinkId>> links_among(const Fabric& fabric,
                                               std::span<const VertexId> ranks);

/// Links without those that are cut, by the vertex that they leave.
struct OpenLinks {
  /// Takes these links, or all.
  explicit OpenLinks(const Fabric& fabric,
                     const std::optional<std::vector<LinkId>>& only = std::nullopt);

  struct Open {
    LinkId id;
    Link link;
  };
  std::vector<Open> links;      // in the order of (from, id)
  std::vector<uint32_t> first;  // per vertex: where its links begin; and the end
  Int128 bandwidth = 0;         // of all links together
};

/// Returns whether this is a tree with one way between any two devices.
bool has_one_way(const Topology& topology);

/// Returns the divisions that the fabric's rules propose. Requires that all links together have a
/// bandwidth of 63 bits.
std::vector<Division> divisions(const Fabric& fabric, const OpenLinks& links);

/// Says between which ranks a flow is sought.
enum class FlowEnds : uint8_t {
  FromAll,  // from all other ranks, which send at one rate, to each rank
  ToAll,    // from each rank to all others
  Pairs,    // between the first rank and each other one, both ways
};

/// Returns divisions of one block each: the least cuts that limit the flows. There are at most as
/// many flows as `most`; if there are more ranks, evenly spaced ones are taken. Requires the same.
std::vector<Division> flow_cuts(const Fabric& fabric, const OpenLinks& links,
                                std::span<const VertexId> ranks, FlowEnds ends, size_t most);

/// The ranks of a group exchange this, by the definition of the collective.
struct ExchangedData {
  enum class Form : uint8_t {
    Reduction,           // each rank gets the fold of all operands, of a unit each
    ScatteredReduction,  // each rank gets a part of the fold, which is a unit
    Gather,              // each rank gets the operands of all, of a unit each
    AllToAll,            // each rank sends each other rank a unit
    Sends,               // each rank sends what `sends` says
  };
  /// So many units go from one rank to another one.
  struct Send {
    uint32_t from = 0;
    uint32_t to = 0;
    int64_t units = 1;
    friend auto operator<=>(const Send&, const Send&) = default;
  };
  Form form = Form::Reduction;
  Bytes unit;
  std::vector<Send> sends = {};  // ascending, so those of one rank follow each other
  bool copies = false;  // whether the sends of one rank are copies of the same data, a unit each
};

/// Returns what a group of so many ranks exchanges by the op. `elements` are those of a rank's
/// exchanged operand, and `tables` those of a group that exchanges by tables. Requires a
/// collective.
ExchangedData exchanged_data(const Op& op, uint32_t ranks, WorkType work, int64_t elements,
                             const RaggedGroup* tables = nullptr);

/// This is the least time of a collective on a fabric, and the cut that it follows from.
struct FabricBound {
  Duration latency;
  Duration cut;              // 0 if nothing must cross a link
  Bytes crossing;            // over the links of the cut, at most 2^63 - 1
  SharedList<LinkId> links;  // that the cut consists of, ascending

  Duration least() const { return std::max(latency, cut); }
};

/// Returns what the bound follows from: "7 MiB over 8 links (device 0 -> device 1, ...) take 12
/// us", or "2 us of latency". With `ascii` microseconds are "us".
std::string text(const FabricBound& bound, const Fabric& fabric, bool ascii);

/// The link of a collective that takes longest to carry what crosses it.
struct BusiestLink {
  LinkId link;
  Bytes bytes;
  Duration takes;  // at the link's bandwidth
  friend bool operator==(const BusiestLink&, const BusiestLink&) = default;
};

class FabricBounds {
 public:
  /// Fabrics of more links have no bounds, since each would be looked at several times.
  static constexpr uint32_t kMostLinks = uint32_t{1} << 20U;
  /// Cuts are found by flows in fabrics of at most so many links.
  static constexpr uint32_t kMostFlowLinks = 4096;
  /// The flows of an exchange, each way, look at up to so many links and vertices together. Those
  /// of all exchanges look at up to kMostFlowWorkOfAll, which takes about 50 ms. For exchanges that
  /// are asked later, the rules alone propose cuts.
  static constexpr size_t kMostFlowWork = size_t{1} << 14U;
  /// Flows whose divisions are known count too, so that the bounds of an exchange do not depend on
  /// which ranks the one before it had.
  static constexpr size_t kMostFlowWorkOfAll = 16 * kMostFlowWork;

  /// Cuts are looked for in at most so many different exchanges and groups.
  static constexpr size_t kMostExchanges = 256;

  /// `fabric` must outlive this object.
  explicit FabricBounds(const Fabric& fabric) : fabric_(fabric) {}

  /// Returns the bound for the ranks on these vertices. The cuts of equal exchanges of a group are
  /// looked for once, whatever the size of the unit. The result is empty if no data must go from
  /// one rank to another, if the fabric has too many links, or after too many other exchanges.
  /// Links that together have more than 63 bits of bandwidth cut nothing.
  std::optional<FabricBound> of(const ExchangedData& exchange, std::span<const VertexId> ranks);

 private:
  /// The tightest cut, for units of any size.
  struct Tightest {
    Duration latency;
    int64_t units = 0;      // that must cross
    int64_t bandwidth = 1;  // of the links together, in the fabric's parts
    SharedList<LinkId> links;
  };
  struct Asked {
    ExchangedData::Form form;
    bool copies;
    std::vector<ExchangedData::Send> sends;
    std::vector<VertexId> ranks;
    friend auto operator<=>(const Asked&, const Asked&) = default;
  };

  /// The links that a group may use, and the divisions of the fabric by them.
  struct Links {
    OpenLinks open;
    std::vector<Division> divisions;
  };

  /// The divisions that flows between some ranks proposed. They do not depend on the exchange, and
  /// the links that the group may use follow from the ranks.
  struct Proposed {
    std::vector<VertexId> ranks;
    size_t flows = 0;
    std::vector<Division> divisions;
  };

  Links links_of(const std::optional<std::vector<LinkId>>& only) const;
  Tightest tightest(const ExchangedData& exchange, std::span<const VertexId> ranks);
  const std::vector<Division>& proposed(const OpenLinks& links, std::span<const VertexId> ranks,
                                        FlowEnds ends, size_t flows);
  Duration latency(const ExchangedData& exchange, std::span<const VertexId> ranks,
                   const OpenLinks& links);
  Duration latency_of_sends(const ExchangedData& exchange, std::span<const VertexId> ranks,
                            const OpenLinks& links);

  const Fabric& fabric_;
  size_t flow_work_left_ = kMostFlowWorkOfAll;
  std::optional<Links> all_;  // once a group needs all links
  std::map<Asked, Tightest> known_;
  std::map<FlowEnds, Proposed> proposed_;             // the last of each
  std::map<VertexId, std::vector<int64_t>> reached_;  // by all links: latencies from the vertex
};

/// BusiestLinks has the busiest link of each collective of a program. Equal sendings are looked at
/// once.
class BusiestLinks {
 public:
  /// `demands`, `paths` and the schedules of `lowered` must outlive this object.
  BusiestLinks(const Lowered& lowered, const Demands& demands, Paths& paths);

  /// Returns the busiest link, the lowest of several; nothing if the collective uses no link.
  /// Throws Overflow above 63 bits of bytes or picoseconds.
  std::optional<BusiestLink> of(const Collective& collective);

 private:
  void consider(std::optional<BusiestLink>& most, LinkId link, Int128 bytes) const;
  std::optional<BusiestLink> from_demands() const;
  std::optional<BusiestLink> from_routes(const Collective& collective);

  const Demands& demands_;
  Paths& paths_;
  /// How many runs the program's collectives have, if their sendings are all equal. Then a run
  /// loads each link with an equal part of its demand.
  std::optional<int64_t> equal_runs_;
  std::map<Sending, std::optional<BusiestLink>> known_;  // looked up only
  std::vector<Int128> loads_;  // bytes, per link: of the collective that is looked at, else 0
};

}  // namespace orrery
