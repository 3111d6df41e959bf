#include "simulator/analyze/device_times.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/program/op_overflow.h"
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

DeviceTimes times_of(const ListRuns& runs, ListId list) {
  const Tape& tape = runs.tape(list);
  DeviceTimes times;
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
  return times;
}

}  // namespace

std::vector<DeviceTimes> device_times(const Program& program, const Lowered& lowered,
                                      const Completion& completion) {
  const ListRuns runs(program, lowered, completion);
  std::vector<DeviceTimes> devices(program.mesh.devices());
  for (uint32_t l = 0; l < runs.size(); ++l) {
    const DeviceTimes of_list = times_of(runs, ListId(l));
    DeviceTimes& times = devices[runs.device(ListId(l)).index()];
    times.computing += of_list.computing;
    times.exposed += of_list.exposed;
    for (const StreamTime& stream : of_list.streams)
      busy_of(times, stream.stream) += stream.busy;
  }
  return devices;
}

ListTimes longest_computing(const Program& program, const Lowered& lowered,
                            const Completion& completion) {
  const ListRuns runs(program, lowered, completion);
  std::optional<ListTimes> longest;
  for (uint32_t l = 0; l < runs.size(); ++l) {
    DeviceTimes times = times_of(runs, ListId(l));
    if (!longest || times.computing > longest->times.computing)
      longest = {runs.lists()[ListId(l)].thread, std::move(times)};
  }
  return *longest;
}

}  // namespace orrery
