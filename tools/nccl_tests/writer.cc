#include <fmt/format.h>

#include "models/base/check.h"
#include "models/base/compiler.h"
#include "tools/nccl_tests/decimal.h"
#include "tools/nccl_tests/table.h"

namespace orrery {
namespace {

constexpr std::string_view kHost = "orrery";
constexpr std::string_view kNoClock = "1970-01-01 00:00:00";

std::string root_text(const NcclRow& row) {
  return row.root ? fmt::format("{:6}", *row.root) : std::string("    -1");
}

/// Returns the mean over all placements with a busbw, in GB/s. It is for display only.
double average_busbw(const NcclTable& table) {
  Int128 sum = 0;
  int64_t placements = 0;
  for (const NcclRow& row : table.rows) {
    for (const auto* const figures : {&row.out_of_place, &row.in_place}) {
      if (!*figures || !(*figures)->busbw)
        continue;
      sum += (*figures)->busbw->count();
      ++placements;
    }
  }
  constexpr double kBytesPerGB = 1e9;
  return placements == 0 ? 0.0
                         : static_cast<double>(sum) / static_cast<double>(placements) / kBytesPerGB;
}

std::string figures_columns(const NcclFigures& figures) {
  const auto rate = [](const std::optional<BytesPerSecond>& bandwidth) {
    return bandwidth ? nccl_bandwidth_text(*bandwidth) : std::string("   nan");
  };
  return fmt::format("  {}  {}  {}  {}", nccl_time_text(figures.time), rate(figures.algbw),
                     rate(figures.busbw),
                     figures.wrong ? fmt::format("{:6g}", static_cast<double>(*figures.wrong))
                                   : std::string("  N/A"));
}

std::string row_line(const NcclRow& row) {
  std::string line = fmt::format("{:12}  {:12}  {:>8}  {:>6}  {}", row.size.count(),
                                 row.count.value_or(0), row.type, row.redop, root_text(row));
  for (const auto* const figures : {&row.out_of_place, &row.in_place})
    line += *figures ? figures_columns(**figures) : std::string(32, ' ');
  return line + "\n";
}

std::string rank_lines(const NcclTable& table) {
  const NcclSettings& settings = *table.settings;
  std::string lines;
  for (uint32_t rank = 0; rank < table.ranks; ++rank)
    lines += fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [0000:00:00] {}\n",
                         rank, 0, rank / (settings.threads * settings.gpus), kHost, rank,
                         table.device_names.front());
  return lines;
}

std::string header_lines(const NcclTable& table, const NcclOrigin& origin) {
  const NcclSettings& settings = *table.settings;
  std::string text = fmt::format(
      "# nccl-tests version {} nccl-headers=0 nccl-library=0\n"
      "# Collective test starting: {}\n"
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} agg "
      "iters: {} validation: {} graph: 0 unalign: 0\n",
      kWrittenVersion, program_name(table.collective), settings.threads, settings.gpus,
      settings.least.count(), settings.most.count(), settings.step,
      settings.step_is_factor ? "factor" : "bytes", settings.warmup, settings.iterations,
      settings.aggregated, settings.checks);
  if (!origin.modelled.empty())
    text += fmt::format("# orrery: {}\n", origin.modelled);
  for (const std::string& assumed : origin.assumed)
    text += fmt::format("# orrery: assumed {}\n", assumed);
  if (origin.bound)
    text += fmt::format("# orrery: {}\n", *origin.bound);
  text += "#\n# Using devices\n" + rank_lines(table) + "#\n";
  if (origin.reduced_most)
    text += fmt::format("# Reducing maxBytes to {} due to memory limitation\n#\n",
                        origin.reduced_most->count());
  text += fmt::format(
      "# {:10}  {:12}  {:8}  {:6}  {:6}           out-of-place                       in-place      "
      "    \n",
      "", "", "", "", "");
  const auto columns = [&](std::string_view size, std::string_view count, std::string_view type,
                           std::string_view redop, std::string_view root, std::string_view time,
                           std::string_view algbw, std::string_view busbw, std::string_view wrong) {
    text += fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", size, count, type, redop, root);
    for (int placement = 0; placement < 2; ++placement)
      text += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", time, algbw, busbw, wrong);
    text += " \n";
  };
  columns("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong");
  columns("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "");
  return text;
}

/// Returns a text as nccl-tests escapes it. It stops at the first character that it cannot write.
std::string json_text(std::string_view text) {
  constexpr size_t kMostWritten = 2047;
  std::string quoted = "\"";
  for (const char c : text) {
    const bool printable = c > 0x1f && c < 0x7f;
    if (quoted.size() > kMostWritten || (!printable && c != '\t' && c != '\n'))
      break;
    if (c == '"' || c == '\\' || c == '/')
      quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts)
    list += (list.size() > 1 ? "," : "") + json_text(text);
  return list + "]";
}

std::string json_figures(std::string_view key, const std::optional<NcclFigures>& figures) {
  if (!figures)
    return fmt::format(",\"{}\":null", key);
  const auto rate = [](const std::optional<BytesPerSecond>& bandwidth) {
    return bandwidth ? nccl_json_bandwidth(*bandwidth) : std::string("\"nan\"");
  };
  return fmt::format(",\"{}\":{{\"time\":{},\"alg_bw\":{},\"bus_bw\":{},\"nwrong\":{}}}", key,
                     nccl_json_time(figures->time), rate(figures->algbw), rate(figures->busbw),
                     figures->wrong ? fmt::format("{}.000000", *figures->wrong) : "null");
}

std::string json_row(const NcclRow& row, int64_t iterations) {
  return fmt::format(
      "{{\"size\":{},\"count\":{},\"type\":{},\"redop\":{},\"root\":{}{}{},"
      "\"actual_iterations\":{},\"experiment_name\":\"\"}}",
      row.size.count(), row.count.value_or(0), json_text(row.type), json_text(row.redop),
      json_text(root_text(row)), json_figures("out_of_place", row.out_of_place),
      json_figures("in_place", row.in_place), iterations);
}

std::string json_config(const NcclTable& table) {
  const NcclSettings& settings = *table.settings;
  std::string text = fmt::format(
      "{{\"nthreads\":{},\"ngpus\":{},\"minimum_bytes\":{},\"maximum_bytes\":{},\"{}\":{},"
      "\"warmup_iters\":{},\"iterations\":{},\"aggregated_iterations\":{},\"validation\":{},"
      "\"graph\":0,\"blocking_collectives\":\"false\",\"per_iter_timing\":\"false\","
      "\"per_iter_skip\":0,\"parallel_init\":\"false\",\"devices\":[",
      settings.threads, settings.gpus, settings.least.count(), settings.most.count(),
      settings.step_is_factor ? "step_factor" : "step_bytes", settings.step, settings.warmup,
      settings.iterations, settings.aggregated, settings.checks);
  const uint32_t processes = *table.processes();
  for (uint32_t process = 0; process < processes; ++process) {
    // The list has the first device of each process, as in nccl-tests.
    const uint32_t rank = process * settings.threads * settings.gpus;
    text += fmt::format(
        "{}{{\"rank\":{},\"group\":0,\"pid\":{},\"hostname\":{},\"device\":{},\"device_hex\":"
        "\"0000:00:00\",\"device_info\":{}}}",
        process == 0 ? "" : ",", rank, process, json_text(kHost), rank,
        json_text(table.device_names.front()));
  }
  return text + "]}";
}

void require_writable(const NcclTable& table) {
  ORRERY_CHECK(table.settings && !table.rows.empty() && table.device_names.size() == 1,
               "a table of one run");
}

}  // namespace

int64_t wrong_placements(const NcclTable& table) {
  int64_t wrong = 0;
  for (const NcclRow& row : table.rows)
    for (const auto* const figures : {&row.out_of_place, &row.in_place})
      if (*figures && (*figures)->wrong.value_or(0) != 0)
        ++wrong;
  return wrong;
}

std::string nccl_text(const NcclTable& table, const NcclOrigin& origin) {
  require_writable(table);
  std::string text = header_lines(table, origin);
  for (const NcclRow& row : table.rows)
    text += row_line(row);
  const int64_t wrong = wrong_placements(table);
  text += fmt::format("# {:<20} : {} {}\n", "Out of bounds values", wrong,
                      wrong == 0 ? "OK" : "FAILED");
  text += fmt::format("# {:<20} : {:g} \n", "Avg bus bandwidth", average_busbw(table));
  return text + "#\n# Collective test concluded: " + program_name(table.collective) + "\n#\n\n";
}

std::string nccl_json(const NcclTable& table, const NcclOrigin& origin) {
  require_writable(table);
  std::vector<std::string> environment;
  if (!origin.modelled.empty()) {
    environment = {"ORRERY=" + origin.modelled};
    for (const std::string& assumed : origin.assumed)
      environment.front() += "; assumed " + assumed;
    if (origin.bound)
      environment.front() += "; " + *origin.bound;
  }
  std::string text = fmt::format(
      "{{\"version\":3,\"start_time\":\"{}\",\"args\":{},\"env\":{},\"nccl_version\":0,"
      "\"config\":{},\"results\":[",
      kNoClock, json_texts(origin.arguments), json_texts(environment), json_config(table));
  for (size_t r = 0; r < table.rows.size(); ++r)
    text += (r == 0 ? "" : ",") + json_row(table.rows[r], table.settings->iterations);
  const int64_t wrong = wrong_placements(table);
  text += fmt::format(
      "],\"out_of_bounds\":{{\"count\":{},\"okay\":\"{}\"}},\"average_bus_bandwidth\":{{"
      "\"bandwidth\":{:f},\"okay\":\"unchecked\"}},\"errors\":[\"\"],\"end_time\":\"{}\"}}",
      wrong, wrong == 0 ? "true" : "false", average_busbw(table), kNoClock);
  return text;
}

}  // namespace orrery
