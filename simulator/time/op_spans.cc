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

OpSpans::OpSpans(const Program& program, const Iterations& iterations,
                 const std::vector<OpRun>* kept)
    : of_ops_(program.ops.size()) {
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order)
      of_ops_[op.index()].devices = static_cast<uint32_t>(thread.devices.size());
  if (kept != nullptr)
    for (size_t op = 0; op < of_ops_.size(); ++op)
      if (iterations.loop_of(OpId(op))) {
        of_ops_[op].kept = static_cast<uint32_t>(kept_.size());
        kept_.emplace_back();
      }
  if (kept != nullptr)
    for (const OpRun& run : *kept)
      if (const auto of_op = of_ops_[run.op.index()].kept)
        kept_[*of_op].push_back(run.iteration);
  size_t size = 0;
  for (size_t op = 0; op < of_ops_.size(); ++op) {
    of_ops_[op].begin = size;
    size += of_ops_[op].devices *
            (of_ops_[op].kept ? kept_[*of_ops_[op].kept].size() : iterations.runs(OpId(op)));
  }
  spans_.resize(size);
}

std::optional<size_t> OpSpans::index_of(OpRun run) const {
  const OfOp& own = of_ops_[run.op.index()];
  if (!own.kept)
    return own.begin + run.iteration * own.devices;
  const std::vector<uint64_t>& kept = kept_[*own.kept];
  const auto at = std::lower_bound(kept.begin(), kept.end(), run.iteration);
  if (at == kept.end() || *at != run.iteration)
    return std::nullopt;
  return own.begin + static_cast<size_t>(at - kept.begin()) * own.devices;
}

std::span<const OpSpan> OpSpans::of(OpRun run) const {
  const std::optional<size_t> index = index_of(run);
  ORRERY_CHECK(index.has_value(), "the run has spans");
  return std::span(spans_).subspan(*index, of_ops_[run.op.index()].devices);
}

OpSpans OpSpans::of_runs(std::span<const OpRun> runs) const {
  size_t size = 0;
  for (const OpRun& run : runs)
    size += of_ops_[run.op.index()].devices;
  OpSpans as_ops;
  as_ops.spans_.reserve(size);
  for (const OpRun& run : runs) {
    const std::span<const OpSpan> spans = of(run);
    as_ops.of_ops_.push_back({as_ops.spans_.size(), static_cast<uint32_t>(spans.size())});
    as_ops.spans_.insert(as_ops.spans_.end(), spans.begin(), spans.end());
  }
  return as_ops;
}

OpTime OpSpans::total(OpId op, size_t device) const {
  OpTime total;
  const OfOp& own = of_ops_[op.index()];
  for (size_t i = own.begin + device; i < end(op.index()); i += own.devices)
    total += time_of(spans_[i]);
  return total;
}

OpSpan* OpSpans::find(OpRun run, size_t device) {
  const std::optional<size_t> index = index_of(run);
  return index ? &spans_[*index + device] : nullptr;
}

}  // namespace orrery
