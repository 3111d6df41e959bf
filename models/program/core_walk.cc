#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "models/program/cores.h"

namespace orrery {

namespace {

class Walk {
 public:
  Walk(const Cores& cores, std::optional<CorePlace> stopped,
       FunctionRef<Duration(const CoreInstance&, const CoreStep&)> takes)
      : cores_(cores),
        stopped_(stopped),
        takes_(takes),
        state_(cores),
        waiting_(cores.counters.size()) {}

  // The instance whose clock is the least goes next. So signals come in the order of their times.
  CoreWalk run() && {
    for (uint32_t i = 0; i < cores_.instances.size(); ++i)
      ready_.emplace(Instant(), i);
    while (!ready_.empty()) {
      const auto [now, instance] = ready_.top();
      ready_.pop();
      advance(instance, now);
    }
    return {std::move(runs_), std::move(state_.reached)};
  }

 private:
  struct Waiting {
    uint32_t instance = 0;
    Instant since;
  };

  CorePlace next(uint32_t instance) const { return {instance, state_.reached[instance]}; }

  void advance(uint32_t instance, Instant now) {
    const CorePlace place = next(instance);
    if (place.position == cores_.instances[instance].steps.size() || place == stopped_)
      return;
    const CoreStep& step = cores_.step(place);
    if (!state_.can_go(cores_, instance)) {
      waiting_[step.counter].push_back({instance, now});
      return;
    }
    const Instant end = now + takes_(cores_.instances[instance], step);
    finish({place, now, end, {}});
    if (step.op->kind == CoreOp::Kind::Signal)
      pass_on(step.counter, end);
  }

  void finish(const CoreRun& run) {
    state_.go(cores_, run.place.instance);
    runs_.push_back(run);
    ready_.emplace(run.end, run.place.instance);
  }

  /// Ends the waits that the signal that ran last has met.
  void pass_on(uint32_t counter, Instant now) {
    const size_t signal = runs_.size() - 1;
    std::erase_if(waiting_[counter], [&](const Waiting& waiting) {
      const bool met = state_.can_go(cores_, waiting.instance);
      if (met)
        finish({next(waiting.instance), waiting.since, now, signal});
      return met;
    });
  }

  const Cores& cores_;
  const std::optional<CorePlace> stopped_;
  const FunctionRef<Duration(const CoreInstance&, const CoreStep&)> takes_;
  CoreState state_;
  using Ready = std::pair<Instant, uint32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::vector<std::vector<Waiting>> waiting_;  // per counter, the first to come first
  std::vector<CoreRun> runs_;
};

}  // namespace

bool CoreState::can_go(const Cores& cores, uint32_t instance) const {
  if (reached[instance] == cores.instances[instance].steps.size())
    return false;
  const CoreStep& step = cores.step({instance, reached[instance]});
  return step.op->kind != CoreOp::Kind::Wait || counts[step.counter] >= step.op->amount;
}

void CoreState::go(const Cores& cores, uint32_t instance) {
  const CoreStep& step = cores.step({instance, reached[instance]++});
  if (step.op->kind == CoreOp::Kind::Wait)
    counts[step.counter] -= step.op->amount;
  else if (step.op->kind == CoreOp::Kind::Signal)
    counts[step.counter] = checked_add(counts[step.counter], step.op->amount);
}

bool CoreState::is_at_end(const Cores& cores) const {
  for (size_t i = 0; i < reached.size(); ++i)
    if (reached[i] < cores.instances[i].steps.size())
      return false;
  return true;
}

CoreWalk walk_cores(const Cores& cores, std::optional<CorePlace> stopped,
                    FunctionRef<Duration(const CoreInstance&, const CoreStep&)> takes) {
  return Walk(cores, stopped, takes).run();
}

std::vector<uint32_t> contested_counters(const Cores& cores) {
  std::vector<std::optional<uint32_t>> waiter(cores.counters.size());
  std::set<uint32_t> contested;
  for (uint32_t i = 0; i < cores.instances.size(); ++i)
    for (const CoreStep& step : cores.instances[i].steps)
      if (step.op->kind == CoreOp::Kind::Wait && waiter[step.counter].value_or(i) != i)
        contested.insert(step.counter);
      else if (step.op->kind == CoreOp::Kind::Wait)
        waiter[step.counter] = i;
  return {contested.begin(), contested.end()};
}

}  // namespace orrery
