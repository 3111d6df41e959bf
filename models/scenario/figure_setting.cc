#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/scenario/cluster_json.h"
#include "models/scenario/document.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the value as a file states it: figures that count something are numbers.
Json value_of(const std::string& figure, const std::string& text) {
  const bool counts = figure == "slots" || figure == "channels" || figure == "pieces";
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

}  // namespace orrery
