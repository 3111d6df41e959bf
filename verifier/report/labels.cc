#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/program/holders.h"
#include "models/scenario/quantity_text.h"
#include "simulator/lower/assumptions.h"
#include "verifier/expect/expect.h"
#include "verifier/long_loops.h"
#include "verifier/report/describe.h"

namespace orrery {

namespace {

void add_several_lists(const Program& program, std::vector<std::string>& labels) {
  const std::vector<std::vector<ThreadId>> threads_of = threads_by_device(program);
  const auto several = std::count_if(threads_of.begin(), threads_of.end(),
                                     [](const auto& threads) { return threads.size() > 1; });
  if (several == 0)
    return;
  const std::string devices = several == 1 ? "1 device" : fmt::format("{} devices", several);
  labels.push_back(
      fmt::format("programs: several at once on {}, each at the device's full rates", devices));
  labels.push_back(
      fmt::format("memory: on {} bounded by the sum of their programs' peaks", devices));
}

/// Labels programs without a result that is an output. Each of their results is freed after its
/// last use.
void add_outputs(const Program& program, std::vector<std::string>& labels) {
  std::vector<bool> kept(program.values.size(), false);
  for (const ValueId output : program.outputs)
    kept[output.index()] = true;
  std::string without;
  size_t count = 0;
  size_t with_results = 0;
  for (const Thread& thread : program.threads) {
    bool has_results = false;
    bool keeps = false;
    for (const OpId id : thread.issue_order)
      for (const ValueId result : program.op(id).results) {
        has_results = true;
        keeps = keeps || kept[result.index()];
      }
    with_results += has_results ? 1 : 0;
    if (has_results && !keeps && count++ == 0)
      without = thread.name;
  }
  if (count == 0)
    return;
  const std::string which =
      count == with_results ? program.outputs.empty() ? "none is named" : "only arguments are named"
      : count == 1          ? fmt::format("none of program \"{}\"", without)
                   : fmt::format("none of program \"{}\" and {} others", without, count - 1);
  labels.push_back(fmt::format("outputs: {}; results are freed after their last use", which));
}

}  // namespace

std::vector<std::string> labels_of_faults(const Scenario& scenario, const FaultEffects& effects) {
  std::vector<std::string> labels;
  if (!effects.fabric)
    return labels;
  labels.emplace_back("algorithms: chosen for the links without their faults");
  const Fabric& healthy = scenario.cluster.fabric;
  const int64_t parts = effects.fabric->rate_parts();
  for (const Fault& fault : scenario.faults) {
    const auto* slow = std::get_if<SlowLink>(&fault);
    if (slow == nullptr || !slow->factor)
      continue;
    for (const LinkId id : healthy.links_between(slow->from, slow->to)) {
      const BytesPerSecond bandwidth = healthy.link(id).bandwidth;
      if (parts % parts_of_slowed(bandwidth, *slow->factor) != 0)
        labels.push_back(fmt::format("link {}: {} divided by {} is rounded down to {}",
                                     healthy.link_text(id), quantity_text(bandwidth),
                                     factor_text(*slow->factor),
                                     parts == 1 ? "whole B/s" : fmt::format("1/{} B/s", parts)));
    }
  }
  return labels;
}

std::vector<std::string> labels_of_figures(const Scenario& scenario, const Lowered& lowered) {
  std::vector<std::string> labels = lowered.labels;
  add_several_lists(scenario.program, labels);
  add_outputs(scenario.program, labels);
  if (scenario.program.numerics == Numerics::XlaCpu)
    labels.emplace_back(
        "numerics: xla-cpu (as XLA folds, rounds and flushes on the CPU, but for "
        "dot_general, float reduce_sum and transcendental functions)");
  if (scenario.fuses_elementwise)
    labels.emplace_back(
        "fusion: elementwise (chains of elementwise ops and reductions take the time of one "
        "kernel; memory is that of the ops)");
  if (!scenario.cluster.device.memory)
    labels.emplace_back("memory: not given (capacity is not checked)");
  for (std::string& figure : fitted_figures(scenario.cluster, scenario.program))
    labels.push_back(std::move(figure));
  return labels;
}

std::vector<std::string> labels_of_arrays(const Scenario& scenario) {
  std::vector<std::string> labels;
  for (const Array& array : scenario.arrays)
    if (array.uncorrected)
      for (const std::string& text :
           corrections(*array.uncorrected, array.global, scenario.program.mesh))
        labels.push_back(fmt::format("array \"{}\": {}", array.name, text));
  return labels;
}

std::vector<std::string> labels_of_connections(const Scenario& scenario,
                                               const MemoryProfile& memory) {
  std::set<ConnectionKind> kinds;
  for (const DeviceMemory& device : memory.kinds)
    for (const ConnectionBuffers& buffers : device.connections)
      kinds.insert(buffers.kind);
  return connection_labels(scenario.cluster, scenario.memory, kinds);
}

std::vector<std::string> labels_of_loops(const Scenario& given, uint64_t most_ops_shown,
                                         const std::optional<Completion>& completion) {
  std::vector<std::string> labels = {shown_label(given.program, most_ops_shown)};
  if (completion)
    for (std::string& text : added_labels(given.program, completion->added))
      labels.push_back(std::move(text));
  labels.emplace_back("arena: placed for the iterations that are shown");
  return labels;
}

std::vector<std::string> labels_of_gpus(const Scenario& scenario, const cuda::GpuFacts& facts) {
  std::vector<std::string> labels;
  const std::vector<Op>& ops = scenario.program.ops;
  if (std::any_of(ops.begin(), ops.end(), [](const Op& op) { return rules(op.kind).opaque; }))
    labels.emplace_back("GPUs: compute runs as nothing, and gives its stand-in value");
  if (!scenario.faults.empty())
    labels.emplace_back("GPUs: faults are not applied");
  if (facts.dots) {
    uint32_t in_order = 0;
    std::string why;
    for (const auto& [reason, count] : facts.dots->in_order) {
      in_order += count;
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", reason, count);
    }
    const size_t fast = facts.dots->by_cublaslt.size();
    labels.push_back(
        fmt::format("--fast-dot: {} dot_general{} by cuBLASLt, {} in the stated order{}", fast,
                    fast == 1 ? "" : "s", in_order, why.empty() ? "" : " (" + why + ")"));
  }
  return labels;
}

}  // namespace orrery
