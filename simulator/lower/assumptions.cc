#include "simulator/lower/assumptions.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/program/rules.h"
#include "models/scenario/quantity_text.h"
#include "simulator/lower/extrapolation.h"

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
  if (!device.launch)
    labels.emplace_back(launched_by_protocol ? "launch: 0 besides the protocols' (not given)"
                                             : "launch: 0 (not given)");
  if (!device.reduce_rate && reduces)
    labels.emplace_back("reduce_rate: infinite (not given)");
  if (!device.copy_rate && copies)
    labels.emplace_back("copy_rate: infinite (not given)");
  if (std::any_of(collectives.begin(), collectives.end(), in_switch))
    labels.emplace_back("in-switch reduction: as fast as the switch's links (not given)");
  return labels;
}

namespace {

/// The figures that a protocol lacks, of those that times depend on.
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
    add("messages are not cut (no slot given)");
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
    labels.emplace_back("transport: some collectives are served by no protocol: passed whole");
  for (std::string& text : extrapolated_labels(*transport, collectives))
    labels.push_back(std::move(text));
  if (slots)
    labels.emplace_back(
        "transport: a message waits for slots of its own collective, not for those that others "
        "hold");
  return labels;
}

namespace {

/// "bandwidth, transport/ll (5 figures)": several of one protocol are counted.
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

}  // namespace

std::vector<std::string> fitted_figures(const Cluster& cluster) {
  using Fit = std::tuple<std::string, std::string, std::string>;  // label, source, date
  std::vector<std::pair<Fit, std::vector<std::string>>> fits;
  for (const FigureSource& figure : cluster.sources) {
    if (figure.label != kCalibrated && figure.label != kExtrapolated && figure.label != kOverridden)
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

}  // namespace orrery
