#pragma once

// This file computes how far the model is from measured tables of collectives and of single ops. It
// makes the rows of docs/accuracy.md.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/op_fit.h"
#include "tools/calibrate/residuals.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

/// The tables of one file, and the cluster that stands for the machine they are from.
struct MeasuredFile {
  std::string name;  // "a100-nvswitch.json"
  std::string use;   // "calibrated on", "held out"; empty if not known
  Cluster cluster;
  std::vector<NcclTable> tables;
  std::vector<MeasuredOp> ops = {};
};

/// The errors of one collective or kind of ops, number of ranks and size band of a file.
struct AccuracyRow {
  std::string file;
  std::string cluster;
  std::string use;
  std::string work;  // "all_reduce", "matmul bf16"
  uint32_t ranks = 0;
  const SizeBand* band = nullptr;
  ErrorSummary errors;
};

struct Accuracy {
  std::vector<AccuracyRow> rows;      // in the order of files, then by work, ranks and band
  std::vector<std::string> left_out;  // tables and rows that are not timed, with the reason
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
