#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tools/report/difference.h"
#include "tools/report/figures.h"

namespace orrery {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostPlaces = 8;  // the places that are named for one aspect

/// Returns the place of a difference in words: "\"r\" on device 2, element 3".
std::string place_text(const Finding& finding) {
  const Difference& at = finding.first;
  const std::string device =
      at.device ? fmt::format("device {}", at.device->index()) : std::string();
  switch (finding.aspect) {
    case Aspect::Memory:
      return fmt::format("{}, {}", device, at.what);
    case Aspect::Verdict:
      return at.at;
    default:
      return fmt::format("\"{}\"{}{}{}", at.at, device.empty() ? "" : " on ", device,
                         at.what == name(finding.aspect) ? "" : ", " + at.what);
  }
}

std::string first_text(const Finding& finding) {
  const Difference& at = finding.first;
  return fmt::format("{}: {} in A, {} in B{}", place_text(finding), at.a, at.b,
                     at.note.empty() ? "" : fmt::format(" ({})", at.note));
}

std::string places_text(const std::vector<std::string>& places) {
  const size_t named = std::min(places.size(), kMostPlaces);
  return fmt::format(
      "{}{}", fmt::join(places.begin(), places.begin() + static_cast<int>(named), ", "),
      named < places.size() ? fmt::format(" and {} more", places.size() - named) : "");
}

/// If several things differ, returns how many there are, and which.
std::string extent_text(const Finding& finding) {
  if (finding.places.size() < 2)
    return "";
  const std::string_view of = finding.aspect == Aspect::Memory    ? "devices"
                              : finding.aspect == Aspect::Verdict ? "checks"
                              : finding.aspect == Aspect::Value || finding.aspect == Aspect::Type
                                  ? "values"
                                  : "ops";
  return fmt::format(". In all {} {}: {}", finding.places.size(), of, places_text(finding.places));
}

std::string makespan_text(const RunRecord& record, const Style& style) {
  return record.makespan ? "makespan " + time_text(*record.makespan - Instant(), style.ascii())
                         : std::string(no_end(record));
}

class DifferenceText {
 public:
  DifferenceText(const RunComparison& comparison, const RunRecord& a, const RunRecord& b,
                 const Style& style)
      : comparison_(comparison), a_(a), b_(b), style_(style) {}

  std::string text() const {
    std::string text = fmt::format(
        "{} {}\n", style_.mark(comparison_.same() ? Verdict::Holds : Verdict::Fails),
        comparison_.same() ? style_.good("A and B are the SAME") : style_.bad("A and B DIFFER"));
    text += run_line("A", a_) + run_line("B", b_);
    if (!comparison_.settings.empty() || !comparison_.findings.empty())
      text += "\n";
    for (const SettingDifference& setting : comparison_.settings)
      text +=
          line("settings", fmt::format("{}: {} in A, {} in B", setting.key, setting.a, setting.b));
    if (!comparison_.findings.empty()) {
      for (const Finding& finding : comparison_.findings) {
        const std::string aspect(name(finding.aspect));
        const bool first = &finding == &comparison_.findings.front();
        text += line(first ? "FIRST" : aspect,
                     (first ? aspect + ": " : "") + first_text(finding) + extent_text(finding));
      }
    }
    if (!comparison_.only_in_a.empty())
      text += line("only in A", places_text(comparison_.only_in_a));
    if (!comparison_.only_in_b.empty())
      text += line("only in B", places_text(comparison_.only_in_b));
    if (comparison_.unexplained)
      text += line("results",
                   "The fingerprints differ: in values or in times of single devices, "
                   "which one of them does not tell.");
    for (const std::string& sentence : comparison_.not_compared)
      text += line("not told", sentence);
    return text;
  }

 private:
  std::string run_line(const char* which, const RunRecord& record) const {
    std::string text = fmt::format(
        "  {}  {}  {}\n", style_.bold(which), record.file,
        style_.dim(fmt::format("{}, {}", in_words(record.verdict), makespan_text(record, style_))));
    for (const std::string& fault : record.faults)
      text += fmt::format("     {} {}\n", style_.dot(), fault);
    return text;
  }

  std::string line(const std::string& title, const std::string& text) const {
    constexpr size_t kColumn = 12;
    return fmt::format(
        "  {}{}\n",
        title == "FIRST" ? style_.bold(fmt::format("{:<10}", title)) : fmt::format("{:<10}", title),
        wrapped_words(words_of(text), kReportColumns - kColumn, kColumn));
  }

  const RunComparison& comparison_;
  const RunRecord& a_;
  const RunRecord& b_;
  const Style& style_;
};

Json run_json(const RunRecord& record) {
  return {{"file", record.file},
          {"holds", record.verdict == Verdict::Holds},
          {"verdict", name(record.verdict)},
          {"fingerprint", record.fingerprint},
          {"makespan_ps", record.makespan ? Json(record.makespan->picoseconds()) : Json(nullptr)},
          {"faults", record.faults}};
}

Json finding_json(const Finding& finding) {
  const Difference& at = finding.first;
  return {{"aspect", name(finding.aspect)},
          {"at", at.at},
          {"device", at.device ? Json(at.device->index()) : Json(nullptr)},
          {"what", at.what},
          {"a", at.a},
          {"b", at.b},
          {"note", at.note},
          {"places", finding.places}};
}

}  // namespace

std::string difference_text(const RunComparison& comparison, const RunRecord& a, const RunRecord& b,
                            const Style& style) {
  return with_units(DifferenceText(comparison, a, b, style).text(), style);
}

std::string difference_json(const RunComparison& comparison, const RunRecord& a,
                            const RunRecord& b) {
  Json json;
  json["diff"] = 1;
  json["same"] = comparison.same();
  json["a"] = run_json(a);
  json["b"] = run_json(b);
  json["settings"] = Json::array();
  for (const SettingDifference& setting : comparison.settings)
    json["settings"].push_back({{"key", setting.key}, {"a", setting.a}, {"b", setting.b}});
  json["differences"] = Json::array();
  for (const Finding& finding : comparison.findings)
    json["differences"].push_back(finding_json(finding));
  json["only_in_a"] = comparison.only_in_a;
  json["only_in_b"] = comparison.only_in_b;
  json["unexplained"] = comparison.unexplained;
  json["not_compared"] = comparison.not_compared;
  return json.dump(2) + "\n";
}

}  // namespace orrery
