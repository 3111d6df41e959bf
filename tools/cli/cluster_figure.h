#pragma once

// --cluster-figure NAME=VALUE: a figure of a cluster in place of the one that it has.

#include <string>
#include <vector>

#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"
#include "models/scenario/size_limits.h"

namespace orrery {

/// The cluster with each figure set, in their order. Names are those of its file, with what is
/// inside joined by slashes: "latency", "flops/bf16", "transport/ll/latency",
/// "transport/host_launch/psum". Reports label them overridden. Throws InputError for a name that
/// is none, a value that is not of its kind, and bandwidth and latency of links that each have
/// their own.
Cluster with_figures(Cluster cluster, const std::vector<std::string>& settings,
                     const Limits& limits);

}  // namespace orrery
