#pragma once

// The rows of a trace for what was measured on GPUs: a process for each virtual device, with rows
// for its local ops, its collectives and, where they were measured, the steps of these. Slices of
// one row must not overlap, so each of the three has as many rows as are needed.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/base/id.h"
#include "simulator/schedule/schedule.h"
#include "tools/report/measured.h"
#include "tools/report/trace_file.h"
#include "verifier/report.h"

namespace orrery {

class MeasuredRows {
 public:
  /// Requires a report with a measurement, which outlives this. Processes and threads are numbered
  /// from `first_number` on.
  MeasuredRows(const Report& report, uint32_t first_number);

  /// The number after those that are used.
  uint32_t end() const { return next_; }

  /// Times are from the start of the measured run on. The processes take the sort indices from
  /// `sort_index` on.
  void write(TraceFile& file, uint32_t sort_index) const;

 private:
  enum class Kind : uint8_t { Compute, Communication, Steps };
  struct Shown {
    OpId op;
    std::optional<StepRef> step;
    MeasuredSpan span;
  };
  struct Lane {
    Kind kind = Kind::Compute;
    uint32_t number = 0;  // among those of one kind
    uint32_t thread = 0;
    std::vector<Shown> slices;  // disjoint, ascending
  };
  struct Device {
    LogicalId id;
    uint32_t process = 0;
    std::vector<Lane> lanes;
  };

  /// Each in the first lane that is free.
  static void lay_out(Device& device, Kind kind, std::vector<Shown> slices);
  static std::string name(const Lane& lane);
  void write(TraceFile& file, Row row, const Shown& shown) const;

  const Program& program_;
  std::vector<Device> devices_;
  uint32_t next_;
};

}  // namespace orrery
