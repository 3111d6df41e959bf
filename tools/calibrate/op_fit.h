#pragma once

// This fits what products of matrices and attention reach of a device's peak rates
// (FlopsEfficiency) to times of single ops that were measured: `orrery calibrate ops`.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/program/rules.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/residuals.h"
#include "tools/report/style.h"

namespace orrery {

/// The kinds of ops that tables have. A product is of matrices (m, k) and (k, n); its results of a
/// dtype of one byte have two. Attention is causal: a forward pass in which queries and keys are
/// equally many.
enum class MeasuredKind : uint8_t { Product, Attention };

/// An op that was timed.
struct MeasuredOp {
  MeasuredKind work = MeasuredKind::Product;
  Dtype dtype = Dtype::F32;
  std::vector<int64_t> sizes;  // m, n, k; or batch, sequence, heads, kv_heads, head
  Duration time;
};

/// Returns what the op is charged for. May throw Overflow for an op that was not read from a table.
Cost cost_of(const MeasuredOp& op);

/// Returns modelled / measured - 1.
double error_of(const MeasuredOp& op, const DeviceFigures& device);

/// Returns "matmul bf16" or "attention bf16".
std::string work_text(const MeasuredOp& op);

/// Returns whether the text is a JSON object with one of the tables that read_op_table() reads.
bool has_op_table(const std::string& text, const Limits& limits);

/// Reads tables: {"matmul": {"columns": ["dtype", "m", "n", "k", "time_us"], "rows": [..]},
/// "attention": {"columns": ["batch", "sequence", "heads", "kv_heads", "head", "time_us"], "rows":
/// [..]}}, at least one of them. Columns may come in any order. Without a dtype attention is of
/// bf16. Other keys say nothing here. Throws InputError with all errors.
std::vector<MeasuredOp> read_op_table(const std::string& file, const std::string& text,
                                      const Limits& limits);

struct OpFitOptions {
  int evaluations = 2000;  // the most of one fit
  bool validates = true;   // whether to fit again with shapes left out
  std::string date;        // of the figures' sources
  std::string source;      // what the times are from
};

/// The errors of ops of one kind and dtype.
struct WorkFit {
  std::vector<MeasuredOp> ops;
  ErrorSummary errors;
  /// The errors of shapes that were left out. Products with equal n and k are one shape, such as
  /// those with the weights of a layer; so is attention with equal sizes of heads. Every eighth
  /// shape is left out at a time.
  ErrorSummary left_out = {};
};

struct OpFit {
  Cluster cluster;             // the base with the fitted figures, labelled
  std::vector<WorkFit> works;  // each of ops of one kind and dtype, at least one
};

/// Fits to the ops, which are at least one. It minimises the mean of |log(modelled / measured)|.
/// The memory's share is fitted if there are products; attention does not tell it. Requires that
/// the base has a peak rate for each dtype, and a memory bandwidth.
OpFit fit_ops(const Cluster& base, const std::vector<MeasuredOp>& ops, const OpFitOptions& options);

/// Returns the figures, and the errors by kind and dtype.
std::string op_fit_text(const OpFit& fit, const Style& style);

}  // namespace orrery
