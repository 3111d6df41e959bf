#include "tools/report/measured.h"

#include <algorithm>
#include <vector>

#include "models/base/compiler.h"

namespace orrery {
namespace {

template <class Key>
void add(std::map<Key, MeasuredSpan>& spans, const Key& key, const MeasuredSpan& span) {
  const auto [known, is_new] = spans.try_emplace(key, span);
  known->second.begin = std::min(known->second.begin, span.begin);
  known->second.end = std::max(known->second.end, span.end);
}

}  // namespace

std::optional<RunTimes> run_times(const cuda::Measurement& measurement) {
  std::vector<Duration> runs = measurement.runs;
  if (runs.empty())
    return std::nullopt;
  std::sort(runs.begin(), runs.end());
  const Duration below = runs[(runs.size() - 1) / 2];
  const Duration above = runs[runs.size() / 2];
  return RunTimes{below + Duration((above - below).count() / 2), runs.front(), runs.back()};
}

std::map<std::pair<OpId, LogicalId>, MeasuredSpan> spans_on_devices(
    const cuda::Measurement& measurement) {
  std::map<std::pair<OpId, LogicalId>, MeasuredSpan> spans;
  for (const auto& [timed, span] : measurement.spans)
    add(spans, {timed.part.op, timed.device}, span);
  return spans;
}

std::optional<MovedBytes> moved_bytes(const cuda::Measurement& measurement, OpId op,
                                      const MeasuredSpan& span) {
  const auto found = measurement.moved.find(op);
  const Duration took = span.end - span.begin;
  if (found == measurement.moved.end() || found->second == Bytes() || took <= Duration())
    return std::nullopt;
  MovedBytes moved{found->second,
                   BytesPerSecond(checked_narrow(Int128{found->second.count()} *
                                                 kPicosecondsPerSecond / took.count())),
                   std::nullopt};
  BytesPerSecond copied;
  if (measurement.copies)
    for (const BytesPerSecond rate : measurement.copies->in_gpu)
      copied += rate;
  if (copied > BytesPerSecond())
    moved.of_copies =
        static_cast<double>(moved.rate.count()) / (2 * static_cast<double>(copied.count()));
  return moved;
}

std::map<OpId, MeasuredSpan> spans_of_ops(const cuda::Measurement& measurement) {
  std::map<OpId, MeasuredSpan> spans;
  for (const auto& [timed, span] : measurement.spans)
    add(spans, timed.part.op, span);
  return spans;
}

}  // namespace orrery
