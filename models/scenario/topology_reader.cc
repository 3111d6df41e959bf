#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/scenario/fields.h"
#include "models/scenario/topology_json.h"

namespace orrery {
namespace {

/// The object has exactly one of these as key: it says what the topology is.
const std::vector<std::string_view> kKinds = {
    "ring", "line", "torus", "mesh", "fully_connected", "switch", "fat_tree", "nodes"};
constexpr std::string_view kListed = "links";  // this key, too; the cluster's reader reads it
const std::vector<std::string_view> kOutside = {"switch", "fat_tree", "rail"};

class TopologyReader {
 public:
  TopologyReader(FigureReader& figures, const Limits& limits, Diagnostics& diagnostics)
      : figures_(figures), limits_(limits), diagnostics_(diagnostics) {}

  std::optional<Fabric> read(DocumentNode node, const GivenLinkFigures& given) {
    const size_t before = diagnostics_.size();
    Fields fields(node, diagnostics_);
    const Ways ways = read_ways(fields, &spread_, diagnostics_);
    std::vector<std::string_view> kinds = {kListed};
    kinds.insert(kinds.end(), kKinds.begin(), kKinds.end());
    std::shared_ptr<const Topology> topology = read_topology(fields, kinds, given, "topology");
    fields.finish();
    if (spread_ && topology && topology->ways() == 1 && !spreads_)
      diagnostics_.add(spread_->origin(),
                       "\"spread\" belongs to a topology with equal ways: a fat tree or rails");
    if (diagnostics_.size() != before || !topology)
      return std::nullopt;
    if (const int64_t devices = topology->devices(); devices > limits_.devices)
      diagnostics_.add(node.origin(), beyond(limits_, &Limits::devices, devices));
    else if (const int64_t links = topology->links(); links > limits_.links)
      diagnostics_.add(node.origin(), beyond(limits_, &Limits::links, links));
    else
      return Fabric(std::move(topology), ways);
    return std::nullopt;
  }

 private:
  /// Reads the figures of links that stand in the object, or takes the given ones.
  GivenLinkFigures read_figures(Fields& fields, const GivenLinkFigures& given,
                                const std::string& called) {
    GivenLinkFigures own = given;
    if (const auto rate = figures_.quantity(fields, "bandwidth", Dimension::Rate, kBandwidths,
                                            called + "/bandwidth")) {
      own.bandwidth = rate;
      own.bandwidth_called = called + "/bandwidth";
    }
    if (const auto time =
            figures_.quantity(fields, "latency", Dimension::Time, {}, called + "/latency")) {
      own.latency = time;
      own.latency_called = called + "/latency";
    }
    return own;
  }

  /// Returns the figures of links that are called `called`. Adds an error at `node` for one that
  /// nothing gives.
  LinkFigures complete(DocumentNode node, const GivenLinkFigures& given,
                       const std::string& called) {
    figures_.share_source(given.bandwidth_called, called + "/bandwidth");
    figures_.share_source(given.latency_called, called + "/latency");
    for (const auto& [key, value] :
         {std::pair("bandwidth", given.bandwidth), std::pair("latency", given.latency)})
      if (!value)
        diagnostics_.add(
            node.origin(),
            fmt::format("expected \"{}\" of these links, here or in the cluster", key));
    return {BytesPerSecond(given.bandwidth.value_or(1)), Duration(given.latency.value_or(0))};
  }

  /// Drops the sources of figures that the links below have by now (complete()).
  void forget_sources(const std::string& called) {
    figures_.forget_source(called + "/bandwidth");
    figures_.forget_source(called + "/latency");
  }

  /// Reads a number of devices or nodes, or of what has a link at least, by its limit.
  std::optional<uint32_t> read_count(DocumentNode node, std::string_view what,
                                     int64_t Limits::*limit = &Limits::devices) {
    const auto count =
        read_integer(node, what, {1, std::numeric_limits<int64_t>::max()}, diagnostics_);
    if (!count)
      return std::nullopt;
    if (*count > limits_.*limit) {
      diagnostics_.add(node.origin(), beyond(limits_, limit, *count));
      return std::nullopt;
    }
    return static_cast<uint32_t>(*count);
  }
  std::optional<uint32_t> read_count(Fields& fields, std::string_view key, std::string_view what,
                                     int64_t Limits::*limit = &Limits::devices,
                                     std::optional<uint32_t> absent = std::nullopt) {
    const auto node = absent ? fields.optional(key) : fields.required(key);
    return node ? read_count(*node, what, limit) : absent;
  }

  /// Returns whether the product is a number of vertices or links that can be counted.
  bool fits(DocumentNode node, UInt128 product, int64_t Limits::*limit) {
    if (product <= static_cast<UInt128>(limits_.*limit))
      return true;
    const auto most = static_cast<UInt128>(std::numeric_limits<int64_t>::max());
    diagnostics_.add(node.origin(),
                     beyond(limits_, limit, static_cast<int64_t>(std::min(product, most))));
    return false;
  }

  /// Reads the topology whose kind is a key of the object.
  std::shared_ptr<const Topology> read_topology(Fields& fields,
                                                const std::vector<std::string_view>& kinds,
                                                const GivenLinkFigures& given,
                                                const std::string& called) {
    std::vector<std::string_view> found;
    for (const std::string_view kind : kinds)
      if (fields.object().find(kind))
        found.push_back(kind);
    for (const std::string_view kind : kinds)
      fields.optional(kind);
    if (found.size() != 1) {
      diagnostics_.add(
          fields.object().origin(),
          fmt::format("expected one of \"{}\" as key, got {}", fmt::join(kinds, "\", \""),
                      found.empty() ? "none" : fmt::format("\"{}\"", fmt::join(found, "\", \""))));
      read_figures(fields, given, called);
      return nullptr;
    }
    const DocumentNode node = *fields.object().find(found.front());
    const GivenLinkFigures own = read_figures(fields, given, called);
    const std::string_view kind = found.front();
    if (kind == "ring" || kind == "line")
      return read_line(node, kind == "ring", own, called);
    if (kind == "torus" || kind == "mesh")
      return read_torus(node, kind == "torus", own, called);
    if (kind == "fully_connected")
      return read_full_mesh(node, own, called);
    if (kind == "switch")
      return read_switch(node, own, called);
    std::shared_ptr<const Topology> read;
    if (kind == "fat_tree")
      read = read_fat_tree(node, own, called);
    else
      read = read_nodes(fields, node, own, called);
    forget_sources(called);
    return read;
  }

  std::shared_ptr<const Topology> read_line(DocumentNode node, bool wraps,
                                            const GivenLinkFigures& given,
                                            const std::string& called) {
    const std::optional<uint32_t> devices = read_count(node, "a number of devices");
    const LinkFigures figures = complete(node, given, called);
    if (!devices)
      return nullptr;
    return made_torus(node, {TorusDimension{*devices, wraps, figures}});
  }

  std::shared_ptr<const Topology> read_full_mesh(DocumentNode node, const GivenLinkFigures& given,
                                                 const std::string& called) {
    const std::optional<uint32_t> devices = read_count(node, "a number of devices");
    const LinkFigures figures = complete(node, given, called);
    if (!devices || !fits(node, UInt128{*devices} * (*devices - 1), &Limits::links))
      return nullptr;
    return std::make_shared<const FullMesh>(*devices, figures);
  }

  std::shared_ptr<const Topology> read_switch(DocumentNode node, const GivenLinkFigures& given,
                                              const std::string& called) {
    const std::optional<uint32_t> devices = read_count(node, "a number of devices");
    const LinkFigures figures = complete(node, given, called);
    if (!devices)
      return nullptr;
    return made_tree(node, {TreeLevel{*devices, 1, 1, figures}}, 1);
  }

  std::shared_ptr<const Topology> made_torus(DocumentNode node,
                                             std::vector<TorusDimension> dimensions) {
    UInt128 devices = 1;
    for (const TorusDimension& dimension : dimensions)
      devices *= dimension.size;
    UInt128 links = 0;
    for (const TorusDimension& dimension : dimensions)
      links += devices / dimension.size * dimension.links_in_line();
    if (!fits(node, links, &Limits::links))
      return nullptr;
    return std::make_shared<const Torus>(std::move(dimensions));
  }

  /// Reads a list with a number, or an object, for each dimension.
  std::shared_ptr<const Topology> read_torus(DocumentNode node, bool wraps,
                                             const GivenLinkFigures& given,
                                             const std::string& called) {
    if (!is_list(node, "a list with the size of each dimension", diagnostics_))
      return nullptr;
    // The links of a single dimension are those of the whole.
    const auto name_of = [&](size_t d) {
      return node.size() == 1 ? called : fmt::format("{}/{}", called, d);
    };
    std::vector<TorusDimension> dimensions;
    UInt128 devices = 1;
    size_t number = 0;
    for (const DocumentNode item : node) {
      std::optional<uint32_t> size;
      TorusDimension dimension{1, wraps, {}};
      if (item.kind() == DocumentNode::Kind::Object) {
        Fields fields(item, diagnostics_);
        size = read_count(fields, "size", "a number of devices");
        if (const auto wrap = fields.optional("wrap"))
          dimension.wraps = read_boolean(*wrap, diagnostics_).value_or(wraps);
        const std::string own = name_of(number);
        dimension.figures = complete(item, read_figures(fields, given, own), own);
        fields.finish();
      } else {
        size = read_count(item, "an object with \"size\", or a number of devices");
        dimension.figures = complete(item, given, name_of(number));
      }
      ++number;
      if (!size)
        return nullptr;
      dimension.size = *size;
      devices *= *size;
      if (!fits(node, devices, &Limits::devices))
        return nullptr;
      dimensions.push_back(dimension);
    }
    if (dimensions.empty()) {
      diagnostics_.add(node.origin(), "expected at least one dimension, got none");
      return nullptr;
    }
    if (dimensions.size() > 1)
      forget_sources(called);
    return made_torus(node, std::move(dimensions));
  }

  /// Reads how the vertices of a level are joined to those above: {"bandwidth", "latency",
  /// "links"}.
  void read_level(Fields& fields, std::string_view key, const GivenLinkFigures& given,
                  const std::string& called, TreeLevel& level) {
    const std::optional<DocumentNode> node = fields.optional(key);
    const std::string own_called = fmt::format("{}/{}", called, key);
    if (!node) {
      level.figures = complete(fields.object(), given, own_called);
      return;
    }
    if (!is_object(*node, "an object with the figures of these links", diagnostics_))
      return;
    Fields own(*node, diagnostics_);
    level.figures = complete(*node, read_figures(own, given, own_called), own_called);
    level.parallel =
        read_count(own, "links", "a number of parallel links", &Limits::links, 1).value_or(1);
    own.finish();
  }

  std::shared_ptr<const Topology> made_tree(DocumentNode node, std::vector<TreeLevel> levels,
                                            uint32_t trees) {
    UInt128 devices = trees;
    for (const TreeLevel& level : levels)
      devices *= level.below;
    UInt128 links = 0;
    UInt128 subtrees = devices;
    UInt128 tops = 1;
    for (const TreeLevel& level : levels) {
      links += 2 * subtrees * tops * level.above * level.parallel;
      subtrees /= level.below;
      tops *= level.above;
      if (!fits(node, devices, &Limits::devices) || !fits(node, links, &Limits::links))
        return nullptr;
    }
    if (spread_) {
      spreads_ = spreads_ || links > 2 * devices;
      for (size_t l = 0; l < levels.size(); ++l) {
        const Int128 rate =
            Int128{Tree::links_as_one(levels, l)} * levels[l].figures.bandwidth.count();
        if (rate > kMostBandwidth) {
          diagnostics_.add(node.origin(),
                           fmt::format("the links that \"spread\" takes as one have more than {}",
                                       quantity_text(BytesPerSecond(kMostBandwidth))));
          return nullptr;
        }
      }
    }
    return std::make_shared<const Tree>(std::move(levels), trees, spread_.has_value());
  }

  std::shared_ptr<const Topology> read_fat_tree(DocumentNode node, const GivenLinkFigures& given,
                                                const std::string& called) {
    if (!is_object(node, "an object with \"leaves\", \"hosts\" and \"spines\"", diagnostics_))
      return nullptr;
    const size_t before = diagnostics_.size();
    Fields fields(node, diagnostics_);
    TreeLevel hosts;
    TreeLevel leaves;
    TreeLevel spines;
    hosts.below = read_count(fields, "hosts", "a number of hosts per leaf").value_or(1);
    leaves.below = read_count(fields, "leaves", "a number of leaves").value_or(1);
    leaves.above = read_count(fields, "spines", "a number of spines", &Limits::links).value_or(1);
    read_level(fields, "host", given, called, hosts);
    read_level(fields, "up", given, called, leaves);
    std::vector<TreeLevel> levels = {hosts, leaves};
    if (const auto pods = fields.optional("pods")) {
      spines.below = read_count(*pods, "a number of pods").value_or(1);
      const auto cores = read_count(fields, "cores", "a number of cores", &Limits::links);
      if (cores && *cores % leaves.above != 0)
        diagnostics_.add(fields.object().find("cores")->origin(),
                         fmt::format("expected a multiple of the {} spines of a pod, got {}",
                                     leaves.above, *cores));
      spines.above = std::max(1U, cores.value_or(1) / leaves.above);
      read_level(fields, "core", given, called, spines);
      levels.push_back(spines);
    }
    fields.finish();
    return diagnostics_.size() == before ? made_tree(node, std::move(levels), 1) : nullptr;
  }

  std::shared_ptr<const Topology> read_nodes(Fields& fields, DocumentNode node,
                                             const GivenLinkFigures& given,
                                             const std::string& called) {
    const size_t before = diagnostics_.size();
    NodesForm form;
    const auto nodes = read_count(node, "a number of nodes");
    const auto inside = fields.required("inside");
    const auto outside = fields.required("outside");
    const auto nics = read_count(fields, "nics", "a number of NICs per node");
    if (inside && is_object(*inside, "a topology such as {\"switch\": 8}", diagnostics_)) {
      Fields own(*inside, diagnostics_);
      std::vector<std::string_view> kinds = kKinds;
      std::erase(kinds, "nodes");
      form.inside = read_topology(own, kinds, given, called + "/inside");
      own.finish();
    }
    if (outside && nodes && nics && fits(node, UInt128{*nodes} * *nics, &Limits::devices) &&
        is_object(*outside, "a topology such as {\"rail\": {\"spines\": 4}}", diagnostics_))
      form.outside = read_outside(*outside, *nodes, *nics, given, called, form);
    const std::optional<DocumentNode> nic = fields.optional("nic");
    if (diagnostics_.size() != before || !form.inside || !form.outside)
      return nullptr;
    form.nodes = *nodes;
    form.nics = *nics;
    const uint32_t per_node = form.inside->devices();
    if (per_node % form.nics != 0) {
      diagnostics_.add(fields.object().find("nics")->origin(),
                       fmt::format("expected NICs that the {} devices of a node share evenly, got "
                                   "{}",
                                   per_node, form.nics));
      return nullptr;
    }
    if (nic && form.nics == per_node) {
      diagnostics_.add(nic->key_origin(), "\"nic\" belongs to nodes whose devices share NICs");
    } else if (form.nics < per_node && fields.required("nic") &&
               is_object(*nic, "an object with the figures of these links", diagnostics_)) {
      Fields own(*nic, diagnostics_);
      form.nic = complete(*nic, read_figures(own, given, called + "/nic"), called + "/nic");
      own.finish();
    }
    if (diagnostics_.size() != before)
      return nullptr;
    if (const UInt128 devices = UInt128{form.nodes} * per_node;
        !fits(node, devices, &Limits::devices) ||
        !fits(node,
              UInt128{form.nodes} * form.inside->links() + form.outside->links() +
                  (form.nics < per_node ? 2 * devices : 0),
              &Limits::links))
      return nullptr;
    return std::make_shared<const Nodes>(std::move(form));
  }

  /// Reads the topology that joins the NICs. Says in `form` whether they are rails.
  std::shared_ptr<const Topology> read_outside(DocumentNode node, uint32_t nodes, uint32_t nics,
                                               const GivenLinkFigures& given,
                                               const std::string& called, NodesForm& form) {
    Fields fields(node, diagnostics_);
    std::shared_ptr<const Topology> outside;
    if (const auto rail = fields.object().find("rail")) {
      for (const std::string_view kind : kOutside)
        fields.optional(kind);
      form.rails = true;
      outside = read_rail(*rail, nodes, nics, read_figures(fields, given, called + "/outside"),
                          called + "/outside", form);
      forget_sources(called + "/outside");
    } else {
      outside = read_topology(fields, kOutside, given, called + "/outside");
      if (outside && outside->devices() != uint64_t{nodes} * nics) {
        diagnostics_.add(node.origin(),
                         fmt::format("expected a topology of {} NICs ({} nodes times {}), got one "
                                     "of {}",
                                     uint64_t{nodes} * nics, nodes, nics, outside->devices()));
        outside = nullptr;
      }
    }
    fields.finish();
    return outside;
  }

  std::shared_ptr<const Topology> read_rail(DocumentNode node, uint32_t nodes, uint32_t nics,
                                            const GivenLinkFigures& given,
                                            const std::string& called, NodesForm& form) {
    if (!is_object(node, "an object such as {\"leaves_per_rail\": 4, \"spines\": 8}", diagnostics_))
      return nullptr;
    const size_t before = diagnostics_.size();
    Fields fields(node, diagnostics_);
    TreeLevel hosts;
    TreeLevel leaves;
    const uint32_t per_rail =
        read_count(fields, "leaves_per_rail", "a number of leaves", &Limits::devices, 1)
            .value_or(1);
    read_level(fields, "host", given, called, hosts);
    if (nodes % per_rail != 0)
      diagnostics_.add(
          fields.object().find("leaves_per_rail")->origin(),
          fmt::format("expected leaves that the {} nodes share evenly, got {}", nodes, per_rail));
    hosts.below = std::max(1U, nodes / per_rail);
    const std::optional<DocumentNode> spines = fields.optional("spines");
    const std::optional<DocumentNode> meet = fields.optional("rails_meet");
    const auto where =
        meet ? read_word(*meet, {"spines", "nodes"}, diagnostics_) : std::optional("spines");
    const bool at_spines = spines && where == "spines";
    std::vector<TreeLevel> levels = {hosts};
    if (spines) {
      leaves.above = read_count(*spines, "a number of spines", &Limits::links).value_or(1);
      leaves.below = at_spines ? per_rail * nics : per_rail;
      read_level(fields, "up", given, called, leaves);
      levels.push_back(leaves);
    } else if (per_rail > 1) {
      diagnostics_.add(
          node.origin(),
          fmt::format("expected \"spines\", which join the {} leaves of a rail", per_rail));
    } else if (meet && where == "spines") {
      diagnostics_.add(meet->origin(), "expected \"nodes\" without \"spines\", got \"spines\"");
    }
    form.over_nodes = true;
    if (const auto pxn = fields.optional("pxn")) {
      form.over_nodes = read_boolean(*pxn, diagnostics_).value_or(true);
      if (!form.over_nodes && !at_spines && diagnostics_.size() == before)
        diagnostics_.add(pxn->origin(),
                         "expected true, since rails meet in the nodes alone, got false");
    }
    fields.finish();
    if (diagnostics_.size() != before)
      return nullptr;
    return made_tree(node, std::move(levels), at_spines ? 1 : nics);
  }

  FigureReader& figures_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  std::optional<DocumentNode> spread_;  // the word, if it is given
  bool spreads_ = false;                // whether some tree has links to spread over
};

}  // namespace

Ways read_ways(Fields& fields, std::optional<DocumentNode>* spread, Diagnostics& diagnostics) {
  Ways ways;
  if (const auto node = fields.optional("ways")) {
    std::vector<std::string_view> words = {"static", "hashed"};
    if (spread != nullptr)
      words.emplace_back("spread");
    const auto word = read_word(*node, words, diagnostics);
    ways.hashed = word == "hashed";
    if (word == "spread")
      *spread = *node;
  }
  if (const auto seed = fields.optional("seed")) {
    const auto number =
        read_integer(*seed, "a seed", {0, std::numeric_limits<int64_t>::max()}, diagnostics);
    if (!ways.hashed)
      diagnostics.add(seed->key_origin(), "\"seed\" belongs to the ways \"hashed\"");
    ways.seed = static_cast<uint64_t>(number.value_or(0));
  }
  return ways;
}

std::optional<Fabric> read_topology(DocumentNode node, const GivenLinkFigures& figures,
                                    FigureReader& reader, const Limits& limits,
                                    Diagnostics& diagnostics) {
  return TopologyReader(reader, limits, diagnostics).read(node, figures);
}

}  // namespace orrery
