#pragma once

// Where a figure of a cluster comes from: {"value": ..., "label": "data sheet", "source": "...",
// "date": "..."}.

#include <string>

#include "models/base/diagnostics.h"
#include "models/fabric/fabric.h"
#include "models/scenario/fields.h"

namespace orrery {

/// Reads all but the "value" of the object, which must have been asked for. Adds an error for each
/// key that is missing or unknown.
FigureSource read_figure_source(Fields& fields, const std::string& figure,
                                Diagnostics& diagnostics);

}  // namespace orrery
