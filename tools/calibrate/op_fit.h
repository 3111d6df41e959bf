#pragma once

// This fits what products of matrices reach of a device's peak rates (FlopsEfficiency) to times of
// single products that were measured: `orrery calibrate ops`.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/array/dtype.h"
#include "models/base/quantity.h"
#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/residuals.h"
#include "tools/report/style.h"

namespace orrery {

/// A product of matrices (m, k) and (k, n) that was timed. Results of a dtype of one byte have two.
struct MeasuredProduct {
  Dtype dtype = Dtype::F32;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Duration time;
};

/// Reads a table: {"matmul": {"columns": ["dtype", "m", "n", "k", "time_us"], "rows": [..]}}.
/// Columns may come in any order. Other keys say nothing here. Throws InputError with all errors.
std::vector<MeasuredProduct> read_op_table(const std::string& file, const std::string& text,
                                           const Limits& limits);

struct OpFitOptions {
  int evaluations = 2000;  // the most of one fit
  bool validates = true;   // whether to fit again with shapes left out
  std::string date;        // of the figures' sources
  std::string source;      // what the times are from
};

/// The figures that were fitted for a dtype, and their errors.
struct DtypeFit {
  std::vector<MeasuredProduct> products;
  FlopsEfficiency efficiency;
  ErrorSummary errors;
  /// The errors of shapes that were left out. Products with equal n and k are one shape, such as
  /// those with the weights of a layer. Every eighth shape is left out at a time.
  ErrorSummary left_out = {};
};

struct OpFit {
  Cluster cluster;  // the base with the fitted figures, labelled
  std::map<Dtype, DtypeFit> dtypes;
  Share memory_share;
};

/// Fits to the products, which are at least one. It minimises the mean of |log(modelled /
/// measured)|. Requires that the base has a peak rate for each dtype, and a memory bandwidth.
OpFit fit_ops(const Cluster& base, const std::vector<MeasuredProduct>& products,
              const OpFitOptions& options);

/// Returns the figures, and the errors by dtype.
std::string op_fit_text(const OpFit& fit, const Style& style);

}  // namespace orrery
