#include "simulator/time/op_spans.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"

namespace orrery {

OpSpans::OpSpans(std::vector<std::vector<OpSpan>> of_ops) {
  for (std::vector<OpSpan>& spans : of_ops)
    of_ops_.push_back({spans.size(), {}, std::move(spans)});
}

OpSpans::OpSpans(const Program& program, const Iterations& iterations,
                 const std::vector<OpRun>* kept)
    : of_ops_(program.ops.size()) {
  if (kept != nullptr)
    for (const OpRun& run : *kept)
      if (iterations.loop_of(run.op))
        of_ops_[run.op.index()].iterations.push_back(run.iteration);
  for (const Thread& thread : program.threads)
    for (const OpId op : thread.issue_order) {
      OfOp& own = of_ops_[op.index()];
      own.devices = thread.devices.size();
      const bool all = kept == nullptr || !iterations.loop_of(op);
      const uint64_t runs = all ? iterations.runs(op) : own.iterations.size();
      own.spans.resize(runs * own.devices);
    }
}

std::optional<size_t> OpSpans::index_of(OpRun run) const {
  const OfOp& own = of_ops_[run.op.index()];
  size_t index = run.iteration;
  if (!own.iterations.empty()) {
    const auto at = std::lower_bound(own.iterations.begin(), own.iterations.end(), run.iteration);
    if (at == own.iterations.end() || *at != run.iteration)
      return std::nullopt;
    index = static_cast<size_t>(at - own.iterations.begin());
  }
  return index * own.devices < own.spans.size() ? std::optional(index * own.devices) : std::nullopt;
}

std::span<const OpSpan> OpSpans::of(OpRun run) const {
  const std::optional<size_t> index = index_of(run);
  ORRERY_CHECK(index.has_value(), "the run has spans");
  const OfOp& own = of_ops_[run.op.index()];
  return std::span(own.spans).subspan(*index, own.devices);
}

OpTime OpSpans::total(OpId op, size_t device) const {
  OpTime total;
  const OfOp& own = of_ops_[op.index()];
  for (size_t i = device; i < own.spans.size(); i += own.devices)
    total += time_of(own.spans[i]);
  return total;
}

OpSpan* OpSpans::find(OpRun run, size_t device) {
  const std::optional<size_t> index = index_of(run);
  return index ? &of_ops_[run.op.index()].spans[*index + device] : nullptr;
}

}  // namespace orrery
