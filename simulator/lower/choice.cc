#include "simulator/lower/choice.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/diagnostics.h"
#include "models/scenario/quantity_text.h"

namespace orrery {
namespace {

using Candidates = std::vector<const Algorithm*>;

Verdict fits_all(const Algorithm& algorithm, const SiteFigures& site) {
  for (const GroupFigures& group : site.groups)
    if (Verdict verdict = algorithm.fits(group.nodes, site.channels); !verdict.holds)
      return verdict;
  return Verdict::yes();
}

TypeFault does_not_fit(const Algorithm& algorithm, const Verdict& verdict) {
  return {"algorithm", fmt::format("{} ({})", verdict.witness, algorithm.name)};
}

std::variant<Pick, TypeFault> by_name(const Candidates& candidates, const SiteFigures& site) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : candidates) {
    if (algorithm->name != *site.asked_for) {
      names.push_back(algorithm->name);
      continue;
    }
    if (const Verdict verdict = fits_all(*algorithm, site); !verdict.holds)
      return does_not_fit(*algorithm, verdict);
    return Pick{algorithm, "asked for by the scenario"};
  }
  const std::string_view near = near_miss(*site.asked_for, names);
  return TypeFault{
      "algorithm",
      fmt::format("expected one of {}, got \"{}\"{}", fmt::join(names, ", "), *site.asked_for,
                  near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near))};
}

/// Of the group that takes longest. Empty where the algorithm has no estimate or a group no
/// figures.
std::optional<Duration> estimate(const Algorithm& algorithm, const SiteFigures& site) {
  if (algorithm.estimate == nullptr)
    return std::nullopt;
  Duration longest;
  for (const GroupFigures& group : site.groups) {
    if (group.nodes == 1)
      continue;  // it only copies
    if (group.hops.empty())
      return std::nullopt;
    longest = std::max(longest,
                       algorithm.estimate({group.nodes, site.elements, site.itemsize, group.hops}));
  }
  return longest;
}

struct Estimated {
  const Algorithm* algorithm;
  Duration takes;
};

Pick by_estimate(std::vector<Estimated> estimates) {
  std::stable_sort(estimates.begin(), estimates.end(),
                   [](const Estimated& a, const Estimated& b) { return a.takes < b.takes; });
  const auto& [first, least] = estimates[0];
  const auto& [second, next] = estimates[1];
  return {first, fmt::format("{} {} {} {} {} (model)", first->name, quantity_text(least),
                             least < next ? "<" : "=", second->name, quantity_text(next))};
}

Pick by_limit(const Candidates& candidates, uint32_t largest) {
  std::optional<uint32_t> passed;
  for (const Algorithm* algorithm : candidates) {
    if (algorithm->best_up_to && *algorithm->best_up_to < largest) {
      passed = algorithm->best_up_to;
      continue;
    }
    if (algorithm->best_up_to)
      return {algorithm, fmt::format("for groups of up to {} ranks", *algorithm->best_up_to)};
    return {algorithm, passed ? fmt::format("for groups of more than {} ranks", *passed)
                              : "the first that fits"};
  }
  return {candidates.back(), "the last that fits"};
}

}  // namespace

std::variant<Pick, TypeFault> pick_algorithm(const SiteFigures& site) {
  const Candidates all = algorithms_for(site.kind);
  if (site.asked_for)
    return by_name(all, site);

  Candidates fitting;
  for (const Algorithm* algorithm : all)
    if (fits_all(*algorithm, site).holds)
      fitting.push_back(algorithm);
  if (fitting.empty())
    return does_not_fit(*all.front(), fits_all(*all.front(), site));
  if (fitting.size() == 1)
    return Pick{fitting.front(),
                fmt::format("the only algorithm {}for {}", all.size() > 1 ? "that fits " : "",
                            rules(site.kind).name)};

  uint32_t largest = 0;
  for (const GroupFigures& group : site.groups)
    largest = std::max(largest, group.nodes);
  if (largest == 1)
    return Pick{fitting.front(), "a group of one only copies"};

  std::vector<Estimated> estimates;
  for (const Algorithm* algorithm : fitting)
    if (const std::optional<Duration> takes = estimate(*algorithm, site))
      estimates.push_back({algorithm, *takes});
  if (estimates.size() == fitting.size())
    return by_estimate(std::move(estimates));
  return by_limit(fitting, largest);
}

}  // namespace orrery
