#include "simulator/lower/choice.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/program/sides.h"
#include "models/scenario/quantity_text.h"
#include "simulator/algorithm/hierarchical.h"

namespace orrery {
namespace {

using Methods = std::vector<Method>;

TypeError unknown(std::string parameter, const std::string& got,
                  const std::vector<std::string_view>& names) {
  return {std::move(parameter), fmt::format("expected one of {}, got \"{}\"{}",
                                            fmt::join(names, ", "), got, did_you_mean(got, names))};
}

/// Returns the algorithms that the op allows. An algorithm that the fabric does not offer is
/// included only if the op asks for it.
std::variant<std::vector<const Algorithm*>, TypeError> asked_algorithms(const SiteFigures& site,
                                                                        const Fabric& fabric) {
  std::vector<const Algorithm*> all = algorithms_for(site.request.kind);
  if (site.asked.algorithm) {
    std::vector<const Algorithm*> called;
    std::copy_if(all.begin(), all.end(), std::back_inserter(called),
                 [&](const Algorithm* each) { return each->is_called(*site.asked.algorithm); });
    if (!called.empty())
      return called;
  }
  std::erase_if(all, [&](const Algorithm* each) { return !each->offered_on(fabric); });
  if (!site.asked.algorithm)
    return all;
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : all)
    names.push_back(algorithm->name);
  if (std::any_of(all.begin(), all.end(),
                  [](const Algorithm* each) { return each->is_called(kHierarchical); }))
    names.push_back(kHierarchical);
  return unknown("algorithm", *site.asked.algorithm, names);
}

/// Returns the error in the protocol that the op asks for.
std::optional<TypeError> protocol_error(const SiteFigures& site,
                                        const std::optional<TransportFigures>& transport) {
  if (!site.asked.protocol)
    return std::nullopt;
  if (!transport)
    return TypeError{"protocol", "expected none, since the cluster has no \"transport\""};
  std::vector<std::string_view> names;
  for (const ProtocolFigures& protocol : transport->protocols) {
    if (protocol.name == *site.asked.protocol)
      return std::nullopt;
    names.push_back(protocol.name);
  }
  return unknown("protocol", *site.asked.protocol, names);
}

/// Returns why the algorithm is not considered for some group. The result is empty if the op names
/// it, or if it is considered.
std::optional<std::string> set_aside(const Algorithm& algorithm, const SiteFigures& site,
                                     const Fabric& fabric) {
  if (site.asked.algorithm)
    return std::nullopt;
  if (!algorithm.is_considered_on(fabric))
    return "only if asked for";
  if (algorithm.set_aside == nullptr)
    return std::nullopt;
  for (size_t g = 0; g < site.grouping.vertices.size(); ++g) {
    const SharedList<VertexId>& ranks = site.grouping.vertices[g];
    if (std::optional<std::string> why =
            algorithm.set_aside({fabric, ranks, 1, site.grouping.layouts[g]}, site.asked))
      return why;
  }
  return std::nullopt;
}

/// Returns whether some group lies on several nodes.
bool spans_nodes(const SiteFigures& site, const Fabric& fabric) {
  if (!has_nodes(fabric.topology()))
    return false;
  for (size_t g = 0; g < site.grouping.groups.size(); ++g)
    if (site.grouping.layouts[g].together < site.grouping.groups[g].size())
      return true;
  return false;
}

/// Returns each algorithm without a protocol: messages are passed whole.
Methods passed_whole(const std::vector<const Algorithm*>& algorithms) {
  Methods methods;
  for (const Algorithm* algorithm : algorithms)
    methods.push_back({algorithm, nullptr});
  return methods;
}

/// Returns each algorithm with the protocols that serve it and that the op allows. If there are no
/// such pairs, messages are passed whole, unless the op asks for a protocol.
Methods methods_of(const std::vector<const Algorithm*>& algorithms, const SiteFigures& site,
                   const std::optional<TransportFigures>& transport, const Fabric& fabric) {
  Methods methods;
  for (const Algorithm* algorithm : algorithms)
    for (const ProtocolFigures* protocol :
         protocols_for(algorithm, site.request.kind, transport, spans_nodes(site, fabric)))
      if (!site.asked.protocol || protocol->name == *site.asked.protocol)
        methods.push_back({algorithm, protocol});
  return methods.empty() && !site.asked.protocol ? passed_whole(algorithms) : methods;
}

/// Returns why the method cannot serve some group, with one channel or with as many as the method
/// gives it. The result is empty if the method serves all groups.
std::optional<std::string> misfit_of_any(const Method& method, const SiteFigures& site,
                                         const Fabric& fabric, const ScheduleMaker& maker) {
  for (size_t g = 0; g < site.grouping.vertices.size(); ++g) {
    const SharedList<VertexId>& ranks = site.grouping.vertices[g];
    const ScheduleRequest request = site.request_of(g);
    const auto misfit = [&](uint32_t channels) {
      return method.algorithm->misfit({fabric, ranks, channels, request.layout});
    };
    if (std::optional<std::string> why = misfit(1))
      return why;
    const uint32_t channels =
        maker.with_connections(method, site.asked, request, site.work).transport.channels;
    if (std::optional<std::string> why = misfit(channels))
      return why;
  }
  return std::nullopt;
}

TypeError does_not_fit(const Method& method, const std::string& why) {
  return {"algorithm", fmt::format("{} ({})", why, method.algorithm->name)};
}

struct Timed {
  Method method;
  QuietTime time;
  bool is_checked = false;  // its groups were timed completely, or cannot be
};

/// A method that has not been timed, and a lower bound on its time.
struct Untimed {
  Method method;
  Duration at_least;
};

/// Returns the time of the slowest group, or why it has none.
QuietTimer::Outcome slowest(const Method& method, const SiteFigures& site,
                            std::span<const size_t> timed_groups, QuietTimer& timer) {
  QuietTime longest;
  for (const size_t g : timed_groups) {
    const SharedList<VertexId>& vertices = site.grouping.vertices[g];
    QuietTimer::Outcome outcome =
        timer.of(method, site.asked, site.request_of(g), site.work, vertices);
    const auto* time = std::get_if<QuietTime>(&outcome);
    if (time == nullptr)
      return outcome;
    if (time->takes >= longest.takes)
      longest = *time;
  }
  return longest;
}

/// Returns the time of the slowest group, with all its ranks. Returns nothing if that of some group
/// is not found.
std::optional<QuietTime> slowest_of_all(const Method& method, const SiteFigures& site,
                                        std::span<const size_t> timed_groups, QuietTimer& timer) {
  QuietTime longest;
  for (const size_t g : timed_groups) {
    const std::optional<QuietTime> time =
        timer.of_all(method, site.asked, site.request_of(g), site.work, site.grouping.vertices[g]);
    if (!time)
      return std::nullopt;
    longest.takes = std::max(longest.takes, time->takes);
  }
  return longest;
}

/// Returns a lower bound on the time of the slowest group.
Duration least_time(const Method& method, const SiteFigures& site,
                    std::span<const size_t> timed_groups, const QuietTimer& timer) {
  Duration least;
  for (const size_t g : timed_groups) {
    const SharedList<VertexId>& vertices = site.grouping.vertices[g];
    least = std::max(least,
                     timer.at_least(method, site.asked, site.request_of(g), site.work, vertices));
  }
  return least;
}

/// Returns the methods in the order in which they are timed. With protocols, and on topologies with
/// algorithms of their own, the method with the least lower bound comes first: there are many, and
/// timing a slow one takes long.
std::vector<Untimed> in_order(const Methods& fitting, const SiteFigures& site,
                              std::span<const size_t> timed_groups, const QuietTimer& timer) {
  const bool bounded = std::any_of(fitting.begin(), fitting.end(), [](const Method& method) {
    return method.protocol != nullptr || method.algorithm->is_for_topology != nullptr;
  });
  std::vector<Untimed> order;
  for (const Method& method : fitting)
    order.push_back({method, bounded ? least_time(method, site, timed_groups, timer) : Duration()});
  std::stable_sort(order.begin(), order.end(),
                   [](const Untimed& a, const Untimed& b) { return a.at_least < b.at_least; });
  return order;
}

/// Returns the exact time if it is short, "160.80064 us", and otherwise a rounded one: "12.73 us"
/// for 12,726,394 ps.
std::string reason_text(Duration time) {
  constexpr Duration kMicrosecond(1'000'000);
  const std::string exact = quantity_text(time);
  return time >= kMicrosecond && exact.ends_with(" ps") ? time_text(time, true) : exact;
}

/// Returns "ring 4724 ns < tree 5100 ns". Both times are rounded if the exact ones have different
/// units.
std::string compared(const Method& first, Duration takes, std::string_view relation,
                     const Method& second, std::string_view at_least, Duration other) {
  std::array<std::string, 2> texts = {reason_text(takes), reason_text(other)};
  const auto unit = [](std::string_view text) { return text.substr(text.rfind(' ')); };
  if (unit(texts[0]) != unit(texts[1]))
    texts = {time_text(takes, true), time_text(other, true)};
  return fmt::format("{} {} {} {} {}{}", choice_of(first).method(), texts[0], relation,
                     choice_of(second).method(), at_least, texts[1]);
}

/// Returns the time of the whole groups; nothing if smaller ones were timed.
std::optional<Duration> alone(const QuietTime& time) {
  return time.extended_from ? std::nullopt : std::optional(time.takes);
}

/// Returns "model", and how the time was found if not by timing all groups completely.
std::string model_text(const QuietTime& time, size_t shapes) {
  std::string model = "model";
  if (time.extended_from)
    model += fmt::format(", extended from {} and {} ranks", time.extended_from->first,
                         time.extended_from->second);
  if (shapes > kMostTimedShapes)
    model += fmt::format(", {} of {} shapes of groups timed", kMostTimedShapes, shapes);
  return model;
}

Pick by_time(std::vector<Timed> timed, size_t shapes) {
  std::stable_sort(timed.begin(), timed.end(),
                   [](const Timed& a, const Timed& b) { return a.time.takes < b.time.takes; });
  const Timed& first = timed[0];
  const Timed& second = timed[1];
  return {first.method,
          fmt::format("{} ({})",
                      compared(first.method, first.time.takes,
                               first.time.takes < second.time.takes ? "<" : "=", second.method, "",
                               second.time.takes),
                      model_text(first.time, shapes)),
          alone(first.time)};
}

/// Returns why an algorithm is not taken if the op names none.
std::string reason_against(const Algorithm& algorithm, const SiteFigures& site,
                           const Methods& methods, const Fabric& fabric,
                           const ScheduleMaker& maker) {
  if (!algorithm.offered_on(fabric))
    return "no switch reduces";
  if (const std::optional<std::string> why = set_aside(algorithm, site, fabric))
    return *why;
  for (const Method& method : methods)
    if (method.algorithm == &algorithm)
      return *misfit_of_any(method, site, fabric, maker);
  return "no protocol serves it";
}

/// Returns why the only method that fits is taken, and why each other algorithm is not that the op
/// need not name.
std::string only_reason(const Method& only, const SiteFigures& site, const Methods& methods,
                        const Fabric& fabric, const ScheduleMaker& maker) {
  if (site.asked.algorithm)
    return "asked for";
  const std::string_view kind = rules(site.request.kind).name;
  std::vector<std::string> others;
  for (const Algorithm* const algorithm : algorithms_for(site.request.kind))
    if (algorithm != only.algorithm && algorithm->is_considered_on(fabric) &&
        algorithm->is_for(fabric))
      others.push_back(fmt::format("{}: {}", algorithm->name,
                                   reason_against(*algorithm, site, methods, fabric, maker)));
  return others.empty() ? fmt::format("the only algorithm for {}", kind)
                        : fmt::format("the only algorithm considered for {} ({})", kind,
                                      fmt::join(others, "; "));
}

size_t place_of(const Method& method, const Methods& methods) {
  const auto same = [&](const Method& other) {
    return other.algorithm == method.algorithm && other.protocol == method.protocol;
  };
  return static_cast<size_t>(std::find_if(methods.begin(), methods.end(), same) - methods.begin());
}

/// Returns the groups of more than one rank, one of each shape.
std::vector<size_t> groups_to_time(const SiteFigures& site) {
  if (site.slices.empty())
    return site.grouping.shapes;
  std::vector<size_t> groups;
  for (size_t g = 0; g < site.grouping.groups.size(); ++g)
    if (site.grouping.groups[g].size() > 1)
      groups.push_back(g);
  return groups;
}

Pick fastest(const Methods& fitting, const SiteFigures& site, QuietTimer& timer) {
  const std::vector<size_t> shapes = groups_to_time(site);
  const auto timed_groups = std::span(shapes).first(std::min(shapes.size(), kMostTimedShapes));
  const std::vector<Untimed> order = in_order(fitting, site, timed_groups, timer);
  auto next = order.begin();
  std::vector<Timed> timed;
  std::vector<std::string> why_not;  // for each method that has no time
  // Extended times were seen up to 6 % below those of all ranks (2026-11-30). So if another method
  // is within a tenth, all ranks are timed.
  const auto is_close = [&](const Timed& least) {
    const Int128 most = Int128{least.time.takes.count()} * 11 / 10;
    return (next != order.end() && next->at_least.count() <= most) ||
           std::ranges::count_if(
               timed, [&](const Timed& each) { return each.time.takes.count() <= most; }) > 1;
  };
  while (true) {
    const auto least =
        std::ranges::min_element(timed, {}, [](const Timed& each) { return each.time.takes; });
    if (next != order.end() && (timed.empty() || next->at_least <= least->time.takes)) {
      const Method& method = (next++)->method;
      const QuietTimer::Outcome outcome = slowest(method, site, timed_groups, timer);
      if (const auto* time = std::get_if<QuietTime>(&outcome))
        timed.push_back({method, *time, !time->extended_from});
      else
        why_not.push_back(
            fmt::format("{} {}", choice_of(method).method(), std::get<std::string>(outcome)));
    } else if (!timed.empty() && !least->is_checked && is_close(*least)) {
      least->is_checked = true;
      if (const auto time = slowest_of_all(least->method, site, timed_groups, timer))
        least->time = *time;
    } else {
      break;
    }
  }
  if (timed.empty())
    return {fitting.front(), fmt::format("the first that fits: {}", fmt::join(why_not, "; "))};
  // Among equal times the first method of the table counts.
  std::sort(timed.begin(), timed.end(), [&](const Timed& a, const Timed& b) {
    return place_of(a.method, fitting) < place_of(b.method, fitting);
  });
  const Timed first = timed.front();
  Pick pick = timed.size() > 1 ? by_time(std::move(timed), shapes.size())
                               : Pick{first.method, "", alone(first.time)};
  if (pick.because.empty() && next != order.end())
    pick.because = fmt::format(
        "{} ({})",
        compared(first.method, first.time.takes, "<", next->method, "at least ", next->at_least),
        model_text(first.time, shapes.size()));
  if (pick.because.empty())
    pick.because =
        fmt::format("{} takes {} ({})", choice_of(first.method).method(),
                    reason_text(first.time.takes), model_text(first.time, shapes.size()));
  for (const std::string& why : why_not)
    pick.because += "; " + why;
  return pick;
}

}  // namespace

std::variant<Pick, TypeError> pick_method(const SiteFigures& site,
                                          const std::optional<TransportFigures>& transport,
                                          const ScheduleMaker& maker, QuietTimer& timer) {
  const Fabric& fabric = timer.fabric();
  const auto algorithms = asked_algorithms(site, fabric);
  if (const auto* error = std::get_if<TypeError>(&algorithms))
    return *error;
  if (std::optional<TypeError> error = protocol_error(site, transport))
    return *error;
  std::vector<const Algorithm*> considered = std::get<std::vector<const Algorithm*>>(algorithms);
  std::erase_if(considered,
                [&](const Algorithm* each) { return set_aside(*each, site, fabric).has_value(); });
  const Methods methods = methods_of(considered, site, transport, fabric);
  if (methods.empty())
    return TypeError{
        "protocol",
        fmt::format("expected one that serves {}, got \"{}\"",
                    site.asked.algorithm.value_or(std::string(rules(site.request.kind).name)),
                    *site.asked.protocol)};
  const auto fitting_of = [&](Methods all) {
    std::erase_if(all, [&](const Method& method) {
      return misfit_of_any(method, site, fabric, maker).has_value();
    });
    return all;
  };
  Methods fitting = fitting_of(methods);
  if (fitting.empty() && !site.asked.protocol)
    fitting = fitting_of(passed_whole(considered));
  if (fitting.empty())
    return does_not_fit(methods.front(), *misfit_of_any(methods.front(), site, fabric, maker));
  if (is_discarded(site.request.kind, site.request.elements))
    return Pick{fitting.front(), "without elements it is discarded"};
  if (groups_to_time(site).empty())
    return Pick{method_of(fitting.front(), 1),
                site.asked.algorithm ? "asked for" : "a group of one only copies"};
  Pick pick = fitting.size() == 1 ? Pick{fitting.front(),
                                         only_reason(fitting.front(), site, methods, fabric, maker)}
                                  : fastest(fitting, site, timer);
  if (site.asked.algorithm && transport && pick.method.protocol == nullptr)
    pick.because += "; no protocol serves it, so its messages take their links' latency alone";
  return pick;
}

}  // namespace orrery
