#include "tools/report/run_record.h"

#include <algorithm>
#include <utility>

#include "models/program/rules.h"

namespace orrery {

namespace {

RecordedOp op_of(const Report& report, const OpReport& entry) {
  const Program& program = report.scenario->program;
  const Op& op = program.op(entry.op);
  RecordedOp recorded{
      op.name, op_name(op.kind, op.issue), std::nullopt, entry.bytes, entry.messages, std::nullopt,
      {}};
  if (entry.choice)
    recorded.algorithm = entry.choice->algorithm;
  if (report.completion)
    recorded.span = RecordedSpan{entry.start, entry.end};
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
  record.holds = report.holds;
  record.fingerprint = std::move(report.fingerprint);
  record.faults = std::move(report.faults);
  if (report.completion)
    record.makespan = report.completion->makespan;
  // The report's ops are those of the threads in order.
  size_t next = 0;
  for (const Thread& thread : program.threads) {
    for (size_t i = 0; i < thread.issue_order.size(); ++i, ++next) {
      RecordedOp& op = record.ops.emplace_back(op_of(report, report.ops[next]));
      if (!report.completion)
        continue;
      const std::vector<OpSpan>& spans = report.completion->spans[report.ops[next].op.index()];
      for (size_t place = 0; place < spans.size(); ++place)
        op.by_device.emplace_back(thread.devices[place],
                                  RecordedSpan{spans[place].start, spans[place].end});
    }
  }
  for (const DeviceReport& device : report.devices) {
    const DeviceMemory& memory = report.memory.of(device.device);
    RecordedDevice& recorded = record.devices.emplace_back(
        RecordedDevice{device.device, memory.peak, std::nullopt, memory.arena});
    if (memory.peak_at)
      recorded.peak_at = program.op(*memory.peak_at).name;
  }
  for (Check& check : report.checks)
    record.checks.push_back(
        {std::move(check.name), std::move(check.of), check.holds, std::move(check.message)});
  for (size_t v = 0; report.values && v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    RecordedValue recorded{value.name, value.type.dtype, value.type.shape,
                           take_value(*report.values, ValueId(v), program.mesh.devices())};
    if (std::any_of(recorded.per_device.begin(), recorded.per_device.end(),
                    [](const auto& tensor) { return tensor.has_value(); }))
      record.values.push_back(std::move(recorded));
  }
  return record;
}

}  // namespace orrery
