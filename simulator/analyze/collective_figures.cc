#include "simulator/analyze/collective_figures.h"

#include "models/program/rules.h"

namespace orrery {

namespace {

/// Returns busbw / algbw. A reduction with the whole result on every rank moves each byte twice. An
/// exchange of parts moves each byte once, except the rank's own part. An op that only moves whole
/// tensors moves each byte once.
double bus_factor(const CollectiveForm& form, size_t group_size) {
  const auto n = static_cast<double>(group_size);
  if (form.operand_parts != nullptr || form.result_parts != nullptr || form.by_tables)
    return (n - 1) / n;
  return form.combine == Combine::None ? 1 : 2 * (n - 1) / n;
}

}  // namespace

Exposure exposure(const Thread& thread, const Completion& completion,
                  FunctionRef<Duration(LogicalId)> launch, OpId op, std::optional<OpId> waiting) {
  const std::span<const OpSpan> spans = completion.spans[op.index()];
  const auto took = [&](size_t device) {
    return launch(thread.devices[device]) + time_of(spans[device]).from_entered;
  };
  size_t longest = 0;
  for (size_t i = 1; i < spans.size(); ++i)
    if (took(i) > took(longest))
      longest = i;

  Exposure result{thread.devices[longest], took(longest), {}, {}};
  if (waiting)
    result.exposed = time_of(completion.spans[waiting->index()][longest]).from_start;
  if (result.took > result.exposed)
    result.hidden = result.took - result.exposed;
  return result;
}

Bytes nccl_size(OpKind kind, Bytes operand, size_t group_size) {
  const CollectiveForm& form = rules(kind).form;
  const bool grows = form.operand_parts == nullptr && form.result_parts != nullptr;
  return grows ? operand * static_cast<int64_t>(group_size) : operand;
}

Bandwidths bandwidths(OpKind kind, Bytes nccl_size, size_t group_size, Duration time) {
  // bytes / (ps x 10^-12 s) / 10^9
  const double algbw =
      static_cast<double>(nccl_size.count()) * 1e3 / static_cast<double>(time.count());
  return {algbw, algbw * bus_factor(rules(kind).form, group_size)};
}

}  // namespace orrery
