#include "simulator/time/op_spans.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"

namespace orrery {

OpSpans::OpSpans(std::vector<std::vector<OpSpan>> of_ops) {
  for (const std::vector<OpSpan>& spans : of_ops) {
    of_ops_.push_back({spans_.size(), static_cast<uint32_t>(spans.size())});
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  }
}

OpSpans::OpSpans(const Program& program, const Iterations& iterations, const WantedSpans& wanted)
    : of_ops_(program.ops.size()), most_in_loops_(wanted.most_in_loops) {
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order)
      of_ops_[op.index()].devices = static_cast<uint32_t>(thread.devices.size());
  if (wanted.kept != nullptr)
    for (size_t op = 0; op < of_ops_.size(); ++op)
      if (iterations.loop_of(OpId(op))) {
        of_ops_[op].in_loop = static_cast<uint32_t>(loops_.size());
        loops_.emplace_back().timed.resize(of_ops_[op].devices);
      }
  if (wanted.kept != nullptr)
    for (const OpRun& run : *wanted.kept)
      if (const auto in_loop = of_ops_[run.op.index()].in_loop)
        loops_[*in_loop].kept.push_back(run.iteration);
  size_t size = 0;
  for (size_t op = 0; op < of_ops_.size(); ++op) {
    of_ops_[op].begin = size;
    if (!of_ops_[op].in_loop)
      size += of_ops_[op].devices * iterations.runs(OpId(op));
  }
  spans_.resize(size);
}

void OpSpans::add(OpRun run, size_t device, const OpSpan& span) {
  const OfOp& own = of_ops_[run.op.index()];
  if (!own.in_loop) {
    spans_[own.begin + run.iteration * own.devices + device] = span;
    return;
  }
  InLoop& loop = loops_[*own.in_loop];
  if (!has_all_ && !std::ranges::binary_search(loop.kept, run.iteration))
    return;
  loop.timed[device].push_back({run.iteration, span});
  if (++timed_in_loops_ > most_in_loops_ && has_all_)
    forget_all_but_kept();
}

void OpSpans::forget_all_but_kept() {
  has_all_ = false;
  skipped_ = {};
  for (InLoop& loop : loops_)
    for (std::vector<TimedRun>& timed : loop.timed) {
      std::erase_if(timed, [&](const TimedRun& run) {
        return !std::ranges::binary_search(loop.kept, run.iteration);
      });
      timed.shrink_to_fit();
    }
}

void OpSpans::skip(ListId list, const SkippedPeriods& periods) {
  if (!has_all_)
    return;
  if (skipped_.size() <= list.index())
    skipped_.resize(list.index() + size_t{1});
  skipped_[list.index()].push_back(periods);
}

const OpSpan* OpSpans::find_in_loop(OpRun run, size_t device) const {
  const std::vector<TimedRun>& timed = loops_[*of_ops_[run.op.index()].in_loop].timed[device];
  const auto at = std::ranges::lower_bound(timed, run.iteration, {}, &TimedRun::iteration);
  return at != timed.end() && at->iteration == run.iteration ? &at->span : nullptr;
}

RunSpan OpSpans::at(const Tape& tape, ListId list, size_t device, uint64_t position) const {
  RunSpan found;
  Duration later;
  const OpSpan* timed = nullptr;
  std::optional<SkippedPeriods> last;
  size_t loops = 0;
  while ((timed = find(tape.run_at(position), device)) == nullptr) {
    ORRERY_CHECK(has_all_ && list.index() < skipped_.size(), "the run has a span");
    // A run before the periods, too, has no span of its own if it was under way when they were
    // skipped: it then ended as a run in the last iterations.
    const auto& of_list = skipped_[list.index()];
    const auto periods = std::ranges::upper_bound(of_list, position, {}, &SkippedPeriods::end);
    ORRERY_CHECK(periods != of_list.end(), "a run without a span was skipped");
    const uint64_t back =
        position < periods->begin ? 1 : (position - periods->begin) / periods->length + 1;
    position -= back * periods->length;
    later += periods->later * static_cast<int64_t>(back);
    if (last != *periods)
      ++loops;
    if (loops <= found.repeats.size()) {
      Repeated& repeated = found.repeats[loops - 1];
      repeated = {repeated.times + back, periods->length, periods->later};
    }
    last = *periods;
  }
  found.span = *timed;
  found.span.start = found.span.start + later;
  found.span.entered = found.span.entered + later;
  found.span.end = found.span.end + later;
  return found;
}

OpSpans OpSpans::of_runs(std::span<const OpRun> runs) const {
  OpSpans as_ops;
  for (const OpRun& run : runs) {
    as_ops.of_ops_.push_back({as_ops.spans_.size(), of_ops_[run.op.index()].devices});
    for (size_t device = 0; device < of_ops_[run.op.index()].devices; ++device) {
      const OpSpan* const span = find(run, device);
      ORRERY_CHECK(span != nullptr, "the run has a span of its own");
      as_ops.spans_.push_back(*span);
    }
  }
  return as_ops;
}

OpTime OpSpans::total(OpId op, size_t device) const {
  OpTime total;
  const OfOp& own = of_ops_[op.index()];
  if (!own.in_loop)
    return time_of(spans_[own.begin + device]);
  for (const uint64_t iteration : loops_[*own.in_loop].kept)
    if (const OpSpan* const span = find({op, iteration}, device))
      total += time_of(*span);
  return total;
}

}  // namespace orrery
