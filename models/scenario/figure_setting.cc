#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/base/compiler.h"
#include "models/scenario/cluster_json.h"
#include "models/scenario/document.h"
#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the value as a file states it: figures that count something are numbers.
Json value_of(const std::string& figure, const std::string& text) {
  const bool counts = figure == "slots" || figure == "channels" || figure == "pieces" ||
                      figure == "cores" || figure == "subcores" || figure.starts_with("half_");
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  return counts && digits && text.size() < 10 ? Json(std::stoi(text)) : Json(text);
}

/// Reads a cluster whose text is new only in the figure's value, so any error is about that value.
std::optional<Cluster> read_again(const std::string& text, const std::string& figure,
                                  const Limits& limits, Diagnostics& diagnostics) {
  try {
    Diagnostics of_text{""};
    const Document document(text, of_text, limits);
    std::optional<ClusterReading> read;
    if (const std::optional<DocumentNode> root = document.root())
      read = read_cluster(*root, limits, of_text);
    of_text.throw_if_any();
    return std::move(read->cluster);
  } catch (const InputError& error) {
    diagnostics.add(fmt::format("{}: {}", figure, error.diagnostics().front().message));
    return std::nullopt;
  }
}

/// Returns by how much the figure under this key is multiplied, as a numerator and a denominator.
std::pair<int64_t, int64_t> factor_of(Improvement how, std::string_view key, std::string_view in,
                                      bool of_transport) {
  constexpr std::pair<int64_t, int64_t> kSame(1, 1);
  constexpr std::pair<int64_t, int64_t> kTwice(2, 1);
  constexpr std::pair<int64_t, int64_t> kNone(0, 1);
  if (in == "efficiency")
    return kSame;
  const bool of_space = std::find(kCoreSpaces.begin(), kCoreSpaces.end(), in) != kCoreSpaces.end();
  switch (how) {
    case Improvement::FasterLinks:
      return (key == "bandwidth" && !of_space) || (of_transport && key.ends_with("_rate")) ? kTwice
                                                                                           : kSame;
    case Improvement::FasterFlops:
      return in == "flops" ? kTwice : kSame;
    case Improvement::FasterMemory:
      return key == "memory_bandwidth" || (key == "bandwidth" && of_space) ||
                     (!of_transport && key.ends_with("_rate"))
                 ? kTwice
                 : kSame;
    case Improvement::NoLatency:
      return key == "latency" ? kNone : kSame;
    case Improvement::NoLaunch:
      return key == "launch" || key == "channel_launch" || key == "peer_launch" ? kNone : kSame;
    case Improvement::MoreMemory:
      break;
  }
  return key == "memory" ? std::pair<int64_t, int64_t>(5, 4) : kSame;
}

/// Multiplies the figures under `json`, which stands under `key` of an object under `in`.
void improve(Json& json, Improvement how, std::string_view key, std::string_view in,
             bool of_transport) {
  if (json.is_array()) {
    for (Json& item : json)
      improve(item, how, key, in, of_transport);
  } else if (json.is_object() && !json.contains("value")) {
    for (auto& [name, member] : json.items())
      improve(member, how, name, key, of_transport || name == "transport");
  } else if (const auto [times, by] = factor_of(how, key, in, of_transport); times != by) {
    Json& text = json.is_object() ? json["value"] : json;
    for (const Dimension dimension :
         {Dimension::Time, Dimension::Size, Dimension::Rate, Dimension::WorkRate})
      if (const QuantityReading read = read_quantity(text.get<std::string>(), dimension);
          read.count) {
        const Int128 multiplied = Int128{*read.count} * times / by;
        constexpr Int128 kMost = std::numeric_limits<int64_t>::max();
        text = quantity_text(static_cast<int64_t>(std::min(multiplied, kMost)), dimension);
        break;
      }
  }
}

/// Lets all links of a list take their figures from the cluster. Returns false if they differ. A
/// topology that is no list does so already.
bool take_from_links(Json& cluster) {
  if (!cluster.contains("links"))
    return true;
  Json links = cluster["links"];  // a copy: a new key moves the members of an ordered object
  if (links.empty())
    return false;
  for (const char* const key : {"bandwidth", "latency"}) {
    const Json common = links[0][key];
    for (Json& link : links) {
      if (link[key] != common)
        return false;
      link.erase(key);
    }
    if (!cluster.contains(key))
      cluster[key] = common;
  }
  cluster["links"] = std::move(links);
  return true;
}

/// Copies the places that figures have in the user's file. The figure that was set has none there.
void keep_origins(const Cluster& from, const std::vector<std::string>& set, Cluster& to) {
  if (!from.transport)
    return;
  for (size_t p = 0; p < from.transport->protocols.size(); ++p) {
    const ProtocolFigures& before = from.transport->protocols[p];
    ProtocolFigures& now = to.transport->protocols[p];
    const std::vector<std::string> slot = {"transport", "protocols", now.name, "slot"};
    now.algorithms_origin = before.algorithms_origin;
    now.slot_origin = set == slot ? Origin() : before.slot_origin;
  }
  for (auto& [kind, now] : to.transport->connections)
    if (const auto before = from.transport->connections.find(kind);
        before != from.transport->connections.end())
      now.origin = before->second.origin;
}

}  // namespace

std::optional<Cluster> with_figure(const Cluster& cluster, const FigureSetting& setting,
                                   const Limits& limits, Diagnostics& diagnostics) {
  Json json = Json::parse(cluster_text(cluster).lines());
  const bool of_links = setting.place.front() == "bandwidth" || setting.place.front() == "latency";
  if (of_links && json["topology"].is_object()) {
    diagnostics.add(
        fmt::format("{}: the topology states the figures of its links", setting.source.figure));
    return std::nullopt;
  }
  if (of_links && !take_from_links(json)) {
    diagnostics.add(fmt::format("{}: each link of the cluster has its own", setting.source.figure));
    return std::nullopt;
  }
  Json* figure = &json;
  for (const std::string& key : setting.place)
    figure = &(*figure)[key];
  *figure = {{"value", value_of(setting.place.back(), setting.value)},
             {"label", setting.source.label},
             {"source", setting.source.source},
             {"date", setting.source.date}};
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::optional<Cluster> made = read_again(text, setting.source.figure, limits, diagnostics);
  if (made) {
    made->name = cluster.name;
    keep_origins(cluster, setting.place, *made);
  }
  return made;
}

std::optional<Cluster> improved(const Cluster& cluster, Improvement how, const Limits& limits) {
  Json json = Json::parse(cluster_text(cluster).lines());
  improve(json, how, "", "", false);
  Diagnostics ignored("");
  std::optional<Cluster> made = read_again(json.dump(), "", limits, ignored);
  if (made) {
    made->name = cluster.name;
    keep_origins(cluster, {}, *made);
  }
  return made;
}

}  // namespace orrery
