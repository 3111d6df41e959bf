#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/hash.h"
#include "models/fabric/topology.h"

namespace orrery {

Nodes::Nodes(NodesForm form) : form_(std::move(form)), per_node_(form_.inside->devices()) {
  ORRERY_CHECK(form_.nodes > 0 && form_.nics > 0 && per_node_ % form_.nics == 0,
               "the devices of a node share its NICs evenly");
  ORRERY_CHECK(form_.outside->devices() == form_.nodes * form_.nics,
               "the NICs are the devices of the topology outside");
  ORRERY_CHECK(!form_.inside->is_searched() && !form_.outside->is_searched(),
               "the topologies of nodes have rules");
  per_nic_ = per_node_ / form_.nics;
  nic_links_ = form_.nodes * form_.inside->links();
  outside_links_ = nic_links_ + (has_nic_vertices() ? 2 * devices() : 0);
}

uint32_t Nodes::switches() const {
  return form_.nodes * (form_.inside->switches() + (has_nic_vertices() ? form_.nics : 0)) +
         form_.outside->switches();
}

uint32_t Nodes::end_of(uint32_t node, uint32_t nic) const {
  return form_.rails ? nic * form_.nodes + node : node * form_.nics + nic;
}

Nodes::Nic Nodes::nic_of_end(uint32_t end) const {
  return form_.rails ? Nic{end % form_.nodes, end / form_.nodes}
                     : Nic{end / form_.nics, end % form_.nics};
}

std::optional<Nodes::Nic> Nodes::nic_at(VertexId vertex) const {
  if (vertex.index() < devices())
    return has_nic_vertices() ? std::nullopt
                              : std::optional(Nic{node_of(vertex.index()), nic_of(vertex.index())});
  const Place at = place(vertex);
  return at.is_outside && at.vertex.index() < form_.outside->devices()
             ? std::optional(nic_of_end(at.vertex.index()))
             : std::nullopt;
}

Nodes::Place Nodes::place(VertexId id) const {
  if (id.index() < devices())
    return {false, node_of(id.index()), VertexId(id.index() % per_node_)};
  uint32_t number = id.index() - devices();
  const uint32_t inside = form_.inside->switches();
  if (number < form_.nodes * inside)
    return {false, number / inside, VertexId(per_node_ + number % inside)};
  number -= form_.nodes * inside;
  const uint32_t nics = has_nic_vertices() ? form_.nodes * form_.nics : 0;
  if (number < nics)
    return {true, number / form_.nics, VertexId(end_of(number / form_.nics, number % form_.nics))};
  return {true, 0, VertexId(form_.outside->devices() + number - nics)};
}

VertexId Nodes::inside_vertex(uint32_t node, VertexId vertex) const {
  if (vertex.index() < per_node_)
    return VertexId(node * per_node_ + vertex.index());
  return VertexId(devices() + node * form_.inside->switches() + vertex.index() - per_node_);
}

VertexId Nodes::outside_vertex(VertexId vertex) const {
  const uint32_t first = devices() + form_.nodes * form_.inside->switches();
  const uint32_t nics = has_nic_vertices() ? form_.nodes * form_.nics : 0;
  if (vertex.index() >= form_.outside->devices())
    return VertexId(first + nics + vertex.index() - form_.outside->devices());
  const auto [node, nic] = nic_of_end(vertex.index());
  return VertexId(has_nic_vertices() ? first + node * form_.nics + nic : node * per_node_ + nic);
}

Link Nodes::link(LinkId id) const {
  if (id.index() < nic_links_) {
    const uint32_t each = form_.inside->links();
    const uint32_t node = id.index() / each;
    Link link = form_.inside->link(LinkId(id.index() % each));
    link.from = inside_vertex(node, link.from);
    link.to = inside_vertex(node, link.to);
    return link;
  }
  if (id.index() < outside_links_) {
    const uint32_t device = (id.index() - nic_links_) / 2;
    const VertexId nic = outside_vertex(VertexId(end_of(node_of(device), nic_of(device))));
    const bool up = (id.index() - nic_links_) % 2 == 0;
    return {up ? VertexId(device) : nic, up ? nic : VertexId(device), form_.nic.bandwidth,
            form_.nic.latency};
  }
  Link link = form_.outside->link(LinkId(id.index() - outside_links_));
  link.from = outside_vertex(link.from);
  link.to = outside_vertex(link.to);
  return link;
}

LinkFigures Nodes::figures(LinkId id) const {
  if (id.index() < nic_links_)
    return form_.inside->figures(LinkId(id.index() % form_.inside->links()));
  if (id.index() < outside_links_)
    return form_.nic;
  return form_.outside->figures(LinkId(id.index() - outside_links_));
}

std::string Nodes::switch_name(uint32_t index) const {
  const Place at = place(VertexId(devices() + index));
  if (!at.is_outside)
    return fmt::format("node {} {}", at.node,
                       form_.inside->switch_name(at.vertex.index() - per_node_));
  const uint32_t ends = form_.outside->devices();
  if (at.vertex.index() < ends)
    return fmt::format("node {} nic {}", at.node, nic_of_end(at.vertex.index()).index);
  const uint32_t number = at.vertex.index() - ends;
  const auto* const tree = dynamic_cast<const Tree*>(form_.outside.get());
  if (!form_.rails || tree == nullptr)
    return form_.outside->switch_name(number);
  const bool leaf = number < tree->vertices_of(1);
  const uint32_t place = leaf ? number : number - tree->vertices_of(1);
  if (!leaf && tree->is_spread())
    return tree->trees() == 1 ? "spines" : fmt::format("rail {} spines", place);
  if (!leaf && tree->trees() == 1)
    return fmt::format("spine {}", place);
  const uint32_t of_rail = tree->vertices_of(leaf ? 1 : 2) / form_.nics;
  return fmt::format("rail {} {} {}", place / of_rail, leaf ? "leaf" : "spine", place % of_rail);
}

void Nodes::for_each_link_from(VertexId from, FunctionRef<void(LinkId)> visit) const {
  const Place at = place(from);
  const auto outside = [&](VertexId vertex) {
    form_.outside->for_each_link_from(
        vertex, [&](LinkId link) { visit(LinkId(outside_links_ + link.index())); });
  };
  if (at.is_outside) {
    if (at.vertex.index() < form_.outside->devices()) {
      const uint32_t first = at.node * per_node_ + nic_of_end(at.vertex.index()).index * per_nic_;
      for (uint32_t device = first; device < first + per_nic_; ++device)
        visit(LinkId(nic_links_ + 2 * device + 1));
    }
    return outside(at.vertex);
  }
  form_.inside->for_each_link_from(at.vertex, [&](LinkId link) {
    visit(LinkId(at.node * form_.inside->links() + link.index()));
  });
  if (at.vertex.index() >= per_node_)
    return;
  if (has_nic_vertices())
    visit(LinkId(nic_links_ + 2 * from.index()));
  else
    outside(VertexId(end_of(at.node, at.vertex.index())));
}

bool Nodes::append_inside(uint32_t node, VertexId from, VertexId to, std::optional<uint64_t> number,
                          Route& route) const {
  const size_t before = route.size();
  if (!form_.inside->append_route(from, to, number, route))
    return false;
  for (size_t l = before; l < route.size(); ++l)
    route[l] = LinkId(node * form_.inside->links() + route[l].index());
  return true;
}

bool Nodes::append_outside(VertexId from, VertexId to, std::optional<uint64_t> number,
                           Route& route) const {
  const size_t before = route.size();
  if (!form_.outside->append_route(from, to, number, route))
    return false;
  for (size_t l = before; l < route.size(); ++l)
    route[l] = LinkId(outside_links_ + route[l].index());
  return true;
}

bool Nodes::append_route(VertexId from, VertexId to, std::optional<uint64_t> number,
                         Route& route) const {
  const Place source = place(from);
  const Place target = place(to);
  if (!source.is_outside && !target.is_outside && source.node == target.node)
    return append_inside(source.node, source.vertex, target.vertex, number, route);
  const auto is_device = [&](VertexId id) { return id.index() < devices(); };
  if ((!source.is_outside && !is_device(from)) || (!target.is_outside && !is_device(to)))
    return false;  // a switch of a node, and something outside of it
  const size_t before = route.size();
  uint32_t sender = from.index();  // the device whose NIC sends
  if (form_.over_nodes && is_device(from) && is_device(to) &&
      nic_of(sender) != nic_of(to.index())) {
    sender = source.node * per_node_ + target.vertex.index();
    if (!append_inside(source.node, source.vertex, target.vertex, number, route))
      return false;
  }
  if (is_device(from) && has_nic_vertices())
    route.push_back(LinkId(nic_links_ + 2 * sender));
  const VertexId leaves =
      is_device(from) ? VertexId(end_of(source.node, nic_of(sender))) : source.vertex;
  const VertexId arrives =
      is_device(to) ? VertexId(end_of(target.node, nic_of(to.index()))) : target.vertex;
  if (!append_outside(leaves, arrives, number, route)) {
    route.resize(before);
    return false;
  }
  if (is_device(to) && has_nic_vertices())
    route.push_back(LinkId(nic_links_ + 2 * to.index() + 1));
  return true;
}

uint64_t Nodes::placed(VertexId first, VertexId device) const {
  const auto end = [&](VertexId of) {
    return VertexId(end_of(node_of(of.index()), nic_of(of.index())));
  };
  const auto inside = [&](VertexId of) { return VertexId(of.index() % per_node_); };
  uint64_t placed = form_.inside->placed(inside(first), inside(device));
  placed = mix(placed + nic_of(device.index()) - nic_of(first.index()));
  placed = mix(placed + node_of(device.index()) - node_of(first.index()));
  return mix(placed + form_.outside->placed(end(first), end(device)));
}

bool Nodes::joins_all() const {
  const auto* const tree = dynamic_cast<const Tree*>(form_.outside.get());
  const bool rails_meet_inside =
      form_.over_nodes && form_.rails && tree != nullptr && tree->trees() == form_.nics;
  return form_.inside->joins_all() && (form_.outside->joins_all() || rails_meet_inside);
}

}  // namespace orrery
