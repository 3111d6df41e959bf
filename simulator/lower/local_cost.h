#pragma once

// This says how long local ops take (durations.h), and which figures the cluster lacks for them.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"
#include "simulator/schedule/durations.h"

namespace orrery {

/// Returns whether the op is mainly flops: a product, attention, or a `compute`. Only such ops must
/// have a peak rate.
bool is_about_flops(OpKind kind);

/// Returns how long the op takes on a device with these figures. Requires a local op.
LocalDuration op_duration(const Program& program, const Op& op, const DeviceFigures& device);

/// Returns the part of `took`, the time of runs of a local op, that is launches. `one` is how long
/// one run takes. A fault that slows the op down slows its launch too.
Duration launch_part(const LocalDuration& one, Duration took);

/// LocalCosts says what the ops of one program cost. A figure that the cluster lacks is an error or
/// a label:
///  - no peak rate for the dtype of flops: an error for dot_general and compute, which are mainly
///    flops, also in the body of an mpmd_map. Other ops are bound by memory: only their bytes cost
///    time, labelled.
///  - no memory bandwidth: only flops cost time, labelled. The label names ops that then take
///    nothing but their launch.
///  - no launch time: 0, labelled.
/// Gradients of attention are charged by the figures of attention, labelled. So are products and
/// attention whose sizes lie outside of those to which the efficiency was fitted.
/// An op that runs nothing (reshape, a scalar constant) takes no time, and has no launch.
class LocalCosts {
 public:
  LocalCosts(const Program& program, const DeviceFigures& device, Diagnostics& diagnostics)
      : program_(program), device_(device), diagnostics_(diagnostics) {}

  /// Returns how long the op takes. Requires a local op.
  Duration of(const Op& op);

  /// Returns the assumptions of the costs so far, where the cluster lacks a figure.
  std::vector<std::string> labels() const;

 private:
  /// The kinds of work that have figures of their own in an efficiency.
  enum class Work : uint8_t { Product, Attention };

  void compare_with_calibration(const Cost& cost, const FlopsEfficiency& efficiency);
  void compare(Work work, Dtype dtype, const CalibratedSizes& calibrated, std::string_view size,
               int64_t is);
  std::vector<std::string> extrapolated() const;

  const Program& program_;
  const DeviceFigures& device_;
  Diagnostics& diagnostics_;
  bool only_flops_charged_ = false;
  std::string takes_nothing_;          // the first op that does, though it has work
  size_t take_nothing_ = 0;            // how many do
  bool goes_back_as_forward_ = false;  // a gradient of attention has the figures of attention
  /// The sizes that lie outside of a calibration, with the range of those that do.
  struct Outside {
    SizeRange calibrated;
    SizeRange seen;
  };
  std::map<std::pair<Work, Dtype>, std::map<std::string, Outside, std::less<>>> outside_;
  std::set<Dtype> flops_not_charged_;
  std::set<std::string> assumed_of_cores_;
};

}  // namespace orrery
