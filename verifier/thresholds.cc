#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/mesh/mpmd.h"
#include "models/scenario/reader.h"
#include "models/scenario/writer.h"
#include "simulator/memory/lifetimes.h"
#include "verifier/long_loops.h"
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

/// Returns the threshold of a reshard that has none, and of those at its site.
Bytes found_threshold(const Scenario& scenario, uint32_t reshard, const Limits& limits) {
  const WrittenScenario all = written(scenario, LongLoops::LeftOut, &limits);
  const Program& program = all.scenario.program;
  Diagnostics diagnostics(scenario.file);
  StageOptions options;
  options.limits = limits;
  options.memory = scenario.memory;
  Stages stages(program, scenario.cluster, options, diagnostics);
  diagnostics.throw_if_any();
  std::vector<LimitAndPeak> devices;
  const std::string& site = program.reshards[reshard].site;
  for (uint32_t r = 0; r < program.reshards.size(); ++r)
    if (r == reshard || (!site.empty() && program.reshards[r].site == site))
      add_devices(program, stages, scenario.memory, *scenario.cluster.device.memory, r, devices);
  return threshold_of_devices(devices);
}

}  // namespace

Scenario with_threshold(Scenario scenario, std::string_view reshard, Bytes threshold,
                        const Limits& limits) {
  std::string site;
  for (const Reshard& each : scenario.program.reshards)
    if (each.name() == reshard)
      site = each.site;
  std::vector<bool> found;
  for (Reshard& each : scenario.program.reshards) {
    if (each.name() == reshard || (!site.empty() && each.site == site))
      each.threshold = threshold;
    found.push_back(each.found_threshold);
  }
  Scenario made = read_scenario(scenario.file, write_scenario(scenario), limits);
  for (size_t r = 0; r < found.size(); ++r)
    made.program.reshards[r].found_threshold = found[r];
  return made;
}

std::shared_ptr<const Scenario> with_thresholds(std::shared_ptr<const Scenario> scenario,
                                                const Limits& limits) {
  if (!scenario->cluster.device.memory)
    return scenario;
  for (uint32_t r = 0; r < scenario->program.reshards.size(); ++r) {
    const Reshard& reshard = scenario->program.reshards[r];
    if (reshard.threshold)
      continue;
    const std::string site = reshard.site;
    Scenario made =
        with_threshold(*scenario, reshard.name(),
                       std::max(found_threshold(*scenario, r, limits), Bytes()), limits);
    for (uint32_t each = r; each < made.program.reshards.size(); ++each)
      if (each == r || (!site.empty() && made.program.reshards[each].site == site))
        made.program.reshards[each].found_threshold = true;
    scenario = std::make_shared<const Scenario>(std::move(made));
  }
  return scenario;
}

}  // namespace orrery
