#include "tools/cli/cluster_figure.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/program/did_you_mean.h"
#include "models/scenario/cluster_reader.h"
#include "models/scenario/cluster_writer.h"
#include "models/scenario/document.h"
#include "tools/cli/inputs.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOption = "--cluster-figure";

/// The keys of a protocol that are figures, but for its efficiency, which is a share.
constexpr std::array<std::string_view, 14> kOfProtocol = {
    "pieces", "slot",           "slots",       "channels",  "channel_bytes", "launch",
    "channel_launch", "peer_launch", "overhead",  "latency",       "channel_rate",
    "reduce_rate",    "store_rate",  "efficiency"};
constexpr std::array<std::string_view, 7> kOfCluster = {
    "bandwidth", "latency", "memory", "memory_bandwidth", "launch", "reduce_rate", "copy_rate"};

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', begin)) {
    parts.push_back(name.substr(begin, slash - begin));
    begin = slash + 1;
  }
  parts.push_back(name.substr(begin));
  return parts;
}

template <class Names>
void require_name(const std::string& called, std::string_view name, const Names& names) {
  if (std::find(names.begin(), names.end(), name) != names.end())
    return;
  refuse(kOption,
         fmt::format("{}: expected one of {}, got \"{}\"{}", called, fmt::join(names, ", "), name,
                     did_you_mean(name, {names.begin(), names.end()})));
}

/// Where a figure is in a cluster's file.
std::vector<std::string> place_of(const std::string& name, const Cluster& cluster) {
  std::vector<std::string> parts = parts_of(name);
  if (parts.size() == 1) {
    require_name(name, parts[0], kOfCluster);
    return parts;
  }
  if (parts.size() == 2 && parts[0] == "flops")
    return parts;
  if (parts.size() != 3 || parts[0] != "transport")
    refuse(kOption, fmt::format("expected {}, flops/DTYPE, transport/PROTOCOL/FIGURE or "
                                "transport/host_launch/OP, got \"{}\"",
                                fmt::join(kOfCluster, ", "), name));
  if (!cluster.transport)
    refuse(kOption, fmt::format("{}: the cluster has no transport", name));
  if (parts[1] == "host_launch")
    return parts;
  std::vector<std::string_view> protocols;
  for (const ProtocolFigures& protocol : cluster.transport->protocols)
    protocols.push_back(protocol.name);
  require_name(name, parts[1], protocols);
  require_name(name, parts[2], kOfProtocol);
  parts.insert(parts.begin() + 1, "protocols");
  return parts;
}

Json value_of(const std::string& text) {
  const bool number = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  return number && text.size() < 10 ? Json(std::stoi(text)) : Json(text);
}

Cluster read_again(const std::string& text, const std::string& setting, const Limits& limits) {
  Diagnostics diagnostics(fmt::format("{} {}", kOption, setting));
  const Document document(text, diagnostics, limits);
  std::optional<ClusterReading> read;
  if (const std::optional<DocumentNode> root = document.root())
    read = read_cluster(*root, limits, diagnostics);
  diagnostics.throw_if_any();
  return std::move(read->cluster);
}

Cluster with_figure(const Cluster& cluster, const std::string& setting, const Limits& limits) {
  const size_t equals = setting.find('=');
  if (equals == std::string::npos)
    refuse(kOption, fmt::format("expected NAME=VALUE, got \"{}\"", setting));
  const std::string name = setting.substr(0, equals);
  Json json = Json::parse(cluster_text(cluster).lines());
  if ((name == "bandwidth" || name == "latency") && json["topology"] == "links")
    refuse(kOption, fmt::format("{}: each link of {} has its own", name, cluster.name));
  Json* figure = &json;
  for (const std::string& key : place_of(name, cluster))
    figure = &(*figure)[key];
  *figure = {{"value", value_of(setting.substr(equals + 1))},
             {"label", kOverridden},
             {"source", kOption},
             {"date", "this run"}};
  Cluster made = read_again(json.dump(), setting, limits);
  made.name = cluster.name;
  return made;
}

}  // namespace

Cluster with_figures(Cluster cluster, const std::vector<std::string>& settings,
                     const Limits& limits) {
  for (const std::string& setting : settings)
    cluster = with_figure(cluster, setting, limits);
  return cluster;
}

}  // namespace orrery
