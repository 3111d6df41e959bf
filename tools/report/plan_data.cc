// The answers to a plan as data: JSON, and comma-separated values.

#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/report/json_writer.h"
#include "tools/report/laws.h"
#include "tools/report/plan.h"

namespace orrery {
namespace {

std::string_view name_of(PointStatus status) {
  switch (status) {
    case PointStatus::Fits:
      return "fits";
    case PointStatus::DoesNotFit:
      return "does_not_fit";
    case PointStatus::Refused:
      break;
  }
  return "refused";
}

std::string_view key_of(Improvement improvement) {
  switch (improvement) {
    case Improvement::FasterLinks:
      return "links";
    case Improvement::FasterFlops:
      return "flops";
    case Improvement::FasterMemory:
      return "memory_bandwidth";
    case Improvement::NoLatency:
      return "no_latency";
    case Improvement::NoLaunch:
      return "no_launch";
    case Improvement::MoreMemory:
      break;
  }
  return "memory";
}

void write_value(const TemplateValue& value, JsonWriter& json);

/// Writes a value that is one of the document: null, an object, or a number that is not whole.
void write_node(DocumentNode node, JsonWriter& json) {
  if (node.kind() == DocumentNode::Kind::Number)
    return json.value(std::strtod(std::string(node.number()).c_str(), nullptr));
  if (node.kind() == DocumentNode::Kind::Null)
    return json.value(nullptr);
  json.object([&] {
    for (const DocumentNode member : node) {
      json.key(member.key());
      write_value(template_value(member), json);
    }
  });
}

void write_value(const TemplateValue& value, JsonWriter& json) {
  if (const auto* number = std::get_if<int64_t>(&value.is))
    return json.value(*number);
  if (const auto* truth = std::get_if<bool>(&value.is))
    return json.value(*truth);
  if (const auto* text = std::get_if<std::string>(&value.is))
    return json.value(*text);
  if (const auto* node = std::get_if<DocumentNode>(&value.is))
    return write_node(*node, json);
  json.array([&] {
    for (const TemplateValue& item : std::get<TemplateValue::List>(value.is))
      write_value(item, json);
  });
}

void write_values(const Plan& plan, const std::vector<TemplateValue>& values, JsonWriter& json) {
  json.object([&] {
    for (size_t i = 0; i < values.size(); ++i) {
      json.key(plan.names()[i]);
      write_value(values[i], json);
    }
  });
}

void write_times(const PlanPoint& point, JsonWriter& json) {
  const PointTimes* const times = point.times();
  if (times == nullptr)
    return;
  json.key("makespan_ps").value(times->makespan.count());
  if (const auto rate = work_per_second(point))
    json.key("work_per_s").value(*rate);
  if (times->mfu) {
    json.key("mfu").value(*times->mfu);
    json.key("hfu").value(*times->hfu);
  }
  json.key("parts").object([&] {
    json.key("compute_ps").value(times->parts.compute.count());
    json.key("exposed_ps").value(times->parts.exposed.count());
    json.key("idle_ps").value(times->parts.idle.count());
    json.key("launch_ps").value(times->parts.launch.count());
  });
}

void write_point(const Plan& plan, const PlanPoint& point, bool is_case, JsonWriter& json) {
  json.object([&] {
    json.key("id").value(point.id);
    if (is_case)
      json.key("case").value(true);
    json.key("let");
    write_values(plan, point.values, json);
    json.key("status").value(name_of(point.status));
    if (!point.because.empty())
      json.key("because").value(point.because);
    if (point.status != PointStatus::Refused)
      json.key("devices").value(point.devices);
    write_times(point, json);
    if (point.figures) {
      json.key("peak_bytes").value(point.figures->peak.count());
      json.key("memory").object([&] {
        for (const MemoryOfKind& memory : point.figures->memory)
          json.key(memory.kind).value(memory.bytes.count());
      });
    }
    if (const auto cost = cost_of(point))
      json.key("cost").value(*cost);
    if (point.figures && point.times() != nullptr)
      json.key("labels").array([&] {
        for (const std::string& label : point.figures->labels)
          json.value(label);
      });
  });
}

/// Returns a term of the first point that has it. The points that are not refused agree in its
/// unit.
template <class Term>
std::optional<Term> first_of(const PlanReport& report, std::optional<Term> PlanTerms::*term) {
  for (const PlanPoint& point : report.points)
    if (point.status != PointStatus::Refused && point.terms.*term)
      return point.terms.*term;
  return std::nullopt;
}

/// Returns the text as a field of a line of comma-separated values (RFC 4180).
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos)
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string plan_json(const Plan& plan, const PlanReport& report) {
  std::string out;
  JsonWriter json(out);
  const auto id = [&](std::optional<size_t> point) {
    return point ? std::optional(report.points[*point].id) : std::nullopt;
  };
  json.object([&] {
    json.key("plan_report").value(1);
    json.key("plan").value(plan.file());
    if (!plan.name().empty())
      json.key("name").value(plan.name());
    json.key("minimize").array([&] {
      for (const PlanAxis axis : plan.minimize())
        json.value(orrery::key_of(axis));
    });
    if (const std::optional<PlanWork> work = first_of(report, &PlanTerms::work))
      json.key("unit_of_work").value(work->unit);
    if (const std::optional<PlanPrice> price = first_of(report, &PlanTerms::price))
      json.key("currency").value(price->currency);
    json.key("best").value(id(report.best));
    json.key("fewest_devices").value(id(report.fewest_devices));
    json.key("front").array([&] {
      for (const size_t point : report.front)
        json.value(report.points[point].id);
    });
    json.key("counts").object([&] {
      json.key("timed").value(report.timed);
      json.key("pruned").value(report.pruned);
      json.key("refused").value(report.refused);
    });
    if (report.nearest)
      json.key("nearest").value(id(report.nearest));
    if (!report.unmatched.empty())
      json.key("unmatched").array([&] {
        for (const std::string& pattern : report.unmatched)
          json.value(pattern);
      });
    json.key("changes").array([&] {
      for (const PlanChange& change : report.changes)
        json.object([&] {
          json.key("of").value(report.points[change.point].id);
          json.key("name").value(plan.names()[change.name]);
          json.key("from").value(std::get<int64_t>(change.from.is));
          json.key("to").value(std::get<int64_t>(change.to.is));
        });
    });
    json.key("points").array([&] {
      for (size_t p = 0; p < report.points.size(); ++p)
        write_point(plan, report.points[p], p >= report.swept, json);
    });
    json.key("what_if").array([&] {
      for (const WhatIf& what_if : report.what_if)
        for (const WhatIfResult& result : what_if.results)
          json.object([&] {
            json.key("of").value(report.points[what_if.point].id);
            json.key("improvement").value(key_of(result.improvement));
            json.key("point").value(result.point.id);
            json.key("status").value(name_of(result.point.status));
            if (const PointTimes* const times = result.point.times()) {
              json.key("devices").value(result.point.devices);
              json.key("makespan_ps").value(times->makespan.count());
            }
            if (const std::optional<double> rate = work_per_second(result.point))
              json.key("work_per_s").value(*rate);
          });
    });
  });
  return out + "\n";
}

std::string largest_json(const Plan& plan, size_t name, const LargestSearch& search) {
  std::string out;
  JsonWriter json(out);
  json.object([&] {
    json.key("plan_find").value(1);
    json.key("plan").value(plan.file());
    if (!plan.name().empty())
      json.key("name").value(plan.name());
    json.key("largest").value(plan.names()[name]);
    json.key("value");
    if (search.largest)
      write_value(search.largest->value, json);
    else
      json.value(nullptr);
    json.key("by").value(search.falls.empty() ? "bisection" : "each value");
    if (!search.falls.empty())
      json.key("since").value(search.falls);
    json.key("counts").object([&] {
      json.key("points").value(search.points);
      json.key("tried").value(search.tried);
      json.key("refused").value(search.refused);
    });
    const auto point = [&](std::string_view key, const PlanPoint& of) {
      json.key(key);
      write_point(plan, of, false, json);
    };
    if (search.largest)
      point("fits", search.largest->point);
    if (search.does_not_fit)
      point("does_not_fit", *search.does_not_fit);
  });
  return out + "\n";
}

std::string plan_csv(const Plan& plan, const PlanReport& report) {
  std::vector<std::string> fields = {"id", "case"};
  for (const std::string& name : plan.names())
    fields.push_back("let." + name);
  for (const char* const field :
       {"status", "because", "devices", "makespan_ps", "work_per_s", "mfu", "hfu", "compute_ps",
        "exposed_ps", "idle_ps", "launch_ps", "peak_bytes", "cost", "currency"})
    fields.emplace_back(field);
  std::set<std::string> kinds;
  for (const PlanPoint& point : report.points)
    if (point.figures)
      for (const MemoryOfKind& memory : point.figures->memory)
        kinds.insert(memory.kind);
  for (const std::string& kind : kinds)
    fields.push_back("memory." + kind);
  std::string text;
  const auto add_line = [&] {
    for (size_t f = 0; f < fields.size(); ++f)
      text += (f == 0 ? "" : ",") + csv_field(fields[f]);
    text += "\r\n";
  };
  add_line();
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "";
  };
  for (size_t p = 0; p < report.points.size(); ++p) {
    const PlanPoint& point = report.points[p];
    fields = {point.id, p >= report.swept ? "true" : "false"};
    for (const TemplateValue& value : point.values) {
      const auto* word = std::get_if<std::string>(&value.is);
      fields.push_back(word != nullptr ? *word : value_json(value));
    }
    const PointTimes* const times = point.times();
    const auto part = [&](Duration TimeParts::*of) {
      return times == nullptr ? "" : std::to_string((times->parts.*of).count());
    };
    fields.insert(
        fields.end(),
        {std::string(name_of(point.status)), point.because,
         point.devices == 0 ? "" : std::to_string(point.devices),
         times == nullptr ? "" : std::to_string(times->makespan.count()),
         number(work_per_second(point)), number(times == nullptr ? std::nullopt : times->mfu),
         number(times == nullptr ? std::nullopt : times->hfu), part(&TimeParts::compute),
         part(&TimeParts::exposed), part(&TimeParts::idle), part(&TimeParts::launch),
         point.figures ? std::to_string(point.figures->peak.count()) : "", number(cost_of(point)),
         cost_of(point) ? point.terms.price->currency : ""});
    for (const std::string& kind : kinds) {
      std::string bytes;
      if (point.figures)
        for (const MemoryOfKind& memory : point.figures->memory)
          if (memory.kind == kind)
            bytes = std::to_string(memory.bytes.count());
      fields.push_back(std::move(bytes));
    }
    add_line();
  }
  return text;
}

}  // namespace orrery
