#include "simulator/lower/choice.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/program/did_you_mean.h"
#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

using Candidates = std::vector<const Algorithm*>;

Answer fits_all(const Algorithm& algorithm, const SiteFigures& site, const Fabric& fabric) {
  for (const SharedList<VertexId>& ranks : site.grouping.vertices)
    if (Answer verdict = algorithm.fits({fabric, ranks, site.request.transport.channels});
        !verdict.holds)
      return verdict;
  return Answer::yes();
}

TypeError does_not_fit(const Algorithm& algorithm, const Answer& verdict) {
  return {"algorithm", fmt::format("{} ({})", verdict.witness, algorithm.name)};
}

/// Of those that the fabric does not offer, only the one that is asked for is named.
std::variant<Pick, TypeError> by_name(const Candidates& candidates, const SiteFigures& site,
                                      const Fabric& fabric) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : candidates) {
    if (algorithm->name != *site.asked_for) {
      if (algorithm->offered_on(fabric))
        names.push_back(algorithm->name);
      continue;
    }
    if (const Answer verdict = fits_all(*algorithm, site, fabric); !verdict.holds)
      return does_not_fit(*algorithm, verdict);
    return Pick{algorithm, "asked for by the scenario"};
  }
  return TypeError{"algorithm",
                   fmt::format("expected one of {}, got \"{}\"{}", fmt::join(names, ", "),
                               *site.asked_for, did_you_mean(*site.asked_for, names))};
}

struct Timed {
  const Algorithm* algorithm;
  QuietTime time;
};

/// The time of the slowest group, or why it has none.
QuietTimer::Outcome slowest(const Algorithm& algorithm, const SiteFigures& site,
                            std::span<const size_t> timed_groups, QuietTimer& timer) {
  QuietTime longest;
  for (const size_t g : timed_groups) {
    const SharedList<VertexId>& vertices = site.grouping.vertices[g];
    ScheduleRequest request = site.request;
    request.nodes = static_cast<uint32_t>(vertices.size());
    QuietTimer::Outcome outcome = timer.of(algorithm, request, site.work, vertices);
    const auto* time = std::get_if<QuietTime>(&outcome);
    if (time == nullptr)
      return outcome;
    if (time->takes >= longest.takes)
      longest = *time;
  }
  return longest;
}

Pick by_time(std::vector<Timed> timed, size_t shapes) {
  std::stable_sort(timed.begin(), timed.end(),
                   [](const Timed& a, const Timed& b) { return a.time.takes < b.time.takes; });
  const auto& [first, least] = timed[0];
  const auto& [second, next] = timed[1];
  std::string model = "model";
  if (least.extended_from)
    model += fmt::format(", extended from {} and {} ranks", least.extended_from->first,
                         least.extended_from->second);
  if (shapes > kMostTimedShapes)
    model += fmt::format(", {} of {} shapes of groups timed", kMostTimedShapes, shapes);
  return {first, fmt::format("{} {} {} {} {} ({})", first->name, quantity_text(least.takes),
                             least.takes < next.takes ? "<" : "=", second->name,
                             quantity_text(next.takes), model)};
}

}  // namespace

std::variant<Pick, TypeError> pick_algorithm(const SiteFigures& site, QuietTimer& timer) {
  const Fabric& fabric = timer.fabric();
  Candidates all = algorithms_for(site.request.kind);
  if (site.asked_for)
    return by_name(all, site, fabric);

  std::erase_if(all, [&](const Algorithm* each) { return !each->offered_on(fabric); });
  Candidates fitting;
  for (const Algorithm* algorithm : all)
    if (fits_all(*algorithm, site, fabric).holds)
      fitting.push_back(algorithm);
  if (fitting.empty())
    return does_not_fit(*all.front(), fits_all(*all.front(), site, fabric));
  if (fitting.size() == 1)
    return Pick{fitting.front(),
                fmt::format("the only algorithm {}for {}", all.size() > 1 ? "that fits " : "",
                            rules(site.request.kind).name)};

  const std::vector<size_t>& shapes = site.grouping.shapes;
  if (shapes.empty())
    return Pick{fitting.front(), "a group of one only copies"};

  const auto timed_groups = std::span(shapes).first(std::min(shapes.size(), kMostTimedShapes));
  std::vector<Timed> timed;
  std::string why_not;
  for (const Algorithm* algorithm : fitting) {
    const QuietTimer::Outcome outcome = slowest(*algorithm, site, timed_groups, timer);
    if (const auto* time = std::get_if<QuietTime>(&outcome))
      timed.push_back({algorithm, *time});
    else
      why_not = fmt::format("{} {}", algorithm->name, std::get<std::string>(outcome));
  }
  if (timed.empty())
    return Pick{fitting.front(), "the first that fits"};
  if (timed.size() == 1)
    return Pick{timed.front().algorithm, why_not};
  return by_time(std::move(timed), shapes.size());
}

}  // namespace orrery
