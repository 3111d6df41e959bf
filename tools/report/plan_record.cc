// The setup and the points of a plan as processes that work out parts of it store them. Nothing is
// rounded, so reading gives what was written.

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/report/plan.h"

namespace orrery {
namespace {

using Record = nlohmann::json;

constexpr std::array<std::string_view, 3> kStatus = {"fits", "does_not_fit", "refused"};

/// A Damaged is thrown for a value that cannot have been written.
struct Damaged {};

/// Reads a number that is not negative.
int64_t number_from(const Record& json) {
  if (!json.is_number_unsigned())
    throw Damaged();
  const auto number = json.get<uint64_t>();
  if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    throw Damaged();
  return static_cast<int64_t>(number);
}

Bytes bytes_from(const Record& json) {
  return Bytes(number_from(json));
}

uint32_t devices_from(const Record& json) {
  const int64_t devices = number_from(json);
  if (devices > std::numeric_limits<uint32_t>::max())
    throw Damaged();
  return static_cast<uint32_t>(devices);
}

/// Parses a text that has no deeper lists and objects than setups and points have.
Record parsed(std::string_view text) {
  constexpr int kDeepest = 8;
  bool too_deep = false;
  const auto look = [&](int depth, Record::parse_event_t, Record&) {
    too_deep |= depth > kDeepest;
    return !too_deep;
  };
  Record json = Record::parse(text, look, false);
  if (too_deep || !json.is_object())
    throw Damaged();
  return json;
}

Record json_of(const PlanSetup& setup) {
  Record limits;
  for (const LimitInfo& limit : all_limits())
    limits[std::string(limit.name)] = setup.limits.*limit.value;
  return {{"orrery_plan_parts", 1}, {"version", setup.version}, {"file", setup.file},
          {"plan", setup.text},     {"let", setup.let},         {"seed", setup.seed},
          {"limits", limits}};
}

Record times_json(const PointTimes& times) {
  Record json = {{"makespan_ps", times.makespan.count()},
                 {"compute_ps", times.parts.compute.count()},
                 {"launch_ps", times.parts.launch.count()},
                 {"exposed_ps", times.parts.exposed.count()},
                 {"idle_ps", times.parts.idle.count()}};
  if (times.mfu)
    json["mfu"] = *times.mfu;
  if (times.hfu)
    json["hfu"] = *times.hfu;
  return json;
}

PointTimes times_from(const Record& json) {
  const auto duration = [&](const char* key) { return Duration(number_from(json.at(key))); };
  PointTimes times{
      duration("makespan_ps"),
      {duration("compute_ps"), duration("launch_ps"), duration("exposed_ps"), duration("idle_ps")},
      {},
      {}};
  if (json.contains("mfu"))
    times.mfu = json.at("mfu").get<double>();
  if (json.contains("hfu"))
    times.hfu = json.at("hfu").get<double>();
  return times;
}

Record figures_json(const PointFigures& figures) {
  Record memory = Record::array();
  for (const MemoryOfKind& kind : figures.memory)
    memory.push_back({kind.kind, kind.bytes.count()});
  Record json = {{"devices", figures.devices},
                 {"peak_bytes", figures.peak.count()},
                 {"memory", memory},
                 {"labels", figures.labels}};
  if (!figures.unmatched.empty())
    json["unmatched"] = figures.unmatched;
  if (figures.capacity)
    json["capacity_bytes"] = figures.capacity->count();
  if (figures.times)
    json["times"] = times_json(*figures.times);
  return json;
}

PointFigures figures_from(const Record& json) {
  PointFigures figures;
  figures.devices = devices_from(json.at("devices"));
  figures.peak = bytes_from(json.at("peak_bytes"));
  for (const Record& kind : json.at("memory"))
    figures.memory.push_back({kind.at(0).get<std::string>(), bytes_from(kind.at(1))});
  figures.labels = json.at("labels").get<std::vector<std::string>>();
  if (json.contains("unmatched"))
    figures.unmatched = json.at("unmatched").get<std::vector<std::string>>();
  if (json.contains("capacity_bytes"))
    figures.capacity = bytes_from(json.at("capacity_bytes"));
  if (json.contains("times"))
    figures.times = times_from(json.at("times"));
  return figures;
}

}  // namespace

bool operator==(const PlanSetup& a, const PlanSetup& b) {
  return json_of(a) == json_of(b);
}

std::string setup_json(const PlanSetup& setup) {
  return json_of(setup).dump(1) + "\n";
}

std::optional<PlanSetup> read_setup(std::string_view text) {
  try {
    const Record json = parsed(text);
    PlanSetup setup;
    setup.version = json.at("version").get<std::string>();
    setup.file = json.at("file").get<std::string>();
    setup.text = json.at("plan").get<std::string>();
    setup.let = json.at("let").get<std::vector<std::string>>();
    setup.seed = static_cast<uint64_t>(number_from(json.at("seed")));
    for (const LimitInfo& limit : all_limits())
      setup.limits.*limit.value = number_from(json.at("limits").at(std::string(limit.name)));
    return setup;
  } catch (const Record::exception&) {
    return std::nullopt;
  } catch (const Damaged&) {
    return std::nullopt;
  }
}

std::string difference(const PlanSetup& there, const PlanSetup& here) {
  const Record a = json_of(there);
  const Record b = json_of(here);
  for (const auto& [key, value] : b.items()) {
    if (a[key] == value)
      continue;
    if (key == "plan")
      return "the plan's text";
    if (key != "limits")
      return fmt::format("{}: {} there, {} here", key, a[key].dump(), value.dump());
    for (const auto& [limit, most] : value.items())
      if (a[key][limit] != most)
        return fmt::format("--limit {}: {} there, {} here", limit, a[key][limit].dump(),
                           most.dump());
  }
  return "";
}

std::string point_json(const std::string& unit, const PlanPoint& point) {
  Record json = {{"unit", unit},
                 {"status", kStatus.at(static_cast<size_t>(point.status))},
                 {"because", point.because},
                 {"devices", point.devices},
                 {"beyond", point.beyond}};
  if (point.figures)
    json["figures"] = figures_json(*point.figures);
  return json.dump(1) + "\n";
}

std::optional<PlanPoint> read_point(std::string_view text, const std::string& unit) {
  try {
    const Record json = parsed(text);
    const auto status = std::ranges::find(kStatus, json.at("status").get<std::string>());
    if (json.at("unit") != unit || status == kStatus.end())
      return std::nullopt;
    PlanPoint point;
    point.status = static_cast<PointStatus>(status - kStatus.begin());
    point.because = json.at("because").get<std::string>();
    point.devices = devices_from(json.at("devices"));
    point.beyond = json.at("beyond").get<double>();
    if (json.contains("figures"))
      point.figures = figures_from(json.at("figures"));
    const bool refused = point.status == PointStatus::Refused;
    if ((refused && point.figures) ||
        (point.status == PointStatus::Fits && point.times() == nullptr))
      return std::nullopt;
    return point;
  } catch (const Record::exception&) {
    return std::nullopt;
  } catch (const Damaged&) {
    return std::nullopt;
  }
}

}  // namespace orrery
