#pragma once

// How long the local ops of a program take (durations.h), and what of it the cluster does not say.

#include <set>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/program/program.h"

namespace orrery {

/// Costs the ops of one program. What the cluster does not say is either an error or a label:
///  - flops without a peak rate for their dtype: an error for dot_general and compute, which are
///  all
///    about them; for the others, which are bound by memory, the bytes alone are charged, labelled;
///  - bytes without a memory bandwidth: the flops alone are charged, labelled;
///  - no launch time: 0, labelled.
/// An op that runs nothing (reshape, a scalar constant) takes no time, and no launch.
class LocalCosts {
 public:
  LocalCosts(const Program& program, const DeviceFigures& device, Diagnostics& diagnostics)
      : program_(program), device_(device), diagnostics_(diagnostics) {}

  /// Requires a local op.
  Duration of(const Op& op);

  /// What the costs so far stand on, beside the cluster's figures.
  std::vector<std::string> labels() const;

 private:
  const Program& program_;
  const DeviceFigures& device_;
  Diagnostics& diagnostics_;
  bool bytes_not_charged_ = false;
  std::set<Dtype> flops_not_charged_;
};

}  // namespace orrery
