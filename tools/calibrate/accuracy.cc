#include "tools/calibrate/accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "models/scenario/json_text.h"
#include "tools/calibrate/measured_call.h"
#include "verifier/plan/point.h"

namespace orrery {
namespace {

/// Returns a mean error in whole parts of 10,000. Errors are compared so, and the last digit of a
/// `double` decides nothing.
int64_t parts_of_error(double mean) {
  return std::llround(10'000 * mean);
}

/// Returns a row in words: "a100-nvswitch.json, all_reduce of 8 ranks, 1 to 64 MiB".
std::string name_of(const AccuracyRow& row) {
  return fmt::format("{}, {} of {}, {}", row.file, row.work, counted(row.ranks, "rank"), row.size);
}

/// Adds a row for each kind of steps and cluster.
void add_steps(const MeasuredFile& file, const Limits& limits, Accuracy& accuracy) {
  RunOptions options;
  options.limits = limits;
  std::map<std::pair<std::string, std::string>, std::vector<double>> errors;
  std::map<std::string, uint32_t> devices;
  for (const MeasuredStep& step : file.steps) {
    const PointFigures figures =
        figures_of(step.scenario, {}, options, [](const PointFigures&) { return true; });
    if (!figures.times) {
      accuracy.left_out.push_back(fmt::format("{}: {}: {}", file.name, step.work, figures.hangs));
      continue;
    }
    if (figures.capacity && figures.peak > *figures.capacity)
      accuracy.notes.push_back(fmt::format(
          "{}: {} in {}: the model holds {} of {} on a device, so it would not fit", file.name,
          step.work, time_text(step.time), size_text(figures.peak), size_text(*figures.capacity)));
    errors[{step.scenario->cluster.name, step.work}].push_back(
        static_cast<double>(figures.times->makespan.count()) * static_cast<double>(step.runs) /
            static_cast<double>(step.time.count()) -
        1);
    devices[step.scenario->cluster.name] = figures.devices;
  }
  for (const auto& [group, of_group] : errors) {
    const auto& [cluster, work] = group;
    accuracy.rows.push_back(
        {file.name, cluster, file.use, work, devices[cluster], "on " + cluster, summary(of_group)});
  }
}

void add_rows(const MeasuredFile& file, const Limits& limits, Accuracy& accuracy) {
  add_steps(file, limits, accuracy);
  if (!file.cluster)
    return;
  MeasuredCalls measured = measured_calls(file.tables, *file.cluster);
  const std::vector<Residual> all =
      residuals(measured.calls, modelled_times(measured.calls, *file.cluster, limits));
  std::map<std::tuple<NcclCollective, uint32_t, const SizeBand*>, std::vector<Residual>> groups;
  for (const Residual& residual : all)
    groups[{residual.call->call.collective, residual.call->call.ranks,
            &band_of(residual.call->size)}]
        .push_back(residual);
  for (const auto& [group, of_group] : groups) {
    const auto& [collective, ranks, band] = group;
    accuracy.rows.push_back({file.name, file.cluster->name, file.use, std::string(name(collective)),
                             ranks, band->name, summary(of_group)});
  }
  std::map<std::pair<std::string, const SizeBand*>, std::vector<double>> of_ops;
  for (const MeasuredOp& op : file.ops)
    of_ops[{work_text(op), &band_of(cost_of(op).bytes)}].push_back(
        error_of(op, file.cluster->device));
  for (const auto& [group, errors] : of_ops)
    accuracy.rows.push_back({file.name, file.cluster->name, file.use, group.first, 1,
                             group.second->name, summary(errors)});
  for (std::string& reason : measured.left_out)
    accuracy.left_out.push_back(std::move(reason));
}

/// Returns the text escaped for a cell of a Markdown table.
std::string in_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text)
    escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string cells(const ErrorSummary& errors) {
  return fmt::format("{} | {} | {} | {}", errors.times, percent(errors.mean),
                     signed_percent(errors.bias), signed_percent(errors.worst));
}

}  // namespace

Accuracy accuracy(std::span<const MeasuredFile> files, const Limits& limits) {
  Accuracy made;
  for (const MeasuredFile& file : files)
    add_rows(file, limits, made);
  return made;
}

ErrorSummary total(std::span<const AccuracyRow> rows) {
  ErrorSummary sum;
  for (const AccuracyRow& row : rows) {
    const auto times = static_cast<double>(row.errors.times);
    sum.times += row.errors.times;
    sum.mean += row.errors.mean * times;
    sum.bias += row.errors.bias * times;
    if (std::abs(row.errors.worst) > std::abs(sum.worst))
      sum.worst = row.errors.worst;
  }
  if (sum.times > 0) {
    sum.mean /= static_cast<double>(sum.times);
    sum.bias /= static_cast<double>(sum.times);
  }
  return sum;
}

std::string accuracy_markdown(const Accuracy& accuracy) {
  std::string text =
      "| file | cluster | use | times | mean | bias | worst |\n|---|---|---|--:|--:|--:|--:|\n";
  for (size_t first = 0, end = 0; first < accuracy.rows.size(); first = end) {
    const AccuracyRow& row = accuracy.rows[first];
    while (end < accuracy.rows.size() && accuracy.rows[end].file == row.file &&
           accuracy.rows[end].cluster == row.cluster)
      ++end;
    text += fmt::format("| {} | {} | {} | {} |\n", in_cell(row.file), in_cell(row.cluster), row.use,
                        cells(total(std::span(accuracy.rows).subspan(first, end - first))));
  }
  text +=
      "\n| file | work | ranks | size | times | mean | bias | worst |\n"
      "|---|---|--:|---|--:|--:|--:|--:|\n";
  for (const AccuracyRow& row : accuracy.rows)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", in_cell(row.file), in_cell(row.work),
                        row.ranks, row.size, cells(row.errors));
  if (!accuracy.left_out.empty())
    text += "\nNot timed:\n\n";
  for (const std::string& reason : accuracy.left_out)
    text += fmt::format("- {}\n", reason);
  if (!accuracy.notes.empty())
    text += "\nTimed all the same:\n\n";
  for (const std::string& note : accuracy.notes)
    text += fmt::format("- {}\n", note);
  return text;
}

std::string accuracy_json(const Accuracy& accuracy) {
  std::vector<std::pair<std::string, JsonText>> rows;
  for (const AccuracyRow& row : accuracy.rows)
    rows.emplace_back(name_of(row),
                      JsonText::raw(fmt::format("{}", parts_of_error(row.errors.mean))));
  return JsonText::object({{"mean_error_per_10000", JsonText::object(std::move(rows))}}).lines();
}

std::vector<std::string> accuracy_grown(const Accuracy& accuracy, const std::string& before,
                                        const std::string& name, const Limits& limits) {
  Diagnostics diagnostics(name);
  const Document document(before, diagnostics, limits);
  std::map<std::string, int64_t> recorded;
  const std::optional<DocumentNode> root = document.root();
  if (root && is_object(*root, "an object with mean errors", diagnostics)) {
    Fields fields(*root, diagnostics);
    const auto rows = fields.required("mean_error_per_10000");
    fields.finish();
    if (rows && is_object(*rows, "an object with a mean error per row", diagnostics))
      for (const DocumentNode row : *rows)
        if (const auto mean = read_integer(row, "a mean error in parts of 10,000",
                                           {0, std::numeric_limits<int64_t>::max()}, diagnostics))
          recorded.emplace(row.key(), *mean);
  }
  diagnostics.throw_if_any();
  std::vector<std::string> grown;
  for (const AccuracyRow& row : accuracy.rows) {
    const std::string called = name_of(row);
    const auto found = recorded.find(called);
    const int64_t now = parts_of_error(row.errors.mean);
    if (found == recorded.end())
      grown.push_back(fmt::format("{}: not in {}", called, name));
    else if (Int128{now} * 10 > Int128{found->second} * 11)
      grown.push_back(fmt::format("{}: the mean error was {:.2f} % and is {:.2f} %", called,
                                  static_cast<double>(found->second) / 100,
                                  static_cast<double>(now) / 100));
    if (found != recorded.end())
      recorded.erase(found);
  }
  for (const auto& [called, mean] : recorded)
    grown.push_back(fmt::format("{}: in {}, but no times are of it", called, name));
  return grown;
}

}  // namespace orrery
