#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/quantity_text.h"
#include "models/scenario/topology_json.h"

namespace orrery {

namespace {

using Members = std::vector<std::pair<std::string, JsonText>>;

/// Returns the switches in the order in which the links first name them.
std::vector<std::string> switches_by_links(const Fabric& fabric) {
  std::set<VertexId> seen;
  std::vector<std::string> names;
  for (const Link& link : fabric.links()) {
    for (const VertexId end : {link.from, link.to}) {
      if (end.index() >= fabric.devices() && seen.insert(end).second)
        names.push_back(fabric.switch_name(end));
    }
  }
  return names;
}

/// Returns whether all links have the same figures.
bool has_equal_links(const Fabric& fabric) {
  const Link first = fabric.link(LinkId(0));
  for (uint32_t l = 1; fabric.has_changes() && l < fabric.count_links(); ++l) {
    const Link link = fabric.link(LinkId(l));
    if (link.bandwidth != first.bandwidth || link.latency != first.latency)
      return false;
  }
  return true;
}

class ClusterWriter {
 public:
  explicit ClusterWriter(const Cluster& cluster) : cluster_(cluster) {}

  JsonText write() {
    const Fabric& fabric = cluster_.fabric;
    const std::string topology(topology_name(fabric.topology()));
    const bool is_named = has_word(fabric.topology()) && !fabric.ways().hashed &&
                          !has_source("topology/bandwidth") && !has_source("topology/latency");
    const bool is_list = fabric.topology().is_searched() || (fabric.has_changes() && !is_named);
    if (cluster_.name != default_cluster_name(topology, fabric.devices()))
      members_.emplace_back("name", JsonText::text(cluster_.name));
    members_.emplace_back("devices", JsonText::raw(fmt::format("{}", fabric.devices())));
    if (is_list)
      write_links(fabric);
    else if (is_named)
      members_.emplace_back("topology", JsonText::text(topology));
    else
      members_.emplace_back("topology", topology_text(fabric, [&](const std::string& called,
                                                                  const std::string& value) {
                              return figure(called, value);
                            }));
    if (fabric.count_links() > 0 && (is_list || is_named)) {
      const Link first = fabric.link(LinkId(0));
      ORRERY_CHECK(is_list || has_equal_links(fabric), "a word stands for equal links");
      if (is_named || has_source("bandwidth"))
        add("bandwidth", quantity_text(first.bandwidth));
      if (is_named || has_source("latency"))
        add("latency", quantity_text(first.latency));
    }
    write_reduction(fabric);
    write_device(cluster_.device);
    if (cluster_.transport)
      members_.emplace_back("transport", transport_text(*cluster_.transport));
    return JsonText::object(std::move(members_));
  }

 private:
  bool has_source(std::string_view called) const {
    return std::any_of(cluster_.sources.begin(), cluster_.sources.end(),
                       [&](const FigureSource& source) { return source.figure == called; });
  }

  /// Returns a figure, with its source if the cluster tells one.
  JsonText figure(const std::string& called, JsonText value) {
    for (const FigureSource& source : cluster_.sources) {
      if (source.figure == called)
        return JsonText::object({{"value", std::move(value)},
                                 {"label", JsonText::text(source.label)},
                                 {"source", JsonText::text(source.source)},
                                 {"date", JsonText::text(source.date)}});
    }
    return value;
  }
  JsonText figure(const std::string& called, const std::string& value) {
    return figure(called, JsonText::text(value));
  }

  JsonText transport_text(const TransportFigures& transport) {
    Members protocols;
    for (const ProtocolFigures& protocol : transport.protocols)
      protocols.emplace_back(protocol.name, protocol_text(protocol));
    Members members;
    members.emplace_back("protocols", JsonText::object(std::move(protocols)));
    Members launches;
    for (const auto& [op, time] : transport.host_launch)
      launches.emplace_back(op, figure("transport/host_launch/" + op, quantity_text(time)));
    if (!launches.empty())
      members.emplace_back("host_launch", JsonText::object(std::move(launches)));
    Members ranges;
    for (const auto& [op, range] : transport.calibrated)
      ranges.emplace_back(op, range_text(range));
    if (!ranges.empty())
      members.emplace_back("calibrated", JsonText::object(std::move(ranges)));
    Members connections;
    for (const auto& [kind, figures] : transport.connections)
      connections.emplace_back(key_of(kind), connection_text(kind, figures));
    if (!connections.empty())
      members.emplace_back("connections", JsonText::object(std::move(connections)));
    return JsonText::object(std::move(members));
  }

  JsonText connection_text(ConnectionKind kind, const ConnectionFigures& figures) {
    Members members;
    const auto add_text = [&](std::string_view key, JsonText value) {
      members.emplace_back(
          key,
          figure(fmt::format("transport/connections/{}/{}", key_of(kind), key), std::move(value)));
    };
    if (figures.channels)
      add_text("channels", JsonText::raw(fmt::format("{}", *figures.channels)));
    if (figures.receiver)
      add_text("receiver", JsonText::text(quantity_text(*figures.receiver)));
    if (figures.sender)
      add_text("sender", JsonText::text(quantity_text(*figures.sender)));
    return JsonText::object(std::move(members));
  }

  static JsonText range_text(const CalibratedRange& range) {
    return JsonText::object({{"least_ranks", JsonText::raw(fmt::format("{}", range.least_ranks))},
                             {"most_ranks", JsonText::raw(fmt::format("{}", range.most_ranks))},
                             {"least", JsonText::text(quantity_text(range.least))},
                             {"most", JsonText::text(quantity_text(range.most))}});
  }

  JsonText protocol_text(const ProtocolFigures& protocol) {
    Members members;
    const auto add_text = [&](const std::string& key, JsonText value) {
      members.emplace_back(
          key, figure(fmt::format("transport/{}/{}", protocol.name, key), std::move(value)));
    };
    const auto add_integer = [&](const std::string& key, const std::optional<int64_t>& number) {
      if (number)
        add_text(key, JsonText::raw(fmt::format("{}", *number)));
    };
    const auto add_quantity = [&](const std::string& key, const auto& amount) {
      if (amount)
        add_text(key, JsonText::text(quantity_text(*amount)));
    };
    const auto add_names = [&](const char* key, const std::vector<std::string>& names) {
      std::vector<JsonText> texts;
      for (const std::string& name : names)
        texts.push_back(JsonText::text(name));
      if (!texts.empty())
        members.emplace_back(key, JsonText::list(std::move(texts)));
    };
    add_names("algorithms", protocol.algorithms);
    add_names("ops", protocol.ops);
    if (protocol.spans_nodes)
      members.emplace_back("nodes", JsonText::text(*protocol.spans_nodes ? "several" : "one"));
    const std::optional<Protocol> known = protocol_of_key(protocol.name);
    if (protocol.share != (known ? data_share(*known) : DataShare()) ||
        has_source(fmt::format("transport/{}/efficiency", protocol.name)))
      add_text("efficiency",
               JsonText::text(fmt::format("{}/{}", protocol.share.data, protocol.share.wire)));
    add_quantity("slot", protocol.slot);
    add_integer("slots", protocol.slots);
    add_integer("channels", protocol.channels);
    add_quantity("channel_bytes", protocol.channel_bytes);
    add_integer("pieces", protocol.pieces);
    add_quantity("launch", protocol.launch);
    add_quantity("channel_launch", protocol.channel_launch);
    add_quantity("peer_launch", protocol.peer_launch);
    add_quantity("overhead", protocol.overhead);
    add_quantity("latency", protocol.latency);
    add_quantity("channel_rate", protocol.channel_rate);
    add_quantity("reduce_rate", protocol.reduce_rate);
    add_quantity("store_rate", protocol.store_rate);
    add_quantity("forward_rate", protocol.forward_rate);
    add_quantity("forward_reduce_rate", protocol.forward_reduce_rate);
    add_quantity("copy_rate", protocol.copy_rate);
    if (protocol.network != NetworkFigures())
      members.emplace_back("network", network_text(protocol));
    return JsonText::object(std::move(members));
  }

  JsonText network_text(const ProtocolFigures& protocol) {
    Members members;
    const auto add = [&](std::string_view key, const auto& amount) {
      if (amount)
        members.emplace_back(key, figure(fmt::format("transport/{}/network/{}", protocol.name, key),
                                         JsonText::text(quantity_text(*amount))));
    };
    add("overhead", protocol.network.overhead);
    add("latency", protocol.network.latency);
    add("channel_rate", protocol.network.channel_rate);
    return JsonText::object(std::move(members));
  }

  void add(const std::string& key, const std::string& value) {
    members_.emplace_back(key, figure(key, value));
  }

  void write_links(const Fabric& fabric) {
    const std::vector<std::string> all = fabric.switch_names();
    if (all != switches_by_links(fabric)) {
      std::vector<JsonText> names;
      for (const std::string& name : all)
        names.push_back(JsonText::text(name));
      members_.emplace_back("switches", JsonText::list(std::move(names)));
    }
    std::vector<JsonText> links;
    for (const Link& link : fabric.links())
      links.push_back(
          JsonText::object({{"from", vertex_text(fabric, link.from)},
                            {"to", vertex_text(fabric, link.to)},
                            {"bandwidth", JsonText::text(quantity_text(link.bandwidth))},
                            {"latency", JsonText::text(quantity_text(link.latency))}}));
    if (!fabric.ways().hashed) {
      members_.emplace_back("topology", JsonText::text("links"));
      members_.emplace_back("links", JsonText::list(std::move(links)));
      return;
    }
    members_.emplace_back(
        "topology",
        JsonText::object({{"links", JsonText::list(std::move(links))},
                          {"ways", JsonText::text("hashed")},
                          {"seed", JsonText::raw(fmt::format("{}", fabric.ways().seed))}}));
  }

  void write_reduction(const Fabric& fabric) {
    const std::span<const VertexId> reducing = fabric.reducing_switches();
    const std::string key(kInSwitchReduction);
    if (reducing.empty() && !has_source(key))
      return;
    JsonText value = JsonText::raw(reducing.empty() ? "false" : "true");
    if (!reducing.empty() && reducing.size() < fabric.switches()) {
      std::vector<JsonText> names;
      for (const VertexId id : reducing)
        names.push_back(vertex_text(fabric, id));
      value = JsonText::list(std::move(names));
      const std::vector<VertexId> inside = switches_inside(fabric);
      if (std::equal(reducing.begin(), reducing.end(), inside.begin(), inside.end()))
        value = JsonText::text("inside");
    }
    members_.emplace_back(key, figure(key, std::move(value)));
  }

  void write_device(const DeviceFigures& device) {
    if (device.memory)
      add("memory", quantity_text(*device.memory));
    if (device.memory_bandwidth)
      add("memory_bandwidth", quantity_text(*device.memory_bandwidth));
    add_flops(members_, device.flops, "flops");
    if (device.launch)
      add("launch", quantity_text(*device.launch));
    if (device.reduce_rate)
      add("reduce_rate", quantity_text(*device.reduce_rate));
    if (device.copy_rate)
      add("copy_rate", quantity_text(*device.copy_rate));
    write_efficiency(device);
    Members cores;
    for (const auto& [type, core] : device.cores)
      cores.emplace_back(name(type), core_text(core, fmt::format("cores/{}", name(type))));
    if (!cores.empty())
      members_.emplace_back("cores", JsonText::object(std::move(cores)));
  }

  void add_flops(Members& members, const std::map<Dtype, FlopsPerSecond>& rates,
                 const std::string& path) {
    Members flops;
    for (const auto& [dtype, rate] : rates)
      flops.emplace_back(name(dtype),
                         figure(fmt::format("{}/{}", path, name(dtype)), quantity_text(rate)));
    if (!flops.empty())
      members.emplace_back("flops", JsonText::object(std::move(flops)));
  }

  JsonText core_text(const CoreFigures& core, const std::string& path) {
    Members members;
    const auto add_count = [&](const char* key, const std::optional<int64_t>& count) {
      if (count)
        members.emplace_back(
            key, figure(fmt::format("{}/{}", path, key), JsonText::raw(fmt::format("{}", *count))));
    };
    add_count("cores", core.cores);
    add_count("subcores", core.subcores);
    add_flops(members, core.flops, path + "/flops");
    if (core.launch)
      members.emplace_back("launch", figure(path + "/launch", quantity_text(*core.launch)));
    Members spaces;
    for (const auto& [space, figures] : core.spaces) {
      const std::string own = fmt::format("{}/spaces/{}", path, name(space));
      Members each;
      if (figures.size)
        each.emplace_back("size", figure(own + "/size", quantity_text(*figures.size)));
      if (figures.bandwidth)
        each.emplace_back("bandwidth",
                          figure(own + "/bandwidth", quantity_text(*figures.bandwidth)));
      spaces.emplace_back(name(space), JsonText::object(std::move(each)));
    }
    if (!spaces.empty())
      members.emplace_back("spaces", JsonText::object(std::move(spaces)));
    return JsonText::object(std::move(members));
  }

  static JsonText share_text(Share share) {
    return JsonText::text(fmt::format("{}/{}", share.part, share.whole));
  }

  /// Returns what is reached of a rate: the share, the sizes with which half of it is, the launch,
  /// and the sizes to which they were fitted.
  Members reached(const std::string& path, Share share,
                  const std::vector<std::pair<const char*, int64_t>>& halves,
                  std::optional<Duration> launch, const CalibratedSizes& calibrated) {
    Members members;
    const auto add_own = [&](const char* key, JsonText value) {
      members.emplace_back(key, figure(fmt::format("{}/{}", path, key), std::move(value)));
    };
    add_own("share", share_text(share));
    for (const auto& [key, half] : halves)
      if (half > 0)
        add_own(key, JsonText::raw(fmt::format("{}", half)));
    if (launch)
      add_own("launch", JsonText::text(quantity_text(*launch)));
    Members sizes;
    for (const auto& [name, range] : calibrated)
      sizes.emplace_back(
          name, JsonText::object({{"least", JsonText::raw(fmt::format("{}", range.least))},
                                  {"most", JsonText::raw(fmt::format("{}", range.most))}}));
    if (!sizes.empty())
      members.emplace_back("calibrated", JsonText::object(std::move(sizes)));
    return members;
  }

  void write_efficiency(const DeviceFigures& device) {
    Members members;
    for (const auto& [dtype, of] : device.efficiency) {
      const std::string path = fmt::format("efficiency/{}", name(dtype));
      Members own =
          reached(path, of.share, {{"half_depth", of.half_depth}, {"half_side", of.half_side}},
                  of.launch, of.calibrated);
      if (of.attention)
        own.emplace_back("attention",
                         JsonText::object(reached(path + "/attention", of.attention->share,
                                                  {{"half_keys", of.attention->half_keys}},
                                                  of.attention->launch, of.attention->calibrated)));
      members.emplace_back(std::string(name(dtype)), JsonText::object(std::move(own)));
    }
    if (device.memory_share != Share())
      members.emplace_back("memory", figure("efficiency/memory", share_text(device.memory_share)));
    if (!members.empty())
      members_.emplace_back("efficiency", JsonText::object(std::move(members)));
  }

  const Cluster& cluster_;
  Members members_;
};

}  // namespace

JsonText vertex_text(const Fabric& fabric, VertexId id) {
  if (id.index() < fabric.devices())
    return JsonText::raw(fmt::format("{}", id.index()));
  return JsonText::text(fabric.switch_name(id));
}

JsonText cluster_text(const Cluster& cluster) {
  return ClusterWriter(cluster).write();
}

}  // namespace orrery
