#pragma once

// A Topology is the wiring of a fabric: its vertices, its links by number, and its routes.
//
// Topologies by rule compute all of this, so they take no memory for their devices:
//   Torus     rings and lines along one or several dimensions
//   FullMesh  one link each way between each pair of devices
//   Tree      switches in levels: one switch, leaves and spines, fat trees
//   Nodes     machines: a topology inside each, and one that joins their NICs
// A ListedTopology has its links in a list. It has no rule: simulator/network/paths.h searches its
// routes.
//
// Devices are vertices 0..devices-1, and the switches follow. Links are numbered from 0. The number
// of a link follows from the rule, so that a scenario's results do not depend on how a fabric is
// held: links() of Fabric, made into a list, has the same numbers.
//
// Where a message could go several equal ways, a number decides: the number of its destination
// (D-mod-k: Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real
// life fat trees", 2010), or a hash of its ends and its channel, as switches with ECMP do.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "models/base/callable.h"
#include "models/base/id.h"
#include "models/base/quantity.h"

namespace orrery {

/// A Link is directed. Opposite directions are two links.
struct Link {
  VertexId from;
  VertexId to;
  BytesPerSecond bandwidth;  // > 0, in parts of 1 / Fabric::rate_parts()
  Duration latency;          // >= 0, of this link alone
  bool cut = false;          // no route uses it
  friend bool operator==(const Link&, const Link&) = default;
};

/// LinkFigures are the figures of equal links.
struct LinkFigures {
  BytesPerSecond bandwidth;
  Duration latency;
  friend bool operator==(const LinkFigures&, const LinkFigures&) = default;
};

/// A Route has the links that a message crosses, in order.
using Route = boost::container::small_vector<LinkId, 8>;

/// RouteFigures are the figures of the links of a route together.
struct RouteFigures {
  std::optional<BytesPerSecond> bottleneck;  // the least bandwidth; empty: no links
  Duration latency;                          // the sum over the links
  bool over_network = false;                 // whether some link joins nodes

  void add(const LinkFigures& link, bool is_network) {
    bottleneck = bottleneck ? std::min(*bottleneck, link.bandwidth) : link.bandwidth;
    latency += link.latency;
    over_network |= is_network;
  }
};

/// Returns the figures of a route's links together. Where the compiler knows the class of `links`,
/// no link takes a virtual call.
template <class T>
RouteFigures figures_along(const T& links, const Route& route) {
  RouteFigures together;
  for (const LinkId id : route)
    together.add(links.figures(id), links.is_network(id));
  return together;
}

class Topology {
 public:
  Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  virtual ~Topology() = default;

  virtual uint32_t devices() const = 0;
  virtual uint32_t switches() const = 0;
  virtual uint32_t links() const = 0;

  /// Returns the link with this number. Requires that it is less than links().
  virtual Link link(LinkId id) const = 0;
  /// Returns the figures of the link. This is faster, since its ends are not worked out.
  virtual LinkFigures figures(LinkId id) const = 0;
  /// Returns the figures of a route's links together.
  virtual RouteFigures figures_of(const Route& route) const = 0;
  /// Returns the name of a switch, counted from 0. Requires index < switches().
  virtual std::string switch_name(uint32_t index) const = 0;
  /// Visits the links that lead from the vertex, in ascending order.
  virtual void for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const = 0;

  /// Appends the route by rule. The number decides between equal ways; if it is absent, that of the
  /// destination does. Returns false, and appends nothing, if the rule knows
  /// no route. Every route between two devices that can reach each other is known by rule. So are
  /// those between a device and a switch, but not a switch inside of another node.
  virtual bool append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                            Route& route) const = 0;
  /// Returns how many numbers matter: numbers that differ by a multiple of it give the same route.
  virtual uint64_t ways() const { return 1; }
  /// Returns whether routes are found by a search only.
  virtual bool is_searched() const { return false; }
  /// Returns a number that is equal for pairs of devices that lie alike to each other: as many
  /// steps, switches, NICs and nodes apart.
  virtual uint64_t placed(VertexId first, VertexId device) const = 0;
  /// Returns whether each device reaches each other one.
  virtual bool joins_all() const { return true; }
  /// Returns whether messages of others may pass through each device. Where they may, a search
  /// finds a route around a cut link. Where they may not, one of the other equal ways is taken.
  virtual bool devices_forward() const { return false; }
  /// Returns whether the link is of the network that joins nodes.
  virtual bool is_network(LinkId /*id*/) const { return false; }
};

/// A list of links. Names of switches and ends of links are kept as given.
class ListedTopology final : public Topology {
 public:
  /// Requires that every link joins two different vertices.
  ListedTopology(uint32_t devices, std::vector<std::string> switches, std::vector<Link> links);

  uint32_t devices() const override { return devices_; }
  uint32_t switches() const override { return static_cast<uint32_t>(switches_.size()); }
  uint32_t links() const override { return static_cast<uint32_t>(links_.size()); }
  Link link(LinkId id) const override { return links_[id.index()]; }
  LinkFigures figures(LinkId id) const override {
    return {links_[id.index()].bandwidth, links_[id.index()].latency};
  }
  RouteFigures figures_of(const Route& route) const override { return figures_along(*this, route); }
  std::string switch_name(uint32_t index) const override { return switches_[index]; }
  void for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const override;
  bool append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                    Route& route) const override;
  uint64_t placed(VertexId /*first*/, VertexId /*device*/) const override { return 0; }
  bool is_searched() const override { return true; }
  bool joins_all() const override { return false; }  // a search knows
  bool devices_forward() const override { return true; }

 private:
  uint32_t devices_;
  std::vector<std::string> switches_;
  std::vector<Link> links_;
  std::vector<uint32_t> first_from_;  // per vertex: where its links out begin in by_source_
  std::vector<uint32_t> by_source_;   // links, in the order of (from, id)
};

/// A dimension of a torus has so many devices in a line, or in a ring if it wraps round.
struct TorusDimension {
  uint32_t size = 1;
  bool wraps = true;
  LinkFigures figures;

  /// Returns how many links of a line lead on, and how many back.
  uint32_t links_on() const { return wraps && size > 1 ? size : size - 1; }
  uint32_t links_back() const { return wraps && size == 2 ? 0 : links_on(); }
  uint32_t links_in_line() const { return links_on() + links_back(); }
  friend bool operator==(const TorusDimension&, const TorusDimension&) = default;
};

/// A torus or a mesh of any number of dimensions; in one dimension, a ring or a line. Devices are
/// numbered row-major, so the last dimension is the fastest. The links of the first dimension come
/// first: those to the next coordinate, then those back. In a ring of two devices the links to the
/// next coordinate already lead both ways.
///
/// A route corrects one coordinate after the other, the first dimension first, each the shorter way
/// round. Where both ways are equal, devices with an even coordinate go on, and the others back.
class Torus final : public Topology {
 public:
  explicit Torus(std::vector<TorusDimension> dimensions);

  const std::vector<TorusDimension>& dimensions() const { return dimensions_; }

  uint32_t devices() const override { return devices_; }
  uint32_t switches() const override { return 0; }
  uint32_t links() const override { return links_; }
  Link link(LinkId id) const override;
  LinkFigures figures(LinkId id) const override;
  RouteFigures figures_of(const Route& route) const override { return figures_along(*this, route); }
  std::string switch_name(uint32_t /*index*/) const override { return {}; }
  void for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const override;
  bool append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                    Route& route) const override;
  uint64_t placed(VertexId first, VertexId device) const override;
  bool devices_forward() const override { return true; }

 private:
  /// The strides and links of one dimension, which follow from the sizes.
  struct Along {
    uint32_t stride = 1;      // devices between neighbours
    uint32_t on = 0;          // links to the next coordinate, in one line
    uint32_t back = 0;        // links back, in one line
    uint32_t first_link = 0;  // of this dimension
  };

  size_t dimension_of(LinkId id) const;
  uint32_t coordinate(uint32_t device, size_t d) const {
    return device / along_[d].stride % dimensions_[d].size;
  }
  /// Returns the link from the device to its neighbour, on or back. Requires that there is one.
  LinkId link_on(uint32_t device, size_t d) const;
  LinkId link_back(uint32_t device, size_t d) const;

  std::vector<TorusDimension> dimensions_;
  std::vector<Along> along_;
  uint32_t devices_ = 1;
  uint32_t links_ = 0;
};

/// A FullMesh has one link each way between each pair of devices, in the order of (from, to).
class FullMesh final : public Topology {
 public:
  FullMesh(uint32_t devices, LinkFigures figures);

  const LinkFigures& figures() const { return figures_; }

  uint32_t devices() const override { return devices_; }
  uint32_t switches() const override { return 0; }
  uint32_t links() const override { return devices_ * (devices_ - 1); }
  Link link(LinkId id) const override;
  LinkFigures figures(LinkId /*id*/) const override { return figures_; }
  RouteFigures figures_of(const Route& route) const override { return figures_along(*this, route); }
  std::string switch_name(uint32_t /*index*/) const override { return {}; }
  void for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const override;
  bool append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                    Route& route) const override;
  uint64_t placed(VertexId /*first*/, VertexId /*device*/) const override { return 0; }
  bool devices_forward() const override { return true; }

 private:
  uint32_t devices_;
  LinkFigures figures_;
};

/// A level of a tree: how a vertex of it is joined to the vertices below it.
struct TreeLevel {
  uint32_t below = 1;     // vertices of the level below that are joined to each vertex
  uint32_t above = 1;     // vertices of this level that each of those is joined to
  uint32_t parallel = 1;  // links between each two, in each direction
  LinkFigures figures = {};
  friend bool operator==(const TreeLevel&, const TreeLevel&) = default;
};

/// An extended generalized fat tree (Öhring, Ibel, Das and Kumar 1995) with parallel links: the
/// devices, and one to three levels of switches above them. One level with one vertex above is a
/// switch. Two levels are leaves and spines. With three, leaves and spines form pods, and cores
/// join them: core j of each spine's share joins the spines of one index. `trees` of them stand
/// side by side, without links between them.
///
/// The links of the lowest level come first, by their lower vertex, then their upper one; each link
/// up is followed by the one down.
///
/// A route goes up to the lowest level that both ends have above them, and down. On the way up it
/// takes, at the level l, the vertex ⌊number / (above_1 ... above_(l-1))⌋ mod above_l, and of
/// parallel links, both up and down, that of ⌊number / (above_1 ... above_l)⌋ mod parallel_l.
class Tree final : public Topology {
 public:
  /// Requires 1 to 3 levels. If messages are `spread` evenly over equal ways, as switches do that
  /// spray packets, each way of a level always carries the same. So equal links are one link with
  /// their bandwidths together, and the vertices that they lead to are one vertex.
  explicit Tree(std::vector<TreeLevel> levels, uint32_t trees = 1, bool spread = false);

  /// Returns the levels as they were given, where spread links are not yet one.
  const std::vector<TreeLevel>& given_levels() const { return given_; }
  const std::vector<TreeLevel>& levels() const { return levels_; }
  bool is_spread() const { return spread_; }
  uint32_t trees() const { return trees_; }
  /// Returns how many vertices a level has, in all trees; level 0 has the devices.
  uint32_t vertices_of(size_t level) const { return counts_[level]; }
  /// Returns how many links of a vertex of the level are one if messages are spread.
  static int64_t links_as_one(const std::vector<TreeLevel>& levels, size_t level);

  uint32_t devices() const override { return counts_[0]; }
  uint32_t switches() const override { return switches_; }
  uint32_t links() const override { return links_; }
  Link link(LinkId id) const override;
  LinkFigures figures(LinkId id) const override;
  RouteFigures figures_of(const Route& route) const override { return figures_along(*this, route); }
  std::string switch_name(uint32_t index) const override;
  void for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const override;
  bool append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                    Route& route) const override;
  uint64_t ways() const override;
  uint64_t placed(VertexId first, VertexId device) const override;
  bool joins_all() const override { return trees_ == 1; }

 private:
  /// A vertex of a level: which subtree of the levels above it it is in, and which of the equal
  /// vertices at the top of that subtree it is.
  struct Place {
    size_t level = 0;
    uint32_t subtree = 0;
    uint32_t top = 0;
  };
  Place place(VertexId id) const;
  size_t level_of(LinkId id) const;
  VertexId vertex(const Place& place) const;
  /// Returns the subtree of a higher level that the place is in.
  uint32_t subtree(const Place& place, size_t level) const;
  /// Returns the link up from a place of the level below; the one down is the next.
  LinkId link_up(const Place& lower, uint32_t above, uint32_t lane) const;

  std::vector<TreeLevel> given_;
  std::vector<TreeLevel> levels_;
  uint32_t trees_;
  bool spread_;
  std::vector<uint32_t> counts_;       // per level, from the devices on
  std::vector<uint32_t> tops_;         // per level: above_1 ... above_l
  std::vector<uint32_t> first_;        // per level: its first vertex
  std::vector<uint32_t> first_links_;  // per level from 1 on, at l - 1; and the end
  uint32_t switches_ = 0;
  uint32_t links_ = 0;
};

/// Machines of equal devices, joined by their NICs. See Nodes.
struct NodesForm {
  uint32_t nodes = 1;
  std::shared_ptr<const Topology> inside;  // of the devices of one node
  uint32_t nics = 1;                       // per node; the devices of a node share them evenly
  /// Its devices are the NICs. NIC j of node i is device j * nodes + i if the NICs are rails, and
  /// i * nics + j otherwise.
  std::shared_ptr<const Topology> outside;
  bool rails = false;
  /// Between NICs of different index, a message goes inside the node to the device that has the
  /// NIC with the receiver's index (PXN: NCCL 2.12), instead of over the fabric outside.
  bool over_nodes = false;
  /// The link between a device and its NIC, where devices share NICs.
  LinkFigures nic;
};

/// Machines joined by their NICs. Device g of node i is device i * (devices of a node) + g. If each
/// device has a NIC of its own, the device itself is joined to the fabric outside. Otherwise each
/// NIC is a vertex, which is joined to its devices.
///
/// The links inside come first, node by node, then those between devices and NICs (up, then down,
/// device by device), then those outside. The switches are numbered alike.
///
/// Devices forward messages inside their node as the topology inside says, and to and from their
/// own NIC, and no others.
class Nodes final : public Topology {
 public:
  /// Requires an outside topology of nodes x nics devices, and nics that divide the node's devices.
  explicit Nodes(NodesForm form);

  const NodesForm& form() const { return form_; }
  uint32_t node_of(uint32_t device) const { return device / per_node_; }
  uint32_t per_node() const { return per_node_; }
  /// Returns the number of the device's NIC in its node.
  uint32_t nic_of(uint32_t device) const { return device % per_node_ / per_nic_; }
  /// A Nic says which node a NIC is in, and which of the node's NICs it is.
  struct Nic {
    uint32_t node = 0;
    uint32_t index = 0;
  };
  /// Returns the NIC at which a link of the network begins or ends, if it is one there.
  std::optional<Nic> nic_at(VertexId vertex) const;
  /// Returns the node of a device, of a switch in a node, or of a NIC.
  uint32_t node_at(VertexId vertex) const { return place(vertex).node; }

  uint32_t devices() const override { return form_.nodes * per_node_; }
  uint32_t switches() const override;
  uint32_t links() const override { return outside_links_ + form_.outside->links(); }
  Link link(LinkId id) const override;
  LinkFigures figures(LinkId id) const override;
  RouteFigures figures_of(const Route& route) const override { return figures_along(*this, route); }
  std::string switch_name(uint32_t index) const override;
  void for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const override;
  bool append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                    Route& route) const override;
  uint64_t ways() const override { return form_.inside->ways() * form_.outside->ways(); }
  uint64_t placed(VertexId first, VertexId device) const override;
  bool joins_all() const override;
  bool is_network(LinkId id) const override { return id.index() >= outside_links_; }

 private:
  bool has_nic_vertices() const { return per_nic_ > 1; }
  /// Where a vertex is: in a node, or outside.
  struct Place {
    bool is_outside = false;
    uint32_t node = 0;
    VertexId vertex;  // of the topology inside, or of that outside
  };
  Place place(VertexId id) const;
  VertexId inside_vertex(uint32_t node, VertexId vertex) const;
  VertexId outside_vertex(VertexId vertex) const;
  uint32_t end_of(uint32_t node, uint32_t nic) const;  // the device outside
  Nic nic_of_end(uint32_t end) const;
  bool append_inside(uint32_t node, VertexId from, VertexId to, std::optional<uint64_t> number,
                     Route& route) const;
  bool append_outside(VertexId from, VertexId to, std::optional<uint64_t> number,
                      Route& route) const;

  NodesForm form_;
  uint32_t per_node_;
  uint32_t per_nic_;
  uint32_t nic_links_ = 0;      // the first link between a device and a NIC
  uint32_t outside_links_ = 0;  // the first link outside
};

}  // namespace orrery
