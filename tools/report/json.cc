#include "tools/report/json.h"

#include <cmath>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/array/text.h"
#include "models/program/rules.h"
#include "tools/report/names.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
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
  result["algbw_GBps"] = or_null(entry.algbw_GBps);
  result["busbw_GBps"] = or_null(entry.busbw_GBps);
  return result;
}

Json device(const Report& report, const DeviceReport& entry) {
  const ThreadMemory& memory = report.memory.threads[entry.thread.index()];
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

/// Whether the value reads well on one line: numbers however many, or a small object.
bool fits_a_line(const Json& json) {
  if (!json.is_structured())
    return true;
  for (const Json& part : json)
    if (part.is_structured() && !part.empty())
      return false;
  return json.is_array() || json.size() <= 6;
}

void write(const Json& json, size_t indent, std::string& out) {
  if (fits_a_line(json)) {
    out += json.dump();
    return;
  }
  const char* const brackets = json.is_array() ? "[]" : "{}";
  out += brackets[0];
  const char* separator = "\n";
  for (const auto& item : json.items()) {
    out += separator;
    out.append(indent + 2, ' ');
    if (json.is_object())
      out += Json(item.key()).dump() + ": ";
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
  json["checks"] = Json::array();
  for (const Check& entry : report.checks)
    json["checks"].push_back(check(entry));
  json["values"] = values(report, options);
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
