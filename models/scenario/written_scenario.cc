#include <string>
#include <utility>

#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/scenario/program_reader.h"
#include "models/scenario/scenario.h"

namespace orrery {

namespace {

Unrolled unrolled_within(const Scenario& given, LongLoops long_loops, const Limits& limits) {
  Diagnostics diagnostics(given.file);
  std::optional<Unrolled> made = unrolled(
      given.program, long_loops, {},
      [&](const WrittenSize& size) {
        const std::string error = size_error(limits, given.program.mesh, size);
        return error.empty() ? error
                             : "to show any single run of an op, all iterations are written, where "
                               "each loop and each carry in an iteration counts as an op: " +
                                   error;
      },
      diagnostics);
  diagnostics.throw_if_any();
  return std::move(made.value());
}

}  // namespace

WrittenScenario written(const Scenario& given, LongLoops long_loops, const Limits* limits) {
  if (given.program.loops.empty())
    return {given, own_runs(given.program)};
  WrittenScenario made{given, {}};
  Unrolled all = limits == nullptr ? unrolled(given.program, long_loops)
                                   : unrolled_within(given, long_loops, *limits);
  const auto now = [&](ValueId value) {
    ORRERY_CHECK(all.values[value.index()].has_value(), "a value outside of all bodies is made");
    return *all.values[value.index()];
  };
  const std::map<std::string_view, ValueId> values = values_by_name(given.program);
  const auto rename = [&](ComparedValue& compared) {
    if (const auto value = values.find(compared.name); value != values.end())
      compared.name = all.program.value(now(value->second)).name;
  };
  for (Boundary& boundary : made.scenario.boundaries)
    boundary.value = now(boundary.value);
  for (Expectation& expectation : made.scenario.expectations)
    for_each_compared(expectation, rename);
  made.scenario.program = std::move(all.program);
  made.runs = std::move(all.runs);
  made.values = std::move(all.values);
  return made;
}

}  // namespace orrery
