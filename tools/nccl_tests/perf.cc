#include "tools/nccl_tests/perf.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/base/check.h"
#include "models/base/diagnostics.h"
#include "models/program/rules.h"
#include "models/program/sides.h"
#include "simulator/analyze/fabric_bounds.h"
#include "simulator/lower/assumptions.h"
#include "simulator/network/paths.h"
#include "tools/nccl_tests/call.h"
#include "tools/nccl_tests/draft.h"
#include "tools/nccl_tests/table.h"
#include "verifier/check/names.h"
#include "verifier/run.h"

namespace orrery {
namespace {

[[noreturn]] void refuse_perf(NcclCollective collective, std::string message) {
  throw InputError(program_name(collective), {{{}, std::move(message)}});
}

std::vector<Bytes> sizes_of(const NcclSettings& settings, Bytes most) {
  std::vector<Bytes> sizes;
  for (Bytes size = std::min(settings.least, most); size <= most;) {
    sizes.push_back(size);
    if (sizes.size() > kMostNcclRows ||
        (settings.step_is_factor && size.count() > most.count() / settings.step))
      break;
    size = settings.step_is_factor ? size * settings.step : size + Bytes(settings.step);
  }
  return sizes;
}

/// Returns the bytes of all values on all devices. Each device has every value.
Int128 values_size(const Program& program) {
  Int128 size = 0;
  for (const Value& value : program.values)
    size += Int128{value.type.size().count()} * int64_t{program.mesh.devices()};
  return size;
}

/// Returns the largest size that fits a device. The result is empty if the settings' largest size
/// does.
std::optional<Bytes> most_that_fits(const NcclSettings& settings, const Cluster& cluster) {
  constexpr int64_t kGiB = int64_t{1} << 30U;
  if (!cluster.device.memory)
    return std::nullopt;
  // nccl-tests leaves 1 GiB free for each 16 GiB of memory, at most 4, and 1 GiB more. The rest
  // holds what is sent and received, and what is expected.
  const int64_t memory = cluster.device.memory->count();
  const int64_t kept = std::min(ceil_divide(memory, 16 * kGiB), int64_t{4}) * kGiB + kGiB;
  const Bytes fits((memory - kept) / (settings.checks > 0 ? 3 : 2));
  if (fits.count() <= 0 || settings.most <= fits)
    return std::nullopt;
  return fits;
}

class Perf {
 public:
  Perf(const PerfRequest& request, const Cluster& cluster)
      : request_(request),
        settings_(request.settings),
        cluster_(cluster),
        bounds_(cluster.fabric) {}

  PerfTable run() {
    NcclTable& table = result_.table;
    table.collective = request_.collective;
    table.ranks = request_.processes * settings_.threads * settings_.gpus;
    if (table.ranks > cluster_.fabric.devices())
      refuse_perf(request_.collective,
                  fmt::format("expected at most {} of cluster {}, got {} (-t times -g times --np)",
                              counted(cluster_.fabric.devices(), "device"), cluster_.name,
                              counted(table.ranks, "rank")));
    const bool sends =
        table.collective == NcclCollective::Gather || table.collective == NcclCollective::Scatter;
    if (sends && table.ranks > kMostSends)
      refuse_perf(request_.collective, fmt::format("expected at most {}, got {}",
                                                   counted(kMostSends, "rank"), table.ranks));
    if (table.collective == NcclCollective::Hypercube && (table.ranks & (table.ranks - 1)) != 0)
      refuse_perf(request_.collective,
                  fmt::format("expected a power of 2, got {}", counted(table.ranks, "rank")));
    table.hosts = 1;
    table.settings = settings_;
    table.nccl_tests_version = std::string(kWrittenVersion);
    table.device_names = {cluster_.name};
    result_.reduced_most = most_that_fits(settings_, cluster_);
    const std::vector<Bytes> sizes =
        sizes_of(settings_, result_.reduced_most.value_or(settings_.most));
    const std::vector<uint32_t> roots =
        has_root(request_.collective) ? request_.roots : std::vector<uint32_t>(1);
    if (sizes.size() * request_.kinds.size() * roots.size() > kMostNcclRows)
      refuse_perf(request_.collective,
                  fmt::format("expected at most {} rows, got more", kMostNcclRows));
    for (const PerfKind& kind : request_.kinds)
      for (const uint32_t root : roots)
        for (const Bytes size : sizes)
          add_row(kind, root, size);
    return std::move(result_);
  }

 private:
  void add_row(const PerfKind& kind, uint32_t root, Bytes size) {
    const Dtype dtype = kind.type.dtype;
    const Bytes element = itemsize(dtype);
    const uint32_t ranks = result_.table.ranks;
    const NcclCall call{
        request_.collective,
        ranks,
        nccl_counts(request_.collective, size.count() / element.count(), element, ranks),
        dtype,
        kind.redop.redop,
        root};
    NcclRow row;
    row.size = nccl_row_size(call.counts, element);
    row.count = call.counts.parameter;
    row.type = kind.type.name;
    row.redop = redop_text(kind.redop);
    if (has_root(call.collective))
      row.root = root;
    if (request_.gpus_library) {
      measure(call, row);
    } else {
      NcclProgram made = program_of(call);
      const CallTime times = time_of(call, made.program);
      row.out_of_place = figures_of(call, row.size, times.out_of_place);
      row.in_place = figures_of(call, row.size, times.in_place);
      note_bound(made.program, row.size, times.out_of_place);
      if (settings_.checks > 0)
        row.out_of_place->wrong = row.in_place->wrong = wrong_of(std::move(made));
    }
    if (!is_checked_in_place(call.collective))
      row.in_place->wrong.reset();
    result_.table.rows.push_back(std::move(row));
  }

  /// Keeps what the bound says of the row that comes closest to it, the first on a tie.
  void note_bound(const Program& program, Bytes size, Duration time) {
    if (program.ops.size() != 1 || time == Duration())
      return;
    const Op& op = program.ops.front();
    const ValueType operand = exchanged_operand(program, op);
    std::vector<VertexId> ranks;
    for (uint32_t r = 0; r < result_.table.ranks; ++r)
      ranks.emplace_back(r);
    const std::optional<FabricBound> bound =
        bounds_.of(exchanged_data(op, result_.table.ranks,
                                  work_type(rules(op.kind).form.entering, operand.dtype),
                                  operand.shape.elements()),
                   ranks);
    if (!bound)
      return;
    const double share =
        static_cast<double>(bound->least().count()) / static_cast<double>(time.count());
    if (share <= reached_)
      return;
    reached_ = share;
    result_.bound = fmt::format("at {} {:.1f} % of its bound: {}", size_text(size), share * 100,
                                text(*bound, cluster_.fabric, true));
  }

  void measure(const NcclCall& call, NcclRow& row) {
    row.out_of_place =
        measured_figures(call, row.size, settings_.checks > 0 ? Values::Checked : Values::Not);
    row.in_place = measured_figures(call, row.size, Values::Not);
    row.in_place->wrong = row.out_of_place->wrong;
  }

  enum class Values : uint8_t { Checked, Not };

  NcclFigures measured_figures(const NcclCall& call, Bytes size, Values values) {
    if (call.counts.parameter == 0) {  // nothing runs that could be measured
      NcclFigures figures = figures_of(call, size, Duration());
      if (values == Values::Checked)
        figures.wrong = 0;
      return figures;
    }
    NcclProgram made = program_of(call);
    const bool checks =
        values == Values::Checked && values_size(made.program) <= request_.data_budget.count();
    RunOptions options = run_options();
    options.data = checks ? Data::Auto : Data::Off;
    options.gpus = GpuOptions{*request_.gpus_library,
                              static_cast<uint32_t>(std::max<int64_t>(1, settings_.iterations)),
                              cuda::Measured::Whole};
    const Report report = orrery::run(scenario_of(std::move(made)), options);
    if (!report.gpus)
      refuse_perf(request_.collective,
                  fmt::format("{}: a rank holds more than the memory of a device of cluster {}",
                              size_text(size), cluster_.name));
    Duration sum;
    for (const Duration run : report.gpus->measurement->runs)
      sum += run;
    const auto runs = static_cast<int64_t>(report.gpus->measurement->runs.size());
    NcclFigures figures = figures_of(call, size, Duration(sum.count() / runs));
    if (checks)
      figures.wrong = wrong_of(report);
    describe_gpus(*report.gpus);
    return figures;
  }

  void describe_gpus(const cuda::GpuFacts& gpus) {
    if (result_.measured_on)
      return;
    result_.table.device_names = {gpus.gpus.front().name};
    result_.measured_on =
        fmt::format("measured on {} of {} ({}), with the schedules of {}",
                    counted(static_cast<int64_t>(gpus.memory.size()), "virtual device"),
                    counted(static_cast<int64_t>(gpus.gpus.size()), "GPU"), gpus.gpus.front().name,
                    cluster_.name);
    result_.assumed.emplace_back("in place: a second measurement out of place");
  }

  /// Returns the figures of a time. If it is 0, the bandwidths are 0.
  static NcclFigures figures_of(const NcclCall& call, Bytes size, Duration time) {
    NcclFigures figures;
    figures.time = time;
    figures.algbw = figures.busbw = BytesPerSecond(0);
    if (time == Duration())
      return figures;
    const NcclBandwidths bandwidths = nccl_bandwidths(call.collective, size, call.ranks, time);
    figures.algbw = bandwidths.algbw;
    figures.busbw = bandwidths.busbw;
    return figures;
  }

  std::string redop_text(const NcclRedopName& redop) const {
    switch (redop_column(request_.collective)) {
      case RedopColumn::Operation:
        return std::string(redop.name);
      case RedopColumn::None:
        return "none";
      case RedopColumn::Blank:
      case RedopColumn::Absent:
        break;
    }
    return "";
  }

  CallTime time_of(const NcclCall& call, const Program& program) {
    CallTime made =
        call_time(call, program, settings_.threads * settings_.gpus, cluster_, request_.limits);
    for (const auto& labels : {made.labels, fitted_figures(cluster_, program)})
      for (const std::string& label : labels)
        if (std::find(result_.assumed.begin(), result_.assumed.end(), label) ==
            result_.assumed.end())
          result_.assumed.push_back(label);
    return made;
  }

  /// Counts wrong results in one run with values.
  std::optional<int64_t> wrong_of(NcclProgram made) {
    if (values_size(made.program) > request_.data_budget.count())
      return std::nullopt;
    return wrong_of(orrery::run(scenario_of(std::move(made)), run_options()));
  }

  Scenario scenario_of(NcclProgram made) const {
    return {.file = program_name(request_.collective),
            .name = program_name(request_.collective),
            .cluster = cluster_,
            .memory = {},
            .program = std::move(made.program),
            .arrays = std::move(made.arrays),
            .expectations = {}};
  }

  RunOptions run_options() const {
    RunOptions options;
    options.seed = request_.seed;
    options.data_budget = request_.data_budget;
    options.slack_budget = 0;
    options.limits = request_.limits;
    return options;
  }

  /// Counts wrong results by the checks of the report. On GPUs the values must be the host's, and
  /// no byte may be written elsewhere.
  std::optional<int64_t> wrong_of(const Report& report) {
    std::optional<int64_t> wrong;
    for (const Check& check : report.checks) {
      if (check.name != info(CheckKind::ValuesOracle).name &&
          check.name != info(CheckKind::ValuesGpus).name &&
          check.name != info(CheckKind::MemoryGuards).name)
        continue;
      if (check.verdict == Verdict::Fails) {
        result_.wrong.push_back(check.said());
        return 1;
      }
      if (check.verdict == Verdict::Undecided)
        return std::nullopt;
      wrong = 0;
    }
    return wrong;
  }

  const PerfRequest& request_;
  const NcclSettings& settings_;
  const Cluster& cluster_;
  FabricBounds bounds_;
  double reached_ = 0;  // the largest share of a bound so far, for display only
  PerfTable result_;
};

}  // namespace

PerfTable perf_table(const PerfRequest& request, const Cluster& cluster) {
  ORRERY_CHECK(request.settings.least <= request.settings.most && !request.kinds.empty() &&
                   request.settings.step > (request.settings.step_is_factor ? 1 : 0),
               "sizes that grow");
  return Perf(request, cluster).run();
}

}  // namespace orrery
