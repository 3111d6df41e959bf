#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/characters.h"
#include "tools/report/figures.h"
#include "tools/report/text.h"
#include "verifier/check/names.h"

namespace orrery {
namespace {

constexpr size_t kLiveShown = 6;

/// These devices share their lines. Their names may differ.
struct DeviceGroup {
  std::vector<LogicalId> devices;
  std::vector<const DeviceMemory*> memories;  // each kind once
  std::optional<Bytes> capacity;
};

/// Returns all that the lines of a device say, but for the names in them.
std::string unnamed(const DeviceReport& device, const DeviceMemory& memory) {
  std::string text = fmt::format(
      "{} {} {} {} {}", device.capacity ? std::to_string(device.capacity->count()) : "-",
      memory.peak.count(), memory.arena.count(), memory.reserved.count(), memory.transport.count());
  text += memory.peak_at ? " at" : "";
  for (const Held& held : memory.live_at_peak)
    text += fmt::format(" {} {}", held.size.count(), name(held.kind));
  for (const ConnectionBuffers& buffers : memory.connections)
    text += fmt::format(" {} {}", key_of(buffers.kind), worked_out(buffers));
  return text;
}

std::vector<DeviceGroup> groups_of(const Report& report) {
  std::vector<DeviceGroup> groups;
  std::map<std::pair<size_t, std::optional<Bytes>>, size_t> of_kind;
  std::map<std::string, size_t> alike;
  for (const DeviceReport& device : report.devices) {
    const size_t kind = *report.memory.kind_of[device.device.index()];
    const auto [at, is_new] = of_kind.emplace(std::pair(kind, device.capacity), groups.size());
    if (is_new) {
      const DeviceMemory& memory = report.memory.kinds[kind];
      const auto [group, is_first] = alike.emplace(unnamed(device, memory), groups.size());
      if (is_first)
        groups.push_back({{}, {}, device.capacity});
      at->second = group->second;
      groups[at->second].memories.push_back(&memory);
    }
    groups[at->second].devices.push_back(device.device);
  }
  return groups;
}

/// Returns what the names have in common: "recv_*" for "recv_next0" and "recv_prev1". If that is
/// nothing, it says that each device has its own: "its own op".
std::string shared_name(const std::vector<std::string_view>& names, std::string_view noun) {
  const std::string shared = common_id(names);
  return shared == "*" ? fmt::format("its own {}", noun) : shared;
}

/// Returns where the bytes of a kind's connections come from: "library default", say.
std::string source_of(const Scenario& scenario, ConnectionKind kind) {
  const auto& transport = scenario.cluster.transport;
  if (scenario.memory.transport || !transport)
    return "the protocols' slots";
  const auto given = transport->connections.find(kind);
  if (given == transport->connections.end() || !given->second.receiver)
    return "the protocols' slots";
  const std::string figure = fmt::format("transport/connections/{}/receiver", key_of(kind));
  for (const FigureSource& source : scenario.cluster.sources)
    if (source.figure == figure)
      return source.label;
  return "given";
}

class GroupText {
 public:
  GroupText(const DeviceGroup& group, const Scenario& scenario, const Style& style)
      : group_(group),
        scenario_(scenario),
        program_(scenario.program),
        style_(style),
        memory_(*group.memories.front()) {}

  std::string text() const {
    std::string text = "  " + devices_text(group_.devices) + "  " + peak();
    std::vector<std::string> words = live();
    for (size_t w = 0; w + 1 < words.size(); ++w)
      words[w] += fmt::format(" {}", style_.dot());
    if (!words.empty())
      text += "    " + wrapped_words(words, kReportColumns - 4, 4) + "\n";
    for (const ConnectionBuffers& buffers : memory_.connections)
      text += "    " +
              wrapped_words({fmt::format("transport buffers of {}:", key_of(buffers.kind)),
                             worked_out(buffers),
                             fmt::format("= {} ({})", size_text(buffers.total()),
                                         source_of(scenario_, buffers.kind))},
                            kReportColumns - 4, 4) +
              "\n";
    return text +
           style_.dim(fmt::format("    placed in an arena of {}", size_text(memory_.arena))) + "\n";
  }

 private:
  std::string peak() const {
    std::string at;
    if (memory_.peak_at) {
      std::vector<std::string_view> ops;
      for (const DeviceMemory* memory : group_.memories)
        ops.push_back(program_.op(*memory->peak_at).name);
      at = ", at " + shared_name(ops, "op");
    }
    if (!group_.capacity || group_.capacity->count() == 0)
      return fmt::format("{}{}  {}\n", size_text(memory_.peak), at,
                         style_.dim("no capacity was given"));
    return fmt::format("{}  {} of {} ({}){}\n",
                       style_.bar(memory_.peak.count(), group_.capacity->count(), 24),
                       size_text(memory_.peak), size_text(*group_.capacity),
                       percent_text(memory_.peak, *group_.capacity), at);
  }

  std::vector<std::string> live() const {
    std::vector<std::string> words;
    Bytes rest;
    for (size_t h = 0; h < memory_.live_at_peak.size(); ++h) {
      const Held& held = memory_.live_at_peak[h];
      if (h >= kLiveShown) {
        rest += held.size;
        continue;
      }
      std::vector<std::string_view> values;
      for (const DeviceMemory* memory : group_.memories)
        values.push_back(memory->live_at_peak[h].value);
      words.push_back(fmt::format("{} {} {}", shared_name(values, "value"), size_text(held.size),
                                  style_.dim(name(held.kind))));
    }
    if (rest.count() > 0)
      words.push_back(fmt::format("and {} more, {}", memory_.live_at_peak.size() - kLiveShown,
                                  size_text(rest)));
    if (memory_.reserved.count() > 0)
      words.push_back(
          fmt::format("reserved {}{}", size_text(memory_.reserved), transport_note(memory_)));
    return words;
  }

  const DeviceGroup& group_;
  const Scenario& scenario_;
  const Program& program_;
  const Style& style_;
  const DeviceMemory& memory_;  // has the sizes of all of the group
};

}  // namespace

std::string memory_text(const Report& report, const Style& style) {
  std::string text;
  for (const DeviceGroup& group : groups_of(report))
    text += GroupText(group, *report.scenario, style).text();
  return text;
}

}  // namespace orrery
