#pragma once

// Reads a cluster's "transport".

#include <optional>

#include "models/base/diagnostics.h"
#include "models/fabric/transport.h"
#include "models/scenario/document.h"
#include "models/scenario/figure_reader.h"

namespace orrery {

/// Empty where it is no object.
std::optional<TransportFigures> read_transport(DocumentNode node, FigureReader& figures,
                                               Diagnostics& diagnostics);

}  // namespace orrery
