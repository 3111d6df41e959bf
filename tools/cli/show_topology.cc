// orrery show topology prints how a cluster is wired: levels, counts, figures with their sources,
// diameter, bisection and oversubscription; or the cluster with a list of its links.

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/compiler.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/topology_json.h"
#include "tools/cli/commands.h"
#include "tools/report/figures.h"

namespace orrery {
namespace {

using Align = Table::Align;

/// Links that have the same figures.
struct Level {
  std::string name;    // "outside/up"
  std::string called;  // what the sources of its figures begin with: "topology/outside/up"
  std::string joins;   // "leaves and spines"
  uint64_t links = 0;
  LinkFigures figures;
};

/// The rate that crosses from one half of the devices to the other, in each direction.
struct Bisection {
  UInt128 rate = 0;  // B/s
  std::string between;
};

UInt128 greatest_divisor(UInt128 a, UInt128 b) {
  while (b != 0)
    a = std::exchange(b, a % b);
  return a;
}

std::string joined(const std::string& prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
}

std::vector<Level> levels_of(const Torus& torus, const std::string& prefix) {
  std::vector<Level> levels;
  const std::vector<TorusDimension>& dimensions = torus.dimensions();
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const TorusDimension& dimension = dimensions[d];
    const uint64_t links = torus.devices() / dimension.size * dimension.links_in_line();
    if (links > 0)
      levels.push_back(
          {joined(prefix, fmt::format("axis {}", d)),
           dimensions.size() == 1 ? prefix : joined(prefix, fmt::format("{}", d)),
           fmt::format("devices in {} of {}", dimension.wraps ? "rings" : "lines", dimension.size),
           links, dimension.figures});
  }
  return levels;
}

constexpr std::array<std::string_view, 3> kSwitches = {"leaves", "spines", "cores"};

/// `ends` are what the tree joins: devices, or NICs.
std::vector<Level> levels_of(const Tree& tree, const std::string& prefix, std::string_view ends,
                             bool has_names) {
  constexpr std::array<std::string_view, 3> kNames = {"host", "up", "core"};
  std::vector<Level> levels;
  for (size_t l = 0; l < tree.levels().size(); ++l) {
    const TreeLevel& level = tree.levels()[l];
    const std::string name = has_names ? joined(prefix, kNames[l]) : prefix;
    levels.push_back({name.empty() ? "all" : name, name,
                      fmt::format("{} and {}", l == 0 ? ends : kSwitches[l - 1],
                                  has_names ? kSwitches[l] : "the switch"),
                      uint64_t{2} * tree.vertices_of(l) * level.above * level.parallel,
                      level.figures});
  }
  return levels;
}

std::vector<Level> levels_of(const Topology& topology, const std::string& prefix,
                             std::string_view ends = "devices") {
  if (const auto* torus = dynamic_cast<const Torus*>(&topology))
    return levels_of(*torus, prefix);
  if (const auto* tree = dynamic_cast<const Tree*>(&topology))
    return levels_of(*tree, prefix, ends, tree->levels().size() > 1);
  if (const auto* all = dynamic_cast<const FullMesh*>(&topology))
    return {{prefix.empty() ? "all" : prefix, prefix, "each two devices", all->links(),
             all->figures()}};
  const NodesForm& form = dynamic_cast<const Nodes&>(topology).form();
  std::vector<Level> levels = levels_of(*form.inside, joined(prefix, "inside"));
  for (Level& level : levels)
    level.links *= form.nodes;
  const bool shares = form.nics < form.inside->devices();
  if (shares)
    levels.push_back({joined(prefix, "nic"), joined(prefix, "nic"), "devices and NICs",
                      uint64_t{2} * topology.devices(), form.nic});
  const std::string outside = joined(prefix, "outside");
  const std::string_view plugged = shares ? "NICs" : "devices";
  const auto* const rails = dynamic_cast<const Tree*>(form.outside.get());
  std::vector<Level> beyond = form.rails && rails != nullptr
                                  ? levels_of(*rails, outside, plugged, true)
                                  : levels_of(*form.outside, outside, plugged);
  levels.insert(levels.end(), std::make_move_iterator(beyond.begin()),
                std::make_move_iterator(beyond.end()));
  return levels;
}

/// Returns the links of a list by their ends and figures.
std::vector<Level> listed_levels(const Fabric& fabric) {
  using Key = std::tuple<bool, bool, int64_t, int64_t>;  // whether the ends are devices; figures
  std::map<Key, uint64_t, std::greater<>> links;
  for (uint32_t l = 0; l < fabric.count_links(); ++l) {
    const Link link = fabric.link(LinkId(l));
    ++links[{fabric.is_device(link.from), fabric.is_device(link.to), link.bandwidth.count(),
             link.latency.count()}];
  }
  std::vector<Level> levels;
  for (const auto& [key, count] : links) {
    const auto& [from, to, bandwidth, latency] = key;
    levels.push_back(
        {"listed",
         "",
         fmt::format("{} to {}", from ? "devices" : "switches", to ? "devices" : "switches"),
         count,
         {BytesPerSecond(bandwidth), Duration(latency)}});
  }
  return levels;
}

constexpr uint32_t kMostDevicesOfNode = 512;

uint32_t diameter_of_nodes(const Nodes& nodes) {
  // All nodes are alike, and the last one is as far away as any.
  uint32_t most = 0;
  const uint32_t last = nodes.devices() - nodes.per_node();
  for (uint32_t from = 0; from < nodes.per_node(); ++from)
    for (const uint32_t first : {0U, last})
      for (uint32_t to = first; to < first + nodes.per_node(); ++to) {
        Route route;
        nodes.append_route(VertexId(from), VertexId(to), std::nullopt, route);
        most = std::max(most, static_cast<uint32_t>(route.size()));
      }
  return most;
}

std::optional<uint32_t> searched_diameter(const Topology& topology) {
  constexpr uint64_t kMostLooks = 100'000'000;
  if (uint64_t{topology.devices()} * (topology.links() + 1) > kMostLooks)
    return std::nullopt;
  const uint32_t vertices = topology.devices() + topology.switches();
  uint32_t most = 0;
  for (uint32_t from = 0; from < topology.devices(); ++from) {
    std::vector<uint32_t> distances(vertices, std::numeric_limits<uint32_t>::max());
    std::vector<VertexId> met = {VertexId(from)};
    distances[from] = 0;
    for (size_t next = 0; next < met.size(); ++next) {
      const uint32_t at = met[next].index();
      if (at < topology.devices())
        most = std::max(most, distances[at]);
      topology.for_each_link_from(VertexId(at), [&](LinkId link) {
        const VertexId to = topology.link(link).to;
        if (distances[to.index()] != std::numeric_limits<uint32_t>::max())
          return;
        distances[to.index()] = distances[at] + 1;
        met.push_back(to);
      });
    }
  }
  return most;
}

/// Returns the most links of a route between two devices: by rule, or of the routes with the fewest
/// links in a list. The result is empty where too many routes would have to be looked at.
std::optional<uint32_t> diameter(const Topology& topology) {
  if (const auto* torus = dynamic_cast<const Torus*>(&topology)) {
    uint32_t most = 0;
    for (const TorusDimension& dimension : torus->dimensions())
      most += dimension.wraps ? dimension.size / 2 : dimension.size - 1;
    return most;
  }
  if (dynamic_cast<const FullMesh*>(&topology) != nullptr)
    return topology.devices() > 1 ? 1 : 0;
  if (const auto* tree = dynamic_cast<const Tree*>(&topology)) {
    uint32_t most = 0;
    for (uint32_t l = 0; l < tree->levels().size(); ++l)
      if (tree->levels()[l].below > 1)
        most = 2 * (l + 1);
    return most;
  }
  if (const auto* nodes = dynamic_cast<const Nodes*>(&topology))
    return nodes->per_node() > kMostDevicesOfNode ? std::nullopt
                                                  : std::optional(diameter_of_nodes(*nodes));
  return searched_diameter(topology);
}

/// Returns what a level's links up carry for the smaller half of `parts` equal parts of a tree.
UInt128 half_rate(const Tree& tree, size_t level, uint32_t parts) {
  const TreeLevel& up = tree.levels()[level];
  const UInt128 all = UInt128{tree.vertices_of(level)} * up.above * up.parallel *
                      static_cast<UInt128>(up.figures.bandwidth.count());
  return all * (parts / 2) / parts;
}

/// Returns what crosses between halves of the parts: that of the least level. No message goes above
/// the level that joins `joined` devices.
UInt128 crossing(const Tree& tree, uint32_t parts, uint32_t joined) {
  UInt128 least = half_rate(tree, 0, parts);
  uint64_t below = tree.levels()[0].below;
  for (size_t l = 1; l < tree.levels().size() && below < joined; ++l) {
    least = std::min(least, half_rate(tree, l, parts));
    below *= tree.levels()[l].below;
  }
  return least;
}

Bisection bisection(const Torus& torus) {
  Bisection least;
  for (size_t d = 0; d < torus.dimensions().size(); ++d) {
    const TorusDimension& dimension = torus.dimensions()[d];
    const UInt128 rate = UInt128{torus.devices() / dimension.size} *
                         (dimension.wraps && dimension.size > 2 ? 2 : 1) *
                         static_cast<UInt128>(dimension.figures.bandwidth.count());
    if (dimension.size > 1 && (least.rate == 0 || rate < least.rate))
      least = {rate, fmt::format("across axis {}", d)};
  }
  return least;
}

Bisection bisection(const Nodes& nodes) {
  const NodesForm& form = nodes.form();
  const auto& tree = dynamic_cast<const Tree&>(*form.outside);
  // Messages between nodes stay on their rail.
  UInt128 least = crossing(tree, form.nodes, form.rails ? form.nodes : tree.devices());
  if (form.nics < nodes.per_node())
    least = std::min(least, UInt128{form.nodes / 2} * nodes.per_node() *
                                static_cast<UInt128>(form.nic.bandwidth.count()));
  return {least, "between halves of the nodes"};
}

/// Returns what the links of a list carry from the first half of the devices to the others. The
/// result is empty for a large list.
std::optional<Bisection> listed_bisection(const Topology& topology) {
  constexpr uint32_t kMostLinks = 4096;  // 64 bits hold the sum of their rates
  if (topology.links() > kMostLinks)
    return std::nullopt;
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Reverse = boost::property<boost::edge_reverse_t, Traits::edge_descriptor>;
  using Residual = boost::property<boost::edge_residual_capacity_t, int64_t, Reverse>;
  using Capacity = boost::property<boost::edge_capacity_t, int64_t, Residual>;
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS,
                                      boost::no_property, Capacity>;
  const uint32_t source = topology.devices() + topology.switches();
  const uint32_t sink = source + 1;
  Graph graph(sink + 1);
  const auto add = [&](uint32_t from, uint32_t to, int64_t rate) {
    const auto on = boost::add_edge(from, to, graph).first;
    const auto back = boost::add_edge(to, from, graph).first;
    boost::put(boost::edge_capacity, graph, on, rate);
    boost::put(boost::edge_capacity, graph, back, 0);
    boost::put(boost::edge_reverse, graph, on, back);
    boost::put(boost::edge_reverse, graph, back, on);
  };
  int64_t all = 0;
  for (uint32_t l = 0; l < topology.links(); ++l) {
    const Link link = topology.link(LinkId(l));
    add(link.from.index(), link.to.index(), link.bandwidth.count());
    all += link.bandwidth.count();
  }
  const uint32_t half = topology.devices() / 2;
  for (uint32_t device = 0; device < topology.devices(); ++device)
    add(device < half ? source : device, device < half ? device : sink, all);
  const int64_t flow = half == 0 ? 0 : boost::push_relabel_max_flow(graph, source, sink);
  return Bisection{static_cast<UInt128>(flow), "from the first half of the devices to the others"};
}

std::optional<Bisection> bisection(const Topology& topology) {
  if (const auto* torus = dynamic_cast<const Torus*>(&topology))
    return bisection(*torus);
  if (const auto* all = dynamic_cast<const FullMesh*>(&topology)) {
    const uint32_t half = all->devices() / 2;
    return Bisection{UInt128{half} * (all->devices() - half) *
                         static_cast<UInt128>(all->figures().bandwidth.count()),
                     "between halves of the devices"};
  }
  if (const auto* tree = dynamic_cast<const Tree*>(&topology))
    return Bisection{crossing(*tree, tree->devices(), tree->devices() / tree->trees()),
                     "between halves of the devices"};
  if (const auto* nodes = dynamic_cast<const Nodes*>(&topology))
    return nodes->form().nodes == 1 ? bisection(*nodes->form().inside) : bisection(*nodes);
  return listed_bisection(topology);
}

/// Returns "2:1 at the leaves" for each level of switches below others.
std::string oversubscription_text(const Topology& topology) {
  if (const auto* nodes = dynamic_cast<const Nodes*>(&topology))
    return oversubscription_text(*nodes->form().outside);
  const auto* const tree = dynamic_cast<const Tree*>(&topology);
  std::string text;
  for (size_t l = 0; tree != nullptr && l + 1 < tree->levels().size(); ++l) {
    const TreeLevel& below = tree->levels()[l];
    const TreeLevel& above = tree->levels()[l + 1];
    const auto rate_of = [](uint32_t vertices, const TreeLevel& level) {
      return UInt128{vertices} * level.parallel *
             static_cast<UInt128>(level.figures.bandwidth.count());
    };
    UInt128 down = rate_of(below.below, below);
    UInt128 up = rate_of(above.above, above);
    const UInt128 most = greatest_divisor(down, up);
    down /= most;
    up /= most;
    text += fmt::format("{}{}:{} at the {}", text.empty() ? "" : ", ",
                        grouped(static_cast<uint64_t>(down)), grouped(static_cast<uint64_t>(up)),
                        kSwitches[l]);
  }
  return text;
}

bool is_spread(const Topology& topology) {
  if (const auto* nodes = dynamic_cast<const Nodes*>(&topology))
    return is_spread(*nodes->form().outside);
  const auto* const tree = dynamic_cast<const Tree*>(&topology);
  return tree != nullptr && tree->is_spread();
}

std::string ways_text(const Fabric& fabric) {
  if (fabric.ways().hashed)
    return fmt::format("hashed, seed {}", fabric.ways().seed);
  return is_spread(fabric.topology()) ? "spread, so that equal links are one" : "static";
}

std::string rate_text(UInt128 rate) {
  const auto most = static_cast<UInt128>(std::numeric_limits<int64_t>::max());
  return rate > most ? fmt::format("{:.4g} TB/s", static_cast<double>(rate) / 1e12)
                     : quantity_text(BytesPerSecond(static_cast<int64_t>(rate)));
}

/// Returns "bandwidth: data sheet (SOURCE, DATE)" for each figure of the level that tells it.
std::vector<std::string> source_texts(const Cluster& cluster, const Level& level) {
  std::vector<std::string> texts;
  for (const char* const figure : {"bandwidth", "latency"}) {
    const std::string by_rule = joined(joined("topology", level.called), figure);
    for (const FigureSource& source : cluster.sources)
      if (source.figure == by_rule || source.figure == figure)
        texts.push_back(
            fmt::format("{}: {} ({}, {})", figure, source.label, source.source, source.date));
  }
  return texts;
}

std::string topology_report(const Cluster& cluster, const Style& style) {
  const Fabric& fabric = cluster.fabric;
  const Topology& topology = fabric.topology();
  Table facts({Align::Left, Align::Left});
  facts.row({"topology", std::string(topology_name(topology))});
  std::string devices = grouped(fabric.devices());
  if (const auto* nodes = dynamic_cast<const Nodes*>(&topology))
    devices += fmt::format(", {} of {}", counted(nodes->form().nodes, "node"), nodes->per_node());
  facts.row({"devices", devices});
  facts.row({"switches", grouped(fabric.switches())});
  facts.row({"links", fmt::format("{}, each in one direction", grouped(fabric.count_links()))});
  const std::optional<uint32_t> links = diameter(topology);
  facts.row(
      {"diameter", links ? counted(*links, "link") : "not looked for: there are too many routes"});
  const std::optional<Bisection> cut = bisection(topology);
  if (!cut)
    facts.row({"bisection", "not looked for: there are too many links"});
  else if (cut->rate > 0)
    facts.row({"bisection", fmt::format("{} each way, {}", rate_text(cut->rate), cut->between)});
  if (const std::string over = oversubscription_text(topology); !over.empty())
    facts.row({"oversubscription", over});
  facts.row({"equal ways", ways_text(fabric)});
  if (const size_t reducing = fabric.reducing_switches().size(); reducing > 0)
    facts.row({"reducing", fmt::format("{} of the switches", grouped(reducing))});
  Table table({Align::Left, Align::Left, Align::Right, Align::Right, Align::Right});
  table.row({"level", "between", "links", "bandwidth", "latency"});
  for (const Level& level :
       topology.is_searched() ? listed_levels(fabric) : levels_of(topology, "")) {
    table.row({level.name, level.joins, grouped(level.links),
               quantity_text(level.figures.bandwidth), time_text(level.figures.latency, true)});
    for (const std::string& source : source_texts(cluster, level))
      table.note(style.dim("  " + source));
  }
  return style.bold(cluster.name) + "\n\n" + facts.text(style, 0) + "\n" + table.text(style, 0);
}

/// Returns the same cluster, whose links are a list.
Cluster with_listed_links(const Cluster& cluster) {
  const Fabric& fabric = cluster.fabric;
  Cluster listed = cluster;
  listed.fabric =
      Fabric(fabric.devices(), fabric.switch_names(), fabric.links(), fabric.ways())
          .with_reduction({fabric.reducing_switches().begin(), fabric.reducing_switches().end()});
  std::erase_if(listed.sources, [](const FigureSource& source) {  // each link states its figures
    return source.figure.starts_with("topology/") || source.figure == "bandwidth" ||
           source.figure == "latency";
  });
  return listed;
}

}  // namespace

std::string show_topology(const ShowCommand& command, const Style& style) {
  const Cluster cluster = cluster_given("CLUSTER", command.file, command.limits);
  if (command.format == Format::Json)
    return cluster_text(with_listed_links(cluster)).lines();
  return with_units(topology_report(cluster, style), style);
}

}  // namespace orrery
