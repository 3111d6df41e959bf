#include "simulator/schedule/digest.h"

namespace orrery {

void add_all(Digest& halves, Digest* moves, CollectiveId collective, const Schedule& schedule,
             Bytes itemsize) {
  const Extent& extent = schedule.extent();
  for (uint32_t n = 0; n < extent.nodes; ++n) {
    for (uint32_t c = 0; c < extent.channels; ++c) {
      const uint32_t steps = schedule.steps(Node(n), Channel(c));
      for (uint32_t i = 0; i < steps; ++i) {
        const StepRef ref{Node(n), Channel(c), i};
        const Step step = schedule.step(ref);
        for (const Half half : {Half::Receive, Half::Send}) {
          halves.add(collective, ref, half, bytes_moved(step, half, itemsize));
          if (moves == nullptr)
            continue;
          for_each_action(step.form(), half, [&](Action action) {
            moves->add_move(collective, ref, action.kind, step.slice(action.slice),
                            itemsize * step.count());
          });
        }
      }
    }
  }
}

WalkDigest ScheduleDigests::of(CollectiveId collective, const Schedule& schedule, Bytes itemsize) {
  const auto [known, is_new] = known_.try_emplace({&schedule, itemsize});
  WalkDigest& digest = known->second;
  if (is_new)
    add_all(digest.halves, &digest.moves.emplace(), CollectiveId(0), schedule, itemsize);
  return {digest.halves.in(collective), digest.moves->in(collective)};
}

}  // namespace orrery
