#include "tools/report/json.h"

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/array/text.h"
#include "models/program/rules.h"
#include "tools/report/figures.h"
#include "tools/report/names.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json exposed_communication(const Report& report) {
  const std::optional<Exposed> most = most_exposed(report);
  if (!most)
    return nullptr;
  return {{"device", most->device.index()},
          {"exposed_ps", most->exposed.count()},
          {"share_of_makespan", most->share}};
}

Json time(const Report& report) {
  if (!report.completion)
    return nullptr;
  const Completion& completion = *report.completion;
  Json path = Json::array();
  for (const PathEntry& entry : report.critical_path) {
    path.push_back({{"op", report.scenario->program.op(entry.op).name},
                    {"device", entry.device.index()},
                    {"start_ps", entry.start.picoseconds()},
                    {"end_ps", entry.end.picoseconds()}});
  }
  return {{"makespan_ps", completion.makespan.picoseconds()},
          {"by", name(completion.by)},
          {"because", completion.because},
          {"messages", completion.messages},
          {"exposed_communication", exposed_communication(report)},
          {"critical_path", std::move(path)}};
}

Json op(const Report& report, const OpReport& entry) {
  const Op& op = report.scenario->program.op(entry.op);
  Json result;
  result["id"] = op.name;
  result["op"] = op_name(op.kind, op.issue);
  result["algorithm"] = entry.choice ? Json(entry.choice->algorithm) : Json(nullptr);
  result["because"] = entry.choice ? Json(entry.choice->because) : Json(nullptr);
  result["bytes"] = entry.bytes.count();
  result["messages"] = entry.messages;
  const bool timed = report.completion.has_value();
  const auto picoseconds = [&](int64_t count) { return timed ? Json(count) : Json(nullptr); };
  result["start_ps"] = picoseconds(entry.start.picoseconds());
  result["end_ps"] = picoseconds(entry.end.picoseconds());
  result["exposed_ps"] = picoseconds(entry.exposed.count());
  result["hidden_ps"] = picoseconds(entry.hidden.count());
  result["slack_ps"] = entry.slack ? Json(entry.slack->count()) : Json(nullptr);
  result["algbw_GBps"] = or_null(entry.algbw_GBps);
  result["busbw_GBps"] = or_null(entry.busbw_GBps);
  return result;
}

Json streams(const DeviceTimes& times) {
  Json streams = Json::array();
  for (const StreamTime& each : times.streams)
    streams.push_back({{"stream", each.stream.index()}, {"busy_ps", each.busy.count()}});
  return streams;
}

/// A device by its number, a switch by its name, as in the scenario's `links`.
Json vertex(const Fabric& fabric, VertexId id) {
  if (id.index() < fabric.devices())
    return id.index();
  return fabric.switches()[id.index() - fabric.devices()];
}

Json link(const Report& report, const LinkReport& entry) {
  const Fabric& fabric = report.fabric();
  const Link& link = fabric.link(entry.link);
  Json result;
  result["link"] = fabric.link_text(entry.link);
  result["from"] = vertex(fabric, link.from);
  result["to"] = vertex(fabric, link.to);
  result["bytes"] = entry.bytes.count();
  result["utilization"] = or_null(utilization(report, entry));
  return result;
}

Json device(const Report& report, const DeviceReport& entry) {
  const DeviceMemory& memory = report.memory.of(entry.device);
  Json live = Json::array();
  for (const Held& held : memory.live_at_peak)
    live.push_back(
        {{"value", held.value}, {"bytes", held.size.count()}, {"kind", name(held.kind)}});
  Json result;
  result["id"] = entry.device.index();
  result["peak_bytes"] = memory.peak.count();
  result["peak_at"] =
      memory.peak_at ? Json(report.scenario->program.op(*memory.peak_at).name) : Json(nullptr);
  result["arena_bytes"] = memory.arena.count();
  result["reserved_bytes"] = memory.reserved.count();
  result["capacity_bytes"] = entry.capacity ? Json(entry.capacity->count()) : Json(nullptr);
  result["live_at_peak"] = std::move(live);
  const bool timed = report.completion.has_value();
  result["computing_ps"] = timed ? Json(entry.times.computing.count()) : Json(nullptr);
  result["exposed_ps"] = timed ? Json(entry.times.exposed.count()) : Json(nullptr);
  result["streams"] = timed ? streams(entry.times) : Json(nullptr);
  return result;
}

Json check(const Check& check) {
  Json witness = Json::object();
  for (const auto& [key, text] : check.witness) {
    Json& entry = witness[key];
    if (entry.is_null())
      entry = text;
    else if (entry.is_string())
      entry = {entry, text};  // a key that comes again has a list
    else
      entry.push_back(text);
  }
  return {{"name", check.name},
          {"holds", check.holds},
          {"of", check.of},
          {"message", check.message},
          {"witness", std::move(witness)}};
}

Json element(const Tensor& tensor, int64_t index, Encoding encoding) {
  if (encoding == Encoding::Bits)
    return element_bits(tensor, index);
  if (tensor.dtype() == Dtype::Pred)
    return element_bits(tensor, index) != 0;
  if (is_integer(tensor.dtype()) && !is_signed(tensor.dtype()))
    return element_bits(tensor, index);  // up to 2^64 - 1
  if (is_integer(tensor.dtype()))
    return element_as_int64(tensor, index);
  const double value = element_as_double(tensor, index);  // exact: every dtype fits f64
  return std::isfinite(value) ? Json(value) : Json(element_text(tensor, index));
}

Json values(const Report& report, const JsonOptions& options) {
  Json result = Json::object();
  for (const ValueId id : options.values) {
    const Value& value = report.scenario->program.value(id);
    Json per_device = Json::array();
    for (uint32_t d = 0; d < report.scenario->program.mesh.devices(); ++d) {
      if (!report.values || !report.values->at(id, LogicalId(d))) {
        per_device.push_back(nullptr);
        continue;
      }
      const Tensor& tensor = *report.values->at(id, LogicalId(d));
      Json elements = Json::array();
      for (int64_t i = 0; i < tensor.elements(); ++i)
        elements.push_back(element(tensor, i, options.encoding));
      per_device.push_back(std::move(elements));
    }
    Json& entry = result[value.name];
    entry = {{"dtype", name(value.type.dtype)}, {"shape", value.type.shape.dims()}};
    if (options.encoding == Encoding::Bits)
      entry["encoding"] = "bits";
    entry["per_device"] = std::move(per_device);
  }
  return result;
}

Json explanation(const Report& report, const Explanation& explanation) {
  static constexpr std::array<const char*, 5> kWhat = {"compute", "enter", "reduce", "send",
                                                       "flight"};
  static constexpr std::array<const char*, 11> kBecause = {
      "beginning",   "computed",   "ended",   "stream_free", "entry", "peer_entry",
      "step_before", "other_step", "message", "slot_free",   "sent"};
  const Program& program = report.scenario->program;
  const auto name_of = [&](const std::optional<OpId>& op) {
    return op ? Json(program.op(*op).name) : Json(nullptr);
  };
  Json chain = Json::array();
  for (const Reason& reason : explanation.chain) {
    Json link;
    link["what"] = kWhat[static_cast<size_t>(reason.what)];
    link["op"] = program.op(reason.op).name;
    link["device"] = reason.device.index();
    link["to"] = reason.to ? Json(reason.to->index()) : Json(nullptr);
    link["bytes"] = reason.bytes.count();
    link["begin_ps"] = reason.begin.picoseconds();
    link["end_ps"] = reason.end.picoseconds();
    link["because"] = kBecause[static_cast<size_t>(reason.because)];
    link["after"] = name_of(reason.after);
    link["text"] = sentence(report, reason);
    chain.push_back(std::move(link));
  }
  static constexpr std::array<const char*, 7> kUntil = {
      "argument", "output", "in_flight", "donation", "last_use", "taken_over", "never_used"};
  Json lives = Json::array();
  for (const ValueLife& life : explanation.lives) {
    Json together = Json::array();
    for (const ValueId value : life.together)
      together.push_back(program.value(value).name);
    lives.push_back({{"thread", program.thread(life.thread).name},
                     {"bytes", life.size.count()},
                     {"from", name_of(life.from)},
                     {"to", name_of(life.to)},
                     {"because", kUntil[static_cast<size_t>(life.until)]},
                     {"together", std::move(together)},
                     {"text", sentence(report, life, Style())}});
  }
  const bool ran = explanation.op && report.completion;
  return {{"id", explanation.id},
          {"device", ran ? Json(explanation.device.index()) : Json(nullptr)},
          {"chain", std::move(chain)},
          {"value", std::move(lives)}};
}

/// Whether the value reads well on one line: numbers however many, or a small object.
bool fits_a_line(const Json& json) {
  if (!json.is_structured())
    return true;
  for (const Json& part : json)
    if (part.is_structured() && !part.empty())
      return false;
  return json.is_array() || json.size() <= 6;
}

/// File names may be any bytes; JSON is UTF-8.
std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write(const Json& json, size_t indent, std::string& out) {
  if (fits_a_line(json)) {
    out += line(json);
    return;
  }
  const char* const brackets = json.is_array() ? "[]" : "{}";
  out += brackets[0];
  const char* separator = "\n";
  for (const auto& item : json.items()) {
    out += separator;
    out.append(indent + 2, ' ');
    if (json.is_object())
      out += line(Json(item.key())) + ": ";
    write(item.value(), indent + 2, out);
    separator = ",\n";
  }
  out += '\n';
  out.append(indent, ' ');
  out += brackets[1];
}

}  // namespace

std::string json_text(const Report& report, const JsonOptions& options) {
  Json json;
  json["report"] = 1;
  json["scenario"] = report.scenario->name;
  json["holds"] = report.holds;
  json["fingerprint"] = report.fingerprint;
  json["faults"] = report.faults;
  json["labels"] = report.labels;
  json["time"] = time(report);
  json["ops"] = Json::array();
  for (const OpReport& entry : report.ops)
    json["ops"].push_back(op(report, entry));
  json["devices"] = Json::array();
  for (const DeviceReport& entry : report.devices)
    json["devices"].push_back(device(report, entry));
  json["links"] = Json::array();
  for (const LinkReport& entry : report.links)
    json["links"].push_back(link(report, entry));
  json["checks"] = Json::array();
  for (const Check& entry : report.checks)
    json["checks"].push_back(check(entry));
  if (options.explanation != nullptr)
    json["explanation"] = explanation(report, *options.explanation);
  json["values"] = values(report, options);
  std::string text;
  write(json, 0, text);
  return text + "\n";
}

std::string json_quoted(std::string_view text) {
  return line(Json(text));
}

std::string json_text(const std::string& file, const InputError& error) {
  Json faults = Json::array();
  for (const Diagnostic& fault : error.faults()) {
    const auto& at = fault.origin.at;
    faults.push_back({{"pointer", fault.origin.pointer},
                      {"line", at ? Json(at->line) : Json(nullptr)},
                      {"column", at ? Json(at->column) : Json(nullptr)},
                      {"message", fault.message}});
  }
  Json json;
  json["report"] = 1;
  json["file"] = file;
  json["holds"] = false;
  json["errors"] = std::move(faults);
  std::string text;
  write(json, 0, text);
  return text + "\n";
}

std::string json_list(const std::vector<std::string>& reports, bool holds) {
  std::string text = "{\"reports\": [\n";
  for (size_t r = 0; r < reports.size(); ++r) {
    text.append(reports[r], 0, reports[r].size() - 1);  // without its newline
    text += r + 1 < reports.size() ? ",\n" : "\n";
  }
  return text + (holds ? "], \"holds\": true}\n" : "], \"holds\": false}\n");
}

}  // namespace orrery
