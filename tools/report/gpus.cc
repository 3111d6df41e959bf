#include "tools/report/gpus.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "models/base/compiler.h"
#include "models/program/rules.h"
#include "tools/report/figures.h"
#include "tools/report/text_parts.h"

namespace orrery {
namespace {

template <class Key>
void add(std::map<Key, MeasuredSpan>& spans, const Key& key, const MeasuredSpan& span) {
  const auto [known, is_new] = spans.try_emplace(key, span);
  known->second.begin = std::min(known->second.begin, span.begin);
  known->second.end = std::max(known->second.end, span.end);
}

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

class GpusText {
 public:
  GpusText(const Report& report, const GroupedEntries& grouped, const Style& style)
      : report_(report), gpus_(*report.gpus), grouped_(grouped), style_(style) {}

  std::string text() const {
    std::string text = line(runs());
    for (const std::string& gpu : gpus())
      text += line(gpu);
    return text + line(devices()) + line(graph()) + line(copies()) + line(events()) + table();
  }

 private:
  std::string time(Duration duration) const { return time_text(duration, style_.ascii()); }

  std::string line(const std::string& said) const {
    return said.empty() ? said : "  " + style_.dim(said) + "\n";
  }

  /// Returns the measured makespan beside the simulated one.
  std::string runs() const {
    const std::optional<RunTimes> times =
        gpus_.measurement ? run_times(*gpus_.measurement) : std::nullopt;
    if (!times)
      return "";
    const size_t count = gpus_.measurement->runs.size();
    const std::string of = count == 1
                               ? "in one run"
                               : fmt::format("the median of {} runs, which took {} to {}", count,
                                             time(times->least), time(times->largest));
    return fmt::format("measured {}, {}; simulated {}", time(times->median), of,
                       time(report_.completion->makespan - Instant()));
  }

  /// Returns one line for GPUs that are alike.
  std::vector<std::string> gpus() const {
    std::vector<std::pair<std::string, size_t>> kinds;
    for (const cuda::GpuInfo& gpu : gpus_.gpus) {
      const std::string kind = fmt::format("{} (compute capability {}.{}, {})", gpu.name, gpu.major,
                                           gpu.minor, size_text(gpu.memory));
      const auto known =
          std::ranges::find(kinds, kind, [](const auto& entry) { return entry.first; });
      if (known == kinds.end())
        kinds.emplace_back(kind, 1);
      else
        ++known->second;
    }
    std::vector<std::string> lines;
    for (const auto& [kind, count] : kinds)
      lines.push_back(fmt::format("{}{}, CUDA {}",
                                  count > 1 ? fmt::format("{} {} ", count, style_.times()) : "",
                                  kind, cuda_version_text(gpus_.driver)));
    return lines;
  }

  std::string devices() const {
    Bytes arenas;
    Bytes beside;
    for (const cuda::DeviceUse& device : gpus_.memory) {
      arenas += device.arena;
      beside += device.beside;
    }
    return fmt::format("{}, arenas of {} in all, {} beside them",
                       counted(static_cast<int64_t>(gpus_.memory.size()), "virtual device"),
                       size_text(arenas), size_text(beside));
  }

  std::string graph() const {
    const std::string launches =
        gpus_.launches == gpus_.graphs
            ? std::string()
            : fmt::format(", launched {} times in a run", grouped(gpus_.launches));
    return fmt::format("{} nodes in {}{}", grouped(gpus_.nodes),
                       counted(static_cast<int64_t>(gpus_.graphs), "graph"), launches);
  }

  /// Says which rate is 100 % in the table.
  std::string copies() const {
    if (!gpus_.measurement)
      return "";
    const std::optional<cuda::CopyRates>& copies = gpus_.measurement->copies;
    if (!copies)
      return "copies not measured: too little memory is free";
    BytesPerSecond all;
    for (const BytesPerSecond rate : copies->in_gpu)
      all += rate;
    const size_t gpus = copies->in_gpu.size();
    const std::string peer =
        copies->to_next ? fmt::format("; {} from GPU 0 to GPU 1", rate_text(*copies->to_next)) : "";
    return fmt::format("copies of {}: {}{}, so that they read and write {}: 100 %{}",
                       size_text(copies->size), rate_text(all),
                       gpus == 1 ? "" : fmt::format(" on {} GPUs", gpus), rate_text(all * 2), peer);
  }

  /// Says how long the run took in which ops were measured. Its graph records events, and each
  /// takes as long as a small kernel.
  std::string events() const {
    if (!gpus_.measurement || gpus_.measurement->spans.empty())
      return "";
    MeasuredSpan run = gpus_.measurement->spans.begin()->second;
    for (const auto& [timed, span] : gpus_.measurement->spans) {
      run.begin = std::min(run.begin, span.begin);
      run.end = std::max(run.end, span.end);
    }
    return fmt::format("ops are measured in one more run, with events in its graph: {}",
                       time(run.end - run.begin));
  }

  /// Returns a rate for display: "1234.5 GB/s".
  static std::string rate_text(BytesPerSecond rate) {
    return fmt::format("{:.1f} GB/s", static_cast<double>(rate.count()) / 1e9);
  }

  /// Returns the simulated and the measured time of each op, from its beginning on the first device
  /// to its end on the last, and how fast a collective moved its bytes. If several ops are shown
  /// together, the last that was measured is shown.
  std::string table() const {
    if (!gpus_.measurement)
      return "";
    const std::map<OpId, MeasuredSpan> spans = spans_of_ops(*gpus_.measurement);
    using Align = Table::Align;
    Table table({Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right});
    const char* const unit = style_.ascii() ? "us" : "µs";
    table.row({"id", "op", fmt::format("simulated, {}", unit), fmt::format("measured, {}", unit),
               "GB/s", "of copies"});
    size_t without = 0;
    const auto row = [&](const std::string& id, std::span<const OpReport* const> runs) {
      const auto measured = std::find_if(
          runs.rbegin(), runs.rend(), [&](const OpReport* run) { return spans.contains(run->op); });
      if (measured == runs.rend()) {
        ++without;
        return;
      }
      const OpReport& run = **measured;
      const MeasuredSpan& span = spans.at(run.op);
      const Op& op = report_.scenario->program.op(run.op);
      const auto moved = moved_bytes(*gpus_.measurement, run.op, span);
      table.row(
          {shortened(id, kNameWidth, style_), op_name(op.kind, op.issue),
           microseconds_text(run.end - run.start), microseconds_text(span.end - span.begin),
           moved ? fmt::format("{:.1f}", static_cast<double>(moved->rate.count()) / 1e9) : "",
           moved && moved->of_copies ? fmt::format("{:.1f} %", *moved->of_copies * 100) : ""});
    };
    for (const OpEntry& entry : grouped_.entries) {
      row(entry.id, entry.runs);
      for (const OpReport* const named : entry.named)
        row(report_.scenario->program.op(named->op).name, {&named, 1});
    }
    const std::string rest = without == 0
                                 ? std::string()
                                 : fmt::format("not shown: {} without kernels and copies",
                                               counted(static_cast<int64_t>(without), "op"));
    return table.text(style_, 2) + line(rest);
  }

  /// Returns a time with two decimals. The driver tells about half a microsecond.
  static std::string microseconds_text(Duration duration) {
    return fmt::format("{:.2f}", static_cast<double>(duration.count()) / 1e6);
  }

  const Report& report_;
  const cuda::GpuFacts& gpus_;
  const GroupedEntries& grouped_;
  const Style& style_;
};

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

std::string gpus_text(const Report& report, const GroupedEntries& grouped, const Style& style) {
  return GpusText(report, grouped, style).text();
}

}  // namespace orrery
