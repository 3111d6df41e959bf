#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/mesh/mpmd.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "simulator/memory/lifetimes.h"
#include "verifier/ragged/ragged_tables.h"
#include "verifier/run.h"
#include "verifier/stages.h"

namespace orrery {

namespace {

/// Returns the most that a list holds before this position.
Bytes peak_before(const std::vector<Lifetime>& lifetimes, int64_t position) {
  std::vector<Bytes> changes(static_cast<size_t>(position) + 2);
  for (const Lifetime& lifetime : lifetimes) {
    if (lifetime.held.from >= position)
      continue;
    changes[static_cast<size_t>(lifetime.held.from + 1)] += lifetime.size;
    if (lifetime.held.to < position)
      changes[static_cast<size_t>(lifetime.held.to + 2)] -= lifetime.size;
  }
  Bytes live;
  Bytes peak;
  for (const Bytes change : changes) {
    live += change;
    peak = std::max(peak, live);
  }
  return peak;
}

/// Adds the figures of the devices that issue the reshard: what they have, and the most that they
/// hold before its first op.
void add_devices(const Program& program, Stages& stages, const MemoryPolicy& policy, Bytes limit,
                 uint32_t reshard, std::vector<LimitAndPeak>& devices) {
  const ThreadId thread = program.reshards[reshard].thread;
  const std::vector<OpId>& ops = program.thread(thread).issue_order;
  const auto first = std::find_if(ops.begin(), ops.end(),
                                  [&](OpId op) { return program.op(op).reshard == reshard; });
  const Lifetimes lifetimes(program, stages.lowered(), policy);
  for (const DeviceMemory& kind : stages.memory().kinds)
    for (const size_t l : kind.lists)
      if (const ListMemory& list = stages.memory().lists[l]; list.thread == thread)
        devices.push_back(
            {limit, peak_before(lifetimes.of(list), first - ops.begin()) + kind.reserved});
}

/// Returns the threshold of a reshard that has none. Those that meet it have the same one.
Bytes found_threshold(const Scenario& scenario, Stages& stages, uint32_t reshard) {
  const Program& program = stages.program();
  std::vector<LimitAndPeak> devices;
  for (uint32_t r = 0; r < program.reshards.size(); ++r)
    if (program.reshards[r].meets(program.reshards[reshard]))
      add_devices(program, stages, scenario.memory, *scenario.cluster.device.memory, r, devices);
  return std::max(threshold_of_devices(devices), Bytes());
}

/// Gives ops, loops and reshards the places that they have in the other program, by name.
void restore_places(Program& program, const Program& from) {
  std::map<std::string_view, const std::optional<Origin>*> places;
  for (const Op& op : from.ops)
    places.emplace(op.name, &op.origin);
  for (const Loop& loop : from.loops)
    places.emplace(loop.name, &loop.origin);
  const auto restore = [&](const std::string& name, std::optional<Origin>& place) {
    if (const auto found = places.find(name); found != places.end())
      place = *found->second;
  };
  for (size_t r = 0; r < program.reshards.size(); ++r)
    program.reshards[r].origin = from.reshards[r].origin;
  for (Op& op : program.ops)
    if (op.reshard)
      op.origin = from.reshards[*op.reshard].origin;
    else
      restore(op.name, op.origin);
  for (Loop& loop : program.loops)
    restore(loop.name, loop.origin);
}

/// Sets the threshold of a reshard, and of those that meet it.
void set_threshold(Program& program, size_t reshard, Bytes threshold, bool found) {
  std::vector<Reshard*> meeting;
  for (Reshard& each : program.reshards)
    if (each.meets(program.reshards[reshard]))
      meeting.push_back(&each);
  for (Reshard* const each : meeting) {
    each->threshold = threshold;
    each->found_threshold = found;
  }
}

/// Returns the scenario with the ops that its reshards have with their thresholds. The program is
/// written and read again. Its places stay those of the user's file. `changed` is the reshard that
/// has another threshold.
Scenario made_again(Scenario scenario, size_t changed, const Limits& limits) {
  try {
    Scenario made = read_scenario(scenario.file, write_scenario(scenario), limits);
    restore_places(made.program, scenario.program);
    for (size_t r = 0; r < made.program.reshards.size(); ++r)
      made.program.reshards[r].found_threshold = scenario.program.reshards[r].found_threshold;
    scenario.program = std::move(made.program);
    scenario.boundaries = std::move(made.boundaries);
    return scenario;
  } catch (const InputError& error) {
    // All was right with the threshold before, so an array is in two transfer groups now.
    const Reshard& reshard = scenario.program.reshards[changed];
    Origin at = reshard.origin.value_or(Origin{});
    at.pointer += "/of";
    std::string message = error.diagnostics().front().message;
    if (reshard.found_threshold)
      message += fmt::format(" (the threshold is not given, and {} was found)",
                             size_text(*reshard.threshold));
    throw InputError(scenario.file, {{at, message}});
  }
}

}  // namespace

Scenario with_threshold(Scenario scenario, std::string_view reshard, Bytes threshold,
                        const Limits& limits) {
  const std::vector<Reshard>& reshards = scenario.program.reshards;
  const auto changed = std::find_if(reshards.begin(), reshards.end(),
                                    [&](const Reshard& each) { return each.name() == reshard; });
  ORRERY_CHECK(changed != reshards.end(), "the scenario has the reshard");
  const auto index = static_cast<size_t>(changed - reshards.begin());
  set_threshold(scenario.program, index, threshold, false);
  return made_again(std::move(scenario), index, limits);
}

std::shared_ptr<const Scenario> with_thresholds(std::shared_ptr<const Scenario> given,
                                                const RunOptions& options) {
  const auto lacks = [](const Reshard& reshard) { return !reshard.threshold; };
  if (!given->cluster.device.memory || std::ranges::none_of(given->program.reshards, lacks))
    return given;
  Scenario scenario = *given;
  bool is_done = false;
  while (!is_done) {
    // The stages serve until a reshard is made again.
    const WrittenScenario all = written(scenario, LongLoops::LeftOut, &options.limits);
    const FoundTables tables = find_tables(all.scenario, table_options(options));
    Diagnostics diagnostics(scenario.file);
    StageOptions of_stages;
    of_stages.limits = options.limits;
    of_stages.memory = scenario.memory;
    of_stages.tables = tables.tables;
    Stages stages(all.scenario.program, scenario.cluster, of_stages, diagnostics);
    diagnostics.throw_if_any();
    is_done = true;
    for (uint32_t r = 0; is_done && r < scenario.program.reshards.size(); ++r) {
      if (!lacks(scenario.program.reshards[r]))
        continue;
      const Reshard& reshard = scenario.program.reshards[r];
      const Bytes threshold = found_threshold(scenario, stages, r);
      is_done = transfers_with(reshard, threshold) == reshard.transfers;
      set_threshold(scenario.program, r, threshold, true);
      if (!is_done)
        scenario = made_again(std::move(scenario), r, options.limits);
    }
  }
  return std::make_shared<const Scenario>(std::move(scenario));
}

}  // namespace orrery
