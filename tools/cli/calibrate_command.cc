// orrery calibrate: a cluster's transport, fitted to tables of nccl-tests.

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/utf8.h"
#include "models/scenario/cluster_writer.h"
#include "models/scenario/text_file.h"
#include "tools/calibrate/calibration.h"
#include "tools/calibrate/calibration_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"
#include "tools/nccl_tests/reader.h"

namespace orrery {
namespace {

/// The day of the run, in UTC.
std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

/// A text that the written file can hold.
void require_label(std::string_view option, const std::string& text) {
  constexpr size_t kLongest = 500;
  if (text.empty() || text.size() > kLongest || not_utf8_at(text) || has_control_character(text))
    refuse(option, fmt::format("expected 1 to {} bytes of printable UTF-8", kLongest));
}

/// Before a fit that takes minutes.
void require_writable(const std::string& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  const bool opens = std::ofstream(path, std::ios::app).good();
  if (!opens)
    refuse(path, "cannot be written");
  if (!exists)
    std::filesystem::remove(path, error);
}

std::vector<NcclTable> tables_given(const CalibrateCommand& command) {
  NcclReadOptions options;
  if (command.collective) {
    options.collective = nccl_collective_named(*command.collective);
    if (!options.collective)
      refuse("--collective",
             fmt::format("expected a collective of nccl-tests, got \"{}\"", *command.collective));
  }
  options.ranks = command.ranks;
  options.limits = command.limits;
  std::vector<NcclTable> tables;
  for (const std::string& file : command.tables)
    for (NcclTable& table : read_nccl_tables(load_text(file, command.limits), file, options))
      tables.push_back(std::move(table));
  return tables;
}

}  // namespace

Outcome execute(const CalibrateCommand& command, const Terminal& terminal) {
  std::vector<std::string> inputs = command.tables;
  inputs.push_back(command.base);
  keep_inputs("-o", command.output, inputs);
  for (const auto& [option, text] :
       {std::pair("--source", command.source), std::pair("--date", command.date)})
    if (text)
      require_label(option, *text);
  require_writable(command.output);
  const Cluster base = cluster_given("--base", command.base, command.limits);
  const std::vector<NcclTable> tables = tables_given(command);
  const MeasuredCalls measured = measured_calls(tables, base.fabric.devices());
  for (const std::string& reason : measured.left_out)
    terminal.err << "orrery: " << reason << "\n";
  if (measured.calls.empty())
    refuse("TABLE", fmt::format("expected times of 2 to {} ranks on one host, got none",
                                base.fabric.devices()));
  CalibrationOptions options;
  options.leave_out_ranks = command.validates;
  options.evaluations = command.evaluations;
  options.date = command.date.value_or(today());
  options.source = command.source;
  options.limits = command.limits;
  const Calibration made = calibrate(base, tables, measured.calls, options);
  write_file(command.output, cluster_text(made.cluster).lines());
  terminal.out << calibration_text(made, terminal.style) << "\nwritten to " << command.output
               << "\n";
  return Outcome::Holds;
}

}  // namespace orrery
