#pragma once

// Sets a figure of a cluster, as if its file had another value there.

#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/scenario/size_limits.h"

namespace orrery {

struct FigureSetting {
  std::vector<std::string> place;  // keys in a cluster's file: {"flops", "bf16"}
  std::string value;               // "2 us"; of "slots", "channels" and "pieces" a number
  FigureSource source;             // in place of the figure's own; errors begin with its `figure`
};

/// The cluster with its figure set, all else as before; empty where an error was added. Errors have
/// no position, since there is no text that the user knows. Links have to be equal for their
/// bandwidth and latency. Requires that `place` names a figure of this cluster, or one that it
/// could have.
std::optional<Cluster> with_figure(const Cluster& cluster, const FigureSetting& setting,
                                   const Limits& limits, Diagnostics& diagnostics);

}  // namespace orrery
