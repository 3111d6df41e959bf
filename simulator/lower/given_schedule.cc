#include "simulator/lower/given_schedule.h"

#include <utility>

#include "models/base/check.h"
#include "models/program/rules.h"
#include "simulator/lower/end_copies.h"
#include "simulator/lower/views.h"

namespace orrery {

Lowered lower_with(std::unique_ptr<const Schedule> schedule, std::string algorithm,
                   const Program& program, const DeviceFigures& device) {
  ORRERY_CHECK(program.ops.size() == 1 && program.sites.size() == 1 &&
                   program.sites.front().groups.size() == 1,
               "a program of one collective over one group");
  const Op& op = program.ops.front();
  const Group& group = program.sites.front().groups.front();
  const ValueType& operand = program.value(op.operands.front()).type;
  const ValueType& result = program.value(op.results.front()).type;
  ORRERY_CHECK(work_type(rules(op.kind).form.entering, operand.dtype) == WorkType{operand.dtype} &&
                   operand.dtype == result.dtype,
               "work elements are operand elements");

  Collective collective;
  collective.kind = op.kind;
  collective.work = {operand.dtype};
  collective.schedule = schedule.get();
  collective.members = group;
  CollectiveViews views =
      collective_views(op, operand.shape, result.shape, static_cast<int64_t>(group.size()));
  collective.input = std::move(views.input);
  collective.output = std::move(views.output);
  collective.scratch = itemsize(collective.work) * schedule->extent().scratch;
  const DataRates rates = {device.reduce_rate, device.copy_rate};
  const EndCopies copies = end_copies(op.kind, schedule->extent(), collective.work, operand.dtype,
                                      collective.input, result.dtype, collective.output);
  collective.pack = copy_duration(copies.packed, rates);
  collective.leave = copy_duration(copies.unpacked, rates);
  std::vector<VertexId> vertices;
  for (const LogicalId member : group)
    vertices.emplace_back(member.index());
  collective.vertices = std::move(vertices);

  Lowered lowered;
  lowered.schedules.push_back(std::move(schedule));
  lowered.collectives.push_back(std::move(collective));
  lowered.tapes = {{{Instruction::Kind::Enter, OpId(0), OpId(0), StreamId(0)},
                    {Instruction::Kind::Wait, OpId(0), OpId(0), StreamId(0)}}};
  lowered.choices = {{std::move(algorithm), "it was given"}};
  lowered.local.resize(1);
  lowered.launch = device.launch.value_or(Duration());
  lowered.rates = rates;
  lowered.members = members_by_site(lowered, 1);
  return lowered;
}

}  // namespace orrery
