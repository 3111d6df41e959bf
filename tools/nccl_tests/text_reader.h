#pragma once

// Reads the text that the programs of nccl-tests print, of all versions, with the lines that others
// print between: logs, and what mpirun or srun put before each line.

#include <string>
#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "tools/nccl_tests/draft.h"

namespace orrery {

/// Every table in the order of their headers ("# size count type .."). Adds an error for each row
/// that is none.
std::vector<NcclDraft> read_text_tables(std::string_view text, Diagnostics& diagnostics);

/// A line without what a launcher put before it: "[1,0]<stdout>:" (mpirun) or "0: " (srun).
struct LaunchedLine {
  std::string_view process;  // "[1,0]" or "0"; empty where there is none
  std::string_view line;
};
LaunchedLine launched_line(std::string_view line);

}  // namespace orrery
