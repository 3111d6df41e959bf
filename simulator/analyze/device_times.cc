#include "simulator/analyze/device_times.h"

#include <algorithm>

#include "simulator/analyze/device_runs.h"

namespace orrery {

namespace {

Duration& busy_of(DeviceTimes& times, StreamId id) {
  const auto at = std::lower_bound(times.streams.begin(), times.streams.end(), id,
                                   [](const StreamTime& a, StreamId b) { return a.stream < b; });
  if (at != times.streams.end() && at->stream == id)
    return at->busy;
  return times.streams.insert(at, {id, Duration()})->busy;
}

}  // namespace

std::vector<DeviceTimes> device_times(const Program& program, const Lowered& lowered,
                                      const Completion& completion) {
  const DeviceRuns runs(program, lowered, completion);
  std::vector<DeviceTimes> devices(runs.devices());
  for (uint32_t d = 0; d < runs.devices(); ++d) {
    DeviceTimes& times = devices[d];
    for (const Instruction& instruction : runs.tape(LogicalId(d))) {
      const OpSpan& span = runs.span(instruction.op, LogicalId(d));
      if (instruction.kind == Instruction::Kind::Local)
        times.computing += span.end - span.start;
      else if (instruction.kind == Instruction::Kind::Enter)
        busy_of(times, instruction.stream) += span.end - span.start;
      else
        times.exposed += span.end - span.reached;
    }
  }
  return devices;
}

}  // namespace orrery
