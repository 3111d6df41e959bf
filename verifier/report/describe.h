#pragma once

// The parts of a report besides verdicts: labels, each a sentence on what the run assumed, rounded
// or left out; and rows of figures for each op, link and device.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "simulator/lower/faults.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"
#include "simulator/values/gpu_facts.h"
#include "verifier/report.h"
#include "verifier/stages.h"

namespace orrery {

/// Labels of links that faults changed: the choices that do not follow the change, and bandwidths
/// that are rounded.
std::vector<std::string> labels_of_faults(const Scenario& scenario, const FaultEffects& effects);

/// Labels of figures that were assumed or fitted, of devices with several programs, and of programs
/// without outputs.
std::vector<std::string> labels_of_figures(const Scenario& scenario, const Lowered& lowered);

/// Labels of a run that leaves out iterations: the figures that it lacks, and those that it added
/// up. `given` has all loops as regions; `iterations_budget` is that of the run (RunOptions).
std::vector<std::string> labels_of_loops(const Scenario& given, const Scenario& scenario,
                                         uint64_t iterations_budget,
                                         const std::optional<Completion>& completion);

/// Labels of a run on GPUs: the parts that it does not do, or not as the host does.
std::vector<std::string> labels_of_gpus(const Scenario& scenario, const cuda::GpuFacts& facts);

/// Adds the rows of ops, links and devices. Requires the report's memory, and its completion if the
/// program ends. Without a completion rows have no times, and there are no links.
void add_rows(const Scenario& scenario, Stages& stages, Report& report);

}  // namespace orrery
