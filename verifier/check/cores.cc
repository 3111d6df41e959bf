#include "models/program/cores.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/base/amount_text.h"
#include "models/program/rules.h"
#include "simulator/lower/core_times.h"
#include "verifier/check/checks.h"
#include "verifier/check/names.h"

namespace orrery {

namespace {

/// Calls `visit(op, cores)` for each mpmd_map until it returns a check that fails. Returns that, or
/// else the first undecided one. Copies of an op in iterations of a loop are visited once.
template <class F>
std::optional<Check> first_of_maps(const Program& program, F&& visit) {
  std::set<std::pair<const CoreMap*, std::vector<std::string>>> seen;
  std::optional<Check> undecided;
  for (const Op& op : program.ops) {
    if (op.kind != OpKind::MpmdMap)
      continue;
    const CoreMap& map = *op.attributes.core_map("functions");
    std::vector<std::string> operands;
    for (const ValueId operand : op.operands)
      operands.push_back(text(program.value(operand).type, program.mesh));
    if (!seen.emplace(&map, std::move(operands)).second)
      continue;
    std::optional<Check> check = visit(op, cores_of(program, op));
    if (check && check->verdict == Verdict::Fails)
      return check;
    if (!undecided)
      undecided = std::move(check);
  }
  return undecided;
}

/// Finds a state in which an instance waits for ever. Signals and waits on a counter with one
/// waiter take nothing from other instances, so they run as soon as they can. Only waits on
/// counters with several waiters are tried in all orders. Instances with equal signals and waits
/// may trade places, so of the states that differ only in that, one is looked at.
class StuckSearch {
 public:
  explicit StuckSearch(const Cores& cores) : cores_(cores), runner_(cores) {
    std::map<std::pair<uint32_t, std::vector<uint32_t>>, std::vector<uint32_t>> equal;
    for (uint32_t i = 0; i < cores.instances.size(); ++i) {
      std::vector<uint32_t> counters;
      for (const CoreStep& step : cores.instances[i].steps)
        if (!step.writes)
          counters.push_back(step.counter);
      equal[{cores.instances[i].function, std::move(counters)}].push_back(i);
    }
    for (auto& [key, instances] : equal)
      equal_.push_back(std::move(instances));
  }

  struct Outcome {
    std::optional<CoreState> stuck;
    bool over_budget = false;
  };

  Outcome search() {
    std::vector<CoreState> open = {settled(CoreState(cores_), runner_.all_instances())};
    std::set<std::vector<uint32_t>> seen;
    while (!open.empty()) {
      CoreState state = std::move(open.back());
      open.pop_back();
      put_in_order(state);
      if (!seen.insert(state.reached).second)
        continue;
      const std::vector<uint32_t> choices = choices_in(state);
      for (const uint32_t i : choices) {
        CoreState next = state;
        next.go(cores_, i);
        open.push_back(settled(std::move(next), {i}));
        left_ -= static_cast<int64_t>(state.reached.size() + state.counts.size());
        if (left_ < 0)
          return {{}, true};
      }
      if (choices.empty() && !state.is_at_end(cores_))
        return {std::move(state)};
    }
    return {};
  }

 private:
  static constexpr int64_t kBudget = 10'000'000;  // of numbers in all states

  /// Sorts equal instances by how far they are.
  void put_in_order(CoreState& state) const {
    std::vector<uint32_t> reached;
    for (const std::vector<uint32_t>& equal : equal_) {
      reached.clear();
      for (const uint32_t i : equal)
        reached.push_back(state.reached[i]);
      std::sort(reached.begin(), reached.end());
      for (size_t k = 0; k < equal.size(); ++k)
        state.reached[equal[k]] = reached[k];
    }
  }

  /// Returns the instances that can go. Among equal ones that are equally far, the first stands for
  /// all. Requires a state in order.
  std::vector<uint32_t> choices_in(const CoreState& state) const {
    std::vector<uint32_t> choices;
    for (const std::vector<uint32_t>& equal : equal_)
      for (size_t k = 0; k < equal.size(); ++k)
        if ((k == 0 || state.reached[equal[k]] != state.reached[equal[k - 1]]) &&
            state.can_go(cores_, equal[k]))
          choices.push_back(equal[k]);
    return choices;
  }

  /// Runs all that is no choice.
  CoreState settled(CoreState state, std::vector<uint32_t> open) const {
    runner_.run(state, std::move(open), [&](uint32_t i) {
      const CoreStep& step = cores_.step({i, state.reached[i]});
      return step.op->kind != CoreOp::Kind::Wait || runner_.waiters(step.counter).size() == 1;
    });
    return state;
  }

  const Cores& cores_;
  const CoreRunner runner_;
  std::vector<std::vector<uint32_t>> equal_;  // instances with equal signals and waits
  int64_t left_ = kBudget;
};

/// Returns who could still signal the counter, as "z (c=0) at functions/0/body/3".
std::vector<std::string> later_signals(const Cores& cores, const CoreState& state,
                                       uint32_t counter) {
  std::vector<std::string> signals;
  for (uint32_t i = 0; i < cores.instances.size(); ++i)
    for (uint32_t p = state.reached[i]; p < cores.instances[i].steps.size(); ++p) {
      const CoreStep& step = cores.instances[i].steps[p];
      if (step.op->kind == CoreOp::Kind::Signal && step.counter == counter)
        signals.push_back(
            fmt::format("{} at {}", cores.text(cores.instances[i]), cores.path({i, p})));
    }
  return signals;
}

/// Returns what an instance does: "waits at functions/0/body/3 for 2 of ..".
std::string wait_text(const Cores& cores, const CoreState& state, uint32_t instance) {
  const CorePlace place{instance, state.reached[instance]};
  const CoreStep& step = cores.step(place);
  const std::vector<std::string> signals = later_signals(cores, state, step.counter);
  constexpr size_t kShown = 4;
  const std::span shown = std::span(signals).first(std::min(signals.size(), kShown));
  std::string who = "nobody signals it any more";
  if (!signals.empty())
    who = fmt::format(
        "{}{} would signal it, but {} not reached", fmt::join(shown, ", "),
        signals.size() > kShown ? fmt::format(" and {} more", signals.size() - kShown) : "",
        signals.size() == 1 ? "that is" : "these are");
  return fmt::format("waits at {} for {} of {}, which has {}; {}", cores.path(place),
                     step.op->amount, quoted(cores.counters[step.counter]),
                     state.counts[step.counter], who);
}

Check stuck(const Op& op, const Cores& cores, const CoreState& state) {
  std::vector<uint32_t> waiting;
  for (uint32_t i = 0; i < cores.instances.size(); ++i)
    if (state.reached[i] < cores.instances[i].steps.size())
      waiting.push_back(i);
  Witness witness;
  const size_t shown = rows_shown(waiting.size());
  for (size_t w = 0; w < shown; ++w)
    witness.emplace_back(cores.text(cores.instances[waiting[w]]),
                         wait_text(cores, state, waiting[w]));
  add_row_of_rest(witness, waiting.size());
  return failed(
      CheckKind::DeadlockFree, pointer_of(op),
      fmt::format("In {}, {} {}.", quoted_name(op), cores.text(cores.instances[waiting[0]]),
                  wait_text(cores, state, waiting[0])),
      std::move(witness));
}

/// An Access is one of a step that is reached in all timings.
struct Access {
  CorePlace place;
  CoreAccess of;
  bool writes = false;
};

/// Finds the first two accesses of one element that nothing orders.
class RaceSearch {
 public:
  explicit RaceSearch(const CoreRunner& runner)
      : cores_(runner.cores()), runner_(runner), whole_(walk_cores(cores_)) {
    for (const CoreInstance& instance : cores_.instances) {
      last_signal_.emplace_back();
      for (uint32_t p = 0; p < instance.steps.size(); ++p)
        if (instance.steps[p].op->kind == CoreOp::Kind::Signal)
          last_signal_.back() = p;
    }
  }

  struct Outcome {
    std::optional<std::pair<Access, Access>> race;
    bool over_budget = false;
  };

  Outcome search() {
    for (const ByRow& accesses : accesses_of_storages()) {
      if (auto race = first_race(accesses))
        return {std::move(race)};
      if (left_ < 0)
        return {{}, true};
    }
    return {};
  }

 private:
  static constexpr int64_t kBudget = 200'000'000;  // of pairs that are compared, and of walks
  static constexpr int64_t kStepOfWalk = 16;  // a step of a walk takes as long as so many pairs

  /// The accesses of a storage by their row; without a row, those of all of it.
  using ByRow = std::map<std::optional<int64_t>, std::vector<Access>>;

  /// Returns the accesses that are reached. An instance does all that is between two of its signals
  /// and waits in the same order to other instances, so of equal accesses there the first stands
  /// for all.
  std::vector<ByRow> accesses_of_storages() const {
    std::vector<ByRow> of_storage(cores_.storages.size());
    using Key = std::tuple<uint32_t, std::optional<int64_t>, bool>;  // storage, row, writes
    for (uint32_t i = 0; i < cores_.instances.size(); ++i) {
      std::set<Key> seen;
      for (uint32_t p = 0; p < whole_.reached[i]; ++p) {
        const CoreStep& step = cores_.instances[i].steps[p];
        const auto add = [&](const CoreAccess& of, bool writes) {
          if (seen.emplace(of.storage, of.row, writes).second)
            of_storage[of.storage][of.row].push_back({{i, p}, of, writes});
        };
        if (!step.writes)
          seen.clear();
        for (const CoreAccess& read : step.reads)
          add(read, false);
        if (step.writes)
          add(*step.writes, true);
      }
    }
    return of_storage;
  }

  /// Accesses of two rows do not meet, so each is compared with those of its row, and of the whole.
  std::optional<std::pair<Access, Access>> first_race(const ByRow& accesses) {
    const auto whole = accesses.find(std::nullopt);
    for (const auto& [row, of_row] : accesses) {
      if (auto race = first_race(of_row, of_row))
        return race;
      if (row && whole != accesses.end())
        if (auto race = first_race(whole->second, of_row))
          return race;
    }
    return std::nullopt;
  }

  std::optional<std::pair<Access, Access>> first_race(const std::vector<Access>& some,
                                                      const std::vector<Access>& others) {
    for (const Access& a : some)
      for (const Access& b : others)
        if (!a.writes)
          break;
        else if (is_race(a, b))
          return std::pair(a, b);
    for (const Access& b : others)
      for (const Access& a : some)
        if (!b.writes)
          break;
        else if (!a.writes && is_race(a, b))
          return std::pair(a, b);
    return std::nullopt;
  }

  /// Requires that one of the two writes.
  bool is_race(const Access& a, const Access& b) {
    return a.place.instance != b.place.instance && --left_ >= 0 &&
           cores_.elements(a.of).first < cores_.elements(a.of).second &&
           !is_before(a.place, b.place) && !is_before(b.place, a.place);
  }

  /// Returns whether `b` cannot be reached while the instance of `a` stops before `a`.
  bool is_before(CorePlace a, CorePlace b) {
    const std::optional<uint32_t> last_signal = last_signal_[a.instance];
    if (!last_signal || *last_signal < a.position)
      return false;
    auto walk = walks_.find(a.instance);
    if (walk == walks_.end()) {
      walk = walks_.emplace(a.instance, StoppedWalk(runner_, a.instance)).first;
      left_ -= kStepOfWalk * static_cast<int64_t>(whole_.runs.size());
    }
    return walk->second.reached(b.instance, a.position) <= b.position;
  }

  const Cores& cores_;
  const CoreRunner& runner_;
  const CoreWalk whole_;
  std::vector<std::optional<uint32_t>> last_signal_;  // per instance
  std::map<uint32_t, StoppedWalk> walks_;             // by the instance that stops
  int64_t left_ = kBudget;
};

std::string access_text(const Access& access, const Cores& cores) {
  return fmt::format("{} at {} of {}", access.writes ? "the write" : "the read",
                     cores.path(access.place), cores.text(cores.instances[access.place.instance]));
}

/// Returns the ref that the access names. An input and the output that is its alias are two names
/// of one storage.
const std::string& name_of(const Access& access, const Cores& cores) {
  const CoreStep& step = cores.step(access.place);
  if (access.writes)
    return step.op->to->name;
  const auto read = std::find_if(step.reads.begin(), step.reads.end(), [&](const CoreAccess& each) {
    return each.storage == access.of.storage && each.row == access.of.row;
  });
  return step.op->of[static_cast<size_t>(read - step.reads.begin())].name;
}

std::string advice(const Access& a, const Access& b, const Cores& cores) {
  const CoreInstance& one = cores.instances[a.place.instance];
  const CoreInstance& other = cores.instances[b.place.instance];
  if (one.function == other.function)
    return fmt::format(
        "Both run the body of {}: each needs a row of its own, or another function that signals "
        "them in turn.",
        quoted(cores.mesh(one).name));
  return fmt::format("A signal that {} gives after {}, and that {} waits for before {}, would.",
                     cores.text(one), cores.path(a.place), cores.text(other), cores.path(b.place));
}

Check race(const Op& op, const Cores& cores, const Access& a, const Access& b) {
  const std::pair one = cores.elements(a.of);
  const std::pair other = cores.elements(b.of);
  const int64_t begin = std::max(one.first, other.first);
  const int64_t last = std::min(one.second, other.second) - 1;
  const std::string& ref = name_of(a, cores);
  const std::string& other_ref = name_of(b, cores);
  const std::string elements = begin == last ? fmt::format("element {}", begin)
                                             : fmt::format("elements {} to {}", begin, last);
  return failed(
      CheckKind::RaceFree, pointer_of(op),
      fmt::format("In {}, {} and {} touch {} of {}{}, and nothing orders the two. {}",
                  quoted_name(op), access_text(a, cores), access_text(b, cores), elements,
                  quoted(ref),
                  other_ref == ref ? "" : fmt::format(", which is {} too", quoted(other_ref)),
                  advice(a, b, cores)),
      {{"ref", ref == other_ref ? ref : fmt::format("{}, {}", ref, other_ref)},
       {"elements", begin == last ? std::to_string(begin) : fmt::format("{} to {}", begin, last)},
       {a.writes ? "writes" : "reads", cores.text(a.place)},
       {b.writes ? "and writes" : "and reads", cores.text(b.place)}});
}

Check contested(const Op& op, const Cores& cores, uint32_t counter,
                std::span<const uint32_t> waiters) {
  std::vector<CorePlace> waits;  // the first of each instance
  for (const uint32_t i : waiters) {
    CorePlace place{i, 0};
    while (cores.step(place).op->kind != CoreOp::Kind::Wait || cores.step(place).counter != counter)
      ++place.position;
    waits.push_back(place);
  }
  Witness witness;
  for (size_t w = 0; w < rows_shown(waits.size()); ++w)
    witness.emplace_back(fmt::format("waiter {}", w), cores.text(waits[w]));
  add_row_of_rest(witness, waits.size());
  return failed(CheckKind::RaceFree, pointer_of(op),
                fmt::format("In {}, {} and {} both wait for {}: who gets a signal depends on "
                            "timing. Each needs a semaphore of its own.",
                            quoted_name(op), cores.text(waits[0]), cores.text(waits[1]),
                            quoted(cores.counters[counter])),
                std::move(witness));
}

}  // namespace

std::optional<Check> stuck_cores(const Program& program) {
  return first_of_maps(program, [](const Op& op, const Cores& cores) -> std::optional<Check> {
    const StuckSearch::Outcome outcome = StuckSearch(cores).search();
    if (outcome.stuck)
      return stuck(op, cores, *outcome.stuck);
    if (outcome.over_budget)
      return undecided(CheckKind::DeadlockFree, pointer_of(op),
                       fmt::format("Undecided: several instances of {} wait for one semaphore, and "
                                   "there are too many orders to try.",
                                   quoted_name(op)));
    return std::nullopt;
  });
}

std::optional<Check> race_of_cores(const Program& program) {
  return first_of_maps(program, [](const Op& op, const Cores& cores) -> std::optional<Check> {
    const CoreRunner runner(cores);
    for (uint32_t counter = 0; counter < cores.counters.size(); ++counter)
      if (const std::span waiters = runner.waiters(counter); waiters.size() > 1)
        return contested(op, cores, counter, waiters);
    RaceSearch search(runner);
    const RaceSearch::Outcome outcome = search.search();
    if (outcome.race)
      return race(op, cores, outcome.race->first, outcome.race->second);
    if (outcome.over_budget)
      return undecided(
          CheckKind::RaceFree, pointer_of(op),
          fmt::format("Undecided: {} has too many accesses to compare.", quoted_name(op)));
    return std::nullopt;
  });
}

std::optional<Check> space_capacity(const Program& program, const DeviceFigures& device) {
  std::optional<Check> holds;
  std::optional<Check> over =
      first_of_maps(program, [&](const Op& op, const Cores& cores) -> std::optional<Check> {
        for (const SpaceUse& use : space_uses(cores, device)) {
          if (!use.size)
            continue;
          if (use.peak <= *use.size) {
            holds = passed(CheckKind::SpaceCapacity, pointer_of(op));
            continue;
          }
          const auto [peak, size] = told_apart(use.peak, *use.size);
          const std::string where = use.function
                                        ? fmt::format(" of each core of \"{}\"",
                                                      cores.map->functions[*use.function].mesh.name)
                                        : "";
          return failed(CheckKind::SpaceCapacity, pointer_of(op),
                        fmt::format("The scratch of {} takes {} in {}{}, which has {}.",
                                    quoted_name(op), peak, name(use.space), where, size),
                        {{"space", std::string(name(use.space))},
                         {"peak_bytes", std::to_string(use.peak.count())},
                         {"size_bytes", std::to_string(use.size->count())}});
        }
        return std::nullopt;
      });
  return over ? over : holds;
}

}  // namespace orrery
