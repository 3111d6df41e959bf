// orrery validate tells how far the model is from measured tables.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/base/amount_text.h"
#include "models/scenario/document.h"
#include "models/scenario/fields.h"
#include "tools/calibrate/accuracy.h"
#include "tools/cli/commands.h"
#include "tools/cli/inputs.h"

namespace orrery {
namespace {

/// The notes on tables in a JSON file: {"cluster": "a100-sxm-8", "use": "held out"}. A cluster is
/// what a scenario may have.
struct Notes {
  std::optional<Cluster> cluster;
  std::string use;
  bool has_calls = false;  // measured calls of collectives
};

Notes notes_of(const std::string& text, const std::string& file, const Limits& limits) {
  Notes notes;
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{')
    return notes;
  Diagnostics diagnostics(file);
  const Document document(text, diagnostics, limits, ControlCharacters::Accepted);
  const std::optional<DocumentNode> root = document.root();
  if (!root)
    return notes;  // the reader of the tables says why
  if (const auto cluster = root->find("cluster"))
    if (auto read = read_cluster(*cluster, limits, diagnostics))
      notes.cluster = std::move(read->cluster);
  notes.has_calls = root->find("measured").has_value();
  if (const auto use = root->find("use"))
    notes.use = read_word(*use, {"calibrated on", "held out"}, diagnostics).value_or("");
  diagnostics.throw_if_any();
  return notes;
}

/// Reads a table of steps, whose plan lies where the table says.
MeasuredFile measured_steps(const std::string& file, const std::string& text,
                            const ValidateCommand& command) {
  if (command.cluster)
    refuse("--cluster", fmt::format("the steps of {} have the clusters of their plan", file));
  const std::filesystem::path path(file);
  const std::string plan = plan_of_steps(file, text, command.limits);
  const std::string plan_file = (path.parent_path() / plan).lexically_normal().string();
  MeasuredFile measured{path.filename().string(), notes_of(text, file, command.limits).use, {}, {}};
  measured.steps =
      read_steps(file, text, plan_file, load_text(plan_file, command.limits), command.limits);
  return measured;
}

MeasuredFile measured_file(const std::string& file, const ValidateCommand& command,
                           std::ostream& err) {
  const std::string text = load_text(file, command.limits);
  if (is_step_table(text, command.limits))
    return measured_steps(file, text, command);
  const Notes notes = notes_of(text, file, command.limits);
  if (!command.cluster && !notes.cluster)
    refuse(file, "expected a \"cluster\" in it, or --cluster");
  const std::string called = std::filesystem::path(file).filename().string();
  MeasuredFile measured{called,
                        notes.use,
                        command.cluster
                            ? cluster_given("--cluster", *command.cluster, command.limits)
                            : *notes.cluster,
                        {},
                        {}};
  if (has_op_table(text, command.limits)) {
    measured.ops = read_op_table(file, text, command.limits);
    for (const MeasuredOp& op : measured.ops)
      if (!measured.cluster->device.flops.contains(op.dtype))
        refuse(file, fmt::format("expected a cluster with a peak rate of {}, got {}",
                                 name(op.dtype), measured.cluster->name));
    if (!measured.cluster->device.memory_bandwidth)
      refuse(file, fmt::format("expected a cluster with a memory_bandwidth, got {}",
                               measured.cluster->name));
    if (!notes.has_calls)
      return measured;
  }
  measured.tables = tables_given(file, text, command.facts, command.limits, err);
  for (NcclTable& table : measured.tables)
    table.file = called;
  return measured;
}

/// Returns why nothing was modelled: "; a.txt:3: all_reduce of 1 rank: left out: ..".
std::string reasons(const Accuracy& made) {
  constexpr size_t kMostReasons = 3;
  std::string text;
  for (size_t i = 0; i < std::min(made.left_out.size(), kMostReasons); ++i)
    text += "; " + made.left_out[i];
  if (made.left_out.size() > kMostReasons)
    text += fmt::format("; and {} more", made.left_out.size() - kMostReasons);
  return text;
}

}  // namespace

Outcome execute(const ValidateCommand& command, const Terminal& terminal) {
  const auto any = [](const std::string&) { return true; };
  const std::vector<std::string> paths =
      files_given(command.paths, any, "no file lies below this folder");
  if (command.output) {
    std::vector<std::string> inputs = paths;
    for (const std::optional<std::string>& input : {command.cluster, command.against})
      if (input)
        inputs.push_back(*input);
    keep_inputs("--json", *command.output, inputs);
  }
  std::optional<std::string> before;
  if (command.against)
    before = load_text(*command.against, command.limits);
  std::vector<MeasuredFile> files;
  std::set<std::string> names;
  for (const std::string& path : paths) {
    files.push_back(measured_file(path, command, terminal.err));
    if (!names.insert(files.back().name).second)
      refuse(path, "expected files of different names");
  }
  const Accuracy made = accuracy(files, command.limits);
  if (made.rows.empty())
    refuse(paths.size() == 1 ? paths.front() : counted(static_cast<int64_t>(paths.size()), "file"),
           "expected tables with times that can be modelled, got none" + reasons(made));
  terminal.out << accuracy_markdown(made);
  if (command.output)
    write_file(*command.output, accuracy_json(made));
  if (!before)
    return Outcome::Holds;
  const std::vector<std::string> grown =
      accuracy_grown(made, *before, *command.against, command.limits);
  for (const std::string& sentence : grown)
    terminal.err << "orrery: " << sentence << "\n";
  return grown.empty() ? Outcome::Holds : Outcome::Fails;
}

}  // namespace orrery
