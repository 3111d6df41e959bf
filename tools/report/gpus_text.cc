#include "tools/report/gpus_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "models/program/rules.h"
#include "tools/report/measured.h"
#include "tools/report/names.h"
#include "tools/report/op_table.h"
#include "tools/report/units.h"

namespace orrery {
namespace {

class GpusText {
 public:
  GpusText(const Report& report, const FoldedEntries& folded, const Style& style)
      : report_(report), gpus_(*report.gpus), folded_(folded), style_(style) {}

  std::string text() const {
    std::string text = line(runs());
    for (const std::string& gpu : gpus())
      text += line(gpu);
    return text + line(devices()) + line(graph()) + line(copies()) + table();
  }

 private:
  std::string time(Duration duration) const { return time_text(duration, style_.ascii()); }

  std::string line(const std::string& said) const {
    return said.empty() ? said : "  " + style_.dim(said) + "\n";
  }

  /// The measured makespan beside the simulated one.
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

  /// One line for GPUs that are alike.
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

  /// What 100 % is.
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

  /// "1234.5 GB/s": for display.
  static std::string rate_text(BytesPerSecond rate) {
    return fmt::format("{:.1f} GB/s", static_cast<double>(rate.count()) / 1e9);
  }

  /// From an op's beginning on the first device to its end on the last: simulated, and measured.
  /// Of ops that are shown together, the last that was measured. Of collectives, how fast they
  /// moved their bytes.
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
    for (const OpEntry& entry : folded_.entries) {
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

  /// With two decimals: the driver tells about half a microsecond.
  static std::string microseconds_text(Duration duration) {
    return fmt::format("{:.2f}", static_cast<double>(duration.count()) / 1e6);
  }

  const Report& report_;
  const cuda::GpuFacts& gpus_;
  const FoldedEntries& folded_;
  const Style& style_;
};

}  // namespace

std::string gpus_text(const Report& report, const FoldedEntries& folded, const Style& style) {
  return GpusText(report, folded, style).text();
}

}  // namespace orrery
