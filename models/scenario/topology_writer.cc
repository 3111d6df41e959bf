#include <fmt/format.h>

#include "models/scenario/quantity_text.h"
#include "models/scenario/topology_json.h"

namespace orrery {
namespace {

using Members = std::vector<std::pair<std::string, JsonText>>;
using FigureText = FunctionRef<JsonText(const std::string& called, const std::string& value)>;

JsonText number(uint64_t value) {
  return JsonText::raw(fmt::format("{}", value));
}

class TopologyWriter {
 public:
  explicit TopologyWriter(FigureText figure) : figure_(figure) {}

  /// Returns the members of the object that states the topology.
  Members members(const Topology& topology, const std::string& called) const {
    if (const auto* torus = dynamic_cast<const Torus*>(&topology))
      return torus_members(*torus, called);
    if (const auto* all = dynamic_cast<const FullMesh*>(&topology)) {
      Members members = {{"fully_connected", number(all->devices())}};
      add_figures(members, all->figures(), called);
      return members;
    }
    if (const auto* tree = dynamic_cast<const Tree*>(&topology))
      return tree_members(*tree, called);
    return nodes_members(dynamic_cast<const Nodes&>(topology), called);
  }

 private:
  void add_figures(Members& members, const LinkFigures& figures, const std::string& called) const {
    members.emplace_back("bandwidth",
                         figure_(called + "/bandwidth", quantity_text(figures.bandwidth)));
    members.emplace_back("latency", figure_(called + "/latency", quantity_text(figures.latency)));
  }

  Members torus_members(const Torus& torus, const std::string& called) const {
    const std::vector<TorusDimension>& dimensions = torus.dimensions();
    const std::string kind(topology_name(torus));
    if (dimensions.size() == 1) {
      Members members = {{kind, number(dimensions[0].size)}};
      add_figures(members, dimensions[0].figures, called);
      return members;
    }
    std::vector<JsonText> sizes;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      Members members = {{"size", number(dimensions[d].size)}};
      if (dimensions[d].wraps != (kind == "torus"))
        members.emplace_back("wrap", JsonText::raw(dimensions[d].wraps ? "true" : "false"));
      add_figures(members, dimensions[d].figures, fmt::format("{}/{}", called, d));
      sizes.push_back(JsonText::object(std::move(members)));
    }
    return {{kind, JsonText::list(std::move(sizes))}};
  }

  JsonText level_text(const TreeLevel& level, const std::string& called) const {
    Members members;
    if (level.parallel > 1)
      members.emplace_back("links", number(level.parallel));
    add_figures(members, level.figures, called);
    return JsonText::object(std::move(members));
  }

  Members tree_members(const Tree& tree, const std::string& called) const {
    const std::vector<TreeLevel>& levels = tree.given_levels();
    if (levels.size() == 1) {
      Members members = {{"switch", number(levels[0].below)}};
      add_figures(members, levels[0].figures, called);
      return members;
    }
    Members members = {{"leaves", number(levels[1].below)},
                       {"hosts", number(levels[0].below)},
                       {"spines", number(levels[1].above)}};
    if (levels.size() == 3) {
      members.emplace_back("pods", number(levels[2].below));
      members.emplace_back("cores", number(uint64_t{levels[1].above} * levels[2].above));
    }
    members.emplace_back("host", level_text(levels[0], called + "/host"));
    members.emplace_back("up", level_text(levels[1], called + "/up"));
    if (levels.size() == 3)
      members.emplace_back("core", level_text(levels[2], called + "/core"));
    return {{"fat_tree", JsonText::object(std::move(members))}};
  }

  Members rail_members(const NodesForm& form, const Tree& tree, const std::string& called) const {
    const std::vector<TreeLevel>& levels = tree.given_levels();
    Members members = {{"leaves_per_rail", number(form.nodes / levels[0].below)}};
    if (levels.size() > 1) {
      members.emplace_back("spines", number(levels[1].above));
      members.emplace_back("rails_meet", JsonText::text(tree.trees() == 1 ? "spines" : "nodes"));
    }
    members.emplace_back("pxn", JsonText::raw(form.over_nodes ? "true" : "false"));
    members.emplace_back("host", level_text(levels[0], called + "/host"));
    if (levels.size() > 1)
      members.emplace_back("up", level_text(levels[1], called + "/up"));
    return {{"rail", JsonText::object(std::move(members))}};
  }

  Members nodes_members(const Nodes& nodes, const std::string& called) const {
    const NodesForm& form = nodes.form();
    Members members = {
        {"nodes", number(form.nodes)},
        {"inside", JsonText::object(this->members(*form.inside, called + "/inside"))},
        {"nics", number(form.nics)}};
    const auto* const tree = dynamic_cast<const Tree*>(form.outside.get());
    members.emplace_back("outside",
                         JsonText::object(form.rails && tree != nullptr
                                              ? rail_members(form, *tree, called + "/outside")
                                              : this->members(*form.outside, called + "/outside")));
    if (form.nics < nodes.per_node()) {
      Members nic;
      add_figures(nic, form.nic, called + "/nic");
      members.emplace_back("nic", JsonText::object(std::move(nic)));
    }
    return members;
  }

  FigureText figure_;
};

/// Returns whether messages are spread over the equal ways of the topology.
bool is_spread(const Topology& topology) {
  if (const auto* tree = dynamic_cast<const Tree*>(&topology))
    return tree->is_spread();
  const auto* nodes = dynamic_cast<const Nodes*>(&topology);
  return nodes != nullptr && is_spread(*nodes->form().outside);
}

}  // namespace

std::string_view topology_name(const Topology& topology) {
  if (const auto* torus = dynamic_cast<const Torus*>(&topology)) {
    bool wraps = false;
    for (const TorusDimension& dimension : torus->dimensions())
      wraps |= dimension.wraps;
    if (torus->dimensions().size() == 1)
      return wraps ? "ring" : "line";
    return wraps ? "torus" : "mesh";
  }
  if (dynamic_cast<const FullMesh*>(&topology) != nullptr)
    return "fully_connected";
  if (const auto* tree = dynamic_cast<const Tree*>(&topology))
    return tree->levels().size() == 1 ? "switch" : "fat_tree";
  return dynamic_cast<const Nodes*>(&topology) != nullptr ? "nodes" : "links";
}

bool has_word(const Topology& topology) {
  const std::string_view name = topology_name(topology);
  return name == "ring" || name == "line" || name == "fully_connected" || name == "switch";
}

std::vector<VertexId> switches_inside(const Fabric& fabric) {
  std::vector<VertexId> switches;
  if (const auto* nodes = dynamic_cast<const Nodes*>(&fabric.topology())) {
    const uint32_t inside = nodes->form().nodes * nodes->form().inside->switches();
    for (uint32_t s = 0; s < inside; ++s)
      switches.emplace_back(fabric.devices() + s);
  }
  return switches;
}

JsonText topology_text(const Fabric& fabric, FigureText figure) {
  Members members = TopologyWriter(figure).members(fabric.topology(), "topology");
  if (is_spread(fabric.topology()))
    members.emplace_back("ways", JsonText::text("spread"));
  if (fabric.ways().hashed) {
    members.emplace_back("ways", JsonText::text("hashed"));
    members.emplace_back("seed", number(fabric.ways().seed));
  }
  return JsonText::object(std::move(members));
}

}  // namespace orrery
