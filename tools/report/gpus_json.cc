#include "tools/report/gpus_json.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tools/report/measured.h"
#include "tools/report/names.h"

namespace orrery {
namespace {

void write_span(JsonWriter& json, const MeasuredSpan& span) {
  json.key("start_ps").value(span.begin.count());
  json.key("end_ps").value(span.end.count());
}

void write_ops(JsonWriter& json, const Report& report, const cuda::Measurement& measured) {
  const std::map<OpId, MeasuredSpan> spans = spans_of_ops(measured);
  json.array([&] {
    for (const OpReport& op : report.ops) {
      const auto span = spans.find(op.op);
      if (span == spans.end())
        continue;
      json.object([&] {
        json.key("id").value(report.scenario->program.op(op.op).name);
        write_span(json, span->second);
        if (const auto moved = moved_bytes(measured, op.op, span->second)) {
          json.key("bytes").value(moved->bytes.count());
          json.key("bytes_per_second").value(moved->rate.count());
          if (moved->of_copies)
            json.key("of_copies").value(*moved->of_copies);
        }
        json.key("simulated_start_ps").value(op.start.picoseconds());
        json.key("simulated_end_ps").value(op.end.picoseconds());
      });
    }
  });
}

void write_steps(JsonWriter& json, const Report& report, const cuda::Measurement& measured) {
  json.array([&] {
    for (const auto& [timed, span] : measured.spans) {
      if (!timed.part.step)
        continue;
      const StepRef& step = *timed.part.step;
      json.object([&, &timed = timed, &span = span] {
        json.key("op").value(report.scenario->program.op(timed.part.op).name);
        json.key("device").value(timed.device.index());
        json.key("node").value(step.node.index());
        json.key("channel").value(step.channel.index());
        json.key("step").value(step.index);
        write_span(json, span);
      });
    }
  });
}

void write_copies(JsonWriter& json, const std::optional<cuda::CopyRates>& copies) {
  if (!copies)
    return json.value(nullptr);
  json.object([&] {
    json.key("bytes").value(copies->size.count());
    json.key("rates_Bps").array([&] {
      for (const BytesPerSecond rate : copies->in_gpu)
        json.value(rate.count());
    });
    if (copies->to_next)
      json.key("peer_rate_Bps").value(copies->to_next->count());
  });
}

void write_measured(JsonWriter& json, const Report& report) {
  const std::optional<cuda::Measurement>& measured = report.gpus->measurement;
  const std::optional<RunTimes> times = measured ? run_times(*measured) : std::nullopt;
  if (!times)
    return json.value(nullptr);
  json.object([&] {
    json.key("runs_ps").array([&] {
      for (const Duration run : measured->runs)
        json.value(run.count());
    });
    json.key("makespan_ps").value(times->median.count());
    write_copies(json.key("copies"), measured->copies);
    write_ops(json.key("ops"), report, *measured);
    const bool steps = std::ranges::any_of(
        measured->spans, [](const auto& entry) { return entry.first.part.step.has_value(); });
    if (steps)
      write_steps(json.key("steps"), report, *measured);
  });
}

}  // namespace

void write_gpus(JsonWriter& json, const Report& report) {
  const cuda::GpuFacts& gpus = *report.gpus;
  json.object([&] {
    json.key("driver").value(cuda_version_text(gpus.driver));
    json.key("devices").array([&] {
      for (const cuda::GpuInfo& gpu : gpus.gpus)
        json.object([&] {
          json.key("name").value(gpu.name);
          json.key("compute_capability").value(fmt::format("{}.{}", gpu.major, gpu.minor));
          json.key("uuid").value(gpu.uuid);
          json.key("memory_bytes").value(gpu.memory.count());
        });
    });
    json.key("virtual").array([&] {
      for (size_t d = 0; d < gpus.memory.size(); ++d)
        json.object([&] {
          json.key("id").value(d);
          json.key("gpu").value(gpus.memory[d].gpu);
          json.key("arena_bytes").value(gpus.memory[d].arena.count());
          json.key("beside_bytes").value(gpus.memory[d].beside.count());
        });
    });
    json.key("nodes").value(gpus.nodes);
    json.key("graphs").value(gpus.graphs);
    json.key("launches").value(gpus.launches);
    write_measured(json.key("measured"), report);
  });
}

}  // namespace orrery
