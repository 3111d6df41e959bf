#pragma once

// How the kinds of GPU work that are measured are called.

#include <string>

#include "tools/calibrate/gpu_fit.h"

namespace orrery {

/// "copy", "dot_general f32".
std::string kind_name(const GpuFit& fit);

/// "copy by 8 virtual devices at once".
std::string name_of(const GpuFit& fit);

/// An amount of the kind: "256 MiB", "268 MFLOP". Rates: "1.5 TB/s".
std::string amount_text(const GpuFit& fit, int64_t amount);
std::string rate_text(const GpuFit& fit, int64_t rate);

}  // namespace orrery
