#include "simulator/lower/schedule_maker.h"

#include <algorithm>
#include <utility>

#include "models/base/int128.h"
#include "simulator/algorithm/concrete.h"

namespace orrery {
namespace {

uint64_t longest_channel(const Schedule& schedule) {
  uint32_t longest = 0;
  for (uint32_t n = 0; n < schedule.extent().nodes; ++n)
    for (uint32_t c = 0; c < schedule.extent().channels; ++c)
      longest = std::max(longest, schedule.steps(Node(n), Channel(c)));
  return longest;
}

}  // namespace

std::optional<int64_t> ScheduleMaker::largest_message(WorkType work) const {
  if (!transport_)
    return std::nullopt;
  return transport_->largest_message().count() / itemsize(work).count();
}

int64_t ScheduleMaker::iterations(const Schedule& whole, WorkType work) const {
  const std::optional<int64_t> most = largest_message(work);
  return most ? SlicedSchedule::iterations_for(whole, *most) : 1;
}

MadeSchedule ScheduleMaker::make(const Algorithm& algorithm, const ScheduleRequest& request,
                                 WorkType work) const {
  MadeSchedule made{algorithm.make(request), 0};
  const int64_t iterations = this->iterations(*made.schedule, work);
  const auto times = [&](uint64_t steps) {
    return UInt128{steps} * static_cast<uint64_t>(iterations);
  };
  const UInt128 steps = times(count_steps(*made.schedule));
  made.steps = static_cast<uint64_t>(std::min<UInt128>(steps, UInt128{most_steps_} + 1));
  if (iterations == 1 || made.steps > most_steps_)
    return made;
  made.too_long = times(longest_channel(*made.schedule)) >= UInt128{1} << 31U;
  if (!made.too_long)
    made.schedule = cut(std::move(made.schedule), *largest_message(work));
  return made;
}

}  // namespace orrery
