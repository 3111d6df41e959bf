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

/// Returns whether they are one, or meet at a site.
bool meet(const Reshard& a, const Reshard& b) {
  return a.name() == b.name() || (!a.site.empty() && a.site == b.site);
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

/// Returns the threshold of a reshard that has none, and of those at its site.
Bytes found_threshold(const Scenario& scenario, Stages& stages, uint32_t reshard) {
  const Program& program = stages.program();
  std::vector<LimitAndPeak> devices;
  for (uint32_t r = 0; r < program.reshards.size(); ++r)
    if (meet(program.reshards[r], program.reshards[reshard]))
      add_devices(program, stages, scenario.memory, *scenario.cluster.device.memory, r, devices);
  return std::max(threshold_of_devices(devices), Bytes());
}

/// Returns whether the arrays of the reshard are grouped alike with this threshold.
bool groups_alike(const Reshard& reshard, Bytes threshold) {
  std::vector<Bytes> sizes;  // in the order of the moves, which does not depend on the threshold
  std::vector<size_t> groups;
  for (const std::vector<size_t>& group : reshard.transfers) {
    groups.push_back(group.size());
    for (const size_t array : group)
      sizes.push_back(reshard.arrays[array].size);
  }
  const std::vector<std::vector<size_t>> others = transfer_groups(sizes, threshold);
  return std::equal(groups.begin(), groups.end(), others.begin(), others.end(),
                    [](size_t count, const auto& group) { return count == group.size(); });
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

/// Sets the threshold of a reshard, and of those at its site.
void set_threshold(Program& program, const Reshard& reshard, Bytes threshold, bool found) {
  for (Reshard& each : program.reshards)
    if (meet(each, reshard)) {
      each.threshold = threshold;
      each.found_threshold = found;
    }
}

/// Returns the scenario with its reshards made again by their thresholds. It is written and read
/// again, but for the rest of it, so that places are those of the given text.
Scenario made_again(Scenario scenario, const Reshard& changed, const Limits& limits) {
  try {
    Scenario made = read_scenario(scenario.file, write_scenario(scenario), limits);
    restore_places(made.program, scenario.program);
    for (size_t r = 0; r < made.program.reshards.size(); ++r)
      made.program.reshards[r].found_threshold = scenario.program.reshards[r].found_threshold;
    const bool fuses = scenario.fuses_elementwise;
    ORRERY_CHECK(fuses == made.fuses_elementwise, "a scenario that is read again is the same");
    scenario.program = std::move(made.program);
    scenario.boundaries = std::move(made.boundaries);
    return scenario;
  } catch (const InputError& error) {
    // The arrays and their shardings are right, so the reshard cannot have this threshold.
    throw InputError(
        scenario.file,
        {{changed.origin.value_or(Origin{}),
          fmt::format("reshard \"{}\" with a threshold of {}: {}", changed.name(),
                      size_text(changed.threshold.value()), error.diagnostics().front().message)}});
  }
}

}  // namespace

Scenario with_threshold(Scenario scenario, std::string_view reshard, Bytes threshold,
                        const Limits& limits) {
  const auto changed =
      std::find_if(scenario.program.reshards.begin(), scenario.program.reshards.end(),
                   [&](const Reshard& each) { return each.name() == reshard; });
  ORRERY_CHECK(changed != scenario.program.reshards.end(), "the scenario has the reshard");
  set_threshold(scenario.program, Reshard(*changed), threshold, false);
  const Reshard set = *changed;
  return made_again(std::move(scenario), set, limits);
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
      const Bytes threshold = found_threshold(scenario, stages, r);
      set_threshold(scenario.program, Reshard(scenario.program.reshards[r]), threshold, true);
      const Reshard set = scenario.program.reshards[r];
      is_done = groups_alike(set, threshold);
      if (!is_done)
        scenario = made_again(std::move(scenario), set, options.limits);
    }
  }
  return std::make_shared<const Scenario>(std::move(scenario));
}

}  // namespace orrery
