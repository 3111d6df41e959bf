#include "verifier/long_loops.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "models/base/diagnostics.h"
#include "models/base/int128.h"
#include "models/program/loops.h"

namespace orrery {

namespace {

struct Count {
  UInt128 ops = 0;
  UInt128 places = 0;
};

Count with_all_iterations(const Program& program) {
  const std::vector<uint64_t> times = repetitions(program);
  Count count;
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order) {
      count.ops += times[op.index()];
      count.places += UInt128{times[op.index()]} * thread.devices.size();
    }
  return count;
}

bool has_jitter_of_ops(const Scenario& scenario) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [](const Fault& fault) {
    const auto* jitter = std::get_if<Jitter>(&fault);
    return jitter != nullptr && jitter->ops > Duration();
  });
}

int64_t at_most_63_bits(UInt128 count) {
  constexpr auto kMost = static_cast<UInt128>(std::numeric_limits<int64_t>::max());
  return static_cast<int64_t>(std::min(count, kMost));
}

}  // namespace

uint64_t places_with_all_iterations(const Program& program) {
  return static_cast<uint64_t>(at_most_63_bits(with_all_iterations(program).places));
}

std::string beyond_limits(const Program& program, const Limits& limits) {
  const Count count = with_all_iterations(program);
  if (const int64_t ops = at_most_63_bits(count.ops); ops > limits.ops)
    return beyond(limits, &Limits::ops, ops);
  if (const int64_t places = at_most_63_bits(count.places); places > limits.places)
    return beyond(limits, &Limits::places,
                  fmt::format("{} on {} devices", places, program.mesh.devices()));
  return {};
}

std::shared_ptr<const Scenario> with_iterations(std::shared_ptr<const Scenario> scenario,
                                                const Limits& limits,
                                                const Iterations& iterations) {
  const Program& program = scenario->program;
  if (!leaves_out_iterations(program))
    return scenario;
  const bool wanted = iterations.all || has_jitter_of_ops(*scenario) ||
                      places_with_all_iterations(program) <= iterations.budget;
  if (!wanted)
    return scenario;
  if (const std::string beyond = beyond_limits(program, limits); !beyond.empty()) {
    if (iterations.all)
      throw InputError(scenario->file,
                       {{{}, "to compute values, all iterations are run: " + beyond}});
    return scenario;
  }
  Scenario whole = *scenario;
  whole.program = written_out(program).program;
  return std::make_shared<const Scenario>(std::move(whole));
}

}  // namespace orrery
