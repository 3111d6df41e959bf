#pragma once

// A cluster whose transport is fitted to tables of nccl-tests, and how well it fits.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"
#include "tools/calibrate/fit.h"
#include "tools/calibrate/measured_call.h"
#include "tools/calibrate/residuals.h"
#include "tools/nccl_tests/table.h"

namespace orrery {

struct CalibrationOptions {
  int evaluations = 500;              // of one fit, at most
  size_t rows_of_table = 12;          // that are fitted to; errors are of all
  bool leave_out_ranks = true;        // validates, where there are several numbers of ranks
  std::string date;                   // of the figures' sources
  std::optional<std::string> source;  // in place of the names of the tables' files
  Limits limits;
};

/// A figure before and after.
struct FittedFigure {
  std::string name;
  std::string start;
  std::string fitted;
  bool at_bound = false;  // of the search
};

/// The errors of the calls of one number of ranks, by a fit to all others.
struct LeftOutRanks {
  uint32_t ranks = 0;
  std::vector<Residual> residuals;
};

struct Calibration {
  Cluster cluster;  // fitted figures are labelled, and the transport says what it is calibrated for
  std::vector<FittedFigure> figures;
  std::vector<std::string>
      unused;  // protocols of measured ops that none is fastest with; left away
  std::vector<Residual> residuals;
  std::vector<LeftOutRanks> left_out;  // by ranks
};

/// What calibration starts from. Figures of the base that were fitted are fitted anew: the latency
/// of links becomes 0 and the device's launch is left away, since those of the protocols stand for
/// them; protocols with such figures, and a transport that is missing, become NCCL's (start.json).
/// host_launch of a measured op is the least time per GPU, where a process has several.
Cluster calibration_start(const Cluster& base, std::span<const MeasuredCall> calls);

/// Requires calls, which must outlive the result. `tables` are those they are from.
Calibration calibrate(const Cluster& base, std::span<const NcclTable> tables,
                      std::span<const MeasuredCall> calls, const CalibrationOptions& options);

}  // namespace orrery
