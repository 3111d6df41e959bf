// Clusters by name: entries of the catalog, slices of its TPUs, and many nodes of an entry.

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/fields.h"
#include "models/scenario/figure_reader.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/topology_json.h"

namespace orrery {
namespace {

/// Returns the catalog's description of that name. The result is empty if there is none.
std::optional<ClusterDescription> entry_named(std::string_view name) {
  for (const CatalogFile& entry : catalog()) {
    if (entry.name != name)
      continue;
    Diagnostics diagnostics{std::string(name)};
    const Document document(entry.json, diagnostics);
    const std::optional<DocumentNode> root = document.root();
    ORRERY_CHECK(root && root->kind() == DocumentNode::Kind::Object,
                 "a catalog entry is an object");
    std::optional<ClusterDescription> read = read_description(*root, Limits{}, diagnostics);
    ORRERY_CHECK(read && diagnostics.empty(), "the catalog's entries are right");
    read->cluster.name = name;
    return read;
  }
  return std::nullopt;
}

/// The optical switches of a TPU pod join cubes of so many devices in each dimension.
constexpr uint32_t kCube = 4;

/// Reads "4x4x8". The result is empty if it is no such text, or a size is 0.
std::vector<uint32_t> sizes_of(std::string_view text) {
  std::vector<uint32_t> sizes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    uint32_t size = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, size);
    if (error != std::errc() || stop != text.data() + end || size == 0)
      return {};
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

/// Returns whether the sizes make a slice of the pod.
bool is_slice(Slices slices, const Torus& pod, const std::vector<uint32_t>& sizes) {
  if (sizes.size() != pod.dimensions().size())
    return false;
  if (slices == Slices::WholeAxes) {
    for (size_t d = 0; d < sizes.size(); ++d)
      if (sizes[d] > pod.dimensions()[d].size)
        return false;
    return true;
  }
  uint64_t devices = 1;
  for (const uint32_t size : sizes) {
    devices *= size;
    if (devices > pod.devices())
      return false;
  }
  return std::all_of(sizes.begin(), sizes.end(), [](uint32_t s) { return s <= kCube; }) ||
         std::all_of(sizes.begin(), sizes.end(), [](uint32_t s) { return s % kCube == 0; });
}

std::shared_ptr<const Topology> made_slice(Slices slices, const Torus& pod,
                                           const std::vector<uint32_t>& sizes) {
  const bool cubes =
      std::all_of(sizes.begin(), sizes.end(), [](uint32_t size) { return size % kCube == 0; });
  std::vector<TorusDimension> dimensions = pod.dimensions();
  for (size_t d = 0; d < sizes.size(); ++d) {
    dimensions[d].wraps = slices == Slices::Cubes ? cubes : sizes[d] == dimensions[d].size;
    dimensions[d].size = sizes[d];
  }
  return std::make_shared<const Torus>(std::move(dimensions));
}

/// Either a description was found, or it says what is wrong with the slice, or neither.
struct CatalogAnswer {
  std::optional<ClusterDescription> description;
  std::string error;
};

CatalogAnswer find_in_catalog(std::string_view name) {
  const size_t space = name.find(' ');
  CatalogAnswer found{entry_named(name.substr(0, space)), ""};
  if (!found.description || space == std::string_view::npos)
    return found;
  ClusterDescription& description = *found.description;
  const std::string_view shape = name.substr(space + 1);
  const auto* const pod = dynamic_cast<const Torus*>(&description.cluster.fabric.topology());
  if (description.slices == Slices::None || pod == nullptr) {
    found.error = fmt::format("expected {} alone, since it has no slices, got {} after it",
                              in_quotes(name.substr(0, space)), in_quotes(shape));
  } else if (const std::vector<uint32_t> sizes = sizes_of(shape);
             is_slice(description.slices, *pod, sizes)) {
    description.cluster.fabric = Fabric(made_slice(description.slices, *pod, sizes));
    description.cluster.name = name;
    return found;
  } else if (description.slices == Slices::Cubes) {
    found.error = fmt::format(
        "expected a slice of {} sizes, all multiples of {} or none above it, of at "
        "most {} devices, got {}",
        pod->dimensions().size(), kCube, pod->devices(), in_quotes(shape));
  } else {
    found.error =
        fmt::format("expected a slice of {} sizes from 1 to {}, got {}", pod->dimensions().size(),
                    pod->dimensions()[0].size, in_quotes(shape));
  }
  found.description.reset();
  return found;
}

/// Reads the name of an entry or a slice. `others` says what else could stand there: " or an
/// object".
std::optional<ClusterDescription> read_name(DocumentNode node, std::string_view others,
                                            Diagnostics& diagnostics) {
  CatalogAnswer found = find_in_catalog(node.text());
  if (found.description)
    return std::move(found.description);
  if (!found.error.empty()) {
    diagnostics.add(node.origin(), std::move(found.error));
    return std::nullopt;
  }
  std::vector<std::string_view> names;
  for (const CatalogFile& entry : catalog())
    names.push_back(entry.name);
  diagnostics.add(node.origin(),
                  fmt::format("expected a cluster of the catalog (one of \"{}\"){}, got {}{}",
                              fmt::join(names, "\", \""), others, in_quotes(node.text()),
                              did_you_mean(node.text(), names)));
  return std::nullopt;
}

/// The ports of the switches outside of nodes. If nothing is oversubscribed, half of a leaf's ports
/// lead down, and the others up. The DGX SuperPOD is so made of Quantum-2 switches of 64 x 400 Gb/s
/// (docs.nvidia.com/dgx-superpod, "Scalable units"). Its 2, 4 and 8 units of 32 nodes have 16, 32
/// and 64 leaves, and 8, 16 and 32 spines.
constexpr uint32_t kPorts = 64;

/// A Leaf is one of the equal switches that NICs are joined to.
struct Leaf {
  uint32_t hosts = 1;
  uint32_t links_up = 1;
  int64_t rate_up = 1;  // of each of them, in B/s
};

/// Returns the largest leaf with NICs of that rate, of which there is a whole number of leaves. Its
/// links up have the NICs' rate, or are as many as the NICs and slower. The result is empty if no
/// size gives a whole number of links and bytes per second.
std::optional<Leaf> leaf_of(uint32_t hosts, int64_t rate, uint32_t oversubscription) {
  for (uint32_t size = std::min(hosts, kPorts / 2); size > 0; --size) {
    if (hosts % size != 0)
      continue;
    if (size % oversubscription == 0)
      return Leaf{size, size / oversubscription, rate};
    if (rate % oversubscription == 0)
      return Leaf{size, size, rate / oversubscription};
  }
  return std::nullopt;
}

/// Returns how many links join a leaf and a spine: as many as the ports of the spine allow.
uint32_t links_to_spine(const Leaf& leaf, uint64_t leaves) {
  for (uint32_t links = leaf.links_up; links > 1; --links)
    if (leaf.links_up % links == 0 && leaves * links <= kPorts)
      return links;
  return 1;
}

/// Reads {"catalog": "h100-sxm-8", "nodes": 64, ...}.
class ManyNodesReader {
 public:
  ManyNodesReader(DocumentNode node, const Limits& limits, Diagnostics& diagnostics)
      : fields_(node, diagnostics), limits_(limits), diagnostics_(diagnostics) {}

  std::optional<Cluster> read() {
    const size_t before = diagnostics_.size();
    std::optional<std::string> name;
    if (const auto node = fields_.optional("name"))
      name = read_text(*node, "a name", diagnostics_);
    std::optional<ClusterDescription> entry;
    if (const auto node = fields_.required("catalog")) {
      if (node->kind() == DocumentNode::Kind::Text)
        entry = read_name(*node, "", diagnostics_);
      else
        expected(*node, "the name of a cluster in the catalog", diagnostics_);
    }
    const std::optional<uint32_t> nodes = read_nodes(entry);
    if (const auto node = fields_.optional("fabric"))
      is_rail_ = read_word(*node, {"rail", "fat_tree"}, diagnostics_) != "fat_tree";
    read_nic(entry);
    int64_t oversubscription = 1;
    const std::optional<DocumentNode> over = fields_.optional("oversubscription");
    if (over)
      oversubscription = read_integer(*over, "an oversubscription such as 2, for 2:1,",
                                      {1, std::numeric_limits<uint32_t>::max()}, diagnostics_)
                             .value_or(1);
    std::optional<DocumentNode> spread;
    const Ways ways = read_ways(fields_, &spread, diagnostics_);
    fields_.finish();
    if (diagnostics_.size() != before)
      return std::nullopt;
    const std::optional<Leaf> leaf =
        leaf_of(is_rail_ ? *nodes : *nodes * entry->cluster.fabric.devices(), *nic_.bandwidth,
                static_cast<uint32_t>(oversubscription));
    if (!leaf) {
      diagnostics_.add(over->origin(),
                       fmt::format("expected an oversubscription that divides the NICs of a leaf "
                                   "(up to {}), or their rate of {}, got {}",
                                   kPorts / 2, quantity_text(BytesPerSecond(*nic_.bandwidth)),
                                   oversubscription));
      return std::nullopt;
    }
    if (spread && Int128{leaf->links_up} * leaf->rate_up > kMostBandwidth) {
      diagnostics_.add(spread->origin(),
                       fmt::format("the links that \"spread\" takes as one have more than {}",
                                   quantity_text(BytesPerSecond(kMostBandwidth))));
      return std::nullopt;
    }
    std::shared_ptr<const Topology> topology =
        made(entry->cluster, *nodes, *leaf, spread.has_value());
    if (topology->links() > limits_.links) {
      diagnostics_.add(fields_.object().origin(),
                       beyond(limits_, &Limits::links, topology->links()));
      return std::nullopt;
    }
    Cluster cluster = std::move(entry->cluster);
    const bool reduces = !cluster.fabric.reducing_switches().empty();
    cluster.fabric = Fabric(std::move(topology), ways);
    if (reduces)
      cluster.fabric = cluster.fabric.with_reduction(switches_inside(cluster.fabric));
    cluster.name = name.value_or(fmt::format(
        "{} of {}, {}{}", counted(*nodes, "node"), cluster.name, is_rail_ ? "rail" : "fat tree",
        oversubscription > 1 ? fmt::format(" {}:1", oversubscription) : ""));
    cluster.sources = sources(std::move(cluster.sources), leaf->rate_up != *nic_.bandwidth);
    add_protocols(cluster);
    return cluster;
  }

 private:
  std::optional<uint32_t> read_nodes(const std::optional<ClusterDescription>& entry) {
    const std::optional<DocumentNode> node = fields_.required("nodes");
    const std::optional<int64_t> nodes =
        node ? read_integer(*node, "a number of nodes", {1, std::numeric_limits<int64_t>::max()},
                            diagnostics_)
             : std::nullopt;
    if (!nodes || !entry)
      return std::nullopt;
    const int64_t per_node = entry->cluster.fabric.devices();
    if (*nodes > limits_.devices / per_node) {
      diagnostics_.add(node->origin(),
                       beyond(limits_, &Limits::devices,
                              fmt::format("{} nodes of {} devices", *nodes, per_node)));
      return std::nullopt;
    }
    return static_cast<uint32_t>(*nodes);
  }

  /// Reads the figures of the NICs, which replace those of the entry.
  void read_nic(const std::optional<ClusterDescription>& entry) {
    if (entry)
      nic_ = entry->nic;
    FigureReader figures(diagnostics_);
    const auto read = [&](std::string_view key, std::string_view own, Dimension dimension,
                          QuantityRange range, std::optional<int64_t>& figure) {
      const std::optional<int64_t> given =
          figures.quantity(fields_, key, dimension, range, std::string(own));
      if (given) {
        figure = given;
        std::erase_if(nic_.sources, [&](const FigureSource& each) { return each.figure == own; });
      } else if (entry && !figure && !fields_.has_quantity(key, dimension)) {
        diagnostics_.add(fields_.object().origin(),
                         fmt::format("expected \"{}\", since the catalog has no such figure of {}",
                                     key, entry->cluster.name));
      }
    };
    read("nic", "bandwidth", Dimension::Rate, kBandwidths, nic_.bandwidth);
    read("nic_latency", "latency", Dimension::Time, {}, nic_.latency);
    for (FigureSource& own : std::move(figures).sources())
      nic_.sources.push_back(std::move(own));
  }

  std::shared_ptr<const Topology> made(const Cluster& node, uint32_t nodes, const Leaf& leaf,
                                       bool spread) const {
    const uint32_t nics = node.fabric.devices();
    const uint32_t leaves = nodes * nics / leaf.hosts;
    const uint32_t parallel = links_to_spine(leaf, leaves);
    const LinkFigures host{BytesPerSecond(*nic_.bandwidth), Duration(*nic_.latency)};
    const LinkFigures up{BytesPerSecond(leaf.rate_up), Duration(0)};
    std::vector<TreeLevel> levels = {{leaf.hosts, 1, 1, host},
                                     {leaves, leaf.links_up / parallel, parallel, up}};
    auto outside = std::make_shared<const Tree>(std::move(levels), 1, spread);
    return std::make_shared<const Nodes>(NodesForm{.nodes = nodes,
                                                   .inside = node.fabric.shared_topology(),
                                                   .nics = nics,
                                                   .outside = std::move(outside),
                                                   .rails = is_rail_,
                                                   .over_nodes = is_rail_,
                                                   .nic = {}});
  }

  /// Returns the sources under the names that figures have in the topology of many nodes. Links up
  /// may be slower than the NICs.
  std::vector<FigureSource> sources(std::vector<FigureSource> of_entry,
                                    bool has_slower_links) const {
    constexpr std::string_view kTopology = "topology/";
    for (FigureSource& source : of_entry) {
      if (source.figure == "bandwidth" || source.figure == "latency")
        source.figure = "topology/inside/" + source.figure;
      else if (source.figure.starts_with(kTopology))
        source.figure = "topology/inside/" + source.figure.substr(kTopology.size());
    }
    for (const FigureSource& source : nic_.sources) {
      of_entry.push_back(source);
      if (source.figure.starts_with("transport/"))
        continue;  // it has its name already
      of_entry.back().figure = "topology/outside/host/" + source.figure;
      if (source.figure != "bandwidth")
        continue;
      of_entry.push_back(source);
      of_entry.back().figure = "topology/outside/up/bandwidth";
      if (has_slower_links)
        of_entry.back().source += ", divided by the oversubscription";
    }
    of_entry.push_back({"topology/outside/up/latency", std::string(kAssumed),
                        "0 between switches, since that of the NICs stands for the whole way",
                        "2026-11-27"});
    std::sort(of_entry.begin(), of_entry.end(),
              [](const FigureSource& a, const FigureSource& b) { return a.figure < b.figure; });
    return of_entry;
  }

  /// Adds the figures that protocols have over the network, and the protocols that only serve it.
  void add_protocols(Cluster& cluster) const {
    if (!nic_.transport)
      return;
    if (!cluster.transport)
      cluster.transport.emplace();
    std::vector<ProtocolFigures>& all = cluster.transport->protocols;
    for (const ProtocolFigures& protocol : nic_.transport->protocols) {
      const auto own = std::find_if(all.begin(), all.end(), [&](const ProtocolFigures& each) {
        return each.name == protocol.name;
      });
      if (own == all.end())
        all.push_back(protocol);
      else
        own->network = protocol.network;
    }
    for (const auto& [op, range] : nic_.transport->calibrated)
      cluster.transport->calibrated.insert_or_assign(op, range);
  }

  Fields fields_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  NicFigures nic_;
  bool is_rail_ = true;
};

}  // namespace

std::string default_cluster_name(std::string_view topology, int64_t devices) {
  return fmt::format("{} of {}", topology, devices);
}

std::optional<ClusterReading> read_cluster(DocumentNode node, const Limits& limits,
                                           Diagnostics& diagnostics) {
  if (node.kind() == DocumentNode::Kind::Text) {
    if (auto read = read_name(node, " or an object", diagnostics))
      return ClusterReading{std::move(read->cluster), true};
    return std::nullopt;
  }
  if (!is_object(node, "the name of a cluster in the catalog, or an object", diagnostics))
    return std::nullopt;
  if (node.find("catalog")) {
    if (auto cluster = ManyNodesReader(node, limits, diagnostics).read())
      return ClusterReading{std::move(*cluster), false};
    return std::nullopt;
  }
  if (auto read = read_description(node, limits, diagnostics))
    return ClusterReading{std::move(read->cluster), false};
  return std::nullopt;
}

std::optional<Cluster> catalog_cluster(std::string_view name) {
  CatalogAnswer found = find_in_catalog(name);
  return found.description ? std::optional(std::move(found.description->cluster)) : std::nullopt;
}

std::string slice_error(std::string_view name) {
  return find_in_catalog(name).error;
}

}  // namespace orrery
