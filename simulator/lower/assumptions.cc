#include "simulator/lower/assumptions.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/program/op_rules.h"
#include "models/program/rules.h"
#include "models/scenario/quantity_text.h"
#include "simulator/lower/groupings.h"

namespace orrery {

std::vector<std::string> missing_figures(const DeviceFigures& device,
                                         std::span<const Collective> collectives, bool copies) {
  const auto in_switch = [](const Collective& collective) {
    return collective.schedule->extent().switch_nodes > 0;
  };
  const bool reduces =
      std::any_of(collectives.begin(), collectives.end(), [&](const Collective& collective) {
        return collective.members.size() > 1 && !in_switch(collective) &&
               rules(collective.kind).form.combine != Combine::None;
      });
  std::vector<std::string> labels;
  const bool launched_by_protocol =
      std::any_of(collectives.begin(), collectives.end(), [](const Collective& collective) {
        return collective.protocol != nullptr && collective.protocol->launch;
      });
  const bool launched_by_efficiency =
      std::any_of(device.efficiency.begin(), device.efficiency.end(), [](const auto& of) {
        return of.second.launch || (of.second.attention && of.second.attention->launch);
      });
  if (!device.launch)
    labels.push_back(fmt::format("launch: 0{} (not given)",
                                 launched_by_protocol && launched_by_efficiency
                                     ? " besides the protocols' and the efficiency's"
                                 : launched_by_protocol   ? " besides the protocols'"
                                 : launched_by_efficiency ? " besides the efficiency's"
                                                          : ""));
  if (!device.reduce_rate && reduces)
    labels.emplace_back("reduce_rate: infinite (not given)");
  if (!device.copy_rate && copies)
    labels.emplace_back("copy_rate: infinite (not given)");
  if (std::any_of(collectives.begin(), collectives.end(), in_switch))
    labels.emplace_back("in-switch reduction: as fast as the switch's links (not given)");
  return labels;
}

namespace {

/// Returns the figures that a protocol lacks, among those on which times depend.
std::vector<std::string> lacking(const ProtocolFigures& protocol) {
  std::vector<std::string> lacks;
  const auto name = [&](bool given, std::string_view figure) {
    if (!given)
      lacks.emplace_back(figure);
  };
  name(protocol.launch.has_value(), "launch");
  name(protocol.overhead.has_value(), "overhead");
  name(protocol.latency.has_value(), "latency");
  name(protocol.channel_rate.has_value(), "channel_rate");
  name(protocol.store_rate.has_value(), "store_rate");
  return lacks;
}

void label(const ProtocolFigures& protocol, std::vector<std::string>& labels) {
  const auto add = [&](std::string_view what) {
    labels.push_back(fmt::format("transport: {}: {}", protocol.name, what));
  };
  const DataShare share = protocol.share;
  const bool all_data = share.data == share.wire;
  if (!protocol.slot)
    add("messages are not cut to slots (no slot given)");
  else if (all_data)
    add(fmt::format("messages are cut to slots of {}", quantity_text(*protocol.slot)));
  else
    add(fmt::format("messages are cut to the {} of data in a slot of {}",
                    size_text(*protocol.largest_message()), size_text(*protocol.slot)));
  if (!all_data)
    add(fmt::format("{}/{} of what links carry is data, the rest is flags or unused", share.data,
                    share.wire));
  if (const std::vector<std::string> lacks = lacking(protocol); !lacks.empty())
    add(fmt::format("no {} given: these take no time", fmt::join(lacks, ", ")));
}

}  // namespace

std::vector<std::string> transport_labels(const std::optional<TransportFigures>& transport,
                                          std::span<const Collective> collectives) {
  std::vector<std::string> labels;
  std::set<const ProtocolFigures*> used;
  bool some = false;
  bool slots = false;
  for (const Collective& collective : collectives) {
    if (collective.members.size() < 2)
      continue;
    some = true;
    used.insert(collective.protocol);
  }
  if (!some)
    return labels;
  if (!transport)
    return {"transport buffers: not counted (no memory.transport given)"};
  for (const ProtocolFigures& protocol : transport->protocols) {
    if (used.count(&protocol) == 0)
      continue;
    label(protocol, labels);
    slots |= protocol.slot.has_value();
  }
  if (used.count(nullptr) > 0)
    labels.emplace_back(
        "transport: some collectives are served by no protocol: their messages take their links "
        "alone");
  for (std::string& text : extrapolated_labels(*transport, collectives))
    labels.push_back(std::move(text));
  if (slots)
    labels.emplace_back(
        "transport: a message waits for slots of its own collective, not for those that others "
        "hold");
  return labels;
}

namespace {

/// Returns "bandwidth, transport/ll (5 figures)". Several figures of one protocol are counted.
std::string listed(const std::vector<std::string>& figures) {
  const auto group_of = [](const std::string& figure) {
    return figure.starts_with("transport/") ? figure.substr(0, figure.rfind('/')) : figure;
  };
  std::vector<std::string> texts;
  for (size_t first = 0, end = 0; first < figures.size(); first = end) {
    const std::string group = group_of(figures[first]);
    while (end < figures.size() && group_of(figures[end]) == group)
      ++end;
    const auto count = static_cast<int64_t>(end - first);
    texts.push_back(count == 1 ? figures[first]
                               : fmt::format("{} ({})", group, counted(count, "figure")));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

constexpr std::string_view kOfConnections = "transport/connections/";

/// Returns one label for each label, source and date of those figures that are named.
template <class IsNamed>
std::vector<std::string> source_labels(const Cluster& cluster, IsNamed is_named) {
  using Fit = std::tuple<std::string, std::string, std::string>;  // label, source, date
  std::vector<std::pair<Fit, std::vector<std::string>>> fits;
  for (const FigureSource& figure : cluster.sources) {
    if (!is_named(figure))
      continue;
    const Fit fit(figure.label, figure.source, figure.date);
    auto found = std::find_if(fits.begin(), fits.end(),
                              [&](const auto& other) { return other.first == fit; });
    if (found == fits.end())
      found = fits.insert(found, {fit, {}});
    found->second.push_back(figure.figure);
  }
  std::vector<std::string> labels;
  for (const auto& [fit, figures] : fits) {
    const auto& [label, source, date] = fit;
    labels.push_back(fmt::format("{}: {} ({}, {})", listed(figures), label, source, date));
  }
  return labels;
}

}  // namespace

namespace {

constexpr std::string_view kOfEfficiency = "efficiency/";

/// Returns the figures of efficiency on which times of the program's ops depend: "bf16/share".
std::set<std::string> used_efficiency(const Program& program, const DeviceFigures& device) {
  std::set<std::string> used;
  const auto add = [&](Dtype dtype, std::initializer_list<const char*> figures) {
    for (const char* const figure : figures)
      used.insert(fmt::format("{}/{}", name(dtype), figure));
  };
  for (const Op& op : program.ops) {
    if (rules(op.kind).family != Family::Local)
      continue;
    const Cost cost = cost_of(program, op);
    if (cost.runs && cost.bytes > Bytes())
      used.insert("memory");
    const auto of = device.efficiency.find(cost.dtype);
    if (!cost.runs || cost.flops == Flops() || of == device.efficiency.end())
      continue;
    if (cost.attention && of->second.attention)
      add(cost.dtype, {"attention/share", "attention/half_keys", "attention/launch"});
    else if (cost.product)
      add(cost.dtype, {"share", "half_depth", "half_side", "launch"});
    else
      add(cost.dtype, {"share"});
  }
  return used;
}

}  // namespace

std::vector<std::string> fitted_figures(const Cluster& cluster, const Program& program) {
  std::optional<std::set<std::string>> used;  // found when the first figure asks for it
  const auto is_unused = [&](std::string_view figure) {
    if (!figure.starts_with(kOfEfficiency))
      return false;
    if (!used)
      used = used_efficiency(program, cluster.device);
    return used->count(std::string(figure.substr(kOfEfficiency.size()))) == 0;
  };
  return source_labels(cluster, [&](const FigureSource& figure) {
    return !figure.figure.starts_with(kOfConnections) && !is_unused(figure.figure) &&
           (figure.label == kCalibrated || figure.label == kExtrapolated ||
            figure.label == kAssumed || figure.label == kOverridden);
  });
}

std::vector<std::string> connection_labels(const Cluster& cluster, const MemoryPolicy& policy,
                                           const std::set<ConnectionKind>& kinds) {
  return source_labels(cluster, [&](const FigureSource& figure) {
    if (policy.transport || (policy.channels && figure.figure.ends_with("/channels")))
      return false;
    return std::any_of(kinds.begin(), kinds.end(), [&](ConnectionKind kind) {
      return figure.figure.starts_with(fmt::format("{}{}/", kOfConnections, key_of(kind)));
    });
  });
}

namespace {

bool contains(const CalibratedRange& range, uint32_t ranks, Bytes size) {
  return ranks >= range.least_ranks && ranks <= range.most_ranks && size >= range.least &&
         size <= range.most;
}

void extend(CalibratedRange& range, uint32_t ranks, Bytes size) {
  range.least_ranks = std::min(range.least_ranks, ranks);
  range.most_ranks = std::max(range.most_ranks, ranks);
  range.least = std::min(range.least, size);
  range.most = std::max(range.most, size);
}

std::string text(const CalibratedRange& range) {
  const std::string ranks =
      range.least_ranks == range.most_ranks
          ? counted(range.most_ranks, "rank")
          : fmt::format("{} to {} ranks", range.least_ranks, range.most_ranks);
  const std::string sizes =
      range.least == range.most
          ? size_text(range.most)
          : fmt::format("{} to {}", size_text(range.least), size_text(range.most));
  return fmt::format("{}, {}", ranks, sizes);
}

}  // namespace

Bytes largest_tensor(const Collective& collective) {
  return itemsize(collective.work) *
         std::max(collective.input.elements(), collective.output.elements());
}

std::vector<std::string> extrapolated_labels(const TransportFigures& transport,
                                             std::span<const Collective> collectives) {
  if (transport.calibrated.empty())
    return {};
  std::map<std::string_view, CalibratedRange> outside;
  for (const Collective& collective : collectives) {
    const auto ranks = static_cast<uint32_t>(collective.members.size());
    const std::string_view op = rules(timed_as(collective.kind)).name;
    const Bytes size = largest_tensor(collective);
    const auto range = transport.calibrated.find(op);
    if (ranks < 2 || size == Bytes() ||
        (range != transport.calibrated.end() && contains(range->second, ranks, size)))
      continue;
    const auto [found, first] = outside.try_emplace(op, CalibratedRange{ranks, ranks, size, size});
    if (!first)
      extend(found->second, ranks, size);
  }
  std::vector<std::string> labels;
  for (const auto& [op, range] : outside) {
    const auto calibrated = transport.calibrated.find(op);
    labels.push_back(fmt::format("transport: extrapolated to {} of {} ({})", op, text(range),
                                 calibrated == transport.calibrated.end()
                                     ? "not calibrated for this op"
                                     : "calibrated for " + text(calibrated->second)));
  }
  return labels;
}

namespace {

/// Where the devices are, and the NICs that they have. Without nodes both lists are empty.
struct NicsOfNodes {
  std::vector<size_t> node;                // of each device; a number for each node
  std::vector<std::optional<size_t>> nic;  // of each device; devices may share one
};

/// Takes nodes and NICs from the topology.
NicsOfNodes nodes_by_rule(const Nodes& topology) {
  NicsOfNodes nodes;
  for (uint32_t device = 0; device < topology.devices(); ++device) {
    nodes.node.push_back(topology.node_of(device));
    nodes.nic.emplace_back(topology.nic_of(device));
  }
  return nodes;
}

/// Guesses them in a list of links: the slowest links of devices are those of NICs, and faster
/// links join nodes.
NicsOfNodes nodes_by_rates(const Fabric& fabric) {
  if (!fabric.topology().is_searched())
    return {};
  const auto device_of = [&](const Link& link) {
    return std::min(link.from.index(), link.to.index());
  };
  const std::vector<Link> links = fabric.links();
  std::optional<BytesPerSecond> slowest;
  for (const Link& link : links)
    if (device_of(link) < fabric.devices())
      slowest = slowest ? std::min(*slowest, link.bandwidth) : link.bandwidth;
  std::vector<size_t> part(fabric.vertices());
  std::iota(part.begin(), part.end(), size_t{0});
  const auto part_of = [&](size_t vertex) {
    while (part[vertex] != vertex)
      vertex = part[vertex] = part[part[vertex]];
    return vertex;
  };
  bool joined = false;
  NicsOfNodes nodes;
  nodes.nic.resize(fabric.devices());
  for (const Link& link : links) {
    if (link.bandwidth > *slowest) {
      part[part_of(link.from.index())] = part_of(link.to.index());
      joined = true;
    } else if (device_of(link) < fabric.devices()) {
      for (const VertexId end : {link.from, link.to})
        if (fabric.is_device(end))
          nodes.nic[end.index()] = end.index();
    }
  }
  if (!joined)
    return {};
  for (size_t device = 0; device < fabric.devices(); ++device)
    nodes.node.push_back(part_of(device));
  return nodes;
}

/// How many NICs of one node, among those of the ranks of a group, a ring in rank order sends over,
/// and how many there are.
struct UsedNics {
  size_t used = 0;
  size_t there = 0;
  friend auto operator<=>(const UsedNics&, const UsedNics&) = default;
};

/// Returns it for each node, if the ranks are on several.
std::vector<UsedNics> used_nics(const NicsOfNodes& nodes, std::span<const VertexId> ranks) {
  struct Nics {
    std::set<std::optional<size_t>> used;
    std::set<size_t> there;
  };
  std::map<size_t, Nics> nics;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const size_t device = ranks[r].index();
    const size_t next = ranks[(r + 1) % ranks.size()].index();
    Nics& own = nics[nodes.node[device]];
    if (nodes.node[device] != nodes.node[next])
      own.used.insert(nodes.nic[device]);
    if (nodes.nic[device])
      own.there.insert(*nodes.nic[device]);
  }
  std::vector<UsedNics> counts;
  if (nics.size() > 1)
    for (const auto& [node, each] : nics)
      counts.push_back({each.used.size(), each.there.size()});
  return counts;
}

}  // namespace

std::optional<std::string> nodes_label(const Fabric& fabric,
                                       std::span<const Collective> collectives,
                                       std::span<const Choice> choices) {
  const auto* const by_rule = dynamic_cast<const Nodes*>(&fabric.topology());
  const NicsOfNodes nodes = by_rule != nullptr ? nodes_by_rule(*by_rule) : nodes_by_rates(fabric);
  if (nodes.node.empty())
    return std::nullopt;
  std::set<std::string_view> ops;
  std::set<UsedNics> idle;  // of nodes with NICs over which nothing is sent
  std::set<std::pair<OpKind, const VertexId*>> seen;
  for (const Collective& collective : collectives) {
    if (choices[collective.site.index()].algorithm != "ring" ||
        largest_tensor(collective) == Bytes() ||
        !seen.emplace(collective.kind, collective.vertices.begin()).second)
      continue;
    const std::span<const VertexId> vertices = collective.vertices;
    const std::span<const VertexId> ranks = vertices.first(collective.members.size());
    if (!layout_of(fabric, ranks).orders.empty())
      continue;  // its channels go round in these, which use all NICs
    for (const UsedNics& nics : used_nics(nodes, ranks))
      if (nics.used < nics.there) {
        ops.insert(rules(collective.kind).name);
        idle.insert(nics);
      }
  }
  if (idle.empty())
    return std::nullopt;
  return fmt::format(
      "nodes: {} by ring: one ring in rank order, so {} of each node", fmt::join(ops, ", "),
      idle.size() > 1 ? "not all NICs"
                      : fmt::format("{} of the {} NICs", idle.begin()->used, idle.begin()->there));
}

}  // namespace orrery
