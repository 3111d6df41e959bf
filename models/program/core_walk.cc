#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "models/program/cores.h"

namespace orrery {

namespace {

class Walk {
 public:
  Walk(const Cores& cores, FunctionRef<Duration(const CoreInstance&, const CoreStep&)> takes)
      : cores_(cores), takes_(takes), state_(cores), waiting_(cores.counters.size()) {}

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
    if (place.position == cores_.instances[instance].steps.size())
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

CoreRunner::CoreRunner(const Cores& cores) : cores_(cores), waiters_(cores.counters.size()) {
  for (uint32_t i = 0; i < cores.instances.size(); ++i)
    for (const CoreStep& step : cores.instances[i].steps)
      if (step.op->kind == CoreOp::Kind::Wait) {
        std::vector<uint32_t>& waiters = waiters_[step.counter];
        if (waiters.empty() || waiters.back() != i)
          waiters.push_back(i);
      }
}

std::vector<uint32_t> CoreRunner::all_instances() const {
  std::vector<uint32_t> all(cores_.instances.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

void CoreRunner::run(CoreState& state, std::vector<uint32_t> open,
                     FunctionRef<bool(uint32_t)> may_go) const {
  while (!open.empty()) {
    const uint32_t i = open.back();
    open.pop_back();
    while (state.can_go(cores_, i) && may_go(i)) {
      const CoreStep& step = cores_.step({i, state.reached[i]});
      state.go(cores_, i);
      if (step.op->kind == CoreOp::Kind::Signal && waiters_[step.counter].size() == 1)
        open.push_back(waiters_[step.counter].front());
    }
  }
}

StoppedWalk::StoppedWalk(const CoreRunner& runner, uint32_t stopped)
    : reached_(runner.cores().instances.size()) {
  const Cores& cores = runner.cores();
  CoreState state(cores);
  uint32_t step = 0;
  const auto go_on = [&](std::vector<uint32_t> open) {
    runner.run(state, std::move(open), [&](uint32_t instance) {
      if (instance == stopped)
        return false;
      std::vector<Reached>& all = reached_[instance];
      if (all.empty() || all.back().stopped_before != step)
        all.push_back({step, state.reached[instance]});
      ++all.back().steps;
      return true;
    });
  };
  go_on(runner.all_instances());
  while (state.can_go(cores, stopped)) {
    const CoreStep& next = cores.step({stopped, step++});
    state.go(cores, stopped);
    if (next.op->kind == CoreOp::Kind::Signal) {
      const std::span<const uint32_t> waiters = runner.waiters(next.counter);
      go_on({waiters.begin(), waiters.end()});
    }
  }
}

uint32_t StoppedWalk::reached(uint32_t instance, uint32_t stopped_before) const {
  const std::vector<Reached>& all = reached_[instance];
  const auto later = std::upper_bound(
      all.begin(), all.end(), stopped_before,
      [](uint32_t step, const Reached& each) { return step < each.stopped_before; });
  return later == all.begin() ? 0 : std::prev(later)->steps;
}

CoreWalk walk_cores(const Cores& cores,
                    FunctionRef<Duration(const CoreInstance&, const CoreStep&)> takes) {
  return Walk(cores, takes).run();
}

}  // namespace orrery
