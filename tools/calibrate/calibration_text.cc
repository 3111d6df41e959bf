#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/scenario/quantity_text.h"
#include "tools/calibrate/calibration.h"

namespace orrery {
namespace {

using Align = Table::Align;

/// Errors beyond this are listed one by one.
constexpr double kOutlier = 0.3;
constexpr size_t kMostOutliers = 20;

using Group = std::pair<NcclCollective, const SizeBand*>;
using Groups = std::map<Group, std::vector<Residual>>;

void add(const std::vector<Residual>& residuals, Groups& groups) {
  for (const Residual& residual : residuals)
    groups[{residual.call->call.collective, &band_of(residual.call->size)}].push_back(residual);
}

void add_errors(std::vector<std::string>& cells, const std::vector<Residual>& residuals) {
  const ErrorSummary errors = summary(residuals);
  cells.push_back(percent(errors.mean));
  cells.push_back(signed_percent(errors.bias));
  cells.push_back(signed_percent(errors.worst));
}

std::string figures_text(const Calibration& calibration, const Style& style) {
  Table table({Align::Left, Align::Right, Align::Right, Align::Left});
  table.row({"figure", "start", "fitted", ""});
  for (const FittedFigure& figure : calibration.figures)
    table.row({figure.name, figure.start, figure.fitted, figure.at_bound ? "at its bound" : ""});
  return table.text(style, 2);
}

std::string errors_text(const Calibration& calibration, const Style& style) {
  Groups fitted;
  Groups left_out;
  add(calibration.residuals, fitted);
  for (const LeftOutRanks& fold : calibration.left_out)
    add(fold.residuals, left_out);
  std::vector<std::string> heads = {"collective", "size", "times", "mean", "bias", "worst"};
  if (!calibration.left_out.empty())
    heads.insert(heads.end(), {"mean", "bias", "worst"});
  std::vector<Align> aligns(heads.size(), Align::Right);
  aligns[0] = aligns[1] = Align::Left;
  Table table(std::move(aligns));
  table.row(std::move(heads));
  for (const auto& [group, residuals] : fitted) {
    const auto& [collective, band] = group;
    std::vector<std::string> cells = {std::string(name(collective)), band->name,
                                      fmt::format("{}", residuals.size())};
    add_errors(cells, residuals);
    const auto found = left_out.find(group);
    if (found != left_out.end())
      add_errors(cells, found->second);
    table.row(std::move(cells));
  }
  return table.text(style, 2);
}

std::string outliers_text(std::vector<Residual> residuals, const Style& style) {
  std::erase_if(residuals, [](const Residual& each) { return std::abs(each.error()) <= kOutlier; });
  if (residuals.empty())
    return "";
  std::stable_sort(residuals.begin(), residuals.end(), [](const Residual& a, const Residual& b) {
    return std::abs(a.error()) > std::abs(b.error());
  });
  std::string text = fmt::format("not fitted, more than {} off: {}\n", percent(kOutlier),
                                 counted(static_cast<int64_t>(residuals.size()), "time"));
  Table table({Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right});
  table.row({"collective", "ranks", "size", "measured", "modelled", "error"});
  for (const Residual& each : std::span(residuals).first(std::min(residuals.size(), kMostOutliers)))
    table.row({std::string(name(each.call->call.collective)),
               fmt::format("{}", each.call->call.ranks), size_text(each.call->size),
               time_text(each.measured), time_text(each.modelled), signed_percent(each.error())});
  text += table.text(style, 2);
  if (residuals.size() > kMostOutliers)
    text += fmt::format("  and {} more\n", residuals.size() - kMostOutliers);
  return text;
}

}  // namespace

std::string calibration_text(const Calibration& calibration, const Style& style) {
  std::string text = style.bold("figures") + "\n" + figures_text(calibration, style);
  for (const std::string& protocol : calibration.unused)
    text += fmt::format("  {}: left away, since no call is fastest with it\n", protocol);
  text += "\n" + style.bold("errors") + ", modelled / measured - 1";
  if (!calibration.left_out.empty()) {
    std::vector<uint32_t> ranks;
    for (const LeftOutRanks& fold : calibration.left_out)
      ranks.push_back(fold.ranks);
    text += fmt::format("; then those of a fit to the other numbers of ranks, for each of {}",
                        fmt::join(ranks, ", "));
  }
  text += "\n" + errors_text(calibration, style);
  const std::string outliers = outliers_text(calibration.residuals, style);
  return outliers.empty() ? text : text + "\n" + outliers;
}

}  // namespace orrery
