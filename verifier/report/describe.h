#pragma once

// This folder fills the parts of a report (report.h) other than verdicts. run() calls it after the
// stages have their results.
//  - Labels (labels.cc) are sentences on what the run assumed, rounded or left out, such as
//    "memory: not given (capacity is not checked)". There is one function for each source of
//    labels: faults, figures of the cluster and lowering, arrays, loops, GPUs. A report shows its
//    labels in the order in which run() adds them.
//  - Rows (rows.cc) are figures for each op, link and device. The row of an op has its span over
//    all devices of its thread, its slack, and for a collective the algorithm, the messages, the
//    bandwidths and the exposed time. A link has a row if it carries data. Devices have rows with
//    their times.
//  - assembled() of report.h joins the parts of an output that devices hold to the whole array. It
//    is called when a report is written out, and not by run().
// Without a completion, as after a hang, op and device rows have no times, and links have no rows.
// Rows of ops are in issue order, thread by thread, and rows of links and devices are by id.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/scenario/scenario.h"
#include "simulator/lower/lower.h"
#include "simulator/schedule/lowered.h"
#include "simulator/time/completion.h"
#include "simulator/values/gpu_facts.h"
#include "verifier/report.h"
#include "verifier/stages.h"

namespace orrery {

/// Returns labels of links that faults changed: the choices that do not follow the change, and
/// bandwidths that are rounded.
std::vector<std::string> labels_of_faults(const Scenario& scenario, const FaultEffects& effects);

/// Returns labels of figures that were assumed or fitted, of devices with several programs, and of
/// programs without outputs.
std::vector<std::string> labels_of_figures(const Scenario& scenario, const Lowered& lowered);

/// Returns labels of the cluster's figures by which the memory has transport buffers.
std::vector<std::string> labels_of_connections(const Scenario& scenario,
                                               const MemoryProfile& memory);

/// Returns labels of dimensions that are not cut, though the spec of the file cuts them and asks to
/// be corrected.
std::vector<std::string> labels_of_arrays(const Scenario& scenario);

/// Returns labels of a run that leaves out iterations: the figures that it lacks, and the
/// iterations that it added up. `given` has all loops as regions; `most_ops_shown` is that of
/// the run (RunOptions).
std::vector<std::string> labels_of_loops(const Scenario& given, uint64_t most_ops_shown,
                                         const std::optional<Completion>& completion);

/// Returns the rows of reshards. Requires the report's memory, and the rows of ops.
std::vector<ReshardReport> reshard_rows(const Scenario& scenario, const Lowered& lowered,
                                        const Report& report);

/// Returns labels of reshards: thresholds that were not given, and transfer groups whose results
/// are above the threshold.
std::vector<std::string> labels_of_reshards(const Program& program);

/// Returns labels of a run on GPUs: the parts that it does not do, or does not do as the host does.
std::vector<std::string> labels_of_gpus(const Scenario& scenario, const cuda::GpuFacts& facts);

/// Adds the rows of ops, links and devices. Requires the report's memory, and its completion if the
/// program ends.
void add_rows(const Scenario& scenario, Stages& stages, Report& report);

}  // namespace orrery
