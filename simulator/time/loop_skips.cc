#include "simulator/time/loop_skips.h"

#include <algorithm>
#include <limits>

#include "models/base/check.h"

namespace orrery {

namespace {

/// A loop of fewer trips is run without skips.
constexpr uint64_t kLeastTrips = 8;

/// Returns the iteration of the innermost loop at a position, counted through all the loops.
uint64_t iteration_at(std::span<const LoopedOrder::LoopRun> loops, uint64_t position) {
  uint64_t iteration = 0;
  for (const LoopedOrder::LoopRun& loop : loops)
    iteration = iteration * loop.trips + loop.iteration(position);
  return iteration;
}

}  // namespace

LoopSkips::LoopSkips(const Program& program, const Lowered& lowered, DeviceClocks& clocks,
                     const std::vector<OpRun>* kept)
    : lowered_(lowered),
      clocks_(clocks),
      kept_(kept),
      kept_in_(program.loops.size()),
      added_(program.loops.size()) {
  for (const Loop& loop : program.loops) {
    futures_.push_back(0);
    for (const Carry& carry : loop.carries)
      futures_.back() += program.value(carry.param).type.future ? 1 : 0;
    local_.push_back(true);
    for (uint32_t op = loop.ops.begin; op < loop.ops.end; ++op)
      if (program.ops[op].site || program.ops[op].kind == OpKind::Done)
        local_.back() = false;
  }
  if (kept == nullptr)
    return;
  const Iterations& iterations = *lowered.iterations;
  for (uint32_t l = 0; l < iterations.loops(); ++l)
    any_ = any_ || (iterations.trips(l) >= kLeastTrips && !lowered.jitter);
  for (const OpRun& run : *kept) {
    LoopAround loop = iterations.loop_of(run.op);
    uint64_t iteration = run.iteration;
    while (loop) {
      kept_in_[*loop].push_back(iteration);
      iteration /= iterations.trips(*loop);
      loop = iterations.around(*loop);
    }
  }
  for (std::vector<uint64_t>& of_loop : kept_in_) {
    std::sort(of_loop.begin(), of_loop.end());
    of_loop.erase(std::unique(of_loop.begin(), of_loop.end()), of_loop.end());
  }
}

uint64_t LoopSkips::next_end(ListId list, Ends ends) const {
  const Iterations& iterations = *lowered_.iterations;
  return clocks_.lists().tape(list).next_iteration(
      clocks_.progress().next(list), [&](uint32_t loop) {
        return iterations.trips(loop) >= kLeastTrips && (ends == Ends::All || local_[loop]);
      });
}

LoopedOrder::LoopRun LoopSkips::loop_ending_at(ListId list, uint64_t position) const {
  for (const LoopedOrder::LoopRun& loop : clocks_.lists().tape(list).loops_at(position))
    if (loop.begin < position && (position - loop.begin) % loop.length == 0)
      return loop;
  fail_check("position", "an iteration ends there", __FILE__, __LINE__);
}

uint64_t LoopSkips::steps(std::span<const ListId> lists) const {
  uint64_t steps = 0;
  for (const ListId list : lists)
    steps += clocks_.progress().next(list);
  return steps;
}

std::optional<RepeatedPeriods> LoopSkips::skip(std::span<const ListId> lists, ListLooks& looks) {
  const Instant base = clocks_.now(lists.front());
  std::vector<uint64_t> words;
  for (const ListId list : lists)
    clocks_.append_state(list, loop_at(list), base, words);
  looks.pace.looked(steps(lists), words.size());
  const std::optional<ListsBefore> before =
      looks.finder.look(words, [&] { return this->lists(lists, base); });
  if (!before)
    return std::nullopt;
  const std::optional<std::vector<ListPeriod>> periods = this->periods(lists, *before);
  // An inner loop may look the same in two iterations of an outer loop.
  if (!periods || !std::all_of(periods->begin(), periods->end(), [&](const ListPeriod& period) {
        return period.loop.loop == loop_at(period.list).loop;
      }))
    return std::nullopt;
  const uint64_t times = most(*periods);
  if (times == 0)
    return std::nullopt;
  const Duration later = base - before->at;
  add(*periods, times, later);
  for (size_t i = 0; i < periods->size(); ++i)
    clocks_.skip((*periods)[i].list, (*periods)[i].loop, (*periods)[i].iterations, times, later,
                 before->totals[i]);
  return RepeatedPeriods{times, later};
}

ListsBefore LoopSkips::lists(std::span<const ListId> lists, Instant at) const {
  ListsBefore now;
  now.at = at;
  for (const ListId list : lists) {
    now.next.push_back(clocks_.progress().next(list));
    now.totals.push_back(clocks_.totals(list));
  }
  return now;
}

std::optional<std::vector<ListPeriod>> LoopSkips::periods(std::span<const ListId> lists,
                                                          const ListsBefore& before) const {
  std::vector<ListPeriod> periods;
  for (size_t i = 0; i < lists.size(); ++i) {
    const uint64_t from = before.next[i];
    const uint64_t to = clocks_.progress().next(lists[i]);
    if (from == to)
      continue;
    const std::vector<LoopedOrder::LoopRun> loops = clocks_.lists().tape(lists[i]).loops_at(to);
    const auto loop = std::find_if(loops.rbegin(), loops.rend(), [&](const auto& each) {
      return each.has(from) && (to - from) % each.length == 0;
    });
    // A done in the first iterations may await a collective that was started before the loop.
    // Without carried futures, only the very first iteration can.
    if (loop == loops.rend() || loop->iteration(from) < std::max(futures_[loop->loop], uint64_t{1}))
      return std::nullopt;
    periods.push_back({lists[i], *loop, (to - from) / loop->length});
  }
  return periods;
}

/// Returns whether a collective of the loop is under way whose own times are wanted.
bool LoopSkips::has_kept_under_way(const ListPeriod& period) const {
  const Tape& tape = clocks_.lists().tape(period.list);
  const ListProgress& progress = clocks_.progress();
  for (uint32_t s = 0; s < tape.streams(); ++s)
    for (uint64_t i = progress.ended(period.list, s); i < tape.enters(s); ++i) {
      const uint64_t enter = tape.enter(s, i);
      if (enter >= progress.next(period.list))
        break;
      if (period.loop.has(enter) &&
          std::binary_search(kept_->begin(), kept_->end(), tape.run_at(enter)))
        return true;
    }
  return false;
}

uint64_t LoopSkips::most(std::span<const ListPeriod> periods) const {
  uint64_t most = std::numeric_limits<uint64_t>::max();
  for (const ListPeriod& period : periods) {
    const uint64_t next = clocks_.progress().next(period.list);
    const LoopedOrder::LoopRun& loop = period.loop;
    const uint64_t left = loop.trips - 1 - loop.iteration(next);  // after this iteration
    if (left == 0 || has_kept_under_way(period))
      return 0;
    uint64_t iterations = left - 1;  // an iteration follows those that are skipped
    const std::vector<LoopedOrder::LoopRun> loops =
        clocks_.lists().tape(period.list).loops_at(next);
    // Collectives that an earlier run of an inner loop left under way do not move on with this run,
    // although states that count positions back in an outer loop may look alike. So everything
    // under way, now and a period ago, must have begun in this run.
    const std::optional<uint64_t> first = clocks_.first_under_way(period.list, loops.front());
    if (first && *first < loop.begin + period.iterations * loop.length)
      return 0;
    size_t depth = 0;
    while (loops[depth].loop != loop.loop)
      ++depth;
    const uint64_t iteration = iteration_at(std::span(loops).first(depth + 1), next);
    const std::vector<uint64_t>& kept = kept_in_[loop.loop];
    const auto wanted = std::lower_bound(kept.begin(), kept.end(), iteration);
    if (wanted != kept.end())
      iterations = std::min(iterations, *wanted == iteration ? 0 : *wanted - iteration - 1);
    most = std::min(most, iterations / period.iterations);
  }
  return periods.empty() ? 0 : most;
}

void LoopSkips::add(std::span<const ListPeriod> periods, uint64_t times, Duration later) {
  for (const ListPeriod& period : periods) {
    std::vector<AddedIterations>& of_loop = added_[period.loop.loop];
    of_loop.resize(clocks_.lists().size());
    AddedIterations& added = of_loop[period.list.index()];
    const bool other =
        added.count > 0 && (added.every != period.iterations || added.later != later);
    added = {added.count + times * period.iterations, period.iterations,
             other ? std::nullopt : std::optional(later)};
  }
}

std::vector<AddedIterations> LoopSkips::added() const {
  std::vector<AddedIterations> all;
  for (const std::vector<AddedIterations>& of_loop : added_) {
    AddedIterations& loop = all.emplace_back();
    bool first = true;
    for (const AddedIterations& list : of_loop) {
      if (list.count == 0)
        continue;
      loop.count = std::max(loop.count, list.count);
      loop.every = std::max(loop.every, list.every);
      loop.later = first || loop.later == list.later ? list.later : std::nullopt;
      first = false;
    }
  }
  return all;
}

}  // namespace orrery
