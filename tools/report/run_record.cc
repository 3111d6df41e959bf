#include "tools/report/run_record.h"

#include <algorithm>
#include <map>
#include <utility>

#include "models/program/rules.h"
#include "models/scenario/quantity_text.h"
#include "tools/report/op_entries.h"
#include "verifier/report/assembled.h"

namespace orrery {

namespace {

std::vector<RecordedSetting> settings_of(const MemoryPolicy& memory) {
  const std::string absent = "not given";
  const std::optional<ProtocolFigures>& transport = memory.transport;
  const std::string counted = memory.counts_transport ? "the cluster's" : absent;
  return {{"memory.reuse", memory.reuse == MemoryPolicy::Reuse::Xla ? "xla" : "none"},
          {"memory.alignment", quantity_text(memory.alignment)},
          {"memory.reserved", quantity_text(memory.reserved)},
          {"memory.transport.protocol", transport ? transport->name : counted},
          {"memory.transport.slot", transport ? quantity_text(*transport->slot) : counted}};
}

/// Of an op of a loop, from the beginning of its first run to the end of its last.
RecordedOp op_of(const Report& report, const OpEntry& entry) {
  const Program& program = report.scenario->program;
  const Op& op = program.op(entry.first().op);
  RecordedOp recorded{entry.id,
                      op_name(op.kind, op.issue),
                      std::nullopt,
                      entry.first().bytes,
                      entry.messages,
                      std::nullopt,
                      {}};
  if (entry.first().choice)
    recorded.algorithm = entry.first().choice->method();
  if (!report.completion)
    return recorded;
  recorded.span = RecordedSpan{entry.first().start, entry.last().end};
  const std::vector<LogicalId>& devices = program.thread(entry.thread).devices;
  const std::vector<OpSpan>& first = report.completion->spans[entry.first().op.index()];
  const std::vector<OpSpan>& last = report.completion->spans[entry.last().op.index()];
  for (size_t d = 0; d < devices.size(); ++d)
    recorded.by_device.emplace_back(devices[d], RecordedSpan{first[d].start, last[d].end});
  return recorded;
}

std::vector<std::optional<Tensor>> take_value(DeviceValues& values, ValueId id, uint32_t devices) {
  std::vector<std::optional<Tensor>> tensors;
  for (uint32_t d = 0; d < devices; ++d)
    tensors.push_back(values.take(id, LogicalId(d)));
  return tensors;
}

}  // namespace

RunRecord record_of(Report report) {
  const Program& program = report.scenario->program;
  RunRecord record;
  record.file = report.scenario->file;
  record.verdict = report.verdict;
  record.fingerprint = std::move(report.fingerprint);
  record.faults = std::move(report.faults);
  record.settings = settings_of(report.scenario->memory);
  if (report.completion)
    record.makespan = report.completion->makespan;
  for (const OpEntry& entry : op_entries(report))
    record.ops.push_back(op_of(report, entry));
  for (const DeviceReport& device : report.devices) {
    const DeviceMemory& memory = report.memory.of(device.device);
    RecordedDevice& recorded = record.devices.emplace_back(
        RecordedDevice{device.device, memory.peak, std::nullopt, memory.arena});
    if (memory.peak_at)
      recorded.peak_at = program.op(*memory.peak_at).name;
  }
  for (Check& check : report.checks) {
    std::string said = check.said();
    record.checks.push_back(
        {std::move(check.name), std::move(check.of), check.verdict, std::move(said)});
  }
  std::map<ValueId, std::string> other_names;  // of several the first
  for (const auto& [name, value] : program.other_names)
    other_names.emplace(value, name);
  for (size_t v = 0; report.values && v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    RecordedValue recorded{value.name, value.type.dtype, value.type.shape, {}};
    if (const auto other = other_names.find(ValueId(v)); other != other_names.end())
      recorded.other_name = other->second;
    for (const Boundary& boundary : report.scenario->boundaries)
      if (boundary.value == ValueId(v))
        recorded.whole = assembled(*report.scenario, boundary, *report.values);
    recorded.per_device = take_value(*report.values, ValueId(v), program.mesh.devices());
    if (std::any_of(recorded.per_device.begin(), recorded.per_device.end(),
                    [](const auto& tensor) { return tensor.has_value(); }))
      record.values.push_back(std::move(recorded));
  }
  return record;
}

}  // namespace orrery
