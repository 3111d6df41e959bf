// orrery show mpmd answers queries about MPMD meshes and arrays, and shows what a reshard takes
// with other thresholds.

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/callable.h"
#include "models/base/diagnostics.h"
#include "models/scenario/queries.h"
#include "models/scenario/reader.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/report/sharding_text.h"
#include "verifier/run.h"

namespace orrery {

namespace {

const Reshard& reshard_called(const Scenario& scenario, const ShowMpmdCommand& command) {
  std::vector<std::string_view> names;
  for (const Reshard& reshard : scenario.program.reshards)
    for (const Reshard::Array& array : reshard.arrays) {
      if (array.to == command.reshard)
        return reshard;
      names.push_back(array.to);
    }
  if (names.empty())
    refuse(command.file, "expected a scenario with a reshard to or from groups, got none");
  if (command.reshard.empty())
    refuse(command.file,
           fmt::format("expected the id of a reshard too, such as {}", in_quotes(names.front())));
  refuse(command.file, fmt::format("no reshard is called {}{}", in_quotes(command.reshard),
                                   did_you_mean(command.reshard, names)));
}

Bytes size_of(const Reshard& reshard, const std::vector<size_t>& group) {
  Bytes size;
  for (const size_t array : group)
    size += reshard.arrays[array].size;
  return size;
}

/// A Grouping is the transfer groups with a threshold, the least one that gives them.
struct Grouping {
  Bytes threshold;
  std::vector<std::vector<size_t>> transfers;
};

/// Returns all groupings of the reshard, by ascending thresholds. The next one comes where a group
/// can have the first array of the group after it too.
std::vector<Grouping> groupings(const Reshard& reshard) {
  std::vector<Grouping> all;
  for (std::optional<Bytes> threshold = Bytes(); threshold;) {
    const std::vector<std::vector<size_t>>& groups =
        all.emplace_back(Grouping{*threshold, transfers_with(reshard, *threshold)}).transfers;
    threshold.reset();
    for (size_t t = 0; t + 1 < groups.size(); ++t) {
      const Bytes longer = size_of(reshard, groups[t]) + reshard.arrays[groups[t + 1].front()].size;
      threshold = std::min(threshold.value_or(longer), longer);
    }
  }
  return all;
}

/// Times the reshard with a threshold.
ThresholdRow row_of(const Scenario& scenario, const Reshard& reshard, const Grouping& grouping,
                    const RunOptions& options) {
  ThresholdRow row;
  row.threshold = grouping.threshold;
  row.groups = grouping.transfers.size();
  row.is_taken = grouping.transfers == reshard.transfers;
  for (const std::vector<size_t>& group : grouping.transfers)
    row.largest = std::max(row.largest, size_of(reshard, group));
  std::optional<Instant> begin;  // of the reshards that meet
  Instant end;
  try {
    const Report report =
        run(with_threshold(scenario, reshard.name(), grouping.threshold, options.limits), options);
    for (const ReshardReport& each : report.reshards)
      if (const Reshard& of = report.scenario->program.reshards[each.reshard]; of.meets(reshard)) {
        row.peak = std::max(row.peak, each.peak);
        begin = std::min(begin.value_or(each.start), each.start);
        end = std::max(end, each.end);
      }
    const auto wrong = std::find_if(report.checks.begin(), report.checks.end(),
                                    [](const Check& check) { return !check.holds(); });
    if (report.completion)
      row.time = end - begin.value();
    else if (wrong != report.checks.end())
      row.why_not = fmt::format("{}: {}", wrong->name, wrong->message);
  } catch (const InputError& error) {
    row.why_not = error.diagnostics().front().message;
  }
  return row;
}

/// Returns the scenario with the thresholds that follow from the devices' memory. If one of them
/// cannot be, it is as it was given.
std::shared_ptr<const Scenario> with_thresholds_if_any(const Scenario& given,
                                                       const RunOptions& options) {
  auto scenario = std::make_shared<const Scenario>(given);
  try {
    return with_thresholds(scenario, options);
  } catch (const InputError&) {
    return scenario;
  }
}

std::vector<ThresholdRow> threshold_rows(const Scenario& given, const ShowMpmdCommand& command) {
  RunOptions options;
  options.data = Data::Off;
  options.limits = command.limits;
  options.proof_budget = 0;
  options.slack_budget = 0;
  const std::shared_ptr<const Scenario> scenario = with_thresholds_if_any(given, options);
  const Reshard reshard = reshard_called(*scenario, command);
  const std::vector<Grouping> all = groupings(reshard);
  std::vector<ThresholdRow> rows(all.size());
  std::atomic<size_t> next = 0;
  run_in_threads(std::max(std::thread::hardware_concurrency(), 1U), [&] {
    RunOptions own = options;
    own.shared = shared_work();
    for (size_t row = next++; row < rows.size(); row = next++)
      rows[row] = row_of(*scenario, reshard, all[row], own);
  });
  return rows;
}

}  // namespace

Outcome execute(const ShowMpmdCommand& command, const Terminal& terminal) {
  if (command.queries)
    return answer_queries(*command.queries, command.limits, answer_mpmd_query, terminal.out);
  if (command.file.empty())
    refuse("show mpmd", "expected --queries, or a scenario and the id of a reshard");
  const Scenario scenario = load_scenario(command.file, command.limits);
  const Reshard& reshard = reshard_called(scenario, command);
  const std::vector<ThresholdRow> rows = threshold_rows(scenario, command);
  const std::string title =
      fmt::format("reshard \"{}\": {} array{} {} groups of axis \"{}\"", reshard.name(),
                  reshard.arrays.size(), reshard.arrays.size() == 1 ? "" : "s",
                  reshard.to == Reshard::To::Groups ? "to" : "from", reshard.axis);
  if (command.svg) {
    constexpr std::string_view kSvg = "--svg";
    if (command.svg->empty() || *command.svg == "-")
      refuse(kSvg, fmt::format("expected a file, got {}", in_quotes(*command.svg)));
    if (std::none_of(rows.begin(), rows.end(), [](const ThresholdRow& row) { return row.time; }))
      refuse(kSvg, "expected a threshold with which the program ends, got none");
    keep_inputs(kSvg, *command.svg, {command.file});
    write_file(*command.svg, thresholds_svg(rows, title));
  }
  terminal.out << title << "\n" << thresholds_text(rows, terminal.style);
  return Outcome::Holds;
}

}  // namespace orrery
