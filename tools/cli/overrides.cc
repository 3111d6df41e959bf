#include "tools/cli/overrides.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/array/dtype.h"
#include "models/base/characters.h"
#include "models/base/diagnostics.h"
#include "models/program/rules.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/fields.h"
#include "simulator/algorithm/algorithms.h"
#include "tools/cli/inputs.h"

namespace orrery {
namespace {

constexpr const char* kAlgorithm = "--algorithm";

void require_one_of(const std::vector<std::string_view>& names, std::string_view name,
                    std::string_view after) {
  if (std::find(names.begin(), names.end(), name) == names.end())
    refuse(kAlgorithm, fmt::format("expected one of {}{}, got \"{}\"{}", fmt::join(names, ", "),
                                   after, name, did_you_mean(name, names)));
}

OpKind collective_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OpRules& op : all_rules())
    if (takes_algorithm(op))
      names.push_back(op.name);
  require_one_of(names, name, "");
  const auto named = [&](const OpRules& op) { return op.name == name; };
  return std::find_if(all_rules().begin(), all_rules().end(), named)->kind;
}

constexpr const char* kOption = "--cluster-figure";

/// The keys of a protocol that are figures.
constexpr std::array<std::string_view, 17> kOfProtocol = {"slot",
                                                          "slots",
                                                          "channels",
                                                          "channel_bytes",
                                                          "pieces",
                                                          "launch",
                                                          "channel_launch",
                                                          "peer_launch",
                                                          "overhead",
                                                          "latency",
                                                          "channel_rate",
                                                          "reduce_rate",
                                                          "store_rate",
                                                          "copy_rate",
                                                          "efficiency",
                                                          "forward_rate",
                                                          "forward_reduce_rate"};
constexpr std::array<std::string_view, 3> kOfNetwork = {"overhead", "latency", "channel_rate"};
constexpr std::array<std::string_view, 3> kOfConnections = {"channels", "receiver", "sender"};
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

/// Returns the key of a dtype's flops. A dtype may have several names, of which files have one.
std::string flops_key(const std::string& called, const std::string& dtype) {
  const std::optional<Dtype> known = dtype_named(dtype);
  if (!known)
    refuse(kOption, fmt::format("{}: expected a dtype such as \"bf16\", got \"{}\"{}", called,
                                dtype, dtype_hint(dtype)));
  return std::string(name(*known));
}

/// Returns the place of a figure of connections, which is its name in parts.
std::vector<std::string> connections_place(const std::string& name,
                                           std::vector<std::string> parts) {
  std::vector<std::string_view> kinds;
  for (const ConnectionKind kind : kConnectionKinds)
    kinds.push_back(key_of(kind));
  require_name(name, parts[2], kinds);
  require_name(name, parts[3], kOfConnections);
  return parts;
}

/// Returns the place of a figure of efficiency, whose name has these parts.
std::vector<std::string> efficiency_place(const std::string& name, std::vector<std::string> parts) {
  constexpr std::array<std::string_view, 4> kOfDtype = {"share", "half_depth", "half_side",
                                                        "launch"};
  constexpr std::array<std::string_view, 3> kOfAttention = {"share", "half_keys", "launch"};
  if (parts.size() == 2 && parts[1] == "memory")
    return parts;
  const bool of_attention = parts.size() == 4 && parts[2] == "attention";
  if (parts.size() != 3 && !of_attention)
    refuse(kOption, fmt::format("expected efficiency/memory, efficiency/DTYPE/FIGURE or "
                                "efficiency/DTYPE/attention/FIGURE, got \"{}\"",
                                name));
  parts[1] = flops_key(name, parts[1]);
  if (of_attention)
    require_name(name, parts[3], kOfAttention);
  else
    require_name(name, parts[2], kOfDtype);
  return parts;
}

/// Returns the place of a figure of cores, which is its name in parts.
std::vector<std::string> cores_place(const std::string& name, std::vector<std::string> parts) {
  constexpr std::array<std::string_view, 3> kOfType = {"cores", "subcores", "launch"};
  constexpr std::array<std::string_view, 3> kSpaces = {"vmem_shared", "vmem", "smem"};
  constexpr std::array<std::string_view, 2> kOfSpace = {"size", "bandwidth"};
  const bool of_flops = parts.size() == 4 && parts[2] == "flops";
  const bool of_space = parts.size() == 5 && parts[2] == "spaces";
  if (parts.size() != 3 && !of_flops && !of_space)
    refuse(kOption, fmt::format("expected cores/TYPE/FIGURE, cores/TYPE/flops/DTYPE or "
                                "cores/TYPE/spaces/SPACE/FIGURE, got \"{}\"",
                                name));
  require_name(name, parts[1], kCoreTypes);
  if (of_flops) {
    parts[3] = flops_key(name, parts[3]);
  } else if (of_space) {
    require_name(name, parts[3], kSpaces);
    require_name(name, parts[4], kOfSpace);
  } else {
    require_name(name, parts[2], kOfType);
  }
  return parts;
}

/// Returns the place of a figure in a cluster's file.
std::vector<std::string> place_of(const std::string& name, const Cluster& cluster) {
  std::vector<std::string> parts = parts_of(name);
  if (parts.size() == 1 &&
      std::find(kOfCluster.begin(), kOfCluster.end(), name) != kOfCluster.end())
    return parts;
  if (parts.size() == 2 && parts[0] == "flops")
    return {parts[0], flops_key(name, parts[1])};
  if (parts[0] == "efficiency")
    return efficiency_place(name, std::move(parts));
  if (parts[0] == "cores")
    return cores_place(name, std::move(parts));
  const bool of_connections = parts.size() == 4 && parts[1] == "connections";
  const bool of_network = parts.size() == 4 && parts[2] == "network";
  if ((parts.size() != 3 && !of_connections && !of_network) || parts[0] != "transport")
    refuse(
        kOption,
        fmt::format("expected {}, flops/DTYPE, efficiency/.., cores/.., transport/PROTOCOL/FIGURE, "
                    "transport/PROTOCOL/network/FIGURE, transport/host_launch/OP or "
                    "transport/connections/KIND/FIGURE, got \"{}\"{}",
                    fmt::join(kOfCluster, ", "), name,
                    did_you_mean(name, {kOfCluster.begin(), kOfCluster.end()})));
  if (!cluster.transport)
    refuse(kOption, fmt::format("{}: the cluster has no transport", name));
  if (of_connections)
    return connections_place(name, std::move(parts));
  if (parts[1] == "host_launch") {
    require_name(name, parts[2], timed_ops());
    return parts;
  }
  std::vector<std::string_view> protocols;
  for (const ProtocolFigures& protocol : cluster.transport->protocols)
    protocols.push_back(protocol.name);
  require_name(name, parts[1], protocols);
  if (of_network)
    require_name(name, parts[3], kOfNetwork);
  else
    require_name(name, parts[2], kOfProtocol);
  parts.insert(parts.begin() + 1, "protocols");
  return parts;
}

Cluster with_setting(const Cluster& cluster, const std::string& setting, const Limits& limits) {
  if (not_utf8_at(setting) || has_control_character(setting))
    refuse(kOption, "expected NAME=VALUE in printable UTF-8");
  const size_t equals = setting.find('=');
  if (equals == std::string::npos)
    refuse(kOption, fmt::format("expected NAME=VALUE, got \"{}\"", setting));
  const std::string name = setting.substr(0, equals);
  Diagnostics diagnostics{std::string(kOption)};
  std::optional<Cluster> made = with_figure(cluster,
                                            {place_of(name, cluster),
                                             setting.substr(equals + 1),
                                             {name, std::string(kOverridden), kOption, "this run"}},
                                            limits, diagnostics);
  diagnostics.throw_if_any();
  return std::move(*made);
}

}  // namespace

std::map<std::string, std::string> set_algorithms(Program& program,
                                                  const std::vector<std::string>& settings) {
  std::map<OpKind, std::string> chosen;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    const std::string_view op = std::string_view(setting).substr(0, equals);
    const OpKind kind = collective_named(op);
    if (equals == std::string::npos)
      refuse(kAlgorithm, fmt::format("expected {0}=ALGORITHM, got \"{0}\"", op));
    const std::string algorithm = setting.substr(equals + 1);
    std::vector<std::string_view> names;
    bool hierarchical = false;
    for (const Algorithm* each : algorithms_for(kind)) {
      names.push_back(each->name);
      hierarchical |= each->is_called(kHierarchical);
    }
    if (hierarchical)
      names.push_back(kHierarchical);
    require_one_of(names, algorithm, fmt::format(" for {}", op));
    if (!chosen.emplace(kind, algorithm).second)
      refuse(kAlgorithm, fmt::format("{} is given twice", op));
  }
  std::map<std::string, std::string> unused;
  for (const auto& [kind, algorithm] : chosen) {
    bool any = false;
    bool sets = false;
    for (Op& op : program.ops) {
      if (op.kind != kind || !op.site)
        continue;
      any = true;
      if (op.hints.algorithm)
        continue;
      op.hints.algorithm = algorithm;
      sets = true;
    }
    const std::string name(rules(kind).name);
    if (!sets)
      unused[name] = any ? fmt::format("expected a {} that names no algorithm, got none", name)
                         : fmt::format("expected a {} in the program, got none", name);
  }
  return unused;
}

void refuse_unused(const std::map<std::string, std::string>& unused) {
  if (!unused.empty())
    refuse(kAlgorithm, unused.begin()->second);
}

Cluster with_figures(Cluster cluster, const std::vector<std::string>& settings,
                     const Limits& limits) {
  for (const std::string& setting : settings)
    cluster = with_setting(cluster, setting, limits);
  return cluster;
}

}  // namespace orrery
