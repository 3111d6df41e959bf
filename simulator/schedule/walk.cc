#include "simulator/schedule/walk.h"

#include <utility>

namespace orrery {

std::vector<OrderedHalf> order_of(const Schedule& schedule, size_t most) {
  struct Recorder {
    std::vector<OrderedHalf> halves;
    void receive(StepRef ref, const Step& step) { halves.push_back({ref, Half::Receive, step}); }
    void send(StepRef ref, const Step& step) { halves.push_back({ref, Half::Send, step}); }
  } recorder;
  const std::vector<Parked> parked =
      walk(schedule, recorder, [&] { return recorder.halves.size() <= most; });
  if (!parked.empty() || recorder.halves.size() > most)
    return {};
  return std::move(recorder.halves);
}

const std::vector<OrderedHalf>* Orders::of(const Schedule& schedule) {
  const auto [at, is_new] = orders_.try_emplace(&schedule);
  if (is_new && 2 * count_steps(schedule) <= left_) {
    at->second = order_of(schedule, left_);
    left_ -= at->second.size();
  }
  return at->second.empty() ? nullptr : &at->second;
}

}  // namespace orrery
