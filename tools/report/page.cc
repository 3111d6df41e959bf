// A page of HTML: what stands around the sections, charts, and what is known of accuracy.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/base/check.h"
#include "models/scenario/cluster_json.h"
#include "tools/report/outline.h"

namespace orrery {
namespace {

std::string_view file(std::string_view name) {
  for (const PageFile& each : page_files())
    if (each.name == name)
      return each.text;
  fail_check("a file of a page", "the program contains it", __FILE__, __LINE__);
}

/// Returns JSON that may stand in a script element: nothing in it ends the element.
std::string script_json(std::string_view json) {
  std::string text;
  for (const char c : json)
    text += c == '<' ? "\\u003c" : std::string(1, c);
  return text;
}

/// Returns the cells of a row of a Markdown table: "| a | b |".
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (size_t at = line.find('|'); at != std::string_view::npos;) {
    const size_t end = line.find('|', at + 1);
    if (end == std::string_view::npos)
      break;
    std::string_view cell = line.substr(at + 1, end - at - 1);
    cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
    cells.push_back(cell.substr(0, cell.find_last_not_of(' ') + 1));
    at = end;
  }
  return cells;
}

/// Returns the machine of which a cluster is made: "h100-sxm-8" of "2 nodes of h100-sxm-8, rail".
std::string_view machine_of(std::string_view cluster) {
  constexpr std::string_view kOf = " of ";
  if (const size_t of = cluster.find(kOf); of != std::string_view::npos)
    cluster.remove_prefix(of + kOf.size());
  return cluster.substr(0, cluster.find(','));
}

}  // namespace

std::string chart_html(std::string_view kind, std::string_view about, std::string_view data) {
  return fmt::format(
      "<figure class=\"chart\" data-kind=\"{}\"><div><canvas role=\"img\" "
      "aria-label=\"{}\"></canvas></div>\n"
      "<script type=\"application/json\">{}</script></figure>\n",
      kind, html_text(about), script_json(data));
}

void HtmlPage::section(std::string_view id, std::string_view title, std::string_view content) {
  links_ += fmt::format("<a href=\"#{}\">{}</a>\n", id, html_text(title));
  sections_ += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, html_text(title),
                           content);
}

std::string HtmlPage::text() const {
  return fmt::format(
      "<!DOCTYPE html>\n"
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{0}</h1>\n<nav>\n{2}</nav>\n</header>\n<main>\n{3}</main>\n"
      "<script>\n/*\n{4}*/\n{5}</script>\n<script>\n{6}</script>\n</body>\n</html>\n",
      html_text(title_), file("page"), links_, sections_, file("chart_license"), file("chart"),
      file("charts"));
}

void add_accuracy(HtmlPage& page, const Scenario& scenario) {
  const std::string& cluster = scenario.cluster.name;
  const std::optional<Cluster> machine = catalog_cluster(machine_of(cluster));
  const bool is_changed =
      std::ranges::any_of(scenario.cluster.sources,
                          [](const FigureSource& figure) { return figure.label == kOverridden; });
  if (!machine || machine->device != scenario.cluster.device || is_changed) {
    page.section("accuracy", "Accuracy",
                 "<p>The cluster is not one of the catalog as it stands there, so that the errors "
                 "known of those are not its.</p>\n");
    return;
  }
  // The first table of docs/accuracy.md has a row for each file of measured times. It names the
  // cluster that was compared: "2 nodes of h100-sxm-8, rail".
  constexpr size_t kColumns = 7;
  constexpr size_t kCluster = 1;
  std::vector<std::vector<std::string_view>> rows;
  std::string_view text = file("accuracy");
  bool in_table = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::vector<std::string_view> cells = cells_of(line);
    if (line.starts_with("| file | cluster |")) {
      in_table = true;
      rows.push_back(cells);
    } else if (in_table && !line.starts_with('|')) {
      break;
    } else if (in_table && cells.size() == kColumns && !cells[0].starts_with("--")) {
      if (machine_of(cells[kCluster]) == machine_of(cluster))
        rows.push_back(cells);
    }
  }
  if (rows.size() < 2) {
    page.section("accuracy", "Accuracy",
                 fmt::format("<p>No table of measured times was compared with {}. docs/accuracy.md "
                             "has what is known of others.</p>\n",
                             html_text(cluster)));
    return;
  }
  std::string html =
      "<p>Errors of modelled times of collectives and single ops against published tables: "
      "modelled / measured - 1. <em>Held out</em>: the cluster was not fitted to these.</p>\n"
      "<div class=\"wide\"><table><thead><tr>";
  for (const std::string_view cell : rows.front())
    html += fmt::format("<th>{}</th>", html_text(cell));
  html += "</tr></thead><tbody>\n";
  for (size_t r = 1; r < rows.size(); ++r) {
    html += "<tr>";
    for (const std::string_view cell : rows[r])
      html += fmt::format("<td>{}</td>", html_text(cell));
    html += "</tr>\n";
  }
  page.section("accuracy", "Accuracy", html + "</tbody></table></div>\n");
}

void add_assumptions(HtmlPage& page, const std::vector<std::string>& labels) {
  std::string html = labels.empty() ? "<p>Nothing is assumed.</p>\n" : "<ul>\n";
  for (const std::string& label : labels)
    html += fmt::format("<li>{}</li>\n", html_text(label));
  page.section("assumptions", "Assumptions", labels.empty() ? html : html + "</ul>\n");
}

}  // namespace orrery
