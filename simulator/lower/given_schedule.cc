#include <utility>

#include "models/base/check.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/lower/assumptions.h"
#include "simulator/lower/groupings.h"
#include "simulator/lower/lower.h"
#include "simulator/lower/schedule_maker.h"
#include "simulator/schedule/tape.h"
#include "simulator/schedule/view.h"

namespace orrery {

Lowered lower_with(std::unique_ptr<const Schedule> schedule, std::string algorithm,
                   const Program& program, const DeviceFigures& device,
                   std::optional<TransportFigures> transport) {
  ORRERY_CHECK(program.ops.size() == 1 && program.sites.size() == 1 &&
                   program.sites.front().groups.size() == 1,
               "a program of one collective over one group");
  ORRERY_CHECK(!transport || transport->protocols.size() == 1, "one protocol passes the messages");
  const Op& op = program.ops.front();
  const Group& group = program.sites.front().groups.front();
  const auto [exchanged, result] = exchanged_types(program, op);
  const Dtype operand = exchanged.dtype;
  ORRERY_CHECK(work_type(rules(op.kind).form.entering, operand) == WorkType{operand} &&
                   operand == result.dtype,
               "work elements are operand elements");
  const auto shared = std::make_shared<const std::optional<TransportFigures>>(std::move(transport));
  const Method method{nullptr, *shared ? &(*shared)->protocols.front() : nullptr};

  Collective collective;
  collective.kind = op.kind;
  collective.work = {operand};
  collective.schedule = schedule.get();
  collective.members = group;
  CollectiveViews views =
      collective_views(op, exchanged.shape, result.shape, static_cast<int64_t>(group.size()));
  collective.input = std::move(views.input);
  collective.output = std::move(views.output);
  collective.protocol = method.protocol;
  const MemberFigures member = ScheduleMaker(device, {})
                                   .member_figures(method, op.kind, *schedule,
                                                   {collective.work, operand, result.dtype,
                                                    collective.input, collective.output});
  collective.figures = member.collective;
  collective.scratch = member.costs.scratch;
  collective.pack = member.costs.pack;
  collective.leave = member.costs.leave;
  collective.vertices = vertices_of(group);

  Lowered lowered = lowered_alone(program, std::move(collective));
  lowered.schedules.push_back(std::move(schedule));
  lowered.transport = shared;
  lowered.choices = {{std::move(algorithm), "it was given",
                      method.protocol == nullptr ? std::string() : method.protocol->name}};
  lowered.labels = missing_figures(device, lowered.collectives, member.copies);
  if (*shared)
    for (std::string& label : transport_labels(*shared, lowered.collectives))
      lowered.labels.push_back(std::move(label));
  return lowered;
}

}  // namespace orrery
