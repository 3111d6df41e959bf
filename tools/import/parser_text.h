#pragma once

// The XML that the parsers of RCCL and MSCCL read (mscclXmlGetNode, xmlGetNode): less than XML. No
// tabs between elements, one space between attributes, double quotes, no <?xml ..?> and no DOCTYPE.

#include <optional>
#include <string>
#include <string_view>

#include "models/base/diagnostics.h"

namespace orrery {

/// What the parsers refuse first in a text that is XML, and where: "line 2: a tab before an
/// element".
std::optional<std::string> refused_text(std::string_view text, const TextLines& lines);

}  // namespace orrery
