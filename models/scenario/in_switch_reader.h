#pragma once

// Reads a cluster's "in_switch_reduction": which switches reduce and multicast.

#include <string_view>
#include <vector>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/scenario/document.h"
#include "models/scenario/figure_reader.h"

namespace orrery {

inline constexpr std::string_view kInSwitchReduction = "in_switch_reduction";

/// true: all switches; false: none; a list: those that it names. `fabric` is null where it has an
/// error: then the names are not looked at.
std::vector<VertexId> read_reducing_switches(DocumentNode node, const Fabric* fabric,
                                             FigureReader& figures, Diagnostics& diagnostics);

}  // namespace orrery
