#pragma once

// This folder fits the figures of a cluster to measured times, and tells how well they fit. This
// file has the whole of `orrery calibrate`, which fits the transport to tables of nccl-tests:
//  1. measured_call.h turns the rows of the tables into calls that the model can time.
//  2. calibration_start() gives the cluster the transport that NCCL has (start.json), and sets the
//     figures that need no fit.
//  3. calibrate() fits the free figures (fit.h) to a few rows of each table. It minimises a mean
//     error of modelled against measured times, by a search without derivatives.
//  4. residuals.h counts the errors for all rows, by collective, ranks and size band.
//  5. For validation, calibrate() leaves out each number of ranks, fits to the others, and counts
//     the errors of the rows that were left out.
//  6. calibration_text() prints the figures and the errors (calibration_text.cc).
// `orrery calibrate cuda` has gpu_fit.h, which fits a latency and a rate to nodes that were timed
// on GPUs, and makes a cluster of them. `orrery calibrate ops` has op_fit.h, which fits what
// products of matrices reach of a device's peak rates. accuracy.h compares the model with tables
// without a fit (`orrery validate`). README.md says where each rule is stated.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/measured_call.h"
#include "tools/calibrate/residuals.h"
#include "tools/nccl_tests/table.h"
#include "tools/report/style.h"

namespace orrery {

struct CalibrationOptions {
  int evaluations = 500;              // the most of one fit
  size_t rows_of_table = 12;          // how many rows of a table are fitted to
  bool leave_out_ranks = true;        // whether to validate, if there are several numbers of ranks
  std::string date;                   // of the figures' sources
  std::optional<std::string> source;  // stands in place of the names of the tables' files
  Limits limits;
};

/// This is a figure before and after the fit.
struct FittedFigure {
  std::string name;
  std::string start;
  std::string fitted;
  bool at_bound = false;  // whether the search ended at a bound
};

/// The errors for the calls of one number of ranks, after a fit to all other calls.
struct LeftOutRanks {
  uint32_t ranks = 0;
  std::vector<Residual> residuals;
};

struct Calibration {
  Cluster cluster;  // fitted figures are labelled, and the transport says what it is calibrated for
  std::vector<FittedFigure> figures;
  std::vector<std::string>
      unused;  // protocols that are fastest for no measured op; the cluster lacks them
  std::vector<Residual> residuals;
  std::vector<LeftOutRanks> left_out;  // ordered by ranks
};

/// This is the file start.json, built in: the transport of NCCL that a fit begins with.
struct StartFile {
  std::string_view name;
  std::string_view json;
};
std::span<const StartFile> start_files();

/// Returns the cluster that calibration starts from. Figures of the base that were fitted are
/// fitted anew. The latency of links becomes 0 and the device's launch is removed, since those of
/// the protocols stand for them. Protocols with fitted figures, or a missing transport, become
/// NCCL's (start.json). If processes have several GPUs, host_launch of a measured op is its least
/// time per GPU. On a topology of nodes only figures of the network begin anew, and links keep
/// their latency.
Cluster calibration_start(const Cluster& base, std::span<const MeasuredCall> calls);

/// Fits the base to the calls, which are from `tables`. Requires at least one call. The calls must
/// outlive the result.
Calibration calibrate(const Cluster& base, std::span<const NcclTable> tables,
                      std::span<const MeasuredCall> calls, const CalibrationOptions& options);

/// Returns the figures before and after, the errors by collective and size, with those of the
/// numbers of ranks left out, and the calls that did not fit.
std::string calibration_text(const Calibration& calibration, const Style& style);

}  // namespace orrery
