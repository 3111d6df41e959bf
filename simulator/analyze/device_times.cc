#include "simulator/analyze/device_times.h"

#include <algorithm>

#include "models/program/op.h"
#include "simulator/analyze/list_runs.h"

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
  const ListRuns runs(program, lowered, completion);
  std::vector<DeviceTimes> devices(program.mesh.devices());
  for (uint32_t l = 0; l < runs.size(); ++l) {
    const ListId list(l);
    const Tape& tape = runs.tape(list);
    DeviceTimes& times = devices[runs.device(list).index()];
    for (uint32_t i = 0; i < tape.size(); ++i) {
      const Instruction& instruction = tape[i];
      on_behalf_of(instruction.op, [&] {
        const OpTime took = runs.all_runs(instruction.op, list);
        if (instruction.kind == Instruction::Kind::Local)
          times.computing += took.from_entered;
        else if (instruction.kind == Instruction::Kind::Enter)
          busy_of(times, instruction.stream) += took.from_entered;
        else
          times.exposed += took.from_start;
      });
    }
  }
  return devices;
}

}  // namespace orrery
