#pragma once

// This file computes how far the model is from measured tables of collectives, of single ops and of
// steps of training. It makes the rows of docs/accuracy.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/scenario.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/op_fit.h"
#include "tools/calibrate/residuals.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// A step of training that was measured. It is modelled as so many runs of a scenario.
struct MeasuredStep {
  std::string work;  // "step of torchtitan"
  std::shared_ptr<const Scenario> scenario;
  int64_t runs = 1;
  Duration time;
};

/// Returns whether the text is a JSON object with "plan" or "steps".
bool is_step_table(const std::string& text, const Limits& limits);

/// Returns the file of the plan, as a table of steps names it.
std::string plan_of_steps(const std::string& file, const std::string& text, const Limits& limits);

/// Reads a table of steps. Each is a point of the plan: {"plan": "fsdp.json", "let": {values of
/// names in all steps}, "steps": [{"work", "let": {other values}, "runs", "time"}]}. Names that the
/// plan has one value for need none. Throws InputError with all errors of the table, or those of
/// the plan.
std::vector<MeasuredStep> read_steps(const std::string& file, const std::string& text,
                                     const std::string& plan_file, const std::string& plan_text,
                                     const Limits& limits);

/// The tables of one file. Those of collectives and ops are from a machine that the cluster stands
/// for; each step has its own.
struct MeasuredFile {
  std::string name;  // "a100-nvswitch.json"
  std::string use;   // "calibrated on", "held out"; empty if not known
  std::optional<Cluster> cluster;
  std::vector<NcclTable> tables;
  std::vector<MeasuredOp> ops = {};
  std::vector<MeasuredStep> steps = {};
};

/// The errors of one collective or kind of ops, number of ranks and size band of a file, or of one
/// kind of steps on so many devices.
struct AccuracyRow {
  std::string file;
  std::string cluster;
  std::string use;
  std::string work;  // "all_reduce", "matmul bf16", "step of torchtitan"
  uint32_t ranks = 0;
  std::string size;  // the name of the band; of steps: on which cluster
  ErrorSummary errors;
};

struct Accuracy {
  std::vector<AccuracyRow> rows;        // in the order of files, then by work, ranks and size
  std::vector<std::string> left_out;    // tables and rows that are not timed, with the reason
  std::vector<std::string> notes = {};  // steps that are timed, and would not fit
};

Accuracy accuracy(std::span<const MeasuredFile> files, const Limits& limits);

/// Returns the errors over all times of the rows, weighted by their number.
ErrorSummary total(std::span<const AccuracyRow> rows);

/// Returns Markdown with one line for each file and then a table of all rows.
std::string accuracy_markdown(const Accuracy& accuracy);

/// Returns the mean errors as JSON, which accuracy_grown() reads.
std::string accuracy_json(const Accuracy& accuracy);

/// Returns a sentence for each row whose mean error has grown by more than a tenth, and for each
/// row that is missing now or before. Errors are compared in whole parts of 10,000. `before` is a
/// text of accuracy_json(), and `name` its file. Throws InputError if it is not such a text.
std::vector<std::string> accuracy_grown(const Accuracy& accuracy, const std::string& before,
                                        const std::string& name, const Limits& limits);

}  // namespace orrery
