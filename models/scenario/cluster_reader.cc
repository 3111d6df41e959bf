#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/fields.h"
#include "models/scenario/figure_reader.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/topology_json.h"

namespace orrery {

namespace {

/// Returns the hint for a key of "flops" that is neither a dtype nor one with the suffix of a unit.
std::string rate_key_hint(std::string_view key) {
  const std::string_view dtype = key.substr(0, key.find('_'));
  const std::string hint =
      dtype_named(dtype) ? suffix_hint(key, dtype, Dimension::WorkRate) : std::string();
  return hint.empty() ? dtype_hint(key) : hint;
}

constexpr QuantityRange kPositive = {.least = 1};
constexpr int64_t kMostHalf = 1'000'000'000;           // half_depth and half_side
constexpr int64_t kMostCalibrated = int64_t{1} << 40;  // a size of an op

enum class NamedTopology { Ring, Line, FullyConnected, Switch, Links };

std::optional<NamedTopology> read_named_topology(DocumentNode node, Diagnostics& diagnostics) {
  static const std::map<std::string_view, NamedTopology> kNames = {
      {"fully_connected", NamedTopology::FullyConnected},
      {"line", NamedTopology::Line},
      {"links", NamedTopology::Links},
      {"ring", NamedTopology::Ring},
      {"switch", NamedTopology::Switch},
  };
  constexpr std::string_view kExpected =
      "\"ring\", \"line\", \"fully_connected\", \"switch\", \"links\" or an object";
  if (node.kind() != DocumentNode::Kind::Text) {
    expected(node, kExpected, diagnostics);
    return std::nullopt;
  }
  const auto found = kNames.find(node.text());
  if (found != kNames.end())
    return found->second;
  std::vector<std::string_view> names;
  for (const auto& [name, topology] : kNames)
    names.push_back(name);
  diagnostics.add(node.origin(),
                  fmt::format("expected {}, got {}{}", kExpected, in_quotes(node.text()),
                              did_you_mean(node.text(), names)));
  return std::nullopt;
}

VertexId switch_at(const Fabric& fabric, size_t index) {
  return VertexId(fabric.devices() + index);
}

std::vector<VertexId> all_switches(DocumentNode node, const Fabric& fabric,
                                   Diagnostics& diagnostics) {
  if (fabric.switches() == 0)
    diagnostics.add(node.key_origin(), fmt::format("\"{}\" belongs to a cluster that has switches",
                                                   kInSwitchReduction));
  std::vector<VertexId> all;
  for (size_t s = 0; s < fabric.switches(); ++s)
    all.push_back(switch_at(fabric, s));
  return all;
}

std::vector<VertexId> named_switches(DocumentNode list, const Fabric& fabric,
                                     Diagnostics& diagnostics) {
  const std::vector<std::string> switches = fabric.switch_names();
  const std::vector<std::string_view> names(switches.begin(), switches.end());
  std::vector<VertexId> named;
  for (const DocumentNode item : list) {
    const std::optional<std::string> name = read_text(item, "a switch's name", diagnostics);
    if (!name)
      continue;
    const auto found = std::find(names.begin(), names.end(), *name);
    if (found == names.end()) {
      diagnostics.add(item.origin(), fmt::format("expected a switch of the cluster, got {}{}",
                                                 in_quotes(*name), did_you_mean(*name, names)));
      continue;
    }
    const VertexId id = switch_at(fabric, static_cast<size_t>(found - names.begin()));
    if (std::find(named.begin(), named.end(), id) != named.end())
      diagnostics.add(item.origin(), fmt::format("switch {} is named twice", in_quotes(*name)));
    else
      named.push_back(id);
  }
  return named;
}

/// Reads true as all switches, "inside" as those in nodes, false as none, and a list as the
/// switches that it names. `fabric` is null if it has an error; then the names are not looked at.
std::vector<VertexId> read_reducing_switches(DocumentNode node, const Fabric* fabric,
                                             FigureReader& figures, Diagnostics& diagnostics) {
  const std::optional<DocumentNode> value = figures.value(node, std::string(kInSwitchReduction));
  if (!value)
    return {};
  const DocumentNode::Kind kind = value->kind();
  const bool inside = kind == DocumentNode::Kind::Text && value->text() == "inside";
  if (!inside && kind != DocumentNode::Kind::List && kind != DocumentNode::Kind::Boolean) {
    expected(*value, "true, false, \"inside\" or a list of switch names", diagnostics);
    return {};
  }
  if (fabric == nullptr)
    return {};
  if (inside) {
    std::vector<VertexId> switches = switches_inside(*fabric);
    if (switches.empty())
      diagnostics.add(value->origin(),
                      "\"inside\" belongs to the topology \"nodes\" with switches in its nodes");
    return switches;
  }
  if (kind == DocumentNode::Kind::List)
    return named_switches(*value, *fabric, diagnostics);
  return value->boolean() ? all_switches(node, *fabric, diagnostics) : std::vector<VertexId>();
}

class ClusterReader {
 public:
  ClusterReader(DocumentNode node, const Limits& limits, Diagnostics& diagnostics)
      : fields_(node, diagnostics),
        figures_(diagnostics),
        limits_(limits),
        diagnostics_(diagnostics) {}

  std::optional<ClusterDescription> read() {
    const size_t before = diagnostics_.size();
    std::optional<std::string> name;
    if (const auto node = fields_.optional("name"))
      name = read_text(*node, "a name", diagnostics_);
    const std::optional<DocumentNode> given = fields_.object().find("topology");
    const bool by_rule =
        given && given->kind() == DocumentNode::Kind::Object && !given->find("links");
    const std::optional<int64_t> devices = read_devices(by_rule);
    if (const auto node = fields_.optional("switches"))
      read_switches(*node);
    std::optional<NamedTopology> topology;
    std::optional<DocumentNode> links = fields_.optional("links");
    Ways ways;
    if (const auto node = fields_.optional("topology"); node && !by_rule) {
      if (node->kind() == DocumentNode::Kind::Object) {
        Fields inner(*node, diagnostics_);
        links = inner.required("links");
        ways = read_ways(inner, nullptr, diagnostics_);
        inner.finish();
        if (links)
          topology = NamedTopology::Links;
      } else {
        topology = read_named_topology(*node, diagnostics_);
      }
    } else if (links && !by_rule) {
      topology = NamedTopology::Links;
    } else if (!by_rule) {
      fields_.required("topology");
    }
    const std::optional<DocumentNode> reduction = fields_.optional(kInSwitchReduction);
    read_link_figures(devices, topology);
    DeviceFigures device = read_device();
    std::optional<TransportFigures> transport;
    if (const auto node = fields_.optional("transport"))
      transport = read_transport(*node, figures_, diagnostics_);
    NicFigures nic = read_nic();
    const Slices slices = read_slices();
    std::optional<Fabric> fabric;
    if (devices && topology == NamedTopology::Links)
      fabric = read_links(links, static_cast<uint32_t>(*devices), ways);
    else if (links && topology != NamedTopology::Links)
      diagnostics_.add(links->key_origin(), "\"links\" belongs to the topology \"links\"");
    if (switches_given_ && (topology || by_rule) && topology != NamedTopology::Links)
      diagnostics_.add(fields_.object().find("switches")->key_origin(),
                       "\"switches\" belongs to the topology \"links\"");
    if (devices && topology && topology != NamedTopology::Links && diagnostics_.size() == before)
      fabric = build(*topology, *devices);
    if (by_rule)
      if (auto reading = read_topology(*given, {bandwidth_, latency_, "bandwidth", "latency"},
                                       figures_, limits_, diagnostics_)) {
        fabric = std::move(*reading);
        figures_.forget_source("bandwidth");  // the figures of its levels have them now
        figures_.forget_source("latency");
        if (devices && *devices != fabric->devices())
          diagnostics_.add(
              fields_.object().find("devices")->origin(),
              fmt::format("expected {}, the devices of the topology, got {}; \"devices\" may be "
                          "absent",
                          fabric->devices(), *devices));
      }
    std::vector<VertexId> reducing;
    if (reduction)
      reducing =
          read_reducing_switches(*reduction, fabric ? &*fabric : nullptr, figures_, diagnostics_);
    fields_.finish();
    if (diagnostics_.size() != before || !fabric)
      return std::nullopt;
    if (!reducing.empty())
      fabric = fabric->with_reduction(std::move(reducing));
    const std::string own_name =
        default_cluster_name(topology_name(fabric->topology()), fabric->devices());
    return ClusterDescription{{name.value_or(own_name), std::move(*fabric), std::move(device),
                               std::move(figures_).sources(), std::move(transport)},
                              std::move(nic),
                              slices};
  }

 private:
  std::optional<int64_t> read_devices(bool may_be_absent) {
    const std::optional<DocumentNode> node =
        may_be_absent ? fields_.optional("devices") : fields_.required("devices");
    if (!node)
      return std::nullopt;
    const std::optional<int64_t> devices = read_integer(
        *node, "a number of devices", {1, std::numeric_limits<int64_t>::max()}, diagnostics_);
    if (devices && *devices > limits_.devices) {
      diagnostics_.add(node->origin(), beyond(limits_, &Limits::devices, *devices));
      return std::nullopt;
    }
    return devices;
  }

  std::optional<int64_t> figure(std::string_view key, Dimension dimension, QuantityRange range) {
    return figures_.quantity(fields_, key, dimension, range, std::string(key));
  }

  /// Reads the figures of links that do not state their own. A fabric of one device has no links.
  void read_link_figures(std::optional<int64_t> devices, std::optional<NamedTopology> topology) {
    bandwidth_ = figure("bandwidth", Dimension::Rate, kBandwidths);
    latency_ = figure("latency", Dimension::Time, {});
    if (!topology || topology == NamedTopology::Links || devices == 1)
      return;
    for (const auto& [key, dimension] :
         {std::pair("bandwidth", Dimension::Rate), std::pair("latency", Dimension::Time)}) {
      if (!fields_.has_quantity(key, dimension))
        fields_.required(key);
    }
  }

  DeviceFigures read_device() {
    DeviceFigures device;
    if (const auto memory = figure("memory", Dimension::Size, kPositive))
      device.memory = Bytes(*memory);
    if (const auto rate = figure("memory_bandwidth", Dimension::Rate, kPositive))
      device.memory_bandwidth = BytesPerSecond(*rate);
    if (const auto flops = fields_.optional("flops"))
      device.flops = read_flops(*flops, "flops");
    if (const auto launch = figure("launch", Dimension::Time, {}))
      device.launch = Duration(*launch);
    if (const auto rate = figure("reduce_rate", Dimension::Rate, kPositive))
      device.reduce_rate = BytesPerSecond(*rate);
    if (const auto rate = figure("copy_rate", Dimension::Rate, kPositive))
      device.copy_rate = BytesPerSecond(*rate);
    if (const auto efficiency = fields_.optional("efficiency"))
      read_efficiency(*efficiency, device);
    if (const auto cores = fields_.optional("cores"))
      read_cores(*cores, device);
    return device;
  }

  /// Reads "cores": the figures of the cores of each type.
  void read_cores(DocumentNode node, DeviceFigures& device) {
    if (!is_object(node, R"(an object with "tensor", "scalar" and "vector")", diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    for (const CoreType type : {CoreType::Tensor, CoreType::Scalar, CoreType::Vector})
      if (const auto of_type = fields.optional(orrery::name(type)))
        device.cores.emplace(type, read_core(*of_type, type));
    fields.finish();
    if (node.size() == 0)
      diagnostics_.add(node.origin(),
                       "expected at least one of \"tensor\", \"scalar\" and \"vector\", got {}");
  }

  CoreFigures read_core(DocumentNode node, CoreType type) {
    CoreFigures core;
    if (!is_object(node, R"(an object with "cores", "flops", "launch" and "spaces")", diagnostics_))
      return core;
    Fields fields(node, diagnostics_);
    const std::string path = fmt::format("cores/{}", orrery::name(type));
    constexpr IntegerRange kCount = {1, 1'000'000};
    core.cores = figures_.integer(fields, "cores", "a number of cores", kCount, path + "/cores");
    if (type == CoreType::Vector)
      core.subcores =
          figures_.integer(fields, "subcores", "a number of subcores", kCount, path + "/subcores");
    if (const auto flops = fields.optional("flops"))
      core.flops = read_flops(*flops, path + "/flops");
    core.launch = read_own_launch(fields, path);
    if (const auto spaces = fields.optional("spaces"))
      read_spaces(*spaces, path + "/spaces", core);
    fields.finish();
    return core;
  }

  void read_spaces(DocumentNode node, const std::string& path, CoreFigures& core) {
    if (!is_object(node, R"(an object with "vmem_shared", "vmem" and "smem")", diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    for (const CoreSpace space : {CoreSpace::VmemShared, CoreSpace::Vmem, CoreSpace::Smem}) {
      const auto given = fields.optional(orrery::name(space));
      if (!given || !is_object(*given, R"(an object with "size" and "bandwidth")", diagnostics_))
        continue;
      Fields figures(*given, diagnostics_);
      const std::string own = fmt::format("{}/{}", path, orrery::name(space));
      CoreFigures::Space read;
      if (const auto size =
              figures_.quantity(figures, "size", Dimension::Size, kPositive, own + "/size"))
        read.size = Bytes(*size);
      if (const auto rate = figures_.quantity(figures, "bandwidth", Dimension::Rate, kPositive,
                                              own + "/bandwidth"))
        read.bandwidth = BytesPerSecond(*rate);
      figures.finish();
      core.spaces.emplace(space, read);
    }
    fields.finish();
  }

  /// Reads "efficiency": what kernels reach of the peak rates.
  void read_efficiency(DocumentNode node, DeviceFigures& device) {
    if (!is_object(node, "an object with what is reached per dtype, and of \"memory\"",
                   diagnostics_))
      return;
    Fields fields(node, diagnostics_);
    if (const auto share = figures_.share(fields, "memory", "efficiency/memory"))
      device.memory_share = {share->data, share->wire};
    for (const DocumentNode member : node) {
      if (member.key() == "memory")
        continue;
      fields.optional(member.key());
      const std::optional<Dtype> dtype = dtype_named(member.key());
      if (!dtype || !device.flops.contains(*dtype))
        diagnostics_.add(member.key_origin(),
                         fmt::format("expected \"memory\" or a dtype of \"flops\" as key, got {}",
                                     in_quotes(member.key())));
      else if (const auto read = read_efficiency(member, std::string(orrery::name(*dtype)));
               read && !device.efficiency.emplace(*dtype, *read).second)
        diagnostics_.add(member.key_origin(),
                         fmt::format("the efficiency of {} is given twice", orrery::name(*dtype)));
    }
  }

  std::optional<FlopsEfficiency> read_efficiency(DocumentNode node, const std::string& dtype) {
    if (!is_object(
            node,
            R"(an object with "share", "half_depth", "half_side", "launch", "attention" and )"
            R"("calibrated")",
            diagnostics_))
      return std::nullopt;
    Fields fields(node, diagnostics_);
    const std::string path = fmt::format("efficiency/{}", dtype);
    FlopsEfficiency efficiency;
    efficiency.share = read_share_reached(fields, path);
    efficiency.half_depth = read_half(fields, "half_depth", path);
    efficiency.half_side = read_half(fields, "half_side", path);
    efficiency.launch = read_own_launch(fields, path);
    if (const auto own = fields.optional("attention"))
      efficiency.attention = read_attention(*own, path + "/attention");
    efficiency.calibrated = read_calibrated(fields, kProductSizes);
    fields.finish();
    return efficiency;
  }

  std::optional<AttentionEfficiency> read_attention(DocumentNode node, const std::string& path) {
    if (!is_object(node, R"(an object with "share", "half_keys", "launch" and "calibrated")",
                   diagnostics_))
      return std::nullopt;
    Fields fields(node, diagnostics_);
    AttentionEfficiency efficiency;
    if (!node.find("share"))
      diagnostics_.add(node.origin(), "missing key \"share\"");
    efficiency.share = read_share_reached(fields, path);
    efficiency.half_keys = read_half(fields, "half_keys", path);
    efficiency.launch = read_own_launch(fields, path);
    efficiency.calibrated = read_calibrated(fields, kAttentionSizes);
    fields.finish();
    return efficiency;
  }

  CalibratedSizes read_calibrated(Fields& fields, std::span<const std::string_view> names) {
    CalibratedSizes calibrated;
    const std::optional<DocumentNode> node = fields.optional("calibrated");
    if (!node || !is_object(*node, "an object with a range per size", diagnostics_))
      return calibrated;
    Fields sizes(*node, diagnostics_);
    for (const std::string_view name : names)
      if (const auto range = sizes.optional(name))
        if (const auto read = read_size_range(*range))
          calibrated.emplace(name, *read);
    sizes.finish();
    return calibrated;
  }

  std::optional<SizeRange> read_size_range(DocumentNode node) {
    if (!is_object(node, R"(an object with "least" and "most")", diagnostics_))
      return std::nullopt;
    Fields fields(node, diagnostics_);
    const auto bound = [&](std::string_view key) {
      const std::optional<DocumentNode> number = fields.required(key);
      return number ? read_integer(*number, "a size", {1, kMostCalibrated}, diagnostics_)
                    : std::optional<int64_t>();
    };
    const std::optional<int64_t> least = bound("least");
    const std::optional<int64_t> most = bound("most");
    fields.finish();
    if (!least || !most)
      return std::nullopt;
    if (*least > *most) {
      diagnostics_.add(node.origin(), "expected the least to be at most the most");
      return std::nullopt;
    }
    return SizeRange{*least, *most};
  }

  Share read_share_reached(Fields& fields, const std::string& path) {
    const auto share = figures_.share(fields, "share", path + "/share");
    return share ? Share{share->data, share->wire} : Share();
  }

  int64_t read_half(Fields& fields, const char* key, const std::string& path) {
    return figures_
        .integer(fields, key, "a whole number", {1, kMostHalf}, fmt::format("{}/{}", path, key))
        .value_or(0);
  }

  std::optional<Duration> read_own_launch(Fields& fields, const std::string& path) {
    const auto launch = figures_.quantity(fields, "launch", Dimension::Time, {}, path + "/launch");
    return launch ? std::optional(Duration(*launch)) : std::nullopt;
  }

  std::optional<TransportFigures> read_nic_transport(DocumentNode node, FigureReader& figures) {
    for (const char* const key : {"host_launch", "connections"})
      if (const auto found = node.find(key))
        diagnostics_.add(found->key_origin(),
                         fmt::format("expected \"{}\" in the cluster's own transport", key));
    return read_transport(node, figures, diagnostics_);
  }

  NicFigures read_nic() {
    NicFigures nic;
    const std::optional<DocumentNode> node = fields_.optional("nic");
    if (!node || !is_object(*node, "an object with \"bandwidth\", \"latency\" and \"transport\"",
                            diagnostics_))
      return nic;
    Fields own(*node, diagnostics_);
    FigureReader figures(diagnostics_);
    nic.bandwidth = figures.quantity(own, "bandwidth", Dimension::Rate, kBandwidths, "bandwidth");
    nic.latency = figures.quantity(own, "latency", Dimension::Time, {}, "latency");
    if (const auto transport = own.optional("transport"))
      nic.transport = read_nic_transport(*transport, figures);
    own.finish();
    nic.sources = std::move(figures).sources();
    return nic;
  }

  Slices read_slices() {
    const std::optional<DocumentNode> node = fields_.optional("slices");
    const std::optional<DocumentNode> value = node ? figures_.value(*node, "slices") : std::nullopt;
    figures_.forget_source("slices");
    if (!value)
      return Slices::None;
    const auto word = read_word(*value, {"cubes", "whole_axes"}, diagnostics_);
    return word == "cubes" ? Slices::Cubes : Slices::WholeAxes;
  }

  std::map<Dtype, FlopsPerSecond> read_flops(DocumentNode node, const std::string& path) {
    std::map<Dtype, FlopsPerSecond> flops;
    if (!is_object(node, "an object with a compute rate per dtype", diagnostics_))
      return flops;
    Fields rates(node, diagnostics_);
    std::set<std::string_view> read;
    for (const DocumentNode member : node) {
      const std::string_view key = without_suffix(member.key(), Dimension::WorkRate);
      if (!read.insert(key).second)
        continue;
      const std::optional<Dtype> dtype = dtype_named(key);
      if (!dtype) {
        diagnostics_.add(member.key_origin(),
                         fmt::format("expected a dtype such as \"bf16\" as key, got {}{}",
                                     in_quotes(member.key()), rate_key_hint(member.key())));
        continue;
      }
      const std::optional<int64_t> rate =
          figures_.quantity(rates, key, Dimension::WorkRate, kPositive,
                            fmt::format("{}/{}", path, orrery::name(*dtype)));
      if (rate && !flops.emplace(*dtype, FlopsPerSecond(*rate)).second)
        diagnostics_.add(member.key_origin(),
                         fmt::format("the rate of {} is given twice", orrery::name(*dtype)));
    }
    return flops;
  }

  /// Makes the fabric of a named topology. Requires that there was no error so far.
  std::optional<Fabric> build(NamedTopology topology, int64_t devices) {
    const auto count = static_cast<uint32_t>(devices);
    const LinkFigures figures{BytesPerSecond(bandwidth_.value_or(1)),
                              Duration(latency_.value_or(0))};
    const bool full = topology == NamedTopology::FullyConnected;
    const int64_t links = full ? devices * (devices - 1) : 2 * devices;
    if (links > limits_.links) {
      diagnostics_.add(fields_.object().origin(),
                       beyond(limits_, &Limits::links,
                              fmt::format("{} between {} devices{}", links, devices,
                                          full ? " fully connected" : "")));
      return std::nullopt;
    }
    if (topology == NamedTopology::Ring)
      return ring_fabric(count, figures);
    if (topology == NamedTopology::Line)
      return line_fabric(count, figures);
    return full ? fully_connected_fabric(count, figures) : switch_fabric(count, figures);
  }

  std::optional<Fabric> read_links(std::optional<DocumentNode> list, uint32_t devices, Ways ways) {
    if (!list) {
      fields_.required("links");
      return std::nullopt;
    }
    if (!is_list(*list, "a list of links", diagnostics_))
      return std::nullopt;
    if (list->size() > static_cast<size_t>(limits_.links)) {
      diagnostics_.add(list->origin(),
                       beyond(limits_, &Limits::links, static_cast<int64_t>(list->size())));
      return std::nullopt;
    }
    std::vector<Link> links;
    for (const DocumentNode node : *list) {
      if (is_object(node, "a link such as {\"from\": 0, \"to\": \"s0\"}", diagnostics_)) {
        if (const auto link = read_link(node, devices))
          links.push_back(*link);
      }
    }
    return Fabric(devices, std::move(switches_), std::move(links), ways);
  }

  std::optional<Link> read_link(DocumentNode node, uint32_t devices) {
    Fields fields(node, diagnostics_);
    const auto end = [&](std::string_view key) -> std::optional<VertexId> {
      const std::optional<DocumentNode> found = fields.required(key);
      return found ? read_vertex(*found, devices) : std::nullopt;
    };
    const std::optional<VertexId> from = end("from");
    const std::optional<VertexId> to = end("to");
    const auto own = [&](std::string_view key, Dimension dimension, QuantityRange range,
                         std::optional<int64_t> inherited) {
      if (inherited && !fields.has_quantity(key, dimension)) {
        fields.optional(key);
        return inherited;
      }
      return fields.required_quantity(key, dimension, range);
    };
    const auto rate = own("bandwidth", Dimension::Rate, kBandwidths, bandwidth_);
    const auto time = own("latency", Dimension::Time, {}, latency_);
    fields.finish();
    if (from && to && *from == *to) {
      diagnostics_.add(node.origin(), "expected a link between two different places");
      return std::nullopt;
    }
    if (!from || !to || !rate || !time)
      return std::nullopt;
    return Link{*from, *to, BytesPerSecond(*rate), Duration(*time)};
  }

  /// Reads the names of the switches. If they are not given, the links name them.
  void read_switches(DocumentNode node) {
    if (!is_list(node, "a list of switch names", diagnostics_))
      return;
    switches_given_ = true;
    for (const DocumentNode item : node) {
      const std::optional<std::string> name = read_text(item, "a switch's name", diagnostics_);
      if (name && !switch_ids_.emplace(*name, switches_.size()).second)
        diagnostics_.add(item.origin(), fmt::format("switch {} is named twice", in_quotes(*name)));
      else if (name)
        switches_.push_back(*name);
    }
  }

  std::optional<VertexId> read_switch(DocumentNode node, uint32_t devices) {
    auto found = switch_ids_.find(node.text());
    if (found == switch_ids_.end() && switches_given_) {
      const std::vector<std::string_view> names(switches_.begin(), switches_.end());
      diagnostics_.add(node.origin(),
                       fmt::format("expected one of \"switches\", got {}{}", in_quotes(node.text()),
                                   did_you_mean(node.text(), names)));
      return std::nullopt;
    }
    if (found == switch_ids_.end()) {
      found = switch_ids_.emplace(node.text(), switches_.size()).first;
      switches_.push_back(node.text());
    }
    return VertexId(devices + found->second);
  }

  /// Reads a device by its number, or a switch by its name.
  std::optional<VertexId> read_vertex(DocumentNode node, uint32_t devices) {
    if (node.kind() == DocumentNode::Kind::Text)
      return read_switch(node, devices);
    const std::optional<int64_t> device =
        read_integer(node, "a switch's name or a device", {0, int64_t{devices} - 1}, diagnostics_);
    return device ? std::optional(VertexId(static_cast<size_t>(*device))) : std::nullopt;
  }

  Fields fields_;
  FigureReader figures_;
  const Limits& limits_;
  Diagnostics& diagnostics_;
  std::vector<std::string> switches_;
  std::map<std::string, size_t> switch_ids_;  // places in switches_
  bool switches_given_ = false;
  std::optional<int64_t> bandwidth_, latency_;  // for links that do not state their own
};

}  // namespace

std::optional<ClusterDescription> read_description(DocumentNode node, const Limits& limits,
                                                   Diagnostics& diagnostics) {
  return ClusterReader(node, limits, diagnostics).read();
}

}  // namespace orrery
